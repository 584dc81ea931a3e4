"""KernelRidgeCV: alpha by brute force, and the fit of KernelRidge at that alpha."""

import pickle

import numpy as np
import pandas as pd
import pytest
from pairs import pairwise
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.criteria import GroupsOut
from kernsel.criteria.names import along_path, with_free_scale
from kernsel.criteria.table import TABLE
from kernsel.kernels import RBF, Linear
from kernsel.kernels.automatic import Data

import children
from conventions import expected_failures

ALPHAS = np.geomspace(1e-4, 10, 9)
FIND_THEIR_OWN = ("discrepancy", "lcurve", "quasi-optimality")
N = 45


@parametrize_with_checks(
    [
        ks.KernelRidgeCV(),
        ks.KernelRidgeCV("poly", alphas=[0.1, 1.0], criterion="gcv", fit_intercept=True, alpha_per_target=True),
        ks.KernelRidgeCV("linear", criterion="reml", alpha_scale="n"),
        ks.KernelRidgeCV("rbf", criterion="risk", sigma=0.5),
        ks.KernelRidgeCV("rbf", fit_intercept=True, approximation=ks.Nystrom(20)),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(N, 2))
    Y = np.column_stack([np.sin(6 * X[:, 0]) + 0.3 * rng.standard_normal(N), X[:, 1] + 2.0 * rng.standard_normal(N)])
    return X, Y, rng.uniform(size=(20, 2))


def some_weights(rng):
    return np.where(np.arange(N) % 8 == 3, 0.0, rng.uniform(0.3, 2.0, N))


def errors_left_out(X, y, w, labels, options, alpha):
    """Return the weighted mean of squared errors of points left out, by refits."""
    squares = np.zeros(len(y))
    for label in np.unique(labels):
        out = labels == label
        if w[~out].any():
            again = ks.KernelRidge(RBF(0.5), alpha=alpha, **options).fit(X[~out], y[~out], w[~out])
            squares[out] = (y[out] - again.predict(X[out])) ** 2
    return np.sum(w * squares) / w.sum()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("folds", [None, 4])
def test_the_best_alpha_by_refits(data, rng, folds, weighted, intercept):
    X, Y, _ = data
    w = some_weights(rng) if weighted else np.ones(N)
    labels = np.arange(N) if folds is None else rng.integers(0, folds, N)
    options = {"fit_intercept": intercept}
    criterion = "loo" if folds is None else GroupsOut(labels)
    curves = [[errors_left_out(X, y, w, labels, options, alpha) for alpha in ALPHAS] for y in Y.T]
    shuffled = rng.permutation(ALPHAS)
    model = ks.KernelRidgeCV(RBF(0.5), alphas=shuffled, criterion=criterion, alpha_per_target=True, **options)
    model.fit(X, Y, w if weighted else None)
    assert model.alpha_ == pytest.approx([ALPHAS[np.argmin(curve)] for curve in curves])
    assert model.alpha_[0] != model.alpha_[1]
    assert model.criterion_value_ == pytest.approx([min(curve) for curve in curves], rel=1e-8)
    assert [path.alphas.tolist() for path in model.path_] == [shuffled.tolist()] * 2
    if folds is None:
        order = np.argsort(shuffled)
        for path, curve in zip(model.path_, curves, strict=True):
            assert path.loo[order] == pytest.approx(curve, rel=1e-8)
    both = clone(model).set_params(alpha_per_target=False).fit(X, Y, w if weighted else None)
    mean = np.mean(curves, axis=0)
    assert both.alpha_ == ALPHAS[np.argmin(mean)]
    assert both.criterion_value_ == pytest.approx(mean.min(), rel=1e-8)


@pytest.mark.parametrize(
    ("criterion", "weighted", "intercept", "scale"),
    pairwise([*along_path(), "kfold", "kfold_log_density"], [False, True], [False, True], ["none", "n"]),
)
def test_it_is_kernel_ridge_at_its_alpha(data, rng, criterion, weighted, intercept, scale):
    X, Y, Z = data
    if criterion == "quasi-optimality":  # which has no minimum with much noise
        Y = np.sin(6 * X) + 0.02 * rng.standard_normal((N, 2))
    if criterion == "discrepancy":
        Y = Y[:, [0, 0]]
    w = some_weights(rng) if weighted else None
    options = {"fit_intercept": intercept, "alpha_scale": scale}
    alphas = ALPHAS / (N if scale == "n" else 1)
    for each in (False, True):
        model = ks.KernelRidgeCV(RBF(0.5), alphas=alphas, criterion=criterion, sigma=0.5, alpha_per_target=each, **options)
        model.fit(X, Y, w)
        same = ks.KernelRidge(RBF(0.5), alpha=model.alpha_, **options).fit(X, Y, w)
        K = RBF(0.5)(X)
        limit = 100 * N * np.finfo(float).eps * np.linalg.norm(K, 2) / np.min(model.alpha_) * np.abs(Y).max()
        assert model.predict(Z) == pytest.approx(same.predict(Z), abs=limit)
        assert model.dual_coef_ == pytest.approx(same.dual_coef_, abs=limit / np.min(model.alpha_))
        assert model.intercept_ == pytest.approx(same.intercept_, abs=limit)
        if criterion in along_path():
            row = TABLE[with_free_scale(criterion)]
            name, sign = row.curve, -1 if row.larger_is_better else 1
            for path, alpha, score in zip(
                model.path_ if each else [model.path_],
                np.atleast_1d(model.alpha_),
                np.atleast_1d(model.criterion_value_),
                strict=True,
            ):
                assert score == pytest.approx(getattr(path.at(alpha), name)[0], rel=1e-9)
                if criterion not in FIND_THEIR_OWN:
                    assert alpha in alphas
                    assert sign * score == (sign * getattr(path, name)).min()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_kfold_along_the_path_is_that_of_evaluate(data, rng, weighted, intercept):
    X, Y, _ = data
    labels = rng.integers(0, 6, N)
    trend = "constant" if intercept else None
    w = some_weights(rng) if weighted else None
    used = np.ones(N, bool) if w is None else w > 0
    path = ks.RegularizationPath(
        RBF(0.5), Y[used], X=X[used], alphas=ALPHAS, trend=trend, sample_weight=None if w is None else w[used]
    )
    for i, alpha in enumerate(ALPHAS):
        found = ks.evaluate(GroupsOut(labels, True), RBF(0.5), X, Y, noise=alpha, trend=trend, sample_weight=w)
        assert path.leave_groups_out(labels[used], log_density=True)[i] == pytest.approx(found.value, rel=1e-9)
        if not weighted:
            found = ks.evaluate(GroupsOut(labels), RBF(0.5), X, Y, noise=alpha, trend=trend)
            assert path.leave_groups_out(labels)[i] == pytest.approx(found.value, rel=1e-9)
    alone = path.leave_groups_out(np.arange(used.sum()))
    assert alone == pytest.approx(path.loo, rel=1e-9)
    # The same by features, with what is beyond them.
    A = np.column_stack([X[used], np.sin(9 * X[used])])
    more = {"alphas": ALPHAS, "trend": np.ones((used.sum(), 1)) if intercept else None}
    if weighted:
        more["sample_weight"] = w[used]
    for log_density in (False, True):
        one, other = (
            p.leave_groups_out(labels[used], log_density=log_density)
            for p in (
                ks.RegularizationPath.from_features(A, Y[used], **more),
                ks.RegularizationPath(A @ A.T, Y[used], **more),
            )
        )
        assert one == pytest.approx(other, rel=1e-7)


def test_bad_groups(data):
    X, Y, _ = data
    path = ks.RegularizationPath(RBF(0.5), Y, X=X)
    with pytest.raises(ValueError, match="groups: expected one label for each of 45 points, got shape \\(3,\\)"):
        path.leave_groups_out([0, 1, 2])
    with pytest.raises(ValueError, match="groups: expected two at least"):
        path.leave_groups_out(np.zeros(N))
    with pytest.raises(ValueError, match="folds: expected two groups at least"):
        ks.KernelRidgeCV(criterion=GroupsOut([0] * 44 + [1]), fit_intercept=True).fit(X, Y, np.arange(N) < 44)


def test_against_scikit_learns_ridge(data):
    X, Y, Z = data
    alphas = np.geomspace(1e-3, 1e3, 13)
    for intercept in (False, True):
        for each in (False, True):
            theirs = RidgeCV(alphas, fit_intercept=intercept, alpha_per_target=each).fit(X, Y)
            ours = ks.KernelRidgeCV("linear", alphas=alphas, fit_intercept=intercept, alpha_per_target=each).fit(X, Y)
            assert ours.alpha_ == pytest.approx(theirs.alpha_)
            assert ours.criterion_value_ == pytest.approx(-np.asarray(theirs.best_score_), rel=1e-8)
            assert ours.predict(Z) == pytest.approx(theirs.predict(Z), rel=1e-7)
            assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-9)


