"""The selection among kernels: each is fitted with its best hyperparameters, and they are compared by a criterion."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.gaussian_process import kernels as sk
from sklearn.utils import check_X_y
from sklearn.utils.validation import has_fit_parameter

from kernsel._base.annotations import Indices, Matrix, Seed
from kernsel._data.allowed import is_auto
from kernsel._data.folds import number_of_points
from kernsel._data.kernel import kernel_of
from kernsel._data.together import groups_told
from kernsel._data.trend import Trend
from kernsel.approximations import Wish
from kernsel.criteria import Criterion, Evidence
from kernsel.criteria.names import criterion_named, name_of
from kernsel.estimators.fitted import HasTerms, opened_by_kernel
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.estimators.stacking.set_aside import SetAside
from kernsel.kernels import RBF, Kernel, Linear, Matern, RationalQuadratic
from kernsel.kernels.amplitudes import with_amplitudes
from kernsel.kernels.objects import Mixed, Points, Reading, needs_reading
from kernsel.kernels.written import KernelLike
from kernsel.likelihoods import Likelihood
from kernsel.likelihoods.named import require_likelihood
from kernsel.likelihoods.words import in_words as likelihood_in_words
from kernsel.study.as_good import marked, simplest_of_the_best
from kernsel.study.categories import kernels_of_categories
from kernsel.study.encoded import Encoding, PredictsTables, encoded
from kernsel.study.other_likelihoods import about_counts, about_heavy_tails
from kernsel.study.stacking import combined, in_short
from kernsel.study.structure import describe, hidden_period, larger_structures, simplest_structures, terms_of
from kernsel.study.tasks import jobs_of, results_of
from kernsel.study.texts import kernel_of as kernel_of_table
from kernsel.study.texts import named, with_names
from kernsel.study.tried import Outcome, Tried, outcome_of, strengths_of

__all__ = ["USUAL", "Selected", "Tried", "approximation_of", "in_words", "select"]

# The kernels that are tried if none is named.
USUAL: tuple[Kernel, ...] = (
    RBF("auto"),
    Matern("auto", nu=2.5),
    Matern("auto", nu=1.5),
    Matern("auto", nu=0.5),
    RationalQuadratic("auto"),
    Linear("auto"),
    RBF("auto") + Linear("auto"),
)

Noise: TypeAlias = float | ArrayLike | Literal["auto"]


@dataclass(frozen=True)
class Selected(PredictsTables):
    """The result of :func:`select`, which is printed as a table.

    Attributes
    ----------
    tried : list of Tried
        The best kernel first, by the value of the criterion; in a structure search, less a penalty for each hyperparameter.
        The values of criteria that leave points out are not the order, see `criterion` of :func:`select`.
    criterion : Criterion
    best_estimator_ : GaussianProcessRegressor, or an estimator of the class of `estimator`
        The fitted model with the best kernel. The other models are not kept. With ``combine="stack"`` the mixture of several, a
        :class:`kernsel.StackedRegressor`.
    ended : str
        The reason why not everything was tried; empty if it was.
    about_likelihood : tuple of str
        Sentences on other likelihoods that fit the targets, part of `remarks`.
    encoding : Encoding or None
        How the columns of a frame become the numbers that `best_estimator_` is fitted to, if `target` was given: `names`,
        `columns`, `target`, `remarks`.
    interrupt : BaseException or None
        The KeyboardInterrupt that ended the selection, whose results so far are kept. A program that should stop then can raise
        it again.
    """

    tried: list[Tried]
    criterion: Criterion
    best_estimator_: BaseEstimator = field(repr=False)
    ended: str = ""
    interrupt: BaseException | None = field(default=None, repr=False)
    encoding: Encoding | None = field(default=None, repr=False)
    about_likelihood: tuple[str, ...] = field(default=(), repr=False)

    @property
    def best(self) -> Tried:
        """The best line of the table."""
        return self.tried[0]

    @property
    def remarks(self) -> list[str]:
        """Sentences that a user should read: rows that are repeated, and what that means for the criterion; approximations."""
        model = self.best_estimator_
        best: Any = model.processes[0][1] if isinstance(model, StackedRegressor) else model
        found = getattr(best, "selection_", None)
        found = found[0] if isinstance(found, list) else found
        far = getattr(found, "far", None)
        rows = None if self.encoding is None else self.encoding.kept
        said = approximation_of(best)
        return [
            *getattr(found, "remarks", []),
            *([f"{said[0].upper()}{said[1:]}"] if said else []),
            *([] if far is None else [far.said(rows)]),
            *filter(None, [getattr(found, "compared", "")]),
            *self.about_likelihood,
        ]

    @property
    def best_kernel_(self) -> Kernel:
        """The best kernel, with its fitted hyperparameters; also where several are combined. It names columns of a table."""
        stacked = isinstance(self.best_estimator_, StackedRegressor)
        owner: Any = self.best if stacked else self.best_estimator_
        kernel: Kernel = owner.kernel_
        return kernel if self.encoding is None or not isinstance(kernel, Kernel) else named(kernel, self.encoding.names)

    def describe(self) -> str:
        """Return a description of the best model in words, with the size of each of its terms."""
        model = self.best_estimator_
        if not isinstance(model, HasTerms | StackedRegressor):
            raise TypeError(f"describe: expected a GaussianProcessRegressor to be the best model, got {type(model).__name__}")
        if np.isnan(self.best.value):
            return "the trend alone gives y: there is nothing to choose a kernel by"
        return in_words(model, model.feature_names() if self.encoding is None else self.encoding.names)

    def __str__(self) -> str:
        found = [one.others for one in self.tried if one.others]
        names = [name for name in found[0] if all(name in others for others in found)] if found else []
        rest = [*names, "seconds"] if names else ["found", "noise", "evals", "seconds"]
        widths = [9] * len(names) + [7] if names else [5, 9, 5, 7]
        stacked = self.best_estimator_ if isinstance(self.best_estimator_, StackedRegressor) else None
        if stacked is not None:
            rest, widths = ["found", "noise", "weight", "seconds"], [5, 8, 6, 7]
        lines = [" ".join([f"{'kernel':55s} {'value':>12s}", *(f"{r:>{w}s}" for r, w in zip(rest, widths, strict=True))])]
        any_cut_short = False
        for one in self.tried:
            if one.kernel_ is None:
                lines.append(_cut(f"{_cut(self._written(one.kernel), 55):55s} {one.problem}", 100))
                continue
            noise = one.noise_
            noise_cell = f"{noise:9.3g}" if np.ndim(noise) == 0 else "   vector"
            numbers = f"{one.value:12.6g} {one.parameters:5d} {noise_cell} {one.n_evaluations_:5d} {one.seconds:7.2f}"
            if stacked is not None:
                numbers = f"{one.value:12.6g} {one.parameters:5d} {noise_cell[1:]} {one.weight:6.3f} {one.seconds:7.2f}"
            elif names:
                numbers = " ".join([f"{one.value:12.6g}", *(f"{one.others[n]:9.4g}" for n in names), f"{one.seconds:7.2f}"])
            cut_short = one.ended not in ("converged", "undecided")
            any_cut_short = any_cut_short or cut_short
            mark = f"{' ~' if one.as_good and one is not self.best else ''}{' *' if cut_short else ''}"
            lines.append(f"{_cut(self._written(_shown(one)), 55):55s} {numbers}{mark}")
        best = self._written(_shown(self.best))
        if len(best) > 55:
            lines += textwrap.wrap(f"best: {best}", 100, break_long_words=False)
        better = "larger" if self.criterion.larger_is_better else "smaller"
        lines.append(f"{better} values of {name_of(self.criterion)} are better")
        if any(one.as_good for one in self.tried[1:]):
            lines.append("~ about as good as the best")
        if any_cut_short:
            lines.append("* before the search was at its end")
        if stacked is not None:
            lines.append(in_short(stacked, self.tried))
        remarks = [*([] if self.encoding is None else self.encoding.remarks), *self.remarks]
        lines += [line for one in remarks for line in textwrap.wrap(one, 100)]
        return "\n".join([*lines, *([self.ended] if self.ended else [])])

    def _written(self, kernel: Kernel) -> str:
        """Return a kernel as text, with the names of columns that it may have as indices."""
        return str(kernel) if self.encoding is None else with_names(str(kernel), self.encoding.names)


def select(
    X: Any,
    y: ArrayLike | None = None,
    kernels: Kernel | Iterable[KernelLike] | Literal["search"] | None = None,
    criterion: str | Criterion | None = None,
    *,
    target: str | None = None,
    estimator: BaseEstimator | None = None,
    combine: Literal["auto", "stack"] | None = "auto",
    noise: Noise = "auto",
    trend: Trend = "constant",
    max_seconds: float | None = None,
    max_structures: int = 40,
    random_state: Seed = None,
    verbose: int = 0,
    progress: Callable[[Kernel], None] | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    approximation: Wish = "auto",
    likelihood: str | Likelihood | Sequence[str | Likelihood] | None = None,
    exposure: ArrayLike | str | None = None,
    trials: ArrayLike | str | None = None,
    n_jobs: int | None = None,
) -> Selected:
    """Fit a model with each of several kernels, and compare them by a criterion; return all results, and the best model.

    Every kernel gets an amplitude to be selected, and so does every term of a sum, unless it has one. A kernel that cannot be
    fitted stays in the table with the reason. If the selection is interrupted (Ctrl-C), it returns the results so far, unless
    there are none: then KeyboardInterrupt is raised.

    Parameters
    ----------
    X : array-like of shape (n, d); or n objects, for a kernel on objects; or, with `target`, a table
        A table is a frame of pandas or polars, a dictionary of arrays, or the path of a file.
    y : array-like of shape (n,) or (n, n_targets), optional
        Not with `target`.
    kernels : Kernel, iterable of Kernel or str, "search" or None
        None tries the squared exponential, Matern kernels of smoothness 1/2, 3/2 and 5/2, the rational quadratic, the linear
        kernel, and the squared exponential with a linear part; for a table with categories also products of kernels of numbers
        and of categories (:class:`kernsel.kernels.Exchangeable`, :class:`kernsel.kernels.CorrelatedLevels`). "search" builds
        kernels: it starts with no kernel and with single ones, and then adds a kernel to the best structure, multiplies it with
        one, exchanges a part or removes one, as long as the criterion improves by more than a penalty for each additional
        hyperparameter (half the logarithm of n in a log density; 2 % in an error; none in the evidence, which has it). See
        :meth:`Selected.describe`. Arguments that a text such as ``"RBF + Linear"`` does not mention are "auto".
    criterion : str, Criterion or None
        See :mod:`kernsel.criteria`. None stands for the criterion of the estimator, and without an estimator for "evidence",
        the probability of the data with the hyperparameters integrated out, so that a kernel with more of them is not better
        for that. Kernels whose log likelihood is less than that of the best by no more than 1, or whose error is larger by no
        more than 1 %, are marked as about as good ("~"). If a Gaussian process is chosen by a criterion that leaves points
        out, kernels are compared by the log densities of these points: about as good are those within one standard error
        of the mean difference, and the simplest of them is taken.
    target : str, optional
        The column of the table X that is to be predicted from the others. They are encoded as ``kernsel select`` does: texts as
        categories, dates as days; rows with missing values and columns that say nothing are left out.
        :attr:`Selected.encoding` says so, and kernels that are texts may name columns, as ``"RBF.on(['speed']) + Linear"``.
    estimator : estimator, optional
        The model that is fitted with each kernel. It must select by a criterion, as ``SVR(C="auto", epsilon="auto")``,
        ``KernelRidge(alpha="auto")`` or ``GaussianProcessClassifier(criterion="loo")`` do. None stands for a
        :class:`kernsel.GaussianProcessRegressor` with `noise` and `trend`. What its own kernel leaves open if it is "auto" or
        text, such as alpha, is chosen for the others, too. In models other than Gaussian processes, C or alpha
        is the amplitude of the kernel, and only the terms of sums get amplitudes.
    combine : "auto", "stack" or None
        None keeps the model with the best kernel. "stack" mixes the predictions of the Gaussian processes with all kernels that
        could be fitted, with weights by their evidence and by the densities of points that are left out (see
        :class:`kernsel.StackedRegressor`, which `best_estimator_` is then); the table shows the weights, and its order remains
        that of the criterion. "auto" is "stack" where several kernels are compared by the evidence, and otherwise None.
    noise : float, array-like of shape (n,), or "auto"
        The noise variance of the Gaussian process; "auto" estimates it.
    trend : {"constant", "linear", "quadratic"}, callable or None
        The trend of the Gaussian process.
    max_seconds : float, optional
        The time after which no further kernel is fitted. Each of several given kernels may take an equal share of the time that
        is left.
    max_structures : int
        The most kernels that "search" tries.
    random_state : int, RandomState instance or None
        Determines the random starts of the searches for hyperparameters.
    verbose : int
        1 prints a line for each kernel that is tried.
    progress : callable, optional
        Called with each kernel before it is tried.
    groups : array-like of shape (n,), optional
        A label for each point: criteria that leave points out leave all points of a group out together, as the folds of the
        criterion "kfold" do. By default rows that are equal are left out together.
    time : array-like of shape (n,), optional
        The time of each point, in numbers or dates, in place of `groups`: about ten blocks of points that follow each other in
        time are left out, one block at a time. A kernel uses the time only if it is a column of X.
    approximation : "auto", Vecchia or None
        See :class:`kernsel.GaussianProcessRegressor`: for many points, nearest neighbours. The evidence is then the restricted
        likelihood at its maximum, and the weights of a mixture follow from the densities of points that are left out. An
        `estimator` that has this parameter gets it, unless it is "auto". :attr:`Selected.remarks` say what was approximated.
    likelihood : str, Likelihood or None
        That of the observations given the function, see :mod:`kernsel.likelihoods`, such as "poisson" for counts and
        "student_t" for data with outliers; None is normal noise. "warped", or a list, leaves it to the data,
        see :class:`kernsel.GaussianProcessRegressor`. Its parameters are found with each kernel. Kernels are then
        compared by the approximate evidence at its maximum, "lml", less half the logarithm of n for each
        hyperparameter, or by the criterion "loo_log_density". Without one,
        :attr:`Selected.remarks` say so if the targets look like counts, or if errors of points that are left out have heavy
        tails: then up to 1000 points are fitted with "student_t", too, and the log densities of points left out are compared.
    exposure, trials : float, array-like of shape (n,), or with `target` the name of a column; optional
        For likelihoods of counts, see :meth:`kernsel.GaussianProcessRegressor.fit`.
    n_jobs : int or None
        How many kernels are fitted at the same time, as in scikit-learn: by default one, or what ``joblib.parallel_config`` has
        set, such as the workers of Dask. Unless there is a limit of time, results do not depend on it. A structure search fits
        all changes of a structure at the same time. An interrupt keeps what has been fitted of the first kernels.

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

    A table with names, whose columns may be texts, dates and numbers:

    >>> table = {"x": X[:, 0], "kind": np.where(X[:, 0] < 3, "new", "old"), "y": y}
    >>> sel = ks.select(table, target="y", kernels=["RBF.on(['x']) + Linear"])
    >>> sel.encoding.names
    ['x', 'kind=old']
    >>> sel.predict({"x": [1.0, 2.0], "kind": ["old", "new"]}).shape
    (2,)
    """
    encoding: Encoding | None = None
    if target is not None:
        if y is not None:
            raise ValueError("y: expected either y or target, the name of a column of X, got both")
        columns = {name: given for name, given in (("exposure", exposure), ("trials", trials)) if isinstance(given, str)}
        table, encoding = encoded(X, target, classes=estimator is not None and is_classifier(estimator), **columns)
        X, y = table.X, encoding.targets(table)
        exposure = table.sizes if isinstance(exposure, str) else exposure
        trials = table.sizes if isinstance(trials, str) else trials
        if kernels is not None and not isinstance(kernels, str | Kernel | sk.Kernel):
            kernels = [kernel_of_table(one, table) if isinstance(one, str) else one for one in kernels]
        kernels = [*USUAL, *kernels_of_categories(table)] if kernels is None else kernels
    elif y is None:
        raise TypeError("y: expected the targets, or target= with the name of a column of X")
    if estimator is not None:
        if isinstance(estimator, type) or "kernel" not in getattr(estimator, "get_params", dict)():
            raise TypeError(f"estimator: expected an estimator with a kernel, got {estimator!r}")
        if not (isinstance(noise, str) and noise == "auto" and isinstance(trend, str) and trend == "constant"):
            raise ValueError("noise, trend: are of a Gaussian process; expected none of them with an estimator")
        if criterion is not None:
            estimator = clone(estimator).set_params(criterion=criterion)
        opened = opened_by_kernel(estimator)
        if opened:  # its own kernel is replaced by others, which are objects
            estimator = clone(estimator).set_params(**opened)
        if estimator.get_params().get("criterion", "") is None:  # its default may depend on the kernel
            estimator = clone(estimator).set_params(criterion="loo")
        criterion = estimator.get_params().get("criterion")
        if is_classifier(estimator):
            criterion = {"loo": "loo_log_density"}.get(str(criterion), "lml")
    if likelihood is not None:
        if estimator is not None:
            raise ValueError("likelihood: is of a Gaussian process; with an estimator, expected it in its parameter likelihood")
        if not is_auto(noise):
            raise ValueError("noise: with a likelihood, which is all noise there is, expected none")
        require_likelihood(likelihood)
        estimator = GaussianProcessRegressor(trend=trend, approximation=approximation, likelihood=likelihood)
        criterion = "lml" if criterion is None else criterion
        estimator.set_params(criterion=criterion_named(criterion, {}))
    observed = getattr(estimator, "likelihood", None) is not None
    sizes = {name: given for name, given in (("exposure", exposure), ("trials", trials)) if given is not None}
    if sizes and not observed:
        raise ValueError(f'{next(iter(sizes))}: normal noise has none; expected a likelihood of counts, such as "poisson"')
    if combine == "stack" and observed:
        raise ValueError("combine: stacks Gaussian processes with normal noise; expected None with a likelihood")
    if combine not in (None, "auto", "stack"):
        raise ValueError(f'combine: expected "auto", "stack" or None, got {combine!r}')
    if combine == "stack" and not isinstance(estimator, GaussianProcessRegressor | None):
        kind = type(estimator).__name__
        raise ValueError(f"combine: stacks Gaussian processes, whose predictions have densities; expected None with a {kind}")
    resolved = criterion_named("evidence" if criterion is None else criterion, {})
    told = None if groups is None and time is None else groups_told(groups, time, number_of_points(X))
    if told is not None and estimator is not None and not has_fit_parameter(estimator, "groups"):
        raise TypeError(f"groups, time: a {type(estimator).__name__} does not leave groups out")
    search = isinstance(kernels, str)
    if search and kernels != "search":
        raise ValueError(f'kernels: expected kernels, "search" or None, got {kernels!r}; texts go in a list')
    if max_seconds is not None and not (isinstance(max_seconds, Real) and max_seconds >= 0):
        raise ValueError(f"max_seconds: expected a number from 0 on or None, got {max_seconds!r}")
    if not isinstance(max_structures, Integral) or isinstance(max_structures, bool) or int(max_structures) < 1:
        raise ValueError(f"max_structures: expected a whole number from 1 on, got {max_structures!r}")
    candidates = [] if search else list(USUAL) if kernels is None else _kernels(kernels)
    if search and isinstance(X, Mixed):
        raise ValueError('kernels: "search" builds kernels of columns of numbers; expected kernels that name the parts of X')
    if any(needs_reading(k, X) for k in candidates) or isinstance(X, Mixed):
        X = Reading.of(candidates, X)  # one reading for all kernels, which then share the cache of encoded objects
    else:
        labels = estimator is not None and is_classifier(estimator)
        points, targets = check_X_y(X, y, dtype=np.float64, multi_output=not labels, y_numeric=not labels)
        if not labels and targets.dtype.kind not in "fiub":
            raise ValueError(f"y: expected numbers, got {targets.ravel()[0]!r}")
    until = np.inf if max_seconds is None else perf_counter() + float(max_seconds)
    if estimator is None:
        estimator = GaussianProcessRegressor(criterion=resolved, noise=noise, trend=trend, approximation=approximation)
    elif not is_auto(approximation):
        if "approximation" not in estimator.get_params() and approximation is not None:
            raise TypeError(f'approximation: a {type(estimator).__name__} is exact; expected None or "auto"')
        if "approximation" in estimator.get_params():
            estimator = clone(estimator).set_params(approximation=approximation)
    if random_state is not None and "random_state" in estimator.get_params():
        estimator = clone(estimator).set_params(random_state=random_state)
    is_process = isinstance(estimator, GaussianProcessRegressor)
    stacks = combine == "stack" or (combine == "auto" and is_process and isinstance(resolved, Evidence) and len(candidates) > 1)

    def tried(estimator: BaseEstimator) -> _Attempt:
        attempt = _Attempt(X, y, resolved, estimator, until, verbose, search, progress, told, sizes, stacks, n_jobs)
        try:
            if search:
                _grow(attempt, max_structures, points, targets)
            with_strength = [with_amplitudes(k, needed=not strengths_of(estimator)) for k in candidates]
            for _ in attempt.tries(with_strength, share_time=True):
                pass
        except KeyboardInterrupt as interrupt:
            attempt.interrupted(interrupt)
        return attempt

    attempt = tried(estimator)
    rows = attempt.outliers_to_agree_on()
    if rows is not None:
        attempt = tried(clone(estimator).set_params(outliers=rows))
    about: tuple[str, ...] = ()
    if is_process and not observed and attempt.interrupt is None:
        about = (
            about_counts(y),
            "" if attempt.best is None else about_heavy_tails(attempt.best[1], X, y, told, seconds=until - perf_counter()),
        )
    return replace(attempt.result(), encoding=encoding, about_likelihood=tuple(filter(None, about)))


class _Attempt:
    """A selection in progress: the kernels that have been tried, and the best model."""

    def __init__(
        self,
        X: Points | Reading,
        y: ArrayLike,
        criterion: Criterion,
        estimator: BaseEstimator,
        until: float,
        verbose: int,
        by_worth: bool,
        progress: Callable[[Kernel], None] | None,
        groups: Indices | None,
        sizes: dict[str, Any],
        stacks: bool,
        n_jobs: int | None,
    ) -> None:
        self.observed = getattr(estimator, "likelihood", None) is not None
        self.to_fit = sizes if groups is None else sizes | {"groups": groups}
        self.X: Any = X  # points of any kind have a length
        self.y = y
        self.criterion = criterion
        self.estimator = estimator
        self.until = until
        self.verbose = verbose
        self.progress = progress
        self.by_worth = by_worth  # are kernels ranked with a penalty for hyperparameters, as in a structure search?
        self.n_jobs = n_jobs
        self.jobs = jobs_of(n_jobs)
        self.tried: list[Tried] = []
        self.best: tuple[Tried, BaseEstimator] | None = None  # the only model that is kept whole
        self.stacks = stacks
        is_process = isinstance(estimator, GaussianProcessRegressor)
        self.by_densities = is_process and criterion.leaves_points_out and not by_worth  # are kernels compared by these?
        self.aside: list[SetAside | None] = []  # what is to be combined, for each of `tried`
        self.errors: list[Exception] = []
        self.ended = ""
        self.interrupt: BaseException | None = None

    def interrupted(self, interrupt: BaseException) -> None:
        """Keep the interrupt as the reason why the selection ended."""
        self.ended, self.interrupt = "interrupted: not all was tried", interrupt

    def tries(self, kernels: Sequence[Kernel], *, share_time: bool = False) -> Iterator[Tried]:
        """Fit kernels, several at a time if there are jobs, and yield each in its order until no time is left.

        With `share_time`, each may take an equal share of the time that remains.
        """
        keeps = self.stacks or self.by_densities
        tasks = (
            (self.estimator, kernel, self.X, self.y, self.to_fit, *self._time(len(kernels) - i if share_time else 1), keeps)
            for i, kernel in enumerate(kernels)
        )
        with closing(results_of(outcome_of, tasks, self.n_jobs)) as outcomes:
            for kernel in kernels:
                if self.interrupt is not None or (self.jobs == 1 and not self._time(1)[1]):
                    break
                if self.progress is not None:
                    self.progress(kernel)
                outcome = next(outcomes)
                if outcome is None:
                    break
                one = self._taken(outcome)
                if one is not None:
                    yield one
            else:
                return
        self.ended = self.ended or "the time was over before all was tried"

    def _time(self, among: int) -> tuple[float | None, bool]:
        """Return the seconds that the first of `among` kernels may take, and whether it is to be fitted at all."""
        now = perf_counter()
        if np.isinf(self.until):
            return None, True
        return max((self.until - now) / -(-among // self.jobs), 0.01), now <= self.until or not self.tried

    def _taken(self, outcome: Outcome) -> Tried | None:
        """Add the outcome of a fit; return None if it was interrupted before there was any."""
        if outcome.interrupt is not None:
            self.interrupted(outcome.interrupt)
            if not hasattr(outcome.model, "criterion_value_"):
                return None
        one = outcome.one
        if outcome.error is not None:
            self.errors.append(outcome.error)
        elif self.best is None or self.rank(one) < self.rank(self.best[0]):
            self.best = (one, outcome.model)
        if self.verbose:
            print(f"{one.value:12.6g}  {_cut(one.problem or str(one.kernel_), 86)}", flush=True)
        self.tried.append(one)
        self.aside.append(outcome.aside)
        return one

    def outliers_to_agree_on(self) -> list[int] | None:
        """Return the rows that the most kernels take for outliers, if others take other rows, and time is left.

        Values of a criterion can be compared only if they are of the same rows.
        """
        found = Counter(one.outliers_ for one in self.tried if one.kernel_ is not None)
        if len(found) < 2 or self.interrupt is not None or perf_counter() > self.until:
            return None
        return list(found.most_common(1)[0][0])

    def worth(self, one: Tried) -> float:
        """Return the value of the criterion less a penalty for each hyperparameter; larger is better, -inf if there is none."""
        if one.kernel_ is None or np.isnan(one.value):
            return -np.inf
        if isinstance(self.criterion, Evidence):
            return one.value
        if self.criterion.larger_is_better:
            return one.value - 0.5 * one.parameters * float(np.log(len(self.X)))
        return -(one.value + 0.02 * one.parameters * abs(one.value))

    def better(self, one: Tried, other: Tried) -> bool:
        """Tell whether the first is better than the second, after the penalty for hyperparameters."""
        new, old = self.worth(one), self.worth(other)
        return bool(new > old + 1e-6 * abs(old)) if np.isfinite(old) else bool(new > old)

    def rank(self, one: Tried) -> tuple[bool, bool, float]:
        """Return the key by which kernels are sorted: fitted ones first, and among these the best."""
        by_worth = self.by_worth or self.observed  # an approximate evidence at its maximum grows with hyperparameters
        merit = self.worth(one) if by_worth else one.value if self.criterion.larger_is_better else -one.value
        return one.kernel_ is None, bool(np.isnan(one.value)), 0.0 if np.isnan(one.value) else -merit

    def result(self) -> Selected:
        """Return the sorted results; raise if no kernel could be fitted."""
        tried, stacked = self.tried, None
        several = sum(one is not None for one in self.aside) > 1
        if self.stacks and several:
            tried, stacked = combined(tried, self.aside, self.estimator)
        order = sorted(tried, key=self.rank)
        best = self.best[1] if self.best is not None else None
        if self.by_densities and several:
            order = simplest_of_the_best(tried, self.aside)
            aside = next(a for a, one in zip(self.aside, self.tried, strict=True) if one.kernel is order[0].kernel)
            assert aside is not None
            best = best if best is not None and best.kernel is order[0].kernel else aside.taken_up()
        elif not self.by_worth:
            order = marked(order, self.criterion)
        if self.best is None:
            if self.interrupt is not None:
                raise self.interrupt
            if len({str(error) for error in self.errors}) == 1:
                raise self.errors[0]  # an error that all kernels have in common is not due to a kernel
            problems = "; ".join(f"{one.kernel}: {one.problem}" for one in order[:5])
            raise ValueError(f"kernels: none of them could be fitted: {problems}") from self.errors[0]
        return Selected(order, self.criterion, stacked or best, self.ended, self.interrupt)


def _grow(attempt: _Attempt, most: int, X: Matrix, y: Matrix) -> None:
    """Search for a structure: start with single kernels, and try changes of the best one as long as one is better."""
    columns = X.shape[1]
    period = hidden_period(X, y)
    candidates = simplest_structures(columns, period)
    best: Tried | None = None
    tried: set[str] = set()
    while True:
        leader = best
        fresh = list({repr(one): one for one in candidates if repr(one) not in tried}.values())
        room = most - len(attempt.tried)
        for one in attempt.tries(fresh[:room]):
            tried.add(repr(one.kernel))
            if one.kernel_ is not None and np.isnan(one.value):
                return  # the trend alone explains y
            if one.kernel_ is not None and (leader is None or attempt.better(one, leader)):
                leader = one
        if attempt.ended:
            return
        if len(fresh) > room:
            attempt.ended = f"{most} structures were tried" + (", not all there are" if most > 1 else "")
            return
        if leader is best or leader is None:
            return
        best = leader
        candidates = larger_structures(best.kernel, columns, period)


def approximation_of(model: object) -> str:
    """Return what a fitted model says of its approximations; empty if nothing was approximated."""
    of_search = getattr(getattr(model, "selection_", None), "approximation", "")
    return str(getattr(model, "approximation_", "") or of_search)


def in_words(model: HasTerms | StackedRegressor, names: Sequence[str] | None = None) -> str:
    """Return a description of a model in words, with the standard deviation over the data of each of its terms.

    Of stacked processes, each is a line that begins with its weight, the likeliest first; the last line has the noise of all.
    """
    if isinstance(model, StackedRegressor):
        lines = [f"{weight:.1%}: {in_words(one, names)}".replace("\n", "; ") for weight, one in model.processes]
        noise = float(np.mean(model.noise_))
        if len(lines) > 1 and noise > 0:
            lines.append(f"together: noise of standard deviation {np.sqrt(noise):.3g}")
        return "\n".join(lines)
    sizes = [_spread(model.mean_of_term(term)) for term in terms_of(model.kernel_)]
    ranges = np.ptp(model.X_train_, axis=0).tolist()
    likelihood = getattr(model, "likelihood_", None)
    terms = describe(model.kernel_, model.noise_ if likelihood is None else None, sizes, ranges=ranges, names=names)
    observed = [] if likelihood is None else [f"observed: {likelihood_in_words(likelihood)}"]
    return "\n".join([*_trend_in_words(model), terms, *observed])


def _trend_in_words(model: HasTerms) -> list[str]:
    """Return a line for the trend, if it is more than a constant and not negligible."""
    size = _spread(model.mean_of_trend()) if len(model.beta_) > 1 else 0.0
    if size <= 1e-3 * _spread(model.y_train_):
        return []
    kind = f"a {model.trend} trend" if isinstance(model.trend, str) else "the trend that was given"
    return [f"{kind} beside the kernel, of size {size:.3g}"]


def _spread(values: Matrix) -> float:
    """Return the standard deviation over points, the mean of it over outputs."""
    return float(np.std(values, axis=0).mean())


def _kernels(argument: Kernel | Iterable[KernelLike]) -> list[Kernel]:
    """Return the kernels of the argument `kernels`, one for each combination of values to choose from."""
    if isinstance(argument, Kernel | sk.Kernel):
        argument = [argument]
    try:
        kernels = [_kernel(one) for one in argument]
    except TypeError as error:
        if str(error).startswith("kernels:"):
            raise
        raise TypeError(f'kernels: expected kernels, "search" or None, got {argument!r}') from error
    if not kernels:
        raise ValueError("kernels: expected at least one")
    return [alternative for kernel in kernels for alternative in kernel.alternatives()]


def _shown(one: Tried) -> Kernel:
    """Return the fitted kernel; for a classifier with one for each class, the kernel before the fit."""
    return one.kernel_ if isinstance(one.kernel_, Kernel) else one.kernel


def _kernel(one: object) -> Kernel:
    try:
        return kernel_of(one)
    except TypeError:
        raise TypeError(f"kernels: expected kernels or their texts, got {one!r}") from None


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
