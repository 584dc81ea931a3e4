"""Criteria by landmarks: what the slow twin computes, and the exact ones if all points are landmarks."""

import numpy as np
import pytest

import kernsel as ks
from kernsel._data.trend import trend_matrix
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, DotProduct, Exp, HeteroscedasticNoise, Matern, WhiteKernel

import reference as ref
import reference_nystrom as twin
from accuracy import eps
from criterion_cases import FOLDS, KERNELS, N, data, options

NAMES = ["lml", "profiled_lml", "reml", "profiled_reml", "loo", "loo_log_density", "profiled_loo_log_density", "loo_crps"]
NAMES += ["loo_absolute", "gcv", "risk"]
OURS = {name: KERNELS[name] for name in ("rbf", "matern and noise", "nu", "linear and periodic", "mixture")}
OURS["linear"] = DotProduct(0.8) + WhiteKernel(0.1)  # of rank three, without more landmarks than these
OURS["composite"] = (Exp(0.5 * RBF(0.9)) + DotProduct(0.5)) * Matern(1.2, nu=1.5).on([1]) + WhiteKernel(0.2)
LANDMARKS = np.random.default_rng(7).uniform(-1, 1, (5, 2))
SMOOTHING = 0.01
SIGMA = 0.3


def evaluated(name, kernel, near, *, outputs=2, trend="constant", **more):
    X, y, noise = data(outputs)
    if name == "loo_absolute":
        more = {"smoothing": SMOOTHING, **more}
    return ks.evaluate(name, kernel, X, y, approximation=near, **{"noise": noise, "trend": trend, **options(name), **more})


def blocks(kernel, X, Z):
    """Return k(X, Z), k(Z, Z), the diagonal of k(X, X), all without noise, and that noise."""
    own = np.diag(kernel(X, X.copy()))
    return kernel(X, Z), kernel(Z, Z.copy()), own, np.diag(kernel(X)) - own


def by_the_twin(name, matrices, H, y, *, bound=True, weights=None, groups=None):
    K_XZ, K_ZZ, own, noise = matrices
    found = twin.fit(K_XZ, K_ZZ, own, noise, H, y, FOLDS if name.startswith("kfold") else groups)
    width = SMOOTHING * np.std(y)
    return twin.criterion(name, found, bound=bound, weights=weights, sigma=SIGMA, smoothing=width), found


def amplified(K_ZZ):
    """Return what rounding errors of K_ZZ become in Q, and in derivatives, relative to their sizes."""
    rounding = 100 * N * eps(float)
    condition = np.linalg.cond(twin.jittered(K_ZZ))
    return rounding * np.sqrt(condition), rounding * condition


@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize("label", OURS)
def test_values_are_those_of_the_slow_twin(label, trend):
    X, y, noise = data(2)
    kernel, H, weights = OURS[label], trend_matrix(trend, X), np.linspace(0.5, 2.0, N)
    K_XZ, K_ZZ, own, white = blocks(kernel, X, LANDMARKS)
    matrices, slack = (K_XZ, K_ZZ, own, noise / weights + white), amplified(K_ZZ)[0]
    for number, name in enumerate(NAMES):
        bound = number % 2 == 0 or label != "rbf"
        found = evaluated(name, kernel, ks.Nystrom(LANDMARKS, bound=bound), trend=trend, sample_weight=weights)
        value, fit = by_the_twin(name, matrices, H, y, bound=bound, weights=weights)
        assert found.value == pytest.approx(value, rel=slack, abs=slack * abs(value)), name
        np.testing.assert_allclose(found.beta, fit["beta"], rtol=slack, atol=slack)
        if found.dual_coef is not None:
            np.testing.assert_allclose(found.dual_coef, fit["c"], rtol=0, atol=slack * np.abs(fit["c"]).max())
        if not np.isnan(found.effective_dof):
            dof = np.sum(1 - fit["noise"] * fit["precision"])
            assert found.effective_dof == pytest.approx(dof, rel=slack), name


CASES = [(name, trend) for name in NAMES for trend in (None, "linear")]


