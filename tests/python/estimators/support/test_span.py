"""Leaving out by the span of support vectors."""

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit

import kernsel as ks
from kernsel._data.folds import labels_of_folds
from kernsel.estimators.support.span import left_out_residuals
from kernsel.estimators.support.vectors import SupportVectors
from kernsel.kernels import RBF, WhiteKernel

EPS = np.finfo(float).eps


def friedman(rng, n, outliers=0.0, noise=1.0):
    X = rng.uniform(size=(n, 5))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, f + noise * rng.standard_normal(n) + (rng.random(n) < outliers) * 20 * rng.standard_normal(n), f


@pytest.fixture
def data(rng):
    X, y, _ = friedman(rng, 60, 0.1)
    return X, y, RBF("auto").for_data(X, y)


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
    assert path.loo_residuals(0, 0, np.arange(len(y))) == pytest.approx(expected, abs=tolerance)  # each alone


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_groups_by_the_pseudo_inverse(data, rng, intercept, told, noise):
    X, y, kernel = data
    X = np.vstack([X, X[:6]])
    y = np.append(y, y[:6] + 0.5)
    kernel = kernel + WhiteKernel(noise, "fixed") if noise else kernel
    path = ks.SVRPath(X, y, kernel, Cs=[20.0], epsilons=[0.5], fit_intercept=intercept, tol=1e-10)
    a, K, Z = path.coefficients[0, 0], kernel(X), kernel(X, X)
    labels = rng.integers(0, 15, len(y)) if told else np.append(np.arange(60), np.arange(6))
    free = (a != 0) & (np.abs(a) < 20)
    expected = y - K @ a - path.intercepts[0, 0]
    for label in np.unique(labels):
        own, F = np.flatnonzero(labels == label), np.flatnonzero(free & (labels != label))
        one = np.ones((len(F), 1)) if intercept else np.zeros((len(F), 0))
        M = np.block([[K[np.ix_(F, F)], one], [one.T, np.zeros((one.shape[1],) * 2)]])
        V = np.vstack([Z[np.ix_(F, own)], np.ones((one.shape[1], len(own)))])
        expected[own] += (K[np.ix_(own, own)] - V.T @ np.linalg.pinv(M, rcond=1e-13) @ V) @ a[own]
    found = path.loo_residuals(0, 0, labels if told else None)
    assert found == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_copied_points_do_not_make_the_error_small(rng):
    X, y, _ = friedman(rng, 50)
    kernel = RBF("auto").for_data(X, y)
    for criterion in ("loo", "kfold"):
        scores = [
            ks.SVRPath(np.tile(X, (m, 1)), np.tile(y, m), kernel, Cs=[20.0 / m], epsilons=[0.5], tol=1e-8).scores(criterion)
            for m in (1, 2)
        ]
        assert scores[1] == pytest.approx(scores[0], rel=1e-2)


def test_repeated_rows_are_said(rng, tmp_path):
    X, y, _ = friedman(rng, 20)
    svr = ks.SVR(RBF(1.0, "fixed"), C="auto", epsilon=0.5).fit(np.vstack([X, X[:3]]), np.append(y, y[:3]))
    assert svr.selection_.remarks == [
        "3 of 23 rows have the inputs of an earlier one, and its target: equal rows are left out together."
    ]
    assert svr.selection_.remarks[0] in str(svr.selection_)
    ks.save(svr, tmp_path / "svr.ksl")
    assert ks.load(tmp_path / "svr.ksl").selection_.remarks == svr.selection_.remarks
    assert ks.SVR(RBF(1.0, "fixed"), C="auto", epsilon=0.5).fit(X, y).selection_.remarks == []


def test_folds_and_groups_of_the_fit(rng):
    X, y, _ = friedman(rng, 60)
    groups = np.arange(60) // 6
    labels = labels_of_folds(5, X, y, groups)
    options = {"C": "auto", "epsilon": 0.5, "folds": labels}
    by_labels = ks.SVR(RBF(1.0, "fixed"), **options).fit(X, y)
    in_groups = ks.SVR(RBF(1.0, "fixed"), **options | {"folds": 5}).fit(X, y, groups=groups)
    assert in_groups.criterion_value_ == by_labels.criterion_value_
    by_time = ks.SVR(RBF(1.0, "fixed"), **options | {"folds": TimeSeriesSplit(4)}).fit(X, y)
    assert by_time.criterion_value_ > by_labels.criterion_value_  # it learns from fewer
    out = ks.SVR(RBF(1.0, "fixed"), C="auto", epsilon=0.5, criterion="loo").fit(X, y, groups=groups)
    path = ks.SVRPath(X, y, RBF(1.0), Cs=[out.C_], epsilons=[0.5])
    assert out.criterion_value_ == pytest.approx(path.scores("loo", groups=groups).item(), rel=1e-2)


def test_the_intercept_stays_if_no_other_point_is_free():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 10.0, 0.0, 10.0])
    path = ks.SVRPath(X, y, RBF(0.5), Cs=[0.1], epsilons=[0.1], tol=1e-12)
    a = path.coefficients[0, 0]
    assert np.abs(a).tolist() == [0.1] * 4
    assert path.loo_residuals(0, 0) == pytest.approx(y - RBF(0.5)(X) @ a - path.intercepts[0, 0] + a, rel=1e-14)
    nothing = ks.SVRPath(X, y, RBF(0.5), Cs=[0.1], epsilons=[6.0])
    assert nothing.n_support.tolist() == [[0]]
    assert nothing.scores("loo").item() == 5.0
