"""Processes whose next points are looked for."""

import numpy as np
import pytest

import kernsel as ks


@pytest.fixture
def process(rng):
    """Return what fits a process of two columns with given hyperparameters."""
    X = rng.uniform(-1, 1, (12, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(12)

    def fit(alpha=0.01, trend="constant"):
        kernel = 1.3 * ks.kernels.RBF([0.6, 0.8]) + 0.2 * ks.kernels.Matern(1.0, nu=2.5)
        return ks.GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None, trend=trend, normalize_y=True).fit(X, y)

    return fit
