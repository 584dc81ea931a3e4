"""GaussianProcessRegressor: the numbers against dense formulas, the manners of scikit-learn, and what is refused."""

import importlib.util
import os
import pickle
import signal
import sys
import time
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import pytest
from pairs import pairwise
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as sk
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from statsmodels.regression.linear_model import GLS

import kernsel as ks
from kernsel._solve import posterior
from kernsel.criteria import CRITERIA
from kernsel.criteria.names import criterion_named
from kernsel.kernels import RBF, ConstantKernel, DotProduct, Matern, Parameter, RationalQuadratic, WhiteKernel
from kernsel.kernels.priors import LogNormal

import reference

GP = ks.GaussianProcessRegressor
EPS = float(np.finfo(float).eps)


@parametrize_with_checks(
    [
        GP(),
        GP(RBF() + WhiteKernel(), criterion="loo"),
        GP(None, trend="linear"),
        GP(RBF(), noise="auto", alpha=0.1, scale="each", criterion="reml"),
    ]
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


def waves(X):
    return np.column_stack([np.ones(len(X)), np.sin(3 * X[:, 0]), X[:, 1]])


def basis(trend, X):
    """Return a trend's functions, written out."""
    if trend is None:
        return np.zeros((len(X), 0))
    if callable(trend):
        return trend(X)
    one, (a, b) = np.ones(len(X)), X.T
    return np.column_stack({"constant": [one], "linear": [one, a, b], "quadratic": [one, a, b, a * a, a * b, b * b]}[trend])


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)
    return X, y, rng.uniform(size=(15, 2))


SIGNAL = 1.5 * RBF([0.3, 0.5])
TRENDS = [None, "constant", "linear", "quadratic", waves]


def noise_of(kind, n):
    """Return the noise argument, the kernel and the diagonal that they give."""
    vector = np.linspace(0.01, 0.05, n)
    return {
        "one": (0.02, SIGNAL, np.full(n, 0.02)),
        "vector": (vector, SIGNAL, vector),
        "white": (None, SIGNAL + WhiteKernel(0.02), np.full(n, 0.02)),
    }[kind]


def limit_of(K, y, factor=64):
    """Return what rounding may do to predictions: the condition of the matrix, its size, and y."""
    return float(factor * len(K) * EPS * np.linalg.cond(K) * max(1.0, np.abs(y).max()))


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
    assert np.resize(std, (times, *std.shape)).reshape(len(many), -1) == pytest.approx(
        gp.predict(many, return_std=True)[1].reshape(len(many), -1), abs=limit
    )


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


ATTRIBUTES = ["X_train_", "y_train_", "alpha_", "beta_", "noise_", "jitter_", "scale_", "log_marginal_likelihood_value_", "L_"]
ATTRIBUTES += ["loo_residuals_", "loo_std_", "leverage_"]


def assert_same_model(one, other, Z, limit):
    for name in ATTRIBUTES:
        a, b = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        assert a.shape == b.shape, name
        assert a == pytest.approx(b, abs=limit * max(1.0, float(np.abs(b).max(initial=0.0)))), name
    for option in ("return_std", "return_cov"):
        for a, b in zip(one.predict(Z, **{option: True}), other.predict(Z, **{option: True}), strict=True):
            assert a == pytest.approx(b, abs=limit)


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


def test_updates_in_the_units_of_y(data):
    X, y, Z = data
    y = 100 + 30 * y
    gp = GP(SIGNAL, optimizer=None, noise=0.02, alpha=0.0, normalize_y=True).fit(X[:30], y[:30]).update(X[30:], y[30:])
    centre, unit = y[:30].mean(), y[:30].std()
    other = GP(SIGNAL, optimizer=None, noise=0.02, alpha=0.0).fit(X, (y - centre) / unit)
    mean, std = other.predict(Z, return_std=True)
    found = gp.predict(Z, return_std=True)
    assert found[0] == pytest.approx(centre + unit * mean, rel=1e-10)
    assert found[1] == pytest.approx(unit * std, rel=1e-10)
    mixed = GP(SIGNAL, optimizer=None, noise=0.02, alpha=0.0).fit(X[:30], y[:30]).update(X[30:], y[30:], noise=0.5)
    noise = np.repeat([0.02, 0.5], [30, 10])
    assert np.array_equal(mixed.noise_, noise)
    assert_same_model(mixed, GP(SIGNAL, optimizer=None, noise=noise, alpha=0.0).fit(X, y), Z, 1e-7)
    with pytest.raises(ValueError, match="noise: give the variances for the new points"):
        mixed.update(Z[:1], [0.0])
    with pytest.raises(ValueError, match="noisy: noise differs from point to point"):
        mixed.predict(Z, return_std=True, noisy=True)


def only_some(X):
    if len(X) and X[:, 0].max() > 2:
        raise RuntimeError("no trend here")
    return np.ones((len(X), 1))


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (([[0.5, 0.5], "twin"], [1.0, 9.0]), ValueError, "points 3 and 21 are equal, but their values differ"),
        (([[0.5, 0.5], [3.0, 0.0]], [1.0, 2.0]), RuntimeError, "no trend here"),
        (([[0.5, 0.5]], [1.0, 2.0]), ValueError, r"y: expected shape \(1,\), got \(2,\)"),
        (([[0.5, 0.5]], [np.nan]), ValueError, "Input y contains NaN"),
        (([[0.5, np.inf]], [1.0]), ValueError, "Input X contains infinity"),
        (([[0.5]], [1.0]), ValueError, "X has 1 features"),
        (([[0.5, 0.5]], [1.0], -1.0), ValueError, "noise: expected finite numbers that are not negative, got -1.0"),
        (([[0.5, 0.5]], [1.0], [0.1, 0.2]), ValueError, r"noise must be .* \(shape \(2,\) for 1 points\)"),
    ],
)
def test_a_failed_update_changes_nothing(data, bad, error, message):
    X, y, Z = data
    gp = GP(Matern([0.3, 0.5], nu=1.5), optimizer=None, trend=only_some).fit(X[:20], y[:20])
    before = pickle.loads(pickle.dumps(gp))
    points = [X[3] if isinstance(point, str) else point for point in bad[0]]
    with pytest.raises(error, match=message):
        gp.update(np.array(points), bad[1], **({"noise": bad[2]} if len(bad) > 2 else {}))
    assert_same_model(gp, before, Z, 0.0)


def test_a_singular_update_changes_nothing(data):
    X, y, Z = data
    gp = GP(DotProduct(1.0), optimizer=None, alpha=0.0).fit(X[:3], y[:3])  # of rank 3
    before = pickle.loads(pickle.dumps(gp))
    with pytest.raises(ks.NotPositiveDefiniteError, match=r"row [34]"):
        gp.update(np.vstack([X[3:6], X[3:6]]), np.append(y[3:6], y[3:6]))
    assert_same_model(gp, before, Z, 0.0)


