"""Draws of a smooth density by Hamiltonian Monte Carlo without U-turns (NUTS), in coordinates of which it is nearly normal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._sample.diagnostics import effective_sample_size, r_hat

__all__ = ["Chain", "Draws", "Plan", "sample_density"]

LogDensity = Callable[[Vector], tuple[float, Vector]]

_DEEPEST = 7  # doublings of a trajectory: at most 127 steps
_DIVERGED = 1000.0  # the error of the energy, in nats, at which a trajectory has left what the integrator can follow
_ACCEPTED = 0.8  # the mean acceptance for which the step is chosen
_CENTRE = 0.25  # the share of the covariance at the mode in that of the first draws


@dataclass(frozen=True)
class Plan:
    """How long to sample.

    Attributes
    ----------
    chains : int
    warm_up : int
        Draws of each chain that are discarded: half of them tell the covariance, by which the coordinates are scaled anew.
    round : int
        Draws of each chain after which it is asked whether they suffice.
    rounds : int
        The most rounds.
    least_size : float
        The effective sample size that suffices, for each chain.
    r_hat : float
        The largest R-hat that suffices.
    seconds : float
        No round begins later than that.
    """

    chains: int = 4
    warm_up: int = 150
    round: int = 200
    rounds: int = 5
    least_size: float = 100.0
    r_hat: float = 1.01
    seconds: float = np.inf


@dataclass(frozen=True)
class Draws:
    """Draws of several chains.

    Attributes
    ----------
    values : ndarray of shape (chains, draws, p)
    r_hat, effective_sample_size : ndarray of shape (p,)
    divergences : int
        The number of trajectories that the integrator could not follow, after the warm-up.
    """

    values: Matrix
    r_hat: Vector
    effective_sample_size: Vector
    divergences: int = 0


@dataclass(frozen=True)
class _State:
    """A point with its log density, the gradient of that, and a momentum."""

    u: Vector
    value: float
    gradient: Vector
    momentum: Vector

    @property
    def energy(self) -> float:
        return 0.5 * float(self.momentum @ self.momentum) - self.value


@dataclass(frozen=True)
class _Tree:
    """A part of a trajectory: its ends in the order of time, and one of its points, drawn by their weights exp(-energy)."""

    first: _State
    last: _State
    drawn: _State
    log_weight: float
    momenta: Vector  # the sum over its points
    acceptance: float  # the same of min(1, exp(-change of energy))
    points: int
    ended: bool  # it has turned around, or diverged


@dataclass
class Chain:
    """One Markov chain of a density whose covariance is nearly the identity.

    Attributes
    ----------
    density : callable
        Returns the logarithm of the density at u and its gradient; -inf where it is zero.
    u : ndarray of shape (p,)
    rng : numpy.random.Generator
    step : float
        Of the leapfrog integrator.
    """

    density: LogDensity
    u: Vector
    rng: np.random.Generator
    step: float = 0.5
    divergences: int = 0
    _tuning: tuple[float, float, int] = field(default=(0.0, 0.0, 0), init=False)  # the dual averages, and their count
    _at: tuple[float, Vector] | None = field(default=None, init=False)

    def advance(self, *, tunes: bool) -> Vector:
        """Go on by one draw. `tunes` changes the step towards the wanted acceptance (dual averaging)."""
        value, gradient = self.density(self.u) if self._at is None else self._at
        start = _State(self.u, value, gradient, self.rng.standard_normal(len(self.u)))
        tree = _Tree(start, start, start, 0.0, start.momentum, 0.0, 0, False)
        for depth in range(_DEEPEST):
            forward = bool(self.rng.random() < 0.5)
            new = self._grown(tree.last if forward else tree.first, forward, depth, start.energy)
            acceptance, points = tree.acceptance + new.acceptance, tree.points + new.points
            if new.ended:
                tree = _Tree(tree.first, tree.last, tree.drawn, tree.log_weight, tree.momenta, acceptance, points, True)
                break
            # The new half is favoured, so that draws are far from where the chain was.
            moves = np.log(self.rng.random()) < new.log_weight - tree.log_weight
            tree = _joined(tree, new, forward, new.drawn if moves else tree.drawn, acceptance, points)
            if tree.ended:
                break
        self.u, self._at = tree.drawn.u, (tree.drawn.value, tree.drawn.gradient)
        if tunes:
            self._tune(tree.acceptance / max(tree.points, 1))
        return self.u

    def settle(self) -> None:
        """End the tuning of the step: from now on it is the average that was found."""
        if self._tuning[2]:
            self.step = float(np.exp(self._tuning[1]))
        self._tuning = (0.0, 0.0, 0)

    def _tune(self, accepted: float) -> None:
        error, average, count = self._tuning
        if count == 0:
            self._aim = np.log(10 * self.step)
        count += 1
        error += (_ACCEPTED - accepted - error) / (count + 10)
        log_step = self._aim - np.sqrt(count) / 0.05 * error
        share = count**-0.75
        self.step = float(np.exp(log_step))
        self._tuning = (error, share * log_step + (1 - share) * average, count)

    def _grown(self, at: _State, forward: bool, depth: int, energy: float) -> _Tree:
        """Return 2^depth points that follow a state in time, or come before it."""
        if depth == 0:
            return self._leapfrog(at, self.step if forward else -self.step, energy)
        inner = self._grown(at, forward, depth - 1, energy)
        if inner.ended:
            return inner
        outer = self._grown(inner.last if forward else inner.first, forward, depth - 1, energy)
        acceptance, points = inner.acceptance + outer.acceptance, inner.points + outer.points
        if outer.ended:
            return _Tree(inner.first, inner.last, inner.drawn, inner.log_weight, inner.momenta, acceptance, points, True)
        both = np.logaddexp(inner.log_weight, outer.log_weight)
        drawn = outer.drawn if np.log(self.rng.random()) < outer.log_weight - both else inner.drawn
        return _joined(inner, outer, forward, drawn, acceptance, points)

    def _leapfrog(self, at: _State, step: float, energy: float) -> _Tree:
        half = at.momentum + 0.5 * step * at.gradient
        u = at.u + step * half
        value, gradient = self.density(u)
        state = _State(u, value, gradient, half + 0.5 * step * gradient)
        change = state.energy - energy
        ended = not change < _DIVERGED
        self.divergences += ended and np.isfinite(value)
        weight = -np.inf if ended else -change
        return _Tree(state, state, state, weight, state.momentum, float(np.exp(min(weight, 0.0))), 1, bool(ended))


def _joined(old: _Tree, new: _Tree, forward: bool, drawn: _State, acceptance: float, points: int) -> _Tree:
    """Return the trajectory of two parts, of which `new` is later in time, or earlier. It has ended if it turns around."""
    left, right = (old, new) if forward else (new, old)
    momenta = left.momenta + right.momenta
    pairs = (
        (momenta, left.first, right.last),
        (left.momenta + right.first.momentum, left.first, right.first),
        (right.momenta + left.last.momentum, left.last, right.last),
    )
    turned = any(float(sum_ @ a.momentum) <= 0 or float(sum_ @ b.momentum) <= 0 for sum_, a, b in pairs)
    weight = float(np.logaddexp(old.log_weight, new.log_weight))
    return _Tree(left.first, right.last, drawn, weight, momenta, acceptance, points, turned)


def sample_density(density: LogDensity, centre: Vector, covariance: Matrix, plan: Plan, rng: np.random.Generator) -> Draws:
    """Draw from a density.

    Chains begin at draws of a normal distribution around the centre, with twice the given deviations. They go on until R-hat
    and effective sample sizes are good enough, or the plan ends.

    Parameters
    ----------
    density : callable
        Returns the logarithm of the density at x and its gradient; -inf where it is zero.
    centre : ndarray of shape (p,)
        The mode, or a point near it.
    covariance : ndarray of shape (p, p)
        A guess, by which the coordinates are scaled; the warm-up replaces it.
    plan : Plan
    rng : numpy.random.Generator
        The only source of randomness.

    Returns
    -------
    draws : Draws
        Each takes 3 to 15 evaluations of the density.

    References
    ----------
    M. Betancourt (2017). A conceptual introduction to Hamiltonian Monte Carlo. arXiv:1701.02434.
    M. D. Hoffman, A. Gelman (2014). The no-U-turn sampler: adaptively setting path lengths in Hamiltonian Monte Carlo. Journal
    of Machine Learning Research 15, 1593-1623.
    """
    began = time.perf_counter()
    root: Matrix = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    streams = rng.spawn(plan.chains)
    starts = [_start(density, centre, root, stream) for stream in streams]
    chains = _chains(density, starts, centre, root, streams, 0.5)
    first = plan.warm_up // 2
    early = np.array([[centre + root @ chain.advance(tunes=True) for _ in range(first)] for chain in chains])
    seen = early[:, first // 2 :].reshape(-1, len(centre))
    if len(seen) > 1:
        centre_seen = seen.mean(axis=0)
        spread = np.atleast_2d(np.cov(seen.T))
        # Few draws tell a covariance badly: a share of the guess keeps it positive definite.
        share = max(_CENTRE * len(centre) / len(seen), 0.02)
        new_root: Matrix = np.asarray(np.linalg.cholesky((1 - share) * spread + share * covariance), dtype=np.float64)
        steps = float(np.median([chain.step for chain in chains]))
        places = [centre + root @ chain.u for chain in chains]
        centre, root = centre_seen, new_root
        chains = _chains(density, places, centre, root, streams, steps)
    for chain in chains:
        for _ in range(plan.warm_up - first):
            chain.advance(tunes=True)
        chain.settle()
        chain.divergences = 0
    values = np.empty((plan.chains, 0, len(centre)))
    for _ in range(plan.rounds):
        more = np.array([[centre + root @ chain.advance(tunes=False) for _ in range(plan.round)] for chain in chains])
        values = np.concatenate([values, more], axis=1)
        hats, sizes = r_hat(values), effective_sample_size(values)
        enough = hats.max(initial=1.0) <= plan.r_hat and sizes.min(initial=np.inf) >= plan.least_size * plan.chains
        if enough or time.perf_counter() - began > plan.seconds:
            break
    return Draws(values, hats, sizes, sum(chain.divergences for chain in chains))


def _start(density: LogDensity, centre: Vector, root: Matrix, rng: np.random.Generator) -> Vector:
    """Return a point of positive density around the centre; the centre itself if none is found."""
    for spread in (2.0, 1.0, 0.5, 0.25):
        x = centre + spread * (root @ rng.standard_normal(len(centre)))
        if np.isfinite(density(x)[0]):
            return x
    return centre


def _chains(
    density: LogDensity,
    places: list[Vector],
    centre: Vector,
    root: Matrix,
    streams: list[np.random.Generator],
    step: float,
) -> list[Chain]:
    """Return a chain for each place, in the coordinates u with x = centre + root u."""

    def scaled(u: Vector) -> tuple[float, Vector]:
        value, gradient = density(centre + root @ u)
        return value, root.T @ gradient

    starts = [np.asarray(np.linalg.solve(root, x - centre), dtype=np.float64) for x in places]
    return [Chain(scaled, u, stream, step) for u, stream in zip(starts, streams, strict=True)]
