"""What the example prints of explosions is so."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.examples.data import coal

import reference_likelihoods as slow


def test_models_of_explosions(row):
    _, count = coal()
    others = [np.delete(count, i).mean() for i in range(len(count))]
    constant = row("coal_mines", "constant rate")
    assert constant[0] == pytest.approx(stats.poisson.logpmf(count, others).sum(), abs=0.006)
    assert constant[1:] == [0, *np.bincount(count > stats.poisson.ppf(0.95, 191 / 112))]
    smooth, normal, varied = (row("coal_mines", name) for name in ("Poisson  ", "normal noise", "negative binomial  "))
    assert smooth[0] > normal[0] + 10 > constant[0] + 10
    assert varied[0] == pytest.approx(smooth[0], abs=0.1)  # whose variance is nearly Poisson's
    assert sum(smooth[1:]) == 112
    assert smooth[2] >= 0.9 * 112


def test_rate_of_explosions(row):
    year, count = coal()
    X, start = year[:, None], 1900.0
    gp = ks.GaussianProcessRegressor(likelihood="poisson").fit(X, count)
    _, f, W = slow.evidence("poisson", gp.kernel_(X), count, (), 1.0, np.ones((112, 1)))
    # The mode is the mean of a regression on targets of noise 1 / W, with a flat prior for the constant.
    Z = np.array([[1880.0], [start]])
    P = np.linalg.inv(gp.kernel_(X) + np.diag(1 / W))
    H, cross, targets = np.ones((112, 1)), gp.kernel_(Z, X), f + (count - np.exp(f)) / W
    left, spread = 1 - cross @ P @ H, 1 / (H.T @ P @ H)
    mean = cross @ P @ targets + (left @ spread @ H.T @ P @ targets)
    cov = gp.kernel_(Z) - cross @ P @ cross.T + left @ spread @ left.T
    median, lower, upper = row("coal_mines", "1900 ")[:3]
    expected = np.exp(mean[1] + np.sqrt(cov[1, 1]) * stats.norm.ppf([0.5, 0.05, 0.95]))
    assert [median, lower, upper] == pytest.approx(expected.tolist(), abs=0.006)
    fell, probability = row("coal_mines", "From 1880 to 1900 the rate fell to")
    assert fell == pytest.approx(np.exp(mean[1] - mean[0]), abs=0.006)
    deviation = np.sqrt(np.array([1, -1]) @ cov @ np.array([1, -1]))
    halved = stats.norm.cdf((np.log(0.5) - (mean[1] - mean[0])) / deviation)
    assert probability == pytest.approx(halved, abs=0.0015)
