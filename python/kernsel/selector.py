"""Which kernel? Several are tried, each at its best, and the table is shown."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.gaussian_process import kernels as sk
from sklearn.utils import check_X_y

from kernsel.classification import GaussianProcessClassifier
from kernsel.criteria import CRITERIA, Criterion, criterion_named
from kernsel.gaussian_process import GaussianProcessRegressor
from kernsel.kernels import (
    RBF,
    Columns,
    ConstantKernel,
    HeteroscedasticNoise,
    Kernel,
    Linear,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)
from kernsel.kernels.algebra import as_kernel
from kernsel.kernels.objects import Mixed, Points, Reading
from kernsel.kernels.written import kernel_argument
from kernsel.structure import describe, hidden_period, larger_structures, numbers_found, simplest_structures, terms_of
from kernsel.trend import Trend

__all__ = ["Selected", "Tried", "in_words", "name_of_criterion", "select"]

_PROCESSES = (GaussianProcessRegressor, GaussianProcessClassifier)  # whose kernels have amplitudes of their own


@dataclass(frozen=True)
class Tried:
    """One line of what :func:`select` returns.

    Attributes
    ----------
    kernel : Kernel
        As it was tried.
    value : float
        Of the criterion at its best; nan if the kernel could not be fitted.
    seconds : float
    problem : str
        Why it could not be fitted; empty if it could.
    kernel_ : Kernel or None
        With its hyperparameters.
    noise_, jitter_, n_evaluations_
        As :class:`kernsel.GaussianProcessRegressor` has them; zero for other models.
    others : dict of str to float
        What was chosen besides, of other models: `C` and `epsilon`, or `alpha`.
    parameters : int
        How many numbers were found in the kernel; an amplitude that only does what another number does is not counted.
    ended : str
        Why its search ended, see :class:`kernsel.selection.Selection`.
    """

    kernel: Kernel
    value: float
    seconds: float
    problem: str = ""
    kernel_: Kernel | None = None
    noise_: Any = 0.0
    jitter_: float = 0.0
    n_evaluations_: int = 0
    parameters: int = 0
    ended: str = "converged"
    others: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Selected:
    """What :func:`select` returns; printed, a table.

    Attributes
    ----------
    tried : list of Tried
        The best first: by the value of the criterion, in a search less what the numbers found are worth.
    criterion : Criterion
    best_estimator_ : GaussianProcessRegressor, or what `estimator` is
        With the best kernel, fitted. Of the others only the table is kept.
    ended : str
        Why no more was tried: "" if all was.
    interrupt : BaseException or None
        The KeyboardInterrupt that ended it: what had been tried by then is not lost. Raise it again in a program that should
        stop then.
    """

    tried: list[Tried]
    criterion: Criterion
    best_estimator_: Any = field(repr=False)
    ended: str = ""
    interrupt: BaseException | None = field(default=None, repr=False)

    @property
    def best(self) -> Tried:
        """The best line of the table."""
        return self.tried[0]

    @property
    def best_kernel_(self) -> Kernel:
        """The best kernel, with its hyperparameters."""
        kernel: Kernel = self.best_estimator_.kernel_
        return kernel

    def predict(self, X: Points, **options: Any) -> Any:
        """Return predictions of the best model, see its method `predict`."""
        return self.best_estimator_.predict(X, **options)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return how well the best model predicts, see its method `score`: of most, R^2."""
        return float(self.best_estimator_.score(X, y))

    def describe(self) -> str:
        """Return in words what the best model is made of, and by how much each part moves the data."""
        model = self.best_estimator_
        if not isinstance(model, GaussianProcessRegressor):
            raise TypeError(f"describe: expected a GaussianProcessRegressor to be the best model, got {type(model).__name__}")
        if np.isnan(self.best.value):
            return "the trend alone gives y: there is nothing to choose a kernel by"
        return in_words(model, model.feature_names())

    def __str__(self) -> str:
        names = next((list(one.others) for one in self.tried if one.others), [])
        rest = [*names, "seconds"] if names else ["found", "noise", "evals", "seconds"]
        widths = [9] * len(names) + [7] if names else [5, 9, 5, 7]
        lines = [" ".join([f"{'kernel':55s} {'value':>12s}", *(f"{r:>{w}s}" for r, w in zip(rest, widths, strict=True))])]
        early = False
        for one in self.tried:
            if one.kernel_ is None:
                lines.append(_cut(f"{_cut(str(one.kernel), 55):55s} {one.problem}", 100))
                continue
            noise = one.noise_
            shown = f"{noise:9.3g}" if np.ndim(noise) == 0 else "   vector"
            numbers = f"{one.value:12.6g} {one.parameters:5d} {shown} {one.n_evaluations_:5d} {one.seconds:7.2f}"
            if names:
                numbers = " ".join([f"{one.value:12.6g}", *(f"{one.others[n]:9.4g}" for n in names), f"{one.seconds:7.2f}"])
            cut_short = one.ended not in ("converged", "undecided")
            early = early or cut_short
            lines.append(f"{_cut(str(_shown(one)), 55):55s} {numbers}{' *' if cut_short else ''}")
        best = str(_shown(self.best))
        if len(best) > 55:
            lines += textwrap.wrap(f"best: {best}", 100, break_long_words=False)
        better = "larger" if self.criterion.larger_is_better else "smaller"
        lines.append(f"{better} values of {name_of_criterion(self.criterion)} are better")
        if early:
            lines.append("* before the search was at its end")
        return "\n".join([*lines, *([self.ended] if self.ended else [])])


