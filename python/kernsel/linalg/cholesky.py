"""Cholesky factorization of symmetric positive definite matrices, and what follows from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector

__all__ = ["Cholesky", "cholesky"]

_NOTHING = np.zeros(0)


class Cholesky:
    """The factor L of a symmetric positive definite matrix, A = L L'.

    Made by :func:`kernsel.linalg.cholesky`. Holds the lower half in square tiles: about n^2 / 2 numbers. All methods release
    the GIL, use all threads where that pays, and give the same bits for any number of threads.
    """

    __slots__ = ("_factor",)

    def __init__(self, factor: _core.CholeskyFloat32 | _core.CholeskyFloat64) -> None:
        if not isinstance(factor, _core.CholeskyFloat32 | _core.CholeskyFloat64):
            raise TypeError(f"factor: expected one of the core, got {factor!r:.60}; use kernsel.linalg.cholesky(A)")
        self._factor = factor

    @property
    def core(self) -> _core.CholeskyFloat32 | _core.CholeskyFloat64:
        """The factor as the compiled core has it."""
        return self._factor

    @property
    def n(self) -> int:
        """Number of rows of A."""
        return self._factor.n

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """float64 or float32, of the factor and of all results."""
        return self._factor.dtype

    @property
    def nbytes(self) -> int:
        """Memory of the factor."""
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
            In 2 n^2 flops for each right-hand side.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> ks.linalg.cholesky([[4.0, 2.0], [2.0, 3.0]]).solve([8.0, 8.0])
        array([1., 2.])
        """
        return self._factor.solve(b)

    def solve_lower(self, b: ArrayLike) -> Vector:
        """Solve L x = b, half of :meth:`solve`: then x'x = b' A^-1 b.

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

        With b = k(X, z) this is what a Gaussian process knows of its value at z: k(z, z) less the variance.

        Parameters
        ----------
        b : array-like of shape (n,) or (n, k)

        Returns
        -------
        q : float, or ndarray of shape (k,)
            In n^2 flops for each column; b is neither changed nor copied.

        Examples
        --------
        >>> import kernsel as ks
        >>> ks.linalg.cholesky([[4.0, 0.0], [0.0, 1.0]]).inverse_quadratic([2.0, 3.0])
        10.0
        """
        return self._factor.inverse_quadratic(b)

    def logdet(self) -> float:
        """Return log det A = 2 sum_i log L_ii, in O(n).

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

        For A = K + noise and c = A^-1 y, the leave-one-out residuals are c / diagonal, their variances 1 / diagonal.

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
        """Return L as an array of shape (n, n), zero above the diagonal."""
        return self._factor.lower()

    def sandwich(self, g: ArrayLike) -> Matrix:
        """Return A^-1 diag(g) A^-1, in 5/3 n^3 flops, and n^2 / 2 numbers of extra memory.

        This is minus the derivative of A^-1 when A's diagonal moves along g.

        Parameters
        ----------
        g : array-like of shape (n,)
            Of any sign.

        Returns
        -------
        S : ndarray of shape (n, n)
            Symmetric to the last bit.
        """
        return self._factor.sandwich(g)

    def append(self, a: ArrayLike, alpha: float) -> None:
        """Make this the factor of [[A, a], [a', alpha]], in O(n^2).

        Parameters
        ----------
        a : array-like of shape (n,)
            The new row, without its diagonal entry.
        alpha : float
            The new diagonal entry.

        Raises
        ------
        NotPositiveDefiniteError
            The larger matrix is not positive definite; the factor is as it was.

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
        """Make this the factor of A without row and column i, in O(n^2).

        Parameters
        ----------
        i : int
            Negative numbers count from the end.

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
        float32 stays float32, everything else is converted to float64. In any order of storage. Only the lower
        triangle is read: symmetry is not checked. A is left as it is.

    Returns
    -------
    factor : Cholesky
        In n^3/3 flops and n^2/2 numbers of memory.

    Raises
    ------
    NotPositiveDefiniteError
        With the pivot at which the factorization ended. No jitter is ever added silently.
    MemoryError
        Before anything is allocated, with the bytes needed and available.

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
