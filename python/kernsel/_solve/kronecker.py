"""Processes of several outputs that are all observed at the same points: K = B (x) k(X, X) + diag(d) (x) I.

With the eigenvectors k(X, X) = V diag(l) V' and diag(d)^-1/2 B diag(d)^-1/2 = U diag(s) U', the targets V'Y diag(d)^-1/2 U are
independent, of variances 1 + l_i s_j: n^3 + m^3 operations for n points and m outputs, in place of (n m)^3. A trend with
coefficients for each output stays one under this, with coefficients for each transformed output.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernsel._base.annotations import Matrix, Vector

__all__ = ["Adjoints", "Kronecker"]


@dataclass(frozen=True)
class Adjoints:
    """The derivatives of a log likelihood in k(X, X), (n, n), in B, (m, m), and in d, (m,)."""

    of_kernel: Matrix
    of_outputs: Matrix
    of_noise: Vector


class Kronecker:
    """The targets of several outputs, given the covariances of points and outputs.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        k(X, X).
    B : ndarray of shape (m, m)
    d : ndarray of shape (m,)
        The noise variances, all positive.
    Y : ndarray of shape (n, m)
    H : ndarray of shape (n, q)
        The functions of the trend.
    """

    def __init__(self, K: Matrix, B: Matrix, d: Vector, Y: Matrix, H: Matrix) -> None:
        root = np.sqrt(d)
        lengths, self.V = linalg.eigh(K)
        sizes, self.U = linalg.eigh(B / np.multiply.outer(root, root))
        self.l, self.s = np.maximum(lengths, 0.0), np.maximum(sizes, 0.0)
        self.B, self.d, self.root = B, d, root
        self.w = 1 / (1 + np.multiply.outer(self.l, self.s))  # (n, m)
        self.H = self.V.T @ H
        T = self.V.T @ (Y / root) @ self.U
        q, m = H.shape[1], len(d)
        # H'diag(w_j)H, (m, q, q), of each transformed output, and its coefficients, (q, m)
        self.of_trend = np.einsum("ij,ia,ib->jab", self.w, self.H, self.H)
        self.coefficients = np.zeros((q, m))
        for j in range(m if q else 0):
            self.coefficients[:, j] = linalg.solve(self.of_trend[j], self.H.T @ (self.w[:, j] * T[:, j]), assume_a="pos")
        self.residuals = T - self.H @ self.coefficients
        self.beta: Matrix = self.coefficients @ (self.U.T * root)  # (q, m)
        self.weights: Matrix = self.V @ (self.w * self.residuals) @ (self.U.T / root)  # c, (n, m)

    @property
    def log_likelihood(self) -> float:
        """Log p(Y), with the coefficients of the trend that maximize it."""
        n, m = self.w.shape
        determinant = n * np.log(self.d).sum() - np.log(self.w).sum()
        return float(-0.5 * (np.sum(self.w * self.residuals**2) + determinant + n * m * np.log(2 * np.pi)))

    def adjoints(self) -> Adjoints:
        """Return the derivatives of the log likelihood."""
        c, scaled = self.weights, self.U / self.root[:, None]
        of_points = (self.V * (self.w @ self.s)) @ self.V.T
        of_outputs = (scaled * (self.l @ self.w)) @ scaled.T
        K_c = self.V @ (self.l[:, None] * (self.V.T @ c))
        traces = np.sum(scaled**2 * self.w.sum(axis=0), axis=1)
        return Adjoints(
            0.5 * (c @ self.B @ c.T - of_points), 0.5 * (c.T @ K_c - of_outputs), 0.5 * (np.sum(c**2, axis=0) - traces)
        )

    def left_out(self) -> tuple[Matrix, Matrix]:
        """Return the error of the prediction of each target from all others, and its variance, both (n, m)."""
        scaled = self.U / self.root[:, None]
        precisions = (self.V**2 @ self.w) @ (scaled**2).T
        for j in range(self.w.shape[1] if self.H.shape[1] else 0):  # less what the trend takes
            of_points = self.V @ (self.w[:, [j]] * self.H)
            taken = np.sum(of_points * linalg.solve(self.of_trend[j], of_points.T, assume_a="pos").T, axis=1)
            precisions -= np.multiply.outer(taken, scaled[:, j] ** 2)
        return self.weights / precisions, 1 / precisions

    def mean(self, cross: Matrix, h: Matrix) -> Matrix:
        """Return the means at points, (k, m), from k(Z, X), (k, n), and the trend's functions, (k, q)."""
        return np.asarray(cross @ self.weights @ self.B + h @ self.beta)

    def variances(self, cross: Matrix, variance: Vector, h: Matrix) -> Matrix:
        """Return the variance of each output, (k, m), from k(Z, X), k(z, z) and the trend's functions."""
        along, gain = cross @ self.V, self._gain
        found: Matrix = np.multiply.outer(variance, np.diag(self.B)) - (along**2 @ self.w) @ (gain**2).T
        for j, error in self._errors_of_trend(along, gain, h):
            found += np.sum(error * np.linalg.solve(self.of_trend[j], error.transpose(0, 2, 1)).transpose(0, 2, 1), axis=2)
        return found

    def covariance(self, cross: Matrix, among: Matrix, h: Matrix) -> Matrix:
        """Return the joint covariance of points and outputs, (k, m, k, m), from k(Z, X), k(Z, Z) and the trend's functions."""
        along, gain = cross @ self.V, self._gain
        found: Matrix = np.einsum("ab,kl->akbl", among, self.B)
        for j in range(len(self.s)):
            of_points = (along * self.w[:, j]) @ along.T
            found -= np.einsum("ab,k,l->akbl", of_points, gain[:, j], gain[:, j])
        for j, error in self._errors_of_trend(along, gain, h):
            flat = error.reshape(-1, error.shape[2])
            found += (flat @ np.linalg.solve(self.of_trend[j], flat.T)).reshape(found.shape)
        return found

    @property
    def _gain(self) -> Matrix:
        """B diag(d)^-1/2 U: what each transformed output tells of each output, (m, m)."""
        return np.asarray(self.root[:, None] * self.U * self.s)

    def _errors_of_trend(self, along: Matrix, gain: Matrix, h: Matrix) -> list[tuple[int, Matrix]]:
        """Return for each transformed output how much predictions depend on the coefficients of its trend, (k, m, q)."""
        if not self.H.shape[1]:
            return []
        basis, found = self.root[:, None] * self.U, []
        for j in range(len(self.s)):
            known = along @ (self.w[:, [j]] * self.H)  # (k, q)
            found.append((j, np.einsum("kq,m->kmq", h, basis[:, j]) - np.einsum("kq,m->kmq", known, gain[:, j])))
        return found
