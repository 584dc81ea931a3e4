"""The posterior of a Gaussian process: means, variances, gradients and leave-one-out, against dense formulas and refits."""

import tracemalloc

import numpy as np
import pytest
from pairs import pairwise
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as sk
from statsmodels.regression.linear_model import GLS

import kernsel as ks
from kernsel._solve import posterior
from kernsel.kernels import RBF, DotProduct, Matern, RationalQuadratic, WhiteKernel

import reference
from processes import EPS, SIGNAL, TRENDS, assert_same_model, basis, limit_of, noise_of, waves

GP = ks.GaussianProcessRegressor


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)
    return X, y, rng.uniform(size=(15, 2))


@pytest.mark.parametrize(("trend", "kind", "outputs"), pairwise(TRENDS, ["one", "vector", "white"], [1, 2]))
def test_posterior_by_the_kriging_system(data, trend, kind, outputs):
    X, y, Z = data
    Y = np.column_stack([y, X[:, 0] ** 2 - y])[:, :outputs]
    noise, kernel, diagonal = noise_of(kind, len(X))
    white = 0.02 if kind == "white" else 0.0
    K = reference.gram(reference.multiply(reference.constant(1.5), reference.rbf([0.3, 0.5])), X) + np.diag(diagonal)
    cross, own = SIGNAL(X, Z), SIGNAL(Z) + white * np.eye(len(Z))
    mean, cov, _ = reference.kriging(K, cross, SIGNAL(Z), basis(trend, X), basis(trend, Z), Y)
    cov += own - SIGNAL(Z)
    limit = limit_of(K, Y)

    gp = GP(kernel, optimizer=None, noise=noise, alpha=0.0, trend=trend).fit(X, Y if outputs == 2 else Y[:, 0])
    found, covariance = gp.predict(Z, return_cov=True)
    assert found.shape == ((15, 2) if outputs == 2 else (15,))
    assert found.reshape(15, -1) == pytest.approx(mean, abs=limit)
    for of_output in covariance.reshape(15, 15, -1).transpose(2, 0, 1):
        assert of_output == pytest.approx(cov, abs=limit)
    same, std = gp.predict(Z, return_std=True)
    assert np.array_equal(same, found)
    assert std.reshape(15, -1)[:, 0] ** 2 == pytest.approx(np.diag(cov), abs=limit)
    if kind != "vector":
        noisy = gp.predict(Z, return_std=True, noisy=True)[1].reshape(15, -1)[:, 0]
        assert noisy**2 == pytest.approx(np.diag(cov) + (0.0 if white else 0.02), abs=limit)
        joint = gp.predict(Z, return_cov=True, noisy=True)[1].reshape(15, 15, -1)[..., 0]
        assert joint == pytest.approx(cov + (0.0 if white else 0.02) * np.eye(15), abs=limit)
    if trend is not None:
        assert gp.beta_.reshape(-1, outputs)[:, 0] == pytest.approx(GLS(y, basis(trend, X), sigma=K).fit().params, abs=limit)

    # More points than are taken at a time.
    times = -(-2 * posterior._core.columns_at_a_time(40) // len(Z))
    many = np.tile(Z, (times, 1))
    off = np.resize(std, (times, *std.shape)) - gp.predict(many, return_std=True)[1].reshape(times, *std.shape)
    assert np.abs(off).max() <= limit


def test_posterior_of_scikit_learn(data):
    X, y, Z = data
    Y = np.column_stack([y, np.cos(y)])
    kernel = sk.ConstantKernel(1.5) * sk.Matern([0.3, 0.5], nu=1.5) + sk.WhiteKernel(0.01)
    for alpha in (0.01, np.linspace(0.01, 0.1, 40)):
        for normalize in (False, True):
            for targets in (y, Y):
                ours = GP(kernel, alpha=alpha, optimizer=None, normalize_y=normalize).fit(X, targets)
                theirs = Theirs(kernel, alpha=alpha, optimizer=None, normalize_y=normalize).fit(X, targets)
                limit = limit_of(kernel(X), Y)
                for option in ("return_std", "return_cov"):
                    for a, b in zip(ours.predict(Z, **{option: True}), theirs.predict(Z, **{option: True}), strict=True):
                        assert a.shape == b.shape
                        assert a == pytest.approx(b, abs=limit)
                assert ours.alpha_ == pytest.approx(theirs.alpha_, abs=100 * limit)
                assert np.abs(ours.L_ - theirs.L_).max() < limit
                assert ours.y_train_ == pytest.approx(theirs.y_train_.reshape(ours.y_train_.shape), abs=limit)
                value = ours.log_marginal_likelihood_value_
                assert value == pytest.approx(theirs.log_marginal_likelihood_value_, abs=100 * limit)


def test_many_points_take_little_memory(rng):
    X, Z = rng.uniform(size=(300, 3)), rng.uniform(size=(100_000, 3))
    gp = GP(RBF(0.5), noise=0.01, optimizer=None, trend="linear").fit(X, np.column_stack([X[:, 0], X[:, 1] ** 2]))
    gp.predict(Z[:10], return_std=True)
    tracemalloc.start()
    gp.predict(Z, return_std=True)
    gp.predict_gradient(Z[:20_000], return_std=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120e6  # the matrix alone: 240 MB


DIFFERENTIABLE = {
    "rbf": SIGNAL,
    "product": Matern([0.4, 0.6], nu=2.5, product=True) + WhiteKernel(0.1),
    "dot product": RationalQuadratic(0.5, 1.3) * DotProduct(0.7),
    "polynomial": DotProduct(1.2) ** 2 + 0.3 * RBF(0.2).on([1]),
}


@pytest.mark.parametrize(("name", "trend", "outputs"), pairwise(DIFFERENTIABLE, TRENDS, [1, 2]))
def test_gradients_by_differences(data, name, trend, outputs):
    X, y, Z = data
    kernel = DIFFERENTIABLE[name]
    Y = np.column_stack([y, X[:, 1] ** 3])[:, :outputs]
    gp = GP(kernel, optimizer=None, noise=0.05, alpha=0.0, trend=trend, normalize_y=True).fit(X, Y)
    of_mean, of_std = (part.reshape(15, 2, outputs) for part in gp.predict_gradient(Z, return_std=True))
    assert gp.predict_gradient(Z).reshape(15, 2, outputs) == pytest.approx(of_mean, abs=1e-14)
    for i in (0, 7):
        for k in range(outputs):
            for part, which in ((of_mean, 0), (of_std, 1)):

                def f(z, which=which, k=k):
                    return gp.predict(z[None], return_std=True)[which].reshape(outputs)[k]

                expected, error = reference.central_differences(f, Z[i], 1e-4)
                assert part[i, :, k] == pytest.approx(expected, abs=float(10 * error.max() + 1e-9))


def test_the_gradient_of_a_trend_of_ones_own_where_points_are_zero(data):
    X, _, _ = data
    gp = GP(RBF(0.3), optimizer=None, noise=1e3, trend=lambda Z: np.column_stack([np.ones(len(Z)), Z[:, 0] + 1.0]))
    gp.fit(X, 2 + 3 * X[:, 0])
    for z in (0.0, 1e-12, 1e3):
        assert gp.predict_gradient([[z, 0.0]])[0] == pytest.approx([3.0, 0.0], abs=1e-6)


@pytest.mark.parametrize("kind", ["one", "vector", "white"])
@pytest.mark.parametrize("trend", [None, "linear", waves])
def test_leaving_out_by_refitting(data, trend, kind):
    X, y, _ = data
    Y = np.column_stack([y, y**2])
    noise, kernel, diagonal = noise_of(kind, len(X))
    gp = GP(kernel, optimizer=None, noise=noise, alpha=0.0, trend=trend).fit(X, Y)
    K, H = SIGNAL(X), basis(trend, X)
    limit = limit_of(K + np.diag(diagonal), Y)
    for i in range(0, 40, 7):
        mean, cov = reference.predict_without(K, diagonal, H, Y, np.array([i]))
        assert gp.loo_residuals_[i] == pytest.approx(Y[i] - mean[0], abs=limit)
        assert gp.loo_std_[i] ** 2 == pytest.approx(np.full(2, cov[0, 0]), abs=limit)
        rest = np.delete(np.arange(40), i)
        part = noise if np.ndim(noise) == 0 else noise[rest]
        refit = GP(kernel, optimizer=None, noise=part, alpha=0.0, trend=trend).fit(X[rest], Y[rest])
        assert gp.loo_residuals_[i] == pytest.approx(Y[i] - refit.predict(X[i : i + 1])[0], abs=limit)
    assert gp.leverage_ == pytest.approx(np.diag(reference.smoother(K, diagonal, H)), abs=limit)


def test_leaving_out_where_the_trend_needs_every_point():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    gp = GP(RBF(1.0), trend="linear").fit(X, [1.0, 3.0, 2.0])
    assert gp.predict([[0.5, 0.5]]) == pytest.approx([2.5])
    for name in ("loo_residuals_", "loo_std_"):
        with pytest.raises(ValueError, match="without point 0, 1, 2 it is not determined"):
            getattr(gp, name)
    assert gp.leverage_ == pytest.approx(np.ones(3))


@pytest.mark.parametrize(
    ("trend", "kind", "scale"), pairwise([None, "linear", waves], ["one", "vector", "white"], ["shared", "each"])
)
def test_updates_are_refits(data, trend, kind, scale):
    X, y, Z = data
    Y = np.column_stack([y, y**2])
    noise, kernel, diagonal = noise_of(kind, len(X))
    limit = limit_of(SIGNAL(X) + np.diag(diagonal), Y, 1000)
    options = {"optimizer": None, "alpha": 0.003, "trend": trend, "scale": scale, "criterion": "reml"}

    def fitted(rows):
        return GP(kernel, noise=noise if np.ndim(noise) == 0 else noise[rows], **options).fit(X[rows], Y[rows])

    gp = fitted(np.arange(30))
    assert gp.leverage_.shape == (30,)  # kept, and to be renewed
    gp.update(X[30:37], Y[30:37], noise=noise[30:37] if kind == "vector" else None)
    gp.update(X[37:], Y[37:], noise=noise[37:] if kind == "vector" else None)
    assert_same_model(gp, fitted(np.arange(40)), Z, limit)
    gp.downdate(3).downdate(-1).downdate(0)
    assert_same_model(gp, fitted(np.setdiff1d(np.arange(40), [0, 3, 39])), Z, limit)
    gp.update(X[:1], Y[:1], noise=noise[:1] if kind == "vector" else None)
    assert len(gp.X_train_) == 38


def test_the_covariance_at_the_data_agrees_with_the_standard_deviation(data):
    X, y, _ = data
    gp = GP(RBF(0.5), optimizer=None, trend="constant").fit(X, y)
    std, cov = gp.predict(X, return_std=True)[1], gp.predict(X, return_cov=True)[1]
    assert (std >= gp.jitter_**0.5).all()
    assert (np.diag(cov) >= gp.jitter_).all()
    assert np.diag(cov) == pytest.approx(std**2, abs=40 * 64 * EPS)


@pytest.fixture
def many(rng):
    X = rng.uniform(size=(700, 3))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(700)


def test_memory_is_looked_at_first(monkeypatch):
    X = np.arange(400_000.0)[:, None]
    monkeypatch.setattr(posterior._core, "available_memory", lambda: 2**34)
    tracemalloc.start()
    for optimizer in ("auto", None):
        with pytest.raises(MemoryError, match=r"400000 points need 596 GiB .* 16 GiB"):
            GP(RBF(), optimizer=optimizer, approximation=None, verbose=1).fit(X, X[:, 0] % 7)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
