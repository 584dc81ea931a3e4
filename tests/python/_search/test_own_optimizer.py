"""Searches by a function of the caller's."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel

GP = ks.GaussianProcessRegressor


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)
    return X, y, rng.uniform(size=(15, 2))


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