def test_a_number_of_folds_is_shuffled(data):
    X, Y, _ = data
    model = ks.KernelRidgeCV(RBF(0.5), alphas=ALPHAS, criterion="kfold").fit(X, Y[:, 0])
    splitter = KFold(5, shuffle=True, random_state=0)
    errors = []
    for alpha in ALPHAS:
        predicted = cross_val_predict(ks.KernelRidge(RBF(0.5), alpha=alpha), X, Y[:, 0], cv=splitter)
        errors.append(np.mean((Y[:, 0] - predicted) ** 2))
    assert model.alpha_ == ALPHAS[np.argmin(errors)]
    assert model.criterion_value_ == pytest.approx(min(errors), rel=1e-8)
    shuffled = KFold(5, shuffle=True, random_state=3)
    again = ks.KernelRidgeCV(RBF(0.5), alphas=ALPHAS, criterion=GroupsOut(shuffled)).fit(X, Y[:, 0])
    assert again.criterion_value_ != model.criterion_value_


def test_grids(data):
    X, Y, _ = data
    y = Y[:, 0]
    assert ks.KernelRidgeCV(RBF(0.5), alphas=[0.3]).fit(X, y).alpha_ == 0.3
    assert ks.KernelRidgeCV(RBF(0.5), alphas=0.3).fit(X, y).alpha_ == 0.3
    assert ks.KernelRidgeCV(RBF(0.5), alphas=pd.Series([0.3, 0.1])).fit(X, y).path_.alphas.tolist() == [0.3, 0.1]
    # At the ends the grid is not left: it was given.
    for alphas, end in (([1e3, 1e4], 1e3), ([1e-9, 1e-10], 1e-9)):
        model = ks.KernelRidgeCV(RBF(0.5), alphas=alphas).fit(X, y)
        assert model.alpha_ == end
        assert model.path_.best("loo") not in alphas
    default = ks.KernelRidgeCV(RBF(0.5)).fit(X, y)
    assert default.path_.alphas.shape == (200,)
    assert default.alpha_ == default.path_.alphas[np.argmin(default.path_.loo)]
    assert default.path_.alphas[-1] == pytest.approx(100 * np.linalg.eigvalsh(RBF(0.5)(X)).max())


