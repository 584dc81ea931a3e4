"""The solver behind SVR, against an interior point method, from any start."""

import numpy as np
import pytest
from pairs import pairwise

import kernsel as ks
from kernsel.estimators.support.svr import SupportVectors
from kernsel.kernels import RBF, ConstantKernel, Exponential, Linear, Polynomial, WhiteKernel

import reference

EPS = np.finfo(float).eps


def problem(rng, n, spread=0.1):
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + spread * rng.standard_normal(n)


def rounding(K, y, C, found):
    """Return how far rounding may move the objective: each residual by some units of f and y, times its C; and the square."""
    f = np.abs(K) @ np.abs(found.a)
    return 8 * len(y) * EPS * np.sum((np.abs(found.a) + C * (np.abs(found.a) > 0)) * (f + np.abs(y) + abs(found.intercept)))


def assert_right(found, K, y, C, epsilon, intercept, tol):
    """Check a solution by NumPy alone: its bounds, its objective and its gap, and what is exactly zero."""
    C = np.broadcast_to(C, y.shape)
    a, b = found.a, found.intercept
    assert (np.abs(a) <= C).all()
    assert abs(a.sum()) <= 4 * len(y) * EPS * np.abs(a).sum() if intercept else b == 0.0
    primal, dual = reference.support_objectives(K, y, C, epsilon, a, b)
    slack = rounding(K, y, C, found)
    assert found.objective == pytest.approx(primal, rel=1e-9, abs=slack)
    assert found.gap == pytest.approx(primal - dual, rel=1e-6, abs=slack)
    assert found.gap >= 0.0
    assert found.converged
    assert found.gap <= max(tol, 1e-9) * found.objective + slack
    return np.abs(y - K @ a - b) < epsilon - np.sqrt(2 * (found.gap + slack) * np.diag(K).max()) - 1e-9 * np.abs(y).max()


def compare(found, K, y, C, epsilon, intercept, tol):
    """Check a solution against the reference: the objective, and the function, which is strongly convex in the norm of K."""
    assert_right(found, K, y, C, epsilon, intercept, tol)
    a, _ = reference.support_vectors(K, y, C, epsilon, intercept)
    slack = rounding(K, y, np.broadcast_to(C, y.shape), found) + 1e-9 * found.objective
    slack += 8 * EPS * np.sum(np.minimum(C, np.abs(y).max() / np.diag(K).min()) * (np.abs(y) + epsilon))  # of the reference
    dual = a @ y - a @ K @ a / 2 - epsilon * np.abs(a).sum()  # at most the least objective, and that to 1e-9
    assert dual - slack <= found.objective <= dual + found.gap + slack
    limit = np.sqrt(2 * (found.gap + 2 * slack) * np.diag(K).max()) + np.sqrt(2e-9 * found.objective * np.diag(K).max())
    assert np.abs(K @ (found.a - a)).max() <= limit


@pytest.mark.core
@pytest.mark.parametrize(
    ("n", "C", "epsilon", "intercept"),
    pairwise([1, 2, 3, 40], [1e-6, 1e-2, 1.0, 100.0, 1e8], [0.0, 0.1, 0.5, 10.0], [True, False]),
)
def test_against_an_interior_point_method(rng, n, C, epsilon, intercept):
    X, y = problem(rng, n)
    kernel = Exponential(0.5)  # whose matrix has no small eigenvalues, so that the largest C are bearable
    found = SupportVectors(kernel, X).solve(y, C, epsilon, fit_intercept=intercept, tol=1e-8)
    compare(found, ks.gram(kernel, X), y, C, epsilon, intercept, 1e-8)
    assert found.rows == n


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", [RBF(1.0), RBF(0.5) + WhiteKernel(0.3), Polynomial(2, 1.0), Linear() + ConstantKernel(2.0)])
def test_weights_and_equal_points(rng, kernel, intercept):
    X, y = problem(rng, 40)
    X[20:30] = X[:10]  # the same points with other values,
    X[30:], y[30:] = X[:10], y[:10]  # and with the same
    C = 3.0 * np.where(np.arange(40) % 7 == 3, 0.0, rng.uniform(0.01, 5.0, 40))
    found = SupportVectors(kernel, X).solve(y, C, 0.05, fit_intercept=intercept, tol=1e-9)
    compare(found, ks.gram(kernel, X), y, C, 0.05, intercept, 1e-9)
    assert (found.a[C == 0] == 0.0).all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [300, 1200])
@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_rows_that_come_and_go(rng, n, epsilon, intercept):
    X, y = problem(rng, n, 0.2)
    kernel = RBF(1.0) + WhiteKernel(0.01)
    K = ks.gram(kernel, X)
    options = {"C": 3.0, "epsilon": epsilon, "fit_intercept": intercept, "tol": 1e-7}
    whole = SupportVectors(kernel, X).solve(y, **options)
    inside = assert_right(whole, K, y, 3.0, epsilon, intercept, 1e-7)
    assert (whole.a[inside] == 0.0).all()
    assert n / 4 < whole.rows <= n
    for shrinking in (True, False):
        paged = SupportVectors(kernel, X, 0.1).solve(y, **options, shrinking=shrinking)
        inside = assert_right(paged, K, y, 3.0, epsilon, intercept, 1e-7)
        assert inside.any()
        assert (paged.a[inside] == 0.0).all()
        assert paged.objective == pytest.approx(whole.objective, rel=2e-7)
        assert paged.rows > n / 4
        limit = 2 * np.sqrt(2e-7 * whole.objective * K.max())
        assert K @ (paged.a - whole.a) == pytest.approx(np.zeros(n), abs=limit)


