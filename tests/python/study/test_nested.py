"""nested_cv: the same as loops by hand, as scikit-learn where it has the same, and without a leak."""

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LassoCV, LinearRegression, Ridge, RidgeCV
from sklearn.metrics import make_scorer, mean_absolute_error, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedKFold,
    cross_validate,
)
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import kernsel as ks
from kernsel.criteria import GroupsOut
from kernsel.kernels import RBF, Matern

import reference

ALPHAS = [1e-3, 1e-2, 0.1, 1.0]


@pytest.fixture
def data(rng):
    X = rng.uniform(0, 4, (60, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(60)


class Chooses(RegressorMixin, BaseEstimator):
    """Kernel ridge regression that chooses alpha by a criterion of ours."""

    def __init__(self, length_scale=1.0, criterion="loo"):
        self.length_scale = length_scale
        self.criterion = criterion

    def fit(self, X, y):
        kernel = RBF(self.length_scale)
        values = [ks.evaluate(self.criterion, kernel, X, y, noise=alpha) for alpha in ALPHAS]
        best = max(range(len(ALPHAS)), key=lambda i: values[i].value * (1 if values[i].larger_is_better else -1))
        self.alpha_, self.criterion_value_ = ALPHAS[best], values[best].value
        self.model_ = ks.KernelRidge(kernel, alpha=self.alpha_).fit(X, y)
        self.kernel_ = self.model_.kernel_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def predictions(kernel, alpha, X, y, Z):
    """Return kernel ridge regression by dense formulas."""
    return kernel(Z, X) @ reference.kernel_ridge(kernel(X), y, alpha)


def double_loop(X, y, outer, inner, score):
    """Return the alpha and the outer score of each fold, and the predictions of all points, best by the mean inner score."""
    chosen, inside, outside, predicted = [], [], [], np.empty(len(y))
    for train, test in outer.split(X):
        means = []
        for alpha in ALPHAS:
            scores = []
            for fit, left in inner.split(X[train]):
                a, b = train[fit], train[left]
                scores.append(score(y[b], predictions(RBF(1.0), alpha, X[a], y[a], X[b])))
            means.append(np.mean(scores))
        chosen.append(ALPHAS[int(np.argmax(means))])
        inside.append(max(means))
        predicted[test] = predictions(RBF(1.0), chosen[-1], X[train], y[train], X[test])
        outside.append(score(y[test], predicted[test]))
    return chosen, inside, outside, predicted


def limit(X):
    """Return what solving with the smallest alpha may lose, relative to y."""
    return 16 * len(X) * np.finfo(float).eps * np.linalg.norm(RBF(1.0)(X), 2) / min(ALPHAS) * 100


@pytest.mark.parametrize("seed", [None, 3])
def test_against_two_loops_by_hand(data, seed):
    X, y = data
    shuffled = {} if seed is None else {"shuffle": True, "random_state": seed}
    chosen, inside, outside, predicted = double_loop(X, y, KFold(4, **shuffled), KFold(3, **shuffled), r2_score)
    model = ks.KernelRidge(RBF(1.0))
    result = ks.nested_cv(model, X, y, inner=3, outer=4, param_grid={"alpha": ALPHAS}, random_state=seed)
    assert [fold.chosen for fold in result.folds] == [{"alpha": alpha} for alpha in chosen]
    assert (len(set(chosen)) > 1) is (seed is not None)  # some folds choose differently: it matters where they look
    assert result.inner_scores == pytest.approx(inside, abs=limit(X))
    assert result.scores["score"] == pytest.approx(outside, abs=limit(X))
    assert result.predictions == pytest.approx(predicted, abs=limit(X))
    assert result.mean["score"] == pytest.approx(np.mean(outside), abs=limit(X))
    assert result.std["score"] == pytest.approx(np.std(outside, ddof=1), abs=limit(X))
    for fold, (train, test) in zip(result.folds, KFold(4, **shuffled).split(X), strict=True):
        assert (fold.train_size, fold.test.tolist()) == (len(train), test.tolist())
    assert model.get_params()["alpha"] is None
    assert not hasattr(model, "dual_coef_")


def test_closed_form_folds_against_two_loops_by_hand(data):
    X, y = data
    inner, outer = KFold(3, shuffle=True, random_state=1), KFold(4)
    # Folds of one size: then the mean of the folds' mean squared errors is that of the points.
    chosen, inside, outside, predicted = double_loop(X, y, outer, inner, lambda a, b: -np.mean((a - b) ** 2))
    result = ks.nested_cv(Chooses(), X, y, inner=inner, outer=outer, scoring="neg_mean_squared_error", return_estimator=True)
    assert [fold.chosen["alpha_"] for fold in result.folds] == chosen
    assert len(set(chosen)) > 1
    assert -result.inner_scores == pytest.approx(inside, abs=limit(X))
    assert result.scores["neg_mean_squared_error"] == pytest.approx(outside, abs=limit(X))
    assert result.predictions == pytest.approx(predicted, abs=limit(X))
    assert all(fold.chosen["kernel_"] == "RBF(1)" for fold in result.folds)
    for fitted, (train, _) in zip(result.estimators, outer.split(X), strict=True):
        for label, (_, left) in enumerate(inner.split(train)):
            assert (fitted.criterion.folds[left] == label).all()
    shuffled = ks.nested_cv(Chooses(), X, y, inner=3, outer=outer, random_state=1, return_estimator=True)
    assert np.array_equal(shuffled.predictions, result.predictions)


@pytest.mark.parametrize("inner", [None, "criterion"])
def test_a_criterion_of_its_own_stays(data, inner):
    X, y = data
    result = ks.nested_cv(Chooses(criterion="gcv"), X, y, inner=inner, outer=3)
    for fold, (train, test) in zip(result.folds, KFold(3).split(X), strict=True):
        alone = Chooses(criterion="gcv").fit(X[train], y[train])
        assert fold.chosen == {"kernel_": "RBF(1)", "alpha_": alone.alpha_}
        assert fold.inner_score == alone.criterion_value_
        assert fold.scores == {"score": alone.score(X[test], y[test])}
    assert result.selection == "Chooses, criterion=gcv"


@pytest.mark.parametrize(
    ("criterion", "density"),
    [
        ("loo", False),
        ("gcv", False),
        ("lml", True),
        ("loo_log_density", True),
        ("kfold_log_density", True),
        (ks.criteria.Likelihood(restricted=True), True),
        (ks.criteria.GroupsOut(2, log_density=True), True),
        (ks.criteria.GroupsOut(2), False),
        (lambda r, v: (r**2, 2 * r, 0 * v), False),
    ],
)
@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: make_pipeline(StandardScaler(), m), lambda m: targets_scaled(m)])
def test_which_criterion_is_replaced_and_by_which(data, criterion, density, wrap):
    X, y = data
    result = ks.nested_cv(wrap(Chooses(criterion=criterion)), X, y, inner=3, outer=2, return_estimator=True)
    for fitted in result.estimators:
        (new,) = (value for key, value in fitted.get_params().items() if key.endswith("criterion"))
        assert (type(new), new.log_density) == (ks.criteria.GroupsOut, density)
        assert np.array_equal(new.folds, np.repeat([0, 1, 2], 10))
    assert all(fold.chosen["alpha_"] in ALPHAS and np.isfinite(fold.inner_score) for fold in result.folds)