@pytest.mark.parametrize(("name", "trend"), CASES)
def test_gradients_are_those_of_the_slow_twin(name, trend):
    """In all hyperparameters, and in the noise of each point: derivatives of kernel matrices by differences, then exact."""
    X, y, noise = data(2)
    label = list(OURS)[CASES.index((name, trend)) % len(OURS)]
    kernel, H, weights = OURS[label], trend_matrix(trend, X), np.linspace(0.5, 2.0, N)
    given = {"trend": trend, "sample_weight": weights, "gradient": True}
    found = evaluated(name, kernel, ks.Nystrom(LANDMARKS), **given)
    K_XZ, K_ZZ, own, white = blocks(kernel, X, LANDMARKS)
    at = [K_XZ, K_ZZ, own, noise / weights + white]

    def value(*matrices):
        return by_the_twin(name, matrices, H, y, weights=weights)[0]

    expected = [
        twin.slope(value, at, twin.move(lambda t: blocks(kernel.clone_with_theta(t), X, LANDMARKS), kernel.theta, p))
        for p in range(kernel.n_dims)
    ]
    still = [np.zeros_like(part) for part in at[:3]]
    of_noise = [twin.slope(value, at, [*still, np.eye(N)[i] / weights[i]]) for i in range(N)]
    size = np.abs(expected).max() + np.abs(of_noise).max()
    tolerance = (amplified(K_ZZ)[1] + 1e3 * eps(float) ** 0.8) * size  # the latter of differences of fourth order
    np.testing.assert_allclose(found.gradient, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.noise_gradient, of_noise, rtol=0, atol=tolerance)


@pytest.mark.parametrize("trend", [None, "constant", "linear"])
def test_equals_the_exact_criterion_if_all_points_are_landmarks(trend):
    """But for the jitter: K - Q is at most the jitter times K_ZZ, beside the noise; its derivatives are no larger."""
    X, _, noise = data(2)
    for name in [*NAMES, "lml"]:
        for label in ("rbf", "matern and noise", "composite"):
            kernel = OURS[label]
            exact, near = (evaluated(name, kernel, a, trend=trend, gradient=True) for a in (None, ks.Nystrom(X)))
            slack = 1e3 * N * twin.JITTER * np.diag(kernel(X)).max() / noise.min()
            assert near.value == pytest.approx(exact.value, rel=slack, abs=slack), name
            size = np.abs(exact.gradient).max() + np.abs(exact.noise_gradient).max()
            np.testing.assert_allclose(near.gradient, exact.gradient, rtol=0, atol=slack * size, err_msg=name)
            np.testing.assert_allclose(near.noise_gradient, exact.noise_gradient, rtol=0, atol=slack * size, err_msg=name)
            np.testing.assert_allclose(near.beta, exact.beta, rtol=0, atol=slack * (1 + np.abs(exact.beta).max(initial=0)))


@pytest.mark.parametrize("outputs", [0, 3])
def test_one_noise_for_all_points_and_any_number_of_outputs(outputs):
    X, y, _ = data(outputs)
    kernel, Y = OURS["mixture"], y.reshape(N, -1)
    K_XZ, K_ZZ, own, white = blocks(kernel, X, LANDMARKS)
    at = K_XZ, K_ZZ, own, 0.2 + white
    for name in ("lml", "loo_log_density", "gcv"):
        found = evaluated(name, kernel, ks.Nystrom(LANDMARKS), outputs=outputs, trend=None, noise=0.2, gradient=True)

        def value(*matrices, name=name):
            return by_the_twin(name, matrices, np.zeros((N, 0)), Y)[0]

        slack, of_slopes = amplified(K_ZZ)
        assert found.value == pytest.approx(value(*at), rel=slack)
        slope = twin.slope(value, at, [*(np.zeros_like(part) for part in at[:3]), np.ones(N)])
        assert found.noise_gradient == pytest.approx(slope, rel=of_slopes)


