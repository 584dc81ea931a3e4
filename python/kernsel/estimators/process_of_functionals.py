"""The fit of a Gaussian process to values, slopes and averages.

The core sees a process on rows of functionals, whose kernel is made of the kernel's derivatives and integrals. Each kind of
observation has a noise of its own: a column more tells the rows of a kind, and the kernel has white noise times this column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.allowed import is_auto
from kernsel._data.functionals import Observed, TrendOfFunctionals, averages_given, slopes_given
from kernsel._data.noise import variances
from kernsel._data.points import validated
from kernsel._data.training import for_objects, training_set
from kernsel._data.trend import Trend
from kernsel._search import Budget, Selection, choose
from kernsel._search.progress import watched
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel.criteria import Likelihood
from kernsel.estimators.process_data import require_function
from kernsel.estimators.process_state import ProcessState
from kernsel.kernels import Columns, ConstantKernel, Functionals, Kernel, Linear, Product, Sum, WhiteKernel
from kernsel.kernels.amplitudes import has_noise
from kernsel.kernels.automatic import Data
from kernsel.kernels.functionals import centres, values_at
from kernsel.linalg.jitter import least_jitter, with_jitter

__all__ = ["fit_to_functionals", "require_no_noise_of_others", "require_values_only"]

_LEAST, _START, _MOST = 1e-10, 0.1, 10.0  # bounds and start of a noise, times the variance of what it is the noise of


@dataclass(frozen=True)
class _Kind:
    """Observations that share a noise variance that is to be found.

    Attributes
    ----------
    name : str
        What the report of the search calls it.
    rows : ndarray of bool of shape (n,)
    along : int
        The column along which they are slopes; -1 for others.
    variance : float
        The variance of the observations.
    """

    name: str
    rows: NDArray[np.bool_]
    along: int
    variance: float


@dataclass(frozen=True)
class _Data:
    """The observations of all kinds, values first, in the unit of the fit.

    Attributes
    ----------
    rows : ndarray of shape (n, 2 d + 1)
    y : ndarray of shape (n, 1)
    known : ndarray of shape (n,)
        The known noise variances, `alpha` included.
    of_values : ndarray of shape (n_values,)
        Those of the values without `alpha`.
    alpha : ndarray of shape () or (n_values,)
    kinds : list of _Kind
        Those whose noise is to be found.
    trend : {"constant", "linear", "quadratic"} or None
    """

    rows: Matrix
    y: Matrix
    known: Vector
    of_values: Vector
    alpha: Vector
    kinds: list[_Kind]
    trend: Trend

    @property
    def n_values(self) -> int:
        """How many of the rows are values."""
        return len(self.of_values)

    def kernel(self, own: Kernel) -> Kernel:
        """Return the kernel of the rows with a column more for each kind: that of functionals, and the noise of each kind."""
        width = self.rows.shape[1]
        total: Kernel = Columns(Functionals(own), list(range(width)))
        for place, kind in enumerate(self.kinds):
            bounds = (_LEAST * kind.variance, _MOST * kind.variance)
            noise = WhiteKernel(_START * kind.variance, bounds)
            total = Sum(total, Product(noise, Columns(Linear(1.0, "fixed"), [width + place])))
        return total

    def parts(self, kernel: Kernel) -> tuple[Kernel, Vector]:
        """Return the kernel of the process, and the noise variance of each kind, from the kernel of the rows."""
        first, *others = kernel.operands() if isinstance(kernel, Sum) else [kernel]
        assert isinstance(first, Columns)
        assert isinstance(first.kernel, Functionals)
        noises = [other.operands()[0] for other in others if isinstance(other, Product)]
        return first.kernel.kernel, np.array([noise.noise_level for noise in noises if isinstance(noise, WhiteKernel)])

    def marked(self) -> Matrix:
        """Return the rows with a column more for each kind, one where the noise is found and zero elsewhere."""
        return np.column_stack([self.rows, *(kind.rows.astype(np.float64) for kind in self.kinds)])

    def trend_of_rows(self) -> Trend:
        """Return the trend as a function of marked rows."""
        return None if self.trend is None else _OfMarked(TrendOfFunctionals(self.trend), self.rows.shape[1])


@dataclass(frozen=True)
class _OfMarked:
    """A function of rows as one of rows with further columns."""

    function: TrendOfFunctionals
    width: int

    def __call__(self, marked: Matrix) -> Matrix:
        return self.function(marked[:, : self.width])


def fit_to_functionals(
    model: Any,
    X: ArrayLike | None,
    y: ArrayLike | None,
    noise: ArrayLike | None,
    *,
    slopes: object,
    averages: object,
    slope_noise: object,
    average_noise: object,
) -> ProcessState:
    """Return the state of a Gaussian process that is fitted to values, slopes and averages; arguments are those of `fit`."""
    require_no_noise_of_others(
        **({"slope_noise": slope_noise} if slopes is None else {}),
        **({"average_noise": average_noise} if averages is None else {}),
    )
    _require_plain(model)
    model._check(np.zeros(1))  # the parameters, also where there are no values
    kernel, trend = model._prior_kernel(), model._trend()
    if for_objects(kernel, X):
        raise ValueError("kernel: slopes and averages are of functions of numbers, and it is one of objects")
    if has_noise(kernel):
        raise ValueError(
            "kernel: a WhiteKernel would be noise of slopes as well as of values; leave it out, and take noise=, slope_noise= "
            'and average_noise=, which may be "auto"'
        )
    if callable(trend):
        raise ValueError('trend: expected "constant", "linear", "quadratic" or None with slopes or averages, got a function')
    parts = _observed(model, kernel, X, y, noise, slopes, averages, (slope_noise, average_noise))
    if trend is not None and all((part.along >= 0).all() for part in parts):
        if not is_auto(model.trend):
            raise ValueError(f"trend: expected None, got {trend!r}: slopes alone do not tell its constant; give a value, too")
        trend = None
    names = model.feature_names()
    kernel = kernel if names is None else kernel.on_table(names)
    offset, unit = 0.0, 1.0
    if model.normalize_y and X is not None:
        offset, unit = float(np.mean(parts[0].y)), float(np.std(parts[0].y)) or 1.0
    n_values = 0 if X is None else len(parts[0].y)
    alpha = np.zeros(()) if isinstance(model.alpha, str) else model._numbers("alpha", n_values)
    data = _together(parts, offset, unit, n_values, alpha, trend, names)
    if n_values and not (parts[0].finds_noise or data.known[:n_values].any()):
        require_function(lambda: kernel.resolve(Data(centres(data.rows), data.y)), *parts[0].points_and_targets())
    selection = _select(model, kernel, data)
    state = _conditioned(data, selection, offset, unit)
    criterion = model._criterion()
    return replace(
        state,
        selection=replace(state.selection, not_sought=model._not_sought(criterion, kernel, noise)),
        restricted=isinstance(criterion, Likelihood) and criterion.restricted,
    )


def _observed(
    model: Any,
    kernel: Kernel,
    X: ArrayLike | None,
    y: ArrayLike | None,
    noise: ArrayLike | None,
    slopes: object,
    averages: object,
    noises: tuple[object, object],
) -> list[Observed]:
    """Return the observations of each kind as they were given, values first; the first points are those that name columns."""
    finds = noise is None and ("noise" in model.opened_by_kernel() or isinstance(model.noise, str))
    parts: list[Observed] = []
    if X is not None:
        given = training_set(model, kernel, X, y)
        if given.targets.shape[1] > 1:
            raise ValueError(f"y: expected one output with slopes or averages, got {given.targets.shape[1]}")
        model._check(given.y)
        told_of_values = model.noise if noise is None else noise
        known = 0.0 if told_of_values is None or is_auto(told_of_values) else variances("noise", told_of_values, len(given.y))
        each = np.broadcast_to(known, (len(given.y),)).astype(np.float64)
        parts.append(Observed(Functionals.values(given.X), given.targets[:, 0], each, finds))
    elif y is not None or noise is not None:
        raise ValueError("X: expected the points of y, got None; without values, y and noise are None")

    def check(points: object) -> Matrix:
        found = validated(model, points, dtype=np.float64, reset=X is None and not parts)
        return np.asarray(found)

    def told(of_kind: object) -> object:
        if of_kind is None:
            return None if finds else 0.0
        return None if is_auto(of_kind) else of_kind

    if slopes is not None:
        parts.append(slopes_given(slopes, told(noises[0]), check))
    if averages is not None:
        parts.append(averages_given(averages, told(noises[1]), check))
    return parts


def _together(
    parts: Sequence[Observed],
    offset: float,
    unit: float,
    n_values: int,
    alpha: Vector,
    trend: Trend,
    names: Sequence[str] | None,
) -> _Data:
    """Return the observations of all kinds with offset and unit taken out; one number `alpha` is added to all diagonal."""
    rows = np.vstack([part.rows for part in parts])
    along = rows[:, -1].astype(np.intp) - 1
    y = (np.concatenate([part.y for part in parts]) - offset * (along < 0)) / unit
    noise = np.concatenate([part.noise for part in parts])
    finds = np.concatenate([np.full(len(part.y), part.finds_noise) for part in parts])
    value = np.arange(len(y)) < n_values
    sizes = np.full(len(y), float(np.var(values_at(rows, y))) or 1.0)  # of what each row observes, squared
    kinds = []
    for name, which, column in (
        ("values", value, -1),
        *((f"slopes along {f'column {j}' if names is None else names[j]}", along == j, j) for j in range(rows.shape[1] // 2)),
        ("averages", (along < 0) & ~value, -1),
    ):
        if not which.any():
            continue
        if column >= 0:
            sizes[which] = float(np.mean(y[which] ** 2)) or 1.0
        if finds[which].any():
            kinds.append(_Kind(f"noise of {name}", which, column, sizes[which][0]))
    known = noise.copy()
    known[: n_values if alpha.ndim else len(known)] += alpha
    exact = (known == 0) & ~finds
    if known.any():  # the core adds a jitter only where no noise is known
        known[exact] = least_jitter(len(y), 1.0) * sizes[exact]
    return _Data(rows, y[:, None], known, noise[:n_values], alpha, kinds, trend)


def _select(model: Any, kernel: Kernel, data: _Data) -> Selection:
    """Return the result of the search; with ``optimizer=None`` the kernel as it is."""
    criterion, marked, whole = model._criterion(), data.marked(), data.kernel(kernel)
    model._require_optimizer(criterion)
    if model.optimizer is None:
        resolved = whole.resolve(Data(marked, data.y))
        size = float(np.mean(resolved.diag(marked)))
        return Selection(resolved, np.nan, 0.0 if data.known.any() else least_jitter(len(marked), size), criterion, np.nan)
    with watched(model, model.verbose, model.max_evaluations) as tell:
        selection = choose(
            criterion,
            whole,
            marked,
            data.y,
            noise=data.known,
            trend=data.trend_of_rows(),
            optimizer={"fmin_l_bfgs_b": "l-bfgs-b"}.get(str(model.optimizer), model.optimizer),
            n_restarts=model.n_restarts_optimizer,
            random_state=model.random_state,
            budget=Budget(model.max_evaluations, np.inf if model.max_seconds is None else model.max_seconds, tell),
        )
    if selection.interrupt is not None:
        raise selection.interrupt
    return selection


def _conditioned(data: _Data, selection: Selection, offset: float, unit: float) -> ProcessState:
    """Return the state of the process with the hyperparameters of a search."""
    own, levels = data.parts(selection.kernel)
    amplitude = selection.scale * selection.amplitude
    kernel = own if amplitude == 1 else ConstantKernel(amplitude) * own
    each = data.known * selection.scale
    slope_noise, average_noise, noise = np.full(data.rows.shape[1] // 2, np.nan), np.nan, np.nan
    for kind, level in zip(data.kinds, levels * selection.scale, strict=True):
        each = each + level * kind.rows
        if kind.along >= 0:
            slope_noise[kind.along] = level
        elif kind.name == "noise of values":
            noise = float(level)
        else:
            average_noise = level
    found = slope_noise, float(average_noise)

    def condition(jitter: float) -> FunctionalPosterior:
        return FunctionalPosterior(kernel, data.rows, data.y, each + jitter, data.trend, data.n_values, found)

    try:
        posterior, jitter = with_jitter(selection.jitter * selection.scale, condition)
    except np.linalg.LinAlgError as error:
        raise np.linalg.LinAlgError(
            f"The kernel, {kernel}, is not returning a positive definite matrix of values, slopes and averages; give noise, "
            f'such as noise="auto" with slope_noise="auto". Also: {error}'
        ) from error
    selection = replace(
        selection,
        kernel=own,
        noise=noise / selection.scale,
        at_bounds=[_named(name, data) for name in selection.at_bounds],
        flat=[_named(name, data) for name in selection.flat],
    )
    known = data.of_values * selection.scale if data.n_values else np.full(1, np.nan)
    given = known if np.ptp(known) > 0 else float(known[0])
    return ProcessState(
        posterior=posterior,
        kernel=kernel,
        selection=selection,
        criterion_value=None if np.isnan(selection.value) else selection.value,
        noise=noise if np.isfinite(noise) else given,
        alpha=np.asarray(data.alpha * selection.scale),
        jitter=jitter,
        outliers=np.zeros(0, dtype=np.intp),
        offset=np.array([offset]),
        factor=np.array([unit]),
        one_output=True,
        restricted=False,
    )


def _named(name: str, data: _Data) -> str:
    """Return what the report calls a hyperparameter of the kernel of the rows."""
    *before, last = name.split("__")
    if last == "noise_level":
        steps = before.count("k1") - (before[-1] == "k1")
        return data.kinds[len(data.kinds) - 1 - steps].name
    return name.split("kernel__kernel__", 1)[-1]


def require_no_noise_of_others(**noises: object) -> None:
    """Raise if noise variances are given of slopes or averages that are not."""
    for name, noise in noises.items():
        if noise is not None:
            raise ValueError(f"{name}: expected None without {name.split('_')[0]}s, got {noise!r:.60}")


def require_values_only(**metadata: object) -> None:
    """Raise if metadata of the rows are given that do not go with slopes and averages."""
    for name, value in metadata.items():
        if value is not None:
            raise ValueError(f"{name}: expected None with slopes or averages")


def _require_plain(model: Any) -> None:
    """Raise if a parameter does not go with slopes and averages."""
    for name, expected, fits in (
        ("likelihood", "None", model.likelihood is None),
        ("mean", "None", model.mean is None),
        ("hyperparameters", '"optimize"', model.hyperparameters == "optimize"),
        ("inference", '"auto"', model.inference == "auto"),
        ("approximation", "None", model.approximation is None or is_auto(model.approximation)),
        ("outliers", "None", model.outliers is None or is_auto(model.outliers)),
        ("scale", '"auto" or "shared"', model.scale != "each"),
    ):
        if not fits:
            raise ValueError(f"{name}: expected {expected} with slopes or averages, got {getattr(model, name)!r:.60}")