def select(
    X: Points,
    y: ArrayLike,
    kernels: Iterable[Any] | Literal["search"] | None = None,
    criterion: str | Criterion | None = None,
    *,
    estimator: Any = None,
    noise: Any = "auto",
    trend: Trend = "constant",
    max_seconds: float | None = None,
    max_structures: int = 40,
    random_state: Any = None,
    verbose: int = 0,
    progress: Callable[[Kernel], None] | None = None,
) -> Selected:
    """Try kernels, each with its hyperparameters and the noise at their best; return the table, and the best one fitted.

    Every kernel gets an amplitude, and so does every term of a sum, unless it has one: how much of y a kernel explains is
    always found. A kernel that cannot be fitted is a line with the reason. Interrupted (Ctrl-C), it returns what it has tried,
    and says so; if that is nothing, KeyboardInterrupt is raised.

    Parameters
    ----------
    X : array-like of shape (n, d); or n objects, for a kernel of such
    y : array-like of shape (n,) or (n, n_targets)
    kernels : Kernel, iterable of Kernel or str, "search" or None
        None tries the squared exponential, Matern kernels of smoothness 3/2 and 5/2, the rational quadratic and the squared
        exponential with a linear part. "search" builds kernels itself: it begins with none and with single ones, and goes on by
        adding to the best, multiplying it, exchanging a part or leaving one out, as long as that makes it better by more than
        the additional numbers found are worth (half the logarithm of n for each in a log density; 2 % for each in an error).
        See :meth:`Selected.describe`. What a text such as ``"RBF + Linear"`` does not say is "auto".
    criterion : str, Criterion or None
        See :mod:`kernsel.criteria`. None is that of the estimator, and "loo" without one.
    estimator : estimator, optional
        The model that is tried with each kernel: one that chooses by a criterion, such as ``SVR(C="auto", epsilon="auto")``,
        ``KernelRidge(alpha="auto")`` or ``GaussianProcessClassifier(criterion="loo")``. None is a
        :class:`kernsel.GaussianProcessRegressor` with `noise` and `trend`. Kernels get no amplitudes for others than Gaussian
        processes, C or alpha being one; only those for the terms of a sum.
    noise : float, array-like of shape (n,), or "auto"
    trend : {"constant", "linear", "quadratic"}, callable or None
    max_seconds : float, optional
        Nothing more is begun then. Kernels that are given share it: each may take its part of what is left.
    max_structures : int
        How many kernels "search" may try.
    random_state : int, RandomState instance or None
    verbose : int
        1 prints a line for each kernel that is tried.
    progress : callable, optional
        Told of each kernel before it is tried.

    Returns
    -------
    selected : Selected

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF, Linear, Matern
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 50).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(50)
    >>> sel = ks.select(X, y, kernels=[RBF("auto"), Matern("auto", nu=0.5), RBF("auto") + Linear("auto")], criterion="lml")
    >>> len(sel.tried), sel.best_kernel_.n_dims
    (3, 4)
    """
    if estimator is not None:
        if isinstance(estimator, type) or "kernel" not in getattr(estimator, "get_params", dict)():
            raise TypeError(f"estimator: expected an estimator with a kernel, got {estimator!r}")
        if not (isinstance(noise, str) and noise == "auto" and isinstance(trend, str) and trend == "constant"):
            raise ValueError("noise, trend: are of a Gaussian process; expected none of them with an estimator")
        if criterion is not None:
            estimator = clone(estimator).set_params(criterion=criterion)
        criterion = estimator.get_params().get("criterion")
        if is_classifier(estimator):
            criterion = {"loo": "loo_log_density"}.get(str(criterion), "lml")
    chosen = criterion_named("loo" if criterion is None else criterion, {})
    search = isinstance(kernels, str)
    if search and kernels != "search":
        raise ValueError(f'kernels: expected kernels, "search" or None, got {kernels!r}; texts go in a list')
    if max_seconds is not None and not (isinstance(max_seconds, Real) and max_seconds >= 0):
        raise ValueError(f"max_seconds: expected a number from 0 on or None, got {max_seconds!r}")
    if not isinstance(max_structures, Integral) or isinstance(max_structures, bool) or max_structures < 1:
        raise ValueError(f"max_structures: expected a whole number from 1 on, got {max_structures!r}")
    given = [] if search else _defaults() if kernels is None else _kernels(kernels)
    if search and isinstance(X, Mixed):
        raise ValueError('kernels: "search" builds kernels of columns of numbers; expected kernels that name the parts of X')
    if isinstance(X, Mixed) or any(k.for_objects() for k in given):
        X = Reading(X)  # once for all kernels, and so with what they make of the objects
    else:
        labels = estimator is not None and is_classifier(estimator)
        points, targets = check_X_y(X, y, dtype=np.float64, multi_output=not labels, y_numeric=not labels)
        if not labels and targets.dtype.kind not in "fiub":
            raise ValueError(f"y: expected numbers, got {targets.ravel()[0]!r}")
    until = np.inf if max_seconds is None else time.perf_counter() + float(max_seconds)
    if estimator is None:
        estimator = GaussianProcessRegressor(criterion=chosen, noise=noise, trend=trend)
    if random_state is not None and "random_state" in estimator.get_params():
        estimator = clone(estimator).set_params(random_state=random_state)
    attempt = _Attempt(X, y, chosen, estimator, until, verbose, search, progress)
    try:
        if search:
            _grow(attempt, max_structures, points, targets)
        for i, k in enumerate(given):
            attempt.try_kernel(with_amplitudes(k, needed=isinstance(estimator, _PROCESSES)), among=len(given) - i)
    except KeyboardInterrupt as interrupt:
        attempt.interrupted(interrupt)
    return attempt.result()


