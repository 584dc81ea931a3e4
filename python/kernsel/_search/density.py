"""The posterior density of the hyperparameters of a kernel, the noise, and the parameters of a likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import optimize

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel._sample.coordinates import Coordinates
from kernsel._search.core_search import Budget, core_search
from kernsel._search.layout import Layout, has_values
from kernsel._search.selection import Selection
from kernsel.criteria import Evidence
from kernsel.criteria.base import Given
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.likelihoods import Likelihood
from kernsel.likelihoods.observations import Observations
from kernsel.likelihoods.parameter import LikelihoodParameter

__all__ = ["HyperparameterDensity", "density_of_hyperparameters"]

_SPREAD = 1.0  # of the logarithms of length scales around their common value, unless it is given
_WIDTH = 2.0  # of what is expected of the logarithms of the parameters of a likelihood
_STEP = 1e-3  # of differences of the gradient
_FLATTEST = 0.1  # the least curvature that is taken for granted: nothing is expected more widely than within a factor of e^3


class _Sampled(Evidence):
    """The integrand of the evidence; of observations, with the approximate marginal likelihood for the exact one."""

    def of_observations(self, given: Given, *, has_trend: bool) -> _core.Criterion:
        """Return the approximate marginal likelihood, in which the coefficients of a trend have a flat prior."""
        del given
        return _core.likelihood(has_trend, "known")


@dataclass(frozen=True)
class HyperparameterDensity:
    """The posterior density of numbers x: logarithms of hyperparameters, of a noise variance, and of a likelihood's parameters.

    It is the marginal likelihood, in which coefficients of a trend are integrated out, times the density of what is expected of
    the numbers, see :class:`kernsel.criteria.Evidence`. The likelihood's parameters are expected near the start that it
    proposes for the data, within a factor of e^2. It is zero beyond the bounds.

    Attributes
    ----------
    search : Search of the core
    of_one : Search of the core
        The same with one of the points, for what is expected of the numbers without the data.
    layout : Layout
    finds_noise : bool
    observations : Observations or None
    start : ndarray of shape (p,)
        The numbers that a search has found.
    """

    search: _core.Search
    of_one: _core.Search
    layout: Layout
    finds_noise: bool
    observations: Observations | None
    start: Vector

    @property
    def names(self) -> list[str]:
        """A name for each number, all different."""
        names = [*self.layout.names(), *["noise"] * self.finds_noise, *(p.name for p in self._free_parameters)]
        return [name if names.count(name) == 1 else f"{name}_{names[:k].count(name) + 1}" for k, name in enumerate(names)]

    def numbers(self, x: Matrix) -> Matrix:
        """Return the hyperparameters themselves, of the same shape (..., p), whose logarithms most of x are."""
        of_theta = [h.log for h, _ in self.layout.free for _ in range(h.n_elements)]
        logs = np.array([*of_theta, *[True] * self.finds_noise, *(p.log for p in self._free_parameters)], dtype=bool)
        return np.where(logs, np.exp(np.where(logs, x, 0.0)), x)

    def __call__(self, x: Vector) -> tuple[float, Vector]:
        """Return the logarithm of the density up to a constant, and its gradient; -inf where it is zero."""
        lower, upper = self.search.bounds
        if not ((lower <= x) & (x <= upper)).all():
            return -np.inf, np.zeros(len(x))
        try:
            trial = self.search.evaluate(x.tolist(), 1)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros(len(x))
        value, gradient = -trial["value"], -trial["gradient"]
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return -np.inf, np.zeros(len(x))
        expected, slopes = self._expected_of_likelihood(x)
        return value + expected, gradient + slopes

    def log_prior(self, x: Vector) -> float:
        """Return the logarithm of the density of what is expected, without the likelihood; -inf beyond the bounds."""
        lower, upper = self.search.bounds
        if not ((lower <= x) & (x <= upper)).all():
            return -np.inf
        trial = self.of_one.evaluate(x[: len(x) - len(self._free_parameters)].tolist(), 0)
        theta = x[: len(self.layout.theta)].tolist()
        own = self.layout.log_prior_of_logarithms(theta)[0] if self.layout.has_priors else 0.0  # a part of the criterion
        return float(-trial["value"] - trial["criterion"] + own + self._expected_of_likelihood(x)[0])

    def mode(self) -> tuple[Vector, Matrix]:
        """Return the maximum of the density near the start, and the inverse of its negative second derivatives there."""
        lower, upper = self.search.bounds
        if not len(self.start):
            return self.start, np.zeros((0, 0))

        def downhill(x: Vector) -> tuple[float, Vector]:
            value, gradient = self(x)
            return (-value, -gradient) if np.isfinite(value) else (1e30, np.zeros(len(x)))

        start = np.clip(self.start, lower, upper)
        limits = optimize.Bounds(lower, upper)
        x = optimize.minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": 200}).x
        slopes = []
        for k in range(len(x)):
            moved = x.copy()
            moved[k] += -_STEP if x[k] + _STEP > upper[k] else _STEP
            slopes.append((self(x)[1] - self(moved)[1]) / (moved[k] - x[k]))
        values, vectors = np.linalg.eigh((np.array(slopes) + np.array(slopes).T) / 2)
        return x, (vectors / np.maximum(values, _FLATTEST)) @ vectors.T

    def coordinates(self, mode: Vector) -> Coordinates:
        """Return coordinates without bounds, in which the tail of the noise, expected to be a Cauchy variable, is lighter."""
        lower, upper = self.search.bounds
        heavy = np.zeros(len(mode), dtype=bool)
        heavy[len(self.layout.theta) : len(self.layout.theta) + self.finds_noise] = True
        return Coordinates(lower, upper, mode, heavy)

    def selection(self, x: Vector, like: Selection) -> Selection:
        """Return a selection that has the hyperparameters x, and in all else is like another one."""
        count = len(self.layout.theta)
        return replace(
            like,
            kernel=self.layout.kernel_at(x[:count]),
            noise=float(np.exp(x[count])) if self.finds_noise else like.noise,
            amplitude=1.0,
            scale=1.0,
            likelihood=self._likelihood(x),
        )

    def _likelihood(self, x: Vector) -> Likelihood | None:
        if self.observations is None:
            return None
        free = iter(x[len(self.layout.theta) :])
        return self.observations.likelihood.with_values([p.value if p.fixed else next(free) for p in self._parameters])

    def _expected_of_likelihood(self, x: Vector) -> tuple[float, Vector]:
        """Return the log density of what is expected of the parameters of the likelihood, and its gradient."""
        slopes = np.zeros(len(x))
        middle = np.array([p.value for p in self._free_parameters])
        if not len(middle):
            return 0.0, slopes
        z = (x[-len(middle) :] - middle) / _WIDTH
        slopes[-len(middle) :] = -z / _WIDTH
        return float(-0.5 * z @ z - len(z) * (np.log(_WIDTH) + 0.5 * np.log(2 * np.pi))), slopes

    @cached_property
    def _parameters(self) -> list[LikelihoodParameter]:
        """All parameters of the likelihood, as it proposes them for the data."""
        of = self.observations
        return [] if of is None else of.likelihood.parameters(of.y, of.sizes)

    @cached_property
    def _free_parameters(self) -> list[LikelihoodParameter]:
        return [p for p in self._parameters if not p.fixed]


def density_of_hyperparameters(
    kernel: Kernel,
    X: Matrix,
    y: Matrix,
    found: Selection,
    *,
    noise: float | Vector = 0.0,
    finds_noise: bool = False,
    observations: Observations | None = None,
    trend: Trend = None,
    shrinkage: float | str | None = None,
    names: list[str] | None = None,
) -> HyperparameterDensity:
    """Return the posterior density of hyperparameters, given data and what a search for their best values has found.

    Parameters
    ----------
    kernel : Kernel
        As the search was given it.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, m)
    found : Selection
    noise : float or ndarray of shape (n,)
        The known noise variances.
    finds_noise : bool
        Whether a noise variance is one of the numbers.
    observations : Observations, optional
        For a likelihood, as the search was given it; y are then its observations.
    trend : Trend
    shrinkage : float, "auto" or None
        The spread of length scales that is expected, see :class:`kernsel.GaussianProcessRegressor`.
    names : list of str, optional
        The names of the columns.
    """
    data = Data(X, y if observations is None else observations.rough, None, names, anchors=[])
    layout = Layout(kernel.resolve(data).on_points(X)[0])
    known = np.atleast_1d(np.asarray(noise, dtype=np.float64))
    spread = found.spread if np.isfinite(found.spread) else _SPREAD
    options: dict[str, object] = {
        "profile": False,
        "expects_all": True,
        "same_for_any_points": False,
        "has_values": has_values(kernel),
        "spreads": [] if shrinkage is None else [spread if isinstance(shrinkage, str) else float(shrinkage)],
    }
    parameters = []
    if observations is not None:
        parameters = observations.likelihood.parameters(observations.y, observations.sizes)
        options["observed"] = observations.core()
        options["parameters"] = [(p.value, p.lower, p.upper, not p.fixed) for p in parameters]
    expected = {name: value for name, value in options.items() if name not in ("observed", "parameters")}

    def searched(
        targets: Matrix, rows: Indices, H: Matrix, variances: Vector, jitter: float, how: dict[str, object]
    ) -> _core.Search:
        return core_search(
            _Sampled(), layout, data, targets, rows, H, known=variances, finds_noise=finds_noise, jitter=jitter,
            budget=Budget(), options=how,
        )  # fmt: skip

    everything, first = np.arange(len(X)), np.arange(1)
    of_all = known if known.any() else np.zeros(0)
    search = searched(y, everything, trend_matrix(trend, X), of_all, found.jitter, options)
    of_one = searched(np.asarray(data.y), first, np.zeros((len(X), 0)), np.ones(1), 0.0, expected)
    best = [Layout(found.kernel).theta]
    if finds_noise:
        best.append(np.log([max(found.noise * found.scale, np.finfo(float).tiny)]))
    if found.likelihood is not None and observations is not None:
        chosen = found.likelihood.parameters(observations.y, observations.sizes)
        best.append(np.array([p.value for p in chosen if not p.fixed]))
    return HyperparameterDensity(search, of_one, layout, finds_noise, observations, np.concatenate(best))
