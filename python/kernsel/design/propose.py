"""The next points to evaluate."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from kernsel._base.annotations import Matrix, Seed, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._data.allowed import FLAG, one_of, whole
from kernsel.design.acquisition import Acquisition
from kernsel.design.confidence import UpperConfidenceBound
from kernsel.design.feasibility import Constraint, Feasibility, constraints_of
from kernsel.design.first_points import sobol
from kernsel.design.improvement import ExpectedImprovement, LogExpectedImprovement, ProbabilityOfImprovement
from kernsel.design.joint_improvement import JointExpectedImprovement
from kernsel.design.knowledge_gradient import KnowledgeGradient
from kernsel.design.search import Objective, best_point
from kernsel.design.space import Space
from kernsel.design.surrogate import Surrogate
from kernsel.design.variance import Variance, VarianceReduction
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["propose"]

_MOST = 8  # points of a batch
_GOOD = 4  # of the best data, around which is looked more closely
_REFERENCES = 256  # points over which the variance is a mean
_CANDIDATES = 64  # points whose means count for the knowledge gradient, besides those of the data
_SAMPLES = 512  # of the joint expected improvement
_BATCH = one_of("believer", "liar", "joint")


class MakesAcquisition(Protocol):
    """A class of acquisition functions, or a function that makes one."""

    def __call__(self, model: GaussianProcessRegressor, *, maximize: bool) -> Acquisition:
        """Return the acquisition function of a process."""
        ...


# What makes an acquisition by its name from a process, the space, a random state and the value to improve upon.
_Maker = Callable[[GaussianProcessRegressor, bool, Space, np.random.RandomState, float | None], Acquisition]
_NAMED: dict[str, _Maker] = {
    "log_ei": lambda model, maximize, space, rng, best: LogExpectedImprovement(model, maximize=maximize, best=best),
    "ei": lambda model, maximize, space, rng, best: ExpectedImprovement(model, maximize=maximize, best=best),
    "pi": lambda model, maximize, space, rng, best: ProbabilityOfImprovement(model, maximize=maximize, best=best),
    "ucb": lambda model, maximize, space, rng, best: UpperConfidenceBound(model, maximize=maximize),
    "kg": lambda model, maximize, space, rng, best: KnowledgeGradient(
        model, space.from_unit(sobol(space.d, _CANDIDATES, rng)), maximize=maximize
    ),
    "variance": lambda model, maximize, space, rng, best: Variance(model, maximize=maximize),
    "variance_reduction": lambda model, maximize, space, rng, best: VarianceReduction(
        model, space.from_unit(sobol(space.d, _REFERENCES, rng)), maximize=maximize
    ),
}
_IMPROVEMENTS = ("log_ei", "ei", "pi")  # those that need a feasible best value
_JOINT = ("log_ei", "ei")  # those whose batches have a joint expected improvement


@with_one_blas_thread
def propose(
    model: GaussianProcessRegressor,
    bounds: ArrayLike,
    q: int = 1,
    *,
    acquisition: str | MakesAcquisition = "log_ei",
    maximize: bool = False,
    constraints: Any = (),
    integers: Any = (),
    categories: Mapping[int, Any] | None = None,
    batch: str = "believer",
    random_state: Seed = 0,
) -> Matrix:
    """Return the points at which an evaluation is worth most.

    The acquisition function is computed at 512 quasi-random points and some around the best data, and climbed from the best of
    them by L-BFGS-B with exact gradients, from all at once. Whole numbers are rounded and, like categories, improved at the end
    by steps to neighbours; up to 32 combinations of categories have starts of their own. Some hundred evaluations at 10 points,
    in O(n^2) for each point.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise. It is not changed.
    bounds : array-like of shape (d, 2)
        The lower and the upper end of each column; of a column of categories it may be None.
    q : int
        The number of points, 1 to 8.
    acquisition : str or callable
        "log_ei", "ei", "pi", "ucb", "kg" (knowledge gradient), "variance" or "variance_reduction", or what makes an
        :class:`Acquisition` from a process: ``functools.partial(UpperConfidenceBound, kappa=3.0)``.
    maximize : bool
        Whether large values of y are good, or small ones.
    constraints : sequence of GaussianProcessRegressor, or of tuples (process, lower, upper)
        Each is a process c of the same points; c(x) <= 0, or lower <= c(x) <= upper, has to hold. The acquisition is multiplied
        by the probability that it does, and what has to be improved upon is the best of the data where it does (with a
        probability of one half at least). If there is none, feasible points are looked for. An acquisition that is a function
        improves upon what it was made for.
    integers : sequence of int
        The columns of whole numbers.
    categories : dict of int to sequence of float, optional
        The numbers that stand for the categories of a column, as in the points of the model.
    batch : {"believer", "liar", "joint"}
        How several points differ from each other. Each follows from a process that was told fantasies of those before: their
        means ("believer"), or the best value so far ("liar"). "joint" then climbs the joint expected improvement of all.
    random_state : int, RandomState instance or None

    Returns
    -------
    X : ndarray of shape (q, d)

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = ks.design.first_points([(-1, 1), (-1, 1)], 12)
    >>> gp = ks.GaussianProcessRegressor(noise=0.0).fit(X, np.sum((X - 0.3) ** 2, axis=1))
    >>> bool(np.abs(ks.design.propose(gp, [(-1, 1), (-1, 1)]) - 0.3).max() < 0.1)
    True
    """
    space = Space(bounds, integers, categories)
    if not (whole(1).accepts(q) and q <= _MOST):
        raise ValueError(f"q: expected a whole number from 1 to {_MOST}, got {q!r}")
    if not _BATCH.accepts(batch):
        raise ValueError(f"batch: expected {_BATCH.expected}, got {batch!r}")
    if not FLAG.accepts(maximize):
        raise TypeError(f"maximize: expected {FLAG.expected}, got {maximize!r}")
    if not callable(acquisition) and not (isinstance(acquisition, str) and acquisition in _NAMED):
        raise ValueError(f"acquisition: expected a function, or one of {', '.join(_NAMED)}, got {acquisition!r}")
    d = Surrogate(model).d
    if d != space.d:
        raise ValueError(f"bounds: expected ends of {d} columns, as the model has, got {space.d}")
    limits = constraints_of(constraints, d)
    if batch == "joint" and (limits or acquisition not in _JOINT):
        raise ValueError('batch: "joint" is of an expected improvement without constraints; expected "believer" or "liar"')
    rng = check_random_state(random_state)
    told = _copied(model) if q > 1 else model
    if q > 1:
        limits = [limit.with_model(_copied(limit.model)) for limit in limits]
    points: list[Vector] = []
    while len(points) < q:
        points.append(_next(told, space, acquisition, maximize, limits, rng))
        if len(points) < q:
            lie = _best(model, maximize, limits) if batch == "liar" else None
            _tell(told, points[-1], lie)
            for limit in limits:
                _tell(limit.model, points[-1], None)
    found = np.array(points)
    return _climbed_together(model, space, found, maximize, rng) if batch == "joint" and q > 1 else found


def _next(
    model: GaussianProcessRegressor,
    space: Space,
    acquisition: str | MakesAcquisition,
    maximize: bool,
    limits: list[Constraint],
    rng: np.random.RandomState,
) -> Vector:
    """Return the next point."""
    best = _best(model, maximize, limits)
    function: Acquisition | None
    if not isinstance(acquisition, str):
        function = acquisition(model, maximize=maximize)
        if not isinstance(function, Acquisition):
            raise TypeError(f"acquisition: expected a function that returns an Acquisition, got {type(function).__name__}")
    elif best is None and acquisition in _IMPROVEMENTS:
        function = None  # nothing to improve upon: find a feasible point
    else:
        function = _NAMED[acquisition](model, maximize, space, rng, best)
    if limits and function is not None and not (function.is_positive or function.is_logarithm):
        name = type(function).__name__
        raise ValueError(
            f"acquisition: {name} may be negative, and cannot be multiplied by a probability; with constraints "
            'expected another one, such as "log_ei"'
        )
    surrogate = Surrogate(model, maximize)
    data = surrogate.posterior.X
    good = data[np.argsort(-surrogate.mean(data), kind="stable")[:_GOOD]]
    return best_point(Objective(function, Feasibility(limits) if limits else None), space, good, rng)


def _best(model: GaussianProcessRegressor, maximize: bool, limits: list[Constraint]) -> float | None:
    """Return the best of the means at the data, in the unit of y, where the constraints hold; None if they do nowhere."""
    surrogate = Surrogate(model, maximize)
    data = surrogate.posterior.X
    holds = Feasibility(limits).evaluate(data, False)[0] >= np.log(0.5)
    return surrogate.sign * float(surrogate.mean(data)[holds].max()) if holds.any() else None


def _copied(model: GaussianProcessRegressor) -> GaussianProcessRegressor:
    """Return a copy that takes fantasies, which are arrays, without the warning that they have no names of columns."""
    copied = copy.deepcopy(model)
    copied.__dict__.pop("feature_names_in_", None)
    return copied


def _tell(model: GaussianProcessRegressor, x: Vector, y: float | None) -> None:
    """Add a fantasy to a process: its own mean, unless another value is given."""
    value = [float(np.asarray(model.predict(x[None])).item()) if y is None else y]
    noise = float(np.mean(model.noise_)) if np.ndim(model.noise_) else None
    if noise is None and np.ndim(model._alpha_known):
        noise = float(np.mean(model._alpha_known))
    try:
        model.update(x[None], value, noise=noise)
    except np.linalg.LinAlgError:  # the data determine its value to rounding, so that a noisy one tells as much
        variance = float(model.kernel_.diag(x[None])[0])
        model.update(x[None], value, noise=np.sqrt(np.finfo(float).eps) * variance)


def _climbed_together(
    model: GaussianProcessRegressor, space: Space, X: Matrix, maximize: bool, rng: np.random.RandomState
) -> Matrix:
    """Return the batch at the end of an ascent of the joint expected improvement in the continuous columns."""
    joint = JointExpectedImprovement(model, len(X), maximize=maximize, samples=_SAMPLES, random_state=rng)
    columns, spread = space.continuous, space.spread[space.continuous]
    unit = joint(X)
    if not len(columns) or unit <= 0.0:
        return X

    def placed(t: Vector) -> Matrix:
        Z = X.copy()
        low, high = space.lower[columns], space.upper[columns]
        Z[:, columns] = np.clip(low + t.reshape(len(X), -1) * spread, low, high)
        return Z

    def descend(t: Vector) -> tuple[float, Vector]:
        value, slopes = joint.value_and_gradient(placed(t))
        return -value / unit, -np.ravel(slopes[:, columns] * spread) / unit

    start = np.ravel((X[:, columns] - space.lower[columns]) / spread)
    found = minimize(descend, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(start), options={"maxiter": 50})
    return placed(found.x) if -found.fun >= 1.0 else X