def targets_scaled(model):
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def same(result, theirs, names):
    for name in names:
        assert np.array_equal(result.scores[name], theirs[f"test_{name}"])
    for fold, search in zip(result.folds, theirs["estimator"], strict=True):
        assert fold.chosen == search.best_params_
        assert fold.inner_score == search.best_score_


def test_against_cross_validate(data):
    X, y = data
    grid = {"alpha": ALPHAS, "kernel": [RBF(0.7), Matern(1.0, nu=1.5)]}
    outer, inner = KFold(4, shuffle=True, random_state=0), KFold(5, shuffle=True, random_state=2)
    scoring = {"r2": "r2", "absolute": make_scorer(mean_absolute_error, greater_is_better=False), "own": None}
    model = ks.KernelRidge()
    theirs = cross_validate(
        GridSearchCV(model, grid, cv=inner, scoring="r2"),
        X,
        y,
        cv=outer,
        scoring={"r2": "r2", "absolute": scoring["absolute"]},
        return_estimator=True,
    )
    ours = ks.nested_cv(model, X, y, inner=inner, outer=outer, param_grid=grid, scoring=scoring)
    same(ours, theirs, ["r2", "absolute"])
    assert np.array_equal(ours.scores["own"], ours.scores["r2"])  # its score, of a search: that of its scorer
    search = GridSearchCV(model, grid, cv=inner, scoring="r2")
    for cv, given in ((inner, None), (3, inner)):
        ours = ks.nested_cv(search.set_params(cv=cv), X, y, inner=given, outer=outer, scoring=["r2"])
        same(ours, theirs, ["r2"])
    assert search.cv == 3
    assert not hasattr(search, "best_params_")


