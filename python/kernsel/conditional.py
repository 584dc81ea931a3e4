"""A Gaussian process conditioned on data: what every prediction comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from kernsel import _core
from kernsel.blas import with_one_blas_thread
from kernsel.criteria import Criterion, Given
from kernsel.evaluation import evaluate
from kernsel.factor import Cholesky
from kernsel.kernels import Kernel
from kernsel.trend import Trend, trend_gradient, trend_matrix

__all__ = ["Conditional", "require_memory"]

Vector = NDArray[np.float64]

_BLOCK = 2_000_000  # numbers of a block of k(X, Z), so that predictions at any number of points take little memory


def require_memory(n: int) -> None:
    """Raise before anything is done for n points if half of an n x n matrix cannot be had."""
    needed = 4 * n * (n + 1)
    if needed < 2**28:
        return
    available = _core.available_memory()  # 0 if it is not known
    if 0 < available < needed:
        raise MemoryError(
            f"not enough memory: {n} points need {needed / 2**30:.4g} GiB ({needed} bytes), and {available / 2**30:.4g} GiB "
            f"({available} bytes) are available"
        )


def _orthonormal(U: Vector) -> tuple[Vector, Vector]:
    """Return Q with orthonormal columns and R with U = Q R; for one column, most often, without LAPACK's overhead."""
    if U.shape[1] > 1:
        return linalg.qr(U, mode="economic", check_finite=False)  # type: ignore[no-any-return]
    size = np.linalg.norm(U)
    return U / size, np.full((1, 1), size)


