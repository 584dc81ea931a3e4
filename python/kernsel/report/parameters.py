"""The hyperparameters of the chosen kernel, each with its column and its unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel.kernels import Columns, Composition, Kernel, Transform, Warp, WarpedInputs
from kernsel.kernels.hyperparameter import numbers
from kernsel.report.formats import split_unit
from kernsel.report.inputs import inputs_of
from kernsel.study import Study

__all__ = ["Number", "numbers_of"]

_LABELS = {
    "constant_value": "variance",
    "length_scale": "length scale",
    "periodicity": "period",
    "noise_level": "noise, variance",
    "sigma_0": "offset",
    "alpha": "mixture of scales, alpha",
    "period": "period",
}
_OF_X = ("length_scale", "periodicity", "period")  # have the unit of a column
_OF_Y2 = ("constant_value", "noise_level")  # have the squared unit of the target


@dataclass(frozen=True)
class Number:
    """One number of a hyperparameter.

    Attributes
    ----------
    part : str
        The kernel that has it.
    what : str
        Its name in words.
    column : str
        The column that it is for; empty if it is for all, or for none.
    value, range : float
        `range` is the range of the column, nan if there is none.
    unit : str
    fixed : bool
    bound : {"", "lower", "upper"}
        The bound of the search at which it ended.
    flat : bool
        Whether the criterion does not depend on it.
    """

    part: str
    what: str
    column: str
    value: float
    range: float
    unit: str
    fixed: bool
    bound: str
    flat: bool


def numbers_of(study: Study) -> list[Number]:
    """Return the hyperparameters of the chosen kernel, or of the likeliest one of a mixture, in the order of its expression."""
    selection = study.process.selection_
    ranges = np.ptp(study.model.X_train_, axis=0)
    unit = split_unit(study.target.name)[1]
    square = f"{unit}²" if unit.isalpha() else f"({unit})²" if unit else ""
    units = [one.unit for one in inputs_of(study) for _ in one.places]
    found: list[Number] = []
    for _, h, value in selection.kernel.layout():
        *path, own = h.name.split("__")
        part, columns = _owner(selection.kernel, path, study.names)
        values = np.ravel(numbers(value, h.name, positive=h.log))
        for i, number in enumerate(values):
            name = h.name if h.n_elements == 1 else f"{h.name}[{i}]"
            by_column = own in _OF_X and len(values) == len(columns)
            column = study.names[columns[i]] if by_column else ""
            own_unit = units[columns[i]] if by_column else square if own in _OF_Y2 else ""
            bound = ""
            if name in selection.at_bounds:
                low, at, high = h.on_scale(np.array([h.bounds[i][0], number, h.bounds[i][1]]))
                bound = "lower" if at < 0.5 * (low + high) else "upper"
            found.append(
                Number(
                    type(part).__name__,
                    _LABELS.get(own, own.replace("_", " ")),
                    column,
                    float(number),
                    float(ranges[columns[i]]) if by_column else np.nan,
                    own_unit,
                    h.fixed,
                    bound,
                    name in selection.flat,
                )
            )
    return found


def _owner(kernel: Kernel, path: list[str], names: list[str]) -> tuple[Kernel, list[int]]:
    """Return the part of a kernel at a path of attributes, and its columns of X; none, if it is a function of features."""
    columns = list(range(len(names)))
    for attribute in path:
        if isinstance(kernel, Columns):
            columns = [names.index(c) if isinstance(c, str) else columns[int(c)] for c in kernel.columns]
        elif isinstance(kernel, Composition | Transform | Warp | WarpedInputs):
            columns = []
        kernel = getattr(kernel, attribute)
    return kernel, columns
