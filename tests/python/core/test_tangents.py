"""Derivatives of products of kernel matrices with vectors, row by row."""

import numpy as np
import pytest

from kernsel import _core
from kernsel.kernels import (
    RBF,
    Columns,
    ConstantKernel,
    Cosine,
    DotProduct,
    Exp,
    ExpSineSquared,
    FunctionKernel,
    Linear,
    Matern,
    Normalize,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
    SpectralMixture,
    Transform,
    Warp,
    WhiteKernel,
)


def overlap(X, Z, width):
    return np.maximum(1 - np.abs(X[:, :1] - Z[:, :1].T) / width, 0)


TANGENTS = [
    RBF([0.5, 0.7, 0.9]),
    RBF(0.7),
    2.0 * Matern([0.5, 0.7, 0.9], nu=2.5, product=True) + WhiteKernel(0.3),
    Matern([0.5, 0.7, 0.9], nu=0.5, product=True),
    Matern(0.6, nu=1.5, product=True),
    Matern([0.4, 0.8, 0.6], nu=1.2),
    RationalQuadratic([0.5, 0.7, 0.9], alpha=0.8),
    ExpSineSquared(1.2, periodicity=[0.7, 0.9, 1.1]),
    Cosine([0.7, 0.9, 1.1]),
    DotProduct(1.3) * RBF(0.5) + ConstantKernel(0.4),
    Polynomial(2, 1.5, [0.7, 0.9, 1.1]),
    Exp(0.5 * RBF(0.4)) ** 2,
    Columns(RBF([0.4, 0.5]), [2, 0]) * Linear(2.0),
    SpectralMixture([0.5, 1.5], [[0.5, 0.7, 0.9]] * 2, [[1.0, 2.0, 3.0], [0.5, 0.6, 0.7]]),
    Normalize(DotProduct(1.0) + RBF(0.3)),  # from here on by differences
    Transform(RBF(0.5), [[1.0, 0.5, 0.0]]),
    QuadraticForm([[1.0, 0.5, 0.2], [0.0, 1.0, 0.1]]),
    Warp(RBF(0.5), lambda X: 1 + X[:, 0]),
]


@pytest.mark.core
@pytest.mark.parametrize("n", [5, 9, 130])
@pytest.mark.parametrize("kernel", TANGENTS, ids=str)
def test_derivatives_by_rows(kernel, n, rng):
    X, v = rng.uniform(size=(n, 3)), rng.standard_normal(n)
    found = np.array([kernel.in_theta(row) for row in _core.tangents(kernel.build(), X, v)])
    step = 1e-5
    for p, at in enumerate(kernel.theta):
        moved = []
        for sign in (1, -1):
            theta = kernel.theta
            theta[p] = at + sign * step
            moved.append(kernel.clone_with_theta(theta)(X) @ v)
        expected = (moved[0] - moved[1]) / (2 * step)
        # The third derivative times h^2, and rounding over h: both about 1e-10 of the largest term of the sums.
        assert found[:, p] == pytest.approx(expected, abs=1e-8 * np.abs(kernel(X)).max() * np.abs(v).sum())


def test_functions_with_parameters_have_no_tangents_of_their_own(rng):
    kernel = FunctionKernel(overlap, {"width": 2.0})
    with pytest.raises(ValueError, match="a function that is given with its parameters"):
        _core.tangents(kernel.build(), rng.uniform(size=(5, 1)), np.ones(5))
