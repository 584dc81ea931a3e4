"""What is drawn of the predictions of each model."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.kernels import Matern
from kernsel.plotting import (
    PosteriorDisplay,
)

from plotted import ROUGH


def test_fits_of_other_models(data):
    X, y = data
    vectors = ks.SVR(ROUGH, C=10.0, epsilon=0.3).fit(X, y)
    display = PosteriorDisplay.from_estimator(vectors, X, y)
    np.testing.assert_allclose(display.upper - display.mean, 0.3)
    np.testing.assert_allclose(display.lines_[0].get_ydata()[:5], vectors.predict(display.grid[0][:5, None]))
    assert "support vectors" in [text.get_text() for text in display.legend_.get_texts()]
    through = ks.KernelInterpolator(Matern(1.0, nu=1.5)).fit(X, np.cos(X[:, 0]))
    display = PosteriorDisplay.from_estimator(through)
    np.testing.assert_allclose(display.spread, through.error_bound(display.grid[0][:, None]))
    np.testing.assert_allclose(display.y, np.cos(X[:, 0]), atol=1e-8)
    plain = PosteriorDisplay.from_estimator(ks.KernelRidge(ROUGH, alpha=0.1).fit(X, y))
    assert plain.band_ is None
    labels = ks.GaussianProcessClassifier(ROUGH, optimizer=None).fit(X, np.where(y > 0, "up", "down"))
    display = PosteriorDisplay.from_estimator(labels)
    np.testing.assert_allclose(display.mean, labels.predict_proba(display.grid[0][:, None])[:, 1])
    latent, std = labels.latent(display.grid[0][:, None], return_std=True)
    np.testing.assert_allclose(display.lower, 1 / (1 + np.exp(-latent + stats.norm.isf(0.025) * std)), rtol=1e-10)
    assert display.ax_.get_ylabel() == "probability of up"
    with pytest.raises(ValueError, match="n_samples: samples are of a GaussianProcessRegressor"):
        PosteriorDisplay.from_estimator(labels, n_samples=2)
    with pytest.raises(ValueError, match="X: an SVR keeps its support vectors only"):
        PosteriorDisplay.from_estimator(vectors)
    with pytest.raises(ValueError, match="X: expected 1 columns"):
        PosteriorDisplay.from_estimator(vectors, np.ones((3, 2)))
