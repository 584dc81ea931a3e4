"""The path of support vector regression: each fit is the fit alone, in fewer steps."""

import pickle

import numpy as np
import pytest
from sklearn import svm
from sklearn.model_selection import KFold

import kernsel as ks
from kernsel.estimators.support.path import _start, spread
from kernsel.estimators.support.vectors import SupportVectors
from kernsel.kernels import RBF


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


def test_a_pickled_path_computes_what_it_computed(data):
    X, y, kernel = data
    path = ks.SVRPath(X, y, kernel, Cs=[1.0, 10.0], epsilons=[0.5])
    copy = pickle.loads(pickle.dumps(path))
    assert np.array_equal(copy.coefficients, path.coefficients)
    assert np.array_equal(copy.scores("loo"), path.scores("loo"))
    assert np.array_equal(copy.scores("kfold"), path.scores("kfold"))


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
