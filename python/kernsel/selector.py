"""Which kernel? Several are tried, each at its best, and the table is shown."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kernsel.criteria import Criterion, criterion_named
from kernsel.gaussian_process import GaussianProcessRegressor
from kernsel.kernels import RBF, ConstantKernel, Kernel, Linear, Matern, Product, RationalQuadratic, Sum, WhiteKernel
from kernsel.kernels.algebra import as_kernel
from kernsel.kernels.written import kernel_argument
from kernsel.structure import describe, larger_structures, simplest_structures, terms_of
from kernsel.trend import Trend

__all__ = ["Selected", "Tried", "select"]


@dataclass(frozen=True)
class Tried:
    """One line of what :func:`select` returns.

    Attributes
    ----------
    kernel : Kernel
        As it was tried.
    value : float
        Of the criterion at its best; nan if the kernel could not be fitted.
    model : GaussianProcessRegressor or None
        Fitted.
    seconds : float
    problem : str
        Why it could not be fitted; empty if it could.
    """

    kernel: Kernel
    value: float
    model: GaussianProcessRegressor | None
    seconds: float
    problem: str = ""

    @property
    def parameters(self) -> int:
        """How many numbers were found in the kernel."""
        return 0 if self.model is None else self.model.kernel_.n_dims


@dataclass(frozen=True)
class Selected:
    """What :func:`select` returns; printed, a table.

    Attributes
    ----------
    tried : list of Tried
        The best first.
    criterion : Criterion
    ended : str
        Why no more was tried: "" if all was.
    """

    tried: list[Tried]
    criterion: Criterion
    ended: str = ""
    interrupt: BaseException | None = field(default=None, repr=False)

    @property
    def best(self) -> Tried:
        """The best line of the table."""
        return self.tried[0]

    @property
    def best_estimator_(self) -> GaussianProcessRegressor:
        """The model with the best kernel, fitted."""
        model = self.best.model
        assert model is not None
        return model

    @property
    def best_kernel_(self) -> Kernel:
        """The best kernel, with its hyperparameters."""
        return self.best_estimator_.kernel_

    def predict(self, X: ArrayLike, **options: Any) -> Any:
        """Return predictions of the best model, see :meth:`GaussianProcessRegressor.predict`."""
        return self.best_estimator_.predict(X, **options)

    def describe(self) -> str:
        """Return in words what the best model is made of, and by how much each part moves the data."""
        model = self.best_estimator_
        X, c = model.X_train_, model.alpha_
        sizes = [float(np.std(term.matmul(X, X, c))) for term in terms_of(model.kernel_)]
        return describe(model.kernel_, float(model.noise_) if np.ndim(model.noise_) == 0 else None, sizes)

    def __str__(self) -> str:
        lines = [f"{'kernel':60s} {'value':>12s} {'found':>5s} {'noise':>9s} {'evals':>5s} {'seconds':>7s}"]
        for one in self.tried:
            if one.model is None:
                lines.append(f"{_cut(str(one.kernel), 60):60s} {one.problem}")
                continue
            noise = one.model.noise_
            shown = f"{noise:9.3g}" if np.ndim(noise) == 0 else "   vector"
            evaluations = one.model.n_evaluations_
            numbers = f"{one.value:12.6g} {one.parameters:5d} {shown} {evaluations:5d} {one.seconds:7.2f}"
            lines.append(f"{_cut(str(one.model.kernel_), 60):60s} {numbers}")
        better = "larger" if self.criterion.larger_is_better else "smaller"
        lines.append(f"{better} values of {type(self.criterion).__name__} are better")
        return "\n".join([*lines, *([self.ended] if self.ended else [])])


def select(
    X: ArrayLike,
    y: ArrayLike,
    kernels: Iterable[Any] | Literal["search"] | None = None,
    criterion: str | Criterion = "loo",
    *,
    noise: Any = "auto",
    trend: Trend = "constant",
    max_seconds: float | None = None,
    max_structures: int = 40,
    random_state: Any = None,
    verbose: int = 0,
) -> Selected:
    """Try kernels, each with its hyperparameters and the noise at their best; return the table, and the best one fitted.

    Every kernel gets an amplitude, and so does every term of a sum, unless it has one: how much of y a kernel explains is
    always found.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,) or (n, n_targets)
    kernels : iterable of Kernel or str, "search" or None
        None tries the squared exponential, Matern kernels of smoothness 3/2 and 5/2, the rational quadratic and the squared
        exponential with a linear part. "search" builds kernels itself: it begins with single ones, and goes on by adding to the
        best, multiplying it or exchanging a part, as long as that makes it better by more than the additional hyperparameters
        are worth (half the logarithm of n for each in a log density; 2 % for each in an error). See :meth:`Selected.describe`.
    criterion : str or Criterion
        See :mod:`kernsel.criteria`.
    noise : float, array-like of shape (n,), or "auto"
    trend : {"constant", "linear", "quadratic"}, callable or None
    max_seconds : float, optional
        Nothing more is begun then.
    max_structures : int
        How many kernels "search" may try.
    random_state : int, RandomState instance or None
    verbose : int
        1 prints a line for each kernel that is tried.

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
    chosen = criterion_named(criterion, {})
    search = isinstance(kernels, str)
    if search and kernels != "search":
        raise ValueError(f'kernels: expected kernels, "search" or None, got {kernels!r}')
    until = np.inf if max_seconds is None else time.perf_counter() + max_seconds
    attempt = _Attempt(X, y, chosen, noise, trend, random_state, until, verbose)
    if not search:
        given = _defaults() if kernels is None else [_kernel(k) for k in kernels]
        if not given:
            raise ValueError("kernels: expected at least one")
        for k in given:
            attempt.try_kernel(with_amplitudes(k))
    else:
        _grow(attempt, max_structures)
    return attempt.result()


