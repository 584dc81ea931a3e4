"""Sobol' indices as a user asks for them: all methods agree, with analytic values, with SALib; intervals; bad input."""

import numpy as np
import pytest
from scipy.stats import qmc
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel
from kernsel.sensitivity import Normal, Uniform, main_effects, sobol

CUBE = [(-np.pi, np.pi)] * 3


def ishigami(X):
    return np.sin(X[:, 0]) + 7 * np.sin(X[:, 1]) ** 2 + 0.1 * X[:, 2] ** 4 * np.sin(X[:, 0])


def of_ishigami():
    """Variance, first-order and total indices."""
    parts = np.array([0.5 * (1 + 0.1 * np.pi**4 / 5) ** 2, 49 / 8, 0.01 * np.pi**8 * 8 / 225])
    total = np.array([parts[0] + parts[2], parts[1], parts[2]])
    return parts.sum(), np.append(parts[:2], 0.0) / parts.sum(), total / parts.sum()


A = np.array([0.0, 1.0, 4.5])


def g_function(X):
    return np.prod((np.abs(4 * X - 2) + A) / (1 + A), axis=1)


def of_g_function():
    parts = 1 / (3 * (1 + A) ** 2)
    variance = np.prod(1 + parts) - 1
    return variance, parts / variance, parts * np.prod(1 + parts) / (1 + parts) / variance


@pytest.mark.parametrize(
    ("f", "inputs", "truth", "kernel", "n"),
    [(ishigami, CUBE, of_ishigami, "RBF", 256), (g_function, [(0, 1)] * 3, of_g_function, "auto", 200)],
)
def test_analytic_indices_by_a_dense_fit(f, inputs, truth, kernel, n):
    low, high = np.array(inputs).T
    X, Z = (qmc.scale(qmc.Halton(3, seed=seed).random(n), low, high) for seed in (0, 1))
    gp = ks.GaussianProcessRegressor(kernel, noise=0.0).fit(X, f(X))
    variance, first, total = truth()
    # Projections are contractions: each deviation is off by at most that of the model, and a share by four times as much.
    off = 4 * np.sqrt(np.mean((gp.predict(Z) - f(Z)) ** 2) / variance)
    assert off < 0.8
    found = sobol(gp, inputs, n_draws=0)
    np.testing.assert_allclose(found.first, first, rtol=0, atol=off)
    np.testing.assert_allclose(found.total, total, rtol=0, atol=off)
    by_sums = sobol(f, inputs)
    np.testing.assert_allclose(by_sums.first, first, rtol=0, atol=4 * by_sums.error)
    np.testing.assert_allclose(by_sums.total, total, rtol=0, atol=4 * by_sums.error)
    assert ((by_sums.first_interval[:, 0] <= first + 1e-9) & (first <= by_sums.first_interval[:, 1])).all()


def test_all_methods_agree(rng):
    X = rng.uniform(-1, 1, (30, 3))
    gp = ks.GaussianProcessRegressor(2.0 * RBF([0.7, 1.0, 2.0]), alpha=0.01, optimizer=None)
    gp.fit(X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]))
    inputs = [Uniform(-1, 1), Normal(0.0, 0.5), (-0.5, 1.0)]
    exact, nested, sampled = (
        sobol(gp, inputs, second_order=True, n_draws=0, method=method) for method in ("exact", "nested", "sampled")
    )
    assert [one.method for one in (exact, nested, sampled)] == ["exact", "nested", "sampled"]
    assert exact.error < 1e-3 * nested.error
    for one, slack in ((nested, 5), (sampled, 4)):
        for name in ("first", "total", "second"):
            np.testing.assert_allclose(getattr(one, name), getattr(exact, name), rtol=0, atol=slack * one.error)
        assert abs(one.mean - exact.mean) < 5 * one.error * exact.variance**0.5
    assert nested.error < 0.2 * sampled.error


