"""Groups of points that are left out together, by landmarks: what refits by the slow twin give, with derivatives.

Groups of at most as many rows as there are landmarks and functions of the trend are small, all others are large: both are in
MIXED.
"""

import numpy as np
import pytest

import kernsel as ks
from kernsel import _core
from kernsel._data.trend import trend_matrix
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, DotProduct, Exp, Matern, WhiteKernel

import reference as ref
import reference_nystrom as twin
from accuracy import eps
from criterion_cases import KERNELS, N, data

SMOOTHING, SIGMA = 0.01, 0.3
LANDMARKS = np.random.default_rng(7).uniform(-1, 1, (3, 2))
COMPOSITE = (Exp(0.5 * RBF(0.9)) + DotProduct(0.5)) * Matern(1.2, nu=1.5).on([1]) + WhiteKernel(0.2)
MIXED = np.array([0, 1, 2, 2, 1, 3, 3, 3, 3, 3, 2, 2, 3, 3])  # of 1, 2, 4 and 7 points
GROUPS = {"mixed": MIXED, "pairs": np.arange(N) // 2, "folds": np.arange(N) % 2}
NAMES = ["loo", "loo_log_density", "profiled_loo_log_density", "loo_crps", "loo_absolute", "kfold", "kfold_log_density"]


def evaluated(name, kernel, near, groups, *, outputs=2, **more):
    X, y, noise = data(outputs)
    how = {"folds" if name.startswith("kfold") else "groups": groups}
    smoothing = {"smoothing": SMOOTHING} if name == "loo_absolute" else {}
    return ks.evaluate(name, kernel, X, y, approximation=near, **{"noise": noise, **how, **smoothing, **more})


def blocks(kernel, X, Z):
    """Return k(X, Z), k(Z, Z), the diagonal of k(X, X), all without noise, and that noise."""
    own = np.diag(kernel(X, X.copy()))
    return kernel(X, Z), kernel(Z, Z.copy()), own, np.diag(kernel(X)) - own


def by_the_twin(name, matrices, H, y, groups, weights=None):
    found = twin.fit(*matrices, H, y, groups)
    return twin.criterion(name, found, weights=weights, sigma=SIGMA, smoothing=SMOOTHING * np.std(y))


def amplified(K_ZZ):
    """Return what rounding errors of K_ZZ become in Q, and in derivatives, relative to their sizes."""
    rounding = 100 * N * eps(float)
    condition = np.linalg.cond(twin.jittered(K_ZZ))
    return rounding * np.sqrt(condition), rounding * condition


CASES = [(name, label, trend) for name in NAMES for label in GROUPS for trend in (None, "linear")]


@pytest.mark.parametrize(("name", "label", "trend"), CASES)
def test_values_and_gradients_are_those_of_refits(name, label, trend):
    """In all hyperparameters, and in the noise of each point: derivatives of kernel matrices by differences, then exact."""
    X, y, noise = data(2)
    kernel = (KERNELS["rbf"], KERNELS["matern and noise"], COMPOSITE)[CASES.index((name, label, trend)) % 3]
    H, weights = trend_matrix(trend, X), np.linspace(0.5, 2.0, N)
    found = evaluated(name, kernel, ks.Nystrom(LANDMARKS), GROUPS[label], trend=trend, sample_weight=weights, gradient=True)
    K_XZ, K_ZZ, own, white = blocks(kernel, X, LANDMARKS)
    at = [K_XZ, K_ZZ, own, noise / weights + white]

    def value(*matrices):
        return by_the_twin(name, matrices, H, y, GROUPS[label], weights)

    slack, of_slopes = amplified(K_ZZ)
    assert found.value == pytest.approx(value(*at), rel=slack, abs=slack)
    expected = [
        twin.slope(value, at, twin.move(lambda t: blocks(kernel.clone_with_theta(t), X, LANDMARKS), kernel.theta, p))
        for p in range(kernel.n_dims)
    ]
    still = [np.zeros_like(part) for part in at[:3]]
    of_noise = [twin.slope(value, at, [*still, np.eye(N)[i] / weights[i]]) for i in range(N)]
    size = np.abs(expected).max() + np.abs(of_noise).max()
    tolerance = (of_slopes + 1e3 * eps(float) ** 0.8) * size  # the latter of differences of fourth order
    np.testing.assert_allclose(found.gradient, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.noise_gradient, of_noise, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["loo", "loo_log_density", "kfold_log_density"])
def test_derivatives_in_points_and_landmarks(name):
    n, L, groups = 9, LANDMARKS, np.array([0, 1, 1, 2, 2, 2, 2, 2, 0])
    X, y, noise = (part[:n] for part in data(2))
    H = np.ones((n, 1))
    how = {"folds" if name.startswith("kfold") else "groups": groups}
    given = {"noise": noise, "trend": H, "approximation": ks.Nystrom(L), "points": True}
    found = ks.evaluate(name, COMPOSITE, X, y, **given, **how)

    def value(rows):
        points, Z = np.split(rows.reshape(-1, 2), [n])
        *matrices, white = blocks(COMPOSITE, points, Z)
        return by_the_twin(name, [*matrices, noise + white], H, y, groups)

    expected, error = ref.central_differences(value, np.vstack([X, L]).ravel(), 1e-4)
    tolerance = error.max() + amplified(COMPOSITE(L, L.copy()))[1] * np.abs(expected).max()
    slopes = np.vstack([found.points_gradient, found.landmarks_gradient])
    np.testing.assert_allclose(slopes.ravel(), expected, rtol=0, atol=tolerance)
    assert tolerance < 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("trend", [None, "linear"])
def test_equals_the_exact_criterion_if_all_points_are_landmarks(trend):
    """But for the jitter: K - Q is at most the jitter times K_ZZ, beside the noise; its derivatives are no larger."""
    X, _, noise = data(2)
    kernel = KERNELS["matern and noise"]
    for name in NAMES:
        for groups in GROUPS.values():
            exact, near = (evaluated(name, kernel, a, groups, trend=trend, gradient=True) for a in (None, ks.Nystrom(X)))
            slack = 1e3 * N * twin.JITTER * np.diag(kernel(X)).max() / noise.min()
            assert near.value == pytest.approx(exact.value, rel=slack, abs=slack), name
            size = np.abs(exact.gradient).max() + np.abs(exact.noise_gradient).max()
            np.testing.assert_allclose(near.gradient, exact.gradient, rtol=0, atol=slack * size, err_msg=name)
            np.testing.assert_allclose(near.noise_gradient, exact.noise_gradient, rtol=0, atol=slack * size, err_msg=name)
            np.testing.assert_allclose(near.beta, exact.beta, rtol=0, atol=slack * (1 + np.abs(exact.beta).max(initial=0)))


def test_groups_of_one_point_are_points_left_out_alone():
    near, kernel, alone = ks.Nystrom(LANDMARKS), COMPOSITE, np.arange(N)
    for name in ("loo", "loo_log_density"):
        one, other = (evaluated(name, kernel, near, groups, gradient=True) for groups in (None, alone))
        assert one.value == other.value
        np.testing.assert_array_equal(one.gradient, other.gradient)
    joint = evaluated("kfold_log_density", kernel, near, alone, outputs=0, gradient=True)
    slack = amplified(kernel(LANDMARKS, LANDMARKS.copy()))[1]
    single = evaluated("loo_log_density", kernel, near, None, outputs=0, gradient=True)
    assert joint.value == pytest.approx(single.value, rel=slack)
    np.testing.assert_allclose(joint.gradient, single.gradient, rtol=0, atol=slack * np.abs(single.gradient).max())


def test_equal_rows_are_left_out_together():
    X, y, noise = data(0)
    X = X[[0, 1, 2, 0, 4, 5, 5, 7, 8, 5, 10, 11, 12, 13]]
    labels = [0, 1, 2, 0, 4, 5, 5, 7, 8, 5, 10, 11, 12, 13]
    for trend in (None, "linear"):
        found = ks.loo(RBF(0.7), X, y, noise=noise, trend=trend, approximation=ks.Nystrom(LANDMARKS))
        K_XZ, K_ZZ, own, _ = blocks(RBF(0.7), X, LANDMARKS)
        fit = twin.fit(K_XZ, K_ZZ, own, noise, trend_matrix(trend, X), y[:, None], labels)
        slack = amplified(K_ZZ)[0]
        np.testing.assert_allclose(found.residuals, fit["residual"][:, 0], rtol=slack, atol=slack)
        np.testing.assert_allclose(found.variances, fit["variance"], rtol=slack)


@pytest.mark.parametrize("size", [20, 300])
def test_many_rows_in_several_blocks(size):
    """Refits from sums over all rows but those of a group: n times m numbers."""
    n, noise, rng = 2400, 0.1, np.random.default_rng(1)
    X = rng.uniform(size=(n, 2))
    y = np.sin(6 * X).sum(axis=1) + 0.3 * rng.standard_normal(n)
    groups, Z, kernel = rng.permutation(n) // size, X[:60], RBF([0.3, 0.4])
    found = ks.loo(kernel, X, y, noise=noise, trend="constant", groups=groups, approximation=ks.Nystrom(Z))
    F = np.linalg.solve(np.linalg.cholesky(twin.jittered(kernel(Z, Z.copy()))), kernel(Z, X)).T
    D = np.column_stack([F, np.ones(n)])
    residuals, variances = np.zeros(n), np.zeros(n)
    for label in np.unique(groups):
        own, rest = groups == label, groups != label
        M = D[rest].T @ D[rest] / noise + np.diag([*np.ones(60), 0.0])
        residuals[own] = y[own] - D[own] @ np.linalg.solve(M, D[rest].T @ y[rest] / noise)
        variances[own] = noise + 1 - np.sum(F[own] ** 2, axis=1) + np.sum(D[own] * np.linalg.solve(M, D[own].T).T, axis=1)
    # Rounding errors of K_ZZ, amplified in Q, beside the noise
    slack = n * eps(float) * np.sqrt(np.linalg.cond(twin.jittered(kernel(Z, Z.copy())))) / noise
    np.testing.assert_allclose(found.residuals, residuals, rtol=0, atol=slack)
    np.testing.assert_allclose(found.variances, variances, rtol=0, atol=slack)
    for name in ("loo", "loo_log_density"):
        given = {"noise": noise, "trend": "constant", "groups": groups, "approximation": ks.Nystrom(Z)}

        def value(theta, name=name, given=given):
            return ks.evaluate(name, kernel.clone_with_theta(theta), X, y, **given).value

        slopes = ks.evaluate(name, kernel, X, y, gradient=True, **given)
        expected, error = ref.central_differences(value, kernel.theta, 1e-3)
        np.testing.assert_allclose(slopes.gradient, expected, rtol=0, atol=10 * error.max())
        assert error.max() < 1e-3 * np.abs(expected).max()


def test_the_same_bits_for_any_number_of_threads(threads):
    X = np.random.default_rng(0).uniform(size=(2500, 3))
    y = np.sin(5 * X).sum(axis=1)
    groups = np.where(np.arange(2500) < 1500, np.arange(2500) // 9, 1000 + np.arange(2500) // 250)
    results = []
    for count in (1, 2, 3):
        threads(count)
        given = {"noise": 0.1, "trend": "linear", "groups": groups, "gradient": True, "approximation": ks.Nystrom(70)}
        found = ks.evaluate("loo_log_density", RBF([0.3, 0.4, 0.5]), X, y, **given)
        results.append((found.value, *found.gradient, found.noise_gradient))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("size", [2, 7])
def test_a_group_that_alone_determines_the_trend_is_refused(size):
    """By the core, too, of small groups and of large ones."""
    X, y, noise = data(2)
    groups = np.arange(N) // size
    criterion = _core.leave_out("squared", 0.0, None, False, False, groups.tolist(), N // size)
    near = ks.Nystrom(LANDMARKS).core()
    first = np.arange(N) < size
    # All but the first and last ones: rounding errors leave something of these, of either sign.
    small = 2e-8 * np.random.default_rng(2).uniform(size=(10, N))
    for values, refused in ((first, True), *((first + some, True) for some in small), (np.arange(N) % size == 0, False)):
        H = np.column_stack([np.ones(N), values.astype(float)])
        given = criterion, KERNELS["rbf"].build(), X, y, noise, H, None, True, Workspace(), near
        if refused:
            with pytest.raises(ValueError, match="without it the trend is not determined"):
                _core.evaluate(*given)
        else:
            assert np.isfinite(_core.evaluate(*given)["value"])


def test_sums_of_all_rows_but_some():
    X, y, noise = data(2)
    made = _core.NystromBlocks.begin(KERNELS["rbf"].build(), LANDMARKS, 0)
    none = np.zeros((N, 0))
    sums = made.add(X, y, noise, none)
    sums.subtract(made.add(X[:4], y[:4], noise[:4], none[:4]))
    rest = made.add(X[4:], y[4:], noise[4:], none[4:])
    assert sums.rows == rest.rows == N - 4
    slack = N * eps(float) * np.abs(made.add(X, y, noise, none).moments).max()
    for name in ("moments", "products", "squares", "log_noise", "missing"):
        np.testing.assert_allclose(getattr(sums, name), getattr(rest, name), rtol=0, atol=slack)
    for other in (made.add(X, y, noise, none), made.add(X[:4], y[:4, :1], noise[:4], none[:4])):
        with pytest.raises(ValueError, match="other: expected sums"):
            sums.subtract(other)
