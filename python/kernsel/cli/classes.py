"""Classes in the command: `kernsel select --classify`, and the predictions of its models."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from math import exp, isfinite
from typing import Literal, cast

import numpy as np

import kernsel as ks
from kernsel.cli import words
from kernsel.cli.outputs import require_writable
from kernsel.cli.terminal import Terminal
from kernsel.cli.written import Columns
from kernsel.study import kernel_of, plain
from kernsel.study.classes import ClassStudy, study_of_classes
from kernsel.study.select import USUAL
from kernsel.study.tables import Table, is_large, read_sample, read_table
from kernsel.study.texts import with_names

__all__ = ["TESTED", "ClassPredictions", "select_classes"]

TESTED = 10_000  # rows of a file that does not fit into memory that are read besides, to test the model
_ROWS = 1000  # that are learnt from unless more are asked for: a classifier sees all of them at once

_ABOUT = {
    "loo": "the log probability of each row's class, predicted from the other rows",
    "lml": "the log marginal likelihood, by Laplace's approximation",
}


def select_classes(arguments: argparse.Namespace, terminal: Terminal, *, save: str) -> int:
    """Choose a kernel for classes; return the exit code."""
    criterion = _checked_criterion(arguments)
    require_writable(save)
    options = {
        "columns": arguments.columns,
        "leave_out": arguments.leave_out,
        "missing": arguments.missing,
        "classes": True,
        "groups": arguments.groups,
        "time": arguments.time,
    }
    rows = arguments.rows or _ROWS
    if is_large(arguments.file):
        table = read_sample(arguments.file, arguments.target, rows + TESTED, arguments.seed, **options)
    else:
        table = read_table(arguments.file, arguments.target, **options)
    kernels = None if arguments.kernel is None else [kernel_of(text, table) for text in arguments.kernel]
    words.print_table_read(table, terminal)
    for remark in table.remarks:
        terminal.note(remark)
    with terminal.progress(len(kernels) if kernels else len(USUAL)) as begin:
        found = study_of_classes(
            table,
            kernels=kernels,
            criterion=criterion,
            rows=rows,
            test=arguments.test,
            budget=arguments.budget,
            seed=arguments.seed,
            progress=lambda _, kernel: begin(kernel),
        )
    for remark in found.remarks[len(table.remarks) :]:
        terminal.note(remark)
    found.save(save)
    left_out = found.left_out()
    _print(found, left_out, terminal)
    terminal.document({"kernsel": ks.__version__} | found.as_json() | {"left_out": plain(left_out), "files": {"model": save}})
    terminal.heading("Written")
    terminal.say(f"{save}, the model; and now:")
    terminal.command(f"kernsel predict {shlex.quote(save)} NEW.csv --output predictions.csv")
    return 130 if found.ended.startswith("interrupted") else 0


def _checked_criterion(arguments: argparse.Namespace) -> Literal["loo", "lml"]:
    """Return the criterion; raise for options that classes do not have."""
    if arguments.report is not None:
        raise ValueError("--report: there is no report of classes yet; leave it out")
    if arguments.noise != "auto" or arguments.trend != "constant":
        raise ValueError("--noise, --trend: with --classify there is neither; leave them out")
    if arguments.approximation != "auto":
        raise ValueError("--approximation: with --classify nothing is approximated; leave it out, or take fewer --rows")
    if arguments.kernel and "search" in arguments.kernel:
        raise ValueError("--kernel search: with --classify, expected kernels, such as RBF")
    given = arguments.criterion or ["loo"]
    if len(given) > 1 or given[0] not in _ABOUT:
        raise ValueError(f"--criterion: with --classify, expected loo or lml, got {','.join(given)}")
    return cast(Literal["loo", "lml"], given[0])


def _print(study: ClassStudy, left_out: dict[str, float], terminal: Terminal) -> None:
    """Print what was tried, the chosen kernel, and how good it is."""
    terminal.heading(f"By {study.criterion}: {_ABOUT[study.criterion]} (larger is better)")
    rows = []
    for line in study.lines:
        if line.problem:
            continue
        probability = f"{100 * exp(line.loo_log_density):.3g} %" if isfinite(line.loo_log_density) else "-"
        rows.append([line.kernel, f"{line.value:.6g}", probability, f"{line.seconds:.1f} s"])
    terminal.table(["kernel", study.criterion, "probability", "time"], rows, best=0)
    for line in study.lines:
        if line.problem:
            terminal.say(f"{line.kernel}: could not be fitted: {line.problem}", style="yellow")
    if study.criterion == "loo":
        told = "the geometric mean of the probabilities that this gives" + _against_others(study)
        if study.grouped_by:
            told += f"; each row is predicted from {study.others}"
        terminal.say(f"\nprobability: {told}.", style="dim")
    terminal.heading(f"Chosen by {study.criterion}: {study.lines[0].kernel}")
    if study.lines[0].fitted:
        terminal.say(with_names(study.lines[0].fitted, study.names))
    else:
        terminal.say(f"A kernel for each of the {len(study.model.classes_)} classes, against all others.")
    terminal.heading("How good is it?")
    terminal.say(f"Each of {left_out['rows']:,.0f} rows, predicted from {study.others}: {_in_words(left_out)}.")
    if study.test:
        terminal.say(f"On {study.test['rows']:,.0f} rows that were not learnt from: {_in_words(study.test)}.")
    if study.ended:
        terminal.say(f"{study.ended[0].upper()}{study.ended[1:]}.")


def _against_others(study: ClassStudy) -> str:
    return ", each class against all others, the mean over classes" if len(study.target.levels) > 2 else ""


def _in_words(scores: dict[str, float]) -> str:
    return (
        f"{100 * scores['accuracy']:.0f} % get the right class, where the most frequent one is right for "
        f"{100 * scores['accuracy_of_most']:.0f} %; the geometric mean of the right one's probabilities is "
        f"{100 * exp(scores['log_density']):.0f} %"
    )


class ClassPredictions:
    """The predictions of a model of classes; see :class:`kernsel.cli.predictions.Predictions`."""

    def __init__(self, model: str) -> None:
        self._study = ClassStudy.load(model)
        self.target = self._study.target
        self.columns = self._study.columns
        self.levels = self._study.target.levels
        self.intervals: float | None = None

    def steps(self, table: Table) -> int:
        """Return in how many steps predictions at the rows of a table are made."""
        del table
        return 1

    def at(self, table: Table, begin: Callable[[int], None]) -> tuple[Columns, dict[str, float]]:
        """Return the predictions at all rows of a table, empty where there is none, and their scores if it has the target."""
        begin(1)
        found = self._study.probabilities(table.X) if len(table.X) else np.zeros((0, len(self.levels)))
        probabilities = np.full((table.rows, len(self.levels)), np.nan)
        probabilities[table.kept - 1] = found
        predicted = [""] * table.rows
        for row, code in zip((table.kept - 1).tolist(), np.argmax(found, axis=1).tolist(), strict=True):
            predicted[row] = self.levels[code]
        columns: Columns = {"predicted": predicted}
        columns |= {f"probability_{level}": probabilities[:, code] for code, level in enumerate(self.levels)}
        return columns, {} if table.y is None else self._study.scores(found, table.y)

    def together(self, scores: Sequence[dict[str, float]]) -> dict[str, float]:
        """Return the scores of all rows from those of one part at least."""
        rows = sum(one["rows"] for one in scores)
        return {name: rows if name == "rows" else sum(one["rows"] * one[name] for one in scores) / rows for name in scores[0]}

    def in_words(self, source: str, scores: dict[str, float]) -> str:
        """Return scores as a sentence."""
        return f"{source} has {self.target.name}, too: {_in_words(scores)}."
