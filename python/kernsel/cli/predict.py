"""`kernsel predict`: predictions at the rows of a file, with intervals."""

from __future__ import annotations

import argparse
import csv
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

import numpy as np

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.cli import words
from kernsel.cli.classes import predict_classes
from kernsel.cli.outputs import require_format_of_table, require_writable
from kernsel.cli.terminal import Terminal
from kernsel.study import Study, plain
from kernsel.study.classes import is_of_classes
from kernsel.study.tables import Column, Table, read_to_predict

if TYPE_CHECKING:
    from kernsel.cli.parser import Commands

__all__ = ["add", "run"]

Columns: TypeAlias = dict[str, Vector | list[str]]  # of the output, one value for each row of the input
_NAMES = ("predicted", "std", "lower", "upper")
_BLOCK = 2000  # rows in a step of the progress bar


def add(commands: Commands) -> argparse.ArgumentParser:
    """Add the command to the commands of `kernsel`; return its parser."""
    parser = commands.add_parser(
        "predict",
        usage="kernsel predict MODEL FILE [options]",
        help="predict at the rows of a file, with intervals",
        description="Predict at the rows of a file by a model that `kernsel select` has saved. The file needs the columns that "
        "the model was learnt from, in any order. Each of its rows becomes a row of predicted, std (the standard deviation of "
        "a new observation), lower and upper. Rows with a category that was not learnt stay "
        "empty. A model of classes gives the likeliest class, and the probability of each. If the file has the target, "
        "too, the error is shown.",
        epilog="examples:\n"
        "  kernsel predict cars.ksl new.csv\n"
        "  kernsel predict cars.ksl new.csv --output predictions.csv --intervals 90\n"
        "  kernsel predict cars.ksl new.parquet --output predictions.parquet --missing mean\n"
        "  printf 'speed\\n21\\n' | kernsel predict cars.ksl - --json",
    )
    parser.add_argument("model", metavar="MODEL", help="a .ksl file")
    parser.add_argument("file", metavar="FILE", help=words.FILES)
    parser.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="CSV, TSV, Parquet or npz, by its ending: .csv, .tsv, .parquet or .npz; the standard output by default",
    )
    parser.add_argument(
        "--intervals",
        type=percent,
        default=95.0,
        metavar="95",
        help="how many observations lie within lower and upper: a share below 1 such as 0.95, or percent (default 95)",
    )
    parser.add_argument(
        "--missing",
        choices=["drop", "mean", "error"],
        default="drop",
        help="rows with missing values: no prediction (default), take the mean of what was learnt from, or stop",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def percent(text: str) -> float:
    """Return the percentage of "95", "95%" or, as a share, "0.95": without "%", a number below 1 is a share."""
    match = re.fullmatch(r"(\d*[.]?\d+)\s*(%?)", text.strip())
    value = float(match[1]) if match else math.nan
    value = 100 * value if match and value < 1 and not match[2] else value
    if not 0 < value < 100:
        raise argparse.ArgumentTypeError(f"expected a percentage such as 95 or a share such as 0.95, got {text!r}")
    return value


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; return its exit code."""
    if arguments.output is not None:
        require_format_of_table(arguments.output)
        require_writable(arguments.output)
    if is_of_classes(arguments.model):
        target, columns, error, sentence = predict_classes(arguments, terminal)
    else:
        target, columns, error, sentence = _numbers(arguments, terminal)
    if terminal.json:
        terminal.document(_document(target.name, arguments, columns, error))
    elif arguments.output is None:
        _write_text(sys.stdout, columns, ",")
    if arguments.output is not None:
        _write(Path(arguments.output), columns)
        if not terminal.json:
            count = sum(not _is_empty(value) for value in columns["predicted"])
            terminal.say(f"{arguments.output}: {count:,} predictions of {target.name}", indent=0)
    if sentence and not terminal.json:
        if arguments.output is None:
            terminal.note(sentence)
        else:
            terminal.say(sentence, indent=0)
    return 0


def _numbers(arguments: argparse.Namespace, terminal: Terminal) -> tuple[Column, Columns, dict[str, float], str]:
    """Return the target, the predictions with their intervals for all rows, the errors, and these in words."""
    study = Study.load(arguments.model)
    table = read_to_predict(arguments.file, study.columns, study.target.name, missing=arguments.missing)
    for remark in table.remarks:
        terminal.note(remark)
    columns = _predicted(study, table, arguments.intervals / 100, terminal)
    # Rows without a prediction are kept as nan, so that row i of the output belongs to row i of the input.
    output: Columns = {}
    for name in _NAMES:
        output[name] = whole = np.full(table.rows, np.nan)
        whole[table.kept - 1] = columns[name]
    error = _error(study, table, columns)
    sentence = ""
    if error:
        sentence = (
            f"{arguments.file} has {study.target.name}, too: error {error['rmse']:.4g} (root mean square), where the mean of "
            f"what was learnt from has {error['rmse_of_mean']:.4g}; {arguments.intervals:g} % intervals contain "
            f"{100 * error['coverage']:.0f} %."
        )
    return study.target, output, error, sentence


def _predicted(study: Study, table: Table, level: float, terminal: Terminal) -> dict[str, Vector]:
    """Return means, standard deviations and the ends of intervals of observations."""
    blocks = range(0, len(table.X), _BLOCK)
    parts = [np.zeros((0, len(_NAMES)))]
    ends = [0.5 - level / 2, 0.5 + level / 2]
    with terminal.progress(len(blocks)) as begin:
        for start in blocks:
            begin(f"row {start + 1:,} of {len(table.X):,}")
            found = study.model.predictive(table.X[start : start + _BLOCK])
            parts.append(np.column_stack([found.mean, found.std, found.quantiles(ends)[:, 0]]))
    return dict(zip(_NAMES, np.concatenate(parts).T, strict=True))


def _error(study: Study, table: Table, columns: dict[str, Vector]) -> dict[str, float]:
    """Return the errors of predictions where the file has the target; empty if it has it nowhere."""
    if table.y is None:
        return {}
    measured = ~np.isnan(table.y)
    if not measured.any():
        return {}
    y = table.y[measured]
    errors = y - columns["predicted"][measured]
    within = (columns["lower"][measured] <= y) & (y <= columns["upper"][measured])
    of_mean = y - float(np.mean(study.model.y_train_))
    return {
        "rows": float(len(y)),
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "rmse_of_mean": float(np.sqrt(np.mean(of_mean**2))),
        "coverage": float(np.mean(within)),
    }


def _document(target: str, arguments: argparse.Namespace, columns: Columns, error: dict[str, float]) -> dict[str, object]:
    """Return the predictions as values of JSON."""
    return {
        "kernsel": ks.__version__,
        "model": arguments.model,
        "source": arguments.file,
        "target": target,
        "intervals": arguments.intervals if "lower" in columns else None,
        "predictions": [None if _is_empty(row[0]) else dict(zip(columns, row, strict=True)) for row in _rows(columns)],
        "error": plain(error) if error else None,
        "output": arguments.output,
    }


def _rows(columns: Columns) -> Iterator[tuple[float | str, ...]]:
    return zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)


def _is_empty(value: float | str) -> bool:
    """Tell whether there is no prediction."""
    return value == "" if isinstance(value, str) else math.isnan(value)


def _write(path: Path, columns: Columns) -> None:
    """Write predictions in the format that the ending of the path names."""
    form = require_format_of_table(str(path))
    if form == "npz":
        with path.open("wb") as file:
            np.savez(file, **{name: np.asarray(values) for name, values in columns.items()})  # type: ignore[arg-type]
    elif form == "Parquet":
        try:
            import pyarrow as arrow
            import pyarrow.parquet as parquet
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow: pip install 'kernsel[cli]'") from error
        parquet.write_table(arrow.table(columns), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            _write_text(file, columns, "\t" if form == "TSV" else ",")


def _write_text(file: TextIO, columns: Columns, delimiter: str) -> None:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    for row in _rows(columns):
        writer.writerow("" if _is_empty(value) else value for value in row)
