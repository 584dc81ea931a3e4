"""Laplace's approximation: a Gaussian at the mode of the posterior of latent values, for two classes."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.estimators.classification.links import Derivatives, Link
from kernsel.estimators.classification.posterior import GaussianPosterior, add_symmetric_product, factor_of, roots, square
from kernsel.linalg.cholesky import Cholesky

__all__ = ["Laplace", "laplace"]

_CLOSE = 1e-10  # of the Newton decrement: a step of Newton's method then goes to the mode to rounding
_THERE = 1e-17  # of the Newton decrement: what is left of the way does not count
_SHRINKS = 0.1  # factor by which the decrement must fall from step to step with one factorization
_RISE = 1e-4  # a step must raise the objective by this share of what its slope promises


class Laplace(GaussianPosterior):
    """Laplace's approximation of p(f | y), from :func:`laplace`.

    The precision of the sites is W = -d^2 log p / df^2 at the mode, and `weights` are d log p / df there.
    """

    derivatives: Derivatives  # of the log density, in the margins at the mode
    objective: list[float]

    def evidence_adjoint(self) -> Vector:
        """Return d log Z / dK, shape (n, n), symmetric.

        log Z changes by sum_ij A_ij dK_ij, its dependence through the mode included: with t = d^3 log p / df^3, Sigma the
        posterior covariance, u_i = Sigma_ii t_i / 2 and v = (I + W K)^-1 u ::

            A = (a a' - R) / 2 + (v a' + a v') / 2

        Returns
        -------
        adjoint : ndarray of shape (n, n)
            In 2/3 n^3 operations, most of them for B^-1.
        """
        return self._adjoint(self.backward(0.5 * self.variance * self.y * self.derivatives.third))

    def loo_adjoint(self) -> Vector:
        """Return the derivative of the sum of `loo_log_probability` in K, shape (n, n), symmetric.

        The cavity of point i is N(f_i - a_i c_i, c_i), c_i = 1 / R_ii - 1 / W_i; everything moves with the mode.

        Returns
        -------
        adjoint : ndarray of shape (n, n)
            In 2 2/3 n^3 operations.
        """
        moments = self.cavity_moments()
        in_mean = self.y * moments.first
        in_variance = moments.in_variance - in_mean * self.weights
        scaled = self.inverse / self.root  # column k divided by W_k^1/2
        spread = scaled / self.rest
        # d c_i = R_ii^-2 (R dK R)_ii, and what the precisions of the others do to it as they move with the mode.
        adjoint = (spread * in_variance) @ spread.T
        adjoint *= self.root
        adjoint *= self.root[:, None]
        squares = scaled / self.root[:, None]
        np.fill_diagonal(squares, 0.0)
        squares **= 2
        others = squares @ (in_variance / self.rest**2)
        slope = -self.y * self.derivatives.third  # of the precisions in f
        u = in_mean / self.rest - slope * others
        return add_symmetric_product(adjoint, self.backward(u), self.weights)


class _Point:
    """Latent values f = K a, and the log posterior density there, but for a constant."""

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

    The mode maximizes log p(y | f) - f'K^-1 f / 2, which is concave. Newton's method finds it; a step that does not raise the
    objective as much as its slope promises is halved until it does, so that the objective never falls. Then, with W the
    curvature of -log p at the mode, ::

        log Z = log p(y | f) - a'f / 2 - log det(I + W^1/2 K W^1/2) / 2,    a = K^-1 f = d log p / df

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semidefinite; singular or of any amplitude.
    y : ndarray of shape (n,)
        -1 or 1.
    link : Link
    start : ndarray of shape (n,) or GaussianPosterior, optional
        Latent values to begin with, or the approximation for a similar K, from which they are extrapolated. Zero otherwise,
        and where zero is better.
    max_iterations : int
    space : ndarray of shape (n, n), optional
        Memory to work in.

    Returns
    -------
    approximation : Laplace
        n^3 / 3 operations for each iteration: some 6 from zero, 2 or 3 from the mode for a similar K.

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
    # The factor is that of the curvature at the mode; the step that it gives besides is of the size of rounding.
    if converged and there.value >= here.value - _rounding(here, K):
        here = there
    log_evidence = here.value - 0.5 * factor.logdet()
    shift = root**2 * here.f + here.a
    found = Laplace(K, y, link, here.f, here.a, root, shift, factor, log_evidence, iterations, converged)
    found.derivatives = derivatives
    found.objective = objective
    return found


def _rounding(point: _Point, K: Vector) -> float:
    """Return by how much the objective may be off: in its terms, and in f = K a where that is small against K and a."""
    eps = np.finfo(float).eps
    size = float(np.diag(K).max(initial=0.0)) * float(point.a @ point.a)
    return 16 * eps * (abs(point.likelihood) + abs(float(point.a @ point.f)) + 1) + 4 * eps * size


def _newton(K: Vector, y: Vector, link: Link, f: Vector, space: Vector) -> tuple[_Point, Derivatives, Vector, Cholesky]:
    """Return where Newton's method goes from f, the derivatives at f, W^1/2, and the factor of B."""
    derivatives = link.derivatives(y * f)
    root = roots(-derivatives.second)
    factor = factor_of(K, root, space)
    a = root * factor.solve(root * f + y * derivatives.first / root)
    return _Point(a, K @ a, y, link), derivatives, root, factor


def _line_search(here: _Point, there: _Point, y: Vector, link: Link, slope: float, rounding: float) -> _Point:
    """Return the first point, of steps that are halved, where the objective has risen as it should; else where it was."""
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
    """Return where steps with the curvature of another place lead, as long as each is much shorter than the one before.

    And whether that is the mode. A step takes O(n^2), not O(n^3).
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
    """Return the mode for another K to first order: f + (I + K_before W)^-1 (K - K_before) a."""
    r = K @ before.weights - before.mean
    return np.asarray(before.mean + before.factor.solve(before.root * r) / before.root)
