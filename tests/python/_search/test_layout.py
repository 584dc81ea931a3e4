"""What a search may change in a kernel."""

import numpy as np
import pytest

from kernsel._search.layout import Layout
from kernsel.kernels import (
    RBF,
    Columns,
    ConstantKernel,
    Exp,
    HeteroscedasticNoise,
    Linear,
    Normalize,
    Parameter,
    Warp,
    WhiteKernel,
    priors,
)

from accuracy import assert_ulps

C = ConstantKernel


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (RBF(1.0), None),
        (C(2.0) * RBF(1.0), [0]),
        (RBF(1.0) * C(2.0), [1]),
        (C(2.0, "fixed") * RBF(1.0), None),
        (C(2.0) * RBF(1.0) + WhiteKernel(0.1), [0, 2]),
        (C(2.0) * RBF(1.0) + C(3.0) * Linear(1.0) + WhiteKernel(0.1), [0, 2, 4]),
        (C(2.0) * RBF(1.0) + RBF(2.0), None),
        (C(2.0) * RBF(1.0) + WhiteKernel(0.1, "fixed"), None),
        ((C(2.0) * RBF(1.0) + C(3.0) * Linear(1.0)) * RBF(4.0), [0, 2]),
        (C(2.0) * C(3.0) * RBF(1.0), [0]),
        (C(2.0, "fixed") * (C(3.0) * RBF(1.0) + WhiteKernel(0.1)), [0, 2]),
        (Columns(C(2.0) * RBF(1.0), [0]), [0]),
        ((C(2.0) * RBF(1.0)) ** 2, None),
        (Normalize(C(2.0) * Linear(1.0)), None),
        (Exp(C(2.0) * RBF(1.0)), None),
        (Warp(C(2.0) * RBF(1.0), lambda X: 1 + X[:, 0]), [0]),
        (C(Parameter(2.0, name="a")) * RBF(1.0) + C(Parameter(2.0, name="a")) * Linear(1.0), None),
        (C(Parameter(2.0, prior=priors.Gamma(2.0, 1.0))) * RBF(1.0), None),
        (HeteroscedasticNoise(lambda X: 1 + X[:, 0]) + C(2.0) * RBF(1.0), None),
    ],
    ids=str,
)
def test_amplitudes(kernel, expected, rng):
    layout = Layout(kernel)
    assert layout.amplitudes() == expected
    assert np.array_equal(layout.theta, kernel.theta)
    assert np.array_equal(layout.bounds, kernel.bounds)
    if expected is not None:  # they do what they are for
        X = rng.uniform(size=(6, 2))
        theta = kernel.theta
        theta[expected] += np.log(3.0)
        # Each amplitude goes through a logarithm and back, whose rounding grows with it, and there are two at most.
        ulps = 8 * (1 + np.abs(theta[expected]).max()) * len(expected)
        assert_ulps(layout.kernel_at(theta)(X), 3.0 * kernel(X), ulps)