def test_a_failed_fit_leaves_the_last_one(data):
    X, y, Z = data
    gp = GP(DotProduct(1.0), optimizer=None, alpha=0.0, normalize_y=True).fit(X[:3], y[:3])
    before = gp.predict(Z)
    with pytest.raises(np.linalg.LinAlgError):
        gp.fit(X, 100 * y)
    assert np.array_equal(gp.predict(Z), before)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_samples(data, unit):
    X, y, Z = data
    Y = unit * np.column_stack([y, y**2])
    gp = GP(ConstantKernel(unit**2) * SIGNAL, optimizer=None, noise=0.02 * unit**2).fit(X, Y)
    Z, count = np.vstack([Z[:6], X[:2]]), 20_000
    draws = gp.sample_y(Z, count, random_state=3)
    assert draws.shape == (8, 2, count)
    mean, cov = gp.predict(Z, return_cov=True)
    std = np.sqrt(np.diag(cov[..., 0]))
    for k in range(2):
        assert np.abs((draws[:, k].mean(axis=1) - mean[:, k]) / std).max() < 5 / np.sqrt(count)
        # The variance of an empirical covariance is (c_ij^2 + c_ii c_jj) / count, at most 2 c_ii c_jj / count.
        assert np.abs((np.cov(draws[:, k]) - cov[..., k]) / np.outer(std, std)).max() < 5 * np.sqrt(2 / count)
    assert np.array_equal(gp.sample_y(Z, 5, random_state=0), gp.sample_y(Z, 5))
    assert not np.array_equal(gp.sample_y(Z, 5, random_state=0), gp.sample_y(Z, 5, random_state=1))
    assert gp.sample_y(Z, 0).shape == (8, 2, 0)
    one = GP(SIGNAL, optimizer=None).fit(X, y).sample_y(X, 3)  # at the data there is nothing left to vary
    assert one == pytest.approx(np.repeat(y[:, None], 3, axis=1), abs=1e-4)


def test_before_fitting(data):
    _, _, Z = data
    gp = GP(SIGNAL + WhiteKernel(0.1), noise=0.3, n_targets=2)
    mean, cov = gp.predict(Z, return_cov=True)
    assert mean.shape == (15, 2)
    assert not mean.any()
    assert cov[..., 1] == pytest.approx(SIGNAL(Z) + 0.1 * np.eye(15), abs=1e-15)
    assert gp.predict(Z, return_std=True)[1] == pytest.approx(np.full((15, 2), 1.6**0.5))
    assert gp.predict(Z, return_std=True, noisy=True)[1] == pytest.approx(np.full((15, 2), 1.9**0.5))
    draws = gp.sample_y(Z[:3], 20_000)
    assert draws.shape == (3, 2, 20_000)
    assert np.abs(np.cov(draws[:, 0]) - cov[:3, :3, 0]).max() < 5 * 1.6 * np.sqrt(2 / 20_000)
    assert GP().predict(Z).shape == (15,)
    calls = [lambda: gp.predict_gradient(Z), lambda: gp.update(Z, Z), lambda: gp.downdate(0)]
    calls += [lambda: gp.log_marginal_likelihood(), lambda: gp.log_marginal_likelihood([0.0])]
    calls += [lambda name=name: getattr(gp, name) for name in ("L_", "loo_residuals_", "loo_std_", "leverage_")]
    for call in calls:
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("scale", ["shared", "each"])
@pytest.mark.parametrize("criterion", ["lml", "reml"])
def test_likelihood_and_its_gradient(data, criterion, scale):
    X, y, _ = data
    Y = np.column_stack([y, 3 * y**2])
    gp = GP(SIGNAL + WhiteKernel(0.1), optimizer=None, noise=0.05, criterion=criterion, trend="linear", scale=scale).fit(X, Y)
    name = criterion if scale == "shared" else f"profiled_{criterion}"
    H = basis("linear", X)

    def value(theta):
        k = gp.kernel_.clone_with_theta(theta)
        return reference.criterion(name, k(X), np.full(40, 0.05), H, Y, scale=scale)

    theta = gp.kernel_.theta + 0.1
    found, gradient = gp.log_marginal_likelihood(theta, eval_gradient=True)
    assert found == pytest.approx(value(theta), abs=1e-9)
    expected, error = reference.central_differences(value, theta, 1e-4)
    assert gradient == pytest.approx(expected, abs=float(10 * error.max() + 1e-7))
    assert gp.log_marginal_likelihood(theta) == found
    assert gp.log_marginal_likelihood() == gp.log_marginal_likelihood_value_ == pytest.approx(gp.criterion_value_, abs=1e-9)
    assert gp.log_marginal_likelihood(gp.kernel_.theta) == pytest.approx(gp.log_marginal_likelihood_value_, abs=1e-9)
    with pytest.raises(ValueError, match="theta: expected 4 numbers, got shape"):
        gp.log_marginal_likelihood(theta[:1])
    with pytest.raises(ValueError, match="Gradient can only be evaluated"):
        gp.log_marginal_likelihood(eval_gradient=True)
    before = gp.kernel_
    gp.log_marginal_likelihood(theta)
    assert gp.kernel_ is before
    gp.log_marginal_likelihood(theta, clone_kernel=False)
    assert gp.kernel_.theta == pytest.approx(theta)


def test_likelihood_of_scikit_learn(data):
    X, y, _ = data
    kernel = sk.ConstantKernel(1.5) * sk.RBF([0.3, 0.5])
    ours, theirs = (kind(kernel, alpha=0.01, optimizer=None).fit(X, y) for kind in (GP, Theirs))
    for theta in (kernel.theta, kernel.theta + np.array([1.0, -0.5, 0.3])):
        for a, b in zip(*(gp.log_marginal_likelihood(theta, eval_gradient=True) for gp in (ours, theirs)), strict=True):
            assert a == pytest.approx(b, rel=1e-8)


def test_likelihood_where_there_is_none(data):
    X, y, _ = data
    gp = GP(RBF(0.05), alpha=0.0, optimizer=None).fit(X, y)
    assert gp.log_marginal_likelihood([20.0]) == -np.inf
    value, gradient = gp.log_marginal_likelihood([20.0], eval_gradient=True)
    assert value == -np.inf
    assert not gradient.any()


