"""The parsing of delimited text, such as CSV and TSV, or values between blanks."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import dropwhile, islice
from typing import TextIO

import numpy as np

from kernsel.study.tables.numerals import is_number
from kernsel.study.tables.raw import Raw, unique_names

__all__ = ["Records", "raw_of_records", "read_separated", "read_separated_in_parts"]

# The preferred ones first; a blank stands for any number of blanks and tabs.
_DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", " ": "blanks"}
_INNER_MARK = re.compile(r"\S\s+#")
_COMMENT_OF_HEADER = re.compile(r"\s+#(?:\s.*)?$")
_BETWEEN_BLANKS = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
_ROWS_TO_GUESS_BY = 50
_MEGABYTE = 1_000_000


def read_separated(content: bytes, source: str) -> Raw:
    """Return the columns of a text.

    Parameters
    ----------
    content : bytes
        Text in UTF-8, or in UTF-16 with a byte order mark. Lines that begin with # are comments; the last one above the rows
        may have the names of the columns. So is what follows # after the names, and between blanks after values.
    source : str
        The name of the file in errors.

    Returns
    -------
    raw : Raw
    """
    text = _decoded(content, source)
    if not text.strip():
        raise ValueError(f"{source} is empty")
    marked = _has_comments(text)
    delimiter = _delimiter(text, source, marked)
    (records,) = _records(_Reader(text, delimiter, marked), delimiter, source)
    return raw_of_records(records, source, decimal_comma=delimiter != ",")


def read_separated_in_parts(stream: TextIO, source: str, rows: int) -> Iterator[Raw]:
    """Yield the columns of a text as those of at most so many rows at a time.

    The delimiter and the meaning of # are those of the first megabyte.
    """
    beginning = _peeked(stream)
    if not beginning.strip():
        raise ValueError(f"{source} is empty")
    marked = _has_comments(beginning)
    delimiter = _delimiter(beginning, source, marked)
    names: list[str] = []
    for records in _records(_Reader(stream, delimiter, marked), delimiter, source, rows):
        if names:
            records.header = names  # which are unique by now, and no numbers that are a row
        raw = raw_of_records(records, source, decimal_comma=delimiter != ",")
        names = list(raw.columns)
        yield raw


def raw_of_records(records: Records, source: str, *, decimal_comma: bool) -> Raw:
    """Return the columns of records, of which the first one has the names, unless it is numbers."""
    header, rows, lines, remarks = records.header, records.rows, records.lines, list(records.remarks)
    if records.blank:
        remarks.append(f"{_counted(records.blank, 'blank line')} skipped.")
    if any(header) and all(is_number(name, decimal_comma) for name in header if name):
        remarks.append(
            f"The first line is numbers, not names: it was read as a row, and the columns are called "
            f"column1 to column{len(header)}."
        )
        rows, lines = [header, *rows], [records.header_line, *lines]
        header = [f"column{number}" for number in range(1, len(header) + 1)]
    names, name_remarks = unique_names(header, source)
    if not rows:
        raise ValueError(f"{source} has names of columns, {', '.join(names[:6])}{', ...' * (len(names) > 6)}, and no rows")
    columns: dict[str, list[str]] = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Raw(source, dict(columns), np.array(lines, dtype=np.intp), remarks + name_remarks, decimal_comma)


def _decoded(content: bytes, source: str) -> str:
    """Return the decoded text, without its byte order mark."""
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if encoding != "utf-16" and b"\0" in content:
        raise ValueError(
            f"{source} is not text: it has a zero byte at position {content.index(0)}; expected CSV, Excel, Parquet or npz"
        )
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{source}, line {line}: the byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8 "
            f"(if it is Latin-1: iconv -f latin1 -t utf-8 FILE > NEW)"
        ) from None


def _has_comments(text: str) -> bool:
    """Tell whether lines that begin with # are comments: they are values if most lines below the first are such."""
    if "#" not in text:
        return False
    marked = [line.lstrip().startswith("#") for line in io.StringIO(text, newline="") if not line.isspace()]
    below = list(dropwhile(bool, marked))[1:]  # without the comments above the names, and the names
    return any(marked) and 2 * sum(below) <= len(below)


def _delimiter(text: str, source: str, marked: bool) -> str:
    """Return the delimiter with which the first rows have the same number of values, more than one."""
    best, best_merit = ",", (0.0, False, 0)
    for delimiter in _DELIMITERS:
        try:
            reader = _Reader(_beginning(text), delimiter, marked, strict=False)
            rows = [row for row in islice(reader, _ROWS_TO_GUESS_BY) if _has_values(row)]
        except csv.Error as error:
            raise ValueError(f"{source} cannot be read as CSV: {error}") from None
        width, count = Counter(len(row) for row in rows).most_common(1)[0] if rows else (1, 0)
        if width > 1:
            merit = (count / len(rows), len(rows[0]) == width, min(width, 2))
            if merit > best_merit:
                best, best_merit = delimiter, merit
    return best


def _beginning(text: str) -> str:
    """Return the first megabyte, which bounds the length of a value whose quote is never closed."""
    return text[:_MEGABYTE]


def _peeked(stream: TextIO) -> str:
    """Return the whole lines in the first megabyte of a stream, which can go back, and is left at its beginning."""
    stream.seek(0)
    text = stream.read(_MEGABYTE)
    stream.seek(0)
    return text if len(text) < _MEGABYTE else text[: text.rfind("\n") + 1] or text


