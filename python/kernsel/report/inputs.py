"""The inputs of a study, and the influence of each on the prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel.report.formats import date, number, percent, split_unit
from kernsel.sensitivity.sampled import Design, design_from, sobol_points
from kernsel.study import Study
from kernsel.study.tables.encode import encoded_names

__all__ = ["Influence", "Input", "about_total", "influences", "inputs_of"]

_POINTS = 4096  # of the quasi-random sums
_ROWS = 1000  # at which slopes are taken, at most
_STEP, _LARGE_STEP = 1e-5, 0.02  # of differences, in ranges of a column


@dataclass(frozen=True)
class Input:
    """One column of the file that the model is a function of.

    Attributes
    ----------
    name : str
    kind : str
        The kind of column, see :class:`kernsel.study.tables.Column`.
    places : list of int
        Its columns of X; a category has several.
    levels : list of str
        The levels of a category or a boolean.
    """

    name: str
    kind: str
    places: list[int]
    levels: list[str]

    @property
    def unit(self) -> str:
        """The unit of its values, empty if it is unknown."""
        return "day" if self.kind == "date" else split_unit(self.name)[1]

    def shown(self, x: float) -> str:
        """Return one of its values as text."""
        return date(x) if self.kind == "date" else number(x)

    def level_of(self, code: Vector) -> str:
        """Return the level that the numbers in its columns encode."""
        if len(code) > 1:
            return self.levels[int(np.argmax(code))]
        return self.levels[int(code[0])] if self.levels else f"{code[0]:g}"


@dataclass(frozen=True)
class Influence:
    """The influence of an input on the prediction.

    Attributes
    ----------
    input : Input
    alone, share : float
        The first-order and the total Sobol' index for independent inputs, each with the values of its column: what the input
        explains of the variance of the prediction alone, and what alone and together with others, see
        :mod:`kernsel.sensitivity`. Shares include interactions, so that they may add up to more than one, see
        :func:`about_total`.
    slope : float
        The mean derivative of the prediction in the input; for a boolean, the mean difference between its values. nan for
        categories, and for an input that is constant in the training data.
    rising : float
        The share of points where this derivative is positive.
    """

    input: Input
    alone: float
    share: float
    slope: float
    rising: float


def inputs_of(study: Study) -> list[Input]:
    """Return the inputs in the order of the file, each with its columns of X."""
    inputs: list[Input] = []
    place = 0
    for column in study.columns:
        names = encoded_names(column)
        if names:
            inputs.append(Input(column.name, column.kind, list(range(place, place + len(names))), list(column.levels)))
        place += len(names)
    return inputs


def influences(study: Study, inputs: list[Input]) -> list[Influence]:
    """Return the influence of each input, the largest share first.

    They are estimated from predictions at points whose inputs come from different rows, which is right for any kernel.
    """
    rng = np.random.default_rng(0)
    X = study.model.X_train_
    design = _exchanged(X, [one.places for one in inputs], rng)
    parts = design.variances(_predicted(study, design.points))
    unit = 1.0 / parts.variance if parts.variance > 0 else 0.0
    some = X[np.sort(rng.permutation(len(X))[:_ROWS])]
    found = []
    for one, first, total in zip(inputs, parts.first * unit, parts.total * unit, strict=True):
        share = float(min(total, 1.0))
        slopes = _slopes(study, some, one) if one.kind != "category" else np.full(1, np.nan)
        rising = float(np.mean(slopes > 0)) if np.isfinite(slopes).all() else np.nan
        found.append(Influence(one, float(np.clip(first, 0.0, share)), share, float(slopes.mean()), rising))
    return sorted(found, key=lambda influence: -influence.share)


def _exchanged(X: Matrix, places: list[list[int]], rng: np.random.Generator) -> Design:
    """Return points each of whose inputs comes from a row of its own, drawn by a quasi-random sequence."""
    d = len(places)
    rows = (sobol_points(_POINTS, 2 * d, rng) * len(X)).astype(np.intp)
    samples = []
    for part in (rows[:, :d], rows[:, d:]):
        points = np.empty((len(part), X.shape[1]))
        points[:] = X[0]
        for columns, drawn in zip(places, part.T, strict=True):
            values = X[:, columns]
            # Rows in the order of the input's values, so that the sequence is evenly spread over these.
            points[:, columns] = values[np.lexsort(values.T)][drawn]
        samples.append(points)
    return design_from(samples[0], samples[1], places, second=False)


def about_total(influences: list[Influence]) -> str:
    """Return a sentence that says what the shares add up to, and why that may be more than 100 %."""
    total = sum(one.share for one in influences)
    if total > 1.04:  # beyond the error of sampling
        return f"Together they come to {percent(total)}: what inputs do together is counted with each of them."
    return f"They act one by one: together they come to {100 * total:.0f} %."


def _slopes(study: Study, X: Matrix, one: Input) -> Vector:
    """Return the derivatives of the prediction in one column by central differences, which exist for any kernel.

    Steps are large if predictions are from the nearest points: these are others at some places, where the prediction jumps.
    """
    place = one.places[0]
    column = study.model.X_train_[:, place]
    if not np.ptp(column):
        return np.full(1, np.nan)
    share = _LARGE_STEP if study.approximation else _STEP
    step = max(share * float(np.ptp(column)), float(np.spacing(np.abs(column).max())))
    above, below = X.copy(), X.copy()
    above[:, place], below[:, place] = (1.0, 0.0) if one.kind == "boolean" else (X[:, place] + step, X[:, place] - step)
    return np.asarray((_predicted(study, above) - _predicted(study, below)) / (above - below)[:, place])


def _predicted(study: Study, X: Matrix) -> Vector:
    return np.asarray(study.model.predict(X))
