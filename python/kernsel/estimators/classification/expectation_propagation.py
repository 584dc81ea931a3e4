"""Expectation propagation: a Gaussian approximation whose marginals have the moments that each point's likelihood implies."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernsel._base.annotations import Vector
from kernsel.estimators.classification.laplace import laplace
from kernsel.estimators.classification.links import Link, Moments
from kernsel.estimators.classification.posterior import GaussianPosterior, add_symmetric_product, factor_of, roots, square
from kernsel.linalg.cholesky import Cholesky

__all__ = ["ExpectationPropagation", "expectation_propagation"]

_LEAST = 1e-100  # the lower limit of a variance
_REMEMBERED = 5  # the number of earlier sweeps that Anderson mixing uses
_SLOWEST = 0.1  # the least damping factor: the share of the change to the new sites that a sweep makes


class ExpectationPropagation(GaussianPosterior):
    """The approximation of p(f | y) by expectation propagation, from :func:`expectation_propagation`.

    At a fixed point log Z is stationary in the sites, so that its derivative with respect to K is the one for constant sites.

    Attributes
    ----------
    residual : float
        The largest difference of a marginal from the moments that it should have: of the mean in standard deviations, or of
        the logarithm of the variance.
    """

    residual: float

    def loo_adjoint(self) -> Vector:
        """Return the derivative of the sum of `loo_log_probability` with respect to K, in about 10 n^3 operations.

        The sites depend on K, since every marginal keeps the moments that its cavity N(m_i, v_i) and its likelihood imply. The
        changes of m and v solve a linear system of size 2 n; its transpose, solved once, gives the derivative in every
        direction of K.

        Returns
        -------
        adjoint : ndarray of shape (n, n)
            Symmetric.
        """
        n, S = len(self.y), np.maximum(self.variance, _LEAST)
        mean, v = self.cavity[0], np.maximum(self.cavity[1], _LEAST)
        moments = self.cavity_moments()
        third, fourth = _higher(self.link, self.y * mean, v)
        d1, d2, d3 = self.y * moments.first, moments.second, self.y * third
        d1_v, d2_v = 0.5 * (d3 + 2 * d1 * d2), 0.5 * (fourth + 2 * d2**2 + 2 * d1 * d3)
        c = np.maximum(1 + v * d2, np.finfo(float).eps)
        # The derivatives of the precision and the shift of a site with respect to the mean and the variance of its cavity.
        precision_m, precision_v = -d3 / c**2, (d2**2 - d2_v) / c**2
        shift_m = -d3 * (mean + v * d1) / c**2
        shift_v = (d1_v - mean * d2_v) / c - (d1 - mean * d2) * (d2 + v * d2_v) / c**2
        # The derivatives of cavities with respect to the sites for a fixed K, by the posterior covariance C and its squares.
        C = self.K @ (self.inverse * self.root[:, None] / self.root)
        share = v / S
        of_precision = (C * C) * share[:, None] ** 2
        of_shift = C * share[:, None]
        mean_of_precision = of_shift * self.mean - (self.mean / v)[:, None] * of_precision
        diagonal = np.arange(n)
        of_precision[diagonal, diagonal] -= v**2
        of_shift[diagonal, diagonal] -= v
        system = np.empty((2 * n, 2 * n))  # rows: equations for v and then m; columns: m and then v
        system[:n, :n], system[:n, n:] = of_precision * precision_m, of_precision * precision_v
        system[n:, :n] = mean_of_precision * precision_m - of_shift * shift_m
        system[n:, n:] = mean_of_precision * precision_v - of_shift * shift_v
        system[diagonal, n + diagonal] += 1.0
        system[n + diagonal, diagonal] += 1.0
        system[n + diagonal, n + diagonal] -= mean / v
        both = np.linalg.solve(system.T, np.concatenate([d1, moments.in_variance]))
        in_variance = (both[:n] - both[n:] * self.mean / v) * share**2
        scaled = self.inverse / self.root
        adjoint = (scaled * in_variance) @ scaled.T
        adjoint *= self.root
        adjoint *= self.root[:, None]
        return add_symmetric_product(adjoint, self.backward(both[n:] * share), self.weights)


def _higher(link: Link, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
    """Return the third and fourth derivatives of the logarithm of the mean likelihood, by central differences of the second."""
    step = 4e-3 * np.sqrt(1 + variance)
    here = link.moments(mean, variance).second
    near, far = ((link.moments(mean + h, variance).second, link.moments(mean - h, variance).second) for h in (step, 2 * step))
    third = (8 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * step)
    fourth = (16 * (near[0] + near[1]) - (far[0] + far[1]) - 30 * here) / (12 * step**2)
    return third, fourth


class _State:
    """Sites, the posterior with these sites, and the moments of each point's likelihood times its cavity."""

    def __init__(self, K: Vector, y: Vector, link: Link, precision: Vector, shift: Vector, space: Vector) -> None:
        self.root = roots(precision)
        self.precision, self.shift = self.root**2, shift
        self.factor: Cholesky = factor_of(K, self.root, space)
        a = self.root * self.factor.solve(shift / self.root)
        self.posterior = GaussianPosterior(K, y, link, K @ a, a, self.root, shift, self.factor, np.nan, 0, False)
        self.mean, self.variance = self.posterior.cavity
        self.moments: Moments = link.moments(y * self.mean, self.variance)
        first, second = y * self.moments.first, self.moments.second
        # The variance of the likelihood times the cavity divided by that of the cavity; at most 1, as p is log-concave.
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
        """Return log Z of the prior times the sites, each scaled to the same integral over its cavity as its likelihood."""
        tau, nu, m, v = self.precision, self.shift, self.mean, self.variance
        widened = 1 + tau * v
        squares = (2 * m * nu + nu**2 * v - tau * m**2) / widened
        sites = self.moments.log_mean + 0.5 * np.log(widened) - 0.5 * squares
        return float(sites.sum()) - 0.5 * self.factor.logdet() + 0.5 * float(self.shift @ self.posterior.mean)


