"""The posterior: bands, slices and samples are what the process says."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.plotting import (
    PosteriorDisplay,
)

from plotted import NOISE, gram


def test_the_band_of_a_process(data, process):
    X, y = data
    display = PosteriorDisplay.from_estimator(process, n_samples=3, level=0.9, target_name="h", units={"x": "s", "h": "m"})
    x, mean = display.lines_[0].get_data()
    cross = gram(x[:, None], X)
    K = gram(X) + NOISE * np.eye(30)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(K, y), atol=1e-8)
    std = np.sqrt(1 - np.sum(cross * np.linalg.solve(K, cross.T).T, axis=1))
    half = stats.norm.isf(0.05) * std
    outline = display.band_.get_paths()[0].vertices
    for i in (0, 77, 200):
        at = outline[np.isclose(outline[:, 0], x[i])][:, 1]
        np.testing.assert_allclose([at.min(), at.max()], [mean[i] - half[i], mean[i] + half[i]], atol=1e-7)
    assert len(display.lines_) == 4
    assert np.mean(np.abs(display.samples - mean[:, None]) <= half[:, None]) > 0.6
    np.testing.assert_allclose(display.scatter_.get_offsets(), np.column_stack([X, y]), atol=1e-12)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x (s)", "h (m)")
    noisy = PosteriorDisplay.from_estimator(process, level=0.9, noisy=True)
    np.testing.assert_allclose(noisy.upper - noisy.mean, stats.norm.isf(0.05) * np.sqrt(std**2 + NOISE), atol=1e-7)


def test_slices_through_many_columns(table):
    X, y, model = table
    display = PosteriorDisplay.from_estimator(model, y=y, units={"yield": "t"})
    assert display.ax_.get_xlabel() == "age"  # it changes the mean most
    assert display.ax_.get_ylabel() == "yield (t)"
    Z = X.iloc[:2].copy()
    Z[:] = X.median().to_numpy()
    Z["age"] = display.grid[0][[10, 150]]
    np.testing.assert_allclose(display.lines_[0].get_ydata()[[10, 150]], model.predict(Z))
    assert display.ax_.get_title(loc="left") == f"at depth = {X['depth'].median():.3g}, slope = {X['slope'].median():.3g}"
    plane = PosteriorDisplay.from_estimator(model, columns=["age", "depth"], at={"slope": 0.25})
    assert [contours.axes.get_ylabel() for contours in plane.contours_] == ["depth", "depth"]
    Z = X.iloc[:1].copy()
    Z[:] = [[plane.grid[1][7], plane.grid[0][40], 0.25]]
    mean, std = model.predict(Z, return_std=True, noisy=False)
    assert plane.mean[7, 40] == pytest.approx(mean[0])
    assert plane.spread[7, 40] == pytest.approx(std[0])
    for wrong, message in (
        ({"columns": ["age", "age"]}, "columns: expected one or two different columns"),
        ({"columns": "ages"}, "columns: expected columns from 0 to 2, or of depth, age, slope, got 'ages'"),
        ({"at": {3: 0.0}}, "at: expected columns"),
        ({"columns": [0, 1], "n_samples": 2}, "n_samples: samples are drawn along one column"),
        ({"level": 0}, "level: expected a number between 0 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            PosteriorDisplay.from_estimator(model, **wrong)


def test_predictions_of_any_model():
    x = np.linspace(0, 1, 5)
    display = PosteriorDisplay.from_predictions(x, x**2, 0.1 + x, X=x[:2], y=x[:2], names=["t"])
    np.testing.assert_allclose(display.lower, x**2 - stats.norm.isf(0.025) * (0.1 + x))
    assert display.ax_.get_xlabel() == "t"
    plane = PosteriorDisplay.from_predictions((x, x[:3]), np.outer(x[:3], x), samples=None)
    assert len(plane.contours_) == 1
    with pytest.raises(ValueError, match=r"mean: expected finite numbers of shape \(3, 5\), as the grid has"):
        PosteriorDisplay.from_predictions((x, x[:3]), np.outer(x, x[:3]))


def test_two_classes_over_two_columns():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (60, 2))
    labels = np.where(X[:, 0] + X[:, 1] ** 2 > 0.2, "spam", "ham")
    model = ks.GaussianProcessClassifier(4.0 * RBF(0.8), optimizer=None).fit(X, labels)
    display = PosteriorDisplay.from_estimator(model)
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["as probable as not", "ham", "spam"]
    # The two contours, a light one on a dark one, are where the probability is one half.
    ax = display.axes_.flat[0]
    half = [one for one in ax.collections if getattr(one, "levels", None) is not None and list(one.levels) == [0.5]]
    assert len(half) == 2
    for contour in half:
        points = np.concatenate([path.vertices for path in contour.get_paths()])
        assert len(points) > 10
        np.testing.assert_allclose(model.predict_proba(points)[:, 1], 0.5, atol=0.02)
    # Each class has marks of its own, where its points are.
    marks = [one.get_offsets() for one in ax.collections if len(one.get_offsets()) > 1]
    assert sorted(map(len, marks)) == sorted([np.sum(labels == "ham"), np.sum(labels == "spam")])


def test_band_and_samples_are_of_the_function_though_noise_was_found(rng):
    X = np.linspace(0, 6, 60)[:, None]
    model = ks.GaussianProcessRegressor().fit(X, np.sin(X[:, 0]) + 0.3 * rng.standard_normal(60))
    display = PosteriorDisplay.from_estimator(model, n_samples=200, random_state=1)
    std = model.predict(display.grid[0][:, None], return_std=True, noisy=False)[1]
    np.testing.assert_allclose(display.upper - display.mean, stats.norm.isf(0.025) * std, rtol=1e-9)
    assert np.std(display.samples - display.mean[:, None], axis=1) == pytest.approx(std, rel=0.25)
    rough = np.abs(np.diff(display.samples, axis=0)).mean()
    assert rough < 0.1 * model.noise_**0.5  # smooth curves, no noise of each point


def test_decision_functions_over_one_and_two_columns(rng):
    X = rng.standard_normal((40, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    svc = ks.SVC("linear").fit(X, y)
    display = PosteriorDisplay.from_estimator(svc, X, y)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(*display.grid)])
    np.testing.assert_allclose(display.mean.ravel(), svc.decision_function(grid), atol=1e-12)
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["decision boundary", "down", "up"]
    line = PosteriorDisplay.from_estimator(ks.SVC("linear").fit(X[:, :1], y), X[:, :1], y)
    assert set(line.y) == {-1.0, 1.0}  # where the margins are
    assert line.ax_.get_ylabel() == "decision function"
    region = PosteriorDisplay.from_estimator(ks.OneClassSVM(nu=0.2).fit(X), X)
    assert [text.get_text() for text in region.legend_.get_texts()] == ["decision boundary"]