@pytest.mark.slow
def test_classifiers_and_random_search():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC())
    search = RandomizedSearchCV(model, {"svc__C": np.geomspace(1e-3, 1e3, 40)}, n_iter=5, random_state=0)
    theirs = cross_validate(search, X, y, cv=4, return_estimator=True)
    same(ks.nested_cv(search, X, y, outer=4), {"test_score": theirs["test_score"]} | theirs, ["score"])
    seeded = {"shuffle": True, "random_state": 5}
    search.set_params(cv=StratifiedKFold(3, **seeded))
    theirs = cross_validate(search, X, y, cv=StratifiedKFold(4, **seeded), scoring=["accuracy"], return_estimator=True)
    ours = ks.nested_cv(search, X, y, inner=3, outer=4, random_state=5, scoring="accuracy")
    same(ours, theirs, ["accuracy"])
    labels = np.array(["a", "b", "c"])[y]
    named = ks.nested_cv(search, X, labels, inner=3, outer=4, random_state=5)
    for fold in named.folds:
        assert fold.scores["score"] == pytest.approx(np.mean((named.predictions == labels)[fold.test]), abs=1e-15)
    assert np.array_equal(named.predictions, np.array(["a", "b", "c"])[ours.predictions])


def test_estimators_that_select_in_their_own_way(data):
    X, y = data
    result = ks.nested_cv(LassoCV(alphas=[0.01, 0.1]), X, y, outer=3)
    for fold, (train, _) in zip(result.folds, KFold(3).split(X), strict=True):
        assert fold.chosen == {"alpha_": LassoCV(alphas=[0.01, 0.1]).fit(X[train], y[train]).alpha_}
    ridge = ks.nested_cv(RidgeCV(ALPHAS), X, np.column_stack([y, -y]), outer=3)
    assert all(np.isfinite(fold.inner_score) and fold.chosen["alpha_"] in ALPHAS for fold in ridge.folds)
    each = ks.nested_cv(RidgeCV(ALPHAS, alpha_per_target=True), X, np.column_stack([y, -y]), outer=3)
    assert all(len(fold.chosen["alpha_"]) == 2 for fold in each.folds)
    assert ridge.predictions.shape == (60, 2)
    none = ks.nested_cv(LinearRegression(), X, y, outer=3)
    assert [fold.chosen for fold in none.folds] == [{}] * 3
    assert np.isnan(none.inner_scores).all()
    assert none.selection == "LinearRegression"
    assert np.array_equal(none.scores["score"], cross_validate(LinearRegression(), X, y, cv=KFold(3))["test_score"])
    tree = ks.nested_cv(DecisionTreeRegressor(random_state=0), X, y, outer=3)  # its criterion is none of ours
    assert tree.selection == "DecisionTreeRegressor"


class Records(RegressorMixin, BaseEstimator):
    """Remembers the first column of all that it has been shown, in the order of fits."""

    seen = ()

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y, sample_weight=None):
        Records.seen.append((X[:, 0].copy(), y.copy(), sample_weight, self.shift))
        self.mean_ = np.mean(y) + self.shift
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_no_leak(rng, monkeypatch):
    n = 40
    X, y = np.column_stack([np.arange(n), rng.standard_normal(n)]), rng.standard_normal(n)
    groups, w = np.arange(n) % 8, rng.uniform(0.5, 2, n)
    grid = {"shift": [0.0, 1.0, -1.0]}
    for arguments in (
        {"inner": 3},
        {"inner": 3, "groups": groups},
        {"inner": LeaveOneGroupOut(), "outer": GroupKFold(4), "params": {"groups": groups}},
        {"inner": ShuffleSplit(3, random_state=0), "random_state": 0},
        {"own": GridSearchCV(Records(), grid, cv=GroupKFold(3)), "groups": groups},
        {"own": GridSearchCV(Records(), grid), "groups": None},
    ):
        monkeypatch.setattr(Records, "seen", [])
        given = {"outer": 4, "params": {}} | arguments
        own, known = given.pop("own", None), given.get("groups", given["params"].get("groups"))
        given["params"] = given["params"] | {"sample_weight": w}
        result = ks.nested_cv(own or Records(), X, y, param_grid=None if own else grid, **given)
        fits = len(Records.seen) // len(result.folds)
        assert fits >= 10  # three candidates, three folds, and the last one
        for i, fold in enumerate(result.folds):
            train = np.setdiff1d(np.arange(n), fold.test)
            mine = Records.seen[i * fits : (i + 1) * fits]
            for rows, targets, weights, _ in mine:
                at = rows.astype(int)
                assert not np.intersect1d(at, fold.test).size
                assert np.array_equal(targets, y[at])
                assert np.array_equal(weights, w[at])
                if known is not None:  # no group is torn apart by an inner fold, nor by an outer one
                    left = np.setdiff1d(train, at)
                    assert not np.intersect1d(groups[at], groups[left]).size
                    assert not np.intersect1d(groups[at], groups[fold.test]).size
            assert np.array_equal(np.sort(mine[-1][0]), train)
            assert (result.predictions[fold.test] == np.mean(y[train]) + fold.chosen["shift"]).all()


