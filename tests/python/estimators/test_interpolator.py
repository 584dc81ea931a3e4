"""KernelInterpolator: through the data, with the least norm, and within the bound."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel import KernelInterpolator
from kernsel.estimators.interpolator import OF_SIZE, OF_SPREAD
from kernsel.kernels import RBF, Brownian, DotProduct, Exponential, HeteroscedasticNoise, Linear, Matern, WhiteKernel

EPS = np.finfo(float).eps


@parametrize_with_checks([KernelInterpolator(), KernelInterpolator(2.0 * Exponential(3.0)), KernelInterpolator(Matern(nu=2.5))])
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


def make(n, d, rng, targets=2):
    X = rng.uniform(0, 3, (n, d))
    return X, np.column_stack([np.sin(2 * X.sum(axis=1) + k) + k for k in range(targets)]), rng.uniform(0, 3, (7, d))


@pytest.mark.parametrize("kernel", [RBF(0.15), 3.0 * Matern([1.0, 0.7], nu=1.5), Exponential(1.0) + Linear()], ids=str)
@pytest.mark.parametrize("n", [1, 2, 40, 150])
def test_against_a_dense_solve(kernel, n, rng):
    X, Y, Z = make(n, 2, rng)
    K = kernel(X)
    model = KernelInterpolator(kernel).fit(X, Y)
    expected = np.linalg.solve(K, Y)
    limit = 16 * n * EPS * np.linalg.cond(K)
    assert limit < 1e-2
    assert model.dual_coef_ == pytest.approx(expected, abs=limit * np.abs(expected).max())
    assert model.predict(Z) == pytest.approx(kernel(Z, X) @ expected, abs=limit * np.abs(expected).max())
    # A residual is as small as the coefficients allow, whatever the condition number.
    assert model.predict(X) == pytest.approx(Y, abs=16 * n * EPS * np.abs(K).max() * np.abs(expected).sum())
    assert model.norm_ == pytest.approx(np.sqrt(np.sum(Y * expected, axis=0)), rel=limit)
    assert model.rank_ == n
    reference = np.sqrt(np.maximum(kernel.diag(Z) - np.sum(kernel(Z, X) * np.linalg.solve(K, kernel(X, Z)).T, axis=1), 0))
    assert model.power_function(Z) ** 2 == pytest.approx(reference**2, abs=limit * kernel.diag(Z).max())
    assert model.power_function(X) ** 2 == pytest.approx(np.zeros(n), abs=16 * n * EPS * kernel.diag(X).max())
    one = KernelInterpolator(kernel).fit(X, Y[:, 0])
    assert one.dual_coef_ == pytest.approx(model.dual_coef_[:, 0], abs=limit * np.abs(expected).max())
    assert isinstance(one.norm_, float)
    assert one.predict(Z).shape == (7,)


def test_against_a_gaussian_process(rng):
    X, Y, Z = make(25, 2, rng)
    theirs = GaussianProcessRegressor(kernels.RBF(0.5), optimizer=None, alpha=0.0).fit(X, Y[:, 0])
    mean, deviation = theirs.predict(Z, return_std=True)
    model = KernelInterpolator(kernels.RBF(0.5)).fit(X, Y[:, 0])  # kernels of scikit-learn are accepted
    limit = 16 * 25 * EPS * np.linalg.cond(RBF(0.5)(X)) * np.abs(model.dual_coef_).max()
    assert model.predict(Z) == pytest.approx(mean, abs=limit)
    assert model.power_function(Z) == pytest.approx(deviation, rel=1e-6)
    assert model.power_function(Z) == pytest.approx(ks.linalg.power_function(RBF(0.5), X, Z), rel=1e-6)


def test_the_norm_is_the_least(rng):
    X, Y, _ = make(12, 1, rng)
    kernel = Matern(1.0)
    model = KernelInterpolator(kernel).fit(X, Y[:, 0])
    for _ in range(10):  # any other function through the data: interpolate also somewhere else
        extra = rng.uniform(0, 3, (3, 1))
        other = KernelInterpolator(kernel).fit(np.vstack([X, extra]), np.append(Y[:, 0], 2 * rng.standard_normal(3)))
        assert other.predict(X) == pytest.approx(Y[:, 0], abs=1e-8)
        assert other.norm_ > model.norm_


@pytest.mark.parametrize("kernel", [RBF(0.7), Matern(1.0, nu=2.5), DotProduct(1.0)], ids=str)
def test_the_bound_holds_and_is_reached(kernel, rng):
    X, Z = rng.uniform(0, 3, (9, 2)), rng.uniform(-1, 4, (20, 2))
    X = X[:2] if isinstance(kernel, DotProduct) else X  # of rank 3
    centres, weights = rng.uniform(0, 3, (6, 2)), rng.standard_normal((6, 2))
    norms = np.sqrt(np.sum(weights * (kernel(centres) @ weights), axis=0))
    model = KernelInterpolator(kernel).fit(X, kernel(X, centres) @ weights)
    off = np.abs(kernel(Z, centres) @ weights - model.predict(Z))
    bound = model.error_bound(Z, norms)
    assert bound.shape == (20, 2)
    assert (off <= bound + 1e-9).all()
    assert (off > 1e-3).any()  # so the bound is tried
    assert (model.error_bound(Z, norms.max()) >= bound - 1e-12).all()
    # At z, by the function that takes all of its norm to leave the interpolant there.
    for z in Z[:4]:
        u = np.append(-np.linalg.solve(kernel(X), kernel(X, z[None]))[:, 0], 1.0)  # of k(., x_i) and k(., z); vanishes at X
        points, t = np.vstack([X, z[None]]), 0.8
        norm = np.sqrt(model.norm_**2 + t**2 * (u @ kernel(points) @ u))
        away = abs(t * (kernel(z[None], points) @ u)[0])
        assert model.error_bound(z[None], norm)[0] == pytest.approx([away, away], rel=1e-5)
    assert model.error_bound(Z, 2**0.5 * model.norm_) == pytest.approx(np.outer(model.power_function(Z), model.norm_), rel=1e-6)
    assert np.array_equal(model.error_bound(Z), model.error_bound(Z, 2**0.5 * model.norm_))
    assert model.error_bound(Z, model.norm_) == pytest.approx(np.zeros((20, 2)), abs=0)


def test_norms_that_no_function_has(rng):
    X, Y, Z = make(10, 1, rng)
    model = KernelInterpolator(Matern(1.0)).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"norm: every function through the data has a norm of .* or more, got 0.1"):
        model.error_bound(Z, 0.1)
    for bad in (np.nan, [1.0, 2.0]):
        with pytest.raises(ValueError, match="norm: expected a finite number, or one for each target"):
            model.error_bound(Z, bad)


@pytest.mark.parametrize("kernel", [RBF(1.0), Matern(1.0), Brownian()], ids=str)
def test_equal_points(kernel, rng):
    X, Y, Z = make(8, 1, rng)
    order = np.array([3, 0, 1, 2, 3, 4, 5, 6, 7, 3, 0])
    model, once = KernelInterpolator(kernel).fit(X[order], Y[order]), KernelInterpolator(kernel).fit(X, Y)
    limit = 1e3 * EPS * np.linalg.cond(kernel(X))
    assert model.predict(Z) == pytest.approx(once.predict(Z), abs=limit * np.abs(once.dual_coef_).max())
    assert model.norm_ == pytest.approx(once.norm_, rel=limit)
    assert model.power_function(Z) ** 2 == pytest.approx(once.power_function(Z) ** 2, abs=limit)
    assert model.rank_ == 8
    assert model.dual_coef_.shape == (11, 2)
    assert (model.dual_coef_[[4, 9, 10]] == 0).all()
    reference = ks.linalg.minimum_norm_interpolant(kernel(X[order]), Y[order])
    assert reference.feasible
    assert model.norm_ == pytest.approx(reference.norm, rel=1e-6)
    y = Y[order]
    y[9, 1] += 0.5
    with pytest.raises(ValueError, match=r"y: no function goes through different values at equal points, such as 0 and 9: .*"):
        KernelInterpolator(kernel).fit(X[order], y)


def test_points_that_are_equal_to_the_kernel(rng):
    X = np.column_stack([np.repeat(np.arange(6.0), 2), rng.standard_normal(12)])
    kernel = Matern(1.0).on([0])
    y = np.repeat(rng.standard_normal(6), 2)
    model = KernelInterpolator(kernel).fit(X, y)
    assert model.rank_ == 6
    assert model.predict(X) == pytest.approx(y, abs=1e-12)
    assert model.norm_ == pytest.approx(KernelInterpolator(Matern(1.0)).fit(X[::2, :1], y[::2]).norm_)
    y[7] += 1.0
    with pytest.raises(
        ValueError, match=r"takes these values, to rounding: its matrix has rank 6 at 12 points; .* [67] \(by 0.5"
    ):
        KernelInterpolator(kernel).fit(X, y)


def test_kernels_of_finite_rank(rng):
    X, Z = rng.standard_normal((20, 3)), rng.standard_normal((5, 3))
    kernel, theta = DotProduct(2.0), np.array([1.0, -2.0, 0.5])
    y = X @ theta + 4.0
    model = KernelInterpolator(kernel).fit(X, y)
    assert model.rank_ == 4
    assert model.predict(Z) == pytest.approx(Z @ theta + 4.0, rel=1e-9)
    # Of functions theta'x + b, the squared norm is |theta|^2 + b^2 / sigma_0^2.
    assert model.norm_ == pytest.approx(np.sqrt(theta @ theta + 16 / 4))
    assert model.power_function(Z) == pytest.approx(np.zeros(5), abs=1e-6)
    assert model.error_bound(Z, 10.0) == pytest.approx(np.zeros(5), abs=1e-5)
    reference = ks.linalg.minimum_norm_interpolant(kernel(X), y)
    assert model.dual_coef_ == pytest.approx(reference.dual_coef, abs=1e-9)
    for offset in (0.0, 1e5):  # a large mean does not hide it
        with pytest.raises(
            ValueError, match=r"y: no function of the kernel DotProduct\(2\) takes these values.*rank 4 at 20 points"
        ):
            KernelInterpolator(kernel).fit(X, y + offset + rng.standard_normal(20))
    few = KernelInterpolator(kernel).fit(X[:3], y[:3])
    assert few.rank_ == 3
    assert few.predict(X[:3]) == pytest.approx(y[:3])


def test_a_pivot_that_is_positive_by_rounding_only(rng):
    for _ in range(40):  # the last pivot of a matrix of rank n - 1 has a random sign
        X = rng.standard_normal((4, 2))
        model = KernelInterpolator(DotProduct(1.0)).fit(X, X @ [1.0, 2.0] + 1.0)
        assert model.rank_ == 3
        assert model.norm_ == pytest.approx(6**0.5, rel=1e-9)


def test_matrices_that_are_singular_to_rounding():
    X = np.linspace(0, 1, 200).reshape(-1, 1)
    Z = np.array([[0.1234], [0.77]])
    for f in (lambda x: np.sin(5 * x), np.ones_like, lambda x: 1e4 + x):  # functions that the kernel's come close to
        y = f(X[:, 0])
        model = KernelInterpolator(RBF(0.3)).fit(X, y)
        assert model.rank_ < 40
        assert model.rank_ == ks.linalg.minimum_norm_interpolant(RBF(0.3)(X), y).rank
        allowed = OF_SPREAD * np.linalg.norm(y - y.mean()) + OF_SIZE * np.linalg.norm(y)
        assert np.linalg.norm(model.predict(X) - y) <= allowed
        assert model.predict(Z) == pytest.approx(f(Z[:, 0]), abs=allowed)
    with pytest.raises(ValueError, match=r"y: no function of the kernel .*A rougher kernel, or a shorter length scale"):
        KernelInterpolator(RBF(0.3)).fit(X, np.abs(X[:, 0] - 0.5))
    assert KernelInterpolator(Matern(0.3)).fit(X, np.abs(X[:, 0] - 0.5)).rank_ == 200


@pytest.mark.parametrize("noise", [WhiteKernel(1e-6), HeteroscedasticNoise(lambda X: 0.1 + X[:, 0])], ids=["white", "other"])
def test_noise_is_refused(noise, rng):
    X, Y, _ = make(10, 2, rng)
    with pytest.raises(ValueError, match=r"kernel: .* has noise, and no function of it goes through the data"):
        KernelInterpolator(RBF(1.0) + noise).fit(X, Y)


def test_the_default_works_in_any_unit(rng):
    X, Y, Z = make(100, 3, rng)
    units, origin = np.array([1e-9, 1.0, 1e9]), np.array([1.0, 2.0, 0.0])
    model, moved = KernelInterpolator().fit(X, Y), KernelInterpolator().fit((X + origin) * units, Y)
    assert moved.predict((Z + origin) * units) == pytest.approx(model.predict(Z), rel=1e-8, abs=1e-8)
    assert model.kernel_.length_scale == pytest.approx(X.std(axis=0) * 3**0.5)


def test_with_the_rest_of_scikit_learn(rng):
    table = pd.DataFrame(rng.uniform(0, 3, (60, 2)), columns=["a", "b"])
    y = np.sin(table["a"]) * table["b"]
    model = KernelInterpolator(Matern("auto").on(["a"]) * Matern("auto").on(["b"])).fit(table, y)
    assert model.score(table, y) == pytest.approx(1)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(table), model.predict(table))
    assert np.array_equal(again.power_function(table), model.power_function(table))
    assert np.array_equal(again.error_bound(table, 1e3), model.error_bound(table, 1e3))
    with pytest.raises(ValueError, match="feature names"):
        model.power_function(table[["b", "a"]])
    grid = {"kernel__nu": [0.5, 2.5], "kernel__length_scale": [0.3, 1.0]}
    search = GridSearchCV(KernelInterpolator(Matern(1.0)), grid, cv=3, error_score="raise").fit(table, y)
    assert search.best_params_["kernel__nu"] == 2.5
    assert search.best_score_ > 0.95
    assert clone(model).kernel == model.kernel


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("rbf", "kernel: there is no kernel 'rbf'.*did you mean RBF"),
        (RBF, "kernel: expected a kernel"),
        (2.0, "kernel: expected a kernel"),
        (RBF([1.0, 2.0]), "one length scale, or one for each column"),
    ],
)
def test_bad_kernels(kernel, message, rng):
    X, Y, _ = make(10, 3, rng)
    with pytest.raises((TypeError, ValueError), match=message):
        KernelInterpolator(kernel).fit(X, Y)