def test_kernels_of_all_forms(data):
    X, Y, Z = data
    reference = ks.KernelRidgeCV(Linear(1.0), alphas=ALPHAS).fit(X, Y).predict(Z)
    for kernel in ("linear", "Linear(1.0)", lambda x, z: x @ z):
        assert ks.KernelRidgeCV(kernel, alphas=ALPHAS).fit(X, Y).predict(Z) == pytest.approx(reference, rel=1e-8)
    given = ks.KernelRidgeCV("precomputed", alphas=ALPHAS).fit(X @ X.T, Y)
    assert given.predict(Z @ X.T) == pytest.approx(reference, rel=1e-8)
    assert ks.KernelRidgeCV().fit(X, Y).kernel_ == ks.KernelRidge().fit(X, Y).kernel_


def test_what_is_no_kernel(data):
    X, Y, _ = data
    K = RBF(0.5)(X)
    K[0, 1] = K[1, 0] = -3.0
    for name, points in (("sigmoid", X), ("precomputed", K)):
        with pytest.raises(np.linalg.LinAlgError, match="K: expected a positive semidefinite matrix, got one with eigenvalues"):
            ks.KernelRidgeCV(name).fit(points, Y)
    # With a constant, a kernel may be positive semidefinite but for that: minus a squared distance is.
    K = -0.5 * ((X[:, None] - X) ** 2).sum(-1)
    model = ks.KernelRidgeCV("precomputed", alphas=[0.1], fit_intercept=True).fit(K, Y)
    assert model.predict(K) == pytest.approx(ks.KernelRidge("linear", alpha=0.1, fit_intercept=True).fit(X, Y).predict(X))
    # Single precision, a matrix that is positive semidefinite to rounding.
    assert ks.KernelRidgeCV("precomputed").fit(RBF(3.0)(X).astype(np.float32), Y.astype(np.float32)).alpha_ > 0


