"""The Gaussians along whose ellipses latent values are drawn. Draws are tested where they are taken (test_sampling.py)."""

import numpy as np

from kernsel._sample.ellipses import Ellipses

from accuracy import eps


def test_a_trend_is_the_limit_of_a_wide_prior(rng):
    n = 6
    F = np.linalg.cholesky(np.exp(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / 3.0))
    H = np.column_stack([np.ones(n), np.arange(n)])
    sites = rng.uniform(0.5, 3.0, n), rng.standard_normal(n)
    found = Ellipses(F, sites, H)
    precision = np.linalg.inv(F @ F.T)
    of_contrasts = precision - precision @ H @ np.linalg.solve(H.T @ precision @ H, H.T @ precision)
    covariance = np.linalg.inv(of_contrasts + np.diag(sites[0]))
    tolerance = 64 * n * eps(float) * np.linalg.cond(of_contrasts + np.diag(sites[0])) * np.abs(covariance).max()
    np.testing.assert_allclose(found.G @ found.G.T, covariance, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.mean, covariance @ sites[1], rtol=0, atol=tolerance * np.abs(sites[1]).sum())
    without = Ellipses(F, sites)
    np.testing.assert_allclose(without.G @ without.G.T, np.linalg.inv(precision + np.diag(sites[0])), rtol=0, atol=tolerance)