def test_groups_and_closed_form_folds(data):
    X, y = data
    groups = np.arange(60) % 9
    result = ks.nested_cv(Chooses(), X, y, inner=3, outer=3, groups=groups, return_estimator=True)
    for fold, fitted in zip(result.folds, result.estimators, strict=True):
        known = np.delete(groups, fold.test)
        for group in np.unique(known):
            assert len(set(fitted.criterion.folds[known == group])) == 1
        assert set(fitted.criterion.folds) == {0, 1, 2}


class NoScore(BaseEstimator):
    def fit(self, X, y):  # noqa: ARG002
        return self


class Guesses(RegressorMixin, BaseEstimator):
    """Learns nothing: a quarter of one column."""

    def __init__(self, column=0):
        self.column = column

    fit = NoScore.fit

    def predict(self, X):
        return 0.25 * X[:, self.column]


def r2_of_mean_zero(y, predicted):
    return 1 - np.sum((y - predicted) ** 2) / np.sum(y**2)


@pytest.mark.slow
def test_honest_about_noise(rng):
    n, m = 40, 100
    scorer, grid = make_scorer(r2_of_mean_zero), {"column": range(m)}
    best, honest = [], []
    for _ in range(4):
        X, y = rng.standard_normal((n, m)), rng.standard_normal(n)
        best.append(GridSearchCV(Guesses(), grid, cv=KFold(4), scoring=scorer).fit(X, y).best_score_)
        result = ks.nested_cv(Guesses(), X, y, inner=3, outer=4, param_grid=grid, scoring=scorer)
        honest.append(result.mean["score"])
        assert result.inner_scores.mean() > honest[-1] + 0.05
    # The R^2 of a guess is r / 2 - 1/16 with r about 0 +- n^-1/2; the best of 100 has r of about 2.5 n^-1/2, so R^2 = 0.13.
    # With points that had no say in which is best, it is a guess again.
    assert np.mean(best) > 0.08
    assert abs(np.mean(honest) + 1 / 16) < 3 * 0.5 / np.sqrt(n * len(honest))
    assert np.mean(honest) < np.mean(best) - 0.1


def test_honest_about_chosen_columns(rng):
    X, y = rng.standard_normal((60, 300)), rng.standard_normal(60)
    # The leak that hides in preparing the data before: among 300 columns of noise some please, if all of y was seen.
    chosen = SelectKBest(k=5).fit_transform(X, y > 0)
    assert cross_validate(LinearRegression(), chosen, y, cv=KFold(5))["test_score"].mean() > 0.1
    honest = ks.nested_cv(make_pipeline(SelectKBest(lambda a, b: np.abs(b @ a), k=5), LinearRegression()), X, y)
    assert honest.mean["score"] < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_jobs_do_not_change_the_numbers(data, backend):
    X, y = data
    model = make_pipeline(StandardScaler(), ks.KernelRidge(RBF(1.0)))
    grid = {"kernelridge__alpha": ALPHAS}
    tasks = [
        lambda: {"estimator": model, "param_grid": grid, "inner": 3},
        lambda: {"estimator": model, "param_grid": grid, "inner": ShuffleSplit(3, random_state=np.random.RandomState(4))},
        lambda: {"estimator": model, "param_grid": grid, "random_state": np.random.RandomState(4)},
        lambda: {"estimator": Chooses(), "inner": 4, "random_state": np.random.RandomState(4)},
    ]
    for task in tasks[: 3 if backend == "loky" else 4]:  # another process may not find what is defined here
        with joblib.parallel_config(backend):
            one, two = (ks.nested_cv(X=X, y=y, n_jobs=jobs, outer=4, **task()) for jobs in (1, 2))
        assert np.array_equal(one.predictions, two.predictions)
        assert np.array_equal(one.scores["score"], two.scores["score"])
        assert np.array_equal(one.inner_scores, two.inner_scores)
        assert [fold.chosen for fold in one.folds] == [fold.chosen for fold in two.folds]


