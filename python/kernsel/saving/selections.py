"""Saving and loading of the reports of searches."""

from __future__ import annotations

import numpy as np

from kernsel._search import Selection
from kernsel._search.far_rows import FarRows
from kernsel.criteria import Criterion
from kernsel.estimators.classification.search import Choice
from kernsel.estimators.support.selection import SupportSelection, SupportTried
from kernsel.saving.fields import Fields, Writing

__all__ = [
    "read_choice",
    "read_selection",
    "read_support_selection",
    "write_choice",
    "write_selection",
    "write_support_selection",
]


def write_selection(selection: Selection, to: Writing) -> None:
    """Write the report of a search, without the exception that interrupted it."""
    to.kernel("kernel", selection.kernel)
    to.array("of_starts", selection.of_starts)
    to.values(selection, "noise", "jitter", "criterion", "value", "amplitude", "scale", "n_evaluations", "n_evaluations_subset")
    if selection.far is not None:
        far = to.part("far")
        far.array("rows", selection.far.rows)
        far.array("sizes", selection.far.sizes)
        far.values(selection.far, "count_little")
    to.values(selection, "at_bounds", "flat", "not_sought", "ended", "seconds")
    if selection.remarks:
        to.values(selection, "remarks")
    for name in ("approximation", "compared"):
        if getattr(selection, name):
            to.values(selection, name)
    if selection.rows is not None:
        to.array("rows", selection.rows)
    if not np.isnan(selection.spread):
        to.values(selection, "spread")
    if selection.likelihood is not None:
        to.values(selection, "likelihood")


def read_selection(given: Fields) -> Selection:
    """Read the report of a search."""
    with given:
        criterion = given.value("criterion")
        if not isinstance(criterion, Criterion):
            raise ValueError(f"{given.prefix}criterion: expected a criterion, got {criterion!r:.60}")
        return Selection(
            kernel=given.kernel("kernel"),
            noise=given.number("noise", finite=False),
            jitter=given.number("jitter", 0.0),
            criterion=criterion,
            value=given.number("value", finite=False),
            amplitude=given.number("amplitude", 0.0) if given.has("amplitude") else 1.0,
            scale=given.number("scale", 0.0),
            spread=given.number("spread", 0.0) if given.has("spread") else np.nan,
            n_evaluations=given.whole("n_evaluations"),
            n_evaluations_subset=given.whole("n_evaluations_subset"),
            of_starts=given.array("of_starts", None, finite=False),
            at_bounds=given.texts("at_bounds"),
            flat=given.texts("flat"),
            not_sought=given.texts("not_sought") if given.has("not_sought") else [],  # not in files of version 0.1.0
            approximation=given.text("approximation") if given.has("approximation") else "",
            far=_read_far(given.part("far")) if given.has("far") else None,
            ended=given.text("ended"),
            seconds=given.number("seconds", 0.0),
            remarks=given.texts("remarks") if given.has("remarks") else [],
            rows=given.array("rows", None, dtype=np.int64).astype(np.intp) if given.has("rows") else None,
            likelihood=given.likelihood("likelihood") if given.has("likelihood") else None,
            compared=given.text("compared") if given.has("compared") else "",
        )


def _read_far(given: Fields) -> FarRows:
    with given:
        rows = given.array("rows", None, dtype=np.int64)
        return FarRows(rows.astype(np.intp), given.array("sizes", len(rows)), given.flag("count_little"))


def write_support_selection(selection: SupportSelection, to: Writing) -> None:
    """Write the choice for a support vector regression, with all kernels that were tried."""
    to.kernel("kernel", selection.kernel)
    to.values(selection, "C", "epsilon", "factor", "value", "criterion", "scoring", "seconds")
    if selection.remarks:
        to.values(selection, "remarks")
    for part, tried in zip(to.parts("table", len(selection.table)), selection.table, strict=True):
        part.kernel("kernel", tried.kernel)
        part.values(tried, "origin", "factor", "n_points")
        for name in ("Cs", "epsilons", "scores"):
            part.array(name, getattr(tried, name))


def read_support_selection(given: Fields) -> SupportSelection:
    """Read the choice for a support vector regression, with all kernels that were tried."""
    with given:
        return SupportSelection(
            C=given.number("C", 0.0),
            epsilon=given.number("epsilon", 0.0),
            kernel=given.kernel("kernel"),
            factor=given.number("factor", 0.0),
            value=given.number("value", finite=False),
            criterion=given.text("criterion"),
            scoring=given.text("scoring"),
            table=tuple(_read_tried(part) for part in given.parts("table", 10_000)),
            seconds=given.number("seconds", 0.0),
            remarks=given.texts("remarks") if given.has("remarks") else [],
        )


def _read_tried(given: Fields) -> SupportTried:
    with given:
        Cs, epsilons = given.array("Cs", None), given.array("epsilons", None)
        if not len(Cs) or not len(epsilons):
            raise ValueError(f"{given.prefix}Cs: expected some that were tried")
        return SupportTried(
            kernel=given.kernel("kernel"),
            origin=given.text("origin"),
            factor=given.number("factor", 0.0),
            Cs=Cs,
            epsilons=epsilons,
            scores=given.array("scores", len(Cs), len(epsilons), finite=False),
            n_points=given.whole("n_points"),
        )


def write_choice(choice: Choice, to: Writing) -> None:
    """Write the report of a classifier's search, without the mode and the exception that interrupted it."""
    to.kernel("kernel", choice.kernel)
    to.array("of_starts", choice.of_starts)
    to.values(choice, "n_evaluations", "n_evaluations_subset", "at_bounds", "ended", "seconds")
    if choice.remarks:
        to.values(choice, "remarks")


def read_choice(given: Fields) -> Choice:
    """Read the report of a classifier's search."""
    with given:
        if given.has("solved"):  # in files of version 0.1.0
            given.flag("solved")
        return Choice(
            kernel=given.kernel("kernel"),
            n_evaluations=given.whole("n_evaluations"),
            n_evaluations_subset=given.whole("n_evaluations_subset"),
            of_starts=given.array("of_starts", None, finite=False),
            at_bounds=given.texts("at_bounds"),
            ended=given.text("ended"),
            seconds=given.number("seconds", 0.0),
            remarks=given.texts("remarks") if given.has("remarks") else [],
        )
