"""Targets that are normal after a transform: logarithms, logits, Box-Cox and Yeo-Johnson powers, normal scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.likelihoods.parameter import Bounds, LikelihoodParameter, Number, check_number

__all__ = ["BoxCox", "LogNormal", "LogitNormal", "NormalScores", "Warped", "YeoJohnson"]

_MOST_POWER = 2.0  # up to it, and from 0 on, powers of Yeo and Johnson map onto all numbers, and y has a mean
_FEWEST_KNOTS, _MOST_KNOTS = 3, 9
_OUTER = 0.05  # the level of the first knot and, from above, of the last

Knots: TypeAlias = Sequence[tuple[float, float, float]] | Literal["auto"]


class Warped(BuiltIn):
    """The base class of likelihoods of observations y with g(y) = f + noise, where g is an increasing function.

    The density of y has the factor g'(y), so that likelihoods and densities of points that are left out are those of y, and
    compare with those of other transforms and of none. Laplace's approximation is exact: log p is a parabola in f. g has a
    unit in which the mean of log g' over the training targets is zero: f then has about the unit of y, and restricted
    likelihoods, which depend on that unit, compare, too.
    """

    standard: ClassVar[dict[str, float]] = {"noise": 1.0}

    def __post_init__(self) -> None:
        super().__post_init__()
        if "unit" in vars(self):
            check_number("unit", vars(self)["unit"])

    @abstractmethod
    def with_units_of(self, y: ArrayLike) -> Self:
        """Return the likelihood with the units and places that are "auto" read off observations."""

    def warp(self, y: ArrayLike) -> Vector:
        """Return g(y)."""
        return self.rough(y)

    def unwarp(self, z: ArrayLike) -> Vector:
        """Return the y of g(y) = z."""
        return self.quantiles(0.5, z)


class _Power(Warped):
    """A transform with a power from 0 to 2, which is searched for as it is, and not by its logarithm."""

    power: Number
    power_bounds: Bounds

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.power != "auto" and not _is_power(self.power):
            raise ValueError(f'power: expected a number from 0 to 2, or "auto", got {self.power!r}')
        bounds: Any = self.power_bounds
        if isinstance(bounds, str) and bounds in ("auto", "fixed"):
            return
        if np.shape(bounds) != (2,) or not all(map(_is_power, bounds)) or not bounds[0] <= bounds[1]:
            raise ValueError(f'power_bounds: expected two numbers from 0 to 2, "auto" or "fixed", got {bounds!r}')

    def _as_told(self, name: str, value: float, lower: float, upper: float, log: bool) -> LikelihoodParameter:
        if name != "power":
            return super()._as_told(name, value, lower, upper, log)
        if not isinstance(self.power_bounds, str):
            lower, upper = map(float, self.power_bounds)
        value = min(max(value, lower), upper) if self.power == "auto" else float(self.power)
        return LikelihoodParameter(name, value, min(lower, value), max(upper, value), log, self.power_bounds == "fixed")

    def with_values(self, values: Sequence[float]) -> Self:
        """Return the same likelihood with the logarithm of another noise, and another power."""
        return replace(super().with_values(values[:1]), power=float(values[1]))  # type: ignore[type-var]

    @property
    def _known_power(self) -> float:
        return 1.0 if self.power == "auto" else float(self.power)


@dataclass(frozen=True, repr=False)
class LogNormal(Warped):
    """Positive y whose logarithm is normal: unit log(y / unit) = f + noise.

    Errors are in proportion to y: by about ``noise**0.5 / unit`` of it.

    Parameters
    ----------
    noise : float or "auto"
        The variance of the errors of g(y).
    unit : float or "auto"
        "auto" is the geometric mean of the observations.
    noise_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import LogNormal
    >>> LogNormal(noise=0.04, unit=1.0).quantiles([0.05, 0.5, 0.95], f=0.0).round(3)
    array([0.72, 1.  , 1.39])
    """

    noise: Number = "auto"
    unit: Number = "auto"
    noise_bounds: Bounds = "auto"

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.log_normal(numbers[0], _number(self.unit, 1.0))

    def with_units_of(self, y: ArrayLike) -> Self:
        return replace(self, unit=_geometric_mean(y)) if self.unit == "auto" else self


@dataclass(frozen=True, repr=False)
class LogitNormal(Warped):
    """Numbers y between two limits whose logit is normal: unit log((y - lower) / (upper - y)) = f + noise.

    Parameters
    ----------
    lower, upper : float
        The limits, which y does not reach.
    noise : float or "auto"
        The variance of the errors of g(y).
    unit : float or "auto"
        "auto" is the geometric mean of (y - lower) (upper - y) / (upper - lower) over the observations.
    noise_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> from kernsel.likelihoods import LogitNormal
    >>> LogitNormal(noise=1.0, unit=1.0).quantiles([0.05, 0.5, 0.95], f=0.0).round(3)
    array([0.162, 0.5  , 0.838])
    """

    lower: float = 0.0
    upper: float = 1.0
    noise: Number = "auto"
    unit: Number = "auto"
    noise_bounds: Bounds = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (_is_number(self.lower) and _is_number(self.upper) and self.lower < self.upper):
            raise ValueError(f"lower, upper: expected finite numbers, lower < upper, got {self.lower!r}, {self.upper!r}")

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.logit_normal(numbers[0], _number(self.unit, 1.0), float(self.lower), float(self.upper))

    def with_units_of(self, y: ArrayLike) -> Self:
        values = np.asarray(y, dtype=np.float64)
        inside = (values - self.lower) * (self.upper - values) / (self.upper - self.lower)
        return replace(self, unit=_geometric_mean(inside)) if self.unit == "auto" else self


@dataclass(frozen=True, repr=False)
class BoxCox(_Power):
    """Positive y of which a power is normal: unit ((y / unit)^power - 1) / power = f + noise, the logarithm for power 0.

    The power is found together with the hyperparameters. 1 is no transform, 0 :class:`LogNormal`. For a power above 0 the
    density of y leaves out what the normal distribution has below g(0), so that likelihoods are a little too small; predictions
    take it for y = 0.

    Parameters
    ----------
    power : float or "auto"
        From 0 to 2. Negative powers, for which y has no mean, are not looked for.
    noise : float or "auto"
        The variance of the errors of g(y).
    unit : float or "auto"
        "auto" is the geometric mean of the observations.
    power_bounds, noise_bounds : pair of floats, "auto" or "fixed"

    References
    ----------
    Box and Cox, "An analysis of transformations", Journal of the Royal Statistical Society B 26 (1964).

    Examples
    --------
    >>> from kernsel.likelihoods import BoxCox
    >>> BoxCox(power=0.5, noise=0.04, unit=1.0).quantiles([0.05, 0.5, 0.95], f=0.0).round(3)
    array([0.698, 1.   , 1.356])
    """

    power: Number = "auto"
    noise: Number = "auto"
    unit: Number = "auto"
    power_bounds: Bounds = "auto"
    noise_bounds: Bounds = "auto"

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.box_cox(numbers[0], _number(self.unit, 1.0), self._known_power)

    def with_units_of(self, y: ArrayLike) -> Self:
        return replace(self, unit=_geometric_mean(y)) if self.unit == "auto" else self


@dataclass(frozen=True, repr=False)
class YeoJohnson(_Power):
    """Real y of which a power of Yeo and Johnson is normal, g(y) = f + noise.

    With u = (y - location) / unit and p the power, ::

        g(y) = unit ((1 + u)^p - 1) / p for u >= 0,    -unit ((1 - u)^(2 - p) - 1) / (2 - p) for u < 0.

    The power is found together with the hyperparameters: 1 is no transform, less draws large values together (y is skewed to
    the right), more draws small ones together.

    Parameters
    ----------
    power : float or "auto"
        From 0 to 2, for which g maps onto all numbers.
    noise : float or "auto"
        The variance of the errors of g(y).
    unit, location : float or "auto"
        "auto" is a robust standard deviation of the observations (1.48 times the median distance from their median), and the
        place where the mean of log g' over them is zero for any power, which is in their middle.
    power_bounds, noise_bounds : pair of floats, "auto" or "fixed"

    References
    ----------
    Yeo and Johnson, "A new family of power transformations to improve normality or symmetry", Biometrika 87 (2000).

    Examples
    --------
    >>> from kernsel.likelihoods import YeoJohnson
    >>> YeoJohnson(power=0.5, noise=1.0, unit=1.0, location=0.0).quantiles([0.05, 0.5, 0.95], f=0.0).round(3)
    array([-1.291,  0.   ,  2.321])
    """

    power: Number = "auto"
    noise: Number = "auto"
    unit: Number = "auto"
    location: Number = "auto"
    power_bounds: Bounds = "auto"
    noise_bounds: Bounds = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.location != "auto" and not _is_number(self.location):
            raise ValueError(f'location: expected a finite number or "auto", got {self.location!r}')

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.yeo_johnson(numbers[0], _number(self.unit, 1.0), _number(self.location, 0.0), self._known_power)

    def with_units_of(self, y: ArrayLike) -> Self:
        from scipy.optimize import brentq

        values = np.asarray(y, dtype=np.float64)
        unit = _robust_spread(values) if self.unit == "auto" else float(self.unit)
        if self.location != "auto":
            return replace(self, unit=unit)

        def mean_of_logs(location: float) -> float:
            u = (values - location) / unit
            return float(np.mean(np.sign(u) * np.log1p(np.abs(u))))

        ends = float(values.min()), float(values.max())
        return replace(self, unit=unit, location=float(brentq(mean_of_logs, *ends)) if ends[0] < ends[1] else ends[0])


@dataclass(frozen=True, repr=False)
class NormalScores(Warped):
    """Real y whose ranks are those of normal numbers: g maps quantiles of the observations to those of a normal distribution.

    g is an increasing spline through at most nine quantiles, from that of level 5 % to that of 95 %, with slopes that are
    harmonic means of those of the lines beside; straight lines continue it. It is for distributions that no power makes normal,
    such as those with two peaks. It is taken from the targets, whatever the points are, and not found together with the
    hyperparameters: likelihoods, which do not count its knots, are too large beside those of other transforms, above all with
    less than some hundred observations.

    Parameters
    ----------
    noise : float or "auto"
        The variance of the errors of g(y).
    knots : sequence of triples of floats, or "auto"
        y, g(y) and g'(y) of each, two at least, all increasing and with positive slopes. "auto" is taken from the observations.
    noise_bounds : pair of floats, "auto" or "fixed"

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from kernsel.likelihoods import NormalScores
    >>> y = np.random.default_rng(0).gamma(1.0, size=1000)
    >>> scores = NormalScores(noise=1.0).with_units_of(y).warp(y)
    >>> print(round(stats.skew(y), 1), round(stats.skew(scores), 1))
    2.2 0.4
    """

    noise: Number = "auto"
    knots: Knots = "auto"
    noise_bounds: Bounds = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.knots, str) and self.knots == "auto":
            return
        try:
            table = np.asarray(self.knots, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.zeros(0)
        right = table.ndim == 2 and table.shape[0] >= 2 and table.shape[1] == 3 and np.isfinite(table).all()
        if not right or not (np.diff(table[:, :2], axis=0) > 0).all() or not (table[:, 2] > 0).all():
            raise ValueError(
                'knots: expected "auto", or at least two triples of y, g(y) and g\'(y), finite and increasing, with positive '
                f"slopes, got {self.knots!r:.200}"
            )
        object.__setattr__(self, "knots", tuple(map(tuple, table.tolist())))

    def core_with(self, *numbers: float) -> _core.Likelihood:
        table = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]) if isinstance(self.knots, str) else np.asarray(self.knots)
        return _core.spline_normal(numbers[0], *table.T.tolist())

    def with_units_of(self, y: ArrayLike) -> Self:
        from scipy.special import ndtri

        if not isinstance(self.knots, str):
            return self
        values = np.sort(np.asarray(y, dtype=np.float64))
        different, counts = np.unique(values, return_counts=True)
        if len(different) < _FEWEST_KNOTS:
            raise ValueError(
                f"y: normal scores are of {_FEWEST_KNOTS} different observations at least, got {len(different)}; a likelihood "
                "of classes or counts is for few values"
            )
        score = ndtri((np.cumsum(counts) - 0.5 * counts) / len(values))
        count = min(max(int(len(values) ** 0.5), _FEWEST_KNOTS), _MOST_KNOTS)
        lowest, highest = np.clip(ndtri([_OUTER, 1 - _OUTER]), score[0], score[-1])
        z = np.linspace(float(lowest), float(highest), count)
        at, kept = np.unique(np.interp(z, score, different), return_index=True)
        table = np.column_stack([at, z[kept], _increasing_slopes(at, z[kept])])
        raw = replace(self, knots=tuple(map(tuple, table.tolist())))
        scale = float(np.exp(-np.mean(raw._log_slopes(values))))
        return replace(self, knots=tuple(map(tuple, (table * [1.0, scale, scale]).tolist())))

    def _log_slopes(self, y: Vector) -> Vector:
        """Return log g'(y): log p of y at f = g(y), without that of normal errors."""
        normal = replace(self, noise=1.0)
        return normal.log_density(y, normal.warp(y)) + 0.5 * float(np.log(2 * np.pi))


def _geometric_mean(y: ArrayLike) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(y, dtype=np.float64)))))


def _robust_spread(y: Vector) -> float:
    """Return a standard deviation of most values; if they are all equal, 1."""
    near = float(np.median(np.abs(y - np.median(y)))) / 0.6744897501960817
    return near or float(np.std(y)) or 1.0


def _increasing_slopes(x: Vector, z: Vector) -> Vector:
    """Return the slopes of an increasing spline through points: harmonic means of those beside, of lines at the ends."""
    of_lines = np.diff(z) / np.diff(x)
    between = 2 / (1 / of_lines[1:] + 1 / of_lines[:-1])
    return np.concatenate([of_lines[:1], between, of_lines[-1:]])


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def _is_power(value: Any) -> bool:
    return _is_number(value) and 0 <= float(value) <= _MOST_POWER


def _number(value: Number, standard: float) -> float:
    return standard if value == "auto" else float(value)
