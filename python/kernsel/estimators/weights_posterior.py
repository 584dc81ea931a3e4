"""The posterior of the coefficients of a linear model: Bayesian linear regression with a given regularization."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from kernsel._base.annotations import Matrix, Vector

__all__ = ["WeightsPosterior"]


@dataclass(frozen=True)
class WeightsPosterior:
    """The posterior of theta and b given y_i = b + phi(x_i)'theta + e_i.

    Priors are e_i ~ N(0, s^2 / w_i), theta ~ N(0, s^2 / alpha I), and a flat one for b. With the features Phi less their
    weighted mean m ::

        theta ~ N(coef, s^2 S),    b + m'theta ~ N(mean of y, s^2 / sum w),    S = (Phi'W Phi + alpha I)^-1

    where the two are independent. All come from the singular values of W^1/2 Phi, which are computed on first use in
    O(n p min(n, p)) operations.

    Attributes
    ----------
    design : ndarray of shape (n, p) or (min(n, p), p)
        W^1/2 Phi, or any matrix R with R'R = Phi'W Phi.
    rows : int
        The number n of points.
    centre : ndarray of shape (p,)
        The mean m; zeros without an intercept.
    total_weight : float or None
        The sum of the weights; None without an intercept.
    strengths : ndarray of shape (n_targets,)
        The regularization alpha of each target.
    noise : ndarray of shape (n_targets,)
        The variance s^2 of each target.
    """

    design: Matrix
    centre: Vector
    total_weight: float | None
    strengths: Vector
    noise: Vector
    rows: int

    @cached_property
    def _spectrum(self) -> tuple[Vector, Matrix]:
        """The squares of the singular values, and the right singular vectors as columns, (p, min(n, p)).

        What is zero but for rounding is zero.
        """
        _, values, directions = linalg.svd(self.design, full_matrices=False)
        least = max(self.rows, len(self.centre)) * np.finfo(np.float64).eps * values.max(initial=0.0)
        return np.where(values > least, values, 0.0) ** 2, directions.T

    def root(self) -> Matrix:
        """Return the smallest matrix that may stand for `design`: singular values times right singular vectors as rows."""
        squares, V = self._spectrum
        return np.asarray(np.sqrt(squares)[:, None] * V.T)

    def covariance(self) -> Matrix:
        """Return the covariance of theta for each target, shape (n_targets, p, p)."""
        squares, V = self._spectrum
        p = len(V)
        undetermined = len(squares) < p or not squares.all()
        if undetermined and not self.strengths.all():
            raise ValueError(
                "alpha: with 0, features that are linearly dependent leave coefficients open, whose variance is infinite; "
                "expected a positive number"
            )
        found = np.empty((len(self.noise), p, p))
        for k, (strength, noise) in enumerate(zip(self.strengths, self.noise, strict=True)):
            found[k] = (V / (squares + strength)) @ V.T
            if len(squares) < p:
                found[k] += (np.eye(p) - V @ V.T) / strength
            found[k] *= noise
        return found

    def variance(self, Phi: Matrix) -> Matrix:
        """Return the variance of the function at points with features Phi, (m, p), for each target, (m, n_targets)."""
        squares, V = self._spectrum
        apart = Phi - self.centre
        along = apart @ V
        rounding = (16 * len(V) * np.finfo(np.float64).eps) ** 2 * (np.sum(apart**2, axis=1) + np.sum(self.centre**2))
        # The squared length of what no training point tells of.
        outside = np.sum((apart - along @ V.T) ** 2, axis=1) if len(squares) < len(V) else np.zeros(len(Phi))
        found = np.empty((len(Phi), len(self.noise)))
        for k, (strength, noise) in enumerate(zip(self.strengths, self.noise, strict=True)):
            open_ones = squares + strength == 0
            told = np.sum(along[:, ~open_ones] ** 2 / (squares[~open_ones] + strength), axis=1)
            untold = outside + np.sum(along[:, open_ones] ** 2, axis=1)
            told += untold / strength if strength else np.where(untold > rounding, np.inf, 0.0)
            found[:, k] = noise * (told + (0.0 if self.total_weight is None else 1 / self.total_weight))
        return found
