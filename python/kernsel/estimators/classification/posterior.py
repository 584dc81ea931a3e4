"""Gaussian approximations of the posterior of latent values: the base of Laplace's method and expectation propagation.

The likelihood of each point is replaced by a site exp(shift_i f_i - precision_i f_i^2 / 2). With S = diag(precision) and
B = I + S^1/2 K S^1/2, whose eigenvalues are 1 or more for any positive semidefinite K, the posterior of f has

    covariance (K^-1 + S)^-1,    mean K a,    a = S^1/2 B^-1 S^-1/2 shift,    (K + S^-1)^-1 = R = S^1/2 B^-1 S^1/2.

All computations use the Cholesky factor of B; neither K nor S is inverted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.linalg import blas

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.estimators.classification.links import Link, Moments
from kernsel.linalg.cholesky import Cholesky, cholesky

__all__ = ["GaussianPosterior", "add_symmetric_product", "factor_of", "roots", "square", "variances"]

_LEAST = 1e-280  # the lower limit of a precision, so that its square root and the reciprocal of the root are finite


def factor_of(K: Vector, root: Vector, space: Vector) -> Cholesky:
    """Return the factor of B = I + diag(root) K diag(root), which is computed in the memory `space`."""
    np.multiply(K, root[:, None], out=space)
    space *= root
    space.flat[:: len(space) + 1] += 1.0
    return cholesky(space)


def roots(precision: Vector) -> Vector:
    """Return the square roots of precisions, bounded away from zero."""
    return np.sqrt(np.maximum(precision, _LEAST))


def square(K: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return the kernel matrix and the labels as arrays; raise if shapes or values are not as expected."""
    K = np.asarray(K, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or K.shape != (len(y), len(y)):
        raise ValueError(f"K: expected shape (n, n) for n labels, got {K.shape} for labels of shape {y.shape}")
    if not np.all(np.abs(y) == 1):
        raise ValueError("y: expected -1 or 1 for each point")
    if not np.isfinite(K).all():
        raise ValueError("K: expected finite numbers")
    return K, y


class GaussianPosterior:
    """A Gaussian approximation of p(f | y).

    Attributes
    ----------
    K : ndarray of shape (n, n)
    y : ndarray of shape (n,)
        The labels, -1 or 1.
    link : Link
    mean : ndarray of shape (n,)
        The posterior mean, K a.
    weights : ndarray of shape (n,)
        The weights a, for which the mean of f at z is k(z, X) a.
    precision, shift : ndarray of shape (n,)
        The parameters of the sites.
    root : ndarray of shape (n,)
        precision^1/2.
    factor : Cholesky
        The factor of B.
    log_evidence : float
        The approximation of log p(y).
    iterations : int
        The number of iterations that were taken.
    converged : bool
    """

    def __init__(
        self,
        K: Vector,
        y: Vector,
        link: Link,
        mean: Vector,
        weights: Vector,
        root: Vector,
        shift: Vector,
        factor: Cholesky,
        log_evidence: float,
        iterations: int,
        converged: bool,
    ) -> None:
        self.K = K
        self.y = y
        self.link = link
        self.mean = mean
        self.weights = weights
        self.root = root
        self.shift = shift
        self.factor = factor
        self.log_evidence = log_evidence
        self.iterations = iterations
        self.converged = converged

    @property
    def precision(self) -> Vector:
        """The precisions of the sites."""
        return np.asarray(self.root**2)

    @cached_property
    def inverse(self) -> Vector:
        """B^-1, shape (n, n), in 2/3 n^3 operations."""
        return self.factor.inverse()

    @cached_property
    def rest(self) -> Vector:
        """The diagonal of B^-1, 1 - precision_i variance_i: the ratio of each posterior variance to its cavity's variance."""
        return np.maximum(np.diag(self.inverse), np.finfo(float).tiny)

    @cached_property
    def variance(self) -> Vector:
        """The posterior variances of f, the diagonal of (K^-1 + S)^-1.

        They are (1 - B^-1_ii) / precision_i. If the precision is smaller than 1 / K_ii, that formula suffers from cancellation,
        and the equal expression sum_j K_ij S_j^1/2 B^-1_ji S_i^-1/2 is used.
        """
        return variances(self.K, self.root, self.inverse)

    def forget(self) -> None:
        """Free the n x n matrices that can be computed again, or that are not needed to start an iteration from here."""
        self.__dict__.pop("inverse", None)
        self.K = np.zeros((0, 0))

    @cached_property
    def cavity(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each f_i without the site of point i: its prediction from all other points."""
        variance = self.variance / self.rest
        return self.mean - self.weights * variance, variance

    def cavity_moments(self) -> Moments:
        """Return the log of each likelihood's mean over its cavity, with derivatives in the cavity mean times y."""
        mean, variance = self.cavity
        return self.link.moments(self.y * mean, variance)

    def loo_log_probability(self, groups: Sequence[Indices] | None = None) -> Vector:
        """Return for each point the log probability of its label, predicted from all other points, shape (n,).

        Parameters
        ----------
        groups : sequence of ndarray of int, optional
            The points of each group; then each label is predicted from the points of all other groups.
        """
        if groups is None:
            return self.cavity_moments().log_mean
        mean, variance, _ = self.cavity_of_groups(groups)
        return self.link.moments(self.y * mean, variance).log_mean

    def cavity_of_groups(self, groups: Sequence[Indices]) -> tuple[Vector, Vector, list[Matrix]]:
        """Return the means and variances of f without the sites of each point's group, and their covariances in each group.

        With the posterior covariance Sigma of the values of a group I, the precisions S of its sites and P = B^-1_II, ::

            C = (Sigma^-1 - S)^-1 = Sigma + Sigma S^1/2 P^-1 S^1/2 Sigma,    mean f_I - C a_I

        in 2 n^3 operations besides B^-1, and as many as the cubes of the sizes of the groups.

        Parameters
        ----------
        groups : sequence of ndarray of int
            The points of each group; each point is in one.
        """
        mean, variance = np.empty_like(self.mean), np.empty_like(self.mean)
        covariances = []
        of_posterior = self.K * self.root
        for rows in groups:
            root = self.root[rows]
            Sigma = of_posterior[rows] @ self.inverse[:, rows] / root
            Sigma = 0.5 * (Sigma + Sigma.T)
            scaled = root[:, None] * Sigma
            C = Sigma + scaled.T @ np.linalg.solve(self.inverse[np.ix_(rows, rows)], scaled)
            covariances.append(C)
            mean[rows] = self.mean[rows] - C @ self.weights[rows]
            variance[rows] = np.clip(np.diag(C), 0.0, np.diag(self.K)[rows])
        return mean, variance, covariances

    def backward(self, x: Vector) -> Vector:
        """Return (I + S K)^-1 x = x - R K x."""
        return np.asarray(self.root * self.factor.solve(x / self.root))

    def evidence_adjoint(self) -> Vector:
        """Return d log Z / dK, shape (n, n), symmetric: (a a' - R) / 2 if log Z is stationary in the sites."""
        return self._adjoint(np.zeros_like(self.weights))

    def _adjoint(self, v: Vector) -> Vector:
        """Return (a a' + v a' + a v' - R) / 2, which overwrites the memory of `inverse`."""
        adjoint = self.inverse
        del self.inverse
        adjoint *= -0.5 * self.root
        adjoint *= self.root[:, None]
        return add_symmetric_product(adjoint, v + 0.5 * self.weights, self.weights)


def add_symmetric_product(matrix: Vector, v: Vector, a: Vector) -> Vector:
    """Return matrix + (v a' + a v') / 2 for a symmetric matrix, which is overwritten; symmetric to the last bit."""
    left, right = np.column_stack([0.5 * v, 0.5 * a]), np.vstack([a, v])
    return np.asarray(blas.dgemm(1.0, left, right, beta=1.0, c=matrix.T, overwrite_c=True).T)


def variances(K: Vector, root: Vector, inverse: Vector) -> Vector:
    """Return the diagonal of (K^-1 + S)^-1, given B^-1: see :attr:`GaussianPosterior.variance`."""
    prior = np.diag(K)
    result = (1 - np.diag(inverse)) / root**2
    weak = np.flatnonzero(root**2 * prior < 1)
    if len(weak):
        result[weak] = np.einsum("ij,ij->i", K[weak] * root, inverse[weak]) / root[weak]
    return np.clip(result, 0.0, prior)
