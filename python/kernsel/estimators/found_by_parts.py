"""The search for hyperparameters by nearest neighbours, for rows that are read in blocks: each evaluation sees all rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend
from kernsel._solve.by_parts import ByParts, PartsOfSpace, Sizes
from kernsel._solve.passes import Passes
from kernsel.approximations import Vecchia
from kernsel.criteria import Criterion, Likelihood
from kernsel.kernels import Kernel

__all__ = ["FoundByParts", "find_by_parts"]

_TOLERANCE = 0.01  # of the value, in nats, as in the search for rows in memory
_MOST_REFRESHES = 2  # of the neighbours, as long as others become near


@dataclass(frozen=True)
class FoundByParts:
    """What a search has found.

    Attributes
    ----------
    kernel : Kernel
    noise : float
        The variance of the noise of all rows.
    found : ByParts
        The criterion there.
    n_evaluations : int
    refreshes : int
        How often neighbours were chosen anew.
    ended : str
        As in `Selection`.
    """

    kernel: Kernel
    noise: float
    found: ByParts
    n_evaluations: int
    refreshes: int
    ended: str


def find_by_parts(
    criterion: Criterion,
    kernel: Kernel,
    passes: Passes,
    approximation: Vecchia,
    *,
    noise: float,
    least_noise: float | None = None,
    trend: Trend = None,
    most: int = 1000,
    seconds: float = np.inf,
    sizes: Sizes | None = None,
) -> FoundByParts:
    """Find the kernel and the noise for which a criterion of all rows is best, from those that some rows have told.

    The steps are those of the search for rows in memory, in this process: for likelihoods by Newton's method with the expected
    information, a sum over rows, and for other criteria by a quasi-Newton method that begins with it. The information is that
    for a known scale. For criteria that do not depend on the scale it differs from theirs by a part that belongs to changes of
    the scale alone, along which these have no slope, so that steps are the same but for such changes.

    Neighbours remain while it descends, since values with others could not be compared, and are chosen anew where it ends if
    the kernel's length scales have changed much.

    Parameters
    ----------
    criterion : Criterion
    kernel : Kernel
        With its hyperparameters' bounds. Its values are the start.
    passes : Passes
    approximation : Vecchia
    noise : float
        The variance of the noise of all rows.
    least_noise : float or None
        What of it is known and no unknown; None if all is.
    trend : str, callable or None
    most : int
        The most evaluations.
    seconds : float
        After which no evaluation begins.
    sizes : Sizes, optional
        Of the parts.
    """
    finds_noise = least_noise is not None and noise > least_noise
    known = float(least_noise or 0.0) if finds_noise else noise
    unit = 0.0
    seen: list[tuple[Vector, ByParts]] = []

    def at(x: Vector) -> tuple[Kernel, float]:
        theta, unknown = (x[:-1], float(np.exp(x[-1]))) if finds_noise else (x, 0.0)
        return kernel.clone_with_theta(theta), known + unknown

    def objective(x: Vector, _: bool) -> tuple[float, Vector, Vector] | None:
        nonlocal unit
        there, variance = at(x)
        try:
            found = parts.evaluate(there, noise=variance, gradient=True, information=True)
        except np.linalg.LinAlgError:
            return None
        seen.append((x.copy(), found))
        assert found.gradient is not None
        assert found.information is not None
        value, slopes = criterion.with_prior(there, found.value, there.in_theta(found.gradient))
        information = _in_theta(there, found.information[:-1, :-1])
        slopes = np.asarray(slopes)
        if finds_noise:
            factor = variance - known
            along = there.in_theta(found.information[:-1, -1]) * factor
            corner = found.information[-1, -1] * factor**2
            information = np.block([[information, along[:, None]], [along[None], corner]])
            slopes = np.append(slopes, (found.noise_gradient or 0.0) * factor)
        if unit == 0.0:  # nats, as likelihoods have them, or as many for a loss whose logarithm is minus a mean of these
            unit = -1.0 if criterion.larger_is_better else 0.5 * found.rows / max(abs(value), np.finfo(float).tiny)
        return unit * value, unit * slopes, information.ravel()

    x, bounds = np.asarray(kernel.theta, dtype=np.float64), np.asarray(kernel.bounds, dtype=np.float64).reshape(-1, 2)
    if finds_noise:
        x = np.append(x, np.log(noise - known))
        bounds = np.vstack([bounds, x[-1] + [-10.0, 10.0]])
    x, (lower, upper) = np.clip(x, *bounds.T), bounds.T.tolist()
    began, refreshes, ended = time.perf_counter(), 0, "converged"
    with PartsOfSpace(criterion, passes, approximation, trend, sizes) as parts:
        if not len(x):
            return FoundByParts(kernel, noise, parts.evaluate(kernel, noise=noise, gradient=False), 1, 0, ended)
        while True:
            result = _core.minimize(
                objective,
                None,
                lower,
                upper,
                [x.tolist()],
                {
                    "evaluations": max(most - len(seen), 1),
                    "seconds": max(seconds - (time.perf_counter() - began), 0.0),
                    "coarse": _TOLERANCE,
                    "fine": _TOLERANCE,
                    "contenders": 1,
                    "curvature": [],
                    "points": parts.rows,
                    "progress": None,
                    "newton": isinstance(criterion, Likelihood),
                },
            )
            if result["interrupt"] is not None:
                raise result["interrupt"]
            x, ended = np.asarray(result["x"]), result["ended"]
            if ended != "converged" or refreshes == _MOST_REFRESHES or not parts.renew(at(x)[0]):
                break
            refreshes += 1
        best: Any = next((found for place, found in reversed(seen) if np.array_equal(place, x)), None)
        if best is None:
            best = parts.evaluate(at(x)[0], noise=at(x)[1], gradient=False)
    return FoundByParts(*at(x), best, len(seen), refreshes, ended)


def _in_theta(kernel: Kernel, information: Matrix) -> Matrix:
    """Return an information matrix in `theta`, from one in the hyperparameters of the C++ kernel."""
    size = len(kernel.theta)
    rows = np.array([kernel.in_theta(row) for row in information]).reshape(len(information), size)
    return np.array([kernel.in_theta(column) for column in rows.T]).reshape(size, size)