class _Mixer:
    """Anderson mixing: the next sites are the combination of the last sweeps for which the extrapolated change is smallest."""

    def __init__(self) -> None:
        self.sites: list[Vector] = []
        self.changes: list[Vector] = []

    def next(self, state: _State, share: float) -> tuple[Vector, Vector]:
        """Return the precisions, not negative, and the shifts of the next sites; `share` is the damping factor."""
        n = len(state.shift)
        here = np.concatenate([state.precision, state.shift])
        change = np.concatenate([state.new_precision, state.new_shift]) - here
        self.sites = [*self.sites[-_REMEMBERED:], here]
        self.changes = [*self.changes[-_REMEMBERED:], change]
        there = here + share * change
        if len(self.sites) > 1:
            # Weights that convert changes of sites to approximate changes of the marginals.
            unit = np.concatenate([state.posterior.variance, np.sqrt(state.posterior.variance)])
            D = np.column_stack([later - earlier for earlier, later in pairwise(self.changes)])
            moves = np.column_stack([later - earlier for earlier, later in pairwise(self.sites)])
            weights = np.linalg.lstsq(D * unit[:, None], change * unit, rcond=1e-10)[0]
            mixed = there - (moves + share * D) @ weights
            ahead = mixed[:n] >= 0.1 * there[:n]
            there = np.where(np.concatenate([ahead, ahead]), mixed, there)
        return there[:n], there[n:]


def expectation_propagation(
    K: Vector,
    y: Vector,
    link: Link,
    *,
    start: GaussianPosterior | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 200,
    space: Vector | None = None,
    quiet: bool = False,
) -> ExpectationPropagation:
    """Approximate the posterior of latent values by expectation propagation, updating all sites at once in each sweep.

    The cavity of a point is the posterior without its site. Each site is chosen so that cavity times site has the mean and the
    variance of cavity times likelihood. If a sweep increases the residual, the next ones are damped. Usually about 10 sweeps
    are needed, of n^3 operations each.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel matrix, positive semidefinite.
    y : ndarray of shape (n,)
        The labels, -1 or 1.
    link : Link
    start : GaussianPosterior, optional
        The approximation whose sites are the first ones, such as that for a similar K; by default Laplace's approximation.
    tolerance : float
        The tolerance of :attr:`ExpectationPropagation.residual`. The error of log Z is of the order of its square.
    max_iterations : int
        The largest number of sweeps.
    space : ndarray of shape (n, n), optional
        Memory to work in.
    quiet : bool
        Whether to omit the warning; :attr:`ExpectationPropagation.converged` is set in any case.

    Returns
    -------
    approximation : ExpectationPropagation

    Warns
    -----
    ConvergenceWarning
        If the residual at the end is above the tolerance and above 1e-6. The best approximation found is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.classification.expectation_propagation import expectation_propagation
    >>> from kernsel.estimators.classification.links import Probit
    >>> found = expectation_propagation(np.array([[1.0]]), np.array([1.0]), Probit())
    >>> found.mean.round(4), round(float(np.exp(found.log_evidence)), 4)  # 1 / pi^(1/2) and 1/2
    (array([0.5642]), 0.5)
    """
    K, y = square(K, y)
    space = np.empty_like(K) if space is None else space
    first = laplace(K, y, link, space=space) if start is None else start
    best = state = _State(K, y, link, first.precision, first.shift, space)
    share, iterations = 1.0, 1
    mixer = _Mixer()
    while best.residual > tolerance and iterations < max_iterations:
        precision, shift = mixer.next(state, share)
        before = state.residual
        state = _State(K, y, link, precision, shift, space)
        iterations += 1
        if state.residual < best.residual:
            best = state
        elif share == _SLOWEST and best.residual < 1e-6:
            break  # the residual is rounding error
        if not state.residual < before:
            share = max(0.5 * share, _SLOWEST)
            mixer = _Mixer()
    converged = best.residual <= max(tolerance, 1e-6)
    if not converged and not quiet:
        warnings.warn(
            f"expectation propagation has not converged in {iterations} sweeps: a marginal is off by {best.residual:.3g} of "
            'its standard deviation; inference="laplace" always converges',
            ConvergenceWarning,
            stacklevel=2,
        )
    p = best.posterior
    found = ExpectationPropagation(
        K, y, link, p.mean, p.weights, p.root, p.shift, p.factor, best.log_evidence(), iterations, converged
    )
    found.residual = best.residual
    found.inverse = p.inverse
    return found
