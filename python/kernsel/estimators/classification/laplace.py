"""Laplace's approximation: a Gaussian at the mode of the posterior of latent values, for two classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsel._base.annotations import Indices, Vector
from kernsel.estimators.classification.links import Derivatives, Link
from kernsel.estimators.classification.posterior import GaussianPosterior, add_symmetric_product, factor_of, roots, square
from kernsel.linalg.cholesky import Cholesky

__all__ = ["Laplace", "laplace"]

_CLOSE = 1e-10  # squared Newton decrement below which one more Newton step reaches the mode up to rounding
_THERE = 1e-17  # squared Newton decrement at which the iteration with a fixed factorization has converged
_SHRINKS = 0.1  # factor by which the squared decrement must fall in each step with a fixed factorization
_RISE = 1e-4  # share of the increase predicted by the slope that a step must achieve (Armijo condition)


class Laplace(GaussianPosterior):
    """Laplace's approximation of p(f | y), from :func:`laplace`.

    The precision of the sites is W = -d^2 log p / df^2 at the mode, and `weights` are d log p / df at the mode.
    """

    derivatives: Derivatives  # the derivatives of the log density with respect to the margins y f, at the mode
    objective: list[float]  # the log posterior density, up to a constant, at each iteration

    def evidence_adjoint(self) -> Vector:
        """Return d log Z / dK, in 2/3 n^3 operations, most of them for B^-1.

        The derivative A, for which d log Z = sum_ij A_ij dK_ij, includes the dependence of log Z on the mode. With
        t = d^3 log p / df^3, the posterior covariance Sigma, u_i = Sigma_ii t_i / 2 and v = (I + W K)^-1 u ::

            A = (a a' - R) / 2 + (v a' + a v') / 2

        Returns
        -------
        adjoint : ndarray of shape (n, n)
            Symmetric.
        """
        return self._adjoint(self.backward(0.5 * self.variance * self.y * self.derivatives.third))

    def loo_adjoint(self) -> Vector:
        """Return the derivative of the sum of `loo_log_probability` with respect to K, in 8/3 n^3 operations.

        The cavity of point i is N(f_i - a_i c_i, c_i) with c_i = 1 / R_ii - 1 / W_i, where f, a, R and W depend on the mode.

        Returns
        -------
        adjoint : ndarray of shape (n, n)
            Symmetric.
        """
        moments = self.cavity_moments()
        in_mean = self.y * moments.first
        in_variance = moments.in_variance - in_mean * self.weights
        scaled = self.inverse / self.root  # column k divided by W_k^1/2
        spread = scaled / self.rest
        # d c_i = R_ii^-2 (R dK R)_ii, plus a term (`others`) for the precisions of the other points, which depend on the mode.
        adjoint = (spread * in_variance) @ spread.T
        adjoint *= self.root
        adjoint *= self.root[:, None]
        squares = scaled / self.root[:, None]
        np.fill_diagonal(squares, 0.0)
        squares **= 2
        others = squares @ (in_variance / self.rest**2)
        slope = -self.y * self.derivatives.third  # the derivative of the precisions with respect to f
        u = in_mean / self.rest - slope * others
        return add_symmetric_product(adjoint, self.backward(u), self.weights)

    def groups_adjoint(self, groups: Sequence[Indices]) -> Vector:
        """Return the derivative of the sum of ``loo_log_probability(groups)`` with respect to K, in about 6 n^3 operations.

        The cavity of a group I is N(f_I - C a_I, C) with C = R_II^-1 - W_II^-1. With the derivatives g and h of the log
        probabilities in the means and the variances of the cavities, H = diag(h) - (g a' + a g') / 2 in each group, and
        E = R_II^-1 H R_II^-1, the derivative for fixed precisions W and a fixed mode is R E R; f, a and W follow the mode.

        Parameters
        ----------
        groups : sequence of ndarray of int
            The points of each group; each point is in one.

        Returns
        -------
        adjoint : ndarray of shape (n, n)
            Symmetric.
        """
        mean, variance, covariances = self.cavity_of_groups(groups)
        moments = self.link.moments(self.y * mean, variance)
        in_mean = self.y * moments.first
        scaled = np.empty_like(self.inverse)  # B^-1 Q, where Q = W^1/2 E W^1/2
        u = in_mean.copy()
        others = np.zeros_like(u)  # minus the derivative in each precision, of the probabilities in other groups
        for rows, C in zip(groups, covariances, strict=True):
            g, a, root = in_mean[rows], self.weights[rows], self.root[rows]
            H = np.diag(moments.in_variance[rows]) - 0.5 * (np.outer(g, a) + np.outer(a, g))
            P = self.inverse[np.ix_(rows, rows)]
            Q = np.linalg.solve(P, np.linalg.solve(P, H / root / root[:, None]).T)
            columns = self.inverse[:, rows]
            scaled[:, rows] = columns @ Q
            of_group = np.einsum("ij,ij->i", scaled[:, rows], columns)
            of_group[rows] = 0.0
            others += of_group / self.root**2
            u[rows] += root**2 * (C @ g)
        adjoint = scaled @ self.inverse
        adjoint *= self.root
        adjoint *= self.root[:, None]
        u += self.y * self.derivatives.third * others
        return add_symmetric_product(0.5 * (adjoint + adjoint.T), self.backward(u), self.weights)


class _Point:
    """Latent values f = K a, and their log posterior density up to a constant."""

    def __init__(self, a: Vector, f: Vector, y: Vector, link: Link) -> None:
        self.a = a
        self.f = f
        self.likelihood = float(link.log_density(y * f).sum())
        self.value = self.likelihood - 0.5 * float(a @ f)


def laplace(
    K: Vector,
    y: Vector,
    link: Link,
    *,
    start: Vector | GaussianPosterior | None = None,
    max_iterations: int = 200,
    space: Vector | None = None,
) -> Laplace:
    """Approximate the posterior of latent values by a Gaussian at its mode.

    The mode maximizes log p(y | f) - f'K^-1 f / 2, which is concave. It is found by Newton's method with backtracking: a step
    is halved until the objective increases sufficiently. With W the curvature of -log p at the mode, ::

        log Z = log p(y | f) - a'f / 2 - log det(I + W^1/2 K W^1/2) / 2,    a = K^-1 f = d log p / df

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel matrix, positive semidefinite, possibly singular, of any amplitude.
    y : ndarray of shape (n,)
        The labels, -1 or 1.
    link : Link
    start : ndarray of shape (n,) or GaussianPosterior, optional
        Latent values to start from, or the approximation for a similar K, from which they are extrapolated. By default, and if
        zero has a higher density, the iteration starts from zero.
    max_iterations : int
        The largest number of iterations.
    space : ndarray of shape (n, n), optional
        Memory to work in.

    Returns
    -------
    approximation : Laplace
        Computed in n^3 / 3 operations for each iteration: about 6 iterations from zero, 2 or 3 from the mode for a similar K.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.classification.laplace import laplace
    >>> from kernsel.estimators.classification.links import Logistic
    >>> K = np.array([[4.0, 2.0], [2.0, 4.0]])
    >>> found = laplace(K, np.array([1.0, -1.0]), Logistic())
    >>> found.mean.round(4), round(found.log_evidence, 4)
    (array([ 0.6748, -0.6748]), -1.6611)
    """
    K, y = square(K, y)
    zero = _Point(np.zeros(len(y)), np.zeros(len(y)), y, link)
    here = zero
    space = np.empty_like(K) if space is None else space
    objective: list[float] = []
    iterations = 0
    converged = False
    close = stalled = False
    if start is not None:
        values = _extrapolated(start, K) if isinstance(start, GaussianPosterior) else np.asarray(start, dtype=np.float64)
        if values.shape == y.shape and np.isfinite(values).all():
            there, derivatives, root, factor = _newton(K, y, link, values, space)
            iterations += 1
            if there.value >= zero.value:
                here, close = _polished(there, 1.0, K, y, link, root, factor)
    while True:
        objective.append(here.value)
        there, derivatives, root, factor = _newton(K, y, link, here.f, space)
        if close or stalled or iterations >= max_iterations:
            converged = close
            break
        iterations += 1
        # The square of the Newton decrement; rounding may make it negative.
        slope = abs(float((y * derivatives.first - here.a) @ (there.f - here.f)))
        rounding = _rounding(here, K)
        reached = _line_search(here, there, y, link, slope, rounding)
        stalled = reached is here and slope > max(_CLOSE, rounding)
        close = slope <= max(_CLOSE, rounding)
        here = reached
        if not close and reached is there and slope < 1:
            here, close = _polished(here, slope, K, y, link, root, factor)
    # The factor belongs to the curvature at `here`; the step to `there` that comes with it is of the size of rounding.
    if converged and there.value >= here.value - _rounding(here, K):
        here = there
    log_evidence = here.value - 0.5 * factor.logdet()
    shift = root**2 * here.f + here.a
    found = Laplace(K, y, link, here.f, here.a, root, shift, factor, log_evidence, iterations, converged)
    found.derivatives = derivatives
    found.objective = objective
    return found


def _rounding(point: _Point, K: Vector) -> float:
    """Return an estimate of the rounding error of the objective: of its terms, and of f = K a if f is small against K and a."""
    eps = np.finfo(float).eps
    size = float(np.diag(K).max(initial=0.0)) * float(point.a @ point.a)
    return 16 * eps * (abs(point.likelihood) + abs(float(point.a @ point.f)) + 1) + 4 * eps * size


def _newton(K: Vector, y: Vector, link: Link, f: Vector, space: Vector) -> tuple[_Point, Derivatives, Vector, Cholesky]:
    """Return the point after a full Newton step from f, the derivatives at f, W^1/2, and the factor of B."""
    derivatives = link.derivatives(y * f)
    root = roots(-derivatives.second)
    factor = factor_of(K, root, space)
    a = root * factor.solve(root * f + y * derivatives.first / root)
    return _Point(a, K @ a, y, link), derivatives, root, factor


def _line_search(here: _Point, there: _Point, y: Vector, link: Link, slope: float, rounding: float) -> _Point:
    """Halve the step from `here` to `there` until the objective has risen enough; return that point, or `here` if none has."""
    share = 1.0
    while share > 1e-12:
        if there.value >= here.value + _RISE * share * slope - (rounding if share == 1 else 0.0):
            return there
        share *= 0.5
        a, f = here.a + 0.5 * (there.a - here.a), here.f + 0.5 * (there.f - here.f)
        there = _Point(a, f, y, link)
    return here


def _polished(
    here: _Point, slope: float, K: Vector, y: Vector, link: Link, root: Vector, factor: Cholesky
) -> tuple[_Point, bool]:
    """Take Newton steps with a given factorization, O(n^2) each, as long as the decrement falls quickly.

    Return the last point, and whether it is the mode.
    """
    while True:
        gradient = y * link.derivatives(y * here.f).first
        a = root * factor.solve(root * here.f + gradient / root)
        there = _Point(a, K @ a, y, link)
        before, slope = slope, abs(float((gradient - here.a) @ (there.f - here.f)))
        if not slope <= _SHRINKS * before or there.value < here.value - _rounding(here, K):
            return here, False
        here = there
        if slope <= _THERE:
            return here, True


def _extrapolated(before: GaussianPosterior, K: Vector) -> Vector:
    """Return the mode for another kernel matrix K, to first order: f + (I + K_before W)^-1 (K - K_before) a."""
    r = K @ before.weights - before.mean
    return np.asarray(before.mean + before.factor.solve(before.root * r) / before.root)