def test_metadata_routing(data, rng):
    X, y = data
    w = rng.uniform(0.1, 3, len(y))
    plain = ks.nested_cv(ks.KernelRidge(RBF(1.0)), X, y, outer=3, params={"sample_weight": w})
    for fold, (train, test) in zip(plain.folds, KFold(3).split(X), strict=True):
        alone = ks.KernelRidge(RBF(1.0)).fit(X[train], y[train], w[train])
        assert fold.scores["score"] == alone.score(X[test], y[test])  # without routing, scores are not weighted
    with sklearn.config_context(enable_metadata_routing=True):
        model = ks.KernelRidge(RBF(1.0)).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"alpha": ALPHAS}, cv=GroupKFold(3))
        groups = np.arange(60) % 7
        scoring = {
            "weighted": make_scorer(r2_score).set_score_request(sample_weight=True),
            "plain": make_scorer(r2_score).set_score_request(sample_weight=False),
        }
        given = {"sample_weight": w, "groups": groups}
        theirs = cross_validate(search, X, y, cv=GroupKFold(4), params=given, scoring=scoring, return_estimator=True)
        ours = ks.nested_cv(search, X, y, outer=GroupKFold(4), params=given, scoring=scoring)
        same(ours, theirs, scoring)
        assert (ours.scores["weighted"] != ours.scores["plain"]).all()
        grid = ks.nested_cv(model, X, y, inner=3, outer=4, params=given, scoring=scoring, param_grid={"alpha": ALPHAS})
        same(
            grid,
            cross_validate(
                search.set_params(scoring=scoring["weighted"]),
                X,
                y,
                cv=GroupKFold(4),
                params=given,
                scoring=scoring,
                return_estimator=True,
            ),
            scoring,
        )
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            ks.nested_cv(ks.KernelRidge(RBF(1.0)), X, y, params={"sample_weight": w})


