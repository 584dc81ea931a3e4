"""What the model learns from: the inputs of a study, and how much each moves the prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernsel.report.formats import date, number, split_unit
from kernsel.study import Study
from kernsel.tables.encode import encoded_names

__all__ = ["Influence", "Input", "influences", "inputs_of"]

Vector = NDArray[np.float64]

_SHIFTS = 24  # exchanges of each input; all of them for fewer points
_POINTS = 1000  # that are exchanged at most


@dataclass(frozen=True)
class Input:
    """One column of the file that is learnt from.

    Attributes
    ----------
    name : str
    kind : str
        As :class:`kernsel.tables.Column` has it.
    places : list of int
        Which columns of X it is: several, if it is a category.
    levels : list of str
        Of a category or a boolean.
    """

    name: str
    kind: str
    places: list[int]
    levels: list[str]

    @property
    def unit(self) -> str:
        """Of its values, if it is known."""
        return "day" if self.kind == "date" else split_unit(self.name)[1]

    def shown(self, x: float) -> str:
        """Return one of its values as it is read."""
        return date(x) if self.kind == "date" else number(x)

    def level_of(self, code: Vector) -> str:
        """Return the level that numbers in its columns stand for."""
        if len(code) > 1:
            return self.levels[int(np.argmax(code))]
        return self.levels[int(code[0])] if self.levels else f"{code[0]:g}"


@dataclass(frozen=True)
class Influence:
    """How much an input moves the prediction.

    Attributes
    ----------
    input : Input
    share : float
        Of the variance of predictions; the mean of half the squared change when the input takes its value from another row,
        over that variance. It counts all that the input takes part in: shares of inputs that act together add up to more than
        one.
    slope : float
        Mean derivative of the prediction in the input; nan for categories, and where all rows that were learnt from have the
        same value. Of a boolean, the mean difference that it makes.
    rising : float
        The share of points where that derivative is positive.
    """

    input: Input
    share: float
    slope: float
    rising: float


def inputs_of(study: Study) -> list[Input]:
    """Return the inputs in the order of the file, each with its columns of X."""
    found: list[Input] = []
    at = 0
    for column in study.columns:
        names = encoded_names(column)
        if names:
            found.append(Input(column.name, column.kind, list(range(at, at + len(names))), list(column.levels)))
        at += len(names)
    return found


def influences(study: Study, inputs: list[Input]) -> list[Influence]:
    """Return how much each input moves the prediction, the largest share first.

    Nothing is assumed of the kernel: the model is asked what it says when one input alone is exchanged between rows.
    """
    rng = np.random.default_rng(0)
    X = study.model.X_train_
    X = X[np.sort(rng.permutation(len(X))[:_POINTS])]
    n = len(X)
    mean = _predicted(study, X)
    variance = float(np.var(mean, ddof=1))
    order = rng.permutation(n)
    shifts = np.unique(np.linspace(1, n - 1, min(_SHIFTS, n - 1)).round().astype(int))
    found = []
    for one in inputs:
        squares = []
        for shift in shifts:
            exchanged = X.copy()
            for place in one.places:
                exchanged[order, place] = X[np.roll(order, shift), place]
            squares.append(np.mean((_predicted(study, exchanged) - mean) ** 2))
        share = 0.5 * float(np.mean(squares)) / variance if variance > 0 else 0.0
        slopes = _slopes(study, X, one) if one.kind != "category" else np.full(1, np.nan)
        rising = float(np.mean(slopes > 0)) if np.isfinite(slopes).all() else np.nan
        found.append(Influence(one, share, float(slopes.mean()), rising))
    return sorted(found, key=lambda influence: -influence.share)


def _slopes(study: Study, X: Vector, one: Input) -> Vector:
    """Return the derivatives of the prediction in one column, by differences: kernels of any kind can be asked."""
    place = one.places[0]
    column = study.model.X_train_[:, place]
    if not np.ptp(column):
        return np.full(1, np.nan)
    step = max(1e-5 * float(np.ptp(column)), float(np.spacing(np.abs(column).max())))
    ahead, behind = X.copy(), X.copy()
    ahead[:, place], behind[:, place] = (1.0, 0.0) if one.kind == "boolean" else (X[:, place] + step, X[:, place] - step)
    return np.asarray((_predicted(study, ahead) - _predicted(study, behind)) / (ahead - behind)[:, place])


def _predicted(study: Study, X: Vector) -> Vector:
    return np.asarray(study.model.predict(X))
