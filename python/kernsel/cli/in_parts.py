"""Predictions at the rows of a file that does not fit into memory: read, predicted and written a part at a time."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from math import sqrt

import kernsel as ks
from kernsel.cli.numbers import errors_of, in_all_rows, in_words, predicted
from kernsel.cli.outputs import require_format_of_table
from kernsel.cli.terminal import Terminal
from kernsel.cli.written import Columns, Written, write_text
from kernsel.study import Study, plain
from kernsel.study.tables import inputs_found, read_in_parts, rows_to_predict

__all__ = ["predict_in_parts"]


def predict_in_parts(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Predict at all rows; return the exit code."""
    if arguments.json and arguments.output is None:
        raise ValueError(f"--json: {arguments.file} is too large for one document; give --output, too")
    if arguments.output is not None and require_format_of_table(arguments.output) == "npz":
        raise ValueError(
            f"--output: {arguments.file} is read in parts, and npz is no format for these; expected .csv or .parquet"
        )
    study = Study.load(arguments.model)
    if arguments.output is None:
        rows, made, error = _predict_all(study, arguments, terminal, _printed())
    else:
        with Written(arguments.output) as written:
            rows, made, error = _predict_all(study, arguments, terminal, written.write)
    if made < rows:
        terminal.note(f"{rows - made:,} rows with missing values or values that the model has not learnt have no prediction.")
    said = in_words(arguments.file, study.target.name, arguments.intervals, error)
    if terminal.json:
        terminal.document(
            {
                "kernsel": ks.__version__,
                "model": arguments.model,
                "source": arguments.file,
                "target": study.target.name,
                "intervals": arguments.intervals,
                "error": plain(error) if error else None,
                "output": arguments.output,
            }
        )
    elif arguments.output is None:
        if said:
            terminal.note(said)
    else:
        terminal.say(f"{arguments.output}: {made:,} predictions of {study.target.name}", indent=0)
        if said:
            terminal.say(said, indent=0)
    return 0


def _predict_all(
    study: Study, arguments: argparse.Namespace, terminal: Terminal, write: Callable[[Columns], None]
) -> tuple[int, int, dict[str, float]]:
    """Write the predictions at all rows; return the number of rows, that of predictions, and their errors."""
    wanted = {*(column.name for column in study.columns), study.target.name}
    rows, made = 0, 0
    errors: list[dict[str, float]] = []
    with terminal.progress(None) as begin:
        for part in read_in_parts(arguments.file, wanted):
            if not rows:
                for remark in inputs_found(part, study.columns, study.target.name)[1]:
                    terminal.note(remark)
            table = rows_to_predict(part, study.columns, study.target.name, missing=arguments.missing)
            begin(f"row {rows + 1:,}")
            columns = predicted(study, table, arguments.intervals / 100, lambda _: None)
            write(in_all_rows(columns, table))
            rows, made = rows + table.rows, made + len(table.kept)
            errors += filter(None, [errors_of(study, table, columns)])
    return rows, made, _of_all(errors)


def _printed() -> Callable[[Columns], None]:
    """Return a function that prints columns, with their names the first time."""
    begun = False

    def write(columns: Columns) -> None:
        nonlocal begun
        write_text(sys.stdout, columns, ",", names=not begun)
        begun = True

    return write


def _of_all(errors: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the errors of all rows from those of parts."""
    if not errors:
        return {}
    rows = sum(one["rows"] for one in errors)

    def mean(name: str, power: int) -> float:
        return sum(one["rows"] * one[name] ** power for one in errors) / rows

    return {
        "rows": rows,
        "rmse": sqrt(mean("rmse", 2)),
        "rmse_of_mean": sqrt(mean("rmse_of_mean", 2)),
        "coverage": mean("coverage", 1),
    }
