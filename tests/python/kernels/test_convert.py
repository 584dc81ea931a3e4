"""Kernels of scikit-learn, made into ours."""

import math

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.kernels import (
    RBF,
    DotProduct,
    from_sklearn,
)

from accuracy import eps
from leaves import points

THEIRS = [
    2.0 * sk.RBF([1.0, 2.0, 0.7]) + sk.WhiteKernel(0.1),
    sk.Matern(1.3, nu=0.5) + sk.Matern([1.0, 2.0, 3.0], nu=1.5) * sk.Matern(0.9, nu=2.5),
    sk.Matern(0.8, nu=np.inf) * sk.RationalQuadratic(1.2, 0.7),
    sk.ExpSineSquared(1.1, 2.3) * sk.RBF(2.0) + sk.ConstantKernel(0.3, "fixed"),
    (sk.DotProduct(0.8) + sk.RBF(1.0)) ** 2,
    (sk.RBF(0.8) * sk.ConstantKernel(2.0)) ** 0.5 + sk.Matern(1.1, nu=1.5) ** 3,
    sk.RBF([1.0, 2.0, 3.0], length_scale_bounds="fixed") + sk.RBF(0.5, (0.1, 3.0)),
]


@pytest.mark.core
@pytest.mark.parametrize("theirs", THEIRS, ids=str)
def test_scikit_learns_kernels(theirs, rng):
    ours, X, W = from_sklearn(theirs), points(60, 3), rng.standard_normal((60, 60))
    K, gradient = theirs(X, eval_gradient=True)
    tolerance = 200 * eps(float) * np.abs(K).max()
    assert ours(X) == pytest.approx(K, abs=tolerance)
    assert ours(X, X[:9]) == pytest.approx(theirs(X, X[:9]), abs=tolerance)
    assert ours.diag(X) == pytest.approx(theirs.diag(X), abs=tolerance)
    assert ours.theta == pytest.approx(theirs.theta)
    assert ours.bounds == pytest.approx(theirs.bounds)
    assert [h.name for h in ours.hyperparameters] == [h.name for h in theirs.hyperparameters]
    expected = np.einsum("ij,ijp->p", W, gradient)
    assert ours.pullback(X, W) == pytest.approx(expected, abs=200 * eps(float) * np.abs(gradient).max() * np.abs(W).sum())
    moved = theirs.clone_with_theta(theirs.theta - 0.2)
    assert ours.clone_with_theta(ours.theta - 0.2)(X) == pytest.approx(moved(X), abs=tolerance)
    assert ks.gram(theirs, X) == pytest.approx(K, abs=tolerance)
    y = X.sum(1)
    assert np.array_equal(*(ks.KernelRidge(k, alpha=60.0).fit(X, y).predict(X) for k in (theirs, ours)))


@pytest.mark.core
@pytest.mark.parametrize(
    "theirs",
    [
        sk.Matern(1.3, nu=0.8) + sk.Matern([1.0, 2.0, 3.0], nu=2.2),
        sk.PairwiseKernel(0.7, metric="rbf") + sk.PairwiseKernel(0.2, (0.1, 2.0), metric="polynomial"),
        2.0 * sk.PairwiseKernel(metric="laplacian") * sk.RBF(2.0),
        sk.PairwiseKernel(metric="cosine") + sk.PairwiseKernel(metric="linear"),
    ],
    ids=str,
)
def test_scikit_learns_kernels_with_gradients_by_differences(theirs, rng):
    ours, X, W = from_sklearn(theirs), points(40, 3), rng.standard_normal((40, 40))
    K, gradient = theirs(X, eval_gradient=True)
    assert ours(X) == pytest.approx(K, abs=1000 * eps(float) * np.abs(K).max())
    assert ours.theta == pytest.approx(theirs.theta)
    assert ours.bounds == pytest.approx(theirs.bounds)
    expected = np.einsum("ij,ijp->p", W, gradient)
    assert ours.pullback(X, W) == pytest.approx(expected, abs=1e-5 * np.abs(gradient).max() * np.abs(W).sum())
    assert from_sklearn(theirs) == ours


@pytest.mark.core
def test_what_has_no_counterpart():
    class Own(sk.RBF):
        pass

    with pytest.raises(TypeError, match="CompoundKernel is a list of kernels, not a kernel"):
        RBF() + sk.CompoundKernel([sk.RBF()])
    with pytest.raises(TypeError, match=r"Own has no counterpart in kernsel\.kernels; FunctionKernel makes one"):
        RBF() + Own()


def test_scikit_learn_on_the_left(rng):
    X = rng.standard_normal((9, 2))
    theirs = sk.RBF(2.0) + 3.0 * (sk.DotProduct() * RBF(1.0))
    assert from_sklearn(theirs)(X) == pytest.approx(RBF(2.0)(X) + 3 * DotProduct()(X) * RBF(1.0)(X))


def test_long_sums_of_scikit_learn():
    theirs = [sk.RBF(1.0 + i) for i in range(2000)]
    assert from_sklearn(sum(theirs[1:], theirs[0])) == sum(from_sklearn(one) for one in theirs)
    product = math.prod(theirs[1:], start=theirs[0])
    assert from_sklearn(product) == math.prod([from_sklearn(one) for one in theirs[1:]], start=from_sklearn(theirs[0]))
