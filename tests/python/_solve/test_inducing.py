"""Inducing points under neighbours: exact if all others are neighbours, and what the slow twin computes if they are few."""

import pickle

import numpy as np
import pytest

import kernsel as ks
from kernsel import _core
from kernsel._data.trend import trend_matrix
from kernsel._solve.near import NearPosterior
from kernsel._solve.posterior import Posterior
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

import reference as ref
import reference_vecchia as twin
from accuracy import eps
from criterion_cases import KERNELS, N, data, options, split

NAMES = ["lml", "profiled_lml", "reml", "profiled_reml", "loo", "loo_log_density", "profiled_loo_log_density", "loo_crps"]
NAMES += ["loo_absolute", "gcv", "risk"]
LABELS = ["rbf", "matern and noise", "linear and periodic", "mixture"]
JITTER = 1e-8  # of the landmarks' kernel matrix
SLACK = 1e6 * eps(float)  # the condition of the kernel matrices is some 1e3
SMOOTHING = 0.01


def evaluated(name, kernel, near, *, trend="constant", **more):
    X, y, noise = data(2)
    return ks.evaluate(name, kernel, X, y, approximation=near, **{"noise": noise, "trend": trend, **options(name), **more})


@pytest.mark.parametrize("inducing", [1, 5, N + 6])
@pytest.mark.parametrize("trend", [None, "constant", "linear"])
def test_equals_the_exact_criterion_if_all_others_are_neighbours(trend, inducing):
    for name in NAMES:
        for label in LABELS[:: 1 if inducing == 5 else 3]:
            exact, near = (
                evaluated(name, KERNELS[label], a, trend=trend, gradient=True)
                for a in (None, ks.Vecchia(N - 1, inducing=inducing))
            )
            assert near.value == pytest.approx(exact.value, rel=SLACK), name
            size = np.abs(exact.gradient).max() + np.abs(exact.noise_gradient).max()
            np.testing.assert_allclose(near.gradient, exact.gradient, rtol=0, atol=SLACK * size)
            np.testing.assert_allclose(near.noise_gradient, exact.noise_gradient, rtol=0, atol=SLACK * size)
            np.testing.assert_allclose(near.beta, exact.beta, rtol=0, atol=SLACK * (1 + np.abs(exact.beta).max(initial=0)))


@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize("label", ["rbf", "mixture"])
def test_few_neighbours_are_those_of_the_slow_twin(label, trend):
    X, y, noise = data(2)
    kernel, H, weights = KERNELS[label], trend_matrix(trend, X), np.linspace(0.5, 2.0, N)
    K, white = split(kernel, X)
    for name in NAMES:
        workspace = Workspace()
        more = {"smoothing": SMOOTHING} if name == "loo_absolute" else {}
        near = ks.Vecchia(4, inducing=5)
        found = evaluated(name, kernel, near, trend=trend, workspace=workspace, sample_weight=weights, **more)
        Z = workspace.landmarks()
        assert len(Z) == 5
        landmarks = kernel(X, Z), kernel(Z, Z.copy()) * (1 + JITTER * np.eye(5))  # Z, copied: without the noise of the kernel
        before, others = workspace.neighbors(), workspace.neighbors(left_out=True)
        fit = twin.fit(K, noise / weights + white, H, y, before, others, landmarks)
        value = twin.criterion(name, fit, weights=weights, sigma=0.3, smoothing=SMOOTHING * np.std(y))[0]
        assert found.value == pytest.approx(value, rel=SLACK), name
        np.testing.assert_allclose(found.beta, fit["beta"][5:], rtol=SLACK)


