"""Boundaries of classes: they are where two are as probable."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from kernsel.plotting import BoundaryDisplay
from kernsel.plotting.classes import LOOKS


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, np.array(["left", "low", "right"])[np.where(X[:, 1] < -0.4, 1, np.where(X[:, 0] > 0, 2, 0))]


def test_three_classes(classes):
    X, y = classes
    model = LinearDiscriminantAnalysis().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, columns=[0, 1], at={2: 0.5}, units={"x0": "m"})
    assert len(display.boundaries_) == 3
    for k, boundary in enumerate(display.boundaries_):
        vertices = np.vstack([path.vertices for path in boundary.get_paths()])
        found = model.predict_proba(np.column_stack([vertices, np.full(len(vertices), 0.5)]))
        others = np.delete(found, k, axis=1).max(axis=1)
        # Between two points of the grid, a twentieth apart, probabilities are interpolated.
        assert np.abs(found[:, k] - others).max() < 0.02
    here = display.grid[0][7], display.grid[1][11]
    np.testing.assert_allclose(display.probabilities[11, 7], model.predict_proba([[*here, 0.5]])[0])
    for scatter, one in zip(display.scatters_, model.classes_, strict=True):
        np.testing.assert_array_equal(scatter.get_offsets(), X[y == one, :2])
    colors = display.image_.get_array()
    assert colors[..., 3].min() >= 0.1
    assert display.ax_.get_xlabel() == "x0 (m)"
    assert display.ax_.get_title(loc="left") == "at x2 = 0.5"
    assert [text.get_text() for text in display.legend_.get_texts()] == ["left", "low", "right"]


def test_a_pipeline_has_its_own_columns(classes):
    X, y = pytest.importorskip("pandas").DataFrame(classes[0][:, :2] * 100, columns=["a", "b"]), classes[1]
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert display.ax_.get_xlabel() == "a"
    np.testing.assert_allclose(display.grid[0][[0, -1]], [X["a"].min(), X["a"].max()], rtol=0.2)
    here = X.iloc[:1].assign(a=display.grid[0][3], b=display.grid[1][5])
    np.testing.assert_allclose(display.probabilities[5, 3], model.predict_proba(here)[0])


def test_certain_classifiers_and_two_classes(classes):
    X, y = classes
    model = LinearSVC().fit(X[:, :2], y == "low")
    display = BoundaryDisplay.from_estimator(model, X[:, :2], y == "low")
    assert set(np.unique(display.probabilities)) == {0.0, 1.0}
    assert [text.get_text() for text in display.legend_.get_texts()] == ["False", "True"]


def test_bad_input(classes):
    X, y = classes
    model = LinearDiscriminantAnalysis().fit(X, y)
    make = BoundaryDisplay.from_estimator
    with pytest.raises(TypeError, match=r"^estimator: expected a classifier, got LinearRegression"):
        make(LinearRegression().fit(X, X[:, 0]), X, y)
    with pytest.raises(ValueError, match=r"^X, y: expected the points that are drawn"):
        make(model)
    with pytest.raises(ValueError, match=r"^columns: expected two of x0, x1, x2, got None"):
        make(model, X, y)
    with pytest.raises(ValueError, match=r"^columns: expected two different columns, got 1"):
        make(model, X, y, columns=1)
    with pytest.raises(ValueError, match=r"^X: expected two columns of numbers at least"):
        make(model, X[:, :1], y)
    grid = {"grid": [np.arange(2.0)] * 2}
    many = len(LOOKS) + 1
    with pytest.raises(ValueError, match=rf"^y: expected at most {len(LOOKS)} classes.*got {many}"):
        BoundaryDisplay(**grid, probabilities=np.ones((2, 2, many)), classes=range(many))
    with pytest.raises(ValueError, match=r"^probabilities: expected finite numbers of shape \(2, 2, 2\)"):
        BoundaryDisplay(**grid, probabilities=np.ones((2, 2)), classes=["a", "b"])
    with pytest.raises(ValueError, match=r"^y: expected a class for each of 1 points, got \[0, 1\]"):
        BoundaryDisplay(**grid, probabilities=np.ones((2, 2, 2)), classes=[0, 1], X=[[0.0, 0.0]], y=[0, 1])
