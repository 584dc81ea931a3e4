"""The conversion of studies to JSON and back, from files that may be damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from math import isfinite, nan
from typing import Any, TypedDict, TypeVar

import numpy as np

from kernsel._base.annotations import Indices
from kernsel.study.line import Line
from kernsel.study.tables import Column

__all__ = ["of_notes", "of_table", "plain"]


Record = TypeVar("Record", Column, Line)


class TableNotes(TypedDict):
    """The fields of a study that describe its table."""

    source: str
    rows: int
    names: list[str]
    columns: list[Column]
    target: Column
    remarks: list[str]
    kept: Indices


class Notes(TableNotes):
    """The fields of a study, but for the model."""

    lines: dict[str, list[Line]]
    better: dict[str, str]
    criterion: str
    test: dict[str, float]
    seconds: float
    ended: str
    grouped_by: str


def plain(value: object) -> Any:
    """Return a value with dataclasses, arrays and numbers converted to types of JSON; nan and infinity become None."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Column | Line):
        return plain(asdict(value))
    if isinstance(value, list | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if isfinite(value) else None
    return value


def of_notes(notes: Mapping[str, Any]) -> Notes:
    """Return the fields of a study from the values of JSON; raise if one is missing or of a wrong type."""
    return {
        **of_table(notes),
        "lines": {name: [_record(Line, line) for line in lines] for name, lines in notes["lines"].items()},
        "better": {name: _text(better) for name, better in notes["better"].items()},
        "criterion": _text(notes["criterion"]),
        "test": {name: _number(value) for name, value in notes["test"].items()},
        "seconds": _number(notes["seconds"]),
        "ended": _text(notes["ended"]),
        "grouped_by": _text(notes.get("grouped_by", "")),  # which studies of earlier versions do not have
    }


def of_table(notes: Mapping[str, Any]) -> TableNotes:
    """Return the fields of a study that describe its table, see :func:`of_notes`."""
    return {
        "source": _text(notes["source"]),
        "rows": int(notes["rows"]),
        "names": [_text(name) for name in notes["names"]],
        "columns": [_record(Column, column) for column in notes["columns"]],
        "target": _record(Column, notes["target"]),
        "remarks": [_text(remark) for remark in notes["remarks"]],
        "kept": np.array([int(row) for row in notes["kept"]], dtype=np.intp),
    }


def _record(kind: type[Record], values: Mapping[str, object]) -> Record:
    """Return a dataclass of texts, numbers and lists; None stands for nan. Later versions have more fields, with defaults."""
    readers: dict[str, Callable[[Any], Any]] = {
        "str": _text,
        "float": _number,
        "int": int,
        "bool": bool,
        "list[str]": _texts,
        "list[float]": _numbers,
    }
    present = [entry for entry in fields(kind) if entry.name in values or entry.default is MISSING]
    return kind(**{entry.name: readers[str(entry.type)](values[entry.name]) for entry in present})


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value


def _texts(values: list[object]) -> list[str]:
    return [_text(value) for value in values]


def _number(value: float | None) -> float:
    return nan if value is None else float(value)


def _numbers(values: list[float | None]) -> list[float]:
    return [_number(value) for value in values]
