"""The paths of all models that have one."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import WhiteKernel
from kernsel.plotting import (
    LCurveDisplay,
    PathDisplay,
)

from plotted import NOISE, ROUGH


def test_paths_of_other_models(data):
    X, y = data
    known = ks.RegularizationPath(ROUGH, y, X=X, trend="constant").best("loo")
    plain = ks.KernelRidge(ROUGH, alpha=0.1, fit_intercept=True).fit(X, y)
    assert PathDisplay.from_estimator(plain, y=y).choices_["loo"] == pytest.approx(known)
    uneven = np.linspace(0.5, 2.0, 30) * NOISE
    process = ks.GaussianProcessRegressor(ROUGH, alpha=uneven, optimizer=None).fit(X, y)
    weighted = ks.RegularizationPath(ROUGH, y, X=X, sample_weight=uneven.mean() / uneven)
    display = PathDisplay.from_estimator(process)
    assert display.choices_["gcv"] == pytest.approx(weighted.best("gcv"))
    assert display.alpha == pytest.approx(uneven.mean())
    white = ks.GaussianProcessRegressor(4.0 * ROUGH + WhiteKernel(NOISE), optimizer=None, normalize_y=True).fit(X, y)
    display = PathDisplay.from_estimator(white)  # in the units of y
    assert display.alpha == pytest.approx(NOISE * y.var())
    assert display.lines_["residual"].get_ydata().max() == pytest.approx(y.std(), rel=0.02)
    features = ks.RidgeRegression(alpha=1.0).fit(X, y)
    expected = ks.RegularizationPath.from_features(X, y, trend=np.ones((30, 1))).best("gcv")
    assert PathDisplay.from_estimator(features, X, y, rules="gcv").choices_ == {"gcv": pytest.approx(expected)}
    targets = ks.KernelRidgeCV(ROUGH, alpha_per_target=True).fit(X, np.column_stack([y, y**2]))
    assert LCurveDisplay.from_estimator(targets, output=1).alpha == targets.alpha_[1]
