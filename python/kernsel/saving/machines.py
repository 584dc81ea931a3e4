"""Saving and loading of kernel ridge regression and interpolation."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel._base.annotations import Vector
from kernsel._base.memory import require_memory_of_points
from kernsel._data.together import numbered
from kernsel._data.training import TrainingSet
from kernsel.estimators.interpolator import KernelInterpolator
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.kernel_ridge_cv import KernelRidgeCV
from kernsel.estimators.ridge_posteriors import RidgePosteriors
from kernsel.kernels import Kernel
from kernsel.saving.approximate import read_approximate, write_approximate
from kernsel.saving.container import Stored
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.landmark_paths import read_landmark_path, write_landmark_path
from kernsel.saving.selections import read_selection, write_selection

__all__ = [
    "columns_of",
    "criterion_value_in",
    "one_or_each",
    "read_cv",
    "read_interpolator",
    "read_kernel",
    "read_ridge",
    "require_columns",
    "shaped",
    "write_cv",
    "write_interpolator",
    "write_kernel",
    "write_ridge",
]

Real = TypeVar("Real", bound=np.floating)

_REAL = (np.float64, np.float32)
_ANY = 2**53  # rows, for the numbers of rows in a file by landmarks, which has none


def columns_of(values: ArrayLike) -> Stored:
    """Return an array of one dimension as a column, and one of two dimensions unchanged."""
    array = np.asarray(values)
    return array.reshape(len(array), -1)


def shaped(values: NDArray[Real], one_output: bool) -> NDArray[Real]:
    """Return an array of one dimension if `one_output` is set, which requires a single column; otherwise the array itself."""
    if one_output and values.shape[1] != 1:
        raise ValueError(f"one_output: expected one column of coefficients, got {values.shape[1]}")
    return values[:, 0] if one_output else values


def one_or_each(given: Fields, name: str, outputs: int) -> float | Vector:
    """Return a number, or an array with one for each output."""
    value = given.value(name)
    each = isinstance(value, np.ndarray) and value.dtype in _REAL and value.shape == (outputs,)
    if not (each or type(value) in (int, float)) or not np.isfinite(value).all():
        raise ValueError(f"{given.prefix}{name}: expected a finite number, or one for each of {outputs} outputs")
    return value if each else float(value)


def write_kernel(kernel: Kernel | str, to: Writing, *, for_cpp: bool = True) -> None:
    """Write a kernel, or "precomputed" if the points are rows of its matrix, which programs in C++ cannot use."""
    if isinstance(kernel, str):
        to.json["kernel"] = kernel
    else:
        to.kernel("kernel", kernel)
    to.predictor(kernel if for_cpp and not isinstance(kernel, str) else None)


def read_kernel(given: Fields) -> Kernel | Literal["precomputed"]:
    """Read a kernel, or "precomputed"."""
    if given.json.get("kernel") != "precomputed":
        return given.kernel("kernel")
    given.take("kernel")
    return "precomputed"


def require_columns(kernel: Kernel, points: Stored) -> None:
    """Raise unless the kernel can be evaluated at points with as many columns as these."""
    if len(points):
        kernel.diag(points[:1])


def _write_function(model: KernelRidge | KernelRidgeCV | KernelInterpolator, intercept: float | Vector, to: Writing) -> None:
    """Write the kernel, the points and the coefficients, from which predictions are computed."""
    write_kernel(model.kernel_, to)
    coefficients = columns_of(model.dual_coef_)
    to.array("points", model.X_fit_)
    to.array("coefficients", coefficients)
    to.array("offset", np.broadcast_to(np.asarray(intercept, dtype=np.float64), coefficients.shape[1:]))
    to.json["one_output"] = np.ndim(model.dual_coef_) == 1
    _write_rows(model, to)


def _write_rows(model: KernelRidge | KernelRidgeCV | KernelInterpolator, to: Writing) -> None:
    """Write which rows are left out together, and which ones are copies."""
    together = getattr(model, "left_out_together_", np.arange(0))
    if len(np.unique(together)) < len(together):
        to.array("groups", together.astype(np.float64))
    if len(copies := getattr(model, "copies_", ())):
        to.array("copies", copies)


def _read_rows(model: KernelRidge | KernelRidgeCV, given: Fields, *, by_landmarks: bool = False) -> None:
    """Read which rows are left out together, and which ones are copies."""
    n = _ANY if by_landmarks else len(model.X_fit_)
    alone = np.arange(0 if by_landmarks else n)
    model.left_out_together_ = numbered(given.array("groups", n))[0] if given.has("groups") else alone
    model.copies_ = given.rows("copies", n) if given.has("copies") else np.zeros(0, dtype=np.intp)


def _read_function(model: Any, given: Fields, *, by_landmarks: bool = False) -> int:
    """Read kernel, points and coefficients; return the number of outputs. Landmarks are points that are no rows of the data."""
    model.kernel_ = read_kernel(given)
    model.X_fit_ = given.array("points", None, model.n_features_in_, dtype=_REAL)
    if isinstance(model.kernel_, str) and len(model.X_fit_) != model.n_features_in_:
        raise ValueError(f"points: expected a square kernel matrix, got shape {model.X_fit_.shape}")
    coefficients = given.array("coefficients", len(model.X_fit_), None, dtype=_REAL)
    outputs = int(coefficients.shape[1])
    if not coefficients.size:
        raise ValueError(f"coefficients: expected points and outputs, got shape {coefficients.shape}")
    given.array("offset", outputs)  # only for programs in C++
    model.dual_coef_ = shaped(coefficients, given.flag("one_output"))
    if not isinstance(model, KernelInterpolator):
        _read_rows(model, given, by_landmarks=by_landmarks)
    if isinstance(model.kernel_, Kernel):
        require_columns(model.kernel_, model.X_fit_)
    return outputs


def _write_posteriors(model: KernelRidge, own: RidgePosteriors, to: Writing) -> None:
    """Write the posterior that approximates the function as that of a Gaussian process is written, which C++ reads."""
    if len(own.posteriors) > 1:
        raise TypeError(
            "model: approximated with several values of alpha, which such a file does not hold; save a model for each alpha, "
            "or use pickle or joblib"
        )
    posterior = own.posteriors[0]
    write_kernel(model.kernel_, to)
    outputs = posterior.y.shape[1]
    to.value("trend", posterior.trend)
    for name, values in (
        ("points", posterior.X),
        ("targets", posterior.y),
        ("diagonal", posterior.noise),
        ("trend_coefficients", posterior.beta),
        ("offset", np.zeros(outputs)),
        ("scale", own.scales(0)),
    ):
        to.array(name, values)
    write_approximate(posterior, to)
    to.json |= {"jitter": 0.0, "one_output": own.one_output, "strength": own.strengths[0]}
    to.array("all_points", model.X_fit_)
    to.array("used", own.rows)
    _write_rows(model, to)


def _read_posteriors(model: KernelRidge, given: Fields) -> int:
    """Read the posterior that approximates the function; return the number of outputs."""
    kernel = given.kernel("kernel")
    trend = given.value("trend")
    if trend not in (None, "constant"):
        raise ValueError(f'trend: expected "constant" or null, got {trend!r:.60}')
    X = given.array("points", None, model.n_features_in_)
    n = len(X)
    y = given.array("targets", n, None)
    outputs = int(y.shape[1])
    if not y.size:
        raise ValueError(f"targets: expected points and outputs, got shape {y.shape}")
    one_output = given.flag("one_output")
    shaped(y, one_output)
    given.array("offset", outputs)  # only for programs in C++, as are the scale and the jitter
    given.array("scale", outputs)
    given.number("jitter")
    diagonal = given.array("diagonal", n, least=0.0)
    beta = given.array("trend_coefficients", int(trend is not None), outputs)
    require_columns(kernel, X)
    posterior = read_approximate(given, kernel, X, y, diagonal, trend, beta)
    model.X_fit_ = given.array("all_points", None, model.n_features_in_, dtype=_REAL)
    rows = given.rows("used", len(model.X_fit_))
    if len(rows) != n:
        raise ValueError(f"used: expected {n} numbers, got {len(rows)}")
    strengths = [given.number("strength", 0.0)]
    targets = [np.arange(outputs)]
    model.kernel_ = kernel
    model.restore_posteriors(RidgePosteriors(rows, targets, [posterior], strengths, one_output, model.X_fit_.dtype))
    _read_rows(model, given)
    return outputs


def _write_path(model: KernelRidge | KernelRidgeCV, to: Writing) -> None:
    """Write the data of the path, from which it is computed again on first access."""
    if "_path_of" not in model.__dict__:
        return
    given, alphas = model._path_of
    path = to.part("path")
    path.array("alphas", alphas)
    path.array("targets", given.y)
    path.json["weighted"] = given.weights is not None
    if given.weights is not None:
        path.array("weights", given.weights)
    if given.told is not None:
        path.array("groups", given.told.astype(np.float64))


def _read_path(model: KernelRidge | KernelRidgeCV, outer: Fields) -> None:
    if not outer.has("path"):
        return
    with outer.part("path") as given:
        X = model.X_fit_
        outputs = model.dual_coef_.shape[1:]
        y = given.array("targets", len(X), *outputs, dtype=_REAL)
        weights = given.array("weights", len(X), least=0.0) if given.flag("weighted") else None
        alphas = given.array("alphas", None, least=np.finfo(np.float64).tiny)
        if not len(alphas) or (weights is not None and np.count_nonzero(weights) < 2):
            raise ValueError("path: expected values of alpha, and two points of positive weight")
        told = given.array("groups", len(X)) if given.has("groups") else None
    model._path_of = TrainingSet(X, y, model.kernel_, weights).with_groups(told), alphas


def _write_training(model: KernelRidge, to: Writing) -> None:
    """Write targets and weights, by which a fit explains itself, unless the data of a path have them."""
    if "_trained_on" not in model.__dict__ or "_path_of" in model.__dict__:
        return
    given, part = model._trained_on, to.part("training")
    part.array("targets", given.targets)
    if given.weights is not None:
        part.array("weights", given.weights)
    if given.told is not None:
        part.array("groups", given.told.astype(np.float64))


def _read_training(model: KernelRidge, outer: Fields, outputs: int, one_output: bool) -> None:
    if not outer.has("training"):
        return
    n = len(model.X_fit_)
    with outer.part("training") as given:
        y = shaped(given.array("targets", n, outputs, dtype=_REAL), one_output)
        weights = given.array("weights", n, least=0.0) if given.has("weights") else None
        if weights is not None and not weights.any():
            raise ValueError("training: expected a point of positive weight")
        told = given.array("groups", n) if given.has("groups") else None
    model._trained_on = TrainingSet(model.X_fit_, y, model.kernel_, weights).with_groups(told)


def write_ridge(model: KernelRidge, to: Writing) -> None:
    """Write the function, and how it was chosen."""
    posteriors = model.approximate_posteriors
    if posteriors is None:
        _write_function(model, model.intercept_, to)
    else:
        _write_posteriors(model, posteriors, to)
    to.values(model, "intercept_", "alpha_", "approximation_")
    to.array("outliers", model.outliers_)
    _write_path(model, to)
    _write_training(model, to)
    if hasattr(model, "criterion_value_"):
        to.value("criterion_value_", model.criterion_value_)
    if hasattr(model, "selection_"):
        write_selection(model.selection_, to.part("selection"))


def read_ridge(model: KernelRidge, given: Fields) -> None:
    """Read the function, and how it was chosen."""
    approximated = given.has("approximation")
    outputs = _read_posteriors(model, given) if approximated else _read_function(model, given)
    posteriors = model.approximate_posteriors
    one_output = np.ndim(model.dual_coef_) == 1 if posteriors is None else posteriors.one_output
    model.intercept_ = one_or_each(given, "intercept_", outputs)
    model.approximation_ = str(given.take("approximation_")) if given.has("approximation_") else ""
    model.alpha_ = one_or_each(given, "alpha_", outputs)
    model.outliers_ = given.rows("outliers", len(model.X_fit_))
    _read_path(model, given)
    _read_training(model, given, outputs, one_output)
    if given.has("criterion_value_"):
        model.criterion_value_ = given.number("criterion_value_", finite=False)
    if given.has("selection"):
        model.selection_ = read_selection(given.part("selection"))


def write_cv(model: KernelRidgeCV, to: Writing) -> None:
    """Write the function, and the path."""
    _write_function(model, model.intercept_, to)
    to.values(model, "intercept_", "alpha_", "criterion_value_")
    to.array("outliers", model.outliers_)
    by_landmarks = model.path_by_landmarks()
    if by_landmarks is None:
        _write_path(model, to)
    else:
        write_landmark_path(by_landmarks, to.part("landmark_path"))


def read_cv(model: KernelRidgeCV, given: Fields) -> None:
    """Read the function, and the path."""
    by_landmarks = given.has("landmark_path")
    outputs = _read_function(model, given, by_landmarks=by_landmarks)
    rows = _ANY if by_landmarks else len(model.X_fit_)
    model.intercept_ = one_or_each(given, "intercept_", outputs)
    model.alpha_ = one_or_each(given, "alpha_", outputs)
    model.criterion_value_ = one_or_each(given, criterion_value_in(given), outputs)
    model.outliers_ = given.rows("outliers", rows) if given.has("outliers") else np.zeros(0, dtype=np.intp)
    if not by_landmarks:
        _read_path(model, given)
        return
    with given.part("landmark_path") as part:
        path = read_landmark_path(part, model.X_fit_, outputs, model.sigma)
    model.path_ = path.of_each_target() if model.alpha_per_target else path


def criterion_value_in(given: Fields) -> str:
    """Return the name of the field with the criterion's value at the chosen alpha, "best_score_" in files of version 0.1.0."""
    return "best_score_" if given.has("best_score_") else "criterion_value_"