class _Attempt:
    """Tries one kernel after the other, and keeps them in order."""

    def __init__(
        self, X: Any, y: Any, criterion: Criterion, noise: Any, trend: Trend, random_state: Any, until: float, verbose: int
    ) -> None:
        self.X, self.y = X, y
        self.criterion = criterion
        self.options = {"criterion": criterion, "noise": noise, "trend": trend, "random_state": random_state}
        self.until = until
        self.verbose = verbose
        self.tried: list[Tried] = []
        self.ended = ""
        self.interrupt: BaseException | None = None

    def try_kernel(self, kernel: Kernel) -> Tried | None:
        """Fit one; None if there is no time left."""
        began = time.perf_counter()
        if self.interrupt is not None or (began > self.until and self.tried):
            self.ended = self.ended or "the time was over before all was tried"
            return None
        left = None if np.isinf(self.until) else max(self.until - began, 0.01)
        model = GaussianProcessRegressor(kernel, max_seconds=left, **self.options)
        problem = ""
        try:
            model.fit(self.X, self.y)
        except np.linalg.LinAlgError as error:
            problem = str(error).split(". ")[0]
        except KeyboardInterrupt as interrupt:
            self.ended, self.interrupt = "interrupted", interrupt
            if not hasattr(model, "criterion_value_"):
                return None
        value = np.nan if problem else model.criterion_value_
        one = Tried(kernel, value, None if problem else model, time.perf_counter() - began, problem)
        if self.verbose:
            print(f"{value:12.6g}  {problem or model.kernel_}")
        self.tried.append(one)
        return one

    def better(self, one: Tried, other: Tried) -> bool:
        """Tell whether the first is better than the second by more than what it has more to find is worth."""
        more = one.parameters - other.parameters
        if np.isnan(one.value) or np.isnan(other.value):
            return not np.isnan(one.value)
        if self.criterion.larger_is_better:
            worth = 0.5 * max(more, 0) * float(np.log(len(np.asarray(self.y))))
            return one.value > other.value + worth + 1e-6 * abs(other.value)
        return one.value < other.value * (1 - 0.02 * max(more, 0)) - 1e-6 * abs(other.value)

    def result(self) -> Selected:
        """Return the table."""
        sign = -1 if self.criterion.larger_is_better else 1
        order = sorted(self.tried, key=lambda one: np.inf if one.model is None else sign * one.value)
        if not order or order[0].model is None:
            if self.interrupt is not None:
                raise self.interrupt
            problems = "; ".join(f"{one.kernel}: {one.problem}" for one in order[:5])
            raise ValueError(f"kernels: none of them could be fitted: {problems}")
        return Selected(order, self.criterion, self.ended, self.interrupt)


def _grow(attempt: _Attempt, most: int) -> None:
    """Begin with single kernels; change the best one as long as that pays."""
    columns = np.shape(attempt.X)[1] if np.ndim(attempt.X) == 2 else 1
    candidates = simplest_structures(columns)
    best: Tried | None = None
    seen: set[str] = set()
    while True:
        leader = best
        for structure in candidates:
            if repr(structure) in seen:
                continue
            if len(attempt.tried) >= most:
                attempt.ended = f"{most} structures were tried"
                break
            seen.add(repr(structure))
            one = attempt.try_kernel(structure)
            if one is None:
                break
            if one.model is not None and (leader is None or attempt.better(one, leader)):
                leader = one
        if leader is best or leader is None or attempt.ended:
            break
        best = leader
        candidates = larger_structures(best.kernel, columns)
    # The best is the one that pays, not the one that has most to find.
    if leader is not None:
        attempt.tried = [leader] + [one for one in attempt.tried if one is not leader and not _beats(attempt, one, leader)]


def _beats(attempt: _Attempt, one: Tried, leader: Tried) -> bool:
    """Tell whether a larger structure has the better value, if not by enough."""
    if one.model is None:
        return False
    return one.value > leader.value if attempt.criterion.larger_is_better else one.value < leader.value


def _defaults() -> list[Kernel]:
    return [
        RBF("auto"),
        Matern("auto", nu=2.5),
        Matern("auto", nu=1.5),
        RationalQuadratic("auto"),
        RBF("auto") + Linear("auto"),
    ]


def _kernel(given: Any) -> Kernel:
    kernel = kernel_argument(given) if isinstance(given, str) else as_kernel(given)
    if kernel is None:
        raise TypeError(f"kernels: expected kernels or their texts, got {given!r}")
    return kernel


def with_amplitudes(kernel: Kernel) -> Kernel:
    """Return a kernel with a factor to be found for each term that has none."""
    if isinstance(kernel, Sum):
        terms = [with_amplitudes(term) for term in kernel._alike()]
        total: Kernel = terms[0]
        for term in terms[1:]:
            total = Sum(total, term)
        return total
    if isinstance(kernel, ConstantKernel | WhiteKernel):
        return kernel
    if isinstance(kernel, Product) and any(isinstance(factor, ConstantKernel) for factor in kernel._alike()):
        return kernel
    return ConstantKernel("auto") * kernel


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
