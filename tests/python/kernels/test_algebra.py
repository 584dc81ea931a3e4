"""Kernels as Python objects: algebra, parameters, gradients, errors."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import pairwise
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, Kernel, Product, Sum, WhiteKernel
from kernsel.kernels.base import Data

import reference

SCALES = [0.5, 1.0, 2.0]

# Trees of three columns, as functions of theta, so that they can be moved along it.
TREES = {
    "rbf": lambda t: RBF(np.exp(t[0])),
    "ard": lambda t: RBF(np.exp(t[:3])),
    "constant": lambda t: ConstantKernel(np.exp(t[0])),
    "white": lambda t: WhiteKernel(np.exp(t[0])),
    "sum": lambda t: RBF(np.exp(t[0])) + WhiteKernel(np.exp(t[1])),
    "product": lambda t: RBF(np.exp(t[0])) * RBF(np.exp(t[1:4])),
    "scaled": lambda t: float(np.exp(t[0])) * RBF(np.exp(t[1:4])),
    "scaled from the right": lambda t: RBF(np.exp(t[:3])) * float(np.exp(t[3])),
    "deep": lambda t: (
        (
            ConstantKernel(np.exp(t[0])) * RBF(np.exp(t[1:4]))
            + RBF(np.exp(t[4])) * (RBF(np.exp(t[5])) + ConstantKernel(np.exp(t[6])))
        )
        * float(np.exp(t[7]))
        + WhiteKernel(np.exp(t[8]))
    ),
}
PARAMETERS = {
    "rbf": 1,
    "ard": 3,
    "constant": 1,
    "white": 1,
    "sum": 2,
    "product": 4,
    "scaled": 4,
    "scaled from the right": 4,
    "deep": 9,
}


@pytest.mark.core
@pytest.mark.parametrize(("name", "cross", "n"), pairwise(TREES, [False, True], [7, 125, 250]))
def test_pullback_by_central_differences(name, cross, n, rng):
    X = rng.standard_normal((n, 3))
    Z = rng.standard_normal((n + 4, 3)) if cross else None
    W = rng.standard_normal((n, n + 4 if cross else n))
    theta = rng.uniform(-0.7, 0.7, PARAMETERS[name])
    make = TREES[name]
    k = make(theta)
    assert k.theta == pytest.approx(theta, abs=4 * np.finfo(float).eps)
    expected, error = reference.central_differences(lambda t: np.vdot(W, make(t)(X, Z)), theta, step=1e-4)
    rounding = np.finfo(float).eps * np.linalg.norm(W) * n / 1e-4
    assert (np.abs(k.pullback(X, W, Z) - expected) <= error + rounding).all()


@pytest.mark.core
@given(st.sampled_from(list(TREES)), st.integers(1, 200), st.integers(0, 1000))
def test_pullback_in_single_precision(name, n, seed):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, 3)).astype(np.float32), rng.standard_normal((n, n)).astype(np.float32)
    k = TREES[name](rng.uniform(-0.7, 0.7, PARAMETERS[name]))
    exact = k.pullback(X.astype(float), W.astype(float))
    size = k.pullback(X.astype(float), np.abs(W.astype(float)))
    assert (
        np.abs(k.pullback(X, W) - exact) <= 64 * np.finfo(np.float32).eps * np.maximum(np.abs(size), np.abs(W).sum() / n)
    ).all()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (2.0 * RBF(1.5), 2.0 * sk.RBF(1.5)),
        (RBF(SCALES) + WhiteKernel(0.1), sk.RBF(SCALES) + sk.WhiteKernel(0.1)),
        (
            RBF(SCALES) * 3.0 + ConstantKernel(0.5) * RBF(0.7),
            sk.RBF(SCALES) * 3.0 + sk.ConstantKernel(0.5) * sk.RBF(0.7),
        ),
    ],
)
def test_values_and_gradients_of_scikit_learn(ours, theirs, rng):
    X = rng.standard_normal((60, 3))
    K, gradient = theirs(X, eval_gradient=True)
    W = rng.standard_normal((60, 60))
    tolerance = 64 * np.finfo(float).eps
    assert ours(X) == pytest.approx(K, abs=tolerance * K.max())
    assert ours(X, X[:9]) == pytest.approx(theirs(X, X[:9]), abs=tolerance * K.max())
    assert ours.diag(X) == pytest.approx(theirs.diag(X))
    assert ours.theta == pytest.approx(theirs.theta)
    assert ours.pullback(X, W) == pytest.approx(np.einsum("ij,ijp->p", W, gradient), abs=tolerance * np.abs(W).sum())


def test_algebra():
    k = RBF(0.5)
    assert k + 1.0 == Sum(k, ConstantKernel(1.0))
    assert 1 + k == Sum(ConstantKernel(1.0), k)
    assert 2 * k == Product(ConstantKernel(2.0), k)
    assert np.float64(2) * k == Product(ConstantKernel(2.0), k)
    assert k * np.float32(2) == Product(k, ConstantKernel(2.0))
    assert k != RBF(0.6)
    assert k != WhiteKernel(0.5)
    assert k != "RBF"
    assert RBF([1, 2]) == RBF(np.array([1.0, 2.0]))
    for other in ("text", None, True, 1j, np.ones(2)):
        with pytest.raises(TypeError):
            k + other
        with pytest.raises(TypeError):
            other * k


def test_repr_reads_back():
    k = (RBF(0.5) + WhiteKernel(0.1)) * RBF(np.array([1.0, 2.0])) + 2.0
    names = {"RBF": RBF, "WhiteKernel": WhiteKernel, "ConstantKernel": ConstantKernel}
    assert eval(repr(k), names) == k
    assert repr(RBF(np.float64(0.5))) == "RBF(length_scale=0.5)"


def test_parameters():
    k = 2.0 * RBF(0.5) + WhiteKernel(0.1)
    params = k.get_params()
    assert params["k1__k2__length_scale"] == 0.5
    assert set(k.get_params(deep=False)) == {"k1", "k2"}
    assert k.set_params(k1__k2__length_scale=0.7, k2__noise_level=1.0) is k
    assert k == 2.0 * RBF(0.7) + WhiteKernel(1.0)
    with pytest.raises(ValueError, match="RBF has no parameter 'sigma'; it has length_scale"):
        k.set_params(k1__k2__sigma=1)
    with pytest.raises(ValueError, match="length_scale: expected positive"):
        k.set_params(k1__k2__length_scale=-1.0)


def test_copies():
    k = 2.0 * RBF([0.5, 1.0]) + WhiteKernel(0.1)
    for again in (clone(k), copy.deepcopy(k), pickle.loads(pickle.dumps(k))):
        assert again == k
        assert again is not k
        assert again.k2 is not k.k2


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, [1.0, 0.0], [[1.0]], [], "wide", None, 1j])
def test_impossible_length_scales(value):
    with pytest.raises((ValueError, TypeError), match="length_scale"):
        RBF(value)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, [1.0], "much", None])
@pytest.mark.parametrize(("kernel", "name"), [(ConstantKernel, "constant_value"), (WhiteKernel, "noise_level")])
def test_impossible_numbers(kernel, name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        kernel(value)


def test_negative_multiple():
    with pytest.raises(ValueError, match="constant_value: expected positive, finite numbers, got -2"):
        -2.0 * RBF()


def test_wrong_number_of_length_scales(rng):
    with pytest.raises(ValueError, match="one length scale, or one for each column"):
        RBF([1.0, 2.0])(rng.standard_normal((4, 3)))


def test_auto_is_for_estimators(rng):
    X = rng.standard_normal((50, 2)) * [1.0, 1e6]
    with pytest.raises(ValueError, match='"auto" is set when an estimator is fitted'):
        RBF("auto")(X)
    X = np.column_stack([X, np.ones(50)])
    resolved = (2.0 * RBF("auto") + WhiteKernel()).resolve(Data(X))
    scale = resolved.k1.k2.length_scale
    assert scale == pytest.approx([X[:, 0].std() * 3**0.5, X[:, 1].std() * 3**0.5, 3**0.5])


def test_kernels_are_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Kernel()
    with pytest.raises(TypeError, match="k2: expected a kernel, got 3"):
        Sum(RBF(), 3)
    with pytest.raises(ValueError, match=r"kernel: there is no kernel 'rbf'.*did you mean RBF"):
        ks.gram("rbf", np.ones((2, 2)))
    with pytest.raises(TypeError, match=r"expected a kernel of kernsel\.kernels"):
        ks.gram(2.0, np.ones((2, 2)))


def test_weights_of_the_wrong_shape(rng):
    X = rng.standard_normal((4, 2))
    with pytest.raises(ValueError, match=r"W: expected shape \(4, 4\), as the kernel matrix has, got \(3, 3\)"):
        RBF().pullback(X, np.ones((3, 3)))
    with pytest.raises(ValueError, match="V: expected 4 rows"):
        RBF().matmul(X, X, np.ones(3))
    with pytest.raises(ValueError, match="Z: expected 2 columns, as X has"):
        RBF()(X, X[:, :1])
