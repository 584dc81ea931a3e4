"""Predictions by landmarks: exact if all points are landmarks, the slow twin's if they are few, and made of sums over rows."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import kernsel as ks
from kernsel import _core
from kernsel._solve.landmark_posterior import LandmarkPosterior
from kernsel._solve.posterior import Posterior
from kernsel.estimators.fitted import ModelPath
from kernsel.kernels import RBF, WhiteKernel

import reference_nystrom as twin
from accuracy import eps

N, FEW, WHITE = 25, 7, 0.05
KERNEL = 1.3 * RBF([0.7, 1.1]) + WhiteKernel(WHITE)
CONDITION = 1e3  # of the kernel matrices with noise, and of those of few landmarks, at most
TIGHT = 100 * N * eps(float) * CONDITION
EXACT = 100 * CONDITION * twin.JITTER  # what the jitter of the landmarks changes, relative to entries of size one


def data(outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (N, 2))
    y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2])[:, :outputs] + 0.1 * rng.standard_normal((N, outputs))
    return X, y, rng.uniform(0.05, 0.2, N), rng.uniform(-1, 1, (6, 2))


def landmarks(trend="linear", few=FEW):
    X, y, noise, _ = data()
    return LandmarkPosterior(KERNEL, X, y, noise, trend, ks.Nystrom(few))


@pytest.mark.parametrize("trend", [None, "constant", lambda X: np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 2])])
def test_everything_is_exact_if_all_points_are_landmarks(trend):
    X, y, noise, Z = data()
    exact, other = Posterior(KERNEL, X, y, noise, trend), LandmarkPosterior(KERNEL, X, y, noise, trend, ks.Nystrom(X))
    for name in ("mean", "variance", "covariance", "mean_gradient", "variance_gradient"):
        np.testing.assert_allclose(getattr(other, name)(Z), getattr(exact, name)(Z), rtol=EXACT, atol=EXACT)
    for ours, theirs in zip(other.leave_one_out(), exact.leave_one_out(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(other.weights, exact.weights, rtol=EXACT, atol=EXACT)
    for scale in (np.ones(2), np.array([0.5, 2.0])):
        for restricted in (False, True):
            likelihoods = [p.log_likelihood(scale, restricted=restricted) for p in (other, exact)]
            assert likelihoods[0] == pytest.approx(likelihoods[1], rel=EXACT)
    assert other.missing == pytest.approx(0, abs=EXACT)


@pytest.mark.parametrize("trend", [None, "linear"])
def test_few_landmarks_are_those_of_the_slow_twin(trend):
    X, y, noise, Z = data()
    posterior = landmarks(trend)
    U, H, h = posterior.landmarks, posterior.H, np.zeros((6, 0)) if trend is None else np.column_stack([np.ones(6), Z])
    assert len(U) == FEW
    own = KERNEL.diag(X) - WHITE
    found = twin.fit(KERNEL(X, U), KERNEL(U, U.copy()), own, noise + WHITE, H, y)
    mean, covariance = twin.predict(found, KERNEL(X, U), KERNEL(U, U.copy()), KERNEL(Z, U), KERNEL(Z), h)
    np.testing.assert_allclose(posterior.mean(Z), mean, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(posterior.covariance(Z), covariance, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(posterior.variance(Z), np.diag(covariance), rtol=TIGHT)
    residuals, variances, leverages = posterior.leave_one_out()
    np.testing.assert_allclose(residuals, found["residual"], rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(variances, found["variance"], rtol=TIGHT)
    np.testing.assert_allclose(leverages, 1 - (noise + WHITE) * found["precision"], rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(posterior.weights, found["c"], rtol=TIGHT, atol=TIGHT)
    for restricted, name in ((False, "lml"), (True, "reml")):
        value = posterior.log_likelihood(np.ones(2), restricted=restricted)
        assert value == pytest.approx(twin.criterion(name, found), rel=TIGHT)
        assert value == pytest.approx(posterior.value_of(ks.criteria.Likelihood(restricted=restricted)), rel=TIGHT)
    assert posterior.value_of(ks.criteria.GeneralizedCrossValidation()) == pytest.approx(
        twin.criterion("gcv", found), rel=TIGHT
    )
    both = posterior.mean_and_variance(Z)
    np.testing.assert_array_equal(both[0], posterior.mean(Z))
    np.testing.assert_array_equal(both[1], posterior.variance(Z))


def test_the_mean_is_a_sum_over_landmarks():
    posterior, Z = landmarks(None), data()[3]
    points, coefficients = posterior.centres()
    np.testing.assert_allclose(KERNEL(Z, points) @ coefficients, posterior.mean(Z), rtol=TIGHT, atol=TIGHT)


def test_points_are_added_and_removed():
    X, y, noise, Z = data()
    whole = landmarks()
    given = ks.Nystrom(whole.landmarks)
    grown = LandmarkPosterior(KERNEL, X[:20], y[:20], noise[:20], "linear", given)
    grown.append(X[20:], y[20:], noise[20:])
    for name in ("mean", "variance"):
        np.testing.assert_allclose(getattr(grown, name)(Z), getattr(whole, name)(Z), rtol=TIGHT)
    np.testing.assert_allclose(grown.weights, whole.weights, rtol=TIGHT, atol=TIGHT)
    grown.remove(-1)
    without = LandmarkPosterior(KERNEL, X[:-1], y[:-1], noise[:-1], "linear", given)
    np.testing.assert_allclose(grown.beta, without.beta, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(grown.weights, without.weights, rtol=TIGHT, atol=TIGHT)
    assert len(grown.X) == len(grown.H) == N - 1
    with pytest.raises(ValueError, match="noise of each point must be positive"):
        grown.append(X[:1], y[:1], np.array([-1.0]))
    assert len(grown.X) == N - 1


def test_pickles_are_the_same_to_the_last_bit():
    posterior, Z = landmarks(), data()[3]
    copy = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(copy.mean(Z), posterior.mean(Z))
    np.testing.assert_array_equal(copy.variance(Z), posterior.variance(Z))
    np.testing.assert_array_equal(copy.leave_one_out()[0], posterior.leave_one_out()[0])
    assert copy.approximation == posterior.approximation


def test_sums_are_enough():
    X, y, noise, Z = data()
    whole = landmarks("constant")
    blocks = _core.NystromBlocks.begin(KERNEL.build(), whole.landmarks, 1)
    sums = _core.NystromSums()
    for rows in (slice(0, 9), slice(9, 20)):
        sums.add(blocks.add(X[rows], y[rows], noise[rows], np.ones((len(X[rows]), 1))))
    posterior = LandmarkPosterior.of_sums(KERNEL, "constant", ks.Nystrom(FEW), whole.landmarks, sums)
    posterior.append(X[20:], y[20:], noise[20:])
    posterior = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_allclose(posterior.mean(Z), whole.mean(Z), rtol=TIGHT)
    np.testing.assert_allclose(posterior.variance_gradient(Z), whole.variance_gradient(Z), rtol=TIGHT, atol=TIGHT)
    assert posterior.log_likelihood(np.ones(2)) == pytest.approx(whole.log_likelihood(np.ones(2)), rel=TIGHT)
    assert not posterior.keeps_rows
    assert len(posterior.X) == 0
    for takes_rows in (posterior.leave_one_out, lambda: posterior.weights, lambda: posterior.remove(0)):
        with pytest.raises(ValueError, match="has kept none of them"):
            takes_rows()


def test_no_factor_of_the_whole_matrix():
    with pytest.raises(AttributeError, match="no Cholesky factor"):
        landmarks().lower()


def test_leaving_out_by_landmarks_and_by_the_posterior_are_the_same():
    X, y, noise, _ = data()
    posterior, found = landmarks(), ks.loo(KERNEL, X, y, noise=noise, trend="linear", approximation=ks.Nystrom(FEW))
    residuals, variances, leverages = posterior.leave_one_out()
    np.testing.assert_allclose(found.residuals, residuals, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(found.variances, variances, rtol=TIGHT)
    np.testing.assert_allclose(found.leverage, leverages, rtol=TIGHT, atol=TIGHT)


@pytest.fixture(scope="module")
def fitted():
    X, y, _, _ = data(1)
    given = {"noise": 0.05, "optimizer": None, "trend": "constant", "approximation": ks.Nystrom(8)}
    return ks.GaussianProcessRegressor(1.3 * RBF(0.9), **given).fit(X, y[:, 0])


def test_a_process_predicts_updates_and_is_saved(fitted, tmp_path):
    Z = data()[3]
    assert isinstance(fitted.posterior_, LandmarkPosterior)
    assert "8 landmarks" in fitted.selection_.approximation
    mean, std = fitted.predict(Z, return_std=True)
    _, cov = fitted.predict(Z, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), std, rtol=TIGHT)
    assert fitted.sample_y(Z, 3, random_state=0).shape == (6, 3)
    assert np.shape(fitted.predict_gradient(Z)) == (6, 2)
    assert fitted.alpha_.shape == fitted.loo_residuals_.shape == (N,)
    parts = fitted.mean_of_term(fitted.kernel_) + fitted.mean_of_trend()
    np.testing.assert_allclose(parts, fitted.predict(fitted.X_train_), rtol=TIGHT)
    ks.save(fitted, tmp_path / "landmarks.ksl")
    loaded = ks.load(tmp_path / "landmarks.ksl")
    np.testing.assert_array_equal(loaded.predict(Z, return_std=True), (mean, std))
    assert loaded.posterior_.approximation == fitted.posterior_.approximation
    loaded.update(Z, mean + 0.1)
    assert len(loaded.X_train_) == N + 6
    assert loaded.log_marginal_likelihood_value_ != fitted.log_marginal_likelihood_value_
    loaded.downdate(0)
    assert np.isfinite(loaded.predict(Z)).all()


def test_ridge_regression_is_the_mean_of_the_process(fitted):
    X, y, _, Z = data(1)
    given = {"alpha": 0.05, "fit_intercept": True, "approximation": ks.Nystrom(8)}
    ridge = ks.KernelRidge(1.3 * RBF(0.9), **given).fit(X, y[:, 0])
    np.testing.assert_allclose(ridge.predict(Z), fitted.predict(Z), rtol=TIGHT)
    np.testing.assert_allclose(ridge.dual_coef_, fitted.alpha_, rtol=TIGHT, atol=TIGHT)
    np.testing.assert_allclose(ridge.left_out(X, y[:, 0]).predictions, fitted.left_out().predictions, rtol=TIGHT)


def assert_same_path(found, expected):
    assert found.alpha == pytest.approx(expected.alpha, rel=TIGHT)
    ours, theirs = (one.path.at([0.1 * expected.alpha, expected.alpha]) for one in (found, expected))
    for name in ("loo", "gcv", "effective_dof", "restricted_log_likelihood", "risk", "seminorm"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=10 * EXACT, err_msg=name)


def test_paths_of_processes():
    X, y, noise, _ = data(1)
    given = {"noise": noise, "optimizer": None, "trend": "linear", "normalize_y": True}
    exact, same, few = (
        ks.GaussianProcessRegressor(1.3 * RBF(0.9), **given, approximation=a).fit(X, y[:, 0])
        for a in (None, ks.Nystrom(X), ks.Nystrom(FEW))
    )
    assert_same_path(same.regularization_path(), exact.regularization_path())
    found = few.regularization_path()
    assert len(found.path.landmarks) == FEW
    of_residuals = np.average(few.loo_residuals_**2, weights=1 / noise)
    assert found.path.at(found.alpha).loo[0] == pytest.approx(of_residuals, rel=TIGHT)


def test_paths_of_ridge_regression():
    X, y, _, _ = data()
    weights = np.where(np.arange(N) % 5 == 0, 0.0, 1.0 + X[:, 0] ** 2)
    used = weights > 0
    options = {"sigma": 0.3, "alpha_scale": "n"}
    same, few = (
        ks.KernelRidge(RBF(0.9), alpha=[0.02, 0.03], fit_intercept=True, **options, approximation=a).fit(X, y, weights)
        for a in (ks.Nystrom(X), ks.Nystrom(FEW))
    )
    path = ks.RegularizationPath(RBF(0.9), y[used, 1], X=X[used], trend="constant", sample_weight=weights[used], **options)
    assert_same_path(same.regularization_path(X, y, 1), ModelPath(path, 0.03, scale_known=False))
    found, left_out = few.regularization_path(X, y, 1), few.left_out(X, y, 1)
    assert len(found.path.landmarks) == FEW
    of_residuals = np.average((left_out.y - left_out.predictions) ** 2, weights=weights)
    assert found.path.at(found.alpha).loo[0] == pytest.approx(of_residuals, rel=TIGHT)
    with pytest.raises(ValueError, match="y: expected the targets that this KernelRidge was fitted to"):
        few.regularization_path(X, y + 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_regression_is_refined_to_that_of_the_whole_matrix(weighted, monkeypatch):
    X, y, _, Z = data()
    weights = np.where(np.arange(N) % 5 == 0, 0.0, 1.0 + X[:, 0] ** 2) if weighted else None
    given = {"alpha": [0.05, 0.2], "fit_intercept": True}
    exact = ks.KernelRidge(RBF(0.9), **given, approximation=None).fit(X, y, sample_weight=weights)
    refined = ks.KernelRidge(RBF(0.9), **given, approximation=ks.Nystrom(FEW, refine=True)).fit(X, y, sample_weight=weights)
    near = 1e-6 * CONDITION  # the relative residual that counts as converged
    np.testing.assert_allclose(refined.dual_coef_, exact.dual_coef_, rtol=near, atol=near * np.abs(exact.dual_coef_).max())
    np.testing.assert_allclose(refined.intercept_, exact.intercept_, rtol=near)
    np.testing.assert_allclose(refined.predict(Z), exact.predict(Z), rtol=near, atol=near)
    assert "conjugate gradients with 7 landmarks" in refined.approximation_
    if not weighted:
        found, expected = (model.left_out(X, y, 1).predictions for model in (refined, exact))
        np.testing.assert_allclose(found, expected, rtol=near, atol=near)
        monkeypatch.setattr("kernsel._base.memory._WORTH_CHECKING", 0)
        monkeypatch.setattr("kernsel._base.memory._core.available_memory", lambda: 100)
        with pytest.raises(MemoryError, match=r"a refined fit has no factorization, and that of 25 points .*by landmarks"):
            refined.left_out(X, y)


def test_means_of_a_process_are_refined_to_those_of_the_whole_matrix(tmp_path):
    X, y, _, Z = data()
    given = {"noise": 0.1, "optimizer": None, "trend": "linear"}
    exact, coarse, refined = (
        ks.GaussianProcessRegressor(RBF(0.9), **given, approximation=a).fit(X[:-2], y[:-2])
        for a in (None, ks.Nystrom(FEW), ks.Nystrom(FEW, refine=True))
    )
    near = 1e-6 * CONDITION  # the relative residual that counts as converged
    assert np.abs(coarse.predict(Z) - exact.predict(Z)).max() > 10 * near  # there is something to refine

    def compare(model, exact):
        for name in ("predict", "predict_gradient"):
            np.testing.assert_allclose(getattr(model, name)(Z), getattr(exact, name)(Z), rtol=near, atol=near)
        np.testing.assert_allclose(model.alpha_, exact.alpha_, rtol=near, atol=near * np.abs(exact.alpha_).max())
        np.testing.assert_allclose(model.beta_, exact.beta_, rtol=near, atol=near)

    compare(refined, exact)
    mean, std = refined.predict(Z, return_std=True)
    np.testing.assert_array_equal(mean, refined.predict(Z))
    np.testing.assert_array_equal(std, coarse.predict(Z, return_std=True)[1])
    np.testing.assert_array_equal(refined.loo_residuals_, coarse.loo_residuals_)
    assert "Means: coefficients of the whole kernel matrix" in refined.selection_.approximation
    ks.save(refined, tmp_path / "refined.ksl")
    for same in (ks.load(tmp_path / "refined.ksl"), pickle.loads(pickle.dumps(refined))):
        np.testing.assert_array_equal(same.predict(Z, return_std=True), (mean, std))
        assert same.posterior_.approximation == refined.posterior_.approximation
        compare(same.update(X[-2:], y[-2:]).downdate(3), exact_of_changed(given, X, y))


def exact_of_changed(given, X, y):
    rows = np.delete(np.arange(N), 3)
    return ks.GaussianProcessRegressor(RBF(0.9), **given, approximation=None).fit(X[rows], y[rows])


def test_refining_is_refused_where_it_is_not_done_and_warns_where_it_fails(monkeypatch):
    X, y, noise, _ = data(1)
    with pytest.raises(ValueError, match="refine: expected False here"):
        ks.evaluate("lml", KERNEL, X, y, noise=noise, approximation=ks.Nystrom(FEW, refine=True))
    with pytest.raises(ValueError, match="refine: expected True or False"):
        ks.Nystrom(FEW, refine=1)
    monkeypatch.setattr("kernsel._solve.landmark_posterior._MOST_ITERATIONS", 1)
    with pytest.warns(ConvergenceWarning, match="Take more landmarks"):
        ks.KernelRidge(RBF(0.9), alpha=1e-3, approximation=ks.Nystrom(FEW, refine=True)).fit(X, y[:, 0])
    with pytest.warns(ConvergenceWarning, match="or a larger noise"):
        ks.GaussianProcessRegressor(RBF(0.9), noise=0.1, optimizer=None, approximation=ks.Nystrom(FEW, refine=True)).fit(X, y)
