"""Checks that a kernel is what it says, for ours and for those of users."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kernsel.kernels import Kernel

__all__ = ["check_kernel"]


def check_kernel(kernel: Kernel, X: ArrayLike, *, psd: bool = True, points: bool = True) -> None:
    """Check that a kernel is symmetric, positive semidefinite, consistent and differentiated right.

    Raises AssertionError with what is wrong. Compares the diagonal, blocks across two sets of points, products without the
    matrix and single precision with the whole matrix; gradients with central differences, in every hyperparameter and in the
    points; and copies, by `clone`, `pickle` and `clone_with_theta`, with the original.

    Parameters
    ----------
    kernel : Kernel
    X : array-like of shape (n, d), or sequence of n objects if the kernel is one of objects
        At least two points, at which the kernel is evaluated; tens of them are enough.
    psd : bool
        False for a kernel that need not be positive semidefinite.
    points : bool
        False for a kernel that is not a differentiable function of the points; a few kinks do no harm.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.kernels import RBF, WhiteKernel
    >>> from kernsel.testing import check_kernel
    >>> check_kernel(2.0 * RBF([1.0, 0.3]) + WhiteKernel(0.1), np.random.default_rng(0).normal(size=(20, 2)))
    """
    given, original = X, kernel
    if kernel.for_objects():
        kernel, X, _ = kernel.ready(X)
        points = False
    at = np.asarray(X, dtype=np.float64)
    assert at.ndim == 2, f"X: expected shape (n, d), got {at.shape}"
    assert len(at) >= 2, "X: expected at least two points"
    K = kernel(at)
    size, n = float(np.abs(K).max()), len(at)
    rounding = 100 * n * float(np.finfo(np.float64).eps) * size

    assert K.shape == (n, n), f"k(X) has the shape {K.shape} for {n} points"
    assert np.isfinite(K).all(), "k(X) has entries that are not finite"
    assert np.array_equal(K, K.T), "k(X) is not symmetric to the last bit"
    assert np.array_equal(kernel.diag(at), np.diag(K)), "k.diag(X) is not the diagonal of k(X)"
    if psd:
        least = float(np.linalg.eigvalsh(K)[0])
        assert least >= -rounding, f"k(X) is not positive semidefinite: it has the eigenvalue {least:.3g}"
    _check_consistency(kernel, at, K, rounding)
    _check_copies(original, given if original is not kernel else at, K)
    _check_gradient(kernel, at, rounding)
    if points:
        _check_gradient_in_the_points(kernel, at, rounding)


def _check_consistency(kernel: Kernel, X: NDArray[Any], K: NDArray[Any], rounding: float) -> None:
    half = len(X) // 2
    cross = kernel(X[:half], X[half:])
    assert np.abs(cross - K[:half, half:]).max() <= rounding, "k(X, Z) differs from the block of k(X)"
    assert np.abs(kernel(X[half:], X[:half]) - cross.T).max() <= rounding, "k(Z, X) is not the transpose of k(X, Z)"
    V = np.linspace(-1.0, 1.0, cross.shape[1])
    error = np.abs(kernel.matmul(X[:half], X[half:], V) - cross @ V).max()
    assert error <= rounding * len(V), "k.matmul(X, Z, V) differs from k(X, Z) @ V"
    if not 1e-30 < float(np.abs(K).max()) < 1e30:
        return  # out of the range of single precision
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32, f"k(X) of float32 points has the dtype {single.dtype}"
    limit = 1000 * float(np.finfo(np.float32).eps) * max(float(np.abs(X).max()), 1.0) * float(np.abs(K).max())
    assert np.abs(single - K).max() <= limit, "k(X) in single precision differs from double by more than rounding"


def _check_copies(kernel: Kernel, X: Any, K: NDArray[Any]) -> None:
    try:
        pickled = pickle.loads(pickle.dumps(kernel))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(
            f"the kernel cannot be pickled ({error}); define its functions at the top level of a module"
        ) from None
    copies = {"clone": clone(kernel), "pickle": pickled}
    for how, copy in copies.items():
        assert copy == kernel, f"a copy by {how} is not equal to the kernel"
        assert np.array_equal(copy(X), K), f"a copy by {how} has other values"
    theta = kernel.theta
    assert theta.shape == (kernel.n_dims,) == (len(kernel.bounds),), "theta, n_dims and bounds do not belong together"
    moved = kernel.clone_with_theta(theta + 0.125)
    limit = 8 * float(np.finfo(np.float64).eps) * (1 + np.abs(theta))
    assert (np.abs(moved.theta - theta - 0.125) <= limit).all(), "clone_with_theta(theta).theta is not theta"
    assert np.array_equal(kernel(X), K), "clone_with_theta changed the kernel itself"


def _check_gradient(kernel: Kernel, X: NDArray[Any], rounding: float) -> None:
    W = np.random.default_rng(0).standard_normal((len(X), len(X)))
    gradient, theta = kernel.pullback(X, W), kernel.theta
    assert gradient.shape == theta.shape, f"k.pullback(X, W) has the shape {gradient.shape}, theta {theta.shape}"
    step = 2.0**-13
    for p, derivative in enumerate(gradient):

        def along(h: float, p: int = p) -> float:
            return float(np.vdot(W, kernel.clone_with_theta(theta + h * np.eye(len(theta))[p])(X)))

        narrow, wide = (along(step) - along(-step)) / (2 * step), (along(2 * step) - along(-2 * step)) / (4 * step)
        limit = abs(narrow - wide) + rounding * float(np.linalg.norm(W)) / step
        name = [h.name for h in kernel.hyperparameters if not h.fixed for _ in range(h.n_elements)][p]
        error = abs(derivative - (4 * narrow - wide) / 3)
        assert error <= limit, f"the derivative in {name} is {derivative:.6g}, by central differences {narrow:.6g}"


def _check_gradient_in_the_points(kernel: Kernel, X: NDArray[Any], rounding: float) -> None:
    rng = np.random.default_rng(0)
    W, direction = rng.standard_normal((len(X), len(X))), rng.standard_normal(X.shape)
    size = np.ptp(X, axis=0)
    direction *= np.where(size > 0, size, np.maximum(np.abs(X).max(axis=0), 1.0))
    half = len(X) // 2
    for Z, weights in ((None, W), (X[half:], W[:, half:])):
        gradient = kernel.pullback(X, weights, Z, wrt="X")
        assert gradient.shape == X.shape, f'k.pullback(X, W, wrt="X") has the shape {gradient.shape}, X {X.shape}'
        step = 2.0**-15

        def along(h: float, weights: NDArray[Any] = weights, Z: NDArray[Any] | None = Z) -> float:
            return float(np.vdot(weights, kernel(X + h * direction, Z)))

        narrow, wide = (along(step) - along(-step)) / (2 * step), (along(2 * step) - along(-2 * step)) / (4 * step)
        derivative = float(np.vdot(gradient, direction))
        limit = 4 * abs(narrow - wide) + rounding * float(np.linalg.norm(W)) / step
        error = abs(derivative - (4 * narrow - wide) / 3)
        assert error <= limit, f"the derivative along the points is {derivative:.6g}, by central differences {narrow:.6g}"
