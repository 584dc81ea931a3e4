"""Main effects as a picture: the curves and bands that were computed, on one scale."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.plotting import MainEffectsDisplay
from kernsel.sensitivity import main_effects


@pytest.fixture(scope="module")
def model():
    X = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    return ks.GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None).fit(X, X[:, 0] + X[:, 1] ** 2)


def test_curves_and_bands(model):
    display = MainEffectsDisplay.from_estimator(model, n_points=7, level=0.8, units={"x0": "m", "y": "N"})
    found = main_effects(model, n_points=7)
    half = stats.norm.isf(0.1) * found.std
    for j, (line, band, ax) in enumerate(zip(display.lines_, display.bands_, display.axes_, strict=True)):
        np.testing.assert_array_equal(line.get_data(), [found.grid[j], found.mean[j]])
        ends = band.get_paths()[0].get_extents()
        assert ends.y0 == pytest.approx((found.mean[j] - half[j]).min())
        assert ends.y1 == pytest.approx((found.mean[j] + half[j]).max())
        assert ax.get_ylim() == display.ax_.get_ylim()
    assert [ax.get_xlabel() for ax in display.axes_] == ["x0 (m)", "x1", "x2"]
    assert display.ax_.get_ylabel() == "y (N)"
    assert [text.get_text() for text in display.legend_.get_texts()][1] == "80 % band"


def test_without_bands_on_given_axes(model):
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)
    machine = ks.KernelRidge(RBF(1.0)).fit(model.X_train_[:, :2], model.y_train_)
    display = MainEffectsDisplay.from_estimator(machine, ax=axes)
    assert list(display.axes_) == list(axes)
    assert not display.bands_
    with pytest.raises(ValueError, match=r"mean: expected finite numbers of shape \(1, 2\)"):
        MainEffectsDisplay(grid=[[0.0, 1.0]], mean=[0.0, 1.0], overall=0.0, names=["x"])
    with pytest.raises(ValueError, match="names: expected one for each of 1 inputs, got 2"):
        MainEffectsDisplay(grid=[[0.0, 1.0]], mean=[[0.0, 1.0]], overall=0.0, names=["x", "z"])
