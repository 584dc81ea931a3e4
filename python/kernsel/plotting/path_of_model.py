"""The regularization path of an estimator: its own, or one that is computed from its kernel and its training data."""

from __future__ import annotations

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernsel.estimators.fitted import HasPath, ModelPath, require_fitted
from kernsel.kernels.objects import Points
from kernsel.plotting.models import model_and_points

__all__ = ["path_of_model"]

_ACCEPTED = (
    "GaussianProcessRegressor, KernelRidge, KernelRidgeCV, RidgeRegression, a pipeline that ends with one, or what ks.select "
    "returns with one"
)


def path_of_model(estimator: BaseEstimator, X: Points | None, y: ArrayLike | None, output: int) -> ModelPath:
    """Return the path of a fitted estimator; raise TypeError for one that has none."""
    model, X = model_and_points(estimator, X)
    if not isinstance(model, HasPath):
        raise TypeError(f"estimator: expected a fitted {_ACCEPTED}, got {type(model).__name__}")
    require_fitted(model)
    return model.regularization_path(X, y, output)
