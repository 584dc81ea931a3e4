"""What displays ask of fitted estimators: an estimator that answers is shown, whatever its class."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import kernsel as ks
from kernsel.estimators.fitted import FittedModel, LeftOut
from kernsel.kernels import Matern
from kernsel.plotting import KernelDisplay, LOODisplay, PathDisplay, PosteriorDisplay

pytest.importorskip("matplotlib")


class Mean(FittedModel, BaseEstimator):
    """A new estimator, which no display names: it predicts the mean of its targets."""

    def fit(self, X, y):
        self.X_, self.coef_, self.n_features_in_ = np.asarray(X), float(np.mean(y)), np.shape(X)[1]
        self.y_ = np.asarray(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.coef_)

    def kept_data(self):
        return self.X_, self.y_

    def left_out(self, *given):
        assert given == (None, None, 0)
        n = len(self.y_)
        return LeftOut(self.y_, (self.y_.sum() - self.y_) / (n - 1))


def test_an_estimator_that_answers_is_shown(rng):
    X, y = rng.uniform(size=(12, 1)), rng.standard_normal(12)
    model = Mean().fit(X, y)
    shown = PosteriorDisplay.from_estimator(model)
    np.testing.assert_array_equal(shown.mean, np.full(len(shown.mean), y.mean()))
    np.testing.assert_array_equal(shown.y, y)
    display = LOODisplay.from_estimator(model)
    np.testing.assert_allclose(display.residuals_, (y - y.mean()) * 12 / 11, rtol=1e-12)
    for other in (KernelDisplay, PathDisplay):
        with pytest.raises(TypeError, match="expected a fitted"):
            other.from_estimator(model)


def test_an_interpolator_shows_the_targets_it_was_given(rng, tmp_path):
    X, y = np.linspace(0, 4, 9)[:, None], rng.standard_normal(9)
    model = ks.KernelInterpolator(Matern(1.0, nu=1.5)).fit(X, y)
    ks.save(model, tmp_path / "model.ksl")
    for one in (model, ks.load(tmp_path / "model.ksl")):
        np.testing.assert_array_equal(PosteriorDisplay.from_estimator(one).y, y)