class _Reader:
    """An iterator over the records of a text, without comments.

    Attributes
    ----------
    line : int
        The number of lines that have been read.
    comments : list of tuple of int and str
        The comments that have been read, with their lines.
    ends_in_comments : bool
        Whether what follows # after values is left out.
    """

    def __init__(self, text: str | TextIO, delimiter: str, marked: bool, *, strict: bool = True) -> None:
        self.line = 0
        self.comments: list[tuple[int, str]] = []
        self._marked = marked  # whether lines that begin with # are comments
        self._begins = True  # whether the next line begins a record, and does not go on with a value in quotes
        stream = io.StringIO(text, newline="") if isinstance(text, str) else text
        lines = self._lines(stream)
        self.ends_in_comments = delimiter == " " and _ends_in_comments(text if isinstance(text, str) else _peeked(text))
        if delimiter == " ":
            split = _without_comment if self.ends_in_comments else _between_blanks
            self._records: Iterator[list[str]] = map(split, lines)
        else:
            self._records = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)

    def _lines(self, stream: TextIO) -> Iterator[str]:
        for line in stream:
            self.line += 1
            if self._marked and self._begins and line.lstrip().startswith("#"):
                self.comments.append((self.line, line.strip()))
            else:
                self._begins = False
                yield line

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        self._begins = True
        return next(self._records)


def _between_blanks(line: str) -> list[str]:
    """Return the values of a line that blanks separate; blanks within quotes are part of a value."""
    return [found[1].replace('""', '"') if found[2] is None else found[2] for found in _BETWEEN_BLANKS.finditer(line)]


def _without_comment(line: str) -> list[str]:
    """Return the values of a line up to one that begins with # and is not in quotes; the first may begin so."""
    values: list[str] = []
    for found in _BETWEEN_BLANKS.finditer(line):
        if values and found[2] is not None and found[2].startswith("#"):
            break
        values.append(found[1].replace('""', '"') if found[2] is None else found[2])
    return values


def _ends_in_comments(text: str) -> bool:
    """Tell whether what follows # in lines of values between blanks is a comment: more lines are then equally long."""
    if "#" not in text:
        return False
    lines = [line for line in io.StringIO(text) if not line.isspace() and not line.lstrip().startswith("#")]
    inner = [line for line in lines if _INNER_MARK.search(line)]
    if not inner:
        return False
    uncut, cut = ([len(split(line)) for line in inner] for split in (_between_blanks, _without_comment))
    others = Counter(len(_between_blanks(line)) for line in lines if not _INNER_MARK.search(line))
    if others:
        width = others.most_common(1)[0][0]
        return cut.count(width) > uncut.count(width)
    return max(Counter(cut).values()) > max(Counter(uncut).values())


@dataclass
class Records:
    """The lines of a table as texts.

    Attributes
    ----------
    header : list of str
        The first record, which has the names of the columns, or is a row.
    header_line : int
    rows : list of list of str
        The other records.
    lines : list of int
        Their lines.
    blank : int
        The number of blank lines.
    remarks : list of str
    """

    header: list[str]
    header_line: int
    rows: list[list[str]]
    lines: list[int]
    blank: int = 0
    remarks: list[str] = field(default_factory=list)


def _records(reader: _Reader, delimiter: str, source: str, rows: int | None = None) -> Iterator[Records]:
    """Yield the records of a text, at most so many rows at a time; raise if they are not equally long."""
    found: Records | None = None
    blank = 0
    end = 0  # the line at which the last record ends
    try:
        for record in reader:
            start = max(end, reader.comments[-1][0] if reader.comments else 0) + 1
            end = reader.line
            if not _has_values(record):
                blank += 1
                continue
            if found is None:
                found = _begun(record, start, reader.comments, delimiter)
                continue
            if len(record) != len(found.header):
                raise ValueError(_ragged(source, start, record, found.header, found.header_line, delimiter))
            if rows is not None and len(found.rows) >= rows:
                yield found
                found = Records(found.header, found.header_line, [], [])
            found.rows.append(record)
            found.lines.append(start)
    except csv.Error as error:
        unclosed = (
            "; is a quote not closed?" if "quote" in str(error) or "end of data" in str(error) or "limit" in str(error) else ""
        )
        raise ValueError(f"{source}, line {end + 1}: {error}{unclosed}") from None
    if found is None:
        raise ValueError(f"{source} is empty")
    found.blank = blank
    if reader.ends_in_comments:
        found.remarks.append("What follows # after values was taken for comments, and skipped.")
    comments = len(reader.comments) - any(line == found.header_line for line, _ in reader.comments)
    if comments:
        found.remarks.append(f"{_counted(comments, 'line')} that begin{'s' * (comments == 1)} with # skipped.")
    yield found


def _begun(record: list[str], line: int, comments: list[tuple[int, str]], delimiter: str) -> Records:
    """Return the records that begin with one; its names may be in the comment above it, if it has a number."""
    if comments and len(record) > 1 and any(is_number(value, delimiter != ",") for value in record):
        above, comment = comments[-1]
        names = _names_in(comment, delimiter)
        if len(names) == len(record):
            remark = f"The names of the columns are those in line {above}, which begins with #."
            return Records(names, above, [record], [line], remarks=[remark])
    names = [name.strip() for name in record]
    last = _COMMENT_OF_HEADER.sub("", names[-1])
    if last and last != names[-1]:
        remark = f"The last column is called {last!r}: what follows in line {line} was taken for a comment."
        return Records([*names[:-1], last], line, [], [], remarks=[remark])
    return Records(names, line, [], [])


def _names_in(comment: str, delimiter: str) -> list[str]:
    """Return the names of columns that a comment may have; the column of a mark alone is called so, as in "#,x,y"."""
    text = _COMMENT_OF_HEADER.sub("", comment.lstrip("#").lstrip(" "))
    try:
        names = [name.strip() for name in next(_Reader(text, delimiter, marked=False), [])]
    except csv.Error:
        return []
    return ["#", *names[1:]] if names and not names[0] else names


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