class _Attempt:
    """Tries one kernel after the other, and keeps them in order."""

    def __init__(
        self,
        X: Any,
        y: Any,
        criterion: Criterion,
        estimator: Any,
        until: float,
        verbose: int,
        by_worth: bool,
        progress: Callable[[Kernel], None] | None,
    ) -> None:
        self.X, self.y = X, y
        self.criterion = criterion
        self.estimator = estimator
        self.until = until
        self.verbose = verbose
        self.progress = progress
        self.by_worth = by_worth  # is the best one the one that pays?
        self.tried: list[Tried] = []
        self.best: tuple[Tried, Any] | None = None  # the only model that is kept
        self.errors: list[Exception] = []
        self.ended = ""
        self.interrupt: BaseException | None = None

    def interrupted(self, interrupt: BaseException) -> None:
        """Remember why nothing more is tried."""
        self.ended, self.interrupt = "interrupted: not all was tried", interrupt

    def try_kernel(self, kernel: Kernel, among: int = 1) -> Tried | None:
        """Fit one, of so many that share the time; None if there is none left."""
        began = time.perf_counter()
        if self.interrupt is not None or (began > self.until and self.tried):
            self.ended = self.ended or "the time was over before all was tried"
            return None
        if self.progress is not None:
            self.progress(kernel)
        left = None if np.isinf(self.until) else max((self.until - began) / among, 0.01)
        model = clone(self.estimator).set_params(kernel=kernel)
        if isinstance(model, _PROCESSES):
            model.set_params(max_seconds=left)
        problem = ""
        try:
            model.fit(self.X, self.y)
            if not hasattr(model, "criterion_value_"):
                raise ValueError(
                    f'estimator: expected one that chooses by a criterion, such as alpha="auto", got {self.estimator}'
                )
        except Exception as error:  # of a kernel of the user's, it may be any
            problem = (str(error).split("\n")[0].split(". ")[0] or type(error).__name__).removesuffix(".")
            self.errors.append(error)
        except KeyboardInterrupt as interrupt:
            self.interrupted(interrupt)
            if not hasattr(model, "criterion_value_"):
                return None
        value = np.nan if problem else float(model.criterion_value_)
        one = Tried(kernel, value, time.perf_counter() - began, problem)
        if not problem:
            found = vars(model)
            one = replace(
                one,
                kernel_=model.kernel_,
                parameters=sum(numbers_found(k, getattr(model, "trend", None) is not None) for k in _kernels_of(model)),
                n_evaluations_=found.get("n_evaluations_", 0),
                others={name: float(np.mean(found[name + "_"])) for name in ("C", "epsilon", "alpha") if name + "_" in found},
            )
            if isinstance(model, GaussianProcessRegressor):
                one = replace(
                    one,
                    noise_=model.noise_,
                    jitter_=model.jitter_,
                    ended=model.selection_.ended,
                    others={},
                )
            if self.best is None or self.rank(one) < self.rank(self.best[0]):
                self.best = (one, model)
        if self.verbose:
            print(f"{value:12.6g}  {_cut(problem or str(model.kernel_), 86)}", flush=True)
        self.tried.append(one)
        return one

    def worth(self, one: Tried) -> float:
        """Return how good a kernel is, the numbers found paid for; larger is better, and minus infinity if it is nothing."""
        if one.kernel_ is None or np.isnan(one.value):
            return -np.inf
        if self.criterion.larger_is_better:
            return one.value - 0.5 * one.parameters * float(np.log(len(self.X)))
        return -(one.value + 0.02 * one.parameters * abs(one.value))

    def better(self, one: Tried, other: Tried) -> bool:
        """Tell whether the first is better than the second by more than what it has more to find is worth."""
        new, old = self.worth(one), self.worth(other)
        return bool(new > old + 1e-6 * abs(old)) if np.isfinite(old) else bool(new > old)

    def rank(self, one: Tried) -> tuple[bool, bool, float]:
        """Return what lines are sorted by: those that could be fitted first, the best of them before all."""
        merit = self.worth(one) if self.by_worth else one.value if self.criterion.larger_is_better else -one.value
        return one.kernel_ is None, bool(np.isnan(one.value)), 0.0 if np.isnan(one.value) else -merit

    def result(self) -> Selected:
        """Return the table."""
        order = sorted(self.tried, key=self.rank)
        if self.best is None:
            if self.interrupt is not None:
                raise self.interrupt
            if len({str(error) for error in self.errors}) == 1:
                raise self.errors[0]  # no fault of the kernels
            problems = "; ".join(f"{one.kernel}: {one.problem}" for one in order[:5])
            raise ValueError(f"kernels: none of them could be fitted: {problems}") from self.errors[0]
        return Selected(order, self.criterion, self.best[1], self.ended, self.interrupt)


