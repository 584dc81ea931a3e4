"""Criteria by nearest neighbours for rows that are read in blocks: each part of space is computed with the rows around it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import repeat
from types import TracebackType
from uuid import uuid4

import numpy as np
from scipy import linalg

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.boxes import divided, radii
from kernsel._solve.keyed_rows import FirstRows, first_rows
from kernsel._solve.near_parts import Division, gathered, split_of
from kernsel._solve.near_stage import (
    InSample,
    InSampleSlopes,
    LeftOutRows,
    NearStage,
    PulledParts,
    in_sample_of,
    left_out_of,
    pulled_in_sample_of,
    pulled_left_out_of,
)
from kernsel._solve.passes import Passes
from kernsel.approximations import Feature, Vecchia
from kernsel.criteria import Criterion, GroupsOut
from kernsel.criteria.base import Given
from kernsel.criteria.names import name_of
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data

__all__ = ["ByParts", "PartsOfSpace", "Sizes", "evaluate_by_parts", "sizes_for"]

_LEFT_OUT_TREND = 4096  # rows by which the core estimates a trend where rows are left out
_ROWS_PER_FUNCTION = 64  # of the trend, at least
_MISSED = 1e-3  # the share of rows that may have nearer neighbours, above which parts are made larger once
_SAME_SCALES, _SAME_PERIOD = 0.2, 1e-3  # the logarithm by which ratios of scales, and a share by which periods, may differ
_PIECES = 50_000  # of blocks for parts, which a scheduler of Dask handles in a minute


@dataclass(frozen=True)
class Sizes:
    """How large parts are.

    Attributes
    ----------
    rows : int
        In the box of a part.
    first : int
        The first rows, which all parts have.
    around : float
        The most rows around a box, as a multiple of those in it.
    """

    rows: int = 50_000
    first: int = 20_000
    around: float = 4.0


def sizes_for(neighbors: int) -> Sizes:
    """Return parts that take a second or some: the time of a row grows with the third power of the number of neighbours."""
    return Sizes(rows=int(np.clip(50_000 * (30 / neighbors) ** 2, 5_000, 50_000)))


@dataclass(frozen=True)
class ByParts:
    """A criterion by nearest neighbours, for all rows.

    Attributes
    ----------
    kernel : Kernel
        Without "auto" parameters.
    value : float
        Without the prior of hyperparameters.
    gradient : ndarray of shape (p,) or None
        The derivatives in the parameters of the kernel, as the core has them.
    noise_gradient : float or None
        The derivative in a variance that is added to that of all rows.
    information : ndarray of shape (p + 1, p + 1) or None
        That of the likelihood for a known scale, in the parameters of the kernel and that variance.
    beta : ndarray of shape (q, outputs)
    scale : float
    rows : int
        Those with a weight.
    uncertain : float
        The share of rows that may have nearer neighbours than those that were found.
    parts : int
    """

    kernel: Kernel
    value: float
    gradient: Vector | None
    noise_gradient: float | None
    beta: Matrix
    scale: float
    rows: int
    uncertain: float = 0.0
    parts: int = 1
    information: Matrix | None = None

    @property
    def said(self) -> str:
        """A sentence on what was approximated besides what neighbours are."""
        share = "none" if self.uncertain == 0 else f"{100 * self.uncertain:.2g} %"
        parts = f"{self.parts} parts of space" if self.parts > 1 else "one part"
        return f"{self.rows:,} rows in {parts}: {share} of them may have nearer neighbours than those that were found."


def evaluate_by_parts(
    criterion: Criterion,
    kernel: Kernel,
    passes: Passes,
    approximation: Vecchia,
    *,
    noise: float = 0.0,
    trend: Trend = None,
    gradient: bool = False,
    sizes: Sizes | None = None,
) -> ByParts:
    """Evaluate a criterion by nearest neighbours, in parts of space that are computed independently.

    The order of rows is that of a hash of their numbers. The first rows, a random sample, go to all parts: they tell where the
    boxes are and how far neighbours are, and a trend is estimated by them where rows are left out, as the core does it. A part
    has its own rows and those that may be neighbours of these, and one pass over parts returns sums (likelihoods), or residuals
    and variances of rows, to which the criterion is applied here; another one returns the gradient.

    The trend of likelihoods is that of all rows: with H'PH = R'R and z = [y - H beta, H R^-1], the derivatives of y'c and of
    log det H'PH are those of sums of z_k'P z_k for which beta and R do not change.

    Parameters
    ----------
    criterion : Criterion
        A likelihood, or one that leaves out single rows. Equal rows are left out together.
    kernel : Kernel
        Its "auto" parameters are set by the first rows.
    passes : Passes
        Over blocks of rows.
    approximation : Vecchia
        Without inducing points.
    noise : float
        A variance that is added to those of the rows.
    trend : str, callable or None
    gradient : bool
    sizes : Sizes, optional

    Returns
    -------
    evaluation : ByParts

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel._data.rows import row_source
    >>> from kernsel._solve.passes import LocalPasses
    >>> from kernsel.approximations import Vecchia
    >>> from kernsel.criteria.names import criterion_named
    >>> from kernsel.kernels import RBF
    >>> X = np.linspace(0, 60, 500)[:, None]
    >>> passes = LocalPasses(row_source(X, np.sin(X[:, 0]), block=120))
    >>> found = evaluate_by_parts(criterion_named("lml", {}), RBF(1.0), passes, Vecchia(10), noise=0.1, sizes=Sizes(100, 50))
    >>> found.rows, found.uncertain
    (500, 0.0)
    """
    with PartsOfSpace(criterion, passes, approximation, trend, sizes) as parts:
        return parts.evaluate(kernel, noise=noise, gradient=gradient)


class PartsOfSpace(AbstractContextManager["PartsOfSpace"]):
    """Rows in parts of space, by which a criterion is evaluated for one kernel after another.

    The first kernel chooses the neighbours and the parts, which remain until `renew`. Parameters are those of
    `evaluate_by_parts`.
    """

    def __init__(
        self,
        criterion: Criterion,
        passes: Passes,
        approximation: Vecchia,
        trend: Trend = None,
        sizes: Sizes | None = None,
    ) -> None:
        self._left_out = _require_possible(criterion, approximation, trend)["left_out"]
        self._criterion, self._passes, self._approximation, self._trend = criterion, passes, approximation, trend
        self._sizes = sizes or sizes_for(approximation.neighbors)
        self._first, self._before, self._basis = _first(passes, approximation, trend, self._sizes, self._left_out)
        self._division: Division | None = None
        self._parts: Passes | None = None
        self._missed = 0

    @property
    def rows(self) -> int:
        """The number of rows with a weight."""
        return self._first.count

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        """Release the parts."""
        if self._parts is not None:
            self._parts.__exit__(kind, error, trace)
        self._parts = self._division = None

    def renew(self, kernel: Kernel) -> bool:
        """Choose neighbours anew at the next evaluation if those of this kernel are others; return whether they are."""
        assert self._first.rows is not None
        features = _core.features_of(kernel.build(), self._first.rows.X)
        if self._division is not None and _are_alike(features, self._division.features):
            return False
        self.__exit__(None, None, None)
        return True

    def evaluate(self, kernel: Kernel, *, noise: float, gradient: bool, information: bool = False) -> ByParts:
        """Evaluate the criterion, with the information if it is asked for with the gradient."""
        kernel = _ready(kernel, self._first)
        stage = NearStage(kernel, self._approximation, self._trend, self._basis, float(noise), uuid4().hex, information)
        if self._parts is None:
            shown, sums = self._divide(stage)
        else:
            shown, sums = self._shown(self._parts, stage)
        assert self._parts is not None
        assert self._division is not None
        if self._left_out:
            found = _left_out(self._criterion, stage, self._parts, shown, gradient)
        else:
            found = _in_sample(self._criterion, stage, self._parts, sums, gradient)
        return replace(found, uncertain=self._missed / self._first.count, parts=len(self._division.boxes))

    def _divide(self, stage: NearStage) -> tuple[list[LeftOutRows], InSample]:
        """Divide the rows for a kernel, with wider margins once more if too many rows may have nearer neighbours."""
        for widening in (1.0, 2.0):
            self.__exit__(None, None, None)
            division = _divided(stage.kernel, self._first, self._approximation, self._sizes, widening, len(self._before))
            self._parts = self._passes.regrouped("parts", split_of, gathered, division, len(division.boxes), self._before)
            self._division = division
            shown, sums = self._shown(self._parts, stage)
            self._missed = sum(part.uncertain for part in shown) if self._left_out else sums.uncertain
            if self._missed <= _MISSED * self._first.count:
                break
        return shown, sums

    def _shown(self, parts: Passes, stage: NearStage) -> tuple[list[LeftOutRows], InSample]:
        if self._left_out:
            return parts.listed("rows", left_out_of, stage), InSample()
        return [], parts.summed("sums", in_sample_of, stage)


def _are_alike(some: list[Feature], others: list[Feature]) -> bool:
    """Return whether the neighbours are nearly the same by both features, as the core decides it in its own search."""
    if [(column, bool(period)) for column, _, period in some] != [(column, bool(period)) for column, _, period in others]:
        return False
    pairs = list(zip(some, others, strict=True))
    if any(abs(a - b) > _SAME_PERIOD * b for (_, _, a), (_, _, b) in pairs):
        return False
    changes = [np.log(a / b) for (_, a, _), (_, b, _) in pairs]
    return not changes or max(changes) - min(changes) <= _SAME_SCALES


def _require_possible(criterion: Criterion, approximation: Vecchia, trend: Trend) -> dict[str, bool]:
    """Return what a criterion depends on; raise if that cannot be computed from parts."""
    if approximation.inducing:
        raise ValueError(f"inducing: expected 0 for rows that are read in blocks, got {approximation.inducing}")
    if not (trend is None or isinstance(trend, str) or callable(trend)):
        raise ValueError("trend: expected None, a name or a function for rows that are read in blocks, got an array")
    if criterion.integrates:
        raise ValueError(f"criterion: expected one that has a value for given hyperparameters, got {name_of(criterion)!r}")
    if isinstance(criterion, GroupsOut):
        raise ValueError(f"criterion: {name_of(criterion)} leaves out groups, which rows that are read in blocks cannot")
    seen = criterion.core(_given(2, np.zeros(2))).request
    if seen["coefficients"] or seen["diagonal"]:
        raise ValueError(
            f"criterion: {name_of(criterion)} needs coefficients of all rows at once, which neighbours of rows that are read "
            "in blocks do not give; expected a likelihood or a leave-one-out criterion, or approximation=kernsel.Nystrom()"
        )
    return dict(seen)


def _given(rows: int, y: Matrix | Vector) -> Given:
    """Return data of which a criterion learns the number of rows, which all differ, and the targets."""
    numbers = np.arange(rows)
    return Given(numbers[:, None].astype(np.float64), y, numbers)


def _ready(kernel: Kernel, first: FirstRows) -> Kernel:
    """Return a kernel with its "auto" parameters set by some rows."""
    assert first.rows is not None
    kernel = kernel.ready(first.rows.X, None)[0]
    if kernel.is_automatic():
        kernel = kernel.resolve(Data(first.rows.X, first.rows.y, first.rows.weights))
    return kernel


def _first(
    passes: Passes, approximation: Vecchia, trend: Trend, sizes: Sizes, left_out: bool
) -> tuple[FirstRows, list[int], Matrix]:
    """Return the first rows, the number of rows before each block, and the basis of the trend.

    The basis is R^-1 times the root of k, where H = Q R in the first k rows.
    """
    most = sizes.first if trend is None else max(sizes.first, _LEFT_OUT_TREND)
    first, before = first_rows(passes, most, approximation.random_state)
    if first.rows is None or not len(first.rows):
        raise ValueError("X: there are no rows with a weight; expected one at least")
    H = trend_matrix(trend, first.rows.X)
    if not H.shape[1]:
        return first, before, np.zeros((0, 0))
    least = max(_LEFT_OUT_TREND, _ROWS_PER_FUNCTION * H.shape[1])
    if len(H) < min(least, first.count):
        raise ValueError(f"trend: expected at most {most // _ROWS_PER_FUNCTION} functions, got {H.shape[1]}")
    if left_out:
        trend_matrix(trend, first.rows.X[:least])  # by which the core estimates it
    R = linalg.qr(H, mode="r")[0][: H.shape[1]]
    return first, before, np.asarray(linalg.solve_triangular(R, np.eye(len(R)))) * len(H) ** 0.5


def _divided(kernel: Kernel, first: FirstRows, approximation: Vecchia, sizes: Sizes, widening: float, blocks: int) -> Division:
    """Return how rows are divided for a kernel."""
    assert first.rows is not None
    features = _core.features_of(kernel.build(), first.rows.X)
    points = np.asarray(_core.in_features(first.rows.X, features))
    count = min(-(-first.count // sizes.rows), max(_PIECES // blocks, 1)) if features else 1
    boxes = divided(points, max(count, 1))
    most = sizes.around * first.count / len(boxes)
    reach = widening * radii(points, boxes, approximation.neighbors, first.count, most)
    return Division(approximation.random_state, features, boxes, reach, first.count, first.rows)


def _in_sample(criterion: Criterion, stage: NearStage, parts: Passes, sums: InSample, gradient: bool) -> ByParts:
    """Return a likelihood and its gradient from sums over all rows."""
    assert sums.products is not None
    assert sums.functions is not None
    q = len(stage.basis)
    outputs = len(sums.products) - q
    M, right = sums.products[outputs:, outputs:], sums.products[outputs:, :outputs]
    R = linalg.cholesky(M)
    beta = linalg.cho_solve((R, False), right)
    squares = np.diag(sums.products)[:outputs] - np.sum(right * beta, axis=0)
    log_det_trend = 2 * float(np.log(np.diag(R)).sum()) - float(np.linalg.slogdet(sums.functions)[1])
    nothing = dict.fromkeys(("c", "precision", "noise", "weights", "residual", "variance"))
    totals = {"squares": squares.tolist(), "log_det": sums.log_det, "log_det_trend": log_det_trend, "missing": 0.0, "trend": q}
    found = _core.apply(criterion.core(_given(sums.rows, np.zeros(sums.rows))), sums.rows, {**nothing, **totals})
    evaluation = ByParts(stage.kernel, found["value"], None, None, stage.basis @ beta, found["scale"], sums.rows)
    if not gradient:
        return evaluation
    combination = np.eye(outputs + q)  # z = [y H] combination
    combination[outputs:, :outputs] = -beta
    combination[outputs:, outputs:] = linalg.solve_triangular(R, np.eye(q))
    weights = np.array([*found["squares"].tolist(), *[found["log_det_trend"]] * q])
    slopes = InSampleSlopes((combination * weights) @ combination.T, found["log_det"])
    pulled = parts.summed("gradient", pulled_in_sample_of, replace(stage, slopes=slopes))
    return _with_gradient(evaluation, pulled, found["unit"])


def _left_out(
    criterion: Criterion,
    stage: NearStage,
    parts: Passes,
    shown: list[LeftOutRows],
    gradient: bool,
) -> ByParts:
    """Return a criterion of left out rows, and its gradient, from the residuals and variances of all rows."""
    y, residual, variance, noise = (
        np.concatenate([getattr(part, name) for part in shown]) for name in ("y", "residual", "variance", "noise")
    )
    weights = None if shown[0].weights is None else np.concatenate([np.asarray(part.weights) for part in shown])
    fit = {
        **{"c": None, "precision": None, "noise": noise, "weights": weights, "residual": residual, "variance": variance},
        **{"squares": [0.0] * y.shape[1], "log_det": 0.0, "log_det_trend": 0.0, "missing": 0.0, "trend": len(stage.basis)},
    }
    rows = len(y)
    found = _core.apply(criterion.core(_given(rows, y)), rows, fit)
    beta = next(part.beta for part in shown if part.beta is not None)
    beta = stage.basis @ beta.reshape(len(stage.basis), y.shape[1])
    evaluation = ByParts(stage.kernel, found["value"], None, None, beta, found["scale"], rows)
    if not gradient:
        return evaluation
    ends = np.cumsum([len(part.y) for part in shown])[:-1]
    of_variance = repeat(None) if found["variance"] is None else np.split(found["variance"], ends)
    slopes = list(zip(np.split(found["residual"], ends), of_variance, strict=False))
    return _with_gradient(evaluation, parts.summed("gradient", pulled_left_out_of, stage, slopes), found["unit"])


def _with_gradient(evaluation: ByParts, pulled: PulledParts, unit: float) -> ByParts:
    assert pulled.theta is not None
    return replace(evaluation, gradient=pulled.theta * unit, noise_gradient=pulled.noise * unit, information=pulled.information)
