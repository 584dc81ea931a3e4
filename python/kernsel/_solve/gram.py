"""Kernel matrices of any kernel."""

from __future__ import annotations

from kernsel._base.annotations import Matrix
from kernsel._data.kernel import kernel_and_points
from kernsel.kernels.objects import Points
from kernsel.kernels.written import KernelLike

__all__ = ["gram"]


def gram(kernel: KernelLike, X: Points, Z: Points | None = None, *, out: Matrix | None = None) -> Matrix:
    """Evaluate a kernel on all pairs of points: K_ij = k(x_i, x_j), or k(x_i, z_j).

    Parameters
    ----------
    kernel : Kernel or str
        A kernel of :mod:`kernsel.kernels` or of scikit-learn, or the text of one. Its "auto" parameters are set from X.
    X : array-like of shape (n, d); or n objects, for a kernel on objects
    Z : array-like of shape (m, d); or m objects, optional
        Without Z, the result is symmetric to the last bit, and only one triangle is computed.
    out : ndarray of shape (n, n) or (n, m), optional
        An array for the result, of the result's dtype, in row-major or column-major order.

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)
        `out` if given. float32 if X and Z are, float64 otherwise.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> ks.gram(ks.kernels.RBF(1.0), np.array([[0.0], [1.0], [2.0]])).round(3)
    array([[1.   , 0.607, 0.135],
           [0.607, 1.   , 0.607],
           [0.135, 0.607, 1.   ]])
    """
    ours, points, others = kernel_and_points(kernel, X, Z)
    return ours(points, others, out=out)
