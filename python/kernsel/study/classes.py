"""The choice of a kernel for classes: a study whose target is no number."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from math import nan
from typing import Any, Literal, Self

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.together import numbered
from kernsel.estimators.classification import GaussianProcessClassifier
from kernsel.kernels import Kernel
from kernsel.saving import load_estimator, read_notes, save
from kernsel.study.choose import divided
from kernsel.study.encoded import labels_of
from kernsel.study.line import Line
from kernsel.study.notes import of_notes, plain
from kernsel.study.select import Selected, Tried, select
from kernsel.study.tables import Column, Table
from kernsel.study.texts import kernel_of, label

__all__ = ["MARK", "VERSION", "ClassStudy", "is_of_classes", "line_of_classes", "places_of", "study_of_classes"]

VERSION = 1  # the version of the format in which studies of classes are saved
MARK = "study of classes"  # the name of this version in the notes of a file


@dataclass(frozen=True)
class ClassStudy:
    """All fits to a table whose target is a class, and the chosen model.

    The attributes are those of :class:`kernsel.study.Study`, with these differences.

    Attributes
    ----------
    lines : list of Line
        The fits, the best one first; `loo_log_density` is nan if the criterion is "lml".
    criterion : {"loo", "lml"}
    model : GaussianProcessClassifier
    test : dict of str to float
        The scores on test rows: "rows", "accuracy", "accuracy_of_most", the accuracy of the most frequent class, and
        "log_density", the mean log probability of the right class. Empty if there are no test rows.
    """

    source: str
    rows: int
    names: list[str]
    columns: list[Column]
    target: Column
    remarks: list[str]
    lines: list[Line]
    criterion: str
    model: GaussianProcessClassifier = field(repr=False)
    test: dict[str, float]
    kept: Indices = field(repr=False)
    seconds: float
    ended: str = ""
    grouped_by: str = ""

    @property
    def others(self) -> str:
        """The rows from which a row is predicted when it is left out, in words."""
        return f"the other {self.grouped_by}" if self.grouped_by else "the others"

    def probabilities(self, X: Matrix) -> Matrix:
        """Return the probabilities of the classes, in the order of the levels of the target; 0 for one that was not learnt."""
        found = np.zeros((len(X), len(self.target.levels)))
        found[:, places_of(self.model, self.target)] = self.model.predict_proba(X)
        return found

    def left_out(self) -> dict[str, float]:
        """Return the scores of the training rows, the class of each predicted from the others, or from the other groups."""
        of_right = np.exp(self.model.loo_log_probability_)
        signs = np.column_stack([process.y_train_ for process in self.model.processes()])
        of_second = np.where(signs > 0, of_right.reshape(signs.shape), 1 - of_right.reshape(signs.shape))
        if signs.shape[1] == 1:
            of_second, signs = np.hstack([1 - of_second, of_second]), np.hstack([-signs, signs])
        places = places_of(self.model, self.target)
        found = np.zeros((len(signs), len(self.target.levels)))
        found[:, places] = of_second / np.maximum(of_second.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return self.scores(found, np.array(places, dtype=np.float64)[np.argmax(signs, axis=1)])

    def scores(self, probabilities: Matrix, codes: Vector) -> dict[str, float]:
        """Return the scores of probabilities where the numbers of the right classes are known; empty if none is."""
        known = ~np.isnan(codes)
        if not known.any():
            return {}
        right = codes[known].astype(int)
        of_right = probabilities[known, right]
        with np.errstate(divide="ignore"):
            density = float(np.mean(np.log(of_right)))
        return {
            "rows": float(len(right)),
            "accuracy": float(np.mean(np.argmax(probabilities[known], axis=1) == right)),
            "accuracy_of_most": float(np.mean(right == int(np.argmax(self.target.shares)))),
            "log_density": density,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model and the study to a file, see :func:`kernsel.save`."""
        save(self.model, path, notes={MARK: VERSION} | self.as_json())

    def as_json(self) -> dict[str, object]:
        """Return all but the model as values of JSON; None stands for nan and infinity."""
        notes = {entry.name: plain(getattr(self, entry.name)) for entry in fields(self) if entry.name != "model"}
        notes["lines"] = {self.criterion: notes["lines"]}  # as in Study
        return notes | {"better": {self.criterion: "larger"}}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that :meth:`save` has written."""
        notes = read_notes(path)
        if not isinstance(notes, dict) or notes.get(MARK) != VERSION:
            raise ValueError(f"{path} has no study of classes of version {VERSION}; upgrade kernsel if it has a later one")
        model = load_estimator(path)
        if not isinstance(model, GaussianProcessClassifier):
            raise ValueError(f"{path}: expected a GaussianProcessClassifier, got a {type(model).__name__}")
        try:
            checked: dict[str, Any] = {**of_notes(notes)}
            checked["lines"] = checked["lines"][checked["criterion"]]
            study = cls(model=model, **{entry.name: checked[entry.name] for entry in fields(cls) if entry.name != "model"})
            if len(study.names) != model.n_features_in_:
                raise ValueError("it is of other columns than the model")
            places_of(model, study.target)
            return study
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: the study in it is damaged: {type(error).__name__} {error}") from None


def places_of(model: GaussianProcessClassifier, target: Column) -> list[int]:
    """Return the place of each class of a model among the levels of the target, of which the classes may be the numbers."""
    numbers = model.classes_.dtype.kind in "iuf"
    levels = labels_of(target.levels).tolist() if numbers else target.levels
    if not set(model.classes_.tolist()) <= set(levels):
        raise ValueError(f"it is of other classes than the model: {', '.join(target.levels[:8])}")
    return [levels.index(label) for label in model.classes_.tolist()]


def is_of_classes(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is one that :meth:`ClassStudy.save` has written."""
    notes = read_notes(path)
    return isinstance(notes, dict) and MARK in notes