def test_where_coefficients_cancel(rng):
    X = rng.uniform(-1, 1, (60, 2))
    gp = ks.GaussianProcessRegressor(1e4 * RBF(3.0), alpha="auto", optimizer=None).fit(X, X[:, 0] + X[:, 0] * X[:, 1])
    found = sobol(gp, [(-1, 1)] * 2, n_draws=0)
    assert found.method == "nested"
    assert "cancel" in found.reason
    # f is what was fitted, to the error of a fit without noise: x0 explains 1/3, both together 1/9.
    np.testing.assert_allclose(found.first, [0.75, 0.0], rtol=0, atol=5 * found.error + 1e-4)
    np.testing.assert_allclose(found.total, [1.0, 0.25], rtol=0, atol=5 * found.error + 1e-4)
    with pytest.raises(ValueError, match='method: "exact" is not to be had, large coefficients cancel'):
        sobol(gp, method="exact")


def test_salib():
    problem = {"num_vars": 3, "names": list("abc"), "bounds": CUBE}
    pytest.importorskip("SALib")
    from SALib.analyze import sobol as analyze
    from SALib.sample import sobol as sample

    theirs = analyze.analyze(problem, ishigami(sample.sample(problem, 1024, seed=1)), seed=1)
    ours = sobol(ishigami, dict(zip("abc", CUBE, strict=True)), second_order=True, n_samples=1024)
    assert ours.names == ["a", "b", "c"]
    np.testing.assert_allclose(ours.first, theirs["S1"], rtol=0, atol=2 * theirs["S1_conf"].max())
    np.testing.assert_allclose(ours.total, theirs["ST"], rtol=0, atol=2 * theirs["ST_conf"].max())
    upper = np.triu_indices(3, 1)
    np.testing.assert_allclose(ours.second[upper], theirs["S2"][upper], rtol=0, atol=2 * np.nanmax(theirs["S2_conf"]))


def test_intervals_are_those_of_draws(rng):
    X = rng.uniform(0, 1, (12, 2))
    gp = ks.GaussianProcessRegressor(RBF(0.6).on([0]) + 0.5 * RBF(0.8).on([1]), alpha=0.3, optimizer=None)
    gp.fit(X, 2 * X[:, 0] + np.sin(5 * X[:, 1]))
    found = sobol(gp, [(0, 1)] * 2, n_draws=400, level=0.8)
    # The function is a sum: its draws on a grid have variances along rows and columns.
    x, w = np.polynomial.legendre.leggauss(8)
    grid = np.array([(a, b) for a in (x + 1) / 2 for b in (x + 1) / 2])
    draws = gp.sample_y(grid, 400, noisy=False).reshape(8, 8, -1)
    w = w / 2
    parts = []
    for axis in (0, 1):
        curve = np.tensordot(w, draws, axes=(0, 1 - axis))
        parts.append(w @ (curve - w @ curve) ** 2)
    shares = parts[0] / (parts[0] + parts[1])
    # Two sets of 400 draws: ends of intervals differ by the standard errors of quantiles, some 1.7 / 400^(1/2) deviations each.
    atol = 4 * 2**0.5 * 1.7 * shares.std() / 400**0.5
    np.testing.assert_allclose(found.total_interval[0], np.quantile(shares, [0.1, 0.9]), rtol=0, atol=atol)
    assert found.first_interval.shape == (2, 2)
    text = str(found).splitlines()
    assert text[0].split() == ["input", "first", "total"]
    assert text[1].startswith("x0     0.")


def test_hyperparameters_that_are_drawn(rng):
    X = rng.uniform(0, 1, (12, 2))
    kernel = RBF([0.5, 0.5], "fixed")
    y = np.sin(4 * X[:, 0]) + X[:, 1]
    # A single amplitude is drawn: given it, the process is the one that follows, up to the factor of its deviations.
    drawn = ks.GaussianProcessRegressor(
        ConstantKernel(1.0) * kernel, noise=1e-6, hyperparameters="sample", criterion="evidence", n_draws=5
    )
    drawn.fit(X, y)
    found = sobol(drawn, [(0, 1)] * 2, n_draws=50, n_samples=1024)
    assert found.method == "sampled"
    assert found.reason == "predictions are means over draws of hyperparameters"
    known = ks.GaussianProcessRegressor(kernel, noise=1e-6, optimizer=None).fit(X, y)
    np.testing.assert_allclose(found.total, sobol(known, [(0, 1)] * 2, n_draws=0).total, rtol=0, atol=4 * found.error)
    assert (found.total_interval[:, 0] < found.total).all()
    assert (found.total < found.total_interval[:, 1]).all()
    assert main_effects(drawn, [(0, 1)] * 2, n_points=2, n_samples=16).std is None


