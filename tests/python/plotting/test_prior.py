"""Draws before a fit: those of the prior, whatever the estimator has been fitted to."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.plotting import PriorDisplay


def test_draws_of_the_prior(data, process):
    X, y = data
    display = PriorDisplay.from_estimator(process, X, y, n_samples=3, level=0.9)  # a fit does not matter
    np.testing.assert_array_equal(display.mean, np.zeros(201))
    np.testing.assert_allclose(display.upper, stats.norm.isf(0.05), rtol=1e-12)
    fresh = ks.GaussianProcessRegressor(process.kernel, noise=0.05)
    Z = display.grid[0].reshape(-1, 1)
    np.testing.assert_array_equal(display.samples, fresh.sample_y(Z, 3, 0, noisy=False))
    assert len(display.lines_) == 4
    np.testing.assert_array_equal(display.scatter_.get_offsets(), np.column_stack([X[:, 0], y]))
    assert [text.get_text() for text in display.legend_.get_texts()] == ["mean before data", "90 % band", "samples", "data"]
    assert process.predict(X).any()  # still fitted


def test_one_of_several_columns():
    X = np.random.default_rng(0).uniform(size=(5, 3))
    display = PriorDisplay.from_estimator(ks.GaussianProcessRegressor(RBF(1.0)), X, columns=[1], at={0: 0.5}, n_samples=0)
    assert display.ax_.get_xlabel() == "x1"
    assert display.ax_.get_title(loc="left").startswith("at x0 = 0.5, x2 = ")
    assert display.samples is None


def test_bad_input(data):
    X, _ = data
    process, make = ks.GaussianProcessRegressor(RBF(1.0)), PriorDisplay.from_estimator
    with pytest.raises(TypeError, match=r"^estimator: expected a GaussianProcessRegressor, got KernelRidge"):
        make(ks.KernelRidge(), X)
    with pytest.raises(ValueError, match=r"^X: expected points, over whose range functions are drawn, got None"):
        make(process)
    with pytest.raises(ValueError, match=r"^X: expected finite numbers, one row for each point, got shape \(30,\)"):
        make(process, X[:, 0])
    with pytest.raises(ValueError, match=r"^columns: draws are along one column, got \[0, 1\]"):
        make(process, np.eye(2), columns=[0, 1])
    with pytest.raises(ValueError, match=r"^level: expected a number between 0 and 1, got 2"):
        make(process, X, level=2)
    with pytest.raises(ValueError, match=r"^output: expected 0"):
        make(process, X, output=1)
