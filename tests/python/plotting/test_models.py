"""Models that displays are not for, and training data that they need."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernsel as ks
from kernsel.estimators.fitted import FittedModel, LeftOut
from kernsel.kernels import RBF, Linear, Matern
from kernsel.plotting import (
    KernelDisplay,
    LCurveDisplay,
    LOODisplay,
    PathDisplay,
    PosteriorDisplay,
    SearchDisplay,
)
from kernsel.structured import Spectrum

from plotted import ROUGH, gram

ALL = [KernelDisplay, LCurveDisplay, LOODisplay, PathDisplay, PosteriorDisplay, SearchDisplay]


def test_what_is_no_estimator_of_ours(data):
    for display in ALL:
        with pytest.raises(TypeError, match=r"estimator: expected .*, got Ridge"):
            display.from_estimator(Ridge().fit(*data))
    for display in ALL[:-1]:
        with pytest.raises(NotFittedError):
            display.from_estimator(ks.GaussianProcessRegressor())
    classifier = ks.GaussianProcessClassifier(RBF(1.0), optimizer=None).fit(data[0], data[1] > 0)
    for display in (LOODisplay, PathDisplay):
        with pytest.raises(TypeError, match="got GaussianProcessClassifier"):
            display.from_estimator(classifier)
    given = ks.KernelRidge("precomputed").fit(gram(data[0]), data[1])
    with pytest.raises(TypeError, match="was given a kernel matrix, and knows no kernel"):
        KernelDisplay.from_estimator(given)


def test_training_data_that_are_missing_or_others(data, process):
    X, y = data
    machine = ks.KernelRidge(ROUGH, alpha=0.1).fit(X, y)
    weighted = ks.KernelRidge(ROUGH, alpha=0.1).fit(X, y, np.linspace(1, 2, 30))
    linear = ks.RidgeRegression(alpha=1.0).fit(X, y, np.linspace(1, 2, 30))
    for display in (LOODisplay, PathDisplay):
        with pytest.raises(ValueError, match="y: a KernelRidge keeps no targets"):
            display.from_estimator(machine)
        with pytest.raises(ValueError, match="y: not what this KernelRidge was fitted to, or it was fitted with weights"):
            display.from_estimator(machine, y=y + 0.1)
        with pytest.raises(ValueError, match="with weights, which it does not keep"):
            display.from_estimator(weighted, y=y)
        with pytest.raises(ValueError, match="X: expected the points that this"):
            display.from_estimator(process, X + 1, y)
        with pytest.raises(ValueError, match="y: expected the targets that this"):
            display.from_estimator(process, y=y + 1)
    with pytest.raises(ValueError, match="RidgeRegression was fitted to, or it was fitted with weights"):
        LOODisplay.from_estimator(linear, y=y)
    with pytest.raises(ValueError, match="X, y: an SVR keeps its support vectors only"):
        LOODisplay.from_estimator(ks.SVR().fit(X, y), y=y)
    with pytest.raises(ValueError, match="in the same order"):
        LOODisplay.from_estimator(ks.SVR().fit(X, y), X[::-1], y[::-1])
    with pytest.raises(ValueError, match="output: expected the number of one of 2 targets, got 2"):
        LOODisplay.from_estimator(ks.GaussianProcessRegressor(RBF(1.0), noise=0.1).fit(X, np.c_[y, y]), output=2)


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


def test_pipelines_are_shown_as_their_last_step(data):
    X, y = data
    model = ks.KernelRidge(ROUGH, alpha=0.1)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    alone = ks.KernelRidge(ROUGH, alpha=0.1).fit(scaled, y)
    for given in (None, X):
        points = None if given is None else scaled
        one, other = (PosteriorDisplay.from_estimator(m, p, y) for m, p in ((pipeline, given), (alone, points)))
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.X, other.X)
        one, other = (LOODisplay.from_estimator(m, p, y) for m, p in ((pipeline, given), (alone, points)))
        np.testing.assert_array_equal(one.residuals_, other.residuals_)
        one, other = (KernelDisplay.from_estimator(m, p) for m, p in ((pipeline, given), (alone, points)))
        np.testing.assert_array_equal(one.X, other.X)
        one, other = (PathDisplay.from_estimator(m, p, y) for m, p in ((pipeline, given), (alone, points)))
        np.testing.assert_array_equal(one.path.alphas, other.path.alphas)
    searched = make_pipeline(StandardScaler(), ks.GaussianProcessRegressor()).fit(X, y)
    assert len(SearchDisplay.from_estimator(searched).names) > 1
    with pytest.raises(TypeError, match=r"expected .* a pipeline that ends with one, .* got Ridge"):
        LOODisplay.from_estimator(make_pipeline(StandardScaler(), Ridge()).fit(X, y))


def test_stacked_processes_are_shown(data):
    X, y = data
    found = ks.select(X, y, [RBF("auto"), Matern("auto", nu=0.5)], combine="stack", random_state=0)
    model = ks.StackedRegressor([ks.GaussianProcessRegressor(RBF(0.7), noise=s, optimizer=None) for s in (0.05, 4.0)])
    model.fit(X, y)
    assert len(model.weights_) == 2
    shown = PosteriorDisplay.from_estimator(model, level=0.9, noisy=True, n_samples=3)
    Z = shown.grid[0][:, None]
    np.testing.assert_allclose(shown.mean, model.predict(Z), rtol=1e-12)
    np.testing.assert_allclose(shown.lower, model.predict_quantiles(Z, 0.05), rtol=1e-12)
    assert shown.samples.shape == (len(Z), 3)
    assert shown.band_name == "90 % of observations"
    display = LOODisplay.from_estimator(model, kind="calibration")
    below = sum(w * stats.norm.cdf(one.loo_residuals_ / one.loo_std_) for w, one in model.processes)
    inside = np.abs(2 * below - 1)
    levels, shares = display.line_.get_data()
    np.testing.assert_allclose(shares, [np.mean(inside <= level) for level in levels])
    np.testing.assert_allclose(display.residuals_, model.loo_residuals_)
    assert PosteriorDisplay.from_estimator(found).lines_
    assert SearchDisplay.from_estimator(found).names[0]
    likeliest = max(found.best_estimator_.estimators_, key=lambda one: one.criterion_value_)
    for given in (found, found.best_estimator_):
        display = KernelDisplay.from_estimator(given)
        assert display.kernel == likeliest.kernel_
        assert display.figure_.get_suptitle().startswith("likeliest of the mixture: ")
    starts = SearchDisplay.from_estimator(found.best_estimator_)
    np.testing.assert_array_equal(starts.values, SearchDisplay.from_estimator(likeliest).values)
    by_density = SearchDisplay.from_estimator(ks.select(X, y, [RBF("auto"), Linear("auto") + RBF("auto")], criterion="loo"))
    assert "fewer numbers" not in by_density.ax_.get_xlabel()
    for other in (PathDisplay, LCurveDisplay):
        with pytest.raises(TypeError, match=r"expected a fitted .*, got StackedRegressor"):
            other.from_estimator(model)
    for display in (PosteriorDisplay, LOODisplay):
        with pytest.raises(NotFittedError):
            display.from_estimator(ks.StackedRegressor())
    objects = ks.StackedRegressor([ks.GaussianProcessRegressor(Spectrum(1), noise=0.1)]).fit(["a", "ab", "b", "abb"], y[:4])
    with pytest.raises(TypeError, match="fitted to columns of numbers, got one of objects"):
        PosteriorDisplay.from_estimator(objects)