def test_the_rest_of_scikit_learn(data):
    X, Y, _ = data
    frame = pd.DataFrame(X, columns=["a", "b"])
    pipeline = make_pipeline(StandardScaler(), ks.KernelRidgeCV(RBF(1.0), fit_intercept=True))
    search = GridSearchCV(pipeline, {"kernelridgecv__kernel__length_scale": [0.5, 2.0]}, n_jobs=2).fit(frame, Y)
    best = search.best_estimator_[-1]
    assert best.kernel_.length_scale in (0.5, 2.0)
    again = pickle.loads(pickle.dumps(best))
    assert np.array_equal(again.predict(X), best.predict(X))
    assert again.path_.loo.tolist() == best.path_.loo.tolist()
    assert clone(best).get_params()["alphas"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alphas": 0.0}, "alphas: expected positive, finite numbers"),
        ({"alphas": [0.1, -1.0]}, "alphas: expected positive, finite numbers"),
        ({"alphas": [np.nan]}, "alphas: expected positive, finite numbers"),
        ({"alphas": [np.inf]}, "alphas: expected positive, finite numbers"),
        ({"alphas": []}, "alphas: expected positive, finite numbers"),
        ({"alphas": [[0.1, 1.0]]}, r"alphas: expected one row of numbers, got shape \(1, 2\)"),
        ({"alphas": "auto"}, "alphas: expected positive numbers or None, got 'auto'"),
        ({"alphas": [1j]}, "alphas: expected positive numbers"),
        (
            {"criterion": "loo_crps"},
            "criterion: expected one of lml, .*gcv, .*kfold_log_density, or kernsel.criteria.GroupsOut, got",
        ),
        ({"criterion": None}, "criterion: expected one of lml"),
        ({"criterion": ["loo"]}, "criterion: expected one of lml"),
        ({"criterion": GroupsOut(46)}, "folds: expected a number from 2 to 45"),
        ({"criterion": "risk"}, 'sigma: the criterion "risk" needs the standard deviation of the noise, got None'),
        ({"criterion": "discrepancy"}, 'sigma: the criterion "discrepancy" needs'),
        ({"sigma": -1.0}, "sigma: expected a positive number or None, got -1.0"),
        ({"alpha_per_target": 1}, "alpha_per_target: expected True or False, got 1"),
        ({"fit_intercept": "yes"}, "fit_intercept: expected True or False, got 'yes'"),
        ({"alpha_scale": "N"}, 'alpha_scale: expected "none" or "n"'),
        ({"kernel": 3.0}, "kernel: expected a kernel"),
    ],
)
def test_bad_parameters(data, change, message):
    X, Y, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        ks.KernelRidgeCV(**change).fit(X, Y)