def _grow(attempt: _Attempt, most: int, X: Any, y: Any) -> None:
    """Begin with single kernels; change the best one as long as that pays."""
    columns = X.shape[1]
    period = hidden_period(X, y)
    candidates = simplest_structures(columns, period)
    best: Tried | None = None
    seen: set[str] = set()
    while True:
        leader = best
        for structure in candidates:
            if repr(structure) in seen:
                continue
            if len(attempt.tried) >= most:
                attempt.ended = f"{most} structures were tried" + (", not all there are" if most > 1 else "")
                return
            seen.add(repr(structure))
            one = attempt.try_kernel(structure)
            if one is None:
                return
            if one.kernel_ is not None and np.isnan(one.value):
                return  # the trend alone explains y
            if one.kernel_ is not None and (leader is None or attempt.better(one, leader)):
                leader = one
        if leader is best or leader is None:
            return
        best = leader
        candidates = larger_structures(best.kernel, columns, period)


def in_words(model: GaussianProcessRegressor, names: Sequence[str] | None = None) -> str:
    """Return what a model is made of, and by how much each part moves the data; with names for its columns."""
    X, c = model.X_train_, model.alpha_
    sizes = [float(np.std(term.matmul(X, X, c), axis=0).mean()) for term in terms_of(model.kernel_)]
    said = describe(model.kernel_, model.noise_, sizes, ranges=np.ptp(X, axis=0).tolist(), names=names)
    return "\n".join([*_trend_in_words(model), said])


