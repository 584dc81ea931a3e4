"""Draws of the hyperparameters of a Gaussian process, of its latent values, and of both together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.memory import require_memory
from kernsel._data.trend import Trend, trend_matrix
from kernsel._sample.diagnostics import NotMixedWarning, effective_sample_size, r_hat
from kernsel._sample.ellipses import CENTRED, Chains, Ellipses, draw_along
from kernsel._sample.hamiltonian import Plan, sample_density
from kernsel._sample.together import LatentModel, sample_together
from kernsel._search import Selection
from kernsel._search.density import HyperparameterDensity, density_of_hyperparameters
from kernsel._solve.conditioned import conditioned
from kernsel._solve.posterior import Posterior
from kernsel.estimators.observed_process import ObservedProcess, conditioned_on
from kernsel.estimators.process_fit import ProcessData
from kernsel.estimators.sampled_process import Drawn, Member, SampledProcess
from kernsel.kernels import Kernel
from kernsel.likelihoods import Likelihood
from kernsel.likelihoods.observations import Observations
from kernsel.linalg.cholesky import Cholesky, cholesky
from kernsel.linalg.jitter import least_jitter, with_jitter

__all__ = ["Sampling", "sample_normal", "sample_observed"]

_MEMBERS = 100  # draws of hyperparameters that predictions average over, if it is not told
_CHAINS = 4
_DRAWS = 1000  # of latent values, of each chain
_TOGETHER = 500  # of these together with hyperparameters
_BURN = 200
_ROUNDS = 8  # of 200 draws of hyperparameters, or as many as are wanted, of each chain: no more if these suffice
_MIXED = 1.01  # the largest R-hat of hyperparameters
_MIXED_LATENT = 1.05  # of latent values, the largest of very many
_LEAST = 100.0  # the least effective sample size, for each chain
_TEMPER = 0.1  # the power of sites whose Gaussian is wider than the posterior
_UNKNOWN = 10.0  # the deviation of a trend's coefficients, in units of the latent values, where it cannot be infinite


@dataclass(frozen=True)
class Sampling:
    """What is drawn, and how much.

    Attributes
    ----------
    hyperparameters, latent : bool
        What is drawn.
    n_draws : int or None
    rng : numpy.random.Generator
    seconds : float
    shrinkage : float, "auto" or None
        The spread of length scales that is expected.
    names : list of str or None
        Of the columns.
    chains : int
    each, burn : int or None
        The draws of latent values that each chain keeps, and that it discards before; by default as many as `n_draws` takes.
    """

    hyperparameters: bool
    latent: bool
    n_draws: int | None
    rng: np.random.Generator
    seconds: float = np.inf
    shrinkage: float | str | None = "auto"
    names: list[str] | None = None
    chains: int = _CHAINS
    each: int | None = None
    burn: int = _BURN

    def members(self, n: int) -> int:
        """Return the number of processes, whose posteriors are kept, after a check that they fit into memory."""
        count = _MEMBERS if self.n_draws is None else self.n_draws
        require_memory(4 * n * (n + 1) * count, f"{count} draws of {n} points need", "; give a smaller n_draws")
        return count


def sample_normal(kernel: Kernel, data: ProcessData, found: Selection, how: Sampling) -> SampledProcess:
    """Return a process with normal noise whose hyperparameters are drawn from their posterior.

    Parameters
    ----------
    kernel : Kernel
        As the search was given it.
    data : ProcessData
    found : Selection
    how : Sampling
    """
    count = how.members(len(data.X))
    density = density_of_hyperparameters(
        kernel,
        data.X,
        data.targets,
        found,
        noise=data.known,
        finds_noise=data.finds_noise,
        trend=data.trend,
        shrinkage=how.shrinkage,
        names=how.names,
    )
    values = _drawn_from(density, how)
    members = []
    for x in spread_over(values, count):
        fit = data.conditioned(density.selection(x, found))
        members.append(Member(fit.posterior, fit.noise, fit.jitter))
    return SampledProcess(tuple(members), described(density, values))


def sample_observed(
    kernel: Kernel,
    X: Matrix,
    observations: Observations,
    found: Selection,
    process: ObservedProcess,
    *,
    noise: float,
    trend: Trend,
    how: Sampling,
) -> SampledProcess:
    """Return a process of observations of a likelihood: hyperparameters, latent values or both are drawn.

    Parameters
    ----------
    kernel : Kernel
        As the search was given it.
    X : ndarray of shape (n, d)
    observations : Observations
        As the search was given them.
    found : Selection
    process : ObservedProcess
        The approximation for what was found, from which draws of latent values begin.
    noise : float
        Of the latent function.
    trend : Trend
    how : Sampling
    """
    if not how.hyperparameters:
        return _latent_alone(found.kernel, X, process, trend, how)
    count = how.members(len(X))
    density = density_of_hyperparameters(
        kernel, X, observations.y, found, noise=noise, observations=observations, trend=trend, shrinkage=how.shrinkage,
        names=how.names,
    )  # fmt: skip
    if how.latent:
        return _together(density, X, found, process, trend, count, how)
    values = _drawn_from(density, how)
    members = []
    for x in spread_over(values, count):
        selection = density.selection(x, found)
        assert selection.likelihood is not None
        fit = conditioned_on(selection, X, replace(observations, likelihood=selection.likelihood), noise, trend, None)
        members.append(Member(fit.process.posterior, 0.0, fit.jitter, selection.likelihood))
    return SampledProcess(tuple(members), described(density, values))


def spread_over(values: Matrix, count: int) -> Matrix:
    """Return `count` draws, or all if these are fewer, evenly over chains of shape (chains, draws, ...)."""
    flat = values.reshape(-1, *values.shape[2:])
    return flat[np.linspace(0, len(flat) - 1, min(count, len(flat))).round().astype(np.intp)]


def described(density: HyperparameterDensity, values: Matrix, latent: Matrix | None = None) -> Drawn:
    """Return the draws by name, with their diagnostics, and warn if they are not to be trusted."""
    hats, sizes = r_hat(values), effective_sample_size(values)
    chains = values.shape[0]
    bad = [name for name, hat, size in zip(density.names, hats, sizes, strict=True) if hat > _MIXED or size < _LEAST * chains]
    if bad:
        warnings.warn(
            f"draws of {', '.join(bad)} may not represent the posterior: R-hat is up to {hats.max():.4f} (at most {_MIXED} is "
            f"wanted), and effective sample sizes are {sizes.min():.0f} or more (at least {_LEAST * chains:.0f}); another "
            "random_state tells how much results vary, and priors or fewer hyperparameters make it easier",
            NotMixedWarning,
            stacklevel=4,
        )
    own = density.numbers(values)
    named = {name: np.ascontiguousarray(own[..., k]) for k, name in enumerate(density.names)}
    drawn = Drawn(
        named, dict(zip(density.names, hats.tolist(), strict=True)), dict(zip(density.names, sizes.tolist(), strict=True))
    )
    return drawn if latent is None else _with_latent(drawn, latent)


def _with_latent(drawn: Drawn, f: Matrix) -> Drawn:
    hats, sizes = r_hat(f), effective_sample_size(f)
    few = _LEAST * f.shape[0]
    if hats.max() > _MIXED_LATENT or sizes.min() < few:
        warnings.warn(
            f"draws of the latent function may not represent its posterior: R-hat is up to {hats.max():.4f} (at most "
            f"{_MIXED_LATENT} is wanted), and effective sample sizes are {sizes.min():.0f} or more (at least {few:.0f}); "
            "more draws may help",
            NotMixedWarning,
            stacklevel=5,
        )
    return replace(drawn, latent_r_hat=hats, latent_effective_sample_size=sizes)


def _drawn_from(density: HyperparameterDensity, how: Sampling) -> Matrix:
    """Return draws of hyperparameters, shape (chains, draws, p)."""
    if not density.names:
        raise ValueError('hyperparameters: expected "optimize", since all are fixed and there is nothing to sample')
    mode, covariance = density.mode()
    least = _MEMBERS if how.n_draws is None else how.n_draws
    each = max(200, -(-least // _CHAINS))
    plan = Plan(chains=_CHAINS, round=each, rounds=_ROUNDS, least_size=_LEAST, r_hat=_MIXED, seconds=how.seconds)
    coordinates = density.coordinates(mode)
    u = coordinates.u(mode)
    slope = coordinates.slope(u)
    drawn = sample_density(coordinates.of(density), u, covariance / np.multiply.outer(slope, slope), plan, how.rng)
    return coordinates.x(drawn.values)


def _latent_alone(kernel: Kernel, X: Matrix, process: ObservedProcess, trend: Trend, how: Sampling) -> SampledProcess:
    """Return the process of draws of the latent values, for hyperparameters that were found."""
    H = process.posterior.H
    K = np.asarray(kernel(X))
    factor, jitter = _factor_of(K, process.noise_of_function)
    sites = _sites(process)
    F = factor.lower()
    closest = Ellipses(F, sites, H)
    # Nothing is known of a trend a priori, but a part of what the sites tell makes a Gaussian of it that is wide enough.
    part = (_TEMPER * sites[0], _TEMPER * sites[1]) if H.shape[1] else None
    wide = Ellipses(F, part, H)
    start = closest.mean + closest.directions(1, _CHAINS, how.rng)[0]
    chains = Chains(start, lambda f: log_likelihood_of(process.likelihood, process.observations, f), how.rng)
    each = _DRAWS if how.n_draws is None else max(-(-how.n_draws // _CHAINS), 4)
    require_memory(8 * 3 * _CHAINS * each * len(X), f"{_CHAINS * each} draws of {len(X)} latent values need")
    f = draw_along([(wide, 1), (closest, CENTRED)], chains, each, _BURN, how.rng)
    posterior, jitter = with_jitter(jitter, partial(_given_latent, kernel, X, f.reshape(-1, len(X)), trend))
    drawn = _with_latent(Drawn({}, {}, {}), f)
    return SampledProcess((Member(posterior, 0.0, jitter, process.likelihood),), drawn)


def _together(
    density: HyperparameterDensity,
    X: Matrix,
    found: Selection,
    process: ObservedProcess,
    trend: Trend,
    count: int,
    how: Sampling,
) -> SampledProcess:
    """Return processes of draws of hyperparameters and latent values together."""
    H = trend_matrix(trend, X)
    size = float(np.ptp(process.posterior.y)) + float(np.abs(process.posterior.y).max())
    of_trend = (_UNKNOWN * size) ** 2 * (H @ H.T)
    observations = process.observations
    if not density.names:
        raise ValueError('hyperparameters: expected "optimize", since all are fixed and there is nothing to sample')
    mode, covariance = density.mode()

    @lru_cache(maxsize=1)
    def parts(numbers: bytes) -> tuple[Kernel, Likelihood]:
        selection = density.selection(np.frombuffer(numbers), found)
        assert selection.likelihood is not None
        return selection.kernel, selection.likelihood

    def at(x: Vector) -> tuple[Kernel, Likelihood]:
        return parts(x.tobytes())

    def factor(x: Vector) -> Cholesky:
        K = np.asarray(at(x)[0](X)) + of_trend
        return _factor_of(K, process.noise_of_function)[0]

    model = LatentModel(factor, density.log_prior, lambda x, f: log_likelihood_of(at(x)[1], observations, f))
    each = max(_TOGETHER, -(-count // how.chains)) if how.each is None else how.each
    joint = sample_together(
        model, mode, covariance, _sites(process), n_draws=each, n_burn=how.burn, n_chains=how.chains, rng=how.rng
    )
    members = []
    for x, f in zip(spread_over(joint.x, count), spread_over(joint.f, count), strict=True):
        kernel, likelihood = at(x)
        posterior, jitter = with_jitter(process.noise_of_function, partial(_given_latent, kernel, X, f[None], trend))
        members.append(Member(posterior, 0.0, jitter, likelihood))
    return SampledProcess(tuple(members), described(density, joint.x, joint.f))


def log_likelihood_of(likelihood: Likelihood, observations: Observations, f: Matrix) -> Vector:
    """Return the log likelihood of each row of latent values, shape (k, n)."""
    rows = len(f)
    sizes = None if observations.sizes is None else np.tile(observations.sizes, rows)
    density = likelihood.core().density(np.tile(observations.y, rows), f.ravel(), sizes)[:, 0]
    found = density.reshape(f.shape).sum(axis=1)
    return np.where(np.isnan(found), -np.inf, found)


def _sites(process: ObservedProcess) -> tuple[Vector, Vector]:
    """Return the precisions and the shifts of the normal approximation of the likelihood."""
    variances = process.posterior.noise - process.noise_of_function
    precision = np.where(variances > 0, 1 / np.maximum(variances, np.finfo(float).tiny), 0.0)
    return precision, precision * process.posterior.y[:, 0]


def _factor_of(K: Matrix, noise: float) -> tuple[Cholesky, float]:
    """Return the factor of a kernel matrix with a noise, and as much jitter as rounding takes, and their sum."""
    least = max(noise, least_jitter(len(K), float(np.mean(np.diag(K)))))

    def factor(jitter: float) -> Cholesky:
        return cholesky(K + np.diag(np.full(len(K), jitter)))

    return with_jitter(least, factor)


def _given_latent(kernel: Kernel, X: Matrix, f: Matrix, trend: Trend, jitter: float) -> Posterior:
    """Return the process given values at X, a column for each row of f."""
    return conditioned(kernel, X, np.ascontiguousarray(f.T), np.full(len(X), jitter), trend, None)
