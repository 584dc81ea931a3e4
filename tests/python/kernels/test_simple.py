"""Constants and noise."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import (
    RBF,
    ConstantKernel,
    HeteroscedasticNoise,
    Normalize,
    WhiteKernel,
)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, [1.0], "much", None])
@pytest.mark.parametrize(("kernel", "name"), [(ConstantKernel, "constant_value"), (WhiteKernel, "noise_level")])
def test_impossible_numbers(kernel, name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        kernel(value)


def laplace(X, Z, width=1.0):
    return np.exp(-np.abs(X[:, None] - Z[None]).sum(axis=-1) / width)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: HeteroscedasticNoise([1.0, 2.0])(X), "variances: expected one for each of 3 points, got 2"),
        (lambda X: HeteroscedasticNoise([1.0, -2.0])(X), "variances: expected finite numbers that are not negative"),
        (lambda X: HeteroscedasticNoise(lambda X: -X[:, 1])(X), "noise: the variances must not be negative"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_functions(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(np.arange(6.0).reshape(3, 2))


def test_noise_of_the_training_points(rng):
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    variances = rng.uniform(0.1, 2.0, 30)
    k = RBF() + HeteroscedasticNoise(variances)
    assert k(X) == pytest.approx(RBF()(X) + np.diag(variances))
    assert np.array_equal(k(X[:9], X), RBF()(X[:9], X))
    model = ks.KernelRidge(k, alpha=0.0).fit(X, y)
    expected = RBF()(X[:9], X) @ np.linalg.solve(RBF()(X) + np.diag(variances), y)
    assert model.predict(X[:9]) == pytest.approx(expected)


def test_white_noise_is_for_a_point_itself(rng):
    X = rng.standard_normal((10, 2))
    X[5] = X[0]
    k = Normalize(RBF() + WhiteKernel(0.5))
    assert k(X)[5, 0] == pytest.approx(1 / 1.5)
    assert k(X, X)[0, 0] == pytest.approx(1 / 1.5)
    assert (np.diag(k(X)) == 1).all()
