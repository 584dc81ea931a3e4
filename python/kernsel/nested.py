"""Nested cross-validation: hyperparameters are selected inside, what comes of it is measured outside.

The score that a selection has maximized is too good: the more candidates, the more of it is luck. So each outer fold leaves
points out, selects and fits with the others as if these were all there is, and is scored with the points left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import Parameter, isclass, signature
from numbers import Integral, Real
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed

from kernsel.criteria import CRITERIA, Criterion, GroupsOut, criterion_named
from kernsel.path import RULES
from kernsel.splitting import joined, number_of_points, of_rows, splits_by, splitter_for, tests_as_labels

__all__ = ["NestedFold", "NestedResult", "nested_cv"]

# What fits choose, and the value that they choose it by, in estimators of ours and of others.
CHOSEN = ("kernel_", "alpha_", "noise_", "C_", "l1_ratio_", "lambda_")
VALUES = ("best_score_", "criterion_value_", "log_marginal_likelihood_value_")

Scorers = dict[str, Callable[..., Any]]


@dataclass(frozen=True, eq=False)
class NestedFold:
    """One outer fold.

    Attributes
    ----------
    train_size : int
    test : ndarray of int
        The points left out.
    chosen : dict
        `best_params_` of a search, or else what the fit chose: those of `kernel_` (as text), `alpha_`, `noise_`, `C_`,
        `l1_ratio_`, `lambda_` that the estimator has.
    inner_score : float
        What the selection was made by; nan if the estimator does not tell.
    scores : dict of str to float
        Of the points left out.
    fit_time : float
        Seconds, the selection included.
    """

    train_size: int
    test: NDArray[np.intp]
    chosen: dict[str, Any]
    inner_score: float
    scores: dict[str, float]
    fit_time: float

    def _cells(self) -> list[str]:
        sizes = [str(self.train_size), str(len(self.test))]
        numbers = [f"{value:.4g}" for value in (self.inner_score, *self.scores.values())]
        chosen = ", ".join(f"{name}={_short(value)}" for name, value in self.chosen.items())
        return [*sizes, *numbers, f"{self.fit_time:.2f}", chosen if len(chosen) <= 60 else chosen[:57] + "..."]


@dataclass(frozen=True, eq=False)
class NestedResult:
    """What :func:`nested_cv` returns. Printed, it is a table.

    Attributes
    ----------
    selection : str
        What selected inside, in words.
    folds : tuple of NestedFold
    scores : dict of str to ndarray of shape (n_folds,)
        The outer scores. Without `scoring` there is one, "score".
    predictions : ndarray of shape (n,) or (n, m), or None
        For each point, by the model that has not seen it; if every point is left out once, and the estimator predicts.
    estimators : tuple or None
        The fitted ones, if wanted.
    """

    selection: str
    folds: tuple[NestedFold, ...]
    scores: dict[str, NDArray[np.float64]]
    predictions: NDArray[Any] | None
    estimators: tuple[Any, ...] | None

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each outer score."""
        return {name: float(np.mean(values)) for name, values in self.scores.items()}

    @property
    def std(self) -> dict[str, float]:
        """The standard deviation of each outer score between folds, as of a sample: divided by their number less one."""
        return {name: float(np.std(v, ddof=1)) if len(v) > 1 else float("nan") for name, v in self.scores.items()}

    @property
    def inner_scores(self) -> NDArray[np.float64]:
        """What the selections were made by. Maximized, hence too good to estimate anything: compare with `scores`."""
        return np.array([fold.inner_score for fold in self.folds])

    def __str__(self) -> str:
        head = ["fold", "train", "test", "inner", *self.scores, "fit [s]", "chosen"]
        rows = [head, *([str(i), *fold._cells()] for i, fold in enumerate(self.folds, 1))]
        for label, values in (("mean", self.mean), ("std", self.std)):
            rows.append([label, "", "", "", *(f"{value:.4g}" for value in values.values()), "", ""])
        widths = [max(len(row[i]) for row in rows) for i in range(len(head) - 1)]
        lines = ["  ".join([*map(str.rjust, row[:-1], widths), row[-1]]).rstrip() for row in rows]
        inside = f", selection inside by {self.selection}"
        if np.isnan(self.inner_scores).all():
            inside = f"; {self.selection} does not say what it has selected inside by, if anything"
        return "\n".join([f"Nested cross-validation{inside}", *lines])