@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_central_differences(name, trend):
    _, _, noise = data(2)
    kernel, workspace, near = (
        KERNELS["matern and noise" if name in ("lml", "loo", "gcv") else "rbf"],
        Workspace(),
        ks.Vecchia(4, inducing=5),
    )

    def value(theta, variances):
        return evaluated(name, kernel.clone_with_theta(theta), near, trend=trend, noise=variances, workspace=workspace).value

    found = evaluated(name, kernel, near, trend=trend, workspace=workspace, gradient=True)
    step = eps(float) ** (1 / 3)
    tolerance = 1e3 * step**2 * (1 + np.abs(found.gradient).max() + np.abs(found.noise_gradient).max() + abs(found.value))
    for p in range(kernel.n_dims):
        move = step * np.eye(kernel.n_dims)[p]
        slope = (value(kernel.theta + move, noise) - value(kernel.theta - move, noise)) / (2 * step)
        assert found.gradient[p] == pytest.approx(slope, abs=tolerance), p
    for i in (0, 5, 13):
        move = 0.1 * step * np.eye(N)[i]
        slope = (value(kernel.theta, noise + move) - value(kernel.theta, noise - move)) / (0.2 * step)
        assert found.noise_gradient[i] == pytest.approx(slope, abs=100 * tolerance), i


def test_the_same_bits_for_any_number_of_threads():
    X = np.random.default_rng(0).uniform(size=(1500, 3))
    y = np.sin(5 * X).sum(axis=1)
    before = ks.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            ks.set_num_threads(threads)
            for name in ("reml", "loo_log_density", "gcv"):
                near = ks.Vecchia(10, inducing=70)
                given = {"noise": 0.1, "trend": "linear", "gradient": True, "approximation": near}
                found = ks.evaluate(name, RBF([0.3, 0.4, 0.5]), X, y, **given)
                results.append((found.value, *found.gradient, found.noise_gradient))
    finally:
        ks.set_num_threads(before)
    assert results[:3] == results[3:6] == results[6:]


def test_landmarks_are_points_and_no_more_than_are_needed():
    X = np.random.default_rng(0).uniform(size=(400, 2))
    y, found = X[:, 0], {}
    for label, kernel in (("smooth", RBF(0.3)), ("three", DotProduct(1.0))):
        for seed in (0, 1):
            workspace = Workspace()
            near = ks.Vecchia(5, random_state=seed, inducing=40)
            ks.evaluate("lml", kernel, X, y, noise=0.1, approximation=near, workspace=workspace)
            found[label, seed] = {tuple(row) for row in workspace.landmarks()}
    rows = {tuple(row) for row in X}
    assert all(landmarks <= rows for landmarks in found.values())
    assert len(found["smooth", 0]) == 40
    assert len(found["three", 0]) == 3  # a kernel of rank three
    assert found["smooth", 0] != found["smooth", 1]


def test_equal_points_are_no_two_landmarks():
    X, y, noise = data(0)
    X = np.vstack([X, X])
    y, noise = np.tile(y, 2), np.tile(noise, 2)
    exact, near = (
        ks.evaluate("lml", RBF(0.7), X, y, noise=noise, approximation=a).value for a in (None, ks.Vecchia(27, inducing=28))
    )
    assert near == pytest.approx(exact, rel=SLACK)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n):
    X, y, noise = (part[:n] for part in data(0))
    for name in ("lml", "loo") if n > 1 else ("lml",):
        exact, near = (
            ks.evaluate(name, Matern(1.0), X, y, noise=noise, approximation=a).value for a in (None, ks.Vecchia(4, inducing=4))
        )
        assert near == pytest.approx(exact)


def test_smooth_functions_with_little_noise_need_inducing_points():
    rng = np.random.default_rng(0)
    X, Z, noise = rng.uniform(size=(1000, 2)), rng.uniform(size=(300, 2)), np.full(1000, 1e-6)
    y = np.sin(6 * X[:, :1]) * np.cos(4 * X[:, 1:]) + 1e-3 * rng.standard_normal((1000, 1))
    given = RBF(0.3), X, y, noise, None
    exact = Posterior(*given)
    mean, size, likelihood = exact.mean(Z), np.sqrt(exact.variance(Z)[:, None]), exact.log_likelihood(np.ones(1))
    predicted, density = {}, {}
    for inducing in (0, 100):
        near = NearPosterior(*given, ks.Vecchia(15, 15, inducing=inducing))
        predicted[inducing] = np.sqrt(np.mean(((near.mean(Z) - mean) / size) ** 2))
        density[inducing] = abs(near.log_likelihood(np.ones(1)) - likelihood)
    assert predicted[100] < 0.1 * predicted[0]
    assert density[100] < 0.01 * density[0]