def write_interpolator(model: KernelInterpolator, to: Writing) -> None:
    """Write the function; the factorization is computed again when the model is loaded."""
    _write_function(model, 0.0, to)
    to.array("targets", columns_of(model.y_fit_))
    to.array("used", model.used_)
    to.values(model, "norm_", "rank_")


def read_interpolator(model: KernelInterpolator, given: Fields) -> None:
    """Read the function, and factorize the kernel matrix again."""
    outputs = _read_function(model, given)
    if isinstance(model.kernel_, str):
        raise ValueError("kernel: expected a kernel, got none")
    if given.has("targets"):
        model.y_fit_ = given.array("targets", len(model.X_fit_), outputs).reshape(model.dual_coef_.shape)
    else:  # in files of version 0.1.0: the function goes through the targets, to rounding
        model.y_fit_ = np.asarray(model.kernel_.matmul(model.X_fit_, model.X_fit_, model.dual_coef_))
    model.norm_ = one_or_each(given, "norm_", outputs)
    model.rank_ = given.whole("rank_")
    n = len(model.X_fit_)
    model.used_ = used = given.array("used", None, dtype=np.int64, least=0.0)
    if not len(used) or (np.diff(used) <= 0).any() or used[-1] >= n:
        raise ValueError(f"used: expected numbers of points, below {n} and each larger than the one before")
    require_memory_of_points(len(used))
    model.factorize()
