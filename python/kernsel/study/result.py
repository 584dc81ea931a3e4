"""What a study is: all that was tried on a table, and the model that was chosen."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernsel.gaussian_process import GaussianProcessRegressor
from kernsel.saving import load, read_notes, save
from kernsel.study.line import Line
from kernsel.study.notes import of_notes, plain
from kernsel.tables import Column

__all__ = ["Study"]

_VERSION = 1  # of what is written beside a model


@dataclass(frozen=True)
class Study:
    """What was tried on a table, and the model that was chosen.

    Attributes
    ----------
    source : str
        The file.
    rows : int
        In the file.
    names : list of str
        Of the columns of X.
    columns : list of Column
        Of the file, without the target.
    target : Column
    remarks : list of str
        What one has to know, in sentences.
    lines : dict of str to list of Line
        By criterion, in the order that was asked for; the best line first.
    better : dict of str to str
        "larger" or "smaller" by criterion.
    criterion : str
        The first of them: the one that chose the model.
    model : GaussianProcessRegressor
        Fitted.
    test : dict of str to float
        On rows that were not learnt from: "rows", "rmse", "coverage" of 95 % intervals, and "rmse_of_mean", the error of always
        predicting the mean of what was learnt from. Empty if there are none.
    kept : ndarray
        The numbers of the rows in the file, from 1 on, that the model has learnt from: those of its X_train_.
    seconds : float
    ended : str
        Why not all was tried; empty if it was.
    """

    source: str
    rows: int
    names: list[str]
    columns: list[Column]
    target: Column
    remarks: list[str]
    lines: dict[str, list[Line]]
    better: dict[str, str]
    criterion: str
    model: GaussianProcessRegressor = field(repr=False)
    test: dict[str, float]
    kept: NDArray[np.intp] = field(repr=False)
    seconds: float
    ended: str = ""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model with the study beside it, see :func:`kernsel.save`.

        Parameters
        ----------
        path : str or path-like
            Usually ``*.ksl``.
        """
        save(self.model, path, notes={"study": _VERSION} | self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Return all but the model as JSON has it, None for numbers that it has not."""
        rest = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "model"}
        found: dict[str, Any] = plain(rest)
        return found

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` has written.

        Parameters
        ----------
        path : str or path-like
        """
        notes = read_notes(path)
        if not isinstance(notes, dict) or "study" not in notes:
            raise ValueError(
                f"{path} has a model, but not what `kernsel select --save` writes beside it; kernsel.load reads it"
            )
        if notes["study"] != _VERSION:
            raise ValueError(f"{path}: the study in it is of version {notes['study']!r}, expected {_VERSION}; upgrade kernsel")
        model = load(path)
        if not isinstance(model, GaussianProcessRegressor):
            raise ValueError(f"{path}: expected a GaussianProcessRegressor, got a {type(model).__name__}")
        try:
            found = of_notes(notes)
            if len(found["names"]) != model.n_features_in_ or len(found["kept"]) != len(model.X_train_):
                raise ValueError("it is of other columns or rows than the model")
            return cls(model=model, **found)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: the study in it is damaged: {type(error).__name__} {error}") from None
