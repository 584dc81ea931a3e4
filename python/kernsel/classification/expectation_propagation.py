"""Expectation propagation: a Gaussian whose marginals have the moments that each point's own likelihood gives them."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernsel.classification.laplace import laplace
from kernsel.classification.links import Link, Moments
from kernsel.classification.posterior import GaussianPosterior, factor_of, roots, square
from kernsel.factor import Cholesky

__all__ = ["ExpectationPropagation", "expectation_propagation"]

Vector = NDArray[np.float64]

_SLOWEST = 0.1  # share of the way to the new sites that a sweep goes at least


class ExpectationPropagation(GaussianPosterior):
    """The approximation of p(f | y) by expectation propagation, from :func:`expectation_propagation`.

    At a fixed point log Z does not change with the sites, so that its derivative in K is that with the sites as they are.

    Attributes
    ----------
    residual : float
        How far any marginal is from its moments: in standard deviations of the mean, or in the logarithm of the variance.
    """

    residual: float


class _State:
    """Sites, the posterior that they make, and the moments of each point's likelihood over its cavity."""

    def __init__(self, K: Vector, y: Vector, link: Link, precision: Vector, shift: Vector, space: Vector) -> None:
        self.root = roots(precision)
        self.precision, self.shift = self.root**2, shift
        self.factor: Cholesky = factor_of(K, self.root, space)
        a = self.root * self.factor.solve(shift / self.root)
        self.posterior = GaussianPosterior(K, y, link, K @ a, a, self.root, shift, self.factor, np.nan, 0, False)
        self.mean, self.variance = self.posterior.cavity
        self.moments: Moments = link.moments(y * self.mean, self.variance)
        first, second = y * self.moments.first, self.moments.second
        # The variance of the likelihood times the cavity, relative to that of the cavity: log-concave likelihoods narrow it.
        self.narrowed = np.clip(1 + self.variance * second, np.finfo(float).eps, 1.0)
        self.new_precision = np.maximum(-second, 0.0) / self.narrowed
        self.new_shift = (first - self.mean * second) / self.narrowed
        variance = self.variance * self.narrowed
        mean = self.mean + self.variance * first
        tiny = np.finfo(float).tiny
        off_mean = np.abs(mean - self.posterior.mean) / np.sqrt(np.maximum(variance, tiny))
        off_variance = np.abs(np.log(np.maximum(variance, tiny) / np.maximum(self.posterior.variance, tiny)))
        fixed = np.diag(K) <= 0  # a latent value that is always zero
        self.residual = float(np.max(np.where(fixed, 0.0, np.maximum(off_mean, off_variance)), initial=0.0))

    def log_evidence(self) -> float:
        """Return log Z: of the sites, scaled so that each has the mass of its likelihood over the cavity, and the prior."""
        tau, nu, m, v = self.precision, self.shift, self.mean, self.variance
        widened = 1 + tau * v
        squares = (2 * m * nu + nu**2 * v - tau * m**2) / widened
        sites = self.moments.log_mean + 0.5 * np.log(widened) - 0.5 * squares
        return float(sites.sum()) - 0.5 * self.factor.logdet() + 0.5 * float(self.shift @ self.posterior.mean)


def expectation_propagation(
    K: Vector,
    y: Vector,
    link: Link,
    *,
    start: GaussianPosterior | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 200,
    space: Vector | None = None,
) -> ExpectationPropagation:
    """Approximate the posterior of latent values by expectation propagation, all sites at once in each sweep.

    Each site is what turns the cavity, the posterior without it, into a Gaussian of the mean and the variance that the
    point's likelihood times the cavity has. Where a sweep leads away from a fixed point, the next ones go part of the way.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semidefinite.
    y : ndarray of shape (n,)
        -1 or 1.
    link : Link
    start : GaussianPosterior, optional
        Whose sites are the first ones, as of the approximation for a similar K; that of Laplace by default.
    tolerance : float
        Of :attr:`ExpectationPropagation.residual`. The error of log Z is of the order of its square.
    max_iterations : int
    space : ndarray of shape (n, n), optional
        Memory to work in.

    Returns
    -------
    approximation : ExpectationPropagation
        n^3 operations for each sweep, some 10 of them.

    Warns
    -----
    ConvergenceWarning
        If the residual is still above the tolerance at the end. What is returned is the best that was found.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.classification.expectation_propagation import expectation_propagation
    >>> from kernsel.classification.laplace import laplace
from kernsel.classification.links import Probit
    >>> found = expectation_propagation(np.array([[1.0]]), np.array([1.0]), Probit())
    >>> found.mean.round(4), round(float(np.exp(found.log_evidence)), 4)  # 1 / pi^(1/2) and 1/2
    (array([0.5642]), 0.5)
    """
    K, y = square(K, y)
    space = np.empty_like(K) if space is None else space
    first = laplace(K, y, link, space=space) if start is None else start
    best = state = _State(K, y, link, first.precision, first.shift, space)
    share, iterations = 1.0, 1
    while best.residual > tolerance and iterations < max_iterations:
        precision = state.precision + share * (state.new_precision - state.precision)
        shift = state.shift + share * (state.new_shift - state.shift)
        before = state.residual
        state = _State(K, y, link, precision, shift, space)
        iterations += 1
        if state.residual < best.residual:
            best = state
        elif share == _SLOWEST and best.residual < 1e-6:
            break  # what is left is rounding
        if not state.residual < before:
            share = max(0.5 * share, _SLOWEST)
    if best.residual > max(tolerance, 1e-6):
        warnings.warn(
            f"expectation propagation has not converged in {iterations} sweeps: a marginal is off by {best.residual:.3g} of "
            'its standard deviation; inference="laplace" always converges',
            ConvergenceWarning,
            stacklevel=2,
        )
    p = best.posterior
    found = ExpectationPropagation(
        K, y, link, p.mean, p.weights, p.root, p.shift, p.factor, best.log_evidence(), iterations, best.residual <= 1e-6
    )
    found.residual = best.residual
    found.inverse = p.inverse
    return found
