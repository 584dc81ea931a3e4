"""Studies as JSON has them, and read back from files that may be damaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from math import isfinite, nan
from typing import Any

import numpy as np

from kernsel.study.line import Line
from kernsel.tables import Column

__all__ = ["of_notes", "plain"]


def plain(value: Any) -> Any:
    """Return dataclasses, arrays and numbers as JSON has them; numbers that it has not are None."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, Column | Line):
        return plain(asdict(value))
    if isinstance(value, list | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if isfinite(value) else None
    return value


def of_notes(notes: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a study, but for the model."""
    return {
        "source": _text(notes["source"]),
        "rows": int(notes["rows"]),
        "names": [_text(name) for name in notes["names"]],
        "columns": [_record(Column, each) for each in notes["columns"]],
        "target": _record(Column, notes["target"]),
        "remarks": [_text(remark) for remark in notes["remarks"]],
        "lines": {name: [_record(Line, line) for line in lines] for name, lines in notes["lines"].items()},
        "better": {name: _text(better) for name, better in notes["better"].items()},
        "criterion": _text(notes["criterion"]),
        "test": {name: _number(value) for name, value in notes["test"].items()},
        "kept": np.array([int(row) for row in notes["kept"]], dtype=np.intp),
        "seconds": _number(notes["seconds"]),
        "ended": _text(notes["ended"]),
    }


def _record(kind: type[Any], values: dict[str, Any]) -> Any:
    """Return a dataclass of texts, numbers and lists, with nan for what JSON could not hold."""
    read: dict[str, Callable[[Any], Any]] = {
        "str": _text,
        "float": _number,
        "int": int,
        "list[str]": _texts,
        "list[float]": _numbers,
    }
    return kind(**{each.name: read[str(each.type)](values[each.name]) for each in fields(kind)})


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value


def _texts(values: Any) -> list[str]:
    return [_text(value) for value in values]


def _number(value: Any) -> float:
    return nan if value is None else float(value)


def _numbers(values: Any) -> list[float]:
    return [_number(value) for value in values]
