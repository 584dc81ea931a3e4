"""Models that displays are not for, and training data that they need."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.plotting import (
    KernelDisplay,
    LCurveDisplay,
    LOODisplay,
    PathDisplay,
    PosteriorDisplay,
    SearchDisplay,
)

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