OPTIONS = {
    "both unknown": {"kernel": ConstantKernel("auto") * RBF("auto"), "noise": "auto"},
    "noise known": {"kernel": ConstantKernel("auto") * RBF("auto"), "noise": 0.01},
    "noise of each point": {"kernel": RBF("auto"), "noise": np.linspace(0.005, 0.02, 40)},
    "alpha besides": {"kernel": ConstantKernel("auto") * RBF("auto"), "noise": "auto", "alpha": 0.005},
    "alpha of each point": {"kernel": RBF("auto"), "noise": "auto", "alpha": np.linspace(0.001, 0.01, 40)},
    "white": {"kernel": ConstantKernel("auto") * RBF("auto") + WhiteKernel("auto")},
}


def rounding_of(gp):
    """Return the relative error that a criterion may have."""
    K = gp.kernel_(gp.X_train_) + np.diag(gp.posterior_.noise)
    eigenvalues = np.linalg.eigvalsh(K)
    return float(10 * len(K) * EPS * eigenvalues[-1] / abs(eigenvalues[0]))


@pytest.mark.parametrize(("name", "case"), pairwise(CRITERIA, OPTIONS))
def test_what_every_criterion_chooses(name, case, data):
    X, y, _ = data
    criterion = ks.criteria.UnbiasedRisk(sigma=0.1) if name == "risk" else name
    gp = GP(criterion=criterion, trend="constant", **OPTIONS[case]).fit(X, y)
    assert gp.selection_.ended == "converged"
    known = not isinstance(OPTIONS[case].get("noise", "auto"), str)
    total = gp.posterior_.noise
    if not name.startswith("profiled"):  # which take what is given relative to the kernel, see below
        alpha = OPTIONS[case].get("alpha", 0.0)
        assert total == pytest.approx(np.broadcast_to(gp.noise_ + alpha + gp.jitter_, (40,)), rel=1e-12)
        if known:
            assert np.array_equal(gp.noise_, OPTIONS[case]["noise"])

    def value(theta, factor=1.0):
        noise = total + (factor - 1) * np.asarray(gp.noise_)
        noise = float(noise[0]) if np.ptp(noise) == 0 else noise
        return ks.evaluate(criterion, gp.kernel_.clone_with_theta(theta), X, y, noise=noise, trend="constant").value

    theta, best, rounding = gp.kernel_.theta, value(gp.kernel_.theta), rounding_of(gp)
    assert gp.criterion_value_ == pytest.approx(best, rel=max(1e-9, rounding))
    # Nothing near is better, but for what the search calls converged, and for rounding.
    sign = 1 if criterion_named(criterion, {}).larger_is_better else -1
    slack = (1e-5 if sign > 0 else 1e-5 * abs(best)) + rounding * abs(best)
    lower, upper = gp.kernel_.bounds.T
    for i in range(0 if gp.selection_.scale == 1 else 1, len(theta)):  # the first is that factor, and no hyperparameter
        for step in (-0.05, 0.05):
            moved = theta.copy()
            moved[i] = np.clip(theta[i] + step, min(lower[i], theta[i]), max(upper[i], theta[i]))
            assert sign * (value(moved) - best) < slack, (i, step)
    for step in () if known else (0.95, 1.05):
        assert sign * (value(theta, step) - best) < slack, step


def test_alpha_counts_while_noise_is_sought(rng):
    X = np.linspace(0, 6, 200)[:, None]
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(200)
    alone = GP(ConstantKernel("auto") * RBF("auto"), noise="auto").fit(X, y)
    for alpha in (0.04, np.full(200, 0.04)):
        beside = GP(ConstantKernel("auto") * RBF("auto"), noise="auto", alpha=alpha).fit(X, y)
        assert beside.noise_ + 0.04 == pytest.approx(alone.noise_, rel=1e-3)
        assert str(beside.kernel_).count("White") == 0
        assert beside.predict(X) == pytest.approx(alone.predict(X), abs=1e-3)


def test_a_noise_known_up_to_a_factor(data):
    X, y, Z = data
    gp = GP(Matern([0.5, 1.0], nu=2.5), noise=0.02, criterion="profiled_lml").fit(X, y)
    K = Matern([0.5, 1.0], nu=2.5).clone_with_theta(gp.kernel_.k2.theta)(X) + 0.02 * np.eye(40)
    scale = y @ np.linalg.solve(K, y) / 40
    assert float(gp.kernel_.k1.constant_value) == pytest.approx(scale, rel=1e-9)
    assert gp.noise_ == pytest.approx(0.02 * scale, rel=1e-9)
    assert gp.predict(X) == pytest.approx(y - 0.02 * np.linalg.solve(K, y), abs=1e-9)
    noisy, plain = (gp.predict(Z, return_std=True, noisy=noisy)[1] for noisy in (True, False))
    assert noisy**2 - plain**2 == pytest.approx(np.full(15, 0.02 * scale), rel=1e-6)


@pytest.mark.parametrize("criterion", ["lml", "reml", "loo", "loo_log_density", "gcv", "kfold"])
@pytest.mark.parametrize("noise", ["auto", 0.0])
def test_bounds_of_an_amplitude_do_not_tear_it_from_the_noise(data, criterion, noise):
    X, y, Z = data
    y = 10 * y
    bounded = ConstantKernel(1.0, (0.5, 2.0))
    gp = GP(bounded * Matern("auto", nu=1.5), noise=noise, criterion=criterion, trend="constant").fit(X, y)
    level = float(gp.posterior_.noise[0])
    value = ks.evaluate(criterion, gp.kernel_, X, y, noise=level, trend="constant").value
    assert gp.criterion_value_ == pytest.approx(value, rel=max(1e-9, rounding_of(gp)))
    within = gp.kernel_ if criterion in ("lml", "reml", "loo_log_density") else gp.kernel_.k2
    assert 0.5 <= within.k1.constant_value <= 2.0
    free = GP(ConstantKernel("auto") * Matern("auto", nu=1.5), noise=noise, criterion=criterion, trend="constant").fit(X, y)
    if criterion in ("loo", "gcv", "kfold"):  # which do not see the amplitude
        assert gp.criterion_value_ == pytest.approx(free.criterion_value_, rel=1e-3)
        assert gp.predict(Z) == pytest.approx(free.predict(Z), abs=0.3)
    else:
        assert gp.criterion_value_ < free.criterion_value_


