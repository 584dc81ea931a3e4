"""Feature space in two coordinates: principal components of scikit-learn, and of the features themselves."""

import numpy as np
import pytest
from sklearn.decomposition import PCA, KernelPCA

import kernsel as ks
from kernsel.kernels import Linear
from kernsel.plotting import FeatureSpaceDisplay
from kernsel.structured import Spectrum

from plotted import gram


def up_to_signs(actual, expected, **options):
    signs = np.sign(np.einsum("ij,ij->j", actual, expected))
    np.testing.assert_allclose(actual, expected * signs, **options)


def test_components(data, process):
    X, y = data
    display = FeatureSpaceDisplay.from_estimator(process, y=y, units={"y": "N"})
    found = KernelPCA(2, kernel="precomputed").fit(gram(X))
    up_to_signs(display.coordinates, found.transform(gram(X)), rtol=0, atol=1e-10)
    centred = gram(X) - gram(X).mean(axis=0) - gram(X).mean(axis=1)[:, None] + gram(X).mean()
    np.testing.assert_allclose(display.shares, found.eigenvalues_ / np.trace(centred), rtol=1e-10)
    np.testing.assert_array_equal(display.scatters_[0].get_offsets(), display.coordinates)
    assert display.colorbar_.ax.get_ylabel() == "y (N)"
    Z = np.random.default_rng(1).standard_normal((20, 4))
    linear = FeatureSpaceDisplay.from_kernel(Linear(), Z)
    up_to_signs(linear.coordinates, PCA(2).fit_transform(Z), rtol=0, atol=1e-10)
    np.testing.assert_allclose(linear.shares, PCA(2).fit(Z).explained_variance_ratio_, rtol=1e-10)


def test_objects_and_classes():
    words = ["GATTACA", "GATTA", "ATTACA", "CCGG", "CCGGA", "TCCGG"]
    display = FeatureSpaceDisplay.from_kernel(Spectrum(2), words, list("aaabbb"))
    assert [text.get_text() for text in display.legend_.get_texts()] == ["a", "b"]
    first = display.coordinates[:, 0]
    assert len({np.sign(first[:3].min()), np.sign(first[3:].max())}) == 2  # the first component tells them apart
    model = ks.KernelRidge(Spectrum(2), alpha=0.1).fit(words, np.arange(6.0))
    np.testing.assert_allclose(FeatureSpaceDisplay.from_estimator(model).coordinates, display.coordinates, atol=1e-12)
    few = FeatureSpaceDisplay.from_kernel(Spectrum(2), words, np.arange(6) * 0.5, max_points=3)
    assert few.y.tolist() == [0.0, 1.0, 2.5]
    same = FeatureSpaceDisplay.from_kernel(Spectrum(2), ["AC"] * 4)
    assert same.shares == [0.0, 0.0]


def test_bad_input(process):
    with pytest.raises(ValueError, match=r"^X: expected three points at least, got 2"):
        FeatureSpaceDisplay.from_kernel(Linear(), np.eye(2))
    with pytest.raises(ValueError, match=r"^y: expected one for each of 3 points, got shape \(2,\)"):
        FeatureSpaceDisplay.from_kernel(Linear(), np.eye(3), [1, 2])
    with pytest.raises(ValueError, match=r"^max_points: expected 3 or more, got 2"):
        FeatureSpaceDisplay.from_estimator(process, max_points=2)
    with pytest.raises(ValueError, match=r"^coordinates: expected finite numbers of shape \(n, 2\)"):
        FeatureSpaceDisplay(coordinates=np.eye(3), shares=[0.5, 0.5])
    with pytest.raises(ValueError, match=r"^shares: expected two numbers, got 1"):
        FeatureSpaceDisplay(coordinates=np.eye(3, 2), shares=0.5)
    with pytest.raises(ValueError, match=r"^y: expected at most 10 classes"):
        FeatureSpaceDisplay(coordinates=np.zeros((11, 2)), shares=[0, 0], y=list("abcdefghijk"))
