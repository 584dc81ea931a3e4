"""check_kernel accepts kernels and finds what is wrong with others."""

import numpy as np
import pytest

from kernsel.kernels import (
    RBF,
    ExpSineSquared,
    FunctionKernel,
    WhiteKernel,
)
from kernsel.testing import check_kernel


@pytest.mark.parametrize("kernel", [RBF(), 2.0 * RBF([1.0, 2.0]) + WhiteKernel(0.1), RBF(1.0, "fixed").on([1]) ** 2], ids=str)
def test_good_kernels(kernel, rng):
    check_kernel(kernel, rng.standard_normal((30, 2)))


class Changed(RBF):
    """An RBF with one method replaced."""

    def __call__(self, X, Z=None, *, out=None):
        return self.change(super().__call__(X, Z, out=out), Z)

    def change(self, K, Z):  # noqa: ARG002
        return K


class Unsymmetric(Changed):
    def change(self, K, Z):  # noqa: ARG002
        return K + np.triu(K) * 1e-12


class Indefinite(Changed):
    def change(self, K, Z):
        return K - 0.5 * np.eye(*K.shape) if Z is None else K


class WrongDiagonal(RBF):
    def diag(self, X):
        return super().diag(X) + 1e-9


class WrongGradient(RBF):
    def pullback(self, X, W, Z=None):
        return super().pullback(X, W, Z) * (1 + 1e-4)


class WrongProduct(RBF):
    def matmul(self, X, Z, V):
        return 1.001 * super().matmul(X, Z, V)


class WrongBlock(Changed):
    def change(self, K, Z):
        return K if Z is None else K * 1.001


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Unsymmetric, "not symmetric to the last bit"),
        (Indefinite, "k.diag"),
        (WrongDiagonal, "k.diag"),
        (WrongGradient, "the derivative in length_scale is"),
        (WrongProduct, "k.matmul"),
        (WrongBlock, "differs from the block"),
    ],
)
def test_bad_kernels(kernel, message, rng):
    with pytest.raises(AssertionError, match=message):
        check_kernel(kernel(1.0), rng.standard_normal((30, 2)))


def test_not_positive_semidefinite(rng):
    X = 3 * rng.standard_normal((60, 3))
    with pytest.raises(AssertionError, match="not positive semidefinite: it has the eigenvalue -"):
        check_kernel(ExpSineSquared(0.7, 1.3), X)
    check_kernel(ExpSineSquared(0.7, 1.3), X, psd=False)


def test_a_kernel_that_cannot_be_pickled(rng):
    with pytest.raises(AssertionError, match="the kernel cannot be pickled"):
        check_kernel(FunctionKernel(lambda X, Z: X @ Z.T), rng.uniform(0.1, 1, (9, 2)))
    check_kernel(1e200 * RBF(), rng.uniform(0.1, 1, (9, 2)))
