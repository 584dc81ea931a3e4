"""A latent Gaussian process and its observations, whose likelihood is not the normal one: fits and predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel._search import Selection
from kernsel._solve.conditioned import conditioned
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Approximation
from kernsel.criteria import Workspace
from kernsel.estimators.draws import draws_of_normal
from kernsel.estimators.observed_distribution import ObservedDistribution
from kernsel.estimators.stacking.mixture import Mixture
from kernsel.kernels import ConstantKernel, Kernel
from kernsel.likelihoods import Likelihood
from kernsel.likelihoods.observations import Observations
from kernsel.linalg.jitter import with_jitter

__all__ = ["LatentFit", "ObservedProcess", "conditioned_on"]


@dataclass(frozen=True)
class ObservedProcess:
    """Observations and the posterior of the latent function, which is that of targets that stand for them.

    Attributes
    ----------
    observations : Observations
        With the likelihood whose parameters were found.
    posterior : Posterior
    value : float
        The approximate log marginal likelihood.
    left_out_mean, left_out_variance : ndarray of shape (n,)
        The latent function at each point given the observations of all others.
    log_density : ndarray of shape (n,)
        The log density of each observation given all others.
    """

    observations: Observations
    posterior: Posterior
    value: float

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood with its parameters."""
        return self.observations.likelihood

    def without_posterior(self) -> Callable[[Posterior], ObservedProcess]:
        """Return what makes an equal process of an equal posterior, without the memory of this one."""
        rest = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "posterior"}
        return lambda posterior: type(self)(posterior=posterior, **rest)

    @property
    def points(self) -> Matrix:
        """The training points."""
        return self.posterior.X

    def centres(self) -> tuple[Matrix, Matrix]:
        """Return points and coefficients c of the function sum_i c_i k(., x_i), which is the mean without the trend."""
        return self.posterior.centres()

    def of_function(self, values: Vector) -> Vector:
        """Return those of some values at the points of the posterior that are of the function."""
        return values

    def predict(self, Z: Matrix, sizes: Vector | None) -> tuple[Vector, Vector]:
        """Return the mean and the variance of new observations at points."""
        mean, variance = self.latent(Z)
        return self.of_latent(mean, variance, sizes)

    def of_latent(self, mean: Vector, variance: Vector, sizes: Vector | None) -> tuple[Vector, Vector]:
        """Return the mean and the variance of observations for latent values with these."""
        return self.likelihood.core().predict(mean, variance, sizes)

    def latent(self, Z: Matrix) -> tuple[Vector, Vector]:
        """Return the mean and the variance of the latent function at points."""
        mean, variance = self.posterior.mean_and_variance(Z)
        return mean[:, 0], np.maximum(variance, 0.0)

    def latent_jointly(self, Z: Matrix) -> tuple[Vector, Matrix]:
        """Return the mean and the covariance of the latent function at points."""
        return self.posterior.mean(Z)[:, 0], self.posterior.covariance(Z)

    def latent_gradients(self, Z: Matrix) -> tuple[Matrix, Matrix]:
        """Return the derivatives of the mean and of the variance of the latent function with respect to the points."""
        return self.posterior.mean_gradient(Z)[..., 0], self.posterior.variance_gradient(Z)

    def quantiles(self, Z: Matrix, levels: Vector, sizes: Vector | None) -> Matrix:
        """Return quantiles of new observations at points, shape (m, levels)."""
        mean, variance = self.latent(Z)
        core = self.likelihood.core()
        found = [core.predict_quantile(np.full(len(mean), level), mean, variance, sizes) for level in levels]
        return np.column_stack(found) if found else np.zeros((len(mean), 0))

    def log_densities(self, Z: Matrix, y: Vector, sizes: Vector | None) -> Vector:
        """Return the log density of observations at new points, each by itself."""
        mean, variance = self.latent(Z)
        self.likelihood.check(y, sizes)
        return np.asarray(self.likelihood.core().moments(y, mean, variance, sizes)[:, 0])

    def draws(self, rng: np.random.RandomState, Z: Matrix, count: int, noisy: bool, sizes: Vector | None) -> Matrix:
        """Return joint draws of observations, or of the latent function, at points."""
        latent = self._joint(rng, Z, count)
        return self.draw(rng, latent, sizes) if noisy else latent

    def _joint(self, rng: np.random.RandomState, Z: Matrix, count: int) -> Matrix:
        return draws_of_normal(rng, self.posterior.mean(Z)[:, 0], self.posterior.covariance(Z), count)

    def draw(self, rng: np.random.RandomState, latent: Matrix, sizes: Vector | None) -> Matrix:
        """Return one draw of an observation for each latent value, shape (m, draws)."""
        core = self.likelihood.core()
        columns = [core.quantile(rng.uniform(np.finfo(float).tiny, 1.0, len(latent)), f, sizes) for f in latent.T]
        return np.column_stack(columns) if columns else np.zeros(latent.shape)

    def band(self, Z: Matrix, level: float, noisy: bool) -> tuple[Vector, Vector]:
        """Return the ends of an interval of probability `level` for observations, or for their mean given the function."""
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        if noisy:
            ends = self.quantiles(Z, tails, None)
        else:
            mean, variance = self.latent(Z)
            latent = mean[:, None] + np.sqrt(variance)[:, None] * stats.norm.ppf(tails)
            ends = np.column_stack([self.likelihood.conditional(f)[0] for f in latent.T])
        return ends.min(axis=1), ends.max(axis=1)

    def evidence_at(self, kernel: Kernel, noise: float, eval_gradient: bool, observed: _core.Observed | None = None) -> Any:
        """Return the approximate log marginal likelihood for another kernel and, on request, its derivatives in theta.

        The inference begins where the last one with `observed` ended, and is kept there.
        """
        X, y = self.posterior.X, self.observations.y
        evidence = _core.likelihood(self.posterior.H.shape[1] > 0, "known")
        try:
            found = _core.evaluate(
                evidence, kernel.build(), X, y, np.full(len(X), noise), self.posterior.H, None, eval_gradient, Workspace(),
                None, False, observed or self.observations.core(),
            )  # fmt: skip
        except np.linalg.LinAlgError:
            return (np.float64(-np.inf), np.zeros(kernel.n_dims)) if eval_gradient else np.float64(-np.inf)
        if not eval_gradient:
            return np.float64(found["value"])
        return np.float64(found["value"]), kernel.in_theta(found["gradient"])

    def spread_of_mean(self, mean: Vector, variance: Vector, sizes: Vector | None) -> Vector:
        """Return the variance of the expectation of an observation given the function, over the function."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        latent = mean[:, None] + np.sqrt(variance)[:, None] * nodes
        size = None if sizes is None else np.repeat(sizes[:, None], len(nodes), axis=1)
        expected = np.asarray(self.likelihood.conditional(latent, size)[0])
        weights = weights / weights.sum()
        return np.asarray((expected**2) @ weights - (expected @ weights) ** 2)

    def distribution(self, Z: Matrix, sizes: Vector | None) -> Mixture | ObservedDistribution:
        """Return the predictive distribution of observations at points."""
        return ObservedDistribution(self.likelihood, *self.latent(Z), sizes)

    def left_out_distribution(self, groups: Indices | None) -> Mixture | ObservedDistribution:
        """Return the predictive distribution of each observation given all others, or other groups."""
        residual, variance, _ = self.posterior.leave_one_out(groups)
        sites = self.posterior.noise - self.noise_of_function
        mean = self.posterior.y[:, 0] - residual[:, 0]
        spread = np.maximum(variance - sites, np.finfo(float).tiny)
        return ObservedDistribution(self.likelihood, mean, spread, self.observations.sizes)

    def left_out(self, groups: Indices | None) -> tuple[Vector, Vector, Vector]:
        """Return the mean and variance of each observation given all others, or other groups, and its log density."""
        found = self.left_out_distribution(groups)
        return found.mean[:, 0], found.std[:, 0] ** 2, found.log_density(self.observations.y[:, None])

    noise_of_function: float = 0.0  # jitter, and what else was given as noise of the latent function


@dataclass(frozen=True)
class LatentFit:
    """The hyperparameters that were found, and the process for them."""

    process: ObservedProcess
    jitter: float


def conditioned_on(
    selection: Selection,
    X: Matrix,
    observations: Observations,
    noise: float,
    trend: Trend,
    approximation: Approximation | None,
) -> LatentFit:
    """Return the latent process of selected hyperparameters, conditioned on observations.

    Warns
    -----
    ConvergenceWarning
        If the inference has not converged.
    """
    kernel = selection.kernel
    if selection.amplitude != 1:
        kernel = ConstantKernel(selection.amplitude) * kernel
    H = trend_matrix(trend, X)
    core = kernel.build()

    def fit(jitter: float) -> tuple[ObservedProcess, bool, int]:
        observed = observations.core()
        with np.errstate(all="ignore"):
            found = _core.evaluate(
                _core.likelihood(H.shape[1] > 0, "known"),
                core,
                X,
                observations.y,
                np.full(len(X), noise + jitter),
                H,
                None,
                False,
                Workspace(),
                None if approximation is None else approximation.core(),
                False,
                observed,
            )
        targets, sites = np.asarray(observed.targets), np.asarray(observed.noise)
        posterior = conditioned(kernel, X, targets[:, None], sites + noise + jitter, trend, approximation)
        process = ObservedProcess(observations, posterior, float(found["value"]), noise + jitter)
        return process, bool(observed.converged), int(observed.steps)

    (process, converged, steps), jitter = with_jitter(selection.jitter, fit)
    if not converged:
        warnings.warn(
            f'inference="{observations.inferred_by}" has not converged in {steps} steps: predictions may be off; the other of '
            '"laplace" and "ep", or another kernel, may help',
            ConvergenceWarning,
            stacklevel=4,
        )
    return LatentFit(process, jitter)
