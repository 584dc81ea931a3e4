"""Kernels: their matrix, and their effect along each column."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, Linear, Normalize, WhiteKernel
from kernsel.plotting import (
    KernelDisplay,
    LOODisplay,
    PosteriorDisplay,
)
from kernsel.structured import Spectrum

from plotted import LENGTH, ROUGH, gram


def test_the_kernel_matrix_and_the_function(data, process):
    X, _ = data
    shuffled = X[np.random.default_rng(0).permutation(30)]
    display = KernelDisplay(kernel=ROUGH + WhiteKernel(9.0), X=shuffled).plot(units={"x": "s"})
    np.testing.assert_allclose(display.image_.get_array(), gram(X), atol=1e-12)  # in order, without noise
    r, value = display.lines_["x"].get_data()
    np.testing.assert_allclose(value, np.exp(-r / LENGTH), atol=1e-12)
    assert (r.min(), r.max()) == (0, pytest.approx(np.ptp(X)))
    assert display.axes_[1].get_xlabel() == "distance r along x (s)"
    assert KernelDisplay.from_estimator(process, kind="function").ax_.get_ylabel() == "k(r)"
    place = KernelDisplay.from_estimator(ks.KernelRidge(Linear(), alpha=1.0).fit(X, X[:, 0]), kind="function")
    r, value = place.lines_["x"].get_data()
    np.testing.assert_allclose(value, np.median(X) * (np.median(X) + r), atol=1e-8)
    assert r.min() == -r.max()


def test_columns_in_the_order_of_their_effect():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (50, 7)) * np.array([1, 1, 100, 1, 1, 1, 1])
    lengths = [3.0, 0.2, 500.0, 1.0, 30.0, 40.0, 50.0]
    display = KernelDisplay(kernel=RBF(lengths), X=X, max_points=20).plot()
    assert list(display.curves_)[:3] == ["x1", "x3", "x0"]
    assert display.matrix_.shape == (20, 20)
    np.testing.assert_array_equal(display.matrix_, RBF(lengths)(X[display.order_], X[display.order_]))
    assert [text.get_text() for text in display.legend_.get_texts()][-1] == "3 others"
    r, value = display.lines_["x1"].get_data()
    np.testing.assert_allclose(value, np.exp(-0.5 * (r * np.ptp(X[:, 1]) / 0.2) ** 2), atol=1e-12)
    two = np.repeat([[0.0], [9.0]], 10, axis=0) + 0.1 * rng.standard_normal((20, 1))
    mixed = rng.permutation(20)
    display = KernelDisplay(kernel=RBF(1.0), X=np.hstack([two, two])[mixed])
    assert len(set((mixed[display.order_[:10]] < 10).tolist())) == 1  # groups are together
    with pytest.raises(ValueError, match="names: expected one for each of 7 columns, got 1"):
        KernelDisplay(kernel=RBF(1.0), X=X, names=["a"])


def test_kernels_of_objects():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("AC"), size=8)) for _ in range(12)]
    kernel = Normalize(Spectrum(2))
    model = ks.GaussianProcessRegressor(kernel, noise=0.1, optimizer=None).fit(strings, rng.standard_normal(12))
    display = KernelDisplay.from_estimator(model)
    ordered = [strings[i] for i in display.order_]
    np.testing.assert_allclose(display.image_.get_array(), kernel(ordered), atol=1e-12)
    assert KernelDisplay.from_estimator(model, strings[:5]).matrix_.shape == (5, 5)
    assert LOODisplay.from_estimator(model).residuals_.shape == (12,)
    with pytest.raises(ValueError, match='kind: expected "matrix", since'):
        KernelDisplay.from_estimator(model, kind="both")
    with pytest.raises(TypeError, match="expected one that was fitted to columns of numbers, got one of objects"):
        PosteriorDisplay.from_estimator(model)