def test_one_point_is_not_enough(data):
    X, Y, _ = data
    with pytest.raises(ValueError, match="alpha: there is nothing to choose it by, got n_samples = 1 of positive weight"):
        ks.KernelRidgeCV().fit(X, Y, np.arange(N) == 3)


@pytest.mark.parametrize("criterion", ["loo", "gcv", "reml", "kfold_log_density"])
@pytest.mark.parametrize("periods", [5, 15, 60])
def test_oscillations_are_followed(criterion, periods, rng):
    """Length scales from the spread of x say nothing of y; those of its spectrum are tried as well."""
    x, z = np.linspace(0, 1, 300)[:, None], np.linspace(0.01, 0.99, 500)[:, None]
    y = np.sin(2 * np.pi * periods * x[:, 0]) + 0.1 * rng.standard_normal(300)
    model = ks.KernelRidgeCV("auto", criterion=criterion).fit(x, y)
    assert np.std(model.predict(z) - np.sin(2 * np.pi * periods * z[:, 0])) < 0.12
    for same in (ks.KernelRidgeCV(RBF(0.29), criterion=criterion), ks.KernelRidgeCV("rbf", criterion=criterion)):
        assert np.std(same.fit(x, y).predict(z) - np.sin(2 * np.pi * periods * z[:, 0])) > 0.2  # kernels that are given stay
    again = ks.KernelRidgeCV(model.kernel_, criterion=criterion).fit(x, y)
    assert again.alpha_ == model.alpha_
    assert again.criterion_value_ == model.criterion_value_


def test_short_scales_of_several_targets_and_rules_that_cannot_compare_kernels(rng):
    x = rng.uniform(size=(200, 1))
    fast, slow = np.sin(80 * x[:, 0]), np.sin(3 * x[:, 0])
    noise = 0.1 * rng.standard_normal((200, 2))
    each = ks.KernelRidgeCV("auto", alpha_per_target=True).fit(x, np.column_stack([fast, 1e-6 * slow]) + noise * [1.0, 1e-6])
    assert each.kernel_.length_scale[0] < 0.1
    assert len(each.alpha_) == len(each.path_) == 2
    smooth = ks.KernelRidgeCV("auto").fit(x, slow + noise[:, 0])
    assert smooth.kernel_ == RBF("auto").resolve(Data(x, slow))
    rule = ks.KernelRidgeCV("auto", criterion="lcurve").fit(x, fast + noise[:, 0])
    assert rule.kernel_.length_scale == smooth.kernel_.length_scale
    weights = np.where(np.arange(200) % 3, 1.0, 0.0)
    weighted = ks.KernelRidgeCV("auto").fit(x, fast + noise[:, 0], weights)
    alone = ks.KernelRidgeCV("auto").fit(x[weights > 0], (fast + noise[:, 0])[weights > 0])
    assert weighted.kernel_.theta == pytest.approx(alone.kernel_.theta, rel=1e-12)


