"""Joint covariances agree with those of predictions, and their derivatives with differences."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.design.surrogate import Surrogate

import reference


def waves(Z):
    return np.column_stack([np.ones(len(Z)), np.cos(Z[:, 0])])


@pytest.mark.parametrize("trend", [None, "constant", "linear", "quadratic", waves])
@pytest.mark.parametrize("alpha", [1e-6, 0.01])
def test_covariance_and_its_derivatives(process, rng, trend, alpha):
    gp = process(alpha, trend)
    Z, R, W = rng.uniform(-1, 1, (3, 2)), rng.uniform(-1, 1, (4, 2)), rng.standard_normal((3, 4))
    joint = Surrogate(gp).covariance_with(R)
    expected = gp.predict(np.vstack([Z, R]), return_cov=True, noisy=False)[1]
    condition = 100 / alpha  # of the kernel matrix of 12 points at most
    limit = np.finfo(float).eps * condition * np.abs(expected).max()
    assert np.abs(joint.at(Z) - expected[:3, 3:]).max() <= limit
    slopes, error = reference.central_differences(lambda z: np.vdot(W, joint.at(z.reshape(3, 2))), Z.ravel())
    error = error + limit * np.abs(W).sum() / 1e-5
    assert (np.abs(np.ravel(joint.pull(Z, W)) - slopes) <= error).all()


def test_moments_have_the_sign_and_the_unit_of_the_targets(process, rng):
    gp, Z = process(), rng.uniform(-1, 1, (3, 2))
    mean, std = gp.predict(Z, return_std=True)
    for maximize, sign in ((True, 1.0), (False, -1.0)):
        surrogate = Surrogate(gp, maximize)
        assert surrogate.mean(Z) == pytest.approx(sign * mean, rel=1e-12)
        assert np.sqrt(surrogate.variance(Z)) == pytest.approx(std, rel=1e-12)
    assert surrogate.noise == pytest.approx(0.01 * np.var(gp.kept_data()[1]), rel=1e-12)


def test_models_that_have_no_normal_function_of_numbers():
    X, y = np.linspace(0, 1, 6)[:, None], np.arange(6.0)
    with pytest.raises(TypeError, match=r"^model: expected a fitted GaussianProcessRegressor, got KernelRidge"):
        Surrogate(ks.KernelRidge())
    with pytest.raises(ValueError, match="not fitted"):
        Surrogate(ks.GaussianProcessRegressor())
    kernel = ks.kernels.RBF(1.0)
    with pytest.raises(ValueError, match=r"^model: Poisson observations are not normal"):
        Surrogate(ks.GaussianProcessRegressor(kernel, optimizer=None, likelihood="poisson").fit(X, y))
    two = ks.GaussianProcessRegressor(kernel, optimizer=None, alpha=0.1).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"^model: expected one output, got 2"):
        Surrogate(two)
    some = ks.GaussianProcessRegressor(kernel, optimizer=None, alpha=0.1, approximation=ks.Vecchia(3)).fit(X, y)
    with pytest.raises(ValueError, match=r"^model: this acquisition takes joint covariances"):
        Surrogate(some).covariance_with(X)
