"""Predictions at the rows of a file that does not fit into memory: read, predicted and written a part at a time."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from kernsel.cli.outputs import require_format_of_table
from kernsel.cli.predictions import Predictions
from kernsel.cli.terminal import Terminal
from kernsel.cli.written import Columns
from kernsel.study.tables import inputs_found, read_in_parts, rows_to_predict

__all__ = ["predict_in_parts", "require_parts"]


def require_parts(arguments: argparse.Namespace) -> None:
    """Raise if the output cannot be written in parts."""
    if arguments.json and arguments.output is None:
        raise ValueError(f"--json: {arguments.file} is too large for one document; give --output, too")
    if arguments.output is not None and require_format_of_table(arguments.output) == "npz":
        raise ValueError(
            f"--output: {arguments.file} is read in parts, and npz is no format for these; expected .csv or .parquet"
        )


def predict_in_parts(
    predictions: Predictions, arguments: argparse.Namespace, terminal: Terminal, write: Callable[[Columns], None]
) -> tuple[int, dict[str, float]]:
    """Write the predictions at all rows; return how many there are, and their scores."""
    wanted = {*(column.name for column in predictions.columns), predictions.target.name}
    rows, made = 0, 0
    scores: list[dict[str, float]] = []
    with terminal.progress(None) as begin:
        for part in read_in_parts(arguments.file, wanted):
            if not rows:
                for remark in inputs_found(part, predictions.columns, predictions.target.name)[1]:
                    terminal.note(remark)
            table = rows_to_predict(
                part, predictions.columns, predictions.target.name, missing=arguments.missing, levels=predictions.levels
            )
            begin(f"row {rows + 1:,}")
            columns, score = predictions.at(table, lambda _: None)
            write(columns)
            rows, made = rows + table.rows, made + len(table.kept)
            scores += [score] if score else []
    if made < rows:
        without = f"{rows - made:,} row{'s' * (rows - made > 1)} with missing values or values that the model has not learnt"
        terminal.note(f"{without}: no prediction is made.")
    return made, predictions.together(scores) if scores else {}
