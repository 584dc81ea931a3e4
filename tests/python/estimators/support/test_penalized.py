"""Kernel regressions by Huber's loss and of a quantile: against reference solutions, weights, bad input."""

import pickle

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import HuberRegressor, QuantileRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.kernels import RBF, Matern

import reference
from accuracy import of_function_within, rounding_of_sums


@parametrize_with_checks(
    [ks.KernelHuberRegressor("rbf", gamma=0.5, tol=1e-12), ks.KernelQuantileRegressor("rbf", gamma=0.5, tol=1e-12)]
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


def problem(rng, n=50):
    X = rng.uniform(-3, 3, (n, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)
    y[::7] += rng.choice([-3.0, 3.0], len(y[::7]))
    return X, y, np.where(np.arange(n) % 11 == 4, 0.0, rng.uniform(0.3, 2.0, n))


def huber(r, delta):
    return np.where(np.abs(r) <= delta, r**2 / 2, delta * np.abs(r) - delta**2 / 2)


def quantile(r, q):
    return np.maximum(q * r, (q - 1) * r)


@pytest.mark.parametrize("intercept", [True, False])
def test_hubers_objective_and_its_minimum(rng, intercept):
    X, y, w = problem(rng)
    kernel, alpha, delta = Matern(1.0, nu=1.5), 0.3, 0.2
    model = ks.KernelHuberRegressor(kernel, alpha=alpha, delta=delta, fit_intercept=intercept, tol=1e-10).fit(X, y, w)
    K, a = kernel(X), np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]

    def objective(a, b):
        return np.sum(w * huber(y - K @ a - b, delta)) + alpha * a @ K @ a / 2

    assert model.predict(X) == pytest.approx(K @ a + model.intercept_[0], abs=rounding_of_sums(K[0], a, model.intercept_))
    found = objective(a, model.intercept_[0])
    assert model.objective_ == pytest.approx(found, abs=rounding_of_sums(w * np.abs(y), alpha * np.outer(a, a) * K))
    assert model.duality_gap_ <= 1e-10 * model.objective_

    # The objective is smooth and convex: SciPy minimizes it over L'a.
    L = np.linalg.cholesky(K)

    def smooth(v):
        r = y - L @ v[:-1] - intercept * v[-1]
        slopes = w * np.clip(r, -delta, delta)
        gradient = np.append(alpha * v[:-1] - L.T @ slopes, -intercept * slopes.sum())
        return np.sum(w * huber(r, delta)) + alpha * v[:-1] @ v[:-1] / 2, gradient

    best = optimize.minimize(smooth, np.zeros(len(y) + 1), jac=True, options={"gtol": 1e-9, "maxiter": 1000})
    assert found <= best.fun + model.duality_gap_ + rounding_of_sums(w * np.abs(y))
    assert np.abs(a) == pytest.approx(np.clip(np.abs(a), 0, w * delta / alpha))
    # Where r is small, a = w r / alpha at the minimum. The dual is strongly concave: (a - a*)_i^2 alpha / 2 w_i <= gap / alpha.
    r = y - model.predict(X)
    small = np.abs(r) < 0.99 * delta
    limit = w.max() * of_function_within(model.duality_gap_, np.diag(K), alpha) + np.sqrt(2 * w.max() * model.duality_gap_)
    assert (alpha * a)[small] == pytest.approx((w * r)[small], abs=limit)


def test_a_large_delta_is_ridge_regression(rng):
    X, y, w = problem(rng)
    options = {"alpha": 0.3, "fit_intercept": True}
    ridge = ks.KernelRidge(RBF(1.0), **options).fit(X, y, w)
    for cache in (500.0, 0.01):
        huber = ks.KernelHuberRegressor(RBF(1.0), delta=1e3, tol=1e-10, cache_size=cache, **options).fit(X, y, w)
        assert huber.predict(X) == pytest.approx(ridge.predict(X), abs=1e-3 * np.sqrt(huber.objective_))


@pytest.mark.parametrize("q", [0.1, 0.5, 0.75])
def test_quantiles(rng, q):
    X, y, w = problem(rng)
    kernel, alpha = Matern(1.0, nu=1.5), 0.3
    model = ks.KernelQuantileRegressor(kernel, quantile=q, alpha=alpha, tol=1e-10).fit(X, y, w)
    K, a = kernel(X), np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    f = model.predict(X)
    primal = np.sum(w * quantile(y - f, q)) + alpha * a @ K @ a / 2
    assert model.objective_ == pytest.approx(primal, abs=rounding_of_sums(w * np.abs(y), alpha * np.outer(a, a) * K))
    expected, _ = reference.boxed(K, y, (q - 1) * w / alpha, q * w / alpha, 0.0, intercept=True)
    assert K @ a == pytest.approx(K @ expected, abs=1e-4)
    near = 1e-3  # how far the functions may be from a target that they go through
    assert w[y < f - near].sum() <= q * w.sum()
    assert w[y > f + near].sum() <= (1 - q) * w.sum()
    if q == 0.5:  # the median is the function of epsilon = 0, with half of C
        svr = ks.SVR(kernel, C=0.5 / alpha, epsilon=0.0, tol=1e-10).fit(X, y, w)
        assert f == pytest.approx(svr.predict(X), abs=1e-4)


def test_linear_functions_of_scikit_learn(rng):
    # Without the norm, by a small alpha: what scikit-learn's linear regressions minimize.
    X, y, _ = problem(rng)
    linear = QuantileRegressor(quantile=0.7, alpha=0.0).fit(X, y)
    ours = ks.KernelQuantileRegressor("linear", quantile=0.7, alpha=1e-6, tol=1e-10).fit(X, y)
    assert ours.coef_[0] == pytest.approx(linear.coef_, abs=1e-4)
    theirs = HuberRegressor(epsilon=1.35, alpha=0.0, tol=1e-10).fit(X, y)
    ours = ks.KernelHuberRegressor("linear", delta=1.35 * theirs.scale_, alpha=1e-6, tol=1e-10).fit(X, y)
    assert ours.coef_[0] == pytest.approx(theirs.coef_, abs=1e-4)
    assert ours.intercept_[0] == pytest.approx(theirs.intercept_, abs=1e-4)


@pytest.mark.parametrize("kind", [ks.KernelHuberRegressor, ks.KernelQuantileRegressor])
def test_units_matrices_and_copies(rng, kind):
    X, y, w = problem(rng)
    unit, name = 1e6, "delta" if kind is ks.KernelHuberRegressor else "quantile"
    value = {"delta": 0.2, "quantile": 0.7}[name]
    model = kind(RBF(1.0), **{name: value}, tol=1e-9).fit(X, y, w)
    scaled = kind(RBF(1.0), **{name: value * unit if name == "delta" else value}, alpha=1.0 if name == "delta" else 1 / unit)
    assert scaled.fit(X, y * unit, w).predict(X) / unit == pytest.approx(model.predict(X), abs=0.05)
    matrix = kind("precomputed", **{name: value}, tol=1e-9).fit(RBF(1.0)(X), y, w)
    assert matrix.predict(RBF(1.0)(X)) == pytest.approx(model.predict(X), abs=1e-3)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    flat = kind("rbf", **{name: value}).fit(sparse.csr_matrix(X), y)
    assert sparse.issparse(flat.dual_coef_)
    assert (kind().fit(X, np.full(len(y), 3.0)).predict(X) == 3.0).all()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ks.KernelHuberRegressor(delta=0.0), "delta: expected a positive number, got 0.0"),
        (ks.KernelHuberRegressor(delta=np.inf), "delta: expected a positive number, got inf"),
        (ks.KernelHuberRegressor(alpha=-1.0), "alpha: expected a positive number, got -1.0"),
        (ks.KernelHuberRegressor(alpha=5e-324), "alpha: 5e-324 is too small for these weights"),
        (ks.KernelQuantileRegressor(quantile=1.0), "quantile: expected a number between 0 and 1, got 1.0"),
        (ks.KernelQuantileRegressor(quantile="median"), "quantile: expected a number between 0 and 1, got 'median'"),
        (ks.KernelQuantileRegressor(fit_intercept=None), "fit_intercept: expected True or False"),
        (ks.KernelQuantileRegressor("rbff"), "kernel"),
    ],
)
def test_wrong_parameters(rng, model, message):
    X, y, _ = problem(rng, 20)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y)
