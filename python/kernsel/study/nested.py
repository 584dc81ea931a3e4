"""Nested cross-validation: hyperparameters are selected by inner folds, and the selection is scored by outer folds.

The best score of a selection is too optimistic, the more so the more candidates there are. So each outer fold leaves points
out, selects and fits with the other points as if these were all data, and is scored at the points left out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import Parameter, isclass, signature
from numbers import Integral, Real
from time import perf_counter
from typing import Any, Literal, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import BaseCrossValidator, GridSearchCV, KFold, ParameterGrid
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.metaestimators import _safe_split

from kernsel._base.annotations import Indices, Vector
from kernsel._data.folds import How, joined, number_of_points, of_rows, splits_by, splitter_for, tests_as_labels
from kernsel.criteria import Criterion, GroupsOut
from kernsel.criteria.names import criterion_named, searched
from kernsel.criteria.table import TABLE
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.kernels.objects import Points
from kernsel.study.select import approximation_of
from kernsel.study.tasks import results_of

__all__ = ["NestedFold", "NestedResult", "nested_cv"]

LOG_DENSITY = "log_density"  # a name for `scoring`

# The attributes in which fitted estimators, of kernsel and of other packages, store their selection, and its score.
CHOSEN = ("kernel_", "alpha_", "noise_", "C_", "l1_ratio_", "lambda_")
VALUES = ("best_score_", "criterion_value_", "log_marginal_likelihood_value_")

Params = Mapping[str, Any]  # parameters by name, whose types are those of the estimators
Grid = Mapping[str, Sequence[object]]  # parameters, each with the values to try
Scorer = Callable[..., float]
Scorers = dict[str, Scorer]
Scoring = str | Scorer | None  # a scorer or its name; None for the estimator's own
Predictions = NDArray[np.generic]
Inner: TypeAlias = How | Literal["criterion"] | None


class HasParams(Protocol):
    """An estimator that tells its parameters."""

    def get_params(self, deep: bool = True) -> dict[str, object]: ...


@dataclass(frozen=True, eq=False)
class NestedFold:
    """One outer fold.

    Attributes
    ----------
    train_size : int
    test : ndarray of int
        The indices of the points left out.
    chosen : dict
        `best_params_` of a search. Of other estimators, those of the attributes `kernel_` (as text), `alpha_`, `noise_`, `C_`,
        `l1_ratio_` and `lambda_` that they have.
    inner_score : float
        The score, or the value of the criterion, of the selected hyperparameters; nan if the estimator has no such attribute.
    scores : dict of str to float
        The scores at the points left out.
    fit_time : float
        Seconds, with the selection.
    approximation : str
        What the fit has approximated, why, and how good that is; empty if nothing.
    """

    train_size: int
    test: Indices
    chosen: dict[str, object]
    inner_score: float
    scores: dict[str, float]
    fit_time: float
    approximation: str = ""

    def cells(self) -> list[str]:
        """Return the fold's row of the printed table."""
        sizes = [str(self.train_size), str(len(self.test))]
        numbers = [f"{value:.4g}" for value in (self.inner_score, *self.scores.values())]
        chosen = ", ".join(f"{name}={_short(value)}" for name, value in self.chosen.items())
        return [*sizes, *numbers, f"{self.fit_time:.2f}", chosen if len(chosen) <= 60 else chosen[:57] + "..."]

    def line(self, label: str) -> str:
        """Return a line that says how the fold went."""
        parts = [*(f"{name} {value:.4g}" for name, value in self.scores.items()), self.cells()[-1]]
        return f"{label}, {self.fit_time:.2f} s: {', '.join(filter(None, parts))}"


