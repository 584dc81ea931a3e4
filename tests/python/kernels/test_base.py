"""What all kernels have: parameters, copies, errors."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kernsel as ks
from kernsel.kernels import (
    RBF,
    Kernel,
    Linear,
    Sum,
    WhiteKernel,
)


@pytest.mark.core
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(1.0).clone_with_theta([1.0, 2.0]), r"theta: expected 1 numbers, got shape \(2,\)"),
        (lambda: RBF(1.0).clone_with_theta([np.nan]), "theta: expected logarithms"),
    ],
)
def test_what_would_not_be_a_kernel(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


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


def test_set_params_is_all_or_nothing():
    k = RBF(1.0)
    with pytest.raises(ValueError, match="length_scale: expected positive"):
        k.set_params(length_scale=-1)
    assert k == RBF(1.0)
    k = RBF() + RBF()
    k.set_params(k1__length_scale=3.0, k1=Linear())
    assert k == Linear(3.0) + RBF()
    with pytest.raises(ValueError, match="length_scale: has no parameters of its own"):
        RBF().set_params(length_scale__x=1)
    power = (RBF() * RBF()) ** 0.5
    with pytest.raises(ValueError, match="need not be positive semidefinite"):
        power.set_params(kernel__k1=Linear())
    power.kernel.set_params(k1=Linear())
    with pytest.raises(ValueError, match="need not be positive semidefinite"):
        power([[1.0], [-1.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF().pullback([[1.0]], [[1.0]], wrt="Z"), 'wrt: expected "theta" or "X", got \'Z\''),
    ],
)
def test_bad_hyperparameters(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