def test_other_models_and_tables(rng):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rng.uniform(0, 1, (30, 2)), columns=["a", "b"])
    line = make_pipeline(StandardScaler(), LinearRegression()).fit(X, 3 * X["a"] + X["b"])
    found = sobol(line, {"b": (0, 1), "a": Uniform(0, 1)}, n_samples=256)
    assert found.names == ["a", "b"]
    np.testing.assert_allclose(found.first, [0.9, 0.1], rtol=0, atol=4 * found.error)
    selected = ks.select(X, X["a"] + X["b"] ** 2, ["RBF"])
    assert sobol(selected, n_draws=0).names == ["a", "b"]
    flat = sobol(lambda Z: np.ones(len(Z)), [(0, 1)], n_samples=16)
    assert (flat.variance, flat.first, flat.total) == (0.0, [0.0], [0.0])


@pytest.mark.parametrize(
    ("f", "options", "error", "message"),
    [
        (ishigami, {}, ValueError, "inputs: expected .* of a function, got None"),
        (ishigami, {"inputs": [(1, 0)]}, ValueError, "Uniform: expected two finite numbers, the lower first"),
        (ishigami, {"inputs": [(0, 1), "a"]}, TypeError, "inputs: expected .* for column 1, got 'a'"),
        (ishigami, {"inputs": 3.0}, TypeError, "inputs: .* got float"),
        (3, {}, TypeError, "f: expected a fitted regressor or a function of points, got int"),
        (lambda X: X, {"inputs": [(0, 1)] * 2}, ValueError, "output|f: expected"),
        (lambda X: X[:3, 0], {"inputs": [(0, 1)]}, ValueError, "f: expected one number for each of"),
        (lambda X: X[:, 0] * np.nan, {"inputs": [(0, 1)]}, ValueError, "f: expected finite numbers, got nan at the point"),
        (ishigami, {"inputs": CUBE, "method": "fast"}, ValueError, 'method: expected "auto", "exact", "nested" or "sampled"'),
        (ishigami, {"inputs": CUBE, "method": "exact"}, ValueError, "f is a function, and no model"),
        (ishigami, {"inputs": CUBE, "n_samples": 3}, ValueError, "n_samples: expected a whole number from 16 on, got 3"),
        (ishigami, {"inputs": CUBE, "level": 95}, ValueError, "level: expected a number between 0 and 1, got 95"),
        (ks.GaussianProcessRegressor(), {}, ValueError, "not fitted"),
    ],
)
def test_bad_input(f, options, error, message):
    if callable(f) and options.get("inputs") == [(0, 1)] * 2:
        options = options | {"output": 5}
    with pytest.raises(error, match=message):
        sobol(f, **options)


def test_models_with_columns_that_do_not_fit():
    gp = ks.GaussianProcessRegressor(RBF(1.0)).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="inputs: expected one for each of 1 columns, got 2"):
        sobol(gp, [(0, 1), (0, 1)])
    with pytest.raises(ValueError, match="inputs: expected one for each of the columns"):
        sobol(gp, {"z": (0, 1)})
    with pytest.raises(ValueError, match="Normal: expected a finite mean"):
        Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="output: expected the number of one of 1 targets, got 1"):
        sobol(gp, output=1)
    classifier = ks.GaussianProcessClassifier(RBF(1.0), optimizer=None).fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(TypeError, match="expected a regressor or a function, got a GaussianProcessClassifier; give what"):
        sobol(classifier)
    ridge = ks.KernelRidge("precomputed").fit(np.eye(3), [0.0, 1.0, 0.0])
    with pytest.raises(TypeError, match="fitted to columns of numbers, got one of a kernel matrix"):
        sobol(ridge)
