"""A Gaussian process by draws: its predictive distribution is a mixture over hyperparameters, or over latent values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.points import blocks
from kernsel._solve.posterior import Posterior
from kernsel.estimators.draws import draws_of_normal
from kernsel.estimators.stacking.mixture import Mixture
from kernsel.likelihoods import Likelihood

__all__ = ["Drawn", "Member", "SampledProcess"]

OfParts = Callable[[_core.Likelihood, Vector, Vector, Vector | None], tuple[Vector, ...]]

_HALVINGS = 80  # of an interval that quantiles lie in
_PARTS = 100  # normal distributions that stand for all draws of the latent values at a point


@dataclass(frozen=True)
class Member:
    """A process with certain hyperparameters.

    Attributes
    ----------
    posterior : Posterior
        Its columns of targets are draws of the latent values; or one column, the targets or what stands for them.
    noise : float
        The normal noise variance that was found, 0 if none was.
    jitter : float
        The least variance of the function.
    likelihood : Likelihood or None
        Of observations, if it is not the normal one.
    """

    posterior: Posterior
    noise: float = 0.0
    jitter: float = 0.0
    likelihood: Likelihood | None = None


@dataclass(frozen=True)
class Drawn:
    """Draws of several Markov chains by name, and what tells whether they can be trusted.

    Attributes
    ----------
    values : dict of str to ndarray of shape (chains, draws)
    r_hat, effective_sample_size : dict of str to float
    latent_r_hat, latent_effective_sample_size : ndarray of shape (n,) or None
        Of the latent values, if these were drawn.
    """

    values: dict[str, Matrix]
    r_hat: dict[str, float]
    effective_sample_size: dict[str, float]
    latent_r_hat: Vector | None = None
    latent_effective_sample_size: Vector | None = None


@dataclass(frozen=True)
class SampledProcess:
    """Processes of equal weights, whose predictions are averaged.

    Means and variances follow by the law of total variance, quantiles and densities are those of the mixture.

    Attributes
    ----------
    members : tuple of Member
    drawn : Drawn
    offset, factor : float
        y = offset + factor t, where t are the targets of the posteriors.
    """

    members: tuple[Member, ...]
    drawn: Drawn
    offset: float = 0.0
    factor: float = 1.0

    @cached_property
    def _sizes(self) -> list[int]:
        """The number of parts of the mixture that each member has."""
        return [min(member.posterior.y.shape[1], _PARTS) for member in self.members]

    @cached_property
    def _weights(self) -> Vector:
        """The weights of all parts of the mixture, of sum 1."""
        draws = [member.posterior.y.shape[1] for member in self.members]
        shares = [_numbers(count, size) for count, size in zip(draws, self._sizes, strict=True)]
        return np.asarray(np.concatenate(shares) / sum(draws))

    def latent(self, Z: Matrix) -> tuple[Vector, Vector]:
        """Return the mean and the variance of the function at points, in the unit of y."""
        mean, variance = np.empty(len(Z)), np.empty(len(Z))
        for block, means, variances in self._parts(Z):
            mean[block], variance[block] = self._total(means, variances)
        return mean, variance

    def covariance(self, Z: Matrix) -> Matrix:
        """Return the covariance of the function at points."""
        within = np.zeros((len(Z), len(Z)))
        means = []
        for member in self.members:
            means.append(member.posterior.mean(Z).T)
            within += len(means[-1]) * member.posterior.covariance(Z)
        draws = np.vstack(means)
        within /= len(draws)
        between = np.atleast_2d(np.cov(draws.T, bias=True))
        return np.asarray(self.factor**2 * (within + between))

    def gradients(self, Z: Matrix) -> tuple[Matrix, Matrix]:
        """Return the derivatives in the points of the mean and of the variance of the function, each of shape (m, d)."""
        draws = sum(member.posterior.y.shape[1] for member in self.members)
        mean = self.latent(Z)[0]
        of_mean, of_variance = np.zeros(Z.shape), np.zeros(Z.shape)
        for member in self.members:
            columns = member.posterior.y.shape[1]
            slopes = self.factor * member.posterior.mean_gradient(Z)
            away = self.offset + self.factor * member.posterior.mean(Z) - mean[:, None]
            of_mean += slopes.sum(axis=2) / draws
            within = self.factor**2 * columns * member.posterior.variance_gradient(Z)
            of_variance += (within + 2 * np.einsum("mdk,mk->md", slopes, away)) / draws
        return of_mean, of_variance  # the part from the mean's own slope vanishes, since the means' distances have mean zero

    def mixture(self, Z: Matrix, *, noisy: bool, known: float) -> Mixture:
        """Return the predictive distribution of the function, or of observations with normal noise.

        Parameters
        ----------
        Z : ndarray of shape (m, d)
        noisy : bool
            Whether the noise that was found counts.
        known : float
            Another variance, in the unit of the targets.
        """
        noise = self._each([member.noise * noisy + known for member in self.members])
        parts = list(self._parts(Z))
        means = np.concatenate([means for _, means, _ in parts], axis=1)
        variances = np.concatenate([variances for _, _, variances in parts], axis=1)
        stds = np.sqrt(variances + self.factor**2 * noise[:, None])
        return Mixture(self._weights, means[:, :, None], stds[:, :, None])

    def observed(self, Z: Matrix, sizes: Vector | None, noisy: bool | None) -> tuple[Vector, Vector]:
        """Return the mean and the variance of observations of the likelihood; not `noisy`, of their mean given the function."""
        mean, variance = np.empty(len(Z)), np.empty(len(Z))
        for block, means, variances in self._parts(Z):
            size = None if sizes is None else sizes[block]
            expected, spread = self._by_member(lambda core, m, v, s: core.predict(m, v, s), means, variances, size)
            if noisy is False:
                spread = spread - self._conditional_variance(means, variances, size)
            mean[block], variance[block] = self._total(expected, spread)
        return mean, np.maximum(variance, 0.0)

    def log_densities(self, Z: Matrix, y: Vector, sizes: Vector | None) -> Vector:
        """Return the log density of observations of the likelihood at points, each by itself."""
        found = np.empty(len(Z))
        for block, means, variances in self._parts(Z):
            size = None if sizes is None else sizes[block]
            values = y[block]

            def density(core: _core.Likelihood, m: Vector, v: Vector, s: Vector | None, at: Vector = values) -> tuple[Vector]:
                return (core.moments(np.tile(at, len(m) // len(at)), m, v, s)[:, 0],)

            found[block] = logsumexp(self._by_member(density, means, variances, size)[0], axis=0, b=self._weights[:, None])
        return found

    def probability(self, Z: Matrix, y: Vector, sizes: Vector | None) -> Vector:
        """Return the probability of values of observations of the likelihood up to y, one at each point."""
        found = np.empty(len(Z))
        for block, means, variances in self._parts(Z):
            found[block] = self._weights @ self._probability(
                y[block], means, variances, None if sizes is None else sizes[block]
            )
        return found

    def quantiles(self, Z: Matrix, levels: Vector, sizes: Vector | None) -> Matrix:
        """Return quantiles of observations of the likelihood at points, shape (m, levels).

        Those of the members enclose that of the mixture, which is found by halving.
        """
        found = np.empty((len(Z), len(levels)))
        for block, means, variances in self._parts(Z):
            size = None if sizes is None else sizes[block]
            for k, level in enumerate(levels):
                found[block, k] = self._quantile(means, variances, float(level), size)
        return found

    def draw(
        self, rng: np.random.RandomState, Z: Matrix, count: int, sizes: Vector | None, *, noisy: bool, known: float = 0.0
    ) -> Matrix:
        """Return joint draws of the function, or of observations (`noisy`), shape (m, count)."""
        drawn = np.empty((len(Z), count))
        chosen = rng.randint(sum(member.posterior.y.shape[1] for member in self.members), size=count)
        begin = 0
        for member in self.members:
            columns = member.posterior.y.shape[1]
            mine = np.flatnonzero((chosen >= begin) & (chosen < begin + columns))
            if len(mine):
                mean, cov = member.posterior.mean(Z)[:, chosen[mine] - begin], member.posterior.covariance(Z)
                f = mean + draws_of_normal(rng, np.zeros(len(Z)), cov, len(mine))
                if member.likelihood is None:
                    f = f + np.sqrt(member.noise * noisy + known) * rng.standard_normal(f.shape)
                elif noisy:
                    core = member.likelihood.core()
                    uniform = rng.uniform(np.finfo(float).tiny, 1.0, f.shape)
                    f = np.column_stack([core.quantile(p, at, sizes) for p, at in zip(uniform.T, f.T, strict=True)])
                drawn[:, mine] = f
            begin += columns
        return self.offset + self.factor * drawn

    def _each(self, values: list[float]) -> Vector:
        """Return a number for each part of the mixture, of one for each member."""
        return np.repeat(values, self._sizes)

    def _total(self, means: Matrix, variances: Matrix) -> tuple[Vector, Vector]:
        """Return the mean and the variance of a mixture with these of its parts, which may be infinite."""
        mean = self._weights @ means
        with np.errstate(invalid="ignore"):
            between = self._weights @ (means - mean) ** 2
        return mean, self._weights @ variances + np.where(np.isnan(between), np.inf, between)

    def _parts(self, Z: Matrix) -> Iterator[tuple[slice, Matrix, Matrix]]:
        """Yield blocks of points, with the means and the variances of the function in each part of the mixture, (parts, m).

        Many draws of the latent values are joined at each point, in the order of their means, to parts of nearly equal numbers,
        each with the mean and the variance of all that it has.
        """
        most = max(member.posterior.y.shape[1] for member in self.members)
        for block in blocks(4 * max(most, len(self._weights)), len(Z)):
            means, variances = [], []
            for member, size in zip(self.members, self._sizes, strict=True):
                mean, variance = member.posterior.mean_and_variance(Z[block])
                m, v = mean.T, np.broadcast_to(np.maximum(variance, member.jitter), mean.T.shape)
                if size < len(m):
                    numbers = _numbers(len(m), size)
                    begins = np.concatenate([[0], np.cumsum(numbers)[:-1]]).astype(np.intp)
                    ordered = np.sort(m, axis=0)
                    m = np.add.reduceat(ordered, begins, axis=0) / numbers[:, None]
                    apart = ordered - np.repeat(m, numbers.astype(np.intp), axis=0)
                    v = v[:size] + np.add.reduceat(apart**2, begins, axis=0) / numbers[:, None]
                means.append(m)
                variances.append(v)
            yield block, self.offset + self.factor * np.vstack(means), self.factor**2 * np.vstack(variances)

    def _by_member(self, function: OfParts, means: Matrix, variances: Matrix, size: Vector | None) -> list[Matrix]:
        """Return what a function of (core, means, variances, sizes) returns for all parts of the mixture, arrays (parts, m)."""
        results, begin = [], 0
        for member, columns in zip(self.members, self._sizes, strict=True):
            assert member.likelihood is not None
            m, v = (values[begin : begin + columns] for values in (means, variances))
            sizes = None if size is None else np.tile(size, columns)
            found = function(member.likelihood.core(), m.ravel(), v.ravel(), sizes)
            results.append([np.reshape(values, m.shape) for values in found])
            begin += columns
        return [np.vstack(values) for values in zip(*results, strict=True)]

    def _conditional_variance(self, means: Matrix, variances: Matrix, size: Vector | None) -> Matrix:
        """Return the mean, over the function, of the variance of an observation given the function."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        weights = weights / weights.sum()

        def spread(core: _core.Likelihood, m: Vector, v: Vector, s: Vector | None) -> tuple[Vector]:
            at = m[:, None] + np.sqrt(v)[:, None] * nodes
            given = core.conditional(at.ravel(), None if s is None else np.repeat(s, len(nodes)))[1]
            return (np.reshape(given, at.shape) @ weights,)

        return self._by_member(spread, means, variances, size)[0]

    def _probability(self, y: Vector, means: Matrix, variances: Matrix, size: Vector | None) -> Matrix:
        """Return the probability of values up to y for each part of the mixture, shape (parts, m)."""

        def up_to(core: _core.Likelihood, m: Vector, v: Vector, s: Vector | None) -> tuple[Vector]:
            return (core.predict_probability(np.tile(y, len(m) // len(y)), m, v, s),)

        return self._by_member(up_to, means, variances, size)[0]

    def _quantile(self, means: Matrix, variances: Matrix, level: float, size: Vector | None) -> Vector:
        def each(core: _core.Likelihood, m: Vector, v: Vector, s: Vector | None) -> tuple[Vector]:
            return (core.predict_quantile(np.full(len(m), level), m, v, s),)

        ends = self._by_member(each, means, variances, size)[0]
        low, high = ends.min(axis=0), ends.max(axis=0)
        first = self.members[0].likelihood
        assert first is not None
        discrete = first.outcomes[2]
        low = low - 1 if discrete else low  # the least value up to which the probability is at least `level` is above it
        for _ in range(_HALVINGS):
            middle = np.floor((low + high) / 2) if discrete else (low + high) / 2
            left = np.flatnonzero((low < middle) & (middle < high) & (high - low > 1e-12 * (np.abs(low) + np.abs(high))))
            if not len(left):
                break
            some = None if size is None else size[left]
            p = self._weights @ self._probability(middle[left], means[:, left], variances[:, left], some)
            high[left] = np.where(p >= level, middle[left], high[left])
            low[left] = np.where(p >= level, low[left], middle[left])
        return np.asarray(high if discrete else (low + high) / 2)


def _numbers(count: int, size: int) -> Vector:
    """Return how many of `count` draws each of `size` parts has."""
    return np.asarray(np.diff(np.linspace(0, count, size + 1).round()))
