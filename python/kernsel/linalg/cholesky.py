"""Cholesky factorization of symmetric positive definite matrices: solutions, determinants, inverses, updates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector

__all__ = ["Cholesky", "cholesky"]

_NOTHING = np.zeros(0)


class Cholesky:
    """The factor L of a symmetric positive definite matrix, A = L L'.

    The result of :func:`kernsel.linalg.cholesky`. It stores the lower triangle in square tiles, about n^2 / 2 numbers. All
    methods release the GIL and use all threads where that is faster; results do not depend on the number of threads.
    """

    __slots__ = ("_factor",)

    def __init__(self, factor: _core.CholeskyFloat32 | _core.CholeskyFloat64) -> None:
        if not isinstance(factor, _core.CholeskyFloat32 | _core.CholeskyFloat64):
            raise TypeError(f"factor: expected one of the core, got {factor!r:.60}; use kernsel.linalg.cholesky(A)")
        self._factor = factor

    @property
    def core(self) -> _core.CholeskyFloat32 | _core.CholeskyFloat64:
        """The factor object of the C++ core."""
        return self._factor

    @property
    def n(self) -> int:
        """The number of rows of A."""
        return self._factor.n

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The dtype of the factor and of all results: float64 or float32."""
        return self._factor.dtype

    @property
    def nbytes(self) -> int:
        """The memory of the factor in bytes."""
        return self._factor.nbytes

    def __repr__(self) -> str:
        return f"<Cholesky factor of a {self.n} x {self.n} matrix, {self.dtype}>"

    def __reduce__(self) -> tuple[type[Cholesky], tuple[_core.CholeskyFloat32 | _core.CholeskyFloat64]]:
        return Cholesky, (self._factor,)

    def solve(self, b: ArrayLike) -> Vector:
        """Solve A x = b.

        Parameters
        ----------
        b : array-like of shape (n,) or (n, k)
            One or many right-hand sides, converted to the dtype of the factor.

        Returns
        -------
        x : ndarray, of the shape of b
            Computed in 2 n^2 flops for each right-hand side.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> ks.linalg.cholesky([[4.0, 2.0], [2.0, 3.0]]).solve([8.0, 8.0])
        array([1., 2.])
        """
        return self._factor.solve(b)

    def solve_lower(self, b: ArrayLike) -> Vector:
        """Solve L x = b, so that x'x = b' A^-1 b, in n^2 flops for each right-hand side.

        Parameters
        ----------
        b : array-like of shape (n,) or (n, k)

        Returns
        -------
        x : ndarray, of the shape of b
        """
        return self._factor.solve_lower(b)

    def inverse_quadratic(self, b: ArrayLike) -> float | Vector:
        """Return b' A^-1 b = |L^-1 b|^2, for each column of b.

        For b = k(X, z) it is the reduction of a Gaussian process's variance at z by the data: prior minus posterior variance.

        Parameters
        ----------
        b : array-like of shape (n,) or (n, k)

        Returns
        -------
        q : float, or ndarray of shape (k,)
            Computed in n^2 flops for each column; b is neither changed nor copied.

        Examples
        --------
        >>> import kernsel as ks
        >>> ks.linalg.cholesky([[4.0, 0.0], [0.0, 1.0]]).inverse_quadratic([2.0, 3.0])
        10.0
        """
        return self._factor.inverse_quadratic(b)

    def logdet(self) -> float:
        """Return log det A = 2 sum_i log L_ii, in O(n).

        Returns
        -------
        value : float

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> round(ks.linalg.cholesky(np.diag([2.0, 3.0])).logdet(), 6)
        1.791759
        """
        return self._factor.logdet()

    def inverse(self) -> Matrix:
        """Return A^-1, symmetric to the last bit, in 2/3 n^3 flops.

        To solve equations, :meth:`solve` is faster and more accurate.

        Returns
        -------
        P : ndarray of shape (n, n)
        """
        return self._factor.inverse()

    def inverse_diagonal(self) -> Vector:
        """Return the diagonal of A^-1, in n^3/3 flops, without forming A^-1.

        For A = K + noise and c = A^-1 y, the leave-one-out residuals are c_i / d_i, with variances 1 / d_i.

        Returns
        -------
        d : ndarray of shape (n,)
            d_i = |L^-1 e_i|^2, never negative.

        Examples
        --------
        >>> import kernsel as ks
        >>> ks.linalg.cholesky([[2.0, 1.0], [1.0, 1.0]]).inverse_diagonal()
        array([1., 2.])
        """
        return self._factor.inverse_diagonal()

    def lower(self) -> Matrix:
        """Return the lower triangular factor L.

        Returns
        -------
        L : ndarray of shape (n, n)
            Zero above the diagonal.
        """
        return self._factor.lower()

    def sandwich(self, g: ArrayLike) -> Matrix:
        """Return A^-1 diag(g) A^-1, in 5/3 n^3 flops, with extra memory for n^2 / 2 numbers.

        It is minus the derivative of (A + t diag(g))^-1 with respect to t at t = 0.

        Parameters
        ----------
        g : array-like of shape (n,)
            Numbers of any sign.

        Returns
        -------
        S : ndarray of shape (n, n)
            Symmetric to the last bit.
        """
        return self._factor.sandwich(g)

    def append(self, a: ArrayLike, alpha: float) -> None:
        """Update the factor to that of [[A, a], [a', alpha]], in O(n^2).

        Parameters
        ----------
        a : array-like of shape (n,)
            The new row, without its diagonal entry.
        alpha : float
            The new diagonal entry.

        Raises
        ------
        NotPositiveDefiniteError
            If the larger matrix is not positive definite. The factor is then unchanged.

        Examples
        --------
        >>> import kernsel as ks
        >>> F = ks.linalg.cholesky([[4.0]])
        >>> F.append([2.0], 10.0)
        >>> F.lower()
        array([[2., 0.],
               [1., 3.]])
        """
        self._factor.append(a, alpha)

    def remove(self, i: int) -> None:
        """Update the factor to that of A without row and column i, in O(n^2).

        Parameters
        ----------
        i : int
            The index of the row; negative numbers count from the end.

        Examples
        --------
        >>> import kernsel as ks
        >>> F = ks.linalg.cholesky([[4.0, 2.0], [2.0, 10.0]])
        >>> F.remove(-1)
        >>> F.lower()
        array([[2.]])
        """
        self._factor.remove(i)


def cholesky(A: ArrayLike) -> Cholesky:
    """Factorize a symmetric positive definite matrix, A = L L'.

    Parameters
    ----------
    A : array-like of shape (n, n)
        float32 is factorized in single precision; everything else is converted to float64. Any order of storage is accepted.
        Only the lower triangle is read, so that symmetry is not checked. A is not changed.

    Returns
    -------
    factor : Cholesky
        Computed in n^3/3 flops, with memory for n^2/2 numbers.

    Raises
    ------
    NotPositiveDefiniteError
        If A is not positive definite; the message names the pivot at which the factorization ended. No jitter is added to A.
    MemoryError
        If there is not enough memory, before any is allocated; the message has the bytes needed and available.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> F = ks.linalg.cholesky([[4.0, 2.0], [2.0, 3.0]])
    >>> F.solve([2.0, 1.0])
    array([0.5, 0. ])
    >>> ks.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    kernsel._base.errors.NotPositiveDefiniteError: the matrix is not positive definite: the pivot of row 1 is -3. ...
    """
    return Cholesky(_core.cholesky(A, _NOTHING))