def study_of_classes(
    table: Table,
    *,
    kernels: Iterable[Kernel | str] | None = None,
    criterion: Literal["loo", "lml"] = "loo",
    rows: int = 1000,
    test: float = 0.0,
    budget: float | None = None,
    seed: int = 0,
    progress: Callable[[str, str], None] | None = None,
) -> ClassStudy:
    """Choose a kernel for a table whose target is a class, by the probabilities of classes that are left out.

    Parameters
    ----------
    table : Table
        One that was read with ``classes=True``.
    kernels, rows, test, budget, seed, progress
        As in :func:`kernsel.study.study`.
    criterion : {"loo", "lml"}
        The log probability of each class predicted from the other rows, or, if the table has groups, from the other groups; or
        the log marginal likelihood.

    Returns
    -------
    study : ClassStudy

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.study.classes import study_of_classes
    >>> from kernsel.study.tables import Column, Table
    >>> x = np.linspace(0, 6, 30)
    >>> target = Column("y", "category", levels=["down", "up"], shares=[0.5, 0.5])
    >>> y = (np.sin(x) > 0).astype(float)
    >>> table = Table("made", 30, x[:, None], y, ["x"], [Column("x", "number")], target, [], np.arange(1, 31))
    >>> found = study_of_classes(table, kernels=["RBF", "Linear"])
    >>> found.lines[0].kernel, found.probabilities(np.array([[1.5], [4.5]])).round().tolist()
    ('RBF', [[0.0, 1.0], [1.0, 0.0]])
    """
    start = time.perf_counter()
    assert table.target is not None
    training, tests, remarks = divided(table, np.arange(len(table.X)), rows, test, seed)
    X, codes = table.X[training], np.asarray(table.y)[training]
    labels = np.array(table.target.levels)[codes.astype(int)]
    groups = None if table.groups is None else numbered(table.groups[training])[0]
    if groups is not None and not groups.any():
        raise ValueError(f"{table.source}: the rows to learn from are of one group only; two {table.grouped_by} are needed")
    found: Selected = select(
        X,
        labels,
        kernels if kernels is None else [kernel_of(one, table) for one in kernels],
        criterion,
        estimator=GaussianProcessClassifier(),
        max_seconds=budget,
        random_state=seed,
        progress=None if progress is None else lambda kernel: progress(criterion, label(kernel, table.names)),
        groups=groups,
    )
    study = ClassStudy(
        table.source,
        table.rows,
        table.names,
        table.columns,
        table.target,
        [*table.remarks, *remarks],
        [line_of_classes(one, len(labels), criterion, table.names) for one in found.tried],
        criterion,
        found.best_estimator_,
        {},
        table.kept[training],
        time.perf_counter() - start,
        found.ended,
        table.grouped_by,
    )
    if len(tests):
        assert table.y is not None
        study.test.update(study.scores(study.probabilities(table.X[tests]), table.y[tests]))
    return study


def line_of_classes(one: Tried, n: int, criterion: str, names: list[str]) -> Line:
    """Return the line of a fit."""
    fitted = str(one.kernel_) if isinstance(one.kernel_, Kernel) else ""
    density = one.value / n if criterion == "loo" else nan
    return Line(
        kernel=label(one.kernel, names),
        fitted=fitted,
        value=one.value,
        loo_rmse=nan,
        loo_log_density=density,
        coverage=nan,
        noise=0.0,
        parameters=one.parameters,
        evaluations=one.n_evaluations_,
        seconds=one.seconds,
        problem=one.problem,
        ended=one.ended,
    )
