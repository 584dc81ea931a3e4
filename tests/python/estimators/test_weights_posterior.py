"""Bayesian linear regression: the posterior of coefficients against scikit-learn and against the process of the same kernel."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge, Ridge

import kernsel as ks
from kernsel.kernels import Linear

from accuracy import assert_forward

GP = ks.GaussianProcessRegressor


@pytest.fixture(params=[(40, 5), (12, 30)], ids=str)
def data(request, rng):
    n, p = request.param
    X = rng.standard_normal((n, p)) + 3
    y = 5 + X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, y, rng.uniform(0.2, 3, n), rng.standard_normal((7, p)) + 3


def test_scikit_learns_bayesian_ridge(data):
    X, y, _, Z = data
    theirs = BayesianRidge().fit(X, y)
    ours = ks.RidgeRegression(alpha=theirs.lambda_ / theirs.alpha_, sigma=theirs.alpha_**-0.5).fit(X, y)
    A = X - X.mean(axis=0)
    condition = 1 + np.linalg.norm(A, 2) ** 2 * theirs.alpha_ / theirs.lambda_
    assert_forward(ours.coef_, theirs.coef_, condition, len(X), np.float64)
    assert_forward(ours.coef_cov_, theirs.sigma_, condition, len(X), np.float64)
    # Theirs forgets that the intercept is not known.
    mean, std = theirs.predict(Z, return_std=True)
    assert_forward(ours.predict(Z), mean, condition, len(X), np.float64)
    found = ours.predict(Z, return_std=True)[1] ** 2 - ours.noise_ / len(X)
    assert_forward(found, std**2, condition, len(X), np.float64)


@pytest.mark.parametrize("solver", ["primal", "dual", "svd"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_process_of_the_same_kernel(data, solver, intercept):
    X, y, weights, Z = data
    Y = np.column_stack([y, np.cos(X[:, 0])])
    model = ks.RidgeRegression(alpha=[0.5, 2.0], solver=solver, fit_intercept=intercept).fit(X, Y, weights)
    mean, of_function = model.predict(Z, return_std=True, noisy=False)
    of_observation = model.predict(Z, return_std=True)[1]
    for k in range(2):
        noise, kernel = model.noise_[k], (model.noise_[k] / model.alpha_[k]) * Linear()
        process = GP(kernel, optimizer=None, noise=noise, alpha=0.0, trend="constant" if intercept else None)
        expected = process.fit(X, Y[:, k], sample_weight=weights).predict(Z, return_std=True)
        condition = 1 + np.linalg.norm(X) ** 2 * weights.max() / model.alpha_[k]
        for found, one in zip((mean[:, k], of_function[:, k]), expected, strict=True):
            assert_forward(found, one, condition, len(X), np.float64)
        assert of_observation[:, k] ** 2 == pytest.approx(of_function[:, k] ** 2 + noise)


def test_the_noise(data):
    X, y, weights, _ = data
    n, few = len(X), X[:, :3]
    model = ks.RidgeRegression(alpha=0.0).fit(few, y)
    A = np.column_stack([np.ones(n), few])
    rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    assert model.noise_ == pytest.approx(rest @ rest / (n - 4))
    assert model.coef_cov_ == pytest.approx(model.noise_ * np.linalg.inv(A.T @ A)[1:, 1:])
    for criterion, taken in (("reml", 1), ("lml", 0)):  # the noise for which the data are the most probable
        model = ks.RidgeRegression(criterion=criterion).fit(few, y, weights)
        values = [
            ks.evaluate(
                criterion, (noise / model.alpha_) * Linear(), few, y, noise=noise, sample_weight=weights, trend="constant"
            ).value
            for noise in model.noise_ * np.array([0.98, 1.0, 1.02])
        ]
        assert values[1] == max(values), taken
    assert ks.RidgeRegression(alpha=1.0, sigma=0.4).fit(few, np.column_stack([y, y])).noise_ == pytest.approx([0.16, 0.16])


def test_alpha_scale(data):
    X, y, weights, _ = data
    n = len(X)
    assert ks.RidgeRegression(alpha=0.1, alpha_scale="n").fit(X, y).coef_ == pytest.approx(Ridge(alpha=0.1 * n).fit(X, y).coef_)
    total = weights.sum()
    each = {how: ks.RidgeRegression(alpha_scale=how, criterion="gcv").fit(X[:, :3], y, weights) for how in ("n", "none")}
    assert each["n"].alpha_ * total == pytest.approx(each["none"].alpha_, rel=1e-6)
    assert each["n"].coef_ == pytest.approx(each["none"].coef_, rel=1e-6)
    given = ks.RidgeRegression(alpha=0.1, alpha_scale="n").fit(X, y)
    assert given.regularization_path(X, y).path.at(0.1).effective_dof[0] == pytest.approx(given.effective_dof_)


def test_what_nothing_tells(rng):
    X, y = rng.standard_normal((6, 9)), rng.standard_normal(6)
    with pytest.raises(ValueError, match=r"return_std: the fit takes all degrees of freedom of 6 points.*sigma"):
        ks.RidgeRegression(alpha=0.0).fit(X, y).predict(X, return_std=True)
    model = ks.RidgeRegression(alpha=0.0, sigma=1.0).fit(X, y)
    assert np.isinf(model.predict(rng.standard_normal((3, 9)), return_std=True)[1]).all()
    assert model.predict(X, return_std=True, noisy=False)[1] == pytest.approx(1.0)  # each is known as well as its target
    with pytest.raises(ValueError, match="alpha: with 0, features that are linearly dependent"):
        _ = model.coef_cov_
    with pytest.raises(ValueError, match='alpha_scale: expected "none" or "n", got \'mean\''):
        ks.RidgeRegression(alpha_scale="mean").fit(X, y)


def test_on_disk(rng, tmp_path):
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    model = ks.RidgeRegression(alpha=1.0).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).coef_cov_, model.coef_cov_)
    ks.save(model, tmp_path / "model.kernsel")
    again = ks.load(tmp_path / "model.kernsel")
    assert again.noise_ == model.noise_
    assert again.coef_cov_ == pytest.approx(model.coef_cov_, rel=1e-12)
