"""Numbers on the diagonal: alike in every place that has them."""

import numpy as np
import pytest

import kernsel as ks
from kernsel._data.noise import point_weights, regularizations, variances
from kernsel.kernels import RBF

X = np.linspace(0, 3, 8).reshape(-1, 1)
Y = np.sin(X[:, 0])
BAD = [
    (-0.1, "noise: expected finite numbers that are not negative, got -0.1"),
    (np.inf, "noise: expected finite numbers that are not negative"),
    (np.ones(5), r"noise must be a scalar or an array with same number of entries as y. \(shape \(5,\) for 8 points\)"),
    (np.ones((8, 1)), "noise must be a scalar or an array"),
]


@pytest.mark.parametrize(("noise", "message"), BAD)
@pytest.mark.parametrize(
    "use",
    [
        lambda noise: variances("noise", noise, 8),
        lambda noise: ks.evaluate("lml", RBF(), X, Y, noise=noise),
        lambda noise: ks.loo(RBF(), X, Y, noise=noise),
        lambda noise: ks.GaussianProcessRegressor(RBF(), noise=noise).fit(X, Y),
    ],
)
def test_bad_variances(use, noise, message):
    with pytest.raises(ValueError, match=message):
        use(noise)


def test_variances():
    assert variances("noise", [0.5], 8).shape == ()
    assert variances("noise", np.arange(8), 8).tolist() == list(range(8))
    assert variances("noise", np.arange(3), None).shape == (3,)
    with pytest.raises(ValueError, match="noise: expected numbers or \"auto\", got 'none'"):
        variances("noise", "none", 8)
    with pytest.raises(TypeError, match="estimators find the noise"):
        ks.evaluate("lml", RBF(), X, Y, noise="auto")


@pytest.mark.parametrize(
    "make", [lambda alpha: ks.KernelRidge(RBF(), alpha=alpha), lambda alpha: ks.RidgeRegression(alpha=alpha)]
)
@pytest.mark.parametrize(
    ("alpha", "error", "message"),
    [
        (-1.0, ValueError, "alpha: expected finite numbers that are not negative, got -1.0"),
        ([1.0, 2.0, 3.0], ValueError, r"alpha: expected one number or 2, one for each target, got shape \(3,\)"),
        ("large", TypeError, "alpha: expected a number, one for each target"),
        (True, TypeError, "alpha: expected a number, one for each target"),
    ],
)
def test_bad_regularizations(make, alpha, error, message):
    with pytest.raises(error, match=message):
        make(alpha).fit(X, np.column_stack([Y, Y]))


def test_regularizations():
    assert regularizations(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert regularizations([1, 2], 2).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="alpha: expected a number, one for each target"):
        ks.RidgeRegression(alpha=None).fit(X, Y)


def test_weights():
    assert point_weights(None, X) is None
    assert point_weights(2.0, X).tolist() == [2.0] * 8
    for bad, message in (
        ([-1.0] + [1.0] * 7, "not negative, got -1"),
        ([0.0] * 8, "all weights are zero|at least one non-zero number"),
    ):
        for use in (
            lambda w: ks.evaluate("lml", RBF(), X, Y, noise=0.1, sample_weight=w),
            lambda w: ks.KernelRidge().fit(X, Y, w),
            lambda w: ks.features.RadialBasis(4).fit(X, sample_weight=w),
        ):
            with pytest.raises(ValueError, match=message):
                use(bad)