@pytest.mark.parametrize("cache", [500.0, 0.1])
def test_warm_starts(rng, cache):
    X, y = problem(rng, 600, 0.2)
    kernel = RBF(1.0)
    K = ks.gram(kernel, X)
    solver = SupportVectors(kernel, X, cache)
    found, steps, cold = None, 0, 0
    for C in (2.0, 2.4, 3.0):
        for epsilon in (0.28, 0.26, 0.24, 0.22, 0.2):
            start = None if found is None else found.a
            found = solver.solve(y, C, epsilon, start=start, tol=1e-6)
            assert_right(found, K, y, C, epsilon, True, 1e-6)
            steps += found.iterations
            alone = SupportVectors(kernel, X, cache).solve(y, C, epsilon, tol=1e-6)
            assert found.objective == pytest.approx(alone.objective, rel=2e-6)
            cold += alone.iterations
    assert steps < 0.9 * cold
    smaller = solver.solve(y, 0.1, epsilon, start=found.a)  # most of it out of its bounds
    assert_right(smaller, K, y, 0.1, epsilon, True, 1e-4)
    lopsided = solver.solve(y, 1.0, epsilon, start=np.full(600, 1e9))
    assert_right(lopsided, K, y, 1.0, epsilon, True, 1e-4)
    for start in (np.zeros(5), np.full(600, np.nan)):
        with pytest.raises(ValueError, match="start: expected 600 finite numbers"):
            solver.solve(y, 1.0, epsilon, start=start)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_start_at_the_solution_is_the_solution(rng, intercept):
    X, y = problem(rng, 600, 0.2)
    solver = SupportVectors(RBF(1.0), X)
    found = solver.solve(y, 3.0, 0.2, fit_intercept=intercept, tol=1e-6)
    again = solver.solve(y, 3.0, 0.2, fit_intercept=intercept, start=found.a, tol=1.1e-6)
    assert again.iterations == 0
    assert again.a == pytest.approx(found.a, abs=8 * EPS * 3.0)


def machines(rng, n):
    """Yield y, lower, upper, epsilon and total of problems of all kinds, with weights, some of them zero."""
    w = np.where(np.arange(n) % 7 == 3, 0.0, rng.uniform(0.2, 2.0, n))
    y, zeros = rng.standard_normal(n), np.zeros(n)
    labels = np.where(y + rng.standard_normal(n) > 0, 1.0, -1.0)
    yield labels, np.minimum(3.0 * w * labels, 0.0), np.maximum(3.0 * w * labels, 0.0), 0.0, 0.0  # two classes
    yield y, -0.2 * w, 1.8 * w, 0.0, 0.0  # a quantile
    yield y, -0.2 * w, 1.8 * w, 0.1, 0.0
    yield zeros, zeros, w, 0.0, 0.3 * w.sum()  # one class


@pytest.mark.parametrize("cache", [500.0, 0.1])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_bounds_of_all_kinds(rng, cache, intercept, noise):
    n = 40
    X = rng.standard_normal((n, 2))
    kernel, added = Exponential(0.5), noise * rng.uniform(0.5, 2.0, n)
    K = ks.gram(kernel, X) + np.diag(added)
    for y, lower, upper, epsilon, total in machines(rng, n):
        if total and not intercept:
            continue
        solver = SupportVectors(kernel, X, cache, added if noise else None)
        found = solver.between(y, lower, upper, epsilon, total=total, fit_intercept=intercept, tol=1e-9)
        a, b = found.a, found.intercept
        assert (lower <= a).all()
        assert (a <= upper).all()
        assert a.sum() == pytest.approx(total, abs=4 * n * EPS * np.abs(a).sum()) if intercept else b == 0.0
        primal, dual = reference.machine_objectives(K, y, lower, upper, epsilon, a, b, total)
        slack = 8 * n * EPS * np.sum((np.abs(a) + upper - lower) * (np.abs(K) @ np.abs(a) + np.abs(y) + abs(b)))
        assert found.objective == pytest.approx(primal, abs=slack)
        assert found.gap == pytest.approx(primal - dual, abs=slack)
        assert found.converged
        assert found.gap <= 1e-9 * abs(primal) + slack
        expected, _ = reference.boxed(K, y, lower, upper, epsilon, intercept, total)
        limit = 2 * np.sqrt(2e-9 * abs(primal) * K.max()) + slack
        assert K @ a == pytest.approx(K @ expected, abs=limit)


def test_bounds_that_cannot_be(rng):
    X, y = problem(rng, 5)
    ones = np.ones(5)
    for lower, upper, noise, message in (
        (ones, 2 * ones, None, "bounds must be finite, with lower <= 0 <= upper"),
        (-ones, ones, -ones, "noise must be finite, not negative"),
        (-ones, ones, ones[:3], "one number for each point"),
    ):
        with pytest.raises(ValueError, match=message):
            SupportVectors(RBF(1.0), X, noise=noise).between(y, lower, upper)
    with pytest.raises(ValueError, match="the sum must be between zero and the sum of the upper bounds"):
        SupportVectors(RBF(1.0), X).between(0 * y, -ones, ones, total=5.1)
