"""A Gaussian process whose noise has a Gaussian process for its log variance.

The core sees one process on twice as many points: those of the function f, with (1, 0) in two columns more, and those of the
log variance h, with (0, 1). Its kernel is k(x, x') a a' + k_h(x, x') b b', a and b being these columns, so that f and h are
independent before the data are seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.allowed import is_auto
from kernsel._data.kernel import kernel_of
from kernsel._data.trend import Trend, trend_matrix
from kernsel._search import Budget
from kernsel._search.observations import choose_with_likelihood
from kernsel._search.progress import watched
from kernsel._search.selection import Selection
from kernsel.criteria import Criterion
from kernsel.estimators.observed_process import ObservedProcess, conditioned_on
from kernsel.estimators.process_state import ProcessState
from kernsel.estimators.stacking.mixture import Mixture
from kernsel.kernels import Columns, ConstantKernel, Kernel, Linear, Matern, Product, Sum
from kernsel.kernels.amplitudes import with_amplitudes
from kernsel.kernels.automatic import Data
from kernsel.likelihoods import HeteroscedasticGaussian
from kernsel.likelihoods.observations import Observations

__all__ = ["TwoProcesses", "fit_two"]

_MOST = 5000  # points: matrices have twice as many rows
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_SHARES = _WEIGHTS / _WEIGHTS.sum()
_HALVINGS = 60


@dataclass(frozen=True)
class StackedTrend:
    """The functions of a trend for the rows of f, and a constant for those of h."""

    trend: Trend

    def __call__(self, both: Matrix) -> Matrix:
        X, of_f, of_h = both[:, :-2], both[:, -2:-1], both[:, -1:]
        own = trend_matrix(self.trend, X, check=False)
        return np.hstack([own * of_f, of_h])


def stacked(X: Matrix) -> Matrix:
    """Return the points of f and then those of h."""
    n = len(X)
    sides = np.repeat(np.eye(2), n, axis=0)
    return np.hstack([np.vstack([X, X]), sides])


@dataclass(frozen=True)
class TwoProcesses(ObservedProcess):
    """Observations with the posteriors of f and h, both in units of the standard deviation of y.

    Attributes
    ----------
    offset, unit : float
        y = offset + unit times what the processes are of.
    """

    offset: float = 0.0
    unit: float = 1.0

    @property
    def points(self) -> Matrix:
        """The training points."""
        return np.asarray(self.posterior.X[: len(self.observations.y), :-2])

    def centres(self) -> tuple[Matrix, Matrix]:
        """Return points and coefficients of f, see `ObservedProcess`."""
        return self.points, self.of_function(self.posterior.weights)

    def of_function(self, values: Vector) -> Vector:
        """Return those of some values at the points of both processes that are of f, in the unit of y."""
        return np.asarray(self.unit * values[: len(self.observations.y)])

    def latent(self, Z: Matrix) -> tuple[Vector, Vector]:
        """Return the mean and the variance of f at points."""
        mean, variance, *_ = self._both(Z)
        return mean, variance

    def latent_jointly(self, Z: Matrix) -> tuple[Vector, Matrix]:
        """Return the mean and the covariance of f at points."""
        rows = stacked(Z)[: len(Z)]
        return self.offset + self.unit * self.posterior.mean(rows)[:, 0], self.unit**2 * self.posterior.covariance(rows)

    def latent_gradients(self, Z: Matrix) -> tuple[Matrix, Matrix]:
        """Return the derivatives of the mean and of the variance of f with respect to the points."""
        rows, d = stacked(Z)[: len(Z)], Z.shape[1]
        of_mean, of_variance = self.posterior.mean_gradient(rows)[:, :d, 0], self.posterior.variance_gradient(rows)[:, :d]
        return self.unit * of_mean, self.unit**2 * of_variance

    def _both(self, Z: Matrix) -> tuple[Vector, Vector, Vector, Vector]:
        """Return the mean and the variance of f, and those of the log variance of the noise."""
        m = len(Z)
        mean, variance = self.posterior.mean_and_variance(stacked(Z))
        mean, variance = mean[:, 0], np.maximum(variance, 0.0)
        return (
            self.offset + self.unit * mean[:m],
            self.unit**2 * variance[:m],
            mean[m:] + 2 * np.log(self.unit),
            variance[m:],
        )

    def predict(self, Z: Matrix, sizes: Vector | None) -> tuple[Vector, Vector]:
        """Return the mean and the variance of new observations at points."""
        del sizes
        mean, variance, h, of_h = self._both(Z)
        return mean, variance + np.exp(h + 0.5 * of_h)

    def quantiles(self, Z: Matrix, levels: Vector, sizes: Vector | None) -> Matrix:
        """Return quantiles of new observations at points, shape (m, levels), by bisection."""
        del sizes
        mean, spreads = self._mixture(*self._both(Z))
        largest = spreads.max(axis=1)
        found = np.empty((len(mean), len(levels)))
        for k, level in enumerate(levels):
            low, high = (mean + side * largest * (1 - special.ndtri(min(level, 1 - level))) for side in (-1, 1))
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                below = special.ndtr((middle - mean)[:, None] / spreads) @ _SHARES < level
                low, high = np.where(below, middle, low), np.where(below, high, middle)
            found[:, k] = 0.5 * (low + high)
        return found

    def log_densities(self, Z: Matrix, y: Vector, sizes: Vector | None) -> Vector:
        """Return the log density of observations at new points, each by itself."""
        del sizes
        return self._densities(y, *self._both(Z))

    def _densities(self, y: Vector, mean: Vector, variance: Vector, h: Vector, of_h: Vector) -> Vector:
        _, spreads = self._mixture(mean, variance, h, of_h)
        logs = -0.5 * ((y - mean)[:, None] / spreads) ** 2 - np.log(spreads) - 0.5 * np.log(2 * np.pi)
        return np.asarray(special.logsumexp(logs, axis=1, b=_SHARES))

    @staticmethod
    def _mixture(mean: Vector, variance: Vector, h: Vector, of_h: Vector) -> tuple[Vector, Matrix]:
        """Return the mean of observations and their standard deviation for each node of h."""
        noise = np.exp(h[:, None] + np.sqrt(of_h)[:, None] * _NODES)
        return mean, np.sqrt(variance[:, None] + noise)

    def noise(self, Z: Matrix) -> Vector:
        """Return the expected variance of the noise at points."""
        _, _, h, of_h = self._both(Z)
        return np.exp(h + 0.5 * of_h)

    def draws(self, rng: np.random.RandomState, Z: Matrix, count: int, noisy: bool, sizes: Vector | None) -> Matrix:
        """Return joint draws of observations, or of f, at points."""
        del sizes
        m, both = len(Z), stacked(Z)
        latent = self._joint(rng, both, count)
        f = self.offset + self.unit * latent[:m]
        if not noisy:
            return f
        return np.asarray(f + self.unit * np.exp(0.5 * latent[m:]) * rng.standard_normal((m, count)))

    def spread_of_mean(self, mean: Vector, variance: Vector, sizes: Vector | None) -> Vector:
        """Return the variance of the mean of observations given f, which is that of f."""
        del mean, sizes
        return variance

    def distribution(self, Z: Matrix, sizes: Vector | None) -> Mixture:
        """Return the predictive distribution of observations at points: normal ones for each node of h, with its weight."""
        del sizes
        return self._distribution(*self._both(Z))

    def _distribution(self, mean: Vector, variance: Vector, h: Vector, of_h: Vector) -> Mixture:
        _, spreads = self._mixture(mean, variance, h, of_h)
        return Mixture(_SHARES, np.tile(mean, (len(_SHARES), 1))[:, :, None], spreads.T[:, :, None])

    def left_out_distribution(self, groups: Indices | None) -> Mixture:
        """Return the predictive distribution of each observation given all others, or other groups."""
        return self._distribution(*self._both_left_out(groups))

    def left_out(self, groups: Indices | None) -> tuple[Vector, Vector, Vector]:
        """Return the mean and variance of each observation given all others, or other groups, and its log density."""
        mean, variance, h, of_h = self._both_left_out(groups)
        densities = self._densities(self.observations.y, mean, variance, h, of_h)
        return mean, variance + np.exp(h + 0.5 * of_h), densities

    def _both_left_out(self, groups: Indices | None) -> tuple[Vector, Vector, Vector, Vector]:
        """Return the mean and the variance of f at each point given all others, and those of the log variance of the noise."""
        n = len(self.observations.y)
        together = np.arange(n) if groups is None else groups
        residual, variance, _ = self.posterior.leave_one_out(np.concatenate([together, together]))
        mean = self.posterior.y[:, 0] - residual[:, 0]
        spread = np.maximum(variance - (self.posterior.noise - self.noise_of_function), np.finfo(float).tiny)
        return (
            self.offset + self.unit * mean[:n],
            self.unit**2 * spread[:n],
            mean[n:] + 2 * np.log(self.unit),
            spread[n:],
        )

    def band(self, Z: Matrix, level: float, noisy: bool) -> tuple[Vector, Vector]:
        """Return the ends of an interval of probability `level` for observations, or for f."""
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        if noisy:
            low, high = self.quantiles(Z, tails, None).T
            return low, high
        mean, variance = self.latent(Z)
        half = np.sqrt(variance) * special.ndtri(tails[1])
        return mean - half, mean + half


def fit_two(model: Any, kernel: Kernel, X: Matrix, y: Vector) -> ProcessState:
    """Return the state of a Gaussian process that is fitted together with the log variance of its noise."""
    n = len(X)
    if not is_auto(model.approximation) and model.approximation is not None:
        raise ValueError("approximation: expected None with HeteroscedasticGaussian, whose two processes are exact")
    if n > _MOST:
        raise ValueError(f"X: expected at most {_MOST} points with HeteroscedasticGaussian, whose fits are exact, got {n}")
    if model.inference == "ep":
        raise ValueError('inference: expected "laplace" with HeteroscedasticGaussian, which has two latent functions')
    likelihood: HeteroscedasticGaussian = model.likelihood_given()
    offset, unit = float(np.mean(y)), float(np.std(y)) or 1.0
    scaled = (y - offset) / unit
    both = _both_kernels(kernel, _noise_kernel(likelihood), X, scaled, model.feature_names())
    observations = Observations(likelihood, np.concatenate([scaled, scaled]), None, "laplace")
    trend = StackedTrend(model._trend())
    points = stacked(X)
    criterion: Criterion = model._criterion()
    if model.optimizer is None:
        selection = Selection(both, np.nan, 1e-10, criterion, np.nan, likelihood=likelihood)
    else:
        with watched(model, model.verbose, model.max_evaluations) as tell:
            selection, _ = choose_with_likelihood(
                criterion,
                both,
                points,
                observations,
                trend=trend,
                n_restarts=model.n_restarts_optimizer,
                random_state=model.random_state,
                budget=Budget(model.max_evaluations, np.inf if model.max_seconds is None else model.max_seconds, tell),
                same_for_any_points=False,
            )
    fit = conditioned_on(selection, points, observations, 0.0, trend, None)
    own, of_noise = (_inside(part) for part in _parts(fit.process.posterior.kernel))
    shift = n * float(np.log(unit))
    found = replace(likelihood, noise_kernel=of_noise)
    process = TwoProcesses(
        Observations(found, y, None, "laplace"),
        fit.process.posterior,
        fit.process.value - shift,
        fit.process.noise_of_function,
        offset=offset,
        unit=unit,
    )
    selection = replace(
        selection,
        kernel=own,
        likelihood=found,
        value=selection.value - shift,
        of_starts=selection.of_starts - shift,
        not_sought=model._not_sought(criterion, kernel),
    )
    return ProcessState(
        posterior=process.posterior,
        kernel=own,
        selection=selection,
        criterion_value=process.value if model.optimizer is None else selection.value,
        noise=0.0,
        alpha=np.zeros(()),
        jitter=fit.jitter,
        outliers=np.zeros(0, dtype=np.intp),
        offset=np.zeros(1),
        factor=np.ones(1),
        one_output=True,
        restricted=True,
        groups=None,
        observed=process,
    )


def _noise_kernel(likelihood: HeteroscedasticGaussian) -> Kernel:
    given = likelihood.noise_kernel
    usual = ConstantKernel("auto") * Matern("auto", nu=2.5)
    kernel = kernel_of(given, auto=usual, none=usual)
    return with_amplitudes(kernel) if isinstance(given, str) else kernel


def _both_kernels(own: Kernel, of_noise: Kernel, X: Matrix, y: Vector, names: list[str] | None) -> Kernel:
    """Return the kernel of the points of both processes; what is "auto" is set from the points of one."""
    d = X.shape[1]
    columns = list(range(d))

    def side(kernel: Kernel, targets: Vector, column: int) -> Kernel:
        resolved = kernel.resolve(Data(X, targets, None, names)).on_points(X)[0]
        return Columns(resolved, columns) * Columns(Linear(1.0, "fixed"), [column])

    return side(own, y, d) + side(of_noise, y, d + 1)


def _parts(kernel: Kernel) -> list[Kernel]:
    """Return the operands of a sum or product."""
    assert isinstance(kernel, Sum | Product)
    return list(kernel.operands())


def _inside(side: Kernel) -> Kernel:
    """Return the kernel of one process, from its product with the column that tells its rows."""
    own = _parts(side)[0]
    assert isinstance(own, Columns)
    return own.kernel
