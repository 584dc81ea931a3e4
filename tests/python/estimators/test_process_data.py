"""What a process asks of its data: equal points have equal values, or noise."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, WhiteKernel

GP = ks.GaussianProcessRegressor


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)
    return X, y, rng.uniform(size=(15, 2))


def twins(X, y, by):
    return np.vstack([X, X[3], X[7]]), np.append(y, [y[3] + by, y[7] - by])


@pytest.mark.parametrize(
    "options",
    [
        {"noise": 0.0},
        {"noise": 0.0, "criterion": "loo"},
        {"noise": 0.0, "alpha": 0.0},
        {"kernel": RBF("auto")},
        {"kernel": RBF(0.5), "optimizer": None},
    ],
    ids=str,
)
def test_equal_points_without_noise(data, options):
    X, y, Z = data
    message = r"points 3 and 40, 7 and 41 are equal, but their values differ \(by 0.5 for the first\).*noise=\"auto\""
    with pytest.raises(ValueError, match=message):
        GP(**options).fit(*twins(X, y, 0.5))
    for alpha in (1e-8, np.full(42, 1e-4)):
        assert np.isfinite(GP(**options | {"alpha": alpha}).fit(*twins(X, y, 0.5)).predict(Z)).all()
    if "alpha" not in options and "criterion" not in options:  # equal values say nothing new; left out, one is sure
        single = GP(**options).fit(X, y)
        assert GP(**options).fit(*twins(X, y, 0.0)).predict(Z) == pytest.approx(single.predict(Z), abs=0.5 * y.std())


def test_equal_points_with_noise(data):
    X, y, Z = data
    for kernel in ("auto", RBF("auto") + WhiteKernel("auto")):
        gp = GP(kernel).fit(*twins(X, y, 0.5))
        mean, std = gp.predict(X[3:4], return_std=True)
        assert np.isfinite(mean).all()
        assert std[0] > 1e-3
    assert np.isfinite(GP().fit(np.ones((9, 2)), y[:9]).predict(Z)).all()
    assert GP().fit(np.ones((9, 2)), y[:9]).predict(np.ones((1, 2))) == pytest.approx([y[:9].mean()])
