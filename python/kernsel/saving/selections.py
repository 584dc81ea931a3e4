"""Reports of searches: what was chosen, what else was tried, how it ended."""

from __future__ import annotations

from kernsel.criteria import Criterion
from kernsel.saving.fields import Fields, Writing
from kernsel.selection import Selection

__all__ = ["read_selection", "write_selection"]


def write_selection(selection: Selection, to: Writing) -> None:
    """Write the report of a search; not what interrupted it."""
    to.kernel("kernel", selection.kernel)
    to.array("of_starts", selection.of_starts)
    to.values(selection, "noise", "jitter", "criterion", "value", "scale", "n_evaluations", "n_evaluations_subset")
    to.values(selection, "at_bounds", "flat", "ended", "seconds")


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
            scale=given.number("scale", 0.0),
            n_evaluations=given.whole("n_evaluations"),
            n_evaluations_subset=given.whole("n_evaluations_subset"),
            of_starts=given.array("of_starts", None, finite=False),
            at_bounds=given.texts("at_bounds"),
            flat=given.texts("flat"),
            ended=given.text("ended"),
            seconds=given.number("seconds", 0.0),
        )