def test_leave_one_out_has_the_variance_that_landmarks_lack():
    X, y, noise = data(0)
    for trend in (None, "linear"):
        found = ks.loo(RBF(0.7), X, y, noise=noise, trend=trend, approximation=ks.Nystrom(LANDMARKS))
        K_XZ, K_ZZ, own, _ = blocks(RBF(0.7), X, LANDMARKS)
        fit = twin.fit(K_XZ, K_ZZ, own, noise, trend_matrix(trend, X), y[:, None])
        slack = amplified(K_ZZ)[0]
        np.testing.assert_allclose(found.residuals, fit["residual"][:, 0], rtol=slack, atol=slack)
        np.testing.assert_allclose(found.variances, fit["variance"], rtol=slack)
        np.testing.assert_allclose(found.dual_coef, fit["c"][:, 0], rtol=slack, atol=slack)
        np.testing.assert_allclose(found.leverage, 1 - noise * fit["precision"], rtol=slack, atol=slack)


@pytest.mark.parametrize("placement", ["pivoted", "k-means", "random"])
def test_landmarks_that_are_chosen_are_used(placement):
    X, y, noise = data(2)
    workspace, kernel = Workspace(), OURS["rbf"]
    found = evaluated("lml", kernel, ks.Nystrom(4, placement), trend=None, workspace=workspace)
    Z = workspace.landmarks()
    assert Z.shape == (4, 2)
    if placement != "k-means":
        assert {tuple(z) for z in Z} <= {tuple(x) for x in X}
    K_XZ, K_ZZ, own, _ = blocks(kernel, X, Z)
    value, _ = by_the_twin("lml", (K_XZ, K_ZZ, own, noise), np.zeros((N, 0)), y)
    assert found.value == pytest.approx(value, rel=amplified(K_ZZ)[0])
    moved = evaluated("lml", kernel.clone_with_theta(kernel.theta + 0.3), ks.Nystrom(4, placement), workspace=workspace)
    np.testing.assert_array_equal(workspace.landmarks(), Z)  # that a search sees one function
    assert moved.value != found.value


@pytest.mark.parametrize("name", ["lml", "profiled_reml", "loo", "loo_log_density", "gcv"])
def test_derivatives_in_points_and_landmarks(name):
    n, L = 7, LANDMARKS[:3]
    X, y, noise = (part[:n] for part in data(2))
    kernel, H = OURS["composite"], np.ones((n, 1))
    found = ks.evaluate(name, kernel, X, y, noise=noise, trend=H, approximation=ks.Nystrom(L), points=True)

    def value(rows):
        points, Z = np.split(rows.reshape(-1, 2), [n])
        *matrices, white = blocks(kernel, points, Z)
        return by_the_twin(name, [*matrices, noise + white], H, y)[0]

    expected, error = ref.central_differences(value, np.vstack([X, L]).ravel(), 1e-4)
    tolerance = error.max() + amplified(kernel(L, L.copy()))[1] * np.abs(expected).max()
    slopes = np.vstack([found.points_gradient, found.landmarks_gradient])
    np.testing.assert_allclose(slopes.ravel(), expected, rtol=0, atol=tolerance)
    assert tolerance < 1e-4 * np.abs(expected).max()


def test_landmarks_of_many_points_with_known_noise():
    """A random part of the points has no noise of its own."""
    rng = np.random.default_rng(0)
    X, noise = rng.uniform(size=(20500, 1)), np.linspace(0.1, 0.4, 20500)
    y, near = np.sin(5 * X[:, 0]), ks.Nystrom(5)
    known = ks.evaluate("lml", RBF(0.3) + HeteroscedasticNoise(noise, 1.0), X, y, approximation=near)
    given = ks.evaluate("lml", RBF(0.3), X, y, noise=noise, approximation=near)
    assert known.value == pytest.approx(given.value, rel=1e3 * eps(float))


def test_the_bound_is_below_the_exact_likelihood_and_rises_with_landmarks():
    X, _, _ = data(2)
    values = [evaluated("lml", OURS["rbf"], ks.Nystrom(X[:m]), trend=None).value for m in (2, 5, 9, N)]
    values.append(evaluated("lml", OURS["rbf"], None, trend=None).value)
    assert values == sorted(values)


