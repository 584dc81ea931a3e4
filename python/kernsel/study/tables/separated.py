"""The parsing of delimited text, such as CSV and TSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice

import numpy as np

from kernsel.study.tables.numerals import is_number
from kernsel.study.tables.raw import Raw, unique_names

__all__ = ["read_separated"]

_DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}  # the preferred ones first
_ROWS_TO_GUESS_BY = 50


def read_separated(content: bytes, source: str) -> Raw:
    """Return the columns of a text.

    Parameters
    ----------
    content : bytes
        Text in UTF-8, or in UTF-16 with a byte order mark.
    source : str
        The name of the file in errors.

    Returns
    -------
    raw : Raw
    """
    text = _decoded(content, source)
    if not text.strip():
        raise ValueError(f"{source} is empty")
    delimiter = _delimiter(text, source)
    header, header_line, records, lines, blank = _records(text, delimiter, source)
    remarks = []
    if blank:
        remarks.append(f"{_counted(blank, 'blank line')} skipped.")
    if any(header) and all(is_number(name, delimiter != ",") for name in header if name):
        remarks.append(
            f"The first line is numbers, not names: it was read as a row, and the columns are called "
            f"column1 to column{len(header)}."
        )
        records.insert(0, header)
        lines.insert(0, header_line)
        header = [f"column{number}" for number in range(1, len(header) + 1)]
    names, name_remarks = unique_names(header, source)
    if not records:
        raise ValueError(f"{source} has names of columns, {', '.join(names[:6])}{', ...' * (len(names) > 6)}, and no rows")
    columns: dict[str, list[str]] = dict(zip(names, map(list, zip(*records, strict=True)), strict=True))
    return Raw(source, dict(columns), np.array(lines, dtype=np.intp), remarks + name_remarks, delimiter != ",")


def _decoded(content: bytes, source: str) -> str:
    """Return the decoded text, without its byte order mark."""
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if encoding != "utf-16" and b"\0" in content:
        raise ValueError(
            f"{source} is not text: it has a zero byte at position {content.index(0)}; expected CSV, Parquet or npz"
        )
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{source}, line {line}: the byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8 "
            f"(if it is Latin-1: iconv -f latin1 -t utf-8 FILE > NEW)"
        ) from None


def _delimiter(text: str, source: str) -> str:
    """Return the delimiter with which the first rows have the same number of values, more than one."""
    best, best_merit = ",", (0.0, False, 0)
    for delimiter in _DELIMITERS:
        try:
            reader = csv.reader(_beginning(text), delimiter=delimiter)
            rows = [row for row in islice(reader, _ROWS_TO_GUESS_BY) if _has_values(row)]
        except csv.Error as error:
            raise ValueError(f"{source} cannot be read as CSV: {error}") from None
        width, count = Counter(len(row) for row in rows).most_common(1)[0] if rows else (1, 0)
        if width > 1:
            merit = (count / len(rows), len(rows[0]) == width, min(width, 2))
            if merit > best_merit:
                best, best_merit = delimiter, merit
    return best


def _beginning(text: str) -> io.StringIO:
    """Return the first megabyte, which bounds the length of a value whose quote is never closed."""
    return io.StringIO(text[:1_000_000], newline="")


def _records(text: str, delimiter: str, source: str) -> tuple[list[str], int, list[list[str]], list[int], int]:
    """Return the first row and its line, the other rows and their lines, and the number of blank lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    header: list[str] | None = None
    records: list[list[str]] = []
    lines: list[int] = []
    blank = header_line = 0
    line = 1  # where the next record begins
    try:
        for record in reader:
            start, line = line, reader.line_num + 1
            if not _has_values(record):
                blank += 1
            elif header is None:
                header, header_line = [name.strip() for name in record], start
            elif len(record) != len(header):
                raise ValueError(_ragged(source, start, record, header, header_line, delimiter))
            else:
                records.append(record)
                lines.append(start)
    except csv.Error as error:
        unclosed = (
            "; is a quote not closed?" if "quote" in str(error) or "end of data" in str(error) or "limit" in str(error) else ""
        )
        raise ValueError(f"{source}, line {line}: {error}{unclosed}") from None
    if header is None:
        raise ValueError(f"{source} is empty")
    return header, header_line, records, lines, blank


def _has_values(record: list[str]) -> bool:
    """Tell whether a row is not blank."""
    return any(value and not value.isspace() for value in record)


def _ragged(source: str, line: int, record: list[str], header: list[str], header_line: int, delimiter: str) -> str:
    advice = f"; a value with {_DELIMITERS[delimiter]} in it has to be in quotes" if len(record) > len(header) else ""
    return (
        f"{source}, line {line}: {_counted(len(record), 'value')}, where line {header_line} has {len(header)} "
        f"(separated by {_DELIMITERS[delimiter]}){advice}"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
