"""Leave-one-out of all models that can."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.linear_model import Ridge

import kernsel as ks
from kernsel.kernels import Matern
from kernsel.plotting import (
    LOODisplay,
)

from plotted import LENGTH, ROUGH, gram, offsets, sorted_rows


def scatter_of(model, X=None, y=None, **options):
    return offsets(LOODisplay.from_estimator(model, X, y, kind="residuals", **options))


def test_left_out_by_other_models(data):
    X, y = data

    def by_refitting(make, targets=y, transform=lambda X: X):
        rest = [np.delete(np.arange(30), i) for i in range(30)]
        means = [make().fit(transform(X)[r], targets[r]).predict(transform(X)[[i]])[0] for i, r in enumerate(rest)]
        return sorted_rows(means, targets - means)

    smooth = np.cos(X[:, 0])
    machine = {"alpha": 0.1, "fit_intercept": True}
    for model, found, make, targets in (
        (ks.KernelRidge(ROUGH, **machine), (None, y), lambda: ks.KernelRidge(ROUGH, **machine), y),
        (ks.KernelRidgeCV(ROUGH, alphas=[0.1]), (X, y), lambda: ks.KernelRidge(ROUGH, alpha=0.1), y),
        (ks.RidgeRegression(alpha=2.0), (None, y), lambda: Ridge(alpha=2.0), y),
        (ks.KernelInterpolator(Matern(LENGTH, nu=1.5)), (), lambda: ks.KernelInterpolator(Matern(LENGTH, nu=1.5)), smooth),
    ):
        np.testing.assert_allclose(scatter_of(model.fit(X, targets), *found), by_refitting(make, targets), atol=1e-6)
    several = ks.KernelRidge(ROUGH, alpha=[0.1, 1.0]).fit(X, np.column_stack([y, smooth]))
    expected = by_refitting(lambda: ks.KernelRidge(ROUGH, alpha=1.0), smooth)
    np.testing.assert_allclose(scatter_of(several, None, np.column_stack([y, smooth]), output=1), expected, atol=1e-8)
    given = ks.KernelRidge("precomputed", alpha=0.1).fit(gram(X), y)
    expected = by_refitting(lambda: ks.KernelRidge(ROUGH, alpha=0.1))
    np.testing.assert_allclose(scatter_of(given, None, y), expected, atol=1e-8)
    # The span estimate is exact for points with no coefficient.
    vectors = ks.SVR(ROUGH, C=10.0, epsilon=0.3, tol=1e-10).fit(X, y)
    display = LOODisplay.from_estimator(vectors, X, y)
    inside = np.setdiff1d(np.arange(30), vectors.support_)
    theirs = svm.SVR(kernel="precomputed", C=10.0, epsilon=0.3, tol=1e-9).fit(gram(X), y).predict(gram(X))
    assert len(inside) > 5
    np.testing.assert_allclose(display.predictions[inside], theirs[inside], atol=1e-4)
    assert display.std is None


@pytest.mark.parametrize("intercept", [True, False])
def test_intervals_have_the_scale_of_the_best_likelihood(data, intercept):
    X, y = data
    model = ks.KernelRidge(ROUGH, alpha=0.1, fit_intercept=intercept).fit(X, y)
    display = LOODisplay.from_estimator(model, y=y)
    trend = "constant" if intercept else None
    unscaled = ks.loo(ROUGH, X, y, noise=0.1, trend=trend).variances
    scale = np.mean(display.std**2 / unscaled)
    np.testing.assert_allclose(display.std**2, scale * unscaled, rtol=1e-10)
    value, less, more = (
        ks.evaluate("reml", float(s) * ROUGH, X, y, noise=0.1 * s, trend=trend).value for s in scale * np.array([1, 0.9, 1.1])
    )
    assert value > max(less, more)
    linear = LOODisplay.from_estimator(ks.RidgeRegression(alpha=0.0).fit(X, y), y=y)
    residual = y - np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    hat = ks.linalg.leverage(np.column_stack([np.ones(30), X]))
    # As in any book, but for the degrees of freedom of the slope, which is a random variable here.
    np.testing.assert_allclose(linear.std**2, residual @ residual / 29 / (1 - hat), rtol=1e-8)