def test_the_same_bits_for_any_number_of_threads(threads):
    X = np.random.default_rng(0).uniform(size=(3000, 3))
    y = np.sin(5 * X).sum(axis=1)
    results = []
    for count in (1, 2, 3):
        threads(count)
        for name in ("reml", "loo_log_density", "gcv"):
            given = {"noise": 0.1, "trend": "linear", "gradient": True, "approximation": ks.Nystrom(70)}
            found = ks.evaluate(name, RBF([0.3, 0.4, 0.5]), X, y, **given)
            results.append((found.value, *found.gradient, found.noise_gradient))
    assert results[:3] == results[3:6] == results[6:]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n):
    X, y, noise = (part[:n] for part in data(0))
    for name in ("lml", "loo") if n > 1 else ("lml",):
        exact, near = (ks.evaluate(name, Matern(1.0), X, y, noise=noise, approximation=a).value for a in (None, ks.Nystrom()))
        assert near == pytest.approx(exact, rel=1e3 * twin.JITTER / noise.min())


def test_bad_input_is_refused():
    X, y, _ = data(0)
    with pytest.raises(ValueError, match=r"landmarks: expected 2 columns, as X has, got shape \(2, 3\)"):
        ks.evaluate("lml", RBF(1.0), X, y, noise=0.1, approximation=ks.Nystrom(np.ones((2, 3))))
    with pytest.raises(ValueError, match="Nystrom needs points that are rows of numbers"):
        ks.evaluate("lml", ks.structured.Spectrum(2), ["AC", "CA"], [1.0, 2.0], noise=0.1, approximation=ks.Nystrom(2))


# The twin itself.


@pytest.mark.parametrize("trend", [None, "linear"])
def test_the_twin_is_exact_if_all_points_are_landmarks(trend):
    X, y, noise = data(2)
    kernel, H = Matern(0.8), trend_matrix(trend, X)
    K = kernel(X, X.copy())
    slack = 1e3 * N * twin.JITTER / noise.min()
    for name in [*NAMES, "kfold_log_density"]:
        folds = FOLDS if name.startswith("kfold") else None
        exact = ref.criterion(name, K, noise, H, y, folds, SIGMA, SMOOTHING * np.std(y))
        assert by_the_twin(name, (K, K, np.diag(K), noise), H, y)[0] == pytest.approx(exact, rel=slack), name
    Z = np.random.default_rng(3).uniform(-1, 1, (4, 2))
    cross, h, fit = kernel(Z, X), trend_matrix(trend, Z), twin.fit(K, K, np.diag(K), noise, H, y)
    given = kernel(Z, Z.copy()), H, h, y
    mean, covariance, _ = ref.kriging(K + np.diag(noise), cross.T, *given)
    found = twin.predict(fit, K, K, cross, given[0], h)
    np.testing.assert_allclose(found[0], mean, rtol=slack, atol=slack)
    np.testing.assert_allclose(found[1], covariance, rtol=slack, atol=slack)
    for lam, values in zip((0.1, 0.7), twin.path(K, K, np.diag(K), y, H, (0.1, 0.7)), strict=True):
        A = ref.smoother(K, np.full(N, lam), H)
        assert values["dof"] == pytest.approx(np.trace(A), rel=slack)
        assert values["residual_norm"] == pytest.approx(np.linalg.norm(y - A @ y), rel=slack)


def test_the_twin_predicts_a_point_as_it_does_one_that_is_left_out():
    X, y, noise = data(2)
    kernel, H = RBF(0.7), trend_matrix("linear", X)
    K_XZ, K_ZZ, own, _ = blocks(kernel, X, LANDMARKS)
    left_out = twin.fit(K_XZ, K_ZZ, own, noise, H, y)
    kept = np.arange(N) != 3
    fit = twin.fit(K_XZ[kept], K_ZZ, own[kept], noise[kept], H[kept], y[kept])
    mean, covariance = twin.predict(fit, K_XZ[kept], K_ZZ, K_XZ[[3]], own[[3], None], H[[3]])
    slack = amplified(K_ZZ)[0]
    np.testing.assert_allclose(y[3] - mean[0], left_out["residual"][3], rtol=slack)
    assert covariance[0, 0] + noise[3] == pytest.approx(left_out["variance"][3], rel=slack)
    assert fit["missing"].min() > 1e-4  # which is what landmarks do not see of the function
