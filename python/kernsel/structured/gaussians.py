"""Optimal transport of Gaussians, in closed form: maps, distances, barycenters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel.structured.clouds import Gaussian

__all__ = ["GaussianMaps", "gaussian_barycenter", "gaussian_distance"]

_EPS = float(np.finfo(np.float64).eps)
_MOST_STEPS = 500  # of the iteration for the barycenter, which takes about ten


class GaussianMaps:
    """Optimal transport from one Gaussian N(m, S) to others N(n, R): T(x) = n + A (x - m).

    A = S^(-1/2) (S^(1/2) R S^(1/2))^(1/2) S^(-1/2). The squared norm of a + B (x - m) in L2(N(m, S)) is a'a + tr(B S B').

    Parameters
    ----------
    reference : Gaussian
        Its covariance must be positive definite.
    """

    def __init__(self, reference: Gaussian) -> None:
        self.reference = reference
        values, vectors = np.linalg.eigh(reference.covariance)
        if values[0] <= len(values) * _EPS * values[-1]:
            raise ValueError(
                "reference: expected a covariance that is positive definite, got eigenvalues from "
                f"{values[0]:.3g} to {values[-1]:.3g}; add to its diagonal"
            )
        self.root = (vectors * np.sqrt(values)) @ vectors.T
        self.inverse = (vectors / np.sqrt(values)) @ vectors.T

    def slopes(self, covariances: Matrix) -> Matrix:
        """Return A S^(1/2) for covariances of shape (N, d, d)."""
        return np.asarray(self.inverse @ _root(self.root @ covariances @ self.root))

    def rows(self, gaussians: Sequence[Gaussian]) -> Matrix:
        """Return the rows that embed Gaussians: m - n, then the entries of (I - A) S^(1/2)."""
        means = np.array([g.mean for g in gaussians])
        slopes = self.slopes(np.array([g.covariance for g in gaussians]))
        return np.hstack([self.reference.mean - means, (self.root - slopes).reshape(len(means), -1)])

    def distribution(self, row: Vector) -> Gaussian:
        """Return the Gaussian that a row embeds."""
        d = self.reference.dimension
        slope = self.root - row[d:].reshape(d, d)
        return Gaussian(self.reference.mean - row[:d], slope @ slope.T)


def gaussian_distance(a: Gaussian, b: Gaussian) -> float:
    """Return the 2-Wasserstein distance of Gaussians.

    Its square is |m - n|^2 + tr(S + R) - 2 tr (S^(1/2) R S^(1/2))^(1/2). The last trace is the sum of the singular values of
    R^(1/2) S^(1/2), so that all traces together are |S^(1/2) - R^(1/2) U|^2 for the orthogonal matrix U that makes this least.
    Computed in this way, nothing cancels.

    Parameters
    ----------
    a, b : Gaussian

    Examples
    --------
    >>> gaussian_distance(Gaussian(0.0, 1.0), Gaussian(3.0, 25.0))
    5.0
    """
    S, R = _root(a.covariance), _root(b.covariance)
    left, _, right = np.linalg.svd(R @ S)
    return float(np.sqrt(np.sum((a.mean - b.mean) ** 2) + np.sum((S - R @ (left @ right)) ** 2)))


def gaussian_barycenter(gaussians: Sequence[Gaussian]) -> Gaussian:
    """Return the Gaussian whose covariance S solves S = mean_k (S^(1/2) S_k S^(1/2))^(1/2), by iteration of the mean map.

    Parameters
    ----------
    gaussians : sequence of Gaussian

    Examples
    --------
    >>> gaussian_barycenter([Gaussian(0.0, 1.0), Gaussian(2.0, 9.0)])
    Gaussian(mean=[1.0], covariance=[[4.0]])
    """
    mean = np.mean([g.mean for g in gaussians], axis=0)
    covariances = np.array([g.covariance for g in gaussians])
    S, before = covariances.mean(axis=0), np.inf
    if not S.any():
        return Gaussian(mean, S)
    values = np.linalg.eigvalsh(S)
    if values[0] <= len(values) * _EPS * values[-1]:
        raise ValueError(
            f"X: expected Gaussians whose covariances have a mean that is positive definite, got one with eigenvalues from "
            f"{values[0]:.3g} to {values[-1]:.3g}; add to their diagonals"
        )
    for _ in range(_MOST_STEPS):
        slope = GaussianMaps(Gaussian(mean, S)).slopes(covariances).mean(axis=0)
        moved = slope @ slope.T
        change = float(np.linalg.norm(moved - S) / np.linalg.norm(S))
        S = (moved + moved.T) / 2
        # With covariances that are nearly singular, rounding keeps the change above the tolerance: it ends when the change
        # grows.
        if change <= 64 * len(mean) * _EPS or before <= change <= 1e-6:
            return Gaussian(mean, S)
        before = change
    raise RuntimeError(f"X: no barycenter of these Gaussians was found in {_MOST_STEPS} steps; add to their diagonals")


def _root(S: Matrix) -> Matrix:
    """Return the square roots of positive semidefinite matrices, shape (..., d, d)."""
    values, vectors = np.linalg.eigh((S + S.swapaxes(-1, -2)) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]) @ vectors.swapaxes(-1, -2))
