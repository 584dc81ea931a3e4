"""What all kernels have: parameters, copies, errors."""

import copy
import pickle
from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
import kernsel.structured as st
from kernsel.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Kernel,
    Linear,
    Matern,
    Normalize,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)

import reference


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


JACOBIANS = [
    1.5 * RBF([0.5, 0.8]) + WhiteKernel(0.3),
    Matern([0.5, 0.7], nu=1.5),
    RationalQuadratic(0.7, alpha=0.8),
    ConstantKernel(2.0) * DotProduct(1.3) ** 2,
]


@pytest.mark.parametrize("kernel", [*JACOBIANS, RBF([0.5, 0.8], "fixed"), Normalize(DotProduct(1.0) + RBF(0.3))], ids=str)
def test_jacobian(kernel, rng):
    X, W = rng.uniform(size=(6, 2)), rng.standard_normal((6, 6))
    X[4] = X[1]  # of which a white kernel knows that they are two points
    found = kernel.jacobian(X)
    assert found.shape == (6, 6, kernel.n_dims)
    assert np.einsum("ij,ijp->p", W, found) == pytest.approx(kernel.pullback(X, W), rel=1e-12, abs=1e-13)
    for i, j in ((0, 0), (0, 3), (3, 0), (1, 4)):
        expected, error = reference.central_differences(
            lambda t, i=i, j=j: kernel.clone_with_theta(t)(X)[i, j] if len(t) else 0.0, kernel.theta
        )
        assert (np.abs(found[i, j] - expected) <= error + 1e-10).all()


@pytest.mark.parametrize("kernel", JACOBIANS, ids=str)
def test_jacobian_is_scikit_learns(kernel, rng):
    X = rng.uniform(size=(7, 2))
    K, theirs = kernel_of_theirs(kernel)(X, eval_gradient=True)
    assert kernel(X) == pytest.approx(K, rel=1e-12)
    assert kernel.jacobian(X) == pytest.approx(theirs, rel=1e-11, abs=1e-13)


def kernel_of_theirs(kernel):
    """Return the kernel of scikit-learn of the same class and parameters, which have the same names."""
    params = kernel.get_params(deep=False)
    made = {name: kernel_of_theirs(value) if isinstance(value, Kernel) else value for name, value in params.items()}
    theirs = getattr(sk, {"Power": "Exponentiation"}.get(type(kernel).__name__, type(kernel).__name__))
    return theirs(**{name: value for name, value in made.items() if name in signature(theirs).parameters})


def test_jacobian_of_objects():
    kernel, texts = 2.0 * st.Spectrum(2), ["ACGT", "ACCA", "TT"]
    assert np.array_equal(kernel.jacobian(texts)[..., 0], kernel(texts))  # d(2 k) / d log 2
