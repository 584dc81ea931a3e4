"""`kernsel predict`: predictions at the rows of a file, with intervals."""

from __future__ import annotations

import argparse
import math
import re

import kernsel as ks
from kernsel.cli import words
from kernsel.cli.classes import ClassPredictions
from kernsel.cli.in_parts import predict_in_parts, require_parts
from kernsel.cli.numbers import NumberPredictions
from kernsel.cli.outputs import require_format_of_table, require_writable
from kernsel.cli.predictions import Predictions
from kernsel.cli.terminal import Terminal
from kernsel.cli.written import Columns, Written, is_empty, rows_of
from kernsel.study import plain
from kernsel.study.classes import is_of_classes
from kernsel.study.tables import is_large, read_to_predict

__all__ = ["describe", "run"]


def describe(parser: argparse.ArgumentParser) -> None:
    """Say in the parser of the command what it does, and add its options."""
    parser.usage = "kernsel predict MODEL FILE [options]"
    parser.description = (
        "Predict at the rows of a file by a model that `kernsel select` has saved. The file needs the columns that "
        "the model was learnt from, in any order. Each of its rows becomes a row of predicted, std (the standard deviation of "
        "a new observation), lower and upper. Rows with a category that was not learnt stay "
        "empty. A model of classes gives the likeliest class, and the probability of each. If the file has the target, "
        "too, the error is shown."
    )
    parser.epilog = (
        "examples:\n"
        "  kernsel predict cars.ksl new.csv\n"
        "  kernsel predict cars.ksl new.csv --output predictions.csv --intervals 90\n"
        "  kernsel predict cars.ksl new.parquet --output predictions.parquet --missing mean\n"
        "  printf 'speed\\n21\\n' | kernsel predict cars.ksl - --json"
    )
    parser.add_argument("model", metavar="MODEL", help="a .ksl file")
    parser.add_argument("file", metavar="FILE", help=words.FILES_IN_PARTS)
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
    large = is_large(arguments.file)
    if large:
        require_parts(arguments)
    classes = is_of_classes(arguments.model)
    predictions: Predictions = (
        ClassPredictions(arguments.model) if classes else NumberPredictions(arguments.model, arguments.intervals)
    )
    source, target = arguments.file, predictions.target.name
    with Written(arguments.output) as written:
        if large:
            columns: Columns = {}
            made, scores = predict_in_parts(predictions, arguments, terminal, written.write)
        else:
            columns, scores = _at_once(predictions, arguments, terminal)
            made = sum(not is_empty(value) for value in columns["predicted"])
            if arguments.output is not None or not terminal.json:
                written.write(columns)
    sentence = predictions.in_words(source, scores) if scores else ""
    if terminal.json:
        terminal.document(_document(predictions, arguments, columns, scores))
    elif arguments.output is not None:
        terminal.say(f"{arguments.output}: {made:,} predictions of {target}", indent=0)
        if sentence:
            terminal.say(sentence, indent=0)
    elif sentence:
        terminal.note(sentence)
    return 0


def _at_once(predictions: Predictions, arguments: argparse.Namespace, terminal: Terminal) -> tuple[Columns, dict[str, float]]:
    """Return the predictions at all rows of a file that is read at once, and their scores."""
    table = read_to_predict(
        arguments.file, predictions.columns, predictions.target.name, missing=arguments.missing, levels=predictions.levels
    )
    for remark in table.remarks:
        terminal.note(remark)
    with terminal.progress(predictions.steps(table)) as begin:
        return predictions.at(table, lambda row: begin(f"row {row:,} of {len(table.X):,}"))


def _document(
    predictions: Predictions, arguments: argparse.Namespace, columns: Columns, scores: dict[str, float]
) -> dict[str, object]:
    """Return the predictions as values of JSON; those that were written in parts are in the output alone."""
    rows = [None if is_empty(row[0]) else dict(zip(columns, row, strict=True)) for row in rows_of(columns)]
    return {
        "kernsel": ks.__version__,
        "model": arguments.model,
        "source": arguments.file,
        "target": predictions.target.name,
        "intervals": predictions.intervals,
        **({"predictions": rows} if columns else {}),
        "error": plain(scores) if scores else None,
        "output": arguments.output,
    }
