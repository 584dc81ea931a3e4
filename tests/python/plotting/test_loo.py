"""Leave-one-out: what is drawn is what refits say."""

import numpy as np
import pytest
from scipy import stats

from kernsel.plotting import (
    LOODisplay,
)

from plotted import NOISE, gram, offsets, refitted, sorted_rows


def test_predictions_with_intervals(data, process):
    X, y = data
    means, variances = refitted(X, y, NOISE)
    display = LOODisplay.from_estimator(process, level=0.9)
    np.testing.assert_allclose(offsets(display), sorted_rows(y, means), atol=1e-8)
    half = stats.norm.isf(0.05) * np.sqrt(variances)
    missed = np.abs(y - means) > half
    for collection, rows in zip(display.intervals_, (~missed, missed), strict=True):
        found = np.array([segment[:, 1] for segment in collection.get_segments()])
        np.testing.assert_allclose(found, np.column_stack([means - half, means + half])[rows], atol=1e-8)
    said = [text.get_text() for text in display.legend_.get_texts()]
    assert said[0] == f"90 % interval holds the truth: {100 * np.mean(~missed):.3g} %"
    assert display.outliers_[0] == 11
    assert display.texts_[0].get_text() == "11"


def test_residuals_leverages_and_quantiles(data, process):
    X, y = data
    means, variances = refitted(X, y, NOISE)
    z = (y - means) / np.sqrt(variances)
    named = [f"site {i}" for i in range(30)]
    display = LOODisplay.from_estimator(process, kind="residuals", labels=named, units={"y": "m"})
    np.testing.assert_allclose(offsets(display), sorted_rows(means, y - means), atol=1e-8)
    assert display.texts_[0].get_text() == "site 11"
    assert display.ax_.get_ylabel() == "truth minus prediction (m)"
    display = LOODisplay.from_estimator(process, kind="leverage", most_names=0)
    hat = np.diag(np.linalg.solve(gram(X) + NOISE * np.eye(30), gram(X)))
    np.testing.assert_allclose(offsets(display), sorted_rows(hat, z), atol=1e-8)
    assert display.texts_ == []
    display = LOODisplay.from_estimator(process, kind="qq")
    np.testing.assert_allclose(offsets(display), sorted_rows(stats.norm.ppf((np.arange(30) + 0.5) / 30), np.sort(z)), atol=1e-8)


def test_calibration(data, process):
    X, y = data
    means, variances = refitted(X, y, NOISE)
    display = LOODisplay.from_estimator(process, kind="calibration")
    levels, shares = display.line_.get_data()
    expected = [np.mean(np.abs(y - means) <= stats.norm.isf((1 - level) / 2) * np.sqrt(variances)) for level in levels]
    np.testing.assert_allclose(shares, expected)


def test_numbers_alone():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(200)
    display = LOODisplay.from_predictions(y, np.zeros(200), np.ones(200), kind="calibration")
    assert np.abs(np.subtract(*display.line_.get_data())).max() < 0.1
    display = LOODisplay.from_predictions([0.0, 1.0, 2.0], [0.1, 0.9, 5.0], labels=["a", "b", "c"])
    assert display.legend_ is None
    assert display.labels == ["a", "b", "c"]
    for wrong, message in (
        ({"predictions": [0.0, 1.0]}, "predictions: expected 3 finite numbers"),
        ({"std": [1.0, 0.0, 1.0]}, "std: expected positive numbers, got 0"),
        ({"labels": ["a"]}, "labels: expected one for each of 3 points, got 1"),
        ({"y": [0.0, np.nan, 1.0]}, "y: expected finite numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            LOODisplay(**{"y": [0.0, 1.0, 2.0], "predictions": np.zeros(3)} | wrong)
    plain = LOODisplay(y=[0.0, 1.0, 2.0], predictions=[0.1, 0.9, 2.5])
    for kind, message in (("calibration", "std: kind="), ("leverage", "leverage: kind="), ("all", "kind: expected one of")):
        with pytest.raises(ValueError, match=message):
            plain.plot(kind=kind)
    with pytest.raises(ValueError, match="level: expected a number between 0 and 1, got 95"):
        plain.plot(level=95)
