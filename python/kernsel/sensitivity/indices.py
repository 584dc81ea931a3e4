"""Sobol' indices of a model or a function, with what is not known of them."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._data.allowed import FLAG, one_of, require, whole
from kernsel.sensitivity.exact import TooLargeError, Variances, exact_variances
from kernsel.sensitivity.inputs import Inputs
from kernsel.sensitivity.nested import nested_variances
from kernsel.sensitivity.sampled import Design, bootstrap, design_of
from kernsel.sensitivity.studied import Studied, studied
from kernsel.sensitivity.terms import NoProductError

__all__ = ["SobolIndices", "checked_level", "sobol"]

_ROWS_OF_DRAWS = 1000  # points at which a process is drawn jointly
_ROWS_OF_MEMBERS = 300  # where each draw of hyperparameters has a covariance of its own
_RESAMPLES = 100
_DIFFERENCES = 1000
_ROUNDING = 1e-3  # of the variance, beyond which integrals of a cancelling sum are not used
_ALLOWED = {
    "second_order": FLAG,
    "method": one_of("auto", "exact", "nested", "sampled"),
    "n_samples": whole(16),
    "n_draws": whole(0),
    "output": whole(0),
}


@dataclass(frozen=True)
class SobolIndices:
    """What each input explains of the variance of a function.

    Attributes
    ----------
    names : list of str
        Of the inputs.
    first : ndarray of shape (d,)
        Var E[f | x_j] / Var f: what the input explains alone.
    total : ndarray of shape (d,)
        E Var(f | all others) / Var f: what it explains alone and together with others.
    second : ndarray of shape (d, d) or None
        What two inputs explain together, beyond what each does alone.
    mean, variance : float
        Of the function.
    first_interval, total_interval : ndarray of shape (d, 2) or None
        Where the indices are with probability `level`: for a Gaussian process by draws of its posterior, and if `method` is
        "sampled" by the bootstrap over points as well. None where neither is to be told.
    second_interval : ndarray of shape (d, d, 2) or None
    level : float
    method : {"exact", "nested", "sampled"}
        How the indices were computed, see :func:`sobol`.
    reason : str
        Why `method` is not "exact"; empty if it was asked for.
    error : float
        The size of the numerical error of the indices of the mean: by rounding, or the largest standard error of the sums.
    """

    names: list[str]
    first: Vector
    total: Vector
    second: Matrix | None
    mean: float
    variance: float
    first_interval: Matrix | None
    total_interval: Matrix | None
    second_interval: NDArray[np.float64] | None
    level: float
    method: Literal["exact", "nested", "sampled"]
    reason: str
    error: float

    def __str__(self) -> str:
        width = max(5, *map(len, self.names))
        lines = [f"{'input':<{width}}  first                 total"]
        for j in np.argsort(-self.total, kind="stable"):
            cells = (
                f"{value[j]:.3f}{'' if interval is None else ' ({:.3f}, {:.3f})'.format(*interval[j])}"
                for value, interval in ((self.first, self.first_interval), (self.total, self.total_interval))
            )
            lines.append(f"{self.names[j]:<{width}}  {'  '.join(f'{cell:<20}' for cell in cells)}".rstrip())
        return "\n".join(lines)


def sobol(
    f: object,
    inputs: Inputs | None = None,
    *,
    second_order: bool = False,
    method: Literal["auto", "exact", "nested", "sampled"] = "auto",
    n_samples: int = 4096,
    n_draws: int = 200,
    level: float = 0.95,
    random_state: int = 0,
    output: int = 0,
) -> SobolIndices:
    """Return the Sobol' indices of a fitted model, or of a function, for independent inputs.

    The variance of f is a sum of what the inputs explain alone, in pairs, and so on: S_j = Var E[f | x_j] / Var f is the
    first-order index of an input, T_j = E Var(f | all others) / Var f its total index, which also counts what it explains
    together with others.

    Three methods compute them:

    - "exact": for means of processes and ridge functions with a product kernel (RBF, Matern with ``product=True`` or of one
      column, nu = 1/2, 3/2, ..., constants, sums and products of these) all integrals are over one column, and are computed
      to rounding, in O(n^2 d) for RBF and O(n^3 d) for Matern kernels.
    - "nested": where large coefficients cancel, as often without noise, rounding would show. Only the first-order indices are
      then computed so; the others are quasi-random sums, over `n_samples` / 4 points in all columns but one, of integrals
      over that one.
    - "sampled": for all other kernels, models and functions, quasi-random sums of (d + 2) `n_samples` predictions, by the
      estimators of Saltelli et al. (2010) and Jansen (1999).

    What is not known of the process makes its indices uncertain. The intervals are those of `n_draws` draws of the posterior
    at some 1000 points, as differences from the mean at the same points, so that the error of so few points cancels.

    Parameters
    ----------
    f : fitted regressor, or callable
        Of kernsel or scikit-learn, or what :func:`kernsel.select` returns, whose columns are then the encoded ones; or a
        function of points, shape (m, d), that returns (m,) numbers.
    inputs : sequence or dict of Uniform, Normal or (lower, upper), optional
        The distribution of each column; by default uniform on the ranges of the training points.
    second_order : bool
        Also return what pairs of inputs explain.
    method : {"auto", "exact", "nested", "sampled"}
        "auto" takes the first of the others that serves; these raise a ValueError that says why, if they do not.
    n_samples : int
        The least number of base points of a quasi-random sum; the next power of two is taken.
    n_draws : int
        Of the posterior of a Gaussian process; 0 gives no such intervals.
    level : float
        Of the intervals.
    random_state : int
        Of the quasi-random points, the draws and the bootstrap.
    output : int
        Which of several targets.

    Returns
    -------
    indices : SobolIndices

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (60, 2))
    >>> y = X[:, 0] + 0.3 * np.sin(3 * X[:, 1]) + 0.1 * rng.standard_normal(60)
    >>> gp = ks.GaussianProcessRegressor("RBF").fit(X, y)
    >>> found = ks.sensitivity.sobol(gp, [(-1, 1), (-1, 1)])
    >>> found.method, found.first.round(2)
    ('exact', array([0.88, 0.12]))
    """
    options = {"second_order": second_order, "method": method, "n_samples": n_samples, "n_draws": n_draws, "output": output}
    require(SimpleNamespace(**options), _ALLOWED)
    checked_level(level)
    rng = np.random.default_rng(random_state)
    of = studied(f, inputs, output)
    found, used, reason = _integrated(of, method, second_order, n_samples, rng)
    resampled: list[Variances] = []
    if found is None:
        design = design_of(of.inputs, n_samples, second_order, rng)
        values = of.values(design.points)
        found = design.variances(values)
        resampled = bootstrap(design, values, _RESAMPLES, rng)
    first, total, second = _shares(found)
    error = found.error / found.variance if found.variance > 0 else 0.0
    if resampled:
        error = max(float(np.std([np.asarray(_shares(one)[k]) for one in resampled], axis=0).max()) for k in (0, 1))
    spreads = [(resampled, found)] if resampled else []
    if of.process is not None and n_draws:
        spreads.append(_of_draws(of, n_draws, second_order, rng))

    def interval(which: int, value: Vector | None) -> Vector | None:
        """Return the ends of an interval from the differences of draws, of resamples, or of both, which are independent."""
        if value is None or not spreads:
            return None
        differences = sum(_differences(drawn, centre, which, rng) for drawn, centre in spreads)
        tail = (1 - level) / 2
        ends = [value + np.quantile(differences, p, axis=0) for p in (tail, 1 - tail)]
        return np.clip(np.stack(ends, axis=-1), 0.0, 1.0)

    return SobolIndices(
        of.names,
        first,
        total,
        second,
        found.mean,
        found.variance,
        interval(0, first),
        interval(1, total),
        interval(2, second),
        level,
        used,
        reason,
        error,
    )


def checked_level(level: object) -> None:
    """Raise unless a level is a number between 0 and 1."""
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")


def _integrated(
    of: Studied, method: str, second: bool, n: int, rng: np.random.Generator
) -> tuple[Variances | None, Literal["exact", "nested", "sampled"], str]:
    """Return the variances by integrals over columns, how, and why not otherwise; None if these are not to be had."""
    if method == "sampled":
        return None, "sampled", ""
    reason = ""
    try:
        expansion = of.expand()
        if method != "nested":
            try:
                found = exact_variances(expansion, of.inputs, second)
            except TooLargeError as error:
                reason = str(error)
            else:
                if found.error <= _ROUNDING * abs(found.variance):
                    return found, "exact", ""
                reason = "large coefficients cancel in the function, and its integrals would have errors of rounding"
        if method != "exact":
            return nested_variances(expansion, of.inputs, second, n // 4, rng), "nested", reason
    except NoProductError as error:
        reason = str(error)
    if method != "auto":
        raise ValueError(f'method: "{method}" is not to be had, {reason}; expected "auto" or "sampled" here')
    return None, "sampled", reason


def _shares(found: Variances) -> tuple[Vector, Vector, Matrix | None]:
    """Return the indices; zeros for a constant function."""
    unit = 1.0 / found.variance if found.variance > 0 else 0.0
    return found.first * unit, found.total * unit, None if found.second is None else found.second * unit


def _differences(drawn: list[Variances], centre: Variances, which: int, rng: np.random.Generator) -> Vector:
    """Return the differences of the indices of draws from those of their centre, `_DIFFERENCES` of them in random order."""
    of_centre = np.asarray(_shares(centre)[which])
    differences = np.array([_shares(one)[which] for one in drawn]) - of_centre
    return np.asarray(differences[rng.permutation(np.arange(_DIFFERENCES) % len(drawn))])


@with_one_blas_thread
def _of_draws(of: Studied, count: int, second: bool, rng: np.random.Generator) -> tuple[list[Variances], Variances]:
    """Return the variances of draws of a process at a small design, and those of its mean there."""
    d = len(of.inputs)
    blocks = 2 + (2 if second else 1) * d
    rows = _ROWS_OF_DRAWS if of.is_normal else _ROWS_OF_MEMBERS
    n = max(16, 2 ** int(np.log2(max(rows / blocks, 1))))
    design: Design = design_of(of.inputs, n, second, rng)
    points, place = np.unique(design.points, axis=0, return_inverse=True)  # held inputs make equal ones
    mean, draws = of.draws(points, count, rng)
    place = np.ravel(place)
    return [design.variances(one[place]) for one in draws.T], design.variances(mean[place])
