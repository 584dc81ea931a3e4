"""`kernsel predict`: predictions at the rows of a file, with intervals."""

from __future__ import annotations

import argparse
import csv
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.cli.outputs import require_writable
from kernsel.cli.terminal import Terminal
from kernsel.study import Study
from kernsel.study.tables import Table, read_to_predict

if TYPE_CHECKING:
    from kernsel.cli.parser import Commands

__all__ = ["add", "run"]

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
        "a new observation), lower and upper. If the file has the target, too, the error is shown.",
        epilog="examples:\n"
        "  kernsel predict cars.ksl new.csv\n"
        "  kernsel predict cars.ksl new.csv --output predictions.csv --intervals 90\n"
        "  kernsel predict cars.ksl new.parquet --output predictions.parquet --missing mean\n"
        "  printf 'speed\\n21\\n' | kernsel predict cars.ksl - --json",
    )
    parser.add_argument("model", metavar="MODEL", help="a .ksl file")
    parser.add_argument("file", metavar="FILE", help='CSV, TSV, Parquet or npz; "-" is the standard input')
    parser.add_argument(
        "--output", "-o", metavar="FILE", help="CSV, TSV, Parquet or npz, by its ending; the standard output by default"
    )
    parser.add_argument(
        "--intervals",
        type=percent,
        default=95.0,
        metavar="95",
        help="how many observations, in percent, lie within lower and upper (default 95)",
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
    """Return a number between 0 and 100 from a text with or without "%"."""
    match = re.fullmatch(r"(\d*[.]?\d+)\s*%?", text.strip())
    if not match or not 0 < float(match[1]) < 100:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 100, such as 95, got {text!r}")
    return float(match[1])


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; return its exit code."""
    require_writable(arguments.output)
    study = Study.load(arguments.model)
    table = read_to_predict(arguments.file, study.columns, study.target.name, missing=arguments.missing)
    for remark in table.remarks:
        terminal.note(remark)
    columns = _predicted(study, table, arguments.intervals / 100, terminal)
    # Rows without a prediction are kept as nan, so that row i of the output belongs to row i of the input.
    output = {name: np.full(table.rows, np.nan) for name in _NAMES}
    for name in _NAMES:
        output[name][table.kept - 1] = columns[name]
    error = _error(study, table, columns)
    if terminal.json:
        terminal.document(_document(study, arguments, output, error))
    elif arguments.output is None:
        _write_text(sys.stdout, output, ",")
    if arguments.output is not None:
        _write(Path(arguments.output), output)
        if not terminal.json:
            terminal.say(f"{arguments.output}: {len(table.kept):,} predictions of {study.target.name}", indent=0)
    if error and not terminal.json:
        sentence = (
            f"{arguments.file} has {study.target.name}, too: error {error['rmse']:.4g} (root mean square), where the mean of "
            f"what was learnt from has {error['rmse_of_mean']:.4g}; {arguments.intervals:g} % intervals contain "
            f"{100 * error['coverage']:.0f} %."
        )
        if arguments.output is None:
            terminal.note(sentence)
        else:
            terminal.say(sentence, indent=0)
    return 0


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


def _document(
    study: Study, arguments: argparse.Namespace, columns: dict[str, Vector], error: dict[str, float]
) -> dict[str, object]:
    """Return the predictions as values of JSON."""
    rows = zip(*(columns[name].tolist() for name in _NAMES), strict=True)
    return {
        "kernsel": ks.__version__,
        "model": arguments.model,
        "source": arguments.file,
        "target": study.target.name,
        "intervals": arguments.intervals,
        "predictions": [None if math.isnan(row[0]) else dict(zip(_NAMES, row, strict=True)) for row in rows],
        "error": error or None,
        "output": arguments.output,
    }


def _write(path: Path, columns: dict[str, Vector]) -> None:
    """Write predictions in the format that the ending of the path names."""
    ending = path.suffix.lower()
    if ending == ".npz":
        with path.open("wb") as file:
            np.savez(file, **columns)  # type: ignore[arg-type]
    elif ending in (".parquet", ".pq"):
        try:
            import pyarrow as arrow
            import pyarrow.parquet as parquet
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow: pip install 'kernsel[cli]'") from error
        parquet.write_table(arrow.table(columns), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            _write_text(file, columns, "\t" if ending in (".tsv", ".tab") else ",")


def _write_text(file: TextIO, columns: dict[str, Vector], delimiter: str) -> None:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(_NAMES)
    for row in zip(*(columns[name].tolist() for name in _NAMES), strict=True):
        writer.writerow("" if math.isnan(value) else value for value in row)
