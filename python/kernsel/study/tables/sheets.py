"""Sheets of Excel's files (.xlsx), read by openpyxl."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

from kernsel.study.tables.raw import Raw
from kernsel.study.tables.separated import Records, raw_of_records

__all__ = ["read_sheet", "size_of_sheets"]


def size_of_sheets(content: bytes, source: str) -> int:
    """Return how many bytes are in the compressed parts of a file, as it says; no more of them are ever decompressed."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return sum(part.file_size for part in archive.infolist())
    except zipfile.BadZipFile as error:
        raise ValueError(f"{source} cannot be read as an Excel file: {error}") from None


def read_sheet(content: bytes, source: str) -> Raw:
    """Return the columns of the first sheet, whose first row has their names; of formulas, the values that Excel has stored."""
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(f"{source}: Excel files need openpyxl: pip install 'kernsel[excel]'; or save it as CSV") from error
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = book.worksheets
        values = [list(row) for row in sheets[0].iter_rows(values_only=True)] if sheets else []
        names = [str(sheet.title) for sheet in sheets]
    except Exception as error:  # openpyxl raises errors of many kinds for files that are damaged
        raise ValueError(f"{source} cannot be read as an Excel file: {error}") from None
    remarks = []
    if len(names) > 1:
        remarks.append(f"Of the {len(names)} sheets of {source}, only {names[0]!r} is read, the first one.")
    return raw_of_records(_records(values, source, remarks), source, decimal_comma=False)


def _records(values: list[list[Any]], source: str, remarks: list[str]) -> Records:
    """Return the rows of a sheet as texts, without empty ones and without empty columns to the right."""
    width = max((k + 1 for row in values for k, value in enumerate(row) if value not in (None, "")), default=0)
    found: Records | None = None
    blank = 0
    for line, row in enumerate(values, 1):
        texts = _texts(row[:width] + [None] * (width - len(row)))
        if not any(texts):
            blank += 1
        elif found is None:
            found = Records([text.strip() for text in texts], line, [], [], remarks=remarks)
        else:
            found.rows.append(texts)
            found.lines.append(line)
    if found is None:
        raise ValueError(f"{source} is empty")
    found.blank = blank
    return found


def _texts(row: Iterable[Any]) -> list[str]:
    """Return the values of cells as texts: numbers in all digits, dates in those of ISO 8601."""
    return ["" if value is None else value.isoformat() if isinstance(value, datetime | date) else str(value) for value in row]