@pytest.mark.parametrize("criterion", ["lml", "reml"])
def test_a_scale_for_each_output(data, criterion):
    X, y, Z = data
    Y = np.column_stack([y, 1e3 * y**2, 1e-3 * np.cos(3 * y)])
    gp = GP(RBF("auto"), noise="auto", scale="each", trend="linear", criterion=criterion).fit(X, Y)
    K, H = gp.kernel_(X) + (gp.noise_ + gp.jitter_) * np.eye(40), basis("linear", X)
    rest = Y - H @ np.column_stack([GLS(column, H, sigma=K).fit().params for column in Y.T])
    expected = np.sum(rest * np.linalg.solve(K, rest), axis=0) / (37 if criterion == "reml" else 40)
    assert gp.scale_ == pytest.approx(expected, rel=1e-8)
    std = gp.predict(Z, return_std=True)[1]
    cov = gp.predict(Z, return_cov=True)[1]
    for k in range(3):
        alone = GP(
            ConstantKernel(expected[k]) * gp.kernel_, optimizer=None, noise=expected[k] * gp.noise_, alpha=0.0, trend="linear"
        ).fit(X, Y[:, k])
        assert gp.predict(Z)[:, k] == pytest.approx(alone.predict(Z), rel=1e-6)
        assert std[:, k] == pytest.approx(alone.predict(Z, return_std=True)[1], rel=1e-6)
        assert np.sqrt(np.diag(cov[..., k])) == pytest.approx(std[:, k], rel=1e-9)
        assert gp.loo_std_[:, k] == pytest.approx(alone.loo_std_, rel=1e-6)
    value = reference.criterion(f"profiled_{criterion}", K, np.zeros(40), H, Y, scale="each")
    assert gp.log_marginal_likelihood_value_ == pytest.approx(value, abs=1e-6)
    assert gp.criterion_value_ == pytest.approx(value, abs=1e-6)
    again = GP(RBF("auto"), noise="auto", scale="each", trend="linear", criterion=criterion).fit(X, Y * [1e3, 1e-3, 10.0])
    assert again.predict(Z) == pytest.approx(gp.predict(Z) * [1e3, 1e-3, 10.0], rel=1e-6)


def test_noisy_and_normalized(data):
    X, y, Z = data
    y = 1000 + 50 * y
    kernel = ConstantKernel("auto") * RBF("auto")
    one = GP(kernel, noise="auto", normalize_y=True).fit(X, y)
    centre, unit = y.mean(), y.std()
    other = GP(kernel, noise="auto").fit(X, (y - centre) / unit)
    found, expected = one.predict(Z, return_std=True), other.predict(Z, return_std=True)
    assert found[0] == pytest.approx(centre + unit * expected[0], rel=1e-9)
    assert found[1] == pytest.approx(unit * expected[1], rel=1e-9)
    assert one.loo_residuals_ == pytest.approx(unit * other.loo_residuals_, rel=1e-9)
    assert one.loo_std_ == pytest.approx(unit * other.loo_std_, rel=1e-9)
    assert one.predict_gradient(Z) == pytest.approx(unit * other.predict_gradient(Z), rel=1e-9)
    wrapped = TransformedTargetRegressor(GP(kernel, noise="auto"), transformer=StandardScaler()).fit(X, y)
    assert wrapped.predict(Z) == pytest.approx(one.predict(Z), rel=1e-9)
    plain, noisy = (one.predict(Z, return_std=True, noisy=noisy)[1] for noisy in (False, True))
    assert noisy**2 - plain**2 == pytest.approx(np.full(15, one.noise_ * unit**2), rel=1e-9)
    sum_of = GP(SIGNAL, optimizer=None, noise=0.02, alpha=0.03).fit(X, y)
    plain, noisy = (sum_of.predict(Z, return_std=True, noisy=noisy)[1] for noisy in (False, True))
    assert noisy**2 - plain**2 == pytest.approx(np.full(15, 0.05), rel=1e-9)
    vector = GP(SIGNAL, optimizer=None, alpha=np.linspace(0.01, 0.02, 40)).fit(X, y)
    with pytest.raises(ValueError, match="noisy: alpha differs from point to point"):
        vector.predict(Z, return_std=True, noisy=True)


def test_the_covariance_at_the_data_agrees_with_the_standard_deviation(data):
    X, y, _ = data
    gp = GP(RBF(0.5), optimizer=None, trend="constant").fit(X, y)
    std, cov = gp.predict(X, return_std=True)[1], gp.predict(X, return_cov=True)[1]
    assert (std >= gp.jitter_**0.5).all()
    assert (np.diag(cov) >= gp.jitter_).all()
    assert np.diag(cov) == pytest.approx(std**2, abs=40 * 64 * EPS)


def test_copies(data):
    X, y, Z = data
    mine = X.copy()
    gp = GP(SIGNAL, optimizer=None, noise=0.1).fit(mine, y)
    before = gp.predict(Z)
    assert not np.shares_memory(gp.X_train_, mine)
    mine[:] = 0
    assert np.array_equal(gp.predict(Z), before)
    assert np.shares_memory(GP(SIGNAL, optimizer=None, noise=0.1, copy_X_train=False).fit(X, y).X_train_, X)


def test_inputs_of_many_kinds(data):
    X, y, Z = data
    X, y, Z = np.round(8 * X), np.round(8 * y), np.round(8 * Z)
    _, first = np.unique(X, axis=0, return_index=True)
    X, y = X[np.sort(first)], y[np.sort(first)]
    expected = GP().fit(X, y).predict(Z, return_std=True)
    frame = pd.DataFrame(X, columns=["a", "b"])
    kinds = [
        (X.astype(int), y.astype(int)),
        (X.astype(object), y.astype(object)),
        (X.astype(np.float32), y.astype(np.float32)),
        (np.asfortranarray(X), y[:, None]),
        (np.repeat(X, 2, axis=0)[::2], np.repeat(y, 2)[::2]),
        (X.tolist(), y.tolist()),
        (frame, pd.Series(y)),
    ]
    for points, targets in kinds:
        gp = GP().fit(points, targets)
        at = pd.DataFrame(Z, columns=["a", "b"]) if points is frame else Z
        for a, b in zip(gp.predict(at, return_std=True), expected, strict=True):
            assert np.array_equal(a, b)
    assert gp.feature_names_in_.tolist() == ["a", "b"]
    named = GP(RBF(2.0).on(["b"]), noise=0.1, optimizer=None).fit(frame, y)
    by_number = GP(RBF(2.0).on([1]), noise=0.1, optimizer=None).fit(X, y)
    assert np.array_equal(named.predict(pd.DataFrame(Z, columns=["a", "b"])), by_number.predict(Z))
    named.update(pd.DataFrame([[0.5, 0.25]], columns=["a", "b"]), [1.0])
    by_number.update([[0.5, 0.25]], [1.0])
    assert np.array_equal(named.alpha_, by_number.alpha_)
    flags = X > 4
    assert np.isfinite(GP().fit(flags, y).predict(flags)).all()
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(pd.DataFrame(Z, columns=["b", "a"]))


