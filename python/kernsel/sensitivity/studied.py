"""The function whose sensitivity is asked for: a fitted model, or any function of points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.training import for_objects
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel._solve.near import NearPosterior
from kernsel._solve.posterior import Posterior
from kernsel.estimators.fitted import as_fitted, column
from kernsel.estimators.fitted_machine import FittedMachine
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.kernels import Kernel
from kernsel.sensitivity.expansion import Expansion
from kernsel.sensitivity.inputs import Input, Uniform, checked_inputs
from kernsel.sensitivity.terms import NoProductError, terms_of
from kernsel.study.encoded import PredictsTables

__all__ = ["Studied", "studied"]


@dataclass(frozen=True)
class Studied:
    """A function of independent inputs.

    Attributes
    ----------
    values : callable
        The function: points, shape (m, d), to numbers, (m,).
    names : list of str
        Of the columns.
    inputs : list of Uniform or Normal
    expand : callable
        Returns the function as an `Expansion`; raises NoProductError if it is none.
    process : GaussianProcessRegressor or None
        Of which the function is the mean, if draws of it are draws of the function.
    output : int
    """

    values: Callable[[Matrix], Vector]
    names: list[str]
    inputs: list[Input]
    expand: Callable[[], Expansion]
    process: GaussianProcessRegressor | None
    output: int

    @property
    def is_normal(self) -> bool:
        """Whether the process has one set of hyperparameters, so that its values are normal."""
        return self.process is not None and self.process._sampled is None

    def draws(self, points: Matrix, count: int, rng: np.random.Generator) -> tuple[Vector, Matrix]:
        """Return the mean of the process at points, (m,), and joint draws of it, (m, count), in O(m^3)."""
        assert self.process is not None
        Z = as_fitted(self.process, points)
        if not self.is_normal:
            return self.values(points), self.process.sample_y(Z, count, int(rng.integers(2**31)), noisy=False)
        mean, cov = self.process.predict(Z, return_cov=True, noisy=False)
        if mean.ndim == 2:
            mean, cov = mean[:, self.output], cov[..., self.output]
        size, directions = np.linalg.eigh(cov)
        factor = directions * np.sqrt(np.maximum(size, 0.0))
        return mean, mean[:, None] + factor @ rng.standard_normal((len(mean), count))


def studied(f: object, inputs: object, output: int) -> Studied:
    """Return the function that a model or a function stands for, with its inputs.

    Raises
    ------
    TypeError, ValueError
        If it is neither, has no columns of numbers, or inputs are missing or do not fit.
    """
    model = f.best_estimator_ if isinstance(f, PredictsTables) else f
    if isinstance(model, BaseEstimator) and hasattr(model, "predict"):
        return _of_model(model, inputs, output)
    if not callable(f):
        raise TypeError(f"f: expected a fitted regressor or a function of points, got {type(f).__name__}")
    if inputs is None:
        raise ValueError("inputs: expected a Uniform, a Normal or a pair of bounds for each column of a function, got None")
    names = [str(name) for name in inputs] if isinstance(inputs, dict) else None
    found = checked_inputs(inputs, names)

    def not_expanded() -> Expansion:
        raise NoProductError("f is a function, and no model of kernsel")

    values = partial(_checked_values, f, output)
    return Studied(values, names or [f"x{k}" for k in range(len(found))], found, not_expanded, None, output)


def _of_model(model: Any, inputs: object, output: int) -> Studied:
    if is_classifier(model):
        raise TypeError(
            f"f: expected a regressor or a function, got a {type(model).__name__}; give what is to be explained, as in "
            "lambda X: model.predict_proba(X)[:, 1]"
        )
    kernel = getattr(model, "kernel_", None)
    if isinstance(kernel, str) or for_objects(kernel):
        kind = "a kernel matrix" if isinstance(kernel, str) else "objects"
        raise TypeError(f"f: expected a model that was fitted to columns of numbers, got one of {kind}")
    check_is_fitted(model, "n_features_in_")
    d = int(model.n_features_in_)
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{k}" for k in range(d)])]
    if inputs is None:
        points = next((np.asarray(getattr(model, name)) for name in ("X_train_", "X_fit_") if hasattr(model, name)), None)
        if points is None:
            raise ValueError(
                f"inputs: a {type(model).__name__} does not keep its training points; give bounds or distributions"
            )
        found: list[Input] = [Uniform(float(x.min()), float(x.max())) for x in points.T]
    else:
        found = checked_inputs(inputs, names)
    is_process = isinstance(model, GaussianProcessRegressor) and model._observed is None
    values = partial(_checked_values, lambda X: model.predict(as_fitted(model, X)), output)
    outputs = np.size(model.predict(as_fitted(model, np.array([[one.quantile(0.5) for one in found]], dtype=np.float64))))
    if output >= outputs:
        raise ValueError(f"output: expected the number of one of {outputs} targets, got {output}")
    return Studied(values, names, found, partial(_expanded, model, d, output), model if is_process else None, output)


def _checked_values(f: Callable[[Matrix], Any], output: int, X: Matrix) -> Vector:
    values = np.asarray(f(X), dtype=np.float64)
    if values.shape[:1] != (len(X),) or values.ndim > 2:
        raise ValueError(f"f: expected one number for each of {len(X)} points, got shape {values.shape}")
    bad = ~np.isfinite(values.reshape(len(X), -1)).all(axis=1)
    if bad.any():
        raise ValueError(f"f: expected finite numbers, got {values[bad][0]} at the point {X[bad][0]}")
    return column(values, output, name="f")


def _expanded(model: Any, d: int, output: int) -> Expansion:
    """Return the function of a model as an expansion."""
    columns = list(range(d))
    if isinstance(model, FittedMachine) and isinstance(model.kernel_, Kernel):
        if getattr(model, "approximate_posteriors", None) is not None:
            raise NoProductError("the kernel matrix is approximated, and predictions are no sum over all points")
        c = column(np.asarray(model.dual_coef_, dtype=np.float64), output)
        offset = float(np.ravel(model.intercept_)[output if np.size(model.intercept_) > 1 else 0])
        points = np.asarray(model.X_fit_, dtype=np.float64)
        return Expansion.of_mean(terms_of(model.kernel_, columns), points, np.zeros((0, d), int), c, np.zeros(0), offset)
    if not isinstance(model, GaussianProcessRegressor) or model._observed is not None:
        raise NoProductError(f"f is a {type(model).__name__}, and no GaussianProcessRegressor of normal noise or KernelRidge")
    if model._sampled is not None:
        raise NoProductError("predictions are means over draws of hyperparameters")
    if model.mean is not None:
        raise NoProductError("the known mean is a function")
    posterior: Posterior = model.posterior_
    if isinstance(posterior, FunctionalPosterior):
        raise NoProductError("the process is known by slopes or averages, too")
    if isinstance(posterior, NearPosterior):
        raise NoProductError("predictions from nearest neighbours are no sum over all points")
    unit, mean = float(model._y_train_std[output]), float(model._y_train_mean[output])
    points, c = posterior.centres()
    beta = posterior.beta[:, output] * unit
    powers = _powers(posterior.trend, d, len(beta))
    return Expansion.of_mean(terms_of(posterior.kernel, columns), points, powers, c[:, output] * unit, beta, mean)


def _powers(trend: object, d: int, count: int) -> Any:
    """Return the powers of the columns in the functions of a trend, shape (q, d)."""
    one = np.eye(d, dtype=int)
    functions = [np.zeros(d, dtype=int), *one, *(one[j] + one[k] for j in range(d) for k in range(j, d))]
    if not count:
        return np.zeros((0, d), dtype=int)
    if trend not in ("constant", "linear", "quadratic"):
        raise NoProductError("the trend is a function of its own")
    return np.array(functions[:count])
