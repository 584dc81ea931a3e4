"""Kernels made into scikit-learn's."""

import numpy as np
import pytest

from kernsel.kernels import (
    RBF,
    ConstantKernel,
    Cosine,
    DotProduct,
    Exponential,
    ExpSineSquared,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    WhiteKernel,
    from_sklearn,
    to_sklearn,
)

from accuracy import eps


@pytest.mark.parametrize(
    ("kernel", "same_theta"),
    [
        (2.0 * RBF([1.0, 2.0]) + WhiteKernel(0.3), True),
        (Matern(0.5, (0.1, 3.0), nu=0.8) + Exponential([0.4, 0.3]) * RBF(0.7, "fixed"), True),
        (Matern([0.5], nu=2.5, product=True) * RationalQuadratic(0.4, 2.0), True),
        (ExpSineSquared(1.0, 2.0) * DotProduct(0.5) + Matern(0.6, nu=np.inf), True),
        ((RBF(0.4) + ConstantKernel(2.0, "fixed")) ** 2, True),
        (Linear(2.0) + Polynomial(3, 0.7, 1.5), False),
    ],
    ids=str,
)
def test_values_and_theta_are_the_same(kernel, same_theta, rng):
    X = rng.standard_normal((20, 1 if getattr(getattr(kernel, "k1", None), "product", False) else 2))
    theirs = to_sklearn(kernel)
    tolerance = 200 * eps(float) * np.abs(kernel(X)).max()
    assert theirs(X) == pytest.approx(kernel(X), abs=tolerance)
    assert theirs.diag(X) == pytest.approx(kernel.diag(X), abs=tolerance)
    back = from_sklearn(theirs)
    assert back(X) == pytest.approx(kernel(X), abs=tolerance)
    if same_theta:
        assert back.theta == pytest.approx(kernel.theta, rel=4 * eps(float))
        assert np.array_equal(back.bounds, kernel.bounds)
    else:
        assert len(theirs.theta) == 0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RBF(1.0).on([0]), "kernel: scikit-learn has no Columns"),
        (RBF(1.0) + Cosine(1.0), "kernel: scikit-learn has no Cosine"),
        (Matern([1.0, 2.0], nu=2.5, product=True), r"that of the distance, Matern\(product=False\)"),
        (RationalQuadratic([1.0, 2.0]), r"one length_scale of RationalQuadratic for all columns, got \[1.0, 2.0\]"),
        (Linear([1.0, 2.0]), "one length_scale of Linear for all columns"),
        (DotProduct(1.0, length_scale=2.0), "no length scales of DotProduct; Linear has one"),
    ],
)
def test_what_it_does_not_have_is_named(kernel, message):
    with pytest.raises(TypeError, match=message):
        to_sklearn(kernel)
