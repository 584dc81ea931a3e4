"""The result of a study: all fits to a table, and the chosen model."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Self

import numpy as np

from kernsel._base.annotations import Indices
from kernsel.criteria.table import TABLE
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.likelihoods import Likelihood
from kernsel.saving import load_estimator, read_notes, save
from kernsel.study.line import Line
from kernsel.study.notes import of_notes, plain
from kernsel.study.tables import Column

__all__ = ["VERSION", "Study"]

VERSION = 1  # the version of the format in which studies are saved


@dataclass(frozen=True)
class Study:
    """All fits to a table, and the chosen model.

    Attributes
    ----------
    source : str
        The name of the file.
    rows : int
        The number of rows of the file.
    names : list of str
        The names of the columns of X.
    columns : list of Column
        The columns of the file, without the target.
    target : Column
    remarks : list of str
        Sentences that a user should read.
    lines : dict of str to list of Line
        The fits by each criterion, the best one first.
    better : dict of str to str
        For each criterion, "larger" or "smaller".
    criterion : str
        The first criterion, which chose the model.
    model : GaussianProcessRegressor or StackedRegressor
        The fitted model; the latter if kernels are combined.
    test : dict of str to float
        The scores on test rows: "rows", their number, "rmse", "coverage" of 95 % intervals, and "rmse_of_mean", the error of
        predicting the mean of the training targets. Empty if there are no test rows.
    kept : ndarray
        The training rows, which are those of the model's X_train_ unless it keeps none, as numbers in the file, from 1 on.
    seconds : float
    ended : str
        The reason why not everything was tried; empty if it was.
    grouped_by : str
        What was left out together, such as ``groups of 'patient'``; empty if it was rows, and those that equal them.
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
    model: GaussianProcessRegressor | StackedRegressor = field(repr=False)
    test: dict[str, float]
    kept: Indices = field(repr=False)
    seconds: float
    ended: str = ""
    grouped_by: str = ""

    @property
    def others(self) -> str:
        """The rows from which a row is predicted when it is left out, in words."""
        if self.grouped_by:
            return f"the other {self.grouped_by}"
        together = self.model.left_out_together_
        return "the others" if len(np.unique(together)) == len(together) else "those of other inputs"

    @property
    def processes(self) -> list[tuple[float, GaussianProcessRegressor]]:
        """The weight of each process of the model and the process, the likeliest first."""
        return self.model.processes if isinstance(self.model, StackedRegressor) else [(1.0, self.model)]

    @property
    def process(self) -> GaussianProcessRegressor:
        """The model, or the likeliest process in it: the one whose hyperparameters are shown."""
        return self.processes[0][1]

    @property
    def likelihood(self) -> Likelihood | None:
        """The likelihood of the target given the function, with its parameters; None for normal noise."""
        return getattr(self.model, "likelihood_", None)

    @property
    def keeps_rows(self) -> bool:
        """Whether the model keeps the rows that it was learnt from; see :mod:`kernsel.study.all_rows`."""
        return len(self.model.X_train_) > 0

    @property
    def is_stacked(self) -> bool:
        """Whether kernels are combined; the model may be of one alone nevertheless."""
        return isinstance(self.model, StackedRegressor)

    @property
    def approximation(self) -> str:
        """A sentence on what was approximated, and how good that is; empty if nothing was."""
        said = self.process.selection_.approximation.replace("approximation=None asks", "--approximation none asks")
        return said[:1].upper() + said[1:]

    @property
    def weighed_by(self) -> str:
        """What the weights of a mixture follow from, in words; approximate likelihoods cannot be compared."""
        return "rows left out" if self.approximation else "likelihood and by rows left out"

    def order(self, criterion: str) -> str:
        """Return a sentence that says how the kernels tried by a criterion are sorted; empty if by its value alone."""
        fitted = [line for line in self.lines[criterion] if not line.problem]
        if len(fitted) > 1 and fitted[0].as_good and TABLE[criterion].leaves_out:
            return (
                "In the order of the mean log density of rows left out, but for the first: it is the simplest of those within "
                "one standard error of the best."
            )
        values = [line.value for line in fitted if np.isfinite(line.value)]
        if values == sorted(values, reverse=self.better[criterion] == "larger"):
            return ""
        return "The best first: the value less what the numbers found are worth."  # by a search for a structure

    @property
    def line(self) -> Line:
        """The line of the model's kernel, or of the likeliest of those that have a weight."""
        return self.combined[0] if self.combined else self.lines[self.criterion][0]

    @property
    def combined(self) -> list[Line]:
        """The lines of the kernels that have a weight, in the order of `processes`; empty if kernels are not combined."""
        places = {str(process.kernel_): place for place, (_, process) in enumerate(self.processes)}
        lines = [one for one in self.lines[self.criterion] if one.weight > 0]
        return sorted(lines, key=lambda one: places.get(one.fitted, len(places)))

    @property
    def noise(self) -> float:
        """The variance of the noise: that of the mixture, or that found with the best kernel."""
        if isinstance(self.model, StackedRegressor):
            return float(np.mean(self.model.noise_))
        return self.lines[self.criterion][0].noise

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model and the study to a file, see :func:`kernsel.save`.

        Parameters
        ----------
        path : str or path-like
            Usually ``*.ksl``.
        """
        save(self.model, path, notes={"study": VERSION} | self.as_json())

    def as_json(self) -> dict[str, object]:
        """Return all but the model as values of JSON; None stands for nan and infinity."""
        notes: dict[str, object] = plain(
            {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "model"}
        )
        return notes

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that :meth:`save` has written.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        study : Study
        """
        notes = read_notes(path)
        if isinstance(notes, dict) and "study of classes" in notes:
            raise ValueError(f"{path} predicts classes; expected a model of numbers")
        if isinstance(notes, dict) and "selection" in notes and "study" not in notes:
            raise ValueError(f"{path} has no Gaussian process; kernsel.load reads it, and predicts from tables")
        if not isinstance(notes, dict) or "study" not in notes:
            raise ValueError(
                f"{path} has a model, but not what `kernsel select --save` writes beside it; kernsel.load reads it"
            )
        if notes["study"] != VERSION:
            raise ValueError(f"{path}: the study in it is of version {notes['study']!r}, expected {VERSION}; upgrade kernsel")
        model = load_estimator(path)
        if not isinstance(model, GaussianProcessRegressor | StackedRegressor):
            raise ValueError(f"{path}: expected a GaussianProcessRegressor or StackedRegressor, got a {type(model).__name__}")
        try:
            checked = of_notes(notes)
            if len(checked["names"]) != model.n_features_in_ or len(model.X_train_) not in (0, len(checked["kept"])):
                raise ValueError("it is of other columns or rows than the model")
            return cls(model=model, **checked)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: the study in it is damaged: {type(error).__name__} {error}") from None