def test_copies_of_the_model(data, tmp_path):
    X, y, Z = data
    gp = GP(trend="linear", criterion="reml").fit(X, y)
    expected = gp.predict(Z, return_std=True)
    joblib.dump(gp, tmp_path / "gp")
    for copy in (pickle.loads(pickle.dumps(gp)), joblib.load(tmp_path / "gp")):
        for a, b in zip(copy.predict(Z, return_std=True), expected, strict=True):
            assert np.array_equal(a, b)
        copy.update(Z[:1], [0.0])
        assert len(copy.X_train_) == 41
        assert copy.selection_.n_evaluations == gp.selection_.n_evaluations
    unfitted = clone(gp)
    assert not hasattr(unfitted, "kernel_")
    assert unfitted.get_params() == gp.get_params()
    for a, b in zip(unfitted.fit(X, y).predict(Z, return_std=True), expected, strict=True):
        assert np.array_equal(a, b)


def test_searches_of_scikit_learn(data):
    X, y, Z = data
    pipe = make_pipeline(StandardScaler(), GP())
    grid = GridSearchCV(pipe, {"gaussianprocessregressor__criterion": ["lml", "loo"]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.8
    assert grid.predict(Z).shape == (15,)
    inner = GridSearchCV(
        GP(SIGNAL, optimizer=None), {"noise": [1e-3, 0.01, 10.0], "kernel__k2__length_scale": [0.3, 1.0]}, cv=3
    )
    assert inner.fit(X, y).best_params_["noise"] < 1.0


def scipys(objective, theta, bounds):
    found = minimize(objective, theta, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x, found.fun


def test_optimizers_agree(data):
    X, y, Z = data
    kernel = ConstantKernel(1.0) * RBF([0.5, 0.5]) + WhiteKernel(0.1)
    newton, quasi, own, theirs = (
        GP(kernel, optimizer=optimizer).fit(X, y) for optimizer in ("newton", "l-bfgs-b", scipys, "fmin_l_bfgs_b")
    )
    limits = [(1e-5, 1e5)] * 3
    rival = Theirs(sk.ConstantKernel(1.0, (1e-9, 1e9)) * sk.RBF([0.5, 0.5], limits[:2]) + sk.WhiteKernel(0.1)).fit(X, y)
    for gp in (quasi, own, theirs):
        assert gp.criterion_value_ == pytest.approx(newton.criterion_value_, abs=1e-4)
        assert gp.predict(Z) == pytest.approx(newton.predict(Z), abs=1e-2 * y.std())
    assert newton.criterion_value_ > rival.log_marginal_likelihood_value_ - 1e-4
    fixed = GP(kernel, optimizer=None).fit(X, y)
    assert fixed.kernel_.theta == pytest.approx(kernel.theta)
    assert fixed.criterion_value_ == pytest.approx(fixed.log_marginal_likelihood_value_, rel=1e-12)
    value = GP(kernel, optimizer=None, criterion="loo").fit(X, y).criterion_value_
    assert value == pytest.approx(ks.evaluate("loo", kernel, X, y).value, rel=1e-9)


def test_a_callable_optimizer_gets_scikit_learns_arguments(data):
    X, y, _ = data
    seen = []

    def optimizer(obj_func, initial_theta, bounds):
        value, gradient = obj_func(initial_theta)
        assert gradient.shape == initial_theta.shape
        assert obj_func(initial_theta, eval_gradient=False) == pytest.approx(value)
        seen.append((initial_theta.copy(), bounds.copy()))
        return initial_theta, value

    kernel = ConstantKernel(1.3, (0.1, 9.0)) * RBF(0.7, (0.2, 5.0))
    gp = GP(kernel, alpha=0.01, optimizer=optimizer, n_restarts_optimizer=3, random_state=0).fit(X, y)
    assert len(seen) == 4
    assert seen[0][0] == pytest.approx(kernel.theta)
    assert seen[0][1] == pytest.approx(kernel.bounds)
    for theta, bounds in seen:
        assert (theta >= bounds[:, 0]).all()
        assert (theta <= bounds[:, 1]).all()
    values = [gp.log_marginal_likelihood(theta) for theta, _ in seen]
    assert gp.criterion_value_ == pytest.approx(max(values))


def test_restarts_and_their_seeds(data):
    X, y, Z = data

    def fitted(seed, restarts=3):
        return GP(noise="auto", random_state=seed, n_restarts_optimizer=restarts).fit(X, y)

    assert len(fitted(0, 5).selection_.of_starts) == len(fitted(0, 0).selection_.of_starts) + 5
    assert np.array_equal(fitted(0).selection_.of_starts, fitted(0).selection_.of_starts)
    assert not np.array_equal(fitted(0).selection_.of_starts, fitted(1).selection_.of_starts)
    state = np.random.RandomState(0)
    assert np.isfinite(fitted(state).predict(Z)).all()


@pytest.mark.parametrize("criterion", ["lml", "loo"])
def test_threads_do_not_change_a_bit(criterion, threads, rng):
    X = rng.uniform(size=(700, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(700)
    found = []
    for count in (1, 2):
        threads(count)
        gp = GP(criterion=criterion, trend="linear", max_evaluations=60).fit(X, y)
        found.append([gp.kernel_.theta, gp.noise_, *gp.predict(X[:50], return_std=True), gp.predict_gradient(X[:50]), gp.L_])
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


@pytest.fixture
def many(rng):
    X = rng.uniform(size=(700, 3))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(700)


@pytest.mark.parametrize(
    ("criterion", "n", "budget"),
    pairwise(
        ["lml", "loo"],
        [60, 700],  # the search of many points begins with some of them
        [{"max_evaluations": 1}, {"max_evaluations": 7}, {"max_seconds": 1e-9}, {"max_seconds": 0.01}],
    ),
    ids=str,
)
def test_budgets(many, criterion, n, budget):
    X, y = many[0][:n], many[1][:n]
    ended = next(iter(budget)).removeprefix("max_")
    gp = GP(criterion=criterion, **budget).fit(X, y)
    if n == 60 and budget == {"max_seconds": 0.01}:
        assert gp.selection_.ended in ("converged", "seconds")  # it may be that fast
    else:
        assert gp.selection_.ended == ended
    spent = gp.selection_.n_evaluations + gp.selection_.n_evaluations_subset
    assert spent <= budget.get("max_evaluations", 1000) + 1  # one on all points there must be
    assert gp.n_evaluations_ >= 1
    value = ks.evaluate(criterion, gp.kernel_, X, y, noise=gp.noise_ + gp.jitter_, trend="constant").value
    assert gp.criterion_value_ == pytest.approx(value, rel=max(1e-9, rounding_of(gp)))
    mean, std = gp.predict(X, return_std=True)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.7 * y.std()
    assert np.mean(np.abs(gp.loo_residuals_) < 2 * gp.loo_std_) > 0.2
    assert (std > 0).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timer on this system")
@pytest.mark.parametrize("criterion", ["lml", "loo"])
@pytest.mark.parametrize("delay", [0.12, 0.25])  # before that, nothing may have been found
def test_ctrl_c_keeps_what_was_found(criterion, delay, rng):
    X = rng.uniform(size=(2000, 3))
    y = np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(2000)
    gp = GP(criterion=criterion)
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        with pytest.raises(KeyboardInterrupt):
            gp.fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert gp.selection_.ended == "interrupted"
    value = ks.evaluate(criterion, gp.kernel_, X, y, noise=gp.noise_ + gp.jitter_, trend="constant").value
    # Leave-one-out errors lead to smooth kernels, to a condition of 1e15 here.
    assert gp.criterion_value_ == pytest.approx(value, rel=1e-6 if criterion == "lml" else 5e-3)
    copy = pickle.loads(pickle.dumps(gp))
    assert np.array_equal(copy.predict(X[:9]), gp.predict(X[:9]))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timer on this system")
@pytest.mark.parametrize(("n", "d"), [(50, 2000), (5000, 2)])
def test_ctrl_c_and_the_clock_are_heeded_at_any_size(n, d, rng):
    # With many columns a step of the search, with many points a fit to what it has found would take seconds.
    X = rng.standard_normal((n, d))
    y = X[:, 0] + 0.1 * rng.standard_normal(n)
    sent = []

    def send(*_):
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGALRM, send)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.7)
        gp = GP()
        with pytest.raises(KeyboardInterrupt):
            gp.fit(X, y)
        assert time.perf_counter() - sent[0] < 1.0
        assert gp.selection_.ended == "interrupted"
        assert gp.selection_.kernel.n_dims == d + 1
        assert hasattr(gp, "kernel_") == (n <= 2000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if d > n:
        start = time.perf_counter()
        gp = GP(max_seconds=0.7).fit(X, y)
        assert gp.selection_.ended == "seconds"
        assert time.perf_counter() - start < 1.4


@pytest.mark.parametrize("criterion", ["lml", "loo"])
def test_progress_is_shown(data, criterion, monkeypatch, capsys):
    X, y, _ = data
    monkeypatch.setitem(sys.modules, "tqdm", None)  # cannot be imported
    gp = GP(criterion=criterion, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert not out
    first, *_, last = err.splitlines()
    assert first.startswith("GaussianProcessRegressor: 1 evaluations, best ")
    assert last.startswith(f"GaussianProcessRegressor: {gp.n_evaluations_} evaluations, best ")
    assert float(last.split()[-1]) == pytest.approx(gp.criterion_value_, rel=1e-4)

    class Bar:
        def __init__(self, **options):
            bars.append(self)
            self.n, self.options, self.closed, self.shown = 0, options, False, []

        def update(self, count):
            self.n += count

        def set_postfix_str(self, text, refresh):  # noqa: ARG002
            self.shown.append(text)

        def close(self):
            self.closed = True

    bars = []
    module = type(sys)("tqdm")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", module)
    again = GP(criterion=criterion, verbose=1).fit(X, y)
    assert bars[0].closed
    assert bars[0].n == gp.n_evaluations_
    assert bars[0].options["desc"] == "GaussianProcessRegressor"
    assert bars[0].shown[-1].startswith("best ")
    assert float(bars[0].shown[-1].split()[1]) == pytest.approx(again.criterion_value_, rel=1e-4)
    GP(criterion=criterion).fit(X, y)
    assert capsys.readouterr() == ("", "")


class Watch:
    """A callback that counts, and ends the search after so many evaluations."""

    def __init__(self, most=10**9):
        self.most = most
        self.calls = []

    def setup(self, estimator, context):  # noqa: ARG002
        self.calls.append("setup")

    def teardown(self, estimator, context):  # noqa: ARG002
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):  # noqa: ARG002
        self.calls.append(f"end {context.task_name}")
        return self.calls.count("end evaluation") >= self.most


@pytest.mark.skipif(not importlib.util.find_spec("sklearn.callback"), reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize("criterion", ["lml", "loo"])
def test_callbacks_of_scikit_learn(data, criterion):
    X, y, Z = data
    watch = Watch()
    gp = GP(criterion=criterion)
    gp.set_callbacks(watch)
    gp.fit(X, y)
    assert watch.calls[0] == "setup"
    assert watch.calls[-1] == "teardown"
    assert watch.calls.count("begin evaluation") == watch.calls.count("end evaluation") == gp.n_evaluations_
    assert watch.calls.count("begin fit") == watch.calls.count("end fit") == 1
    plain = GP(criterion=criterion).fit(X, y)
    assert np.array_equal(gp.predict(Z), plain.predict(Z))
    stopped = GP(criterion=criterion)
    stopped.set_callbacks(Watch(5))
    stopped.fit(X, y)
    assert stopped.selection_.ended == "stopped"
    assert stopped.n_evaluations_ == 5
    assert np.isfinite(stopped.predict(Z)).all()
    failing = GP(RBF(), alpha=-1.0)
    watch = Watch()
    failing.set_callbacks(watch)
    with pytest.raises(ValueError, match="alpha"):
        failing.fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"trend": "linear", "criterion": "reml"},
        {"trend": "quadratic"},
        {"optimizer": "l-bfgs-b"},
        {"kernel": ConstantKernel("auto") * RBF("auto") + WhiteKernel("auto")},
        {"scale": "each"},
        {"criterion": "loo"},
    ],
    ids=str,
)
def test_units_and_order_do_not_matter(options, data):
    X, y, Z = data
    gp = GP(**options).fit(X, y)
    mean, std = gp.predict(Z, return_std=True)
    # The search is the same but for rounding, and ends where its gains are: flat directions are as uncertain as that.
    newton = "criterion" not in options or options["criterion"] == "reml"
    # Newton's method ends where less than 1e-10 is to be gained, which is 1e-5 of the standard deviation of a hyperparameter.
    limit = (2e-5 if newton and "optimizer" not in options else 2e-3) * y.std()

    def compare(points, targets, at, unit=1.0, shift=0.0):
        found = GP(**options).fit(points, targets)
        a, b = found.predict(at, return_std=True)
        assert (a - shift) / unit == pytest.approx(mean, abs=limit)
        assert b / unit == pytest.approx(std, abs=limit)
        if newton and "optimizer" not in options:
            assert abs(found.n_evaluations_ - gp.n_evaluations_) <= 2

    for power in (-6, -1, 3, 6):
        compare(X * [10.0**power, 1.0], y, Z * [10.0**power, 1.0])
    for by in (0.1, -3.7, 100.0):
        compare(X + np.array([by, 0.0]), y, Z + np.array([by, 0.0]))
    for power in (-9, -1, 9):
        compare(X, y * 10.0**power, Z, 10.0**power)
    order = np.random.default_rng(0).permutation(40)
    compare(X[order], y[order], Z)
    if "kernel" not in options:  # then a trend takes the mean
        compare(X, y + 10.0, Z, 1.0, 10.0)


@pytest.mark.parametrize("criterion", ["profiled_lml", "loo", "gcv"])
@pytest.mark.parametrize("kernel", [RBF("auto"), RBF("auto") + WhiteKernel("auto")], ids=str)
def test_the_unit_of_y_where_only_the_ratio_of_kernel_and_noise_matters(data, kernel, criterion):
    X, y, Z = data
    options = {
        "kernel": kernel,
        "criterion": criterion,
        "trend": "constant",
        "noise": "auto" if kernel == RBF("auto") else None,
    }
    gp = GP(**options).fit(X, y)
    for unit in (1e-9, 1e9):
        scaled = GP(**options).fit(X, unit * y)
        assert scaled.predict(Z) / unit == pytest.approx(gp.predict(Z), abs=2e-3 * y.std())


def twins(X, y, by):
    return np.vstack([X, X[3], X[7]]), np.append(y, [y[3] + by, y[7] - by])


@pytest.mark.parametrize(
    "options",
    [
        {"noise": 0.0},
        {"noise": 0.0, "criterion": "loo"},
        {"noise": 0.0, "alpha": 0.0},
        {"kernel": RBF("auto")},
        {"kernel": RBF(0.5), "optimizer": None},
    ],
    ids=str,
)
def test_equal_points_without_noise(data, options):
    X, y, Z = data
    message = r"points 3 and 40, 7 and 41 are equal, but their values differ \(by 0.5 for the first\).*noise=\"auto\""
    with pytest.raises(ValueError, match=message):
        GP(**options).fit(*twins(X, y, 0.5))
    for alpha in (1e-8, np.full(42, 1e-4)):
        assert np.isfinite(GP(**options | {"alpha": alpha}).fit(*twins(X, y, 0.5)).predict(Z)).all()
    if "alpha" not in options and "criterion" not in options:  # equal values say nothing new; left out, one is sure
        single = GP(**options).fit(X, y)
        assert GP(**options).fit(*twins(X, y, 0.0)).predict(Z) == pytest.approx(single.predict(Z), abs=0.5 * y.std())


def test_equal_points_with_noise(data):
    X, y, Z = data
    for kernel in ("auto", RBF("auto") + WhiteKernel("auto")):
        gp = GP(kernel).fit(*twins(X, y, 0.5))
        mean, std = gp.predict(X[3:4], return_std=True)
        assert np.isfinite(mean).all()
        assert std[0] > 1e-3
    assert np.isfinite(GP().fit(np.ones((9, 2)), y[:9]).predict(Z)).all()
    assert GP().fit(np.ones((9, 2)), y[:9]).predict(np.ones((1, 2))) == pytest.approx([y[:9].mean()])


def test_columns_that_are_constant(data):
    X, y, Z = data
    wide, at = (np.column_stack([P, np.full(len(P), 3.0)]) for P in (X, Z))
    assert GP().fit(wide, y).predict(at) == pytest.approx(GP().fit(X, y).predict(Z), abs=0.1 * y.std())
    with pytest.raises(ValueError, match="trend: column 2 can be made of the others"):
        GP(trend="linear").fit(wide, y)


@pytest.mark.parametrize("options", [{}, {"criterion": "reml"}, {"criterion": "loo"}, {"scale": "each"}, {"normalize_y": True}])
def test_targets_that_the_trend_explains(data, options):
    X, _, Z = data
    gp = GP(**options).fit(X, np.full(40, 7.0))
    assert gp.selection_.ended == "undecided"
    assert np.isnan(gp.criterion_value_)
    assert gp.predict(Z) == pytest.approx(np.full(15, 7.0), rel=1e-12)
    assert np.isfinite(gp.predict(Z, return_std=True)[1]).all()
    plane = GP(trend="linear", **options).fit(X, 1 + X @ [2.0, 3.0])
    assert plane.predict(Z) == pytest.approx(1 + Z @ [2.0, 3.0], rel=1e-10)
    assert plane.predict_gradient(Z) == pytest.approx(np.tile([2.0, 3.0], (15, 1)), rel=1e-6)
    assert GP(None, **options).fit(X, np.zeros(40)).predict(Z) == pytest.approx(np.zeros(15), abs=1e-12)


def test_few_points(data):
    X, y, Z = data
    for n in (1, 2, 3):
        for kernel in ("auto", None):
            gp = GP(kernel).fit(X[:n], y[:n])
            mean, std = gp.predict(Z, return_std=True)
            assert np.isfinite(mean).all()
            assert np.isfinite(std).all()
            assert gp.predict(X[:n]) == pytest.approx(y[:n], abs=np.ptp(y[:n]) + 1e-6)
    with pytest.raises(ValueError, match="trend: its 3 functions need 3 points at least, got n_samples = 2"):
        GP(trend="linear").fit(X[:2], y[:2])
    with pytest.raises(ValueError, match="without point 0 it is not determined"):
        GP(criterion="loo").fit(X[:1], y[:1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1.0}, "alpha: expected finite numbers that are not negative, got -1.0"),
        ({"alpha": np.nan}, "alpha: expected finite numbers"),
        ({"alpha": None}, "alpha: expected finite numbers"),
        ({"alpha": 1j}, 'alpha: expected numbers or "auto", got 1j'),
        ({"alpha": "some"}, "alpha: expected numbers or \"auto\", got 'some'"),
        ({"alpha": np.ones((40, 1))}, r"alpha must be a scalar .* \(shape \(40, 1\) for 40 points\)"),
        ({"noise": [0.1, 0.2]}, r"noise must be a scalar .* \(shape \(2,\) for 40 points\)"),
        ({"noise": -0.1}, "noise: expected finite numbers that are not negative, got -0.1"),
        ({"noise": {}}, "noise: expected numbers"),
        ({"criterion": "aic"}, "criterion: expected one of lml, .* got 'aic'"),
        ({"criterion": None}, "criterion: expected one of"),
        ({"criterion": "risk"}, "sigma: the unbiased risk needs the standard deviation of the noise"),
        ({"kernel": "Foo"}, "kernel: there is no kernel 'Foo'"),
        ({"kernel": 3}, "kernel: expected a kernel"),
        ({"kernel": RBF}, "kernel: expected a kernel"),
        ({"kernel": np.eye(3)}, "kernel: expected a kernel"),
        ({"optimizer": "adam"}, 'optimizer: expected "auto", "newton", "l-bfgs-b", a function or None, got \'adam\''),
        ({"optimizer": 3}, "optimizer: expected .* got 3"),
        ({"trend": "cubic"}, "trend: expected .* got 'cubic'"),
        ({"trend": 3}, "trend: expected .* got int"),
        ({"trend": np.ones((40, 1))}, "trend: expected .* got ndarray; numbers at the training points would say nothing"),
        ({"trend": lambda X: X[:, 0]}, r"trend: expected one row for each of 40 points, got shape \(40,\)"),
        ({"trend": lambda X: X * np.nan}, "trend: expected finite numbers"),
        ({"scale": "both"}, "scale: expected"),
        ({"scale": "each", "criterion": "loo"}, 'scale: "each" is for likelihoods'),
        ({"n_restarts_optimizer": -1}, "n_restarts_optimizer: expected a whole number from 0 on, got -1"),
        ({"max_evaluations": 0}, "max_evaluations: expected a whole number from 1 on, got 0"),
        ({"max_seconds": "long"}, "max_seconds: expected a positive number or None, got 'long'"),
        ({"max_seconds": np.nan}, "max_seconds: expected a positive number"),
        ({"max_seconds": -1.0}, "max_seconds: expected a positive number"),
        ({"verbose": "yes"}, "verbose: expected a whole number"),
        ({"n_targets": 0}, "n_targets: expected a whole number from 1 on, or None, got 0"),
        ({"n_targets": 2}, "The number of targets seen in `y` is different"),
        ({"random_state": "seed"}, "random_state: expected a whole number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_parameters(data, options, message):
    X, y, _ = data
    with pytest.raises((TypeError, ValueError), match=message):
        GP(**options).fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (np.where(X[0, 0] == X, np.nan, X), y), "Input X contains NaN"),
        (lambda X, y: (np.where(X[0, 0] == X, np.inf, X), y), "Input X contains infinity"),
        (lambda X, y: (X, np.where(y == y[0], np.nan, y)), "Input y contains NaN"),
        (lambda X, y: (X[:, :0], y), r"0 feature\(s\)"),
        (lambda X, y: (X[:0], y[:0]), r"0 sample\(s\)"),
        (lambda X, y: (X[:, 0], y), "Expected 2D array, got 1D array"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, y[:, None, None]), "Found array with dim 3"),
        (lambda X, y: (X, y * 1e300), "y: its squares overflow; divide it by a number, such as 2e[+]300"),
        (lambda X, y: (X, y * 1e-300), "y: its squares underflow; multiply it by a number"),
        (lambda X, y: (X * 1e-320, y), "out of the range of their type"),
        (lambda X, y: (X + 1j, y), "Complex data not supported"),
        (lambda X, y: (np.full(X.shape, "a"), y), "could not convert string to float"),
        (lambda X, y: (X, np.full(y.shape, "a")), "could not convert string to float"),
        (lambda X, y: (X, None), "requires y to be passed"),
    ],
)
def test_bad_data(data, change, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        GP().fit(*change(X, y))


def test_data_of_any_size_that_has_squares(data):
    X, y, Z = data
    mean, std = GP().fit(X, y).predict(Z, return_std=True)
    for unit in (1e-135, 1e140):
        found = GP().fit(X, unit * y).predict(Z, return_std=True)
        assert found[0] / unit == pytest.approx(mean, abs=1e-7)
        assert found[1] / unit == pytest.approx(std, abs=1e-7)
    for unit in (1e-290, 1e290):
        assert GP().fit(unit * X, y).predict(unit * Z) == pytest.approx(mean, abs=1e-7)


def test_bad_points_of_predictions(data):
    X, y, Z = data
    gp = GP(noise=0.1).fit(X, y)
    for call in (gp.predict, gp.predict_gradient, gp.sample_y):
        with pytest.raises(ValueError, match="X has 1 features, but GaussianProcessRegressor is expecting 2"):
            call(Z[:, :1])
        with pytest.raises(ValueError, match="Expected 2D array"):
            call(Z[0])
        with pytest.raises(ValueError, match="contains NaN"):
            call(Z * np.nan)
        with pytest.raises(TypeError, match="Sparse data"):
            call(sparse.csr_array(Z))
    with pytest.raises(TypeError, match="Sparse data"):
        GP().fit(sparse.csr_array(X), y)
    with pytest.raises(RuntimeError, match="At most one of return_std or return_cov"):
        gp.predict(Z, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="n_samples: expected a whole number from 0 on, got -1"):
        gp.sample_y(Z, -1)
    for i in (40, -41, 1.0, "a", None, True):
        with pytest.raises(IndexError, match="i: expected a number from -40 to 39"):
            gp.downdate(i)
    two = GP(noise=0.1).fit(X, np.column_stack([y, y**2, y**3]))
    with pytest.raises(ValueError, match=r"y: expected shape \(2, 3\), got \(3, 2\)"):
        two.update(Z[:2], np.ones((3, 2)))


def test_memory_is_looked_at_first(monkeypatch):
    X = np.arange(400_000.0)[:, None]
    monkeypatch.setattr(posterior._core, "available_memory", lambda: 2**34)
    tracemalloc.start()
    for optimizer in ("auto", None):
        with pytest.raises(MemoryError, match=r"400000 points need 596 GiB .* 16 GiB"):
            GP(RBF(), optimizer=optimizer, verbose=1).fit(X, X[:, 0] % 7)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_priors_hold_few_points(data):
    X, y, _ = data
    free = GP(RBF(Parameter(0.5, prior=LogNormal(3.0, 0.01))), noise=0.1, criterion="lml").fit(X, y)
    held = GP(RBF(Parameter(0.5, prior=LogNormal(3.0, 0.01))), noise=0.1, criterion="map").fit(X, y)
    assert abs(held.kernel_.theta[0] - 3.0) < 0.05 < abs(free.kernel_.theta[0] - 3.0)


def test_a_search_that_ends_at_the_edge(monkeypatch):
    """The last factorization may fail by rounding where those of the search did not: then there is ten times as much jitter."""
    import kernsel.estimators.gaussian_process as module

    tried = []

    class Failing(module.Posterior):
        def __init__(self, kernel, X, y, noise, trend):
            tried.append(noise[0])
            if len(tried) <= fails:
                raise np.linalg.LinAlgError("the pivot of row 7")
            super().__init__(kernel, X, y, noise, trend)

    monkeypatch.setattr(module, "Posterior", Failing)
    X = np.linspace(0, 1, 20)[:, None]
    fails = 1
    gp = ks.GaussianProcessRegressor(noise=0.0).fit(X, np.sin(6 * X[:, 0]))
    assert gp.jitter_ == pytest.approx(10 * tried[0])
    assert gp.jitter_ == tried[1]
    tried.clear()
    fails = 9
    with pytest.raises(np.linalg.LinAlgError, match="pivot of row 7"):
        ks.GaussianProcessRegressor(noise=0.0).fit(X, np.sin(6 * X[:, 0]))
    assert len(tried) == 3