@dataclass(frozen=True, eq=False)
class NestedResult:
    """The result of :func:`nested_cv`, which is printed as a table.

    Attributes
    ----------
    selection : str
        A description of the selection in each outer fold.
    folds : tuple of NestedFold
    scores : dict of str to ndarray of shape (n_folds,)
        The outer scores. Without `scoring` there is one, "score".
    predictions : ndarray of shape (n,) or (n, m), or None
        The prediction at each point by the model that was fitted without it; None unless each point is left out once, and the
        estimator predicts.
    estimators : tuple or None
        The estimators fitted in the outer folds, if `return_estimator`.
    """

    selection: str
    folds: tuple[NestedFold, ...]
    scores: dict[str, Vector]
    predictions: Predictions | None
    estimators: tuple[BaseEstimator, ...] | None

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each outer score."""
        return {name: float(np.mean(values)) for name, values in self.scores.items()}

    @property
    def std(self) -> dict[str, float]:
        """The standard deviation of each outer score over the folds, with one degree of freedom less than there are folds."""
        return {name: float(np.std(v, ddof=1)) if len(v) > 1 else float("nan") for name, v in self.scores.items()}

    @property
    def inner_scores(self) -> Vector:
        """The best inner score of each outer fold, which is too optimistic an estimate: compare it with `scores`."""
        return np.array([fold.inner_score for fold in self.folds])

    def __str__(self) -> str:
        head = ["fold", "train", "test", "inner", *self.scores, "fit [s]", "chosen"]
        rows = [head, *([str(i), *fold.cells()] for i, fold in enumerate(self.folds, 1))]
        for label, values in (("mean", self.mean), ("std", self.std)):
            rows.append([label, "", "", "", *(f"{value:.4g}" for value in values.values()), "", ""])
        widths = [max(len(row[i]) for row in rows) for i in range(len(head) - 1)]
        lines = ["  ".join([*map(str.rjust, row[:-1], widths), row[-1]]).rstrip() for row in rows]
        selection = f", selection inside by {self.selection}"
        if np.isnan(self.inner_scores).all():
            selection = f"; {self.selection} does not say what it has selected inside by, if anything"
        said = [(i, fold.approximation) for i, fold in enumerate(self.folds, 1) if fold.approximation]
        if said:  # the numbers of other folds differ a little
            others = f" (and in {len(said) - 1} more)" if len(said) > 1 else ""
            lines += textwrap.wrap(f"fold {said[0][0]}{others}: {said[0][1]}", 100)
        return "\n".join([f"Nested cross-validation{selection}", *lines])


def nested_cv(
    estimator: BaseEstimator,
    X: Points,
    y: ArrayLike | None,
    *,
    inner: Inner = None,
    outer: How = 5,
    param_grid: Grid | Sequence[Grid] | None = None,
    scoring: Scoring | Sequence[str] | Mapping[str, Scoring] = None,
    groups: ArrayLike | None = None,
    noise: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    params: Params | None = None,
    n_jobs: int | None = None,
    return_estimator: bool = False,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> NestedResult:
    """Select hyperparameters and score the selection, with data that the selection has not seen.

    Parameters
    ----------
    estimator : estimator
        Any estimator with scikit-learn's interface that selects hyperparameters when it is fitted, such as a search, or a
        pipeline of one; or, with `param_grid`, any other.
    X : array-like of shape (n, d), or (n, n) if the estimator takes kernel matrices
    y : array-like of shape (n,) or (n, m), or None
    inner : None, "criterion", int or splitter
        How to select with the training points of an outer fold. None leaves this to the estimator: a search selects by its
        `cv`, an estimator of kernsel by its criterion; with `param_grid`, None stands for 5. A number of folds or a splitter
        replaces the `cv` of a search; in an estimator of kernsel, it replaces the criterion by the squared errors of these
        folds (or by their joint log density, if the criterion is a density) in closed form,
        :class:`kernsel.criteria.GroupsOut`. "criterion" is the same as None, but raises for an estimator without a criterion.
    outer : int, splitter or iterable of pairs of indices
        The outer folds. A number, here and in `inner`, stands for scikit-learn's folds: stratified for classifiers, shuffled if
        there is a `random_state`; if there are groups, folds keep these whole.
    param_grid : dict or list of dicts, optional
        Parameters of the estimator, each with the values to try. A grid search selects, and fits again with all training
        points.
    scoring : str, callable, list of str, dict of str to any of these, or None
        None stands for the estimator's own `score`. "log_density" is the mean log density of the points left out, by the method
        `log_density` of Gaussian processes; with `exposure` or `trials` in `params`, which are handed to it and to `predict`,
        it is the default, and the only one. Of several, the grid search selects by the first.
    groups : array-like of shape (n,), optional
        The groups for the splitters of outer and inner folds. With scikit-learn's metadata routing enabled they are passed to
        `fit` as well if that requests them (``set_fit_request(groups=True)``): its criterion then leaves groups out, too.
    noise, sample_weight : array-like of shape (n,), optional
        Arguments of `fit`, as in `params`: the noise variances of a :class:`kernsel.GaussianProcessRegressor`, or weights.
    params : dict, optional
        Arguments of `fit`; from those with an entry for each point, the entries of the training points are taken. With
        scikit-learn's metadata routing enabled, they are passed to what requests them, also scorers and splitters.
    n_jobs : int, optional
        The number of outer folds that are computed at the same time, as in scikit-learn: by default one, or what
        ``joblib.parallel_config`` has set, such as the workers of Dask. Results do not depend on it.
    return_estimator : bool
    random_state : int, RandomState or None
    verbose : int
        If positive, print a line for each fold.

    Returns
    -------
    result : NestedResult

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (80, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80)
    >>> model = ks.KernelRidge(ks.kernels.RBF(1.0))
    >>> result = ks.nested_cv(model, X, y, param_grid={"alpha": [1e-8, 1e-2, 1e2]}, outer=4, random_state=0)
    >>> [fold.chosen["alpha"] for fold in result.folds]
    [0.01, 0.01, 0.01, 0.01]
    >>> bool(result.mean["score"] > 0.95)
    True
    """
    _require_estimator(estimator)
    metadata = dict(params or {})
    for name, value in (("groups", groups), ("noise", noise), ("sample_weight", sample_weight)):
        if name in metadata and value is not None:
            raise ValueError(f"{name}: expected once, got them twice, by name and in params")
        if name != "groups" and value is not None:
            metadata[name] = value
    sizes = {name: metadata[name] for name in ("exposure", "trials") if metadata.get(name) is not None}
    scorers = _scorers(estimator, LOG_DENSITY if sizes and scoring is None else scoring)
    if sizes and set(scorers) != {LOG_DENSITY}:
        raise ValueError(
            f'scoring: with {next(iter(sizes))}, which scikit-learn\'s scorers do not know, expected "{LOG_DENSITY}"'
        )
    X, y, groups = indexable(X, y, metadata.pop("groups", groups))
    n = number_of_points(X)
    # One seed for all folds, so that results do not depend on the order in which folds are computed.
    seed = int(random_state.randint(2**31 - 1)) if isinstance(random_state, np.random.RandomState) else random_state
    if param_grid is not None:
        estimator = _search(estimator, param_grid, None if scoring is None else next(iter(scorers.values())))
        inner = 5 if inner is None else inner
    selection = _selection(estimator, inner, groups is not None)
    splitter = splitter_for("outer", outer, estimator, y, groups, seed)
    if groups is not None and _fit_requests_groups(estimator, selection.parameter):
        metadata["groups"] = groups
    to_fit, to_score, to_split = _routed(estimator, scorers, splitter, metadata, n)
    to_score = {name: {**given, **sizes} for name, given in to_score.items()}
    splits = splits_by("outer", splitter, X, y, **({"groups": groups} | dict(to_split)))

    def settings_for(train: Indices) -> Params:
        y_train, train_groups = (None if data is None else _safe_indexing(data, train) for data in (y, groups))
        return selection.settings(estimator, _safe_indexing(X, train), y_train, train_groups, seed)

    tasks = [
        (
            estimator,
            settings_for(train),
            X,
            y,
            train,
            test,
            scorers,
            to_fit,
            to_score,
            sizes,
            f"outer fold {i} of {len(splits)}",
            return_estimator,
        )
        for i, (train, test) in enumerate(splits, 1)
    ]
    results = []
    for i, result in enumerate(results_of(_one_fold, tasks, n_jobs), 1):
        results.append(result)
        if verbose > 0:
            print(result[0].line(f"outer fold {i} of {len(splits)}"), flush=True)
    folds = tuple(fold for fold, _, _ in results)
    return NestedResult(
        selection.text,
        folds,
        {name: np.array([fold.scores[name] for fold in folds]) for name in scorers},
        joined(splits, [predictions for _, predictions, _ in results], n),
        tuple(fitted for _, _, fitted in results) if return_estimator else None,
    )


def _one_fold(
    estimator: BaseEstimator,
    settings: Params,
    X: Points,
    y: ArrayLike | None,
    train: Indices,
    test: Indices,
    scorers: Scorers,
    to_fit: Params,
    to_score: Mapping[str, Params],
    sizes: Params,
    label: str,
    keep: bool,
) -> tuple[NestedFold, Predictions | None, BaseEstimator | None]:
    """Return one outer fold, the predictions at its test points if there are any, and the fitted model if `keep`."""
    n = number_of_points(X)
    try:
        model = clone(estimator).set_params(**settings)
        X_train, y_train = _safe_split(model, X, y, train)
        X_test, y_test = _safe_split(model, X, y, test, train)
        start = perf_counter()
        model.fit(X_train, y_train, **of_rows(to_fit, train, n))
        seconds = perf_counter() - start
        scores = {name: f(model, X_test, y_test, **of_rows(to_score[name], test, n)) for name, f in scorers.items()}
        for name, score in scores.items():
            if not isinstance(score, Real):
                raise TypeError(f"scoring: expected a number of {name!r}, got {score!r}; for several give a dict of scorers")
        predictions = model.predict(X_test, **of_rows(sizes, test, n)) if hasattr(model, "predict") else None
    except Exception as error:
        error.add_note(f"In {label}.")
        raise
    said = next((text for layer in _layers(model) if (text := approximation_of(layer))), "")
    chosen = _chosen(model, len(train))
    fold = NestedFold(len(train), test, *chosen, {k: float(v) for k, v in scores.items()}, seconds, said)
    return fold, predictions, model if keep else None


@dataclass(frozen=True)
class _Selection:
    """The selection in each outer fold: its description, and the parameter of the estimator that holds the inner folds."""

    text: str
    parameter: str | None = None  # None if the estimator is used as it is
    how: How = 5
    criterion: Criterion | None = None  # the criterion that the inner folds replace

    def settings(
        self, estimator: BaseEstimator, X: Points, y: ArrayLike | None, groups: ArrayLike | None, seed: int | None
    ) -> Params:
        """Return the parameter with the inner folds of these training points.

        Folds are made in the main process and in the order of the outer folds, so that they do not depend on `n_jobs`.
        """
        if self.parameter is None:
            return {}
        splits = splits_by("inner", splitter_for("inner", self.how, estimator, y, groups, seed), X, y, groups)
        if self.criterion is None:
            return {self.parameter: splits}
        labels = tests_as_labels(splits, number_of_points(X))
        if labels is None:
            raise ValueError("inner: expected folds that leave out each point once, since only those have a closed form")
        if isinstance(self.criterion, GroupsOut):
            return {self.parameter: replace(self.criterion, folds=labels)}
        return {self.parameter: GroupsOut(labels, log_density=self.criterion.larger_is_better)}


def _selection(estimator: BaseEstimator, inner: Inner, grouped: bool) -> _Selection:
    """Return the selection by the outermost of all searches and criteria that are parameters of the estimator."""
    all_params: Params = estimator.get_params()
    found = [key for key in all_params if _selects(key, estimator, all_params)]
    found = [key for key in found if key.count("__") == min(other.count("__") for other in found)]
    has_criterion = len(found) == 1 and found[0].endswith("criterion")
    if isinstance(inner, str):
        if inner != "criterion":
            raise ValueError(f'inner: expected None, "criterion", a number of folds or a splitter, got {inner!r}')
        if not has_criterion:
            raise ValueError(
                f'inner: expected an estimator that selects by a criterion of ours for "criterion", got {estimator}'
            )
        inner = None
    name = type(estimator).__name__
    if isinstance(estimator, GridSearchCV):
        name = f"{name} of {len(ParameterGrid(estimator.param_grid))} candidates"
    if inner is None:
        defaults = {key: _default_criterion(key, estimator, all_params) for key in found if key.endswith("criterion")}
        values = {key: defaults.get(key) if all_params[key] is None else all_params[key] for key in found}
        text = ", ".join([name, *(f"{key}={_short(value)}" for key, value in values.items())])
        if not grouped or has_criterion or len(found) != 1:
            return _Selection(text)
        cv = all_params[found[0]]  # the `cv` of a search, which does not receive the groups; its folds are made here
        return _Selection(text, found[0], 5 if cv is None else cv)
    if len(found) != 1:
        problem = (
            f"{' and '.join(found)}, more than one"
            if found
            else "no search and no criterion of ours, and there is no param_grid"
        )
        raise ValueError(f"inner: expected None, got {inner!r}: to be replaced, {type(estimator).__name__} has {problem}")
    folds = f"{inner} folds" if isinstance(inner, Integral) else str(inner)
    if has_criterion:
        criterion = all_params[found[0]]
        if criterion is None:
            criterion = _default_criterion(found[0], estimator, all_params)
        elif isinstance(criterion, str) and criterion not in searched():  # the name of a rule for a path
            criterion = "loo"
        return _Selection(f"{name}, closed form, {folds}", found[0], inner, criterion_named(criterion, {}))
    return _Selection(f"{name}, {folds}", found[0], inner)


def _selects(key: str, estimator: BaseEstimator, params: Params) -> bool:
    """Tell whether a parameter is the `cv` of a search, or a criterion of kernsel and not one of a decision tree."""
    owner, _, last = key.rpartition("__")
    value = params[key]
    if last == "criterion":
        if value is None:  # a default, which matters if there is an alpha to choose
            alpha = params.get(f"{owner}__alpha" if owner else "alpha")
            by_kernel = bool(getattr(params[owner] if owner else estimator, "chooses_alpha", False))
            return by_kernel or (isinstance(alpha, str) and alpha == "auto")
        named = isinstance(value, str) and value in TABLE
        return named or isinstance(value, Criterion) or (callable(value) and not isclass(value))
    return last == "cv" and _is_search(params[owner] if owner else estimator)


def _default_criterion(key: str, estimator: BaseEstimator, params: Params) -> str:
    """Return the criterion that None stands for in a parameter of the estimator, or of a part of it."""
    owner = key.rpartition("__")[0]
    name: str = getattr(params[owner] if owner else estimator, "default_criterion", "loo")
    return name


def _is_search(estimator: object) -> TypeGuard[HasParams]:
    """Tell whether an estimator is a search, by the names of its parameters."""
    return hasattr(estimator, "get_params") and {"cv", "refit", "scoring"} <= estimator.get_params(deep=False).keys()


def _search(estimator: BaseEstimator, param_grid: Grid | Sequence[Grid], scorer: Scorer | None) -> GridSearchCV:
    """Return a grid search; raise if the estimator does not take the parameters of the grid."""
    if _is_search(estimator):
        raise ValueError(f"param_grid: expected none, since {type(estimator).__name__} is a search with its own")
    try:
        for part in [param_grid] if isinstance(param_grid, Mapping) else param_grid:
            clone(estimator).set_params(**clone(ParameterGrid(part)[0], safe=False))
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"param_grid: {error}") from error
    return GridSearchCV(estimator, param_grid, scoring=scorer)


def _require_estimator(estimator: BaseEstimator) -> None:
    if isclass(estimator):
        raise TypeError(f"estimator: expected an object, got the class {estimator.__name__}; write {estimator.__name__}()")
    for method in ("fit", "get_params", "set_params"):
        if not callable(getattr(estimator, method, None)):
            raise TypeError(f"estimator: expected methods fit, get_params and set_params, got {estimator!r} without {method}")
    if _is_search(estimator) and not estimator.get_params(deep=False)["refit"]:
        raise ValueError("estimator: expected a search with refit=True, which fits what it selects, got refit=False")


def _scorers(estimator: BaseEstimator, scoring: object) -> Scorers:
    """Return the scorers by name; raise if `scoring` does not stand for any."""
    if scoring is None and not hasattr(estimator, "score"):
        raise TypeError(f"scoring: expected one, since {type(estimator).__name__} has no method score, got None")
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        scoring = {scoring if isinstance(scoring, str) else "score": scoring}
    elif isinstance(scoring, list | tuple) and all(isinstance(name, str) for name in scoring):
        scoring = {name: name for name in scoring}
    if not isinstance(scoring, Mapping) or not scoring:
        raise TypeError(f"scoring: expected a name, a function, a list of names, a dict of these or None, got {scoring!r}")
    names = get_scorer_names()
    for one in scoring.values():
        if one == LOG_DENSITY and not hasattr(estimator, LOG_DENSITY):
            raise TypeError(f'scoring: "{LOG_DENSITY}" is for Gaussian process regression, got {type(estimator).__name__}')
        if not (one is None or callable(one) or one in names or one == LOG_DENSITY):
            matches = get_close_matches(str(one), names, 1, 0.5)
            hint = f"did you mean {matches[0]!r}?" if matches else "see sklearn.metrics.get_scorer_names()"
            raise ValueError(f"scoring: expected the name of a scorer or a function, got {one!r}; {hint}")
    return {
        str(name): _mean_log_density if one == LOG_DENSITY else check_scoring(estimator, scoring=one)
        for name, one in scoring.items()
    }


def _mean_log_density(model: Any, X: Points, y: ArrayLike, **sizes: ArrayLike) -> float:
    """Return the mean log density of observations by a Gaussian process."""
    return float(np.mean(model.log_density(X, y, **sizes)))


def _routed(
    estimator: BaseEstimator, scorers: Scorers, splitter: BaseCrossValidator, params: Params, n: int
) -> tuple[Params, Mapping[str, Params], Params]:
    """Return the parameters for `fit`, for each scorer, and for the splitter."""
    for name, value in params.items():
        if name.endswith(("sample_weight", "noise")) and np.ndim(value) and len(value) != n:
            raise ValueError(f"params: expected one {name} for each of {n} points, got {len(value)}")
    if not params or not get_config()["enable_metadata_routing"]:
        _require_fit_takes(estimator, params)
        return params, {name: {} for name in scorers}, {}
    router = MetadataRouter(owner="nested_cv")
    router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    router.add(estimator=estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    numbered = {f"scorer_{i}": scorer for i, scorer in enumerate(scorers.values())}
    router.add(**numbered, method_mapping=MethodMapping().add(caller="fit", callee="score"))
    routed = process_routing(router, "fit", **params)
    to_score = {name: dict(routed[key].score) for name, key in zip(scorers, numbered, strict=True)}
    return dict(routed["estimator"].fit), to_score, dict(routed["splitter"].split)


def _fit_requests_groups(estimator: BaseEstimator, parameter: str | None) -> bool:
    """Tell whether metadata routing passes groups to `fit`, and not only to the splitter that is a parameter of a search."""
    if not get_config()["enable_metadata_routing"]:
        return False
    if parameter is not None and parameter.rpartition("__")[2] == "cv":  # is replaced by folds that are made here
        estimator = clone(estimator).set_params(**{parameter: KFold()})
    return "groups" in get_routing_for_object(estimator).consumes("fit", ["groups"])


def _require_fit_takes(estimator: BaseEstimator, params: Params) -> None:
    """Raise unless `fit` of the estimator, or of the one that it wraps, takes arguments of these names."""
    takes = signature(estimator.fit).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in takes.values()):
        for part in ("estimator", "regressor"):  # to which a meta-estimator passes them
            if hasattr(getattr(estimator, part, None), "fit"):
                _require_fit_takes(getattr(estimator, part), params)
        return
    for name in params:
        if name not in takes:
            raise TypeError(f"params: {type(estimator).__name__}.fit has no argument {name!r}; it has {', '.join(takes)}")


def _layers(estimator: BaseEstimator | None) -> Iterator[BaseEstimator]:
    """Yield a fitted estimator, and the estimators that it wraps, from the outermost to the innermost."""
    while estimator is not None:
        yield estimator
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "regressor_", None)


def _chosen(model: BaseEstimator, n: int) -> tuple[dict[str, object], float]:
    """Return the hyperparameters that a fit to n points selected, and their inner score."""
    chosen: dict[str, object] = {}
    value = float("nan")
    for layer in _layers(model):
        values = [number for name in VALUES if (number := _number(getattr(layer, name, None))) is not None]
        value = values[0] if values else value
        if isinstance(best := getattr(layer, "best_params_", None), dict):
            return dict(best), value
        for name in CHOSEN:
            if name == "alpha_" and isinstance(layer, GaussianProcessRegressor):
                continue  # coefficients, which are not chosen, and take time if they are approximated
            one = getattr(layer, name, None)
            if name == "kernel_" and one is not None:
                chosen[name] = str(one)
            elif (number := _number(one)) is not None:
                chosen[name] = number
            elif (
                isinstance(one, np.ndarray) and one.ndim == 1 and len(one) != n
            ):  # n numbers would be given, one for each point
                chosen[name] = one.tolist()
    return chosen, value


def _number(value: object) -> float | None:
    """Return a number or an array of no dimensions as a float, and None for anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return float(value)
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def _short(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
