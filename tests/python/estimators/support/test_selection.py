"""The path of support vector regression, leaving out by the span, and what is chosen by it."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import check_estimator

import kernsel as ks
from kernsel.estimators.support.path import _start, spread
from kernsel.estimators.support.span import left_out_residuals
from kernsel.estimators.support.vectors import SupportVectors
from kernsel.kernels import RBF, Linear, Matern, WhiteKernel

from conventions import expected_failures

EPS = np.finfo(float).eps


def friedman(rng, n, outliers=0.0, noise=1.0):
    X = rng.uniform(size=(n, 5))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, f + noise * rng.standard_normal(n) + (rng.random(n) < outliers) * 20 * rng.standard_normal(n), f


@pytest.fixture
def data(rng):
    X, y, _ = friedman(rng, 60, 0.1)
    return X, y, RBF("auto").for_data(X, y)


@pytest.mark.parametrize("intercept", [True, False])
def test_every_fit_of_the_path_is_the_fit_alone(data, rng, intercept):
    X, y, kernel = data
    weights = rng.uniform(0.5, 2, 60)
    weights[7] = 0
    path = ks.SVRPath(
        X, y, kernel, Cs=[50.0, 0.5, 5.0], epsilons=[0.1, 2.0], sample_weight=weights, fit_intercept=intercept, tol=1e-8
    )
    assert path.Cs.tolist() == [0.5, 5.0, 50.0]
    assert path.epsilons.tolist() == [2.0, 0.1]
    K = kernel(X)
    for i, j in np.ndindex(3, 2):
        C, epsilon, a, b = path.Cs[i], path.epsilons[j], path.coefficients[i, j], path.intercepts[i, j]
        assert path.converged[i, j]
        assert path.gaps[i, j] <= 1e-8 * path.objectives[i, j]
        beyond = np.maximum(np.abs(y - K @ a - b) - epsilon, 0)
        objective = a @ K @ a / 2 + C * weights @ beyond
        assert objective == pytest.approx(path.objectives[i, j], rel=1e-10)
        assert a[7] == 0
        assert np.count_nonzero(a) == path.n_support[i, j]
        if intercept:
            reference = svm.SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-8)
            used = np.flatnonzero(weights)
            reference.fit(K[np.ix_(used, used)], y[used], weights[used])
            # Both are within the gap of the optimum, and |f - f*|^2 / 2 is at most that.
            b_other, a_other = reference.intercept_[0], np.zeros(60)
            a_other[used[reference.support_]] = reference.dual_coef_[0]
            theirs = a_other @ K @ a_other / 2 + C * weights @ np.maximum(np.abs(y - K @ a_other - b_other) - epsilon, 0)
            assert objective == pytest.approx(theirs, rel=1e-6)


def test_a_start_is_the_best_multiple_of_a_neighbour(data):
    X, y, kernel = data
    K, solver = kernel(X), SupportVectors(kernel, X)
    first, second = solver.solve(y, 1.0, 1.0, tol=1e-6), solver.solve(y, 3.0, 2.0, tol=1e-6)

    def dual(a, epsilon=1.0):
        return a @ y - epsilon * np.abs(a).sum() - a @ K @ a / 2

    start = _start([(second, 2.0, 1.0), (first, 1.0, 3.0)], y, 1.0)
    candidates = [dual(t * first.a) for t in np.linspace(0, 3, 301)] + [dual(t * second.a) for t in np.linspace(0, 1, 101)]
    # What is found without K is right up to rounding of the objective; a grid can only be worse.
    assert dual(start) >= max(candidates) - 1e-12 * abs(max(candidates))
    assert dual(start) == pytest.approx(max(candidates), rel=1e-3)
    scaled = _start([(first, 1.0, 3.0)], y, 1.0)
    assert dual(scaled) == pytest.approx(max(candidates[:301]), rel=1e-3)
    assert dual(scaled) > 1.1 * dual(first.a)
    assert _start([], y, 1.0) is None
    assert _start([(second, 2.0, 1.0)], y, 1e3) is None


def test_warm_starts_take_fewer_steps(rng):
    X, y, _ = friedman(rng, 150)
    kernel = RBF("auto").for_data(X, y)
    path = ks.SVRPath(X, y, kernel, Cs=np.geomspace(1, 100, 12), epsilons=[1.0, 0.7, 0.5])
    solver = SupportVectors(kernel, X)
    cold = sum(solver.solve(y, C, epsilon).iterations for C in path.Cs for epsilon in path.epsilons)
    assert path.n_iter.sum() < 0.9 * cold


def state(a, bounds):
    """Return for each point: zero, free or at its bound, and on which side."""
    return np.sign(a) * (1 + (np.abs(a) >= bounds))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_leaving_one_out_is_exact_where_the_sets_stay(data, rng, intercept, noise):
    X, y, kernel = data
    n = len(y)
    kernel = kernel + WhiteKernel(noise, "fixed") if noise else kernel  # which a point does not share with itself left out
    weights = rng.uniform(0.5, 2, n)
    weights[::3] *= 1e-3  # at their bound, and of little consequence
    solver = SupportVectors(kernel, X)
    K = kernel(X)
    exact = {0: 0, 1: 0, 2: 0}
    for C, epsilon in ((3.0, 1.0), (30.0, 1.5), (1000.0, 4.0)):
        bounds = C * weights
        fit = solver.solve(y, bounds, epsilon, fit_intercept=intercept, tol=1e-13)
        estimated = left_out_residuals(kernel, X, y, fit.a, fit.intercept, bounds, intercept)
        true = np.empty(n)
        for i in range(n):
            less = bounds.copy()
            less[i] = 0
            without = solver.solve(y, less, epsilon, fit_intercept=intercept, start=fit.a, tol=1e-13)
            true[i] = y[i] - kernel(X[[i]], X)[0] @ without.a - without.intercept
            others = np.arange(n) != i
            if np.array_equal(state(without.a, less)[others], state(fit.a, bounds)[others]):
                # |f - f*|^2 / 2 is at most the gap: f is off by (2 gap k)^(1/2), b as much; free residuals, too.
                off = 4 * np.sqrt(2 * 1e-13 * max(fit.objective, without.objective) * K[i, i])
                assert estimated[i] == pytest.approx(true[i], abs=10 * off)
                exact[int(abs(state(fit.a, bounds)[i]))] += 1
        assert np.abs(estimated).mean() == pytest.approx(np.abs(true).mean(), rel=0.12)
    assert exact[0] > 30
    assert exact[1] > 3
    assert exact[2] > 5


@pytest.mark.parametrize("intercept", [True, False])
def test_the_span_by_the_pseudo_inverse(data, intercept):
    X, y, kernel = data
    X = np.vstack([X, X[:6]])  # points twice: the matrix of the free ones may be singular
    y = np.append(y, y[:6] + 0.5)
    path = ks.SVRPath(X, y, kernel, Cs=[20.0], epsilons=[0.5], fit_intercept=intercept, tol=1e-10)
    a, K = path.coefficients[0, 0], kernel(X)
    free, bound = np.flatnonzero((a != 0) & (np.abs(a) < 20)), np.flatnonzero(np.abs(a) >= 20)
    S = np.zeros(len(y))
    for i in np.append(free, bound):
        F = free[free != i]
        one = np.ones((len(F), 1)) if intercept else np.zeros((len(F), 0))
        M = np.block([[K[np.ix_(F, F)], one], [one.T, np.zeros((one.shape[1],) * 2)]])
        v = np.append(K[F, i], np.ones(one.shape[1]))
        S[i] = K[i, i] - v @ np.linalg.pinv(M, rcond=1e-11) @ v
    expected = y - K @ a - path.intercepts[0, 0] + a * S
    condition = np.linalg.cond(K[np.ix_(free, free)] + len(free) * EPS * np.eye(len(free)))
    assert len(free) > 5
    assert len(bound) > 5
    tolerance = 20 * max(len(free) * EPS * min(condition, 1e11), 1e-8)
    assert path.loo_residuals(0, 0) == pytest.approx(expected, abs=tolerance)


def test_the_intercept_stays_if_no_other_point_is_free():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 10.0, 0.0, 10.0])
    path = ks.SVRPath(X, y, RBF(0.5), Cs=[0.1], epsilons=[0.1], tol=1e-12)
    a = path.coefficients[0, 0]
    assert np.abs(a).tolist() == [0.1] * 4
    assert path.loo_residuals(0, 0) == pytest.approx(y - RBF(0.5)(X) @ a - path.intercepts[0, 0] + a, rel=1e-14)
    nothing = ks.SVRPath(X, y, RBF(0.5), Cs=[0.1], epsilons=[6.0])
    assert nothing.n_support.tolist() == [[0]]
    assert nothing.scores("loo").item() == 5.0


@pytest.mark.parametrize("scoring", ["absolute", "squared"])
def test_scores_by_folds_are_those_of_refits(data, rng, scoring):
    X, y, kernel = data
    weights = rng.uniform(0.5, 2, 60)
    path = ks.SVRPath(X, y, kernel, Cs=[1.0, 10.0, 100.0], epsilons=[0.2, 2.0], sample_weight=weights, tol=1e-10)
    scores = path.scores("kfold", scoring=scoring, folds=4)
    power = 1 if scoring == "absolute" else 2
    K, expected = kernel(X), np.zeros((3, 2))
    for i, j in np.ndindex(3, 2):
        for train, test in KFold(4, shuffle=True, random_state=0).split(X):
            model = svm.SVR(kernel="precomputed", C=path.Cs[i], epsilon=path.epsilons[j], tol=1e-8)
            model.fit(K[np.ix_(train, train)], y[train], weights[train])
            expected[i, j] += weights[test] @ np.abs(y[test] - model.predict(K[np.ix_(test, train)])) ** power
    assert scores == pytest.approx(expected / weights.sum(), rel=1e-4)
    i, j = np.unravel_index(expected.argmin(), (3, 2))
    assert path.best("kfold", scoring=scoring, folds=4) == (path.Cs[i], path.epsilons[j])
    assert path.scores("kfold", scoring=scoring, folds=KFold(4, shuffle=True, random_state=0)) == pytest.approx(
        scores, rel=1e-12
    )
    alone = np.abs(path.loo_residuals(i, j)) ** power
    assert path.scores("loo", scoring=scoring)[i, j] == pytest.approx(np.average(alone, weights=weights), rel=1e-12)


def test_grids_are_in_units_of_the_data(data):
    X, y, kernel = data
    one, other = ks.SVRPath(X, y, kernel), ks.SVRPath(X, 1000 * y + 7, 16.0 * kernel)
    assert len(one.Cs) == 20
    assert other.Cs == pytest.approx(one.Cs * 1000 / 16)
    assert other.epsilons == pytest.approx(one.epsilons * 1000)
    assert other.scores("loo")[8] == pytest.approx(1000 * one.scores("loo")[8], rel=0.02)
    assert spread(np.full(4, 3.0)) == 1.0
    assert spread(np.array([0.0, 0, 0, 4])) == np.std([0, 0, 0, 4])
    assert spread(np.random.default_rng(0).standard_normal(100000)) == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize("criterion", ["kfold", "loo"])
def test_what_is_chosen_is_the_best_of_the_table(rng, criterion):
    X, y, _ = friedman(rng, 120, 0.1)
    model = ks.SVR(RBF("auto"), C="auto", epsilon="auto", criterion=criterion).fit(X, y)
    chosen = model.selection_
    assert [one.origin for one in chosen.table] == ["given"] + 3 * ["likelihood"]
    assert model.criterion_value_ == chosen.value == min(one.value for one in chosen.table)
    best = min(chosen.table, key=lambda one: one.value)
    assert (model.kernel_, chosen.factor) == (best.kernel, best.factor)
    path = ks.SVRPath(X, y, model.kernel_)
    assert path.scores(criterion).min() == pytest.approx(chosen.value, rel=1e-9)
    assert path.best(criterion) == (model.C_, model.epsilon_) == (chosen.C, chosen.epsilon)
    lengths = [one.kernel.length_scale for one in chosen.table[1:]]
    assert np.divide(lengths[2], lengths[0]) == pytest.approx(np.full(5, 2.0), rel=1e-9)
    assert str(chosen).count("\n") == 5
    alone = ks.SVR(model.kernel_, C=model.C_, epsilon=model.epsilon_).fit(X, y)
    assert np.array_equal(alone.predict(X), model.predict(X))
    fresh, _, truth = friedman(rng, 500)
    usual = ks.SVR(RBF("auto"), C=spread(y), epsilon=0.1 * spread(y)).fit(X, y)
    assert np.abs(model.predict(fresh) - truth).mean() < 0.8 * np.abs(usual.predict(fresh) - truth).mean()


def test_only_what_is_automatic_is_chosen(data):
    X, y, kernel = data
    auto = RBF("auto")
    both = ks.SVR(auto, C=3.0, epsilon=0.4).fit(X, y)
    assert both.kernel_ == kernel
    assert not hasattr(both, "selection_")
    assert (both.C_, both.epsilon_) == (3.0, 0.4)
    one = ks.SVR(auto, C="auto", epsilon=0.4, criterion="loo").fit(X, y)
    assert one.epsilon_ == 0.4
    assert one.selection_.table[0].scores.shape == (20, 1)
    other = ks.SVR(auto, lam=0.01, epsilon="auto").fit(X, y)
    assert abs(other.C_ - 1 / (2 * 60 * 0.01)) < 1e-12
    assert other.selection_.table[0].scores.shape == (1, 7)
    fixed = RBF(1.0, "fixed")
    known = ks.SVR(fixed, C="auto", epsilon="auto").fit(X, y)
    assert len(known.selection_.table) == 1
    assert known.kernel_ == fixed
    linear = ks.SVR(Linear("auto"), C="auto", epsilon="auto", criterion="loo").fit(X, y)
    assert [line.factor for line in linear.selection_.table] == [1.0, 1.0]  # no length scale of a distance
    given = ks.SVR("precomputed", C="auto", epsilon="auto").fit(fixed(X), y)
    assert (given.C_, given.epsilon_) == (known.C_, known.epsilon_)
    assert given.predict(fixed(X)) == pytest.approx(known.predict(X), rel=1e-9)
    known.set_params(C=1.0, epsilon=0.1).fit(X, y)
    assert not hasattr(known, "selection_")


def test_points_of_weight_zero_do_not_choose(data):
    X, y, _ = data
    model = ks.SVR(Matern("auto", nu=2.5), C="auto", epsilon="auto", criterion="loo")
    weights = np.ones(60)
    weights[40:] = 0
    kernel = Matern("auto", nu=2.5).for_data(X[:40], y[:40])
    with_zeros = clone(model).set_params(kernel=kernel).fit(X, y, weights)
    without = clone(model).set_params(kernel=kernel).fit(X[:40], y[:40])
    assert (with_zeros.C_, with_zeros.epsilon_) == (without.C_, without.epsilon_)
    # The kernels agree to rounding only, and the estimate jumps where a point comes to its bound: by some share.
    assert with_zeros.criterion_value_ == pytest.approx(without.criterion_value_, rel=1e-3)


def test_many_points_choose_the_kernel_by_some(rng, monkeypatch):
    X, y, _ = friedman(rng, 90)
    monkeypatch.setattr("kernsel.estimators.support.selection._FEW", 50)
    model = ks.SVR(C="auto", epsilon="auto", criterion="loo").fit(X, y)
    assert [one.n_points for one in model.selection_.table] == [50] * 4 + [90]
    assert model.criterion_value_ == model.selection_.table[-1].value
    best = min(model.selection_.table[:4], key=lambda one: one.value)
    assert model.kernel_ == best.kernel
    assert model.selection_.factor == best.factor


def test_more_is_tried_beyond_the_grid_if_it_pays(rng):
    X = rng.uniform(size=(30, 1))
    y = np.sin(6 * X[:, 0])  # no noise: the less epsilon, the better
    model = ks.SVR(RBF(0.3, "fixed"), C="auto", epsilon="auto").fit(X, y)
    tried = model.selection_.table[0]
    first = ks.SVRPath(X, y, RBF(0.3))
    assert len(tried.epsilons) > 7
    assert model.epsilon_ < first.epsilons[-1]
    assert model.criterion_value_ < 0.9 * first.scores("kfold").min()
    assert tried.scores == pytest.approx(
        ks.SVRPath(X, y, RBF(0.3), Cs=tried.Cs, epsilons=tried.epsilons, tol=1e-5).scores("kfold"), rel=0.2
    )


def test_constant_targets(data):
    X, _, _ = data
    for criterion in ("kfold", "loo"):
        model = ks.SVR(C="auto", epsilon="auto", criterion=criterion).fit(X, np.full(60, 3.0))
        assert np.array_equal(model.predict(X), np.full(60, 3.0))


def test_select_tries_other_models(data):
    X, y, _ = data
    kernels = [RBF("auto"), Matern("auto", nu=1.5), RBF("auto") + Linear("auto")]
    for estimator, names in ((ks.SVR(C="auto", epsilon="auto"), ["C", "epsilon"]), (ks.KernelRidge(alpha="auto"), ["alpha"])):
        found = ks.select(X, y, kernels, "loo", estimator=estimator)
        assert estimator.criterion != "loo"  # it stays what it was
        values = [one.value for one in found.tried]
        assert values == sorted(values)
        assert type(found.best_estimator_) is type(estimator)
        alone = clone(estimator).set_params(kernel=kernels[0], criterion="loo").fit(X, y)
        mine = next(one for one in found.tried if one.kernel == kernels[0])
        assert mine.value == alone.criterion_value_
        assert list(mine.others) == names
        assert mine.others[names[-1]] == getattr(alone, names[-1] + "_")
        assert np.array_equal(found.predict(X), found.best_estimator_.predict(X))
        lines = str(found).splitlines()
        assert lines[0].split() == ["kernel", "value", *names, "seconds"]
        assert lines[-1] == "smaller values of loo are better"
        with pytest.raises(TypeError, match="describe: expected a GaussianProcessRegressor"):
            found.describe()
    ridge = ks.select(X, y, kernels, estimator=ks.KernelRidge(alpha="auto", criterion="reml"))
    assert ridge.criterion.larger_is_better
    assert [one.value for one in ridge.tried] == sorted((one.value for one in ridge.tried), reverse=True)
    with pytest.raises(ValueError, match="estimator: expected one that chooses by a criterion"):
        ks.select(X, y, kernels, estimator=ks.SVR())
    with pytest.raises(TypeError, match="estimator: expected an estimator with a kernel"):
        ks.select(X, y, kernels, estimator=ks.SVR)
    with pytest.raises(ValueError, match="noise, trend: are of a Gaussian process"):
        ks.select(X, y, kernels, estimator=ks.SVR(C="auto"), noise=0.1)


def test_errors(data):
    X, y, kernel = data
    for change, message in (
        ({"C": "best"}, 'C: expected a number, positive, or "auto", got'),
        ({"epsilon": "best"}, "epsilon: expected a number, from 0 on"),
        ({"C": "auto", "criterion": "gcv"}, "criterion: expected one of kfold, loo, got 'gcv'"),
        ({"C": "auto", "scoring": "r2"}, "scoring: expected one of absolute, squared"),
        ({"C": "auto", "lam": 0.1}, 'lam: expected None with C="auto"'),
        ({"C": "auto", "folds": 1}, "folds: expected two folds at least, got 1"),
        (
            {"C": "auto", "kernel": "sigmoid", "coef0": -5.0, "gamma": 1.0, "criterion": "loo"},
            'criterion: "loo" needs a kernel',
        ),
    ):
        with pytest.raises(ValueError, match=message):
            ks.SVR(**({"kernel": RBF(1.0, "fixed")} | change)).fit(X, y)
    with pytest.raises(TypeError, match="folds: expected a number of folds, a splitter, got 'five'"):
        ks.SVR(RBF(1.0, "fixed"), C="auto", folds="five").fit(X, y)
    with pytest.raises(ValueError, match="nothing to choose them by, got n_samples = 1"):
        ks.SVR(C="auto").fit(X[:1], y[:1])
    for options, message in (
        ({"Cs": [0.0]}, "Cs: expected positive, finite numbers"),
        ({"epsilons": [-1.0]}, "epsilons: expected finite numbers from 0 on"),
        ({"Cs": []}, "Cs: expected positive"),
    ):
        with pytest.raises(ValueError, match=message):
            ks.SVRPath(X, y, kernel, **options)
    with pytest.raises(TypeError, match="kernel: expected a kernel of .* or text, got 3"):
        ks.SVRPath(X, y, 3)
    with pytest.raises(ValueError, match="y: expected a finite number for each of 60 points"):
        ks.SVRPath(X, y[:5], kernel)
    with pytest.raises(ValueError, match="X: expected a square kernel matrix"):
        ks.SVRPath(X, y, "precomputed")


def test_scikit_learns_checks():
    model = ks.SVR(C="auto", epsilon=0.1, criterion="loo", tol=0.01)
    check_estimator(model, expected_failed_checks=expected_failures(model), on_skip=None)
