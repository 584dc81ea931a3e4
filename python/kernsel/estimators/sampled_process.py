"""A Gaussian process by draws: its predictive distribution is a mixture over hyperparameters, or over latent values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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

_HALVINGS = 80  # of an interval that quantiles lie in


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

    @property
    def count(self) -> int:
        """The number of parts of the mixture."""
        return sum(member.posterior.y.shape[1] for member in self.members)

    def latent(self, Z: Matrix) -> tuple[Vector, Vector]:
        """Return the mean and the variance of the function at points, in the unit of y."""
        mean, variance = np.empty(len(Z)), np.empty(len(Z))
        for block, means, variances in self._parts(Z):
            mean[block], variance[block] = means.mean(axis=0), variances.mean(axis=0) + means.var(axis=0)
        return mean, variance

    def covariance(self, Z: Matrix) -> Matrix:
        """Return the covariance of the function at points."""
        within = np.zeros((len(Z), len(Z)))
        means = []
        for member in self.members:
            m = member.posterior.mean(Z).T
            within += len(m) / self.count * member.posterior.covariance(Z)
            means.append(m)
        between = np.atleast_2d(np.cov(np.vstack(means).T, bias=True))
        return np.asarray(self.factor**2 * (within + between))

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
        return Mixture(np.full(self.count, 1 / self.count), means[:, :, None], stds[:, :, None])

    def observed(self, Z: Matrix, sizes: Vector | None, noisy: bool | None) -> tuple[Vector, Vector]:
        """Return the mean and the variance of observations of the likelihood; not `noisy`, of their mean given the function."""
        mean, variance = np.empty(len(Z)), np.empty(len(Z))
        for block, means, variances in self._parts(Z):
            size = None if sizes is None else sizes[block]
            expected, spread = self._by_member(lambda core, m, v, s: core.predict(m, v, s), means, variances, size)
            if noisy is False:
                spread = spread - self._conditional_variance(means, variances, size)
            with np.errstate(invalid="ignore"):  # moments may be infinite
                between = expected.var(axis=0)
            mean[block] = expected.mean(axis=0)
            variance[block] = spread.mean(axis=0) + np.where(np.isnan(between), np.inf, between)
        return mean, np.maximum(variance, 0.0)

    def log_densities(self, Z: Matrix, y: Vector, sizes: Vector | None) -> Vector:
        """Return the log density of observations of the likelihood at points, each by itself."""
        found = np.empty(len(Z))
        for block, means, variances in self._parts(Z):
            size = None if sizes is None else sizes[block]
            values = y[block]

            def density(core: _core.Likelihood, m: Vector, v: Vector, s: Vector | None, at: Vector = values) -> tuple[Vector]:
                return (core.moments(np.tile(at, len(m) // len(at)), m, v, s)[:, 0],)

            found[block] = logsumexp(self._by_member(density, means, variances, size)[0], axis=0) - np.log(self.count)
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
        chosen = rng.randint(self.count, size=count)
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
        return np.repeat(values, [member.posterior.y.shape[1] for member in self.members])

    def _parts(self, Z: Matrix) -> Iterator[tuple[slice, Matrix, Matrix]]:
        """Yield blocks of points, with the means and the variances of the function in each part of the mixture, (parts, m)."""
        for block in blocks(4 * self.count, len(Z)):
            means, variances = [], []
            for member in self.members:
                mean, variance = member.posterior.mean_and_variance(Z[block])
                means.append(mean.T)
                variances.append(np.broadcast_to(np.maximum(variance, member.jitter), mean.T.shape))
            yield block, self.offset + self.factor * np.vstack(means), self.factor**2 * np.vstack(variances)

    def _by_member(self, function, means: Matrix, variances: Matrix, size: Vector | None) -> list[Matrix]:
        """Return what a function of (core, means, variances, sizes) returns, for each part of the mixture: arrays (parts, m)."""
        results, begin = [], 0
        for member in self.members:
            assert member.likelihood is not None
            columns = member.posterior.y.shape[1]
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

            def probability(core: _core.Likelihood, m: Vector, v: Vector, s: Vector | None, at: Vector = middle[left]) -> tuple[Vector]:
                return (core.predict_probability(np.tile(at, len(m) // len(at)), m, v, s),)

            some = None if size is None else size[left]
            p = self._by_member(probability, means[:, left], variances[:, left], some)[0].mean(axis=0)
            high[left] = np.where(p >= level, middle[left], high[left])
            low[left] = np.where(p >= level, low[left], middle[left])
        return high if discrete else (low + high) / 2