def _trend_in_words(model: GaussianProcessRegressor) -> list[str]:
    """Return a line for a trend beside the kernel, if it is more than a constant and moves the data."""
    posterior = model.posterior_
    size = float(np.std(posterior.H @ posterior.beta, axis=0).mean()) if posterior.H.shape[1] > 1 else 0.0
    if size <= 1e-3 * float(np.std(posterior.y, axis=0).mean()):
        return []
    kind = f"a {model.trend} trend" if isinstance(model.trend, str) else "the trend that was given"
    return [f"{kind} beside the kernel, of size {size:.3g}"]


def _defaults() -> list[Kernel]:
    return [
        RBF("auto"),
        Matern("auto", nu=2.5),
        Matern("auto", nu=1.5),
        RationalQuadratic("auto"),
        RBF("auto") + Linear("auto"),
    ]


def _kernels(given: Any) -> list[Kernel]:
    if isinstance(given, Kernel | sk.Kernel):
        given = [given]
    try:
        kernels = [_kernel(one) for one in given]
    except TypeError as error:
        if str(error).startswith("kernels:"):
            raise
        raise TypeError(f'kernels: expected kernels, "search" or None, got {given!r}') from error
    if not kernels:
        raise ValueError("kernels: expected at least one")
    return [alternative for kernel in kernels for alternative in kernel.alternatives()]


def _shown(one: Tried) -> Kernel:
    """Return the kernel that was found; of several, for several classes, what they have in common."""
    return one.kernel_ if isinstance(one.kernel_, Kernel) else one.kernel


def _kernels_of(model: Any) -> list[Kernel]:
    """Return the kernels of a model: several, if there is one for each class."""
    return list(getattr(model.kernel_, "kernels", [model.kernel_]))


def _kernel(given: Any) -> Kernel:
    kernel = None if isinstance(given, type | Real) else kernel_argument(given) if isinstance(given, str) else as_kernel(given)
    if kernel is None:
        raise TypeError(f"kernels: expected kernels or their texts, got {given!r}")
    return kernel


def with_amplitudes(kernel: Kernel, *, needed: bool = True) -> Kernel:
    """Return a kernel with a factor to be found for each term that has none, in products and restrictions, too.

    Not for the first of them if it is not needed: another number does what a factor of all terms would.
    """
    return _with_amplitudes(kernel, needed=needed)


def _with_amplitudes(kernel: Kernel, *, needed: bool) -> Kernel:
    """Return the same; the first term of a sum goes without one if what the sum is in has one already."""
    if isinstance(kernel, Sum):
        first, *others = kernel.operands()
        total = _with_amplitudes(first, needed=needed)
        for term in others:
            total = Sum(total, _with_amplitudes(term, needed=True))
        return total
    if isinstance(kernel, ConstantKernel | WhiteKernel | HeteroscedasticNoise):
        return kernel
    if isinstance(kernel, Columns) and isinstance(kernel.kernel, Sum | Product):
        return _with_amplitudes(kernel.kernel, needed=needed).on(kernel.columns)
    if isinstance(kernel, Product):
        factors = kernel.operands()
        needed = needed and not any(isinstance(factor, ConstantKernel | WhiteKernel) for factor in factors)
        whole: Kernel | None = None
        for factor in factors:
            part = factor
            if _has_sum(factor):
                part, needed = _with_amplitudes(factor, needed=needed), False
            whole = part if whole is None else whole * part
        assert whole is not None
        return ConstantKernel("auto") * whole if needed else whole
    return ConstantKernel("auto") * kernel if needed else kernel


def _has_sum(kernel: Kernel) -> bool:
    return isinstance(kernel, Sum) or (isinstance(kernel, Columns) and _has_sum(kernel.kernel))


def name_of_criterion(criterion: Criterion) -> str:
    """Return the name of a criterion, or else that of its class."""
    for name in CRITERIA:
        if repr(criterion_named(name, {})) == repr(criterion):
            return name
    return type(criterion).__name__


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