class Conditional:
    """The factor of K~ = k(X, X) + diag(noise), the trend's coefficients beta and the weights c = K~^-1 (y - H beta).

    mean(z) = k(z, X) c + h(z) beta; var(z) = k(z, z) - k(z, X) K~^-1 k(X, z) + r'(H'K~^-1 H)^-1 r, r = h(z) - H'K~^-1 k(X, z).
    n^3 / 3 operations once; O(n) for a mean and O(n^2) for a variance at a point.
    """

    def __init__(self, kernel: Kernel, X: Vector, y: Vector, noise: Vector, trend: Trend) -> None:
        self.kernel = kernel
        self.trend = trend if isinstance(trend, str) or callable(trend) else None  # at other points
        self.X = X
        self.y = y
        self.noise = noise
        self.H = trend_matrix(trend, X)
        self.factor = Cholesky(kernel.build().cholesky(X, noise))
        self._solve()

    @with_one_blas_thread
    def _solve(self) -> None:
        q = self.H.shape[1]
        if q:  # three times through the factor, which is most of the time
            reduced = self.factor.solve_lower(np.hstack([self.H, self.y]))
            Q, self.R = _orthonormal(reduced[:, :q])
            self.beta = linalg.solve_triangular(self.R, Q.T @ reduced[:, q:], check_finite=False)
            solved = self.factor.solve(np.hstack([self.H, self.y - self.H @ self.beta]))
            self.V = linalg.solve_triangular(self.R, solved[:, :q].T, trans="T", check_finite=False).T
            self.c = np.ascontiguousarray(solved[:, q:])
        else:
            self.R, self.V, self.beta = np.zeros((0, 0)), np.zeros((len(self.y), 0)), np.zeros((0, self.y.shape[1]))
            self.c = self.factor.solve(self.y)

    def _basis(self, Z: Vector) -> Vector:
        if not self.H.shape[1]:
            return np.zeros((len(Z), 0))
        if self.trend is None:
            raise ValueError("trend: a matrix says nothing of other points; give a name or a function to predict")
        return trend_matrix(self.trend, Z, check=False)

    def _widths(self) -> Vector:
        return np.asarray(np.ptp(self.X, axis=0))

    def _blocks(self, Z: Vector) -> Iterator[slice]:
        count = -(-len(Z) // _core.columns_at_a_time(len(self.X)))
        size = -(-len(Z) // max(count, 1))  # all alike: a narrow last one would read the factor for few points
        for begin in range(0, len(Z), max(size, 1)):
            yield slice(begin, min(begin + size, len(Z)))

    def mean(self, Z: Vector) -> Vector:
        """Return the mean at other points, shape (m, outputs): the kernel matrix is never stored."""
        mean = np.asarray(self.kernel.matmul(Z, self.X, self.c))
        return mean + self._basis(Z) @ self.beta if self.H.shape[1] else mean

    @with_one_blas_thread
    def _of_trend(self, Z: Vector, cross: Vector) -> Vector:
        """Return B = R^-T r(Z): the coefficients of the trend add B'B to the covariance. `cross` is k(X, Z)."""
        r = self._basis(Z).T - self.R.T @ (self.V.T @ cross)
        return np.asarray(linalg.solve_triangular(self.R, r, trans="T", check_finite=False))

    def variance(self, Z: Vector) -> Vector:
        """Return the variance at other points, shape (m,), block after block of them."""
        variance = np.array(self.kernel.diag(Z), dtype=np.float64)
        for block in self._blocks(Z):
            cross = self.kernel(self.X, Z[block])
            variance[block] -= self.factor.inverse_quadratic(cross)
            if self.H.shape[1]:
                variance[block] += np.sum(self._of_trend(Z[block], cross) ** 2, axis=0)
        return variance

    def covariance(self, Z: Vector) -> Vector:
        """Return the joint covariance of other points, shape (m, m)."""
        cross = self.kernel(self.X, Z)
        A = self.factor.solve_lower(cross)
        covariance = self.kernel(Z) - A.T @ A
        if self.H.shape[1]:
            B = self._of_trend(Z, cross)
            covariance += B.T @ B
        return np.asarray(covariance)

    def mean_gradient(self, Z: Vector) -> Vector:
        """Return the derivatives of the mean in the points, shape (m, d, outputs)."""
        outputs = self.c.shape[1]
        slopes = np.empty((*Z.shape, outputs))
        for k in range(outputs):
            for block in self._blocks(Z):
                W = np.broadcast_to(self.c[:, k], (len(Z[block]), len(self.X)))
                slopes[block, :, k] = self.kernel.pullback(Z[block], W, self.X, wrt="X")
        if self.H.shape[1]:
            slopes += np.asarray(np.einsum("mdq,qk->mdk", trend_gradient(self.trend, Z, self._widths()), self.beta))
        return slopes

    def variance_gradient(self, Z: Vector) -> Vector:
        """Return the derivatives of the variance in the points, shape (m, d)."""
        slopes = np.empty(Z.shape)
        size = min(256, max(_BLOCK // max(len(self.X), 1), 16))
        for begin in range(0, len(Z), size):
            points = Z[begin : begin + size]
            cross = self.kernel(self.X, points)
            weights = self.factor.solve(cross)
            if self.H.shape[1]:
                r = self._basis(points).T - self.R.T @ (self.V.T @ cross)
                s = linalg.cho_solve((self.R, False), r, check_finite=False)
                weights = weights + self.V @ (self.R @ s)
            own = self.kernel.pullback(points, np.eye(len(points)), wrt="X")
            slopes[begin : begin + size] = own - 2 * self.kernel.pullback(points, weights.T, self.X, wrt="X")
            if self.H.shape[1]:
                slopes[begin : begin + size] += 2 * np.einsum(
                    "mdq,qm->md", trend_gradient(self.trend, points, self._widths()), s
                )
        return slopes

    def precision(self) -> Vector:
        """Return the diagonal of P, from which all leave-one-out errors follow: r_i = c_i / P_ii, of variance 1 / P_ii."""
        return self._without_trend(self.factor.inverse_diagonal())

    def _without_trend(self, diagonal: Vector) -> Vector:
        """Return the diagonal of P, given that of K~^-1."""
        return np.asarray(np.maximum(diagonal - np.einsum("ij,ij->i", self.V, self.V), 0.0))

    def total_noise(self) -> Vector:
        """Return the noise of each point, that of the kernel included."""
        return np.asarray(self.kernel.build().noise(self.X) + self.noise)

    def log_likelihood(self, scale: Vector, *, restricted: bool = False) -> float:
        """Return the log likelihood, the sum over outputs, of kernel and noise times `scale` for each."""
        n, m = self.y.shape
        q = self.H.shape[1] if restricted else 0
        squares = float(np.sum(np.einsum("ik,ik->k", self.y, self.c) / scale))
        value = -0.5 * (squares + m * self.factor.logdet() + (n - q) * float(np.sum(np.log(2 * np.pi * scale))))
        if q:
            value -= 0.5 * m * self._logdet_of_trend()
        return float(value)

    def _logdet_of_trend(self) -> float:
        """Return log det H'K~^-1 H - log det H'H, the same for any basis of the trend."""
        of_basis = linalg.qr(self.H, mode="r", check_finite=False)[0]
        return 2.0 * float(np.sum(np.log(np.abs(np.diag(self.R)))) - np.sum(np.log(np.abs(np.diag(of_basis)))))

    def core_of(self, criterion: Criterion) -> _core.Criterion:
        """Return a criterion of these data for the C++ core; raise if it cannot be one of theirs."""
        given = Given(self.X, self.y, np.arange(len(self.X)))
        criterion.require_trend(self.H, given)
        return criterion.core(given)

    def value_of(self, criterion: Criterion) -> float:
        """Return the value of a criterion for this kernel and noise, read off the factor that is there.

        O(n) operations for likelihoods, n^3 / 3 for criteria of the diagonal of P. Those of groups see blocks of P, which is
        then formed from a factorization of its own.
        """
        core = self.core_of(criterion)
        trend = self.H.shape[1]
        if core.sees == "blocks":
            return evaluate(criterion, self.kernel, self.X, self.y, noise=self.noise, trend=self.H if trend else None).value
        precision = noise = np.zeros(0)
        if core.sees == "diagonal":
            whole = self.factor.inverse_diagonal()
            precision, noise = self._without_trend(whole), self.total_noise()
            if (precision <= 1e-10 * whole).any():
                raise ValueError("trend: a point has leverage one: without it the trend is not determined")
        of_trend = self._logdet_of_trend() if trend else 0.0
        value = _core.value_of_fit(core, self.y, self.c, precision, noise, trend, self.factor.logdet(), of_trend)
        return float(criterion.with_prior(self.kernel, value, None)[0])

    def append(self, X: Vector, y: Vector, noise: Vector) -> None:
        """Take more points in, O(n^2) for each; none of them if one cannot be."""
        before = len(self.X)
        points = np.vstack([self.X, X])
        cross = self.kernel(points, X)
        own = self.kernel.diag(X)
        H = np.vstack([self.H, self._basis(X)])
        kept = self.__dict__.copy()
        try:
            for i in range(len(X)):
                self.factor.append(cross[: before + i, i], own[i] + noise[i])
            self.X, self.y, self.noise, self.H = points, np.vstack([self.y, y]), np.append(self.noise, noise), H
            self._solve()
        except BaseException:
            while self.factor.n > before:
                self.factor.remove(-1)
            self.__dict__.update(kept)
            raise

    def remove(self, i: int) -> None:
        """Leave a point out from now on, O(n^2)."""
        self.factor.remove(i)
        kept: Any = np.delete(np.arange(len(self.X)), i)
        self.X, self.y, self.noise, self.H = self.X[kept], self.y[kept], self.noise[kept], self.H[kept]
        self._solve()