def test_outer_folds_of_any_kind(data):
    X, y = data
    model = ks.KernelRidge(RBF(1.0), alpha=0.1)
    base = ks.nested_cv(model, X, y, outer=3)
    masks = [(np.arange(60) // 20 != i, np.arange(60) // 20 == i) for i in range(3)]
    for outer in (KFold(3), list(KFold(3).split(X)), KFold(3).split(X), masks, np.int64(3)):
        assert np.array_equal(ks.nested_cv(model, X, y, outer=outer).predictions, base.predictions)
    some = ks.nested_cv(model, X, y, outer=ShuffleSplit(4, random_state=0))
    assert some.predictions is None
    assert len(some.folds) == 4
    one = ks.nested_cv(model, X, y, outer=[masks[0]])
    assert one.predictions is None
    assert np.isnan(one.std["score"])
    assert one.mean["score"] == base.scores["score"][0]


def test_tables_and_kernel_matrices(data):
    X, y = data
    table, series = pd.DataFrame(X, columns=["a", "b"], index=np.arange(60)[::-1]), pd.Series(y, index=np.arange(60)[::-1])
    base = ks.nested_cv(ks.KernelRidge(RBF(1.0)), X, y, param_grid={"alpha": ALPHAS})
    named = ks.nested_cv(ks.KernelRidge(RBF(1.0)), table, series, param_grid={"alpha": ALPHAS}, return_estimator=True)
    assert np.array_equal(named.predictions, base.predictions)
    assert list(named.estimators[0].best_estimator_.feature_names_in_) == ["a", "b"]
    K = ks.gram(RBF(1.0), X)
    given = ks.nested_cv(ks.KernelRidge("precomputed"), K, y, param_grid={"alpha": ALPHAS})
    assert given.predictions == pytest.approx(base.predictions, abs=limit(X))
    lists = ks.nested_cv(ks.KernelRidge(RBF(1.0)), X.tolist(), y.tolist(), param_grid={"alpha": ALPHAS})
    assert np.array_equal(lists.predictions, base.predictions)


def test_nothing_selected_inside_is_said(data):
    title, *_ = str(ks.nested_cv(ks.KernelRidge(RBF(1.0)), *data)).splitlines()
    assert title == "Nested cross-validation; KernelRidge does not say what it has selected inside by, if anything"


def test_what_is_printed(data, capsys):
    X, y = data
    result = ks.nested_cv(
        ks.KernelRidge(), X, y, outer=3, param_grid={"alpha": ALPHAS}, scoring=["r2", "neg_mean_squared_error"], verbose=1
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [f"outer fold {i} of 3" for i in (1, 2, 3)]
    assert all("r2 0." in line and "alpha=0" in line for line in lines)
    title, head, *rows = str(result).splitlines()
    assert title == "Nested cross-validation, selection inside by GridSearchCV of 4 candidates, 5 folds"
    assert head.split() == ["fold", "train", "test", "inner", "r2", "neg_mean_squared_error", "fit", "[s]", "chosen"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "mean", "std"]
    for row, fold in zip(rows, result.folds, strict=False):
        inner, r2, error = (float(cell) for cell in row.split()[3:6])
        assert row.split()[1:3] == ["40", "20"]
        assert row.endswith(f"  alpha={fold.chosen['alpha']:.3g}")
        written = [inner, r2, error]
        assert written == pytest.approx([fold.inner_score, *fold.scores.values()], rel=5e-4)
    assert float(rows[3].split()[1]) == pytest.approx(result.mean["r2"], rel=5e-4)
    assert all(
        head.index("r2") + 1 == row.index(row.split()[4 if i < 3 else 1]) + len(row.split()[4 if i < 3 else 1]) - 1
        for i, row in enumerate(rows)
    )  # numbers end where their heads end
    assert all(fold.fit_time > 0 for fold in result.folds)
    long = ks.nested_cv(
        ks.KernelRidge(), X, y, outer=2, param_grid={"kernel": [RBF([1.0, 2.0]) + sum(RBF(float(i)) for i in range(1, 9))]}
    )
    assert max(map(len, str(long).splitlines())) <= 128
    ks.nested_cv(ks.KernelRidge(), X, y, outer=2)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_say_in_which_fold(data, jobs):
    X, y = data
    X = np.where(np.arange(60)[:, None] == 30, np.nan, X)
    train = np.arange(20)
    with pytest.raises(ValueError, match="NaN") as caught:
        ks.nested_cv(LinearRegression(), X, y, outer=[(train, train + 20), (train, train + 40)], n_jobs=jobs)
    assert caught.value.__notes__ == ["In outer fold 1 of 2."]


class OnlyScores:
    score = Ridge.score


MODEL = ks.KernelRidge(RBF(1.0))
GRID = {"alpha": [0.1, 1.0]}


@pytest.mark.parametrize(
    ("estimator", "change", "message"),
    [
        (OnlyScores(), {}, "estimator: expected methods fit, get_params and set_params, got .* without fit"),
        (ks.KernelRidge, {}, r"estimator: expected an object, got the class KernelRidge; write KernelRidge\(\)"),
        (GridSearchCV(MODEL, GRID, refit=False), {}, "estimator: expected a search with refit=True"),
        (NoScore(), {}, "scoring: expected one, since NoScore has no method score"),
        (MODEL, {"scoring": "r3"}, "scoring: expected the name of a scorer or a function, got 'r3'; did you mean 'r2'"),
        (MODEL, {"scoring": "zzz"}, "got 'zzz'; see sklearn.metrics.get_scorer_names"),
        (MODEL, {"scoring": ["r2", "r3"]}, "got 'r3'"),
        (MODEL, {"scoring": []}, "scoring: expected a name, a function"),
        (MODEL, {"scoring": 3}, "scoring: expected a name, a function"),
        (MODEL, {"scoring": r2_score}, "make_scorer"),
        (MODEL, {"scoring": lambda *_: {"a": 1.0}}, "scoring: expected a number of 'score'"),
        (MODEL, {"outer": 1}, "outer: expected two folds at least, got 1"),
        (MODEL, {"outer": True}, "outer: expected a number of folds, a splitter or pairs of indices, got True"),
        (MODEL, {"outer": "five"}, "outer: expected a number of folds"),
        (MODEL, {"outer": 61}, "outer: .*n_splits=61.*60"),
        (MODEL, {"outer": []}, "outer: expected at least one fold"),
        (MODEL, {"outer": [([0, 1, 2], [2, 3])]}, r"outer: fold 1 learns from points that it leaves out, \[2\]"),
        (MODEL, {"outer": [([0, 1, 59], [-1])]}, "outer: fold 1 has indices from -1 to 59, expected 0 to 59"),
        (MODEL, {"outer": [([0, 1], [])]}, "outer: fold 1 has 2 points to learn from and leaves 0 out"),
        (MODEL, {"outer": 4, "groups": [0, 1, 2] * 20}, "outer: .*number of groups"),
        (MODEL, {"outer": GroupKFold(3)}, "outer: .*groups"),
        (MODEL, {"inner": 4}, "inner: expected None, got 4: to be replaced, KernelRidge has no search"),
        (DecisionTreeRegressor(), {"inner": 4}, "inner: expected None, got 4"),
        (MODEL, {"inner": "criterion"}, "inner: expected an estimator that selects by a criterion of ours"),
        (MODEL, {"inner": "criterion", "param_grid": GRID}, "inner: expected an estimator that selects by a criterion"),
        (MODEL, {"inner": "loo"}, "inner: expected None, \"criterion\", a number of folds or a splitter, got 'loo'"),
        (MODEL, {"inner": 46, "param_grid": GRID, "outer": 4}, "inner: in the 45 training points of an outer fold: .*46"),
        (MODEL, {"inner": [([0], [1])], "param_grid": GRID}, "inner: expected .*; pairs of indices would not fit"),
        (Chooses(), {"inner": ShuffleSplit(3)}, "inner: expected folds that leave out each point once"),
        (Chooses(), {"inner": 1}, "inner: expected two folds at least, got 1"),
        (
            make_pipeline(GridSearchCV(MODEL, GRID), Chooses()),
            {"inner": 3},
            "gridsearchcv__cv and chooses__criterion, more than one",
        ),
        (MODEL, {"param_grid": {"gama": [1.0]}}, "param_grid: .*gama"),
        (MODEL, {"param_grid": {"kernel__length": [1.0]}}, "param_grid: .*length"),
        (MODEL, {"param_grid": {"alpha": 1.0}}, "param_grid: .*alpha"),
        (MODEL, {"param_grid": 3}, "param_grid: .*int"),
        (GridSearchCV(MODEL, GRID), {"param_grid": GRID}, "param_grid: expected none, since GridSearchCV is a search"),
        (MODEL, {"params": {"weight": np.ones(60)}}, "params: KernelRidge.fit has no argument 'weight'; it has X, y, sample_"),
        (
            GridSearchCV(Chooses(), {"length_scale": [1.0]}),
            {"params": {"sample_weight": np.ones(60)}},
            "params: Chooses.fit has no argument 'sample_weight'",
        ),
        (MODEL, {"params": {"sample_weight": np.ones(59)}}, "params: expected one sample_weight for each of 60 points, got 59"),
        (MODEL, {"params": {"groups": np.ones(60)}, "groups": np.ones(60)}, "groups: expected once, got them twice"),
        (MODEL, {"groups": np.ones(59)}, "inconsistent"),
    ],
)
def test_bad_arguments(data, estimator, change, message):
    X, y = data
    with pytest.raises((ValueError, TypeError), match=message):
        ks.nested_cv(estimator, X, y, **change)


def test_without_predictions(rng):
    X = rng.standard_normal((30, 1))
    result = ks.nested_cv(KernelDensity(), X, None, outer=3, param_grid={"bandwidth": [0.1, 1.0]})
    assert result.predictions is None
    assert all(fold.chosen["bandwidth"] in (0.1, 1.0) for fold in result.folds)


def test_ridge_is_left_as_it_was(data):
    model = Ridge()
    ks.nested_cv(model, *data, param_grid={"alpha": ALPHAS})
    assert model.get_params() == Ridge().get_params()


SMOOTH = RBF(1.0, (0.2, 2.0))  # longer length scales lead to an alpha that is lost in rounding
OURS = [
    (ks.GaussianProcessRegressor(), ("kernel_", "noise_"), "criterion=lml"),
    (
        ks.GaussianProcessRegressor(SMOOTH, criterion="loo", noise="auto", trend="constant"),
        ("kernel_", "noise_"),
        "criterion=loo",
    ),
    (ks.KernelRidge(SMOOTH, alpha="auto", criterion="loo"), ("kernel_", "alpha_"), "criterion=loo"),
    (ks.KernelRidge(SMOOTH, alpha="auto"), ("kernel_", "alpha_"), "criterion=reml"),
    (ks.KernelRidge("RBF"), ("kernel_", "alpha_"), "criterion=reml"),
    (ks.KernelRidge("rbf", alpha="auto", criterion="discrepancy", sigma=0.2), ("kernel_", "alpha_"), "criterion=discrepancy"),
    (ks.KernelRidgeCV("rbf"), ("kernel_", "alpha_"), "criterion=loo"),
    (ks.KernelRidgeCV("rbf", criterion="reml", fit_intercept=True), ("kernel_", "alpha_"), "criterion=reml"),
]


@pytest.mark.parametrize(("model", "names", "text"), OURS, ids=lambda value: str(value)[:60])
def test_what_ours_have_chosen_is_reported(data, model, names, text):
    X, y = data
    result = ks.nested_cv(model, X, y, outer=3, random_state=0, return_estimator=True)
    assert result.selection.endswith(text)
    shuffled = KFold(3, shuffle=True, random_state=0)
    for fold, (train, test), fitted in zip(result.folds, shuffled.split(X), result.estimators, strict=True):
        again = clone(model).fit(X[train], y[train])
        assert set(fold.chosen) == set(names)
        assert fold.chosen["kernel_"] == str(again.kernel_) == str(fitted.kernel_)
        for name in set(names) - {"kernel_"}:
            assert fold.chosen[name] == getattr(again, name)
        assert fold.inner_score == (again.best_score_ if hasattr(again, "best_score_") else again.criterion_value_)
        assert fold.scores["score"] == r2_score(y[test], again.predict(X[test]))
        assert result.predictions[test] == pytest.approx(again.predict(X[test]), abs=1e-12)
    by_name = ks.nested_cv(model, X, y, inner="criterion", outer=3, random_state=0)
    assert by_name.scores["score"].tolist() == result.scores["score"].tolist()


@pytest.mark.parametrize(("model", "names", "text"), OURS, ids=lambda value: str(value)[:60])
def test_ours_choose_by_folds_in_closed_form(data, model, names, text):
    X, y = data
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    inner = KFold(5, shuffle=True, random_state=0)
    result = ks.nested_cv(model, X, y, inner=5, outer=3, random_state=0)
    assert result.selection == f"{type(model).__name__}, closed form, 5 folds"
    density = text in ("criterion=lml", "criterion=reml")
    for fold, (train, _) in zip(result.folds, splits, strict=True):
        labels = np.empty(len(train), dtype=int)
        for k, (_, left) in enumerate(inner.split(train)):
            labels[left] = k
        criterion = GroupsOut(labels, log_density=density)
        again = clone(model).set_params(criterion=criterion).fit(X[train], y[train])
        for name in set(names) - {"kernel_"}:
            assert fold.chosen[name] == getattr(again, name)
        # The value, by refits at what was chosen.
        if density:
            continue
        squares = np.empty(len(train))
        for k in range(5):
            out = labels == k
            if isinstance(model, ks.GaussianProcessRegressor):
                noise = again.noise_ + again.jitter_
                one = ks.GaussianProcessRegressor(again.kernel_, optimizer=None, alpha=0.0, noise=noise, trend="constant")
            else:
                one = ks.KernelRidge(again.kernel_, alpha=again.alpha_, fit_intercept=again.has_intercept)
            squares[out] = (y[train][out] - one.fit(X[train][~out], y[train][~out]).predict(X[train][out])) ** 2
        noise = again.noise_ + again.jitter_ if isinstance(model, ks.GaussianProcessRegressor) else again.alpha_
        condition = np.linalg.norm(again.kernel_(X[train]), 2) / noise
        rounding = 10 * len(train) * np.finfo(float).eps * condition
        assert rounding < 0.01  # or this would prove nothing
        assert fold.inner_score == pytest.approx(squares.mean(), rel=1e-9 + rounding)


@pytest.mark.parametrize("model", [OURS[0][0], OURS[3][0], OURS[6][0]], ids=lambda model: type(model).__name__)
def test_jobs_do_not_change_what_ours_choose(data, model):
    one, two = (ks.nested_cv(model, *data, outer=3, inner=4, random_state=1, n_jobs=jobs) for jobs in (1, 2))
    assert one.scores["score"].tolist() == two.scores["score"].tolist()
    assert [fold.chosen for fold in one.folds] == [fold.chosen for fold in two.folds]
    assert one.inner_scores.tolist() == two.inner_scores.tolist()


def test_a_criterion_in_a_pipeline_is_found_by_default_too(data):
    X, y = data
    model = make_pipeline(StandardScaler(), ks.KernelRidge(alpha="auto"))
    assert ks.nested_cv(model, X, y, outer=3).selection == "Pipeline, kernelridge__criterion=reml"
    assert ks.nested_cv(model, X, y, outer=3, inner=4).selection == "Pipeline, closed form, 4 folds"
    with pytest.raises(ValueError, match="no search and no criterion of ours"):
        ks.nested_cv(ks.KernelRidge(alpha=1.0), X, y, inner=4)


def test_what_is_approximated_in_folds_is_said():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 2))
    y = np.sin(6 * X[:, 0]) + 0.2 * rng.standard_normal(150)
    found = {}
    for model in (ks.GaussianProcessRegressor("RBF", outliers=None), ks.KernelRidge("RBF", outliers=None)):
        for how in (None, ks.Vecchia(200, 200), ks.Vecchia(10, 20)):
            found[type(model), how] = ks.nested_cv(clone(model).set_params(approximation=how), X, y, outer=2)
    for (kind, how), result in found.items():
        exact = found[kind, None].scores["score"]
        if how == ks.Vecchia(10, 20):
            assert all("20 nearest points" in fold.approximation for fold in result.folds)
            assert "fold 1 (and in 1 more): approximated for 75 points" in str(result)
            np.testing.assert_allclose(result.scores["score"], exact, atol=0.05)  # of 0.9
        else:  # 75 points have no more neighbours
            assert not any(fold.approximation for fold in result.folds)
            # Two ways to the same optimum, from which the shares that are not explained differ in second order.
            np.testing.assert_allclose(1 - result.scores["score"], 1 - exact, rtol=0.01)
