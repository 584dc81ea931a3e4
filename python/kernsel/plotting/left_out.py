"""Leave-one-out predictions of fitted estimators: the prediction of each target from all other points."""

from __future__ import annotations

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernsel.estimators.fitted import HasLeftOut, LeftOut, require_fitted
from kernsel.kernels.objects import Points
from kernsel.plotting.models import model_and_points

__all__ = ["left_out"]

_ACCEPTED = (
    "GaussianProcessRegressor, StackedRegressor, KernelRidge, KernelRidgeCV, KernelInterpolator, RidgeRegression, SVR, "
    "a pipeline that ends with one, or what ks.select returns with one"
)


def left_out(estimator: BaseEstimator, X: Points | None, y: ArrayLike | None, output: int) -> LeftOut:
    """Return the leave-one-out predictions of a fitted estimator; raise TypeError for one that has none."""
    model, X = model_and_points(estimator, X)
    if not isinstance(model, HasLeftOut):
        raise TypeError(f"estimator: expected a fitted {_ACCEPTED}, got {type(model).__name__}")
    require_fitted(model)
    return model.left_out(X, y, output)
