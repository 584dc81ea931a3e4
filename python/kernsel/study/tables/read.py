"""The reading of a file as a table of numbers, for training or for predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Matrix
from kernsel.study.tables.encode import encode, encode_new, encoded_names
from kernsel.study.tables.files import read_raw
from kernsel.study.tables.grouping import grouping_by
from kernsel.study.tables.guess import DIFFERENT_TEXTS, EIGHT_DIGITS, SHORT_YEARS, guess, numbers_in
from kernsel.study.tables.missing import Missing, counted_rows, filled, rows_kept
from kernsel.study.tables.parts import is_large, read_in_parts, read_some
from kernsel.study.tables.raw import Raw
from kernsel.study.tables.sizes import rows_with_sizes, size_column, sizes_of_new_rows
from kernsel.study.tables.table import Column, Table
from kernsel.study.tables.targets import class_target, number_target, numbers_of_classes

__all__ = ["columns_of", "inputs_found", "read_sample", "read_table", "read_to_predict", "rows_to_predict", "table_of"]


def read_table(
    path: str,
    target: str,
    *,
    columns: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    missing: Missing = "drop",
    classes: bool = False,
    groups: str | None = None,
    time: str | None = None,
    exposure: str | None = None,
    trials: str | None = None,
) -> Table:
    r"""Read a file with training data.

    Parameters
    ----------
    path : str
        "-" is the standard input.
    target : str
        The name of the column to predict.
    columns : sequence of str
        The columns to predict it from; by default all others.
    leave_out : sequence of str
        Columns that are not used.
    missing : {"drop", "mean", "error"}
        What to do about missing values: drop the rows that have one, replace them by the mean of the column, or raise. Rows
        without a target are dropped, unless it is "error".
    classes : bool
        Whether the target is a class. Then y has the number of the class, an index of the levels of the column `target`.
    groups : str, optional
        A column whose values tell which rows are left out together. It is an input only if `columns` names it.
    time : str, optional
        A column of numbers or dates, in place of `groups`: rows are left out in blocks that follow each other in time. It is an
        input like other columns.

    exposure, trials : str, optional
        A column with the exposure of each row, or the number of its trials, which is then no input.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernsel.study.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "cars.csv"
    ...     _ = path.write_text("speed,tyres,dist\n10,old,26\n20,old,50\n20,new,44\n")
    ...     table = read_table(str(path), "dist")
    >>> table.names, [column.kind for column in table.columns]
    (['speed', 'tyres=old'], ['number', 'category'])
    >>> table.X.tolist(), table.y.tolist()
    ([[10.0, 1.0], [20.0, 1.0], [20.0, 0.0]], [26.0, 50.0, 44.0])
    """
    raw = read_raw(path)
    return table_of(
        raw,
        target,
        columns=columns,
        leave_out=leave_out,
        missing=missing,
        classes=classes,
        groups=groups,
        time=time,
        exposure=exposure,
        trials=trials,
    )


def table_of(
    raw: Raw,
    target: str,
    *,
    columns: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    missing: Missing = "drop",
    classes: bool = False,
    groups: str | None = None,
    time: str | None = None,
    exposure: str | None = None,
    trials: str | None = None,
) -> Table:
    """Return columns as a table with training data, see :func:`read_table`."""
    sizes = {kind: name for kind, name in (("exposure", exposure), ("trials", trials)) if name}
    if len(sizes) > 1:
        raise ValueError("exposure, trials: expected one of them")
    for name in (target, *columns, *leave_out, *filter(None, (groups, time)), *sizes.values()):
        require_column(raw, name)
    if groups and time:
        raise ValueError("groups, time: expected one of them, since both tell what is left out together")
    for kind, name in sizes.items():
        if name == target or name in columns or name in leave_out:
            raise ValueError(f"{kind}: column {name!r} cannot be an input, left out, or what is predicted")
    if target in (groups, time):
        raise ValueError(f"target: column {target!r} is what is predicted; it cannot tell what is left out together")
    if target in columns or target in leave_out:
        raise ValueError(f"target: column {target!r} is what is predicted; it can be neither an input nor left out")
    if raw.rows == 1:
        raise ValueError(f"{raw.source} has 1 row, and nothing can be learnt from one")
    y, target_column = class_target(raw, target) if classes else number_target(raw, target)
    described = []
    for name in raw.columns:
        if name == target:
            continue
        if name in sizes.values():
            described.append(size_column(raw, name, *sizes)[1])
        elif name in leave_out or (columns and name not in columns and name != groups):
            described.append(Column(name, "left out", "as told"))
        elif name == groups and name not in columns:
            described.append(Column(name, "left out", "tells the groups"))
        else:
            described.append(guess(raw, name, wanted=name in columns))
    remarks = [*raw.remarks, *_remarks(raw, described, columns)]
    if not classes and len(np.unique(y[~np.isnan(y)])) == 2 and len(y) > 2:
        remarks.append(f"{target!r} has two values only: {raw.for_classes} gives their probabilities.")
    inputs = [column for column in described if encoded_names(column)]
    if not inputs:
        reasons = "; ".join(f"{column.name}: {column.why}" for column in described[:8] if column.why != "as told")
        raise ValueError(f"{raw.source} has no column to predict {target!r} from{' (' + reasons + ')' if reasons else ''}")
    X = np.hstack([encode(raw, column) for column in inputs])
    kept, row_remarks = rows_kept(raw, X, y, inputs, target, missing)
    size_remarks: list[str] = []
    for kind, name in sizes.items():
        size_of, column = size_column(raw, name, kind)
        kept, size_remarks = rows_with_sizes(size_of, column, kept, "they are left out")
    grouping = grouping_by(raw, groups, time, kept)
    kept, row_remarks = grouping.kept, [*row_remarks, *size_remarks, *grouping.remarks]
    if missing == "mean":
        X = filled(X, inputs)
    names = [name for column in inputs for name in encoded_names(column)]
    return Table(
        raw.source,
        raw.rows,
        X[kept],
        y[kept],
        names,
        described,
        target_column,
        remarks + row_remarks,
        (kept if raw.numbers is None else raw.numbers[kept]) + 1,
        grouping.labels,
        grouping.name,
        size_of[kept] if sizes else None,
        next(iter(sizes), ""),
    )


def columns_of(path: str) -> list[str]:
    """Return the names of the columns of a file."""
    return list((next(read_in_parts(path)) if is_large(path) else read_raw(path)).columns)


def read_sample(path: str, target: str, count: int, seed: int, **options: Any) -> Table:
    """Read random rows of a file that is read in parts, as a table; see :func:`read_table` for the options.

    Parameters
    ----------
    path : str
        A CSV, TSV or Parquet file, or a directory of Parquet files.
    target : str
    count : int
        The number of rows.
    seed : int
    **options
        Those of :func:`read_table`.

    Returns
    -------
    table : Table
        Its `rows` are those of the file, and `kept` are numbers of these.
    """
    raw, rows = read_some(path, count, seed)
    table = table_of(raw, target, **options)
    remark = f"{path} is too large to be read at once: of its {rows:,} rows {raw.rows:,} were taken, at random."
    return replace(table, rows=rows, remarks=[remark, *table.remarks] if rows > raw.rows else table.remarks)


def read_to_predict(
    path: str, columns: Sequence[Column], target: str, *, missing: Missing = "drop", levels: Sequence[str] = ()
) -> Table:
    """Read a file with points to predict at, which has the columns of a training table.

    Parameters
    ----------
    path : str
    columns : sequence of Column
        The columns of the training table; their order in the file does not matter.
    target : str
        The name of the target, which is read for comparison if the file has it, and all its values are numbers or classes.
    missing : {"drop", "mean", "error"}
        What to do about missing inputs. "mean" takes the means of the training data. Rows with a level of a category that the
        training table does not have are never kept; "error" raises.
    levels : sequence of str
        The classes, if the target is one. A row whose target is another one has nan.

    Returns
    -------
    table : Table
        The table, with y if the file has the target.
    """
    return rows_to_predict(read_raw(path), columns, target, missing=missing, levels=levels)


def rows_to_predict(
    raw: Raw, columns: Sequence[Column], target: str, *, missing: Missing = "drop", levels: Sequence[str] = ()
) -> Table:
    """Return new rows as a table, see :func:`read_to_predict`."""
    inputs, remarks = inputs_found(raw, columns, target)
    X, unknown, unknown_remarks = _encoded_new(raw, inputs, missing)
    remarks += unknown_remarks
    y = None
    if target in raw.columns:
        try:
            y = numbers_of_classes(raw, target, levels) if levels else numbers_in(raw, target)
        except ValueError as error:
            remarks.append(f"The predictions are not compared with the target: {error}.")
    kept, row_remarks = rows_kept(raw, X, np.zeros(len(X)), inputs, target, missing, to_predict=True)
    kept = kept[~unknown[kept]]
    sizes, sized_by, kept, size_remarks = sizes_of_new_rows(raw, columns, kept)
    remarks += size_remarks
    if missing == "mean":
        X = filled(X, inputs)
    names = [name for column in inputs for name in encoded_names(column)]
    targets = None if y is None else y[kept]
    return Table(
        raw.source,
        raw.rows,
        X[kept],
        targets,
        names,
        [*inputs],
        None,
        remarks + row_remarks,
        kept + 1,
        sizes=sizes,
        sized_by=sized_by,
    )


def inputs_found(raw: Raw, columns: Sequence[Column], target: str) -> tuple[list[Column], list[str]]:
    """Return the inputs of a model among columns, and remarks; raise if one of them is not there."""
    inputs = [column for column in columns if encoded_names(column)]
    absent = [column.name for column in inputs if column.name not in raw.columns]
    if absent:
        first = absent[0]
        more = f" (and {len(absent) - 1} more: {', '.join(absent[1:6])})" if len(absent) > 1 else ""
        close = _close(first, raw)
        raise ValueError(f"{raw.source}: column {first!r}, which the model predicts from, is not there{close}{more}")
    extra = [name for name in raw.columns if name != target and name not in {column.name for column in columns}]
    remarks = [*raw.remarks]
    if extra:
        remarks.append(f"Columns that the model does not know are ignored: {', '.join(extra)}.")
    return inputs, remarks


def _encoded_new(raw: Raw, inputs: list[Column], missing: Missing) -> tuple[Matrix, NDArray[np.bool_], list[str]]:
    """Return the inputs of new rows, a mask of the rows with a level that is not known, and a remark about these."""
    unknown = np.zeros(raw.rows, dtype=bool)
    parts, phrases = [], []
    for column in inputs:
        codes, rows = (encode(raw, column), []) if missing == "error" else encode_new(raw, column)
        parts.append(codes)
        unknown[rows] = True
        if rows:
            values = list(dict.fromkeys(str(raw.columns[column.name][row]).strip()[:40] for row in rows))
            more = f" and {len(values) - 3} more" if len(values) > 3 else ""
            phrases.append(f"{', '.join(map(repr, values[:3]))}{more} in {column.name}")
    remarks = []
    if phrases:
        listed = "; ".join(phrases[:4]) + (f"; and in {len(phrases) - 4} more columns" if len(phrases) > 4 else "")
        remarks.append(
            f"{counted_rows(unknown)} with values that the model has not learnt ({listed}): no prediction is made for them."
        )
    return np.hstack(parts), unknown, remarks


def require_column(raw: Raw, name: str) -> None:
    """Raise unless the file has a column of this name."""
    if name not in raw.columns:
        raise ValueError(f"{raw.source} has no column {name!r}{_close(name, raw)}")


def _close(name: str, raw: Raw) -> str:
    """Return a hint with a column of a similar name, or with all columns."""
    by_lower = {column.lower(): column for column in raw.columns}
    close = get_close_matches(name.lower(), by_lower, 1, 0.6)
    if close:
        return f"; did you mean {by_lower[close[0]]!r}?"
    names = list(raw.columns)
    return f"; it has {', '.join(names[:12])}{f' and {len(names) - 12} more' if len(names) > 12 else ''}"


def _remarks(raw: Raw, columns: list[Column], named: Sequence[str]) -> list[str]:
    """Return remarks about columns that may be no inputs, but for those that the user names."""
    inputs = [column for column in columns if encoded_names(column)]
    remarks = []
    for column in columns:
        if column.kind == "left out" and column.why == DIFFERENT_TEXTS:
            remarks.append(f"Column {column.name!r} is {column.why}, as an id is; it is not used.")
        elif column.kind == "date" and column.why == SHORT_YEARS:
            remarks.append(f"Column {column.name!r} has years of two digits: they are taken for those from 1969 to 2068.")
        elif column.kind == "date" and column.why == EIGHT_DIGITS:
            remarks.append(f"Column {column.name!r} is numbers such as 20240131, all of them dates: it is read as dates.")
        elif column.kind == "number" and column.why and len(inputs) > 1 and column.name not in named:
            remarks.append(
                f"Column {column.name!r} {column.why}; it looks like a row number. If it says nothing else: "
                f"{raw.without(column.name)}"
            )
    return remarks