def nested_cv(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    inner: Any = None,
    outer: Any = 5,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
    scoring: Any = None,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    return_estimator: bool = False,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> NestedResult:
    """Select hyperparameters and measure, each with data that the other has not seen.

    Parameters
    ----------
    estimator : estimator
        Any of scikit-learn's kind: one that selects by itself as it is fitted, a search, a pipeline of these; or, with
        `param_grid`, any other.
    X : array-like of shape (n, d), or (n, n) if the estimator takes kernel matrices
    y : array-like of shape (n,) or (n, m), or None
    inner : None, "criterion", int or splitter
        How to select with the training points of an outer fold. None is what the estimator does by itself: a search by its
        `cv`, one of ours by its criterion; and it is 5 with `param_grid`. A number of folds or a splitter replaces the `cv`
        of a search; and the `criterion` of an estimator of ours by the squared errors of these folds (by their joint log
        density, if it was a density) in closed form, :class:`kernsel.criteria.GroupsOut`. "criterion" is None for an
        estimator that must have one.
    outer : int, splitter or iterable of pairs of indices
        How to leave out what is measured. A number, here and in `inner`, is of folds as scikit-learn makes them: stratified
        for classifiers, shuffled if there is a `random_state`; but they keep groups whole, if there are groups.
    param_grid : dict or list of dicts, optional
        Parameters of the estimator, each with the values to try. A grid search selects, and fits again with all training
        points.
    scoring : str, callable, list of str, dict of str to any of these, or None
        None is the estimator's own `score`. Of several, the grid search selects by the first.
    groups : array-like of shape (n,), optional
        For the splitters, outside and inside.
    params : dict, optional
        For `fit`; what has an entry for each point goes in parts. With scikit-learn's metadata routing, for all that ask.
    n_jobs : int, optional
        How many outer folds at the same time. The numbers do not depend on it.
    return_estimator : bool
    random_state : int, RandomState or None
    verbose : int
        If positive, a line for each fold.

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
    scorers = _scorers(estimator, scoring)
    given = dict(params or {})
    if "groups" in given and groups is not None:
        raise ValueError("groups: expected once, got them twice, by name and in params")
    groups = given.pop("groups", groups)
    X, y, groups = indexable(X, y, groups)
    n = number_of_points(X)
    # One number for all folds, wherever they are computed.
    seed = int(random_state.randint(2**31 - 1)) if isinstance(random_state, np.random.RandomState) else random_state
    if param_grid is not None:
        estimator = _search(estimator, param_grid, None if scoring is None else next(iter(scorers.values())))
        inner = 5 if inner is None else inner
    selection = _selection(estimator, inner, groups is not None)
    splitter = splitter_for("outer", outer, estimator, y, groups, seed)
    to_fit, to_score, to_split = _routed(estimator, scorers, splitter, given, n)
    splits = splits_by("outer", splitter, X, y, groups, **to_split)

    def task(train: NDArray[np.intp], test: NDArray[np.intp], label: str) -> Any:
        X_known, y_known, known_groups = (None if data is None else _safe_indexing(data, train) for data in (X, y, groups))
        settings = selection.settings(estimator, X_known, y_known, known_groups, seed)
        return delayed(_one_fold)(
            estimator, settings, X, y, train, test, scorers, to_fit, to_score, label, verbose > 0, return_estimator
        )

    tasks = [task(*split, f"outer fold {i} of {len(splits)}") for i, split in enumerate(splits, 1)]
    done = Parallel(n_jobs=n_jobs)(tasks)
    folds = tuple(fold for fold, _, _ in done)
    return NestedResult(
        selection.text,
        folds,
        {name: np.array([fold.scores[name] for fold in folds]) for name in scorers},
        joined(splits, [predictions for _, predictions, _ in done], n),
        tuple(fitted for _, _, fitted in done) if return_estimator else None,
    )


def _one_fold(
    estimator: Any,
    settings: dict[str, Any],
    X: Any,
    y: Any,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    scorers: Scorers,
    to_fit: dict[str, Any],
    to_score: dict[str, dict[str, Any]],
    label: str,
    verbose: bool,
    keep: bool,
) -> tuple[NestedFold, Any, Any]:
    """Select and fit with some points, score with others."""
    n = number_of_points(X)
    try:
        model = clone(estimator).set_params(**settings)
        X_train, y_train = _safe_split(model, X, y, train)
        X_test, y_test = _safe_split(model, X, y, test, train)
        begun = perf_counter()
        model.fit(X_train, y_train, **of_rows(to_fit, train, n))
        seconds = perf_counter() - begun
        scores = {name: f(model, X_test, y_test, **of_rows(to_score[name], test, n)) for name, f in scorers.items()}
        for name, score in scores.items():
            if not isinstance(score, Real):
                raise TypeError(f"scoring: expected a number of {name!r}, got {score!r}; for several give a dict of scorers")
        predictions = model.predict(X_test) if hasattr(model, "predict") else None
    except Exception as error:
        error.add_note(f"In {label}.")
        raise
    fold = NestedFold(len(train), test, *_chosen(model, len(train)), {k: float(v) for k, v in scores.items()}, seconds)
    if verbose:
        shown = [*(f"{name} {value:.4g}" for name, value in fold.scores.items()), fold._cells()[-1]]
        print(f"{label}, {seconds:.2f} s: {', '.join(filter(None, shown))}", flush=True)
    return fold, predictions, model if keep else None


@dataclass(frozen=True)
class _Selection:
    """What selects inside: a parameter to set in each outer fold, if any, and what it is made of."""

    text: str
    parameter: str | None = None
    how: Any = None
    criterion: Criterion | None = None  # the one that is replaced

    def settings(self, estimator: Any, X: Any, y: Any, groups: Any, seed: int | None) -> dict[str, Any]:
        """Return the parameter set for these training points: splits are made here, in one process and in one order."""
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


def _selection(estimator: Any, inner: Any, grouped: bool) -> _Selection:
    """Return what selects: of all searches and criteria that the estimator has, the outermost."""
    all_params = estimator.get_params()
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
        shown = {key: "loo" if all_params[key] is None and key.endswith("criterion") else all_params[key] for key in found}
        text = ", ".join([name, *(f"{key}={_short(value)}" for key, value in shown.items())])
        if not grouped or has_criterion or len(found) != 1:
            return _Selection(text)
        own = all_params[found[0]]  # of a search, which would not hear of groups
        return _Selection(text, found[0], 5 if own is None else own)
    if len(found) != 1:
        what = (
            f"{' and '.join(found)}, more than one"
            if found
            else "no search and no criterion of ours, and there is no param_grid"
        )
        raise ValueError(f"inner: expected None, got {inner!r}: to be replaced, {type(estimator).__name__} has {what}")
    folds = f"{inner} folds" if isinstance(inner, Integral) else str(inner)
    if has_criterion:
        own = all_params[found[0]]
        is_rule = own is None or (isinstance(own, str) and own not in CRITERIA)  # of squared errors, or of nothing of the kind
        return _Selection(f"{name}, closed form, {folds}", found[0], inner, criterion_named("loo" if is_rule else own, {}))
    return _Selection(f"{name}, {folds}", found[0], inner)


def _selects(key: str, estimator: Any, params: dict[str, Any]) -> bool:
    """Tell whether a parameter is the `cv` of a search, or a criterion of ours: trees have others of that name."""
    owner, _, last = key.rpartition("__")
    value = params[key]
    if last == "criterion":
        if value is None:  # the default of ours, if there is something to choose
            alpha = params.get(f"{owner}__alpha" if owner else "alpha")
            return isinstance(alpha, str) and alpha == "auto"
        named = isinstance(value, str) and value in CRITERIA + RULES
        return named or isinstance(value, Criterion) or (callable(value) and not isclass(value))
    return last == "cv" and _is_search(params[owner] if owner else estimator)


def _is_search(estimator: Any) -> bool:
    return hasattr(estimator, "get_params") and {"cv", "refit", "scoring"} <= estimator.get_params(deep=False).keys()


def _search(estimator: Any, param_grid: Any, scorer: Callable[..., Any] | None) -> GridSearchCV:
    if _is_search(estimator):
        raise ValueError(f"param_grid: expected none, since {type(estimator).__name__} is a search with its own")
    try:
        for part in [param_grid] if isinstance(param_grid, Mapping) else param_grid:
            clone(estimator).set_params(**clone(ParameterGrid(part)[0], safe=False))
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"param_grid: {error}") from error
    return GridSearchCV(estimator, param_grid, scoring=scorer)


def _require_estimator(estimator: Any) -> None:
    if isclass(estimator):
        raise TypeError(f"estimator: expected an object, got the class {estimator.__name__}; write {estimator.__name__}()")
    for method in ("fit", "get_params", "set_params"):
        if not callable(getattr(estimator, method, None)):
            raise TypeError(f"estimator: expected methods fit, get_params and set_params, got {estimator!r} without {method}")
    if _is_search(estimator) and not estimator.get_params(deep=False)["refit"]:
        raise ValueError("estimator: expected a search with refit=True, which fits what it selects, got refit=False")


def _scorers(estimator: Any, scoring: Any) -> Scorers:
    if scoring is None and not hasattr(estimator, "score"):
        raise TypeError(f"scoring: expected one, since {type(estimator).__name__} has no method score, got None")
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        scoring = {scoring if isinstance(scoring, str) else "score": scoring}
    elif isinstance(scoring, list | tuple) and all(isinstance(name, str) for name in scoring):
        scoring = {name: name for name in scoring}
    if not isinstance(scoring, Mapping) or not scoring:
        raise TypeError(f"scoring: expected a name, a function, a list of names, a dict of these or None, got {scoring!r}")
    known = get_scorer_names()
    for one in scoring.values():
        if not (one is None or callable(one) or one in known):
            near = get_close_matches(str(one), known, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else "see sklearn.metrics.get_scorer_names()"
            raise ValueError(f"scoring: expected the name of a scorer or a function, got {one!r}; {hint}")
    return {str(name): check_scoring(estimator, scoring=one) for name, one in scoring.items()}


def _routed(
    estimator: Any, scorers: Scorers, splitter: Any, params: dict[str, Any], n: int
) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, Any]]:
    """Return what of the parameters goes to fit, to each scorer, and to the splitter."""
    for name, value in params.items():
        if name.endswith("sample_weight") and np.ndim(value) and len(value) != n:
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


def _require_fit_takes(estimator: Any, params: dict[str, Any]) -> None:
    takes = signature(estimator.fit).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in takes.values()):
        for part in ("estimator", "regressor"):  # which they pass on to
            if hasattr(getattr(estimator, part, None), "fit"):
                _require_fit_takes(getattr(estimator, part), params)
        return
    for name in params:
        if name not in takes:
            raise TypeError(f"params: {type(estimator).__name__}.fit has no argument {name!r}; it has {', '.join(takes)}")


def _layers(estimator: Any) -> Iterator[Any]:
    """Yield a fitted estimator, and what it wraps."""
    while estimator is not None:
        yield estimator
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "regressor_", None)


def _chosen(model: Any, n: int) -> tuple[dict[str, Any], float]:
    """Return what the fit chose, and by which value."""
    chosen: dict[str, Any] = {}
    value = float("nan")
    for layer in _layers(model):
        values = [number for name in VALUES if (number := _number(getattr(layer, name, None))) is not None]
        value = values[0] if values else value
        if isinstance(best := getattr(layer, "best_params_", None), dict):
            return dict(best), value
        for name in CHOSEN:
            one = getattr(layer, name, None)
            if name == "kernel_" and one is not None:
                chosen[name] = str(one)
            elif (number := _number(one)) is not None:
                chosen[name] = number
            elif isinstance(one, np.ndarray) and one.ndim == 1 and len(one) != n:  # n: of the points, not chosen
                chosen[name] = one.tolist()
    return chosen, value


def _number(value: Any) -> float | None:
    is_number = (isinstance(value, Real) and not isinstance(value, bool)) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return float(value) if is_number else None


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
