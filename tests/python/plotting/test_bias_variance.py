"""Bias and variance: their sum is the error, and they are those of a linear smoother in closed form."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.plotting import BiasVarianceDisplay
from kernsel.structured import Spectrum

from plotted import ROUGH, gram

EPS = np.finfo(float).eps
ALPHAS = [0.01, 1.0, 100.0]


def test_of_a_linear_smoother():
    rng = np.random.default_rng(0)
    X = np.linspace(0, 6, 15).reshape(-1, 1)
    truth, sigma, samples = np.sin(X[:, 0]), 0.5, 60

    def draw(rng):
        return X, truth + sigma * rng.standard_normal(15)

    display = BiasVarianceDisplay.from_estimator(
        ks.KernelRidge(ROUGH), *draw(rng), param_name="alpha", param_range=ALPHAS, truth=truth, draw=draw, n_samples=samples
    )
    for at, alpha in enumerate(ALPHAS):
        S = gram(X) @ np.linalg.inv(gram(X) + alpha * np.eye(15))
        variance = sigma**2 * np.trace(S @ S.T) / 15
        bias2 = np.mean((S @ truth - truth) ** 2)
        # A mean of 60 sums of 15 squares, whose relative standard deviation is below 0.1. The mean of the fits has an error of
        # 1/60 of the variance, which adds to the squared bias: a sum of 15 squares, and of products with the bias.
        assert display.variance_[at] == pytest.approx(variance, rel=0.4)
        added = variance / samples
        spread = added * (2 / 15) ** 0.5 + 2 * (bias2 * added / 15) ** 0.5
        assert display.bias2_[at] == pytest.approx(bias2 + added, abs=4 * spread)
    error = ((display.predictions - truth) ** 2).mean(axis=(1, 2))
    np.testing.assert_allclose(display.error_, error, rtol=100 * EPS)
    assert display.best_ == ALPHAS[int(np.argmin(error))]
    np.testing.assert_array_equal(display.lines_["bias2"].get_ydata(), display.bias2_)
    fits = display.plot(kind="fits")
    assert len(fits.axes_) == len({0, int(np.argmin(error)), 2})
    assert fits.axes_[0].get_title(loc="left").startswith("alpha = 0.01")
    np.testing.assert_allclose(fits.lines_["mean"].get_ydata(), display.predictions[-1].mean(axis=0))


def test_of_rows_drawn_with_replacement(data):
    X, y = data
    display = BiasVarianceDisplay.from_estimator(
        ks.KernelRidge(ROUGH), X, y, param_name="alpha", param_range=[0.1, 10.0], n_samples=8, random_state=3
    )
    rng = np.random.default_rng(3)
    rows = [rng.integers(0, len(y), len(y)) for _ in range(8)]
    for s, taken in enumerate(rows):
        assert display.counted[s].tolist() == [i not in taken for i in range(len(y))]
        refit = ks.KernelRidge(ROUGH, alpha=10.0).fit(X[taken], y[taken])
        np.testing.assert_allclose(display.predictions[1, s], refit.predict(X), rtol=1e-9, atol=1e-12)
    each = []
    for i in range(len(y)):
        found = display.predictions[1, display.counted[:, i], i]
        if len(found):
            each.append([(found.mean() - y[i]) ** 2, found.var()])
    np.testing.assert_allclose([display.bias2_[1], display.variance_[1]], np.mean(each, axis=0), rtol=100 * EPS)
    assert display.legend_.get_texts()[0].get_text() == "bias² and noise"


def test_points_that_are_objects():
    words = ["GATT", "ATTA", "CCGG", "CGGA", "TTTT", "GGAC"]
    display = BiasVarianceDisplay.from_estimator(
        ks.KernelRidge(Spectrum(1)), words, np.arange(6.0), param_name="kernel__length", param_range=[1, 2], n_samples=5
    )
    assert display.x is None
    assert display.predictions.shape == (2, 5, 6)


def test_bad_input(data):
    X, y = data
    model = ks.KernelRidge(ROUGH)
    make = BiasVarianceDisplay.from_estimator
    with pytest.raises(ValueError, match=r"^X, y: expected"):
        make(model)
    with pytest.raises(TypeError, match=r"^estimator: expected a regressor, got the classifier GaussianProcessClassifier"):
        make(ks.GaussianProcessClassifier(), X, y > 0)
    with pytest.raises(ValueError, match=r"^n_samples: expected two samples at least, got 1"):
        make(model, X, y, param_range=[1.0], n_samples=1)
    with pytest.raises(ValueError, match=r"^truth: expected a number for each of 30 points, got shape \(3,\)"):
        make(model, X, y, param_range=[1.0], truth=[1.0, 2.0, 3.0])
    table = {"param_name": "a", "values": [1.0], "target": [0.0, 1.0]}
    with pytest.raises(
        ValueError, match=r"^predictions: expected finite numbers of shape \(1, samples, 2\), got shape \(2, 2\)"
    ):
        BiasVarianceDisplay(**table, predictions=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"^counted: expected predictions that count, got none"):
        BiasVarianceDisplay(**table, predictions=np.zeros((1, 3, 2)), counted=np.zeros((3, 2)))
    display = BiasVarianceDisplay(**table, predictions=np.zeros((1, 3, 2)))
    with pytest.raises(ValueError, match=r'^kind: fits are drawn over points of one column, expected "curves", got "fits"'):
        display.plot(kind="fits")
    with pytest.raises(ValueError, match=r"^kind: expected one of curves, fits, got 'all'"):
        display.plot(kind="all")