def test_what_does_not_fit_into_memory_says_what_does(monkeypatch):
    from kernsel._base import memory

    monkeypatch.setattr(memory, "_WORTH_CHECKING", 1)
    monkeypatch.setattr(memory._core, "available_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"the eigenvectors of 50 points need .* KernelRidge\(alpha=\"auto\", approximation"):
        ks.KernelRidgeCV("rbf").fit(np.linspace(0, 1, 50)[:, None], np.linspace(0, 1, 50))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("per_target", [False, True])
def test_landmarks_that_are_all_points_change_nothing(data, rng, intercept, per_target):
    X, Y, Z = data
    w = some_weights(rng)
    options = {"alphas": ALPHAS, "fit_intercept": intercept, "alpha_per_target": per_target, "outliers": None}
    exact, near = (ks.KernelRidgeCV(RBF(0.3), approximation=a, **options).fit(X, Y, w) for a in (None, ks.Nystrom(X[w > 0])))
    assert np.array_equal(near.alpha_, exact.alpha_)
    # The diagonal of the landmarks' matrix is multiplied by 1 + 1e-10, which changes eigenvalues by as much.
    tolerance = N * 1e-10 / ALPHAS[0]
    assert near.criterion_value_ == pytest.approx(exact.criterion_value_, rel=tolerance)
    assert near.predict(Z) == pytest.approx(exact.predict(Z), rel=0, abs=tolerance * np.abs(Y).max())
    assert len(near.X_fit_) == len(near.dual_coef_) == np.count_nonzero(w)


@pytest.mark.parametrize("criterion", ["gcv", "reml", "lcurve"])
def test_rules_by_landmarks(data, criterion):
    X, Y, _ = data
    near = ks.KernelRidgeCV(RBF(0.5), criterion=criterion, fit_intercept=True, approximation=ks.Nystrom(X)).fit(X, Y[:, 0])
    exact = ks.KernelRidgeCV(RBF(0.5), criterion=criterion, fit_intercept=True, outliers=None).fit(X, Y[:, 0])
    moved = len(X) * 1e-10 / exact.alpha_  # the jitter of landmarks, in parts of what alpha adds to n directions
    assert near.alpha_ == pytest.approx(exact.alpha_, rel=10 * np.sqrt(moved))  # a flat place moves by the root of it
    assert "loo" not in vars(near.path_)  # one pass over the rows less
    assert clone(near).get_params()["approximation"] == ks.Nystrom(X)


def test_a_model_by_landmarks_is_pickled_and_shown(data):
    X, Y, Z = data
    model = ks.KernelRidgeCV("rbf", alphas=ALPHAS, approximation=ks.Nystrom(10)).fit(X, Y[:, 0])
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(Z), model.predict(Z))
    assert np.array_equal(again.path_.at(ALPHAS[:2]).loo, model.path_.at(ALPHAS[:2]).loo)
    assert model.regularization_path(X, Y[:, 0]).path is model.path_
    assert model.predict(Z).shape == (20,)
    with pytest.raises(ValueError, match="points left out are not predicted"):
        model.left_out(X, Y[:, 0])


@pytest.mark.parametrize(
    ("change", "fitted", "message"),
    [
        ({"approximation": ks.Vecchia()}, {}, "approximation: expected None or kernsel.Nystrom"),
        ({"kernel": "precomputed"}, {"X": np.eye(N)}, "the kernel matrix is given"),
        ({"criterion": "kfold"}, {}, "criterion: expected one without folds"),
        ({"criterion": GroupsOut(3)}, {}, "criterion: expected one without folds"),
        ({}, {"groups": np.arange(N) % 5}, "groups: expected None"),
    ],
)
def test_what_landmarks_cannot_do(data, change, fitted, message):
    X, Y, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        ks.KernelRidgeCV(**{"approximation": ks.Nystrom(5), **change}).fit(**{"X": X, "y": Y, **fitted})


@pytest.mark.slow
def test_memory_by_landmarks_does_not_grow_with_points_times_landmarks():
    pytest.importorskip("resource")
    # In a process of its own, since the largest memory of a process never falls.
    megabytes = children.run("""
        import resource, numpy as np, kernsel as ks
        X = np.random.default_rng(0).uniform(size=(40_000, 4))
        near = ks.Nystrom(X[:200])
        fit = lambda n: ks.KernelRidgeCV("rbf", alphas=[0.1, 1.0], approximation=near).fit(X[:n], X[:n, 0])
        fit(3000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        fit(40_000)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
    """)
    assert float(megabytes) < 40_000 * 200 * 8 / 2**20 / 3
