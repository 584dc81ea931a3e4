"""Fitted models as processes of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.structured import Spectrum

from accuracy import eps

GP = ks.GaussianProcessRegressor


def first_column(X):
    return X[:, 0]


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(30, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(30)
    return X, y, np.column_stack([y, 10 * y**2 + 3])


@pytest.mark.parametrize(
    ("model", "outputs"),
    [
        (ks.KernelRidge("RBF"), 1),
        (ks.KernelRidge(RBF([0.3, 0.5]), alpha=0.1), 2),
        (ks.KernelRidgeCV(RBF(0.3)), 1),
        (ks.SVR("rbf"), 1),
        (ks.KernelHuberRegressor(RBF(0.4)), 1),
        (ks.KernelInterpolator(RBF(0.3)), 2),
        (GP("RBF"), 2),
        (GP("RBF", trend=None), 1),
        (GP(RBF(0.4), alpha=0.1, trend=None, normalize_y=True, optimizer=None), 1),
        (GP("Matern(nu=2.5)", trend=None, noise=0.01), 2),
    ],
    ids=str,
)
def test_predictions_are_the_same(model, outputs, data, rng):
    X, y, both = data
    model.fit(X, y if outputs == 1 else both)
    process, Z = model.to_sklearn(), rng.uniform(size=(20, 2))
    largest = process.kernel_.diag(Z).max()
    rounding = 200 * eps(float) * largest * np.abs(process.alpha_).sum() * process._y_train_std.max()
    assert process.predict(Z) == pytest.approx(model.predict(Z), abs=rounding)
    if isinstance(model, GP) and model.trend is None:
        (_, theirs), (_, ours) = process.predict(Z, return_std=True), model.predict(Z, return_std=True)
        rounding = 200 * eps(float) * largest * np.linalg.cond(process.L_) ** 2
        assert theirs**2 / process._y_train_std**2 == pytest.approx(ours**2 / process._y_train_std**2, abs=rounding)


def test_columns_keep_their_names(data):
    X, y, _ = data
    table = pd.DataFrame(X, columns=["depth", "age"])
    process = ks.KernelRidge(RBF(0.5), alpha=0.1).fit(table, y).to_sklearn()
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        process.predict(X)
    assert list(process.feature_names_in_) == ["depth", "age"]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GP("RBF", approximation=ks.Vecchia(5)), "expected an exact process with normal noise"),
        (GP("RBF", likelihood="student_t"), "expected an exact process with normal noise"),
        (GP("RBF", mean=first_column), "mean: scikit-learn has no known mean; fit y without it"),
        (GP("RBF", trend="linear"), "scikit-learn has a constant one or none, got 'linear'; fit trend=\"constant\""),
        (ks.KernelRidge("precomputed"), "the points of this model are something else"),
        (ks.KernelRidge(Spectrum(2)), "the points of this model are something else"),
    ],
)
def test_what_it_cannot_express(model, message, data):
    X, y, _ = data
    strings = [format(i * 37 % 64, "06b") for i in range(30)]
    points = {"precomputed": X @ X.T}.get(model.kernel, X) if isinstance(model.kernel, str) else strings
    with pytest.raises(NotFittedError):
        model.to_sklearn()
    model.fit(points, y)
    with pytest.raises(ValueError, match=message):
        model.to_sklearn()
