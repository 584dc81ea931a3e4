"""Checks that a kernel or a likelihood is valid and its methods consistent, for those of kernsel and of users."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np

from kernsel._base.annotations import Matrix
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points
from kernsel.likelihoods.check import check_likelihood

__all__ = ["check_kernel", "check_likelihood"]


def check_kernel(kernel: Kernel, X: Points, *, psd: bool = True, points: bool = True) -> None:
    """Check that a kernel is symmetric, positive semidefinite and consistent, and that its gradients are right.

    Raises an AssertionError that says what is wrong. The matrix k(X) is compared with the diagonal, with blocks k(X, Z), with
    products that do not form the matrix, and with single precision; gradients in each hyperparameter and in the points with
    central differences; and copies by `clone`, `pickle` and `clone_with_theta` with the original.

    Parameters
    ----------
    kernel : Kernel
    X : array-like of shape (n, d), or sequence of n objects if the kernel is one of objects
        At least two points at which the kernel is evaluated; tens of them are enough.
    psd : bool
        False for a kernel that need not be positive semidefinite.
    points : bool
        False for a kernel that is not a differentiable function of the points; isolated kinks do no harm.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.kernels import RBF, WhiteKernel
    >>> from kernsel.testing import check_kernel
    >>> check_kernel(2.0 * RBF([1.0, 0.3]) + WhiteKernel(0.1), np.random.default_rng(0).normal(size=(20, 2)))
    """
    original, original_points = kernel, X
    if kernel.for_objects():
        kernel, X, _ = kernel.ready(X)
        points = False
    array = np.asarray(X, dtype=np.float64)
    assert array.ndim == 2, f"X: expected shape (n, d), got {array.shape}"
    assert len(array) >= 2, "X: expected at least two points"
    K = kernel(array)
    size, n = float(np.abs(K).max()), len(array)
    rounding = 100 * n * float(np.finfo(np.float64).eps) * size

    assert K.shape == (n, n), f"k(X) has the shape {K.shape} for {n} points"
    assert np.isfinite(K).all(), "k(X) has entries that are not finite"
    assert np.array_equal(K, K.T), "k(X) is not symmetric to the last bit"
    assert np.array_equal(kernel.diag(array), np.diag(K)), "k.diag(X) is not the diagonal of k(X)"
    if psd:
        least = float(np.linalg.eigvalsh(K)[0])
        assert least >= -rounding, f"k(X) is not positive semidefinite: it has the eigenvalue {least:.3g}"
    _check_consistency(kernel, array, K, rounding)
    _check_copies(original, original_points if original is not kernel else array, K)
    _check_gradient(kernel, array, rounding)
    if points:
        _check_gradient_in_the_points(kernel, array, rounding)


def _check_consistency(kernel: Kernel, X: Matrix, K: Matrix, rounding: float) -> None:
    half = len(X) // 2
    cross = kernel(X[:half], X[half:])
    assert np.abs(cross - K[:half, half:]).max() <= rounding, "k(X, Z) differs from the block of k(X)"
    assert np.abs(kernel(X[half:], X[:half]) - cross.T).max() <= rounding, "k(Z, X) is not the transpose of k(X, Z)"
    V = np.linspace(-1.0, 1.0, cross.shape[1])
    error = np.abs(kernel.matmul(X[:half], X[half:], V) - cross @ V).max()
    assert error <= rounding * len(V), "k.matmul(X, Z, V) differs from k(X, Z) @ V"
    if not 1e-30 < float(np.abs(K).max()) < 1e30:
        return  # values are beyond the range of single precision
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32, f"k(X) of float32 points has the dtype {single.dtype}"
    limit = 1000 * float(np.finfo(np.float32).eps) * max(float(np.abs(X).max()), 1.0) * float(np.abs(K).max())
    assert np.abs(single - K).max() <= limit, "k(X) in single precision differs from double by more than rounding"


def _check_copies(kernel: Kernel, X: Points, K: Matrix) -> None:
    from sklearn.base import clone

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


def _differences(f: Callable[[float], float], step: float) -> tuple[float, float]:
    """Return the central differences D(h) and D(2h) of a function at 0; (4 D(h) - D(2h)) / 3 is its derivative to h^4."""
    return (f(step) - f(-step)) / (2 * step), (f(2 * step) - f(-2 * step)) / (4 * step)


def _check_gradient(kernel: Kernel, X: Matrix, rounding: float) -> None:
    W = np.random.default_rng(0).standard_normal((len(X), len(X)))
    gradient, theta = kernel.pullback(X, W), kernel.theta
    assert gradient.shape == theta.shape, f"k.pullback(X, W) has the shape {gradient.shape}, theta {theta.shape}"
    step = 2.0**-13
    for p, derivative in enumerate(gradient):

        def objective(h: float, p: int = p) -> float:
            return float(np.vdot(W, kernel.clone_with_theta(theta + h * np.eye(len(theta))[p])(X)))

        difference, difference2 = _differences(objective, step)
        limit = abs(difference - difference2) + rounding * float(np.linalg.norm(W)) / step
        name = [h.name for h in kernel.hyperparameters if not h.fixed for _ in range(h.n_elements)][p]
        error = abs(derivative - (4 * difference - difference2) / 3)
        assert error <= limit, f"the derivative in {name} is {derivative:.6g}, by central differences {difference:.6g}"


def _check_gradient_in_the_points(kernel: Kernel, X: Matrix, rounding: float) -> None:
    rng = np.random.default_rng(0)
    W, direction = rng.standard_normal((len(X), len(X))), rng.standard_normal(X.shape)
    size = np.ptp(X, axis=0)
    direction *= np.where(size > 0, size, np.maximum(np.abs(X).max(axis=0), 1.0))
    half = len(X) // 2
    for Z, weights in ((None, W), (X[half:], W[:, half:])):
        gradient = kernel.pullback(X, weights, Z, wrt="X")
        assert gradient.shape == X.shape, f'k.pullback(X, W, wrt="X") has the shape {gradient.shape}, X {X.shape}'
        step = 2.0**-15

        def objective(h: float, weights: Matrix = weights, Z: Matrix | None = Z) -> float:
            return float(np.vdot(weights, kernel(X + h * direction, Z)))

        difference, difference2 = _differences(objective, step)
        derivative = float(np.vdot(gradient, direction))
        limit = 4 * abs(difference - difference2) + rounding * float(np.linalg.norm(W)) / step
        error = abs(derivative - (4 * difference - difference2) / 3)
        assert error <= limit, f"the derivative along the points is {derivative:.6g}, by central differences {difference:.6g}"