KERNEL = 1.3 * RBF([0.7, 1.1]) + WhiteKernel(0.05)
TIGHT = 100 * 25 * eps(float) * 1e3


def of_posterior(trend="linear", few=5, count=25, inducing=6, kernel=KERNEL):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (count, 2))
    y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2]) + 0.1 * rng.standard_normal((count, 2))
    noise, Z = rng.uniform(0.05, 0.2, count), rng.uniform(-1, 1, (6, 2))
    return kernel, X, y, noise, trend, ks.Vecchia(few, few, inducing=inducing), Z


@pytest.mark.parametrize("trend", [None, "constant", "quadratic"])
def test_predictions_are_exact_if_all_points_are_neighbours(trend):
    *given, near, Z = of_posterior(trend, 50)
    exact, other = Posterior(*given), NearPosterior(*given, near)
    for name in ("mean", "variance", "covariance", "mean_gradient", "variance_gradient"):
        np.testing.assert_allclose(getattr(other, name)(Z), getattr(exact, name)(Z), rtol=TIGHT, atol=TIGHT, err_msg=name)
    for ours, theirs in zip(other.leave_one_out(), exact.leave_one_out(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(other.weights, exact.weights, rtol=TIGHT, atol=TIGHT)


def test_few_neighbours_predict_as_those_of_the_slow_twin():
    kernel, X, y, noise, trend, near, Z = of_posterior("linear")
    posterior, scale, workspace = NearPosterior(kernel, X, y, noise, trend, near), np.array([1 / 0.7, 1 / 1.1]), Workspace()
    ks.evaluate("lml", kernel, X, y, noise=noise, trend=trend, approximation=near, workspace=workspace)
    L = posterior.landmarks
    np.testing.assert_array_equal(L, workspace.landmarks())
    landmarks = kernel(X, L), kernel(L, L.copy()) * (1 + JITTER * np.eye(len(L)))
    H, own = trend_matrix(trend, X), np.diag(kernel(Z, Z.copy()))
    found = twin.fit(kernel(X, X.copy()), noise + 0.05, H, y, workspace.neighbors(), None, landmarks)
    h, lists = trend_matrix(trend, Z), twin.nearest_rows(Z * scale, X * scale, 5)
    mean, variance = twin.predict(found, kernel(Z, X), own, h, lists, kernel(Z, L))
    np.testing.assert_allclose(posterior.mean(Z), mean, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(posterior.variance(Z), variance + 0.05, rtol=TIGHT)
    step = eps(float) ** (1 / 3)
    for j in range(2):  # derivatives, by central differences
        move = step * np.eye(2)[j]
        slope = (posterior.mean(Z + move) - posterior.mean(Z - move)) / (2 * step)
        np.testing.assert_allclose(posterior.mean_gradient(Z).reshape(6, 2, 2)[:, j], slope, atol=1e3 * step**2)
        slope = (posterior.variance(Z + move) - posterior.variance(Z - move)) / (2 * step)
        np.testing.assert_allclose(posterior.variance_gradient(Z)[:, j], slope, atol=1e3 * step**2)


def test_points_are_added_and_removed():
    kernel, X, y, noise, trend, near, Z = of_posterior("linear", 50)
    grown = NearPosterior(kernel, X[:20], y[:20], noise[:20], trend, near)
    L = grown.landmarks
    grown.append(X[20:], y[20:], noise[20:])
    whole = Posterior(kernel, X, y, noise, trend)
    np.testing.assert_allclose(grown.mean(Z), whole.mean(Z), rtol=100 * TIGHT)  # coefficients are updated point by point
    np.testing.assert_allclose(grown.variance(Z), whole.variance(Z), rtol=100 * TIGHT)
    grown.remove(3)
    kept = np.delete(np.arange(25), 3)
    np.testing.assert_allclose(grown.mean(Z), Posterior(kernel, X[kept], y[kept], noise[kept], trend).mean(Z), rtol=100 * TIGHT)
    np.testing.assert_array_equal(grown.landmarks, L)


def test_a_changed_kernel_has_other_features():
    kernel, X, y, noise, trend, near, Z = of_posterior("linear", 50)
    changed, other = NearPosterior(kernel, X, y, noise, trend, near), 2.0 * RBF([0.5, 0.9])
    changed._near.set_kernel(other.build())
    np.testing.assert_allclose(changed.mean(Z), Posterior(other, X, y, noise, trend).mean(Z), rtol=100 * TIGHT)


def test_pickles_predict_the_same():
    *given, near, Z = of_posterior()
    posterior = NearPosterior(*given, near)
    copy = pickle.loads(pickle.dumps(posterior))
    for name in ("mean", "variance", "mean_gradient"):
        np.testing.assert_array_equal(getattr(copy, name)(Z), getattr(posterior, name)(Z))
    np.testing.assert_array_equal(copy.weights, posterior.weights)


def test_a_process_searches_updates_and_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    y, Z = np.sin(5 * X[:, 0]) + X[:, 1], rng.uniform(size=(5, 2))
    near = ks.Vecchia(6, 12, inducing=9)
    model = ks.GaussianProcessRegressor("RBF", noise="auto", trend="constant", approximation=near).fit(X, y)
    assert "9 inducing points" in model.selection_.approximation
    mean, std = model.predict(Z, return_std=True)
    assert np.abs(mean - np.sin(5 * Z[:, 0]) - Z[:, 1]).max() < 0.02
    assert model.sample_y(Z, 3, random_state=0).shape == (5, 3)
    ks.save(model, tmp_path / "near.ksl")
    loaded = ks.load(tmp_path / "near.ksl")
    np.testing.assert_array_equal(loaded.predict(Z, return_std=True), (mean, std))
    assert loaded.posterior_.approximation == near
    loaded.update(Z, mean)
    loaded.downdate(0)
    assert np.abs(loaded.predict(Z) - mean).max() < 0.02


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match="inducing: expected a whole number from 0"):
        ks.Vecchia(inducing=-1)
    with pytest.raises(ValueError, match=r"inducing: expected at most 2000, got 5000.*take more neighbors"):
        ks.Vecchia(inducing=5000)


def test_a_kernel_that_is_constant_has_one_landmark():
    X, y, noise = data(0)
    given = "lml", ConstantKernel(2.0), X, y
    exact, near = (ks.evaluate(*given, noise=noise, approximation=a).value for a in (None, ks.Vecchia(1, inducing=3)))
    assert near == pytest.approx(exact, rel=1e3 * JITTER)  # Q is all of the kernel matrix, but for the jitter


def test_sums_over_some_points_have_exact_gradients():
    """As searches have them; the inducing points are then those of these points, each of which is left out of them."""
    X, y, noise = data(2)
    kernel, H, terms = KERNELS["rbf"], trend_matrix("linear", X), [1, 5, 6, 7, 9, 10, 13]
    for criterion in (_core.likelihood(True, "known"), _core.leave_out("log_density", 0.0, None, True, False)):
        workspace = Workspace()

        def found(theta, gradient, criterion=criterion, workspace=workspace):
            near = ks.Vecchia(4, inducing=3).core(terms)
            moved = kernel.clone_with_theta(theta).build()
            return _core.evaluate(criterion, moved, X, y, noise, H, None, gradient, workspace, near)

        slopes, errors = ref.central_differences(lambda theta, found=found: found(theta, False)["value"], kernel.theta, 1e-4)
        gradient = found(kernel.theta, True)["gradient"]
        assert (np.abs(gradient - slopes) <= errors + 1e-8 * np.abs(slopes).max()).all()
