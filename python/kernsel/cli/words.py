"""A study as printed text: the table that was read, the fits, the chosen model and its errors."""

from __future__ import annotations

from math import floor, isfinite, log10, nan

import numpy as np

from kernsel.cli.terminal import Terminal
from kernsel.criteria.table import TABLE
from kernsel.report.findings import Findings, findings_of
from kernsel.report.formats import percent
from kernsel.report.inputs import Influence, about_total, influences, inputs_of
from kernsel.report.parameters import Number, numbers_of
from kernsel.study import Line, Study
from kernsel.study.all_rows import LearntFromAll
from kernsel.study.line import MANY, NEIGHBORS
from kernsel.study.select import in_words
from kernsel.study.tables import Column, Table, date_of
from kernsel.study.tables.table import SIZES
from kernsel.study.texts import with_names

__all__ = ["FILES", "FILES_IN_PARTS", "print_all_rows", "print_chosen", "print_table_read", "print_tried", "words_of"]

# What a file of data may be, in the help of commands.
FILES = 'CSV, TSV, values between blanks (each maybe as .gz), Excel (.xlsx), Parquet or npz; "-" is the standard input'
FILES_IN_PARTS = f"{FILES}. A directory of Parquet files, and Parquet or text that does not fit into memory, is read in parts"
_MOST_COLUMNS = 25  # of the table that are listed
_ALL_LISTED = 10  # columns, up to which all are listed whatever their influence
_MOST_KERNELS = 12  # of a criterion that are listed
_MOST_ALIKE = 4  # kernels that are named as about as good as the best
_NARROW = 72  # the width of a terminal below which times are not shown
_INPUTS = ("number", "boolean", "category", "date")  # kinds of columns


def print_table_read(table: Table, terminal: Terminal) -> None:
    """Print the columns of a file, and the kinds that were guessed."""
    target = table.target
    assert target is not None
    n_inputs = sum(column.kind in _INPUTS for column in table.columns)
    inputs = f"{n_inputs} column{'s' * (n_inputs != 1)}"
    terminal.heading(f"{table.source}: {table.rows:,} rows; {target.name} is predicted from {inputs}")
    rows = [_row(column) for column in table.columns[:_MOST_COLUMNS]]
    rows.append([f"{target.name} (target)", *_row(target)[1:]])
    width = 3 if any(row[2] for row in rows) else 2
    terminal.table(["column", "values", "missing"][:width], [row[:width] for row in rows], flexible=1, left=(0, 1))
    if len(table.columns) > _MOST_COLUMNS:
        terminal.say(f"and {len(table.columns) - _MOST_COLUMNS:,} more columns")


def _row(column: Column) -> list[str]:
    return [column.name, _values(column), f"{column.missing:,}" if column.missing else ""]


def _values(column: Column) -> str:
    """Return the values of a column in words."""
    if column.kind == "number":
        counts = f", {column.why}" if column.why else ""
        return f"numbers from {column.least:.6g} to {column.greatest:.6g}{counts}"
    if column.kind == "date":
        return f"dates from {date_of(column.least)} to {date_of(column.greatest)}, as days"
    if column.kind == "boolean":
        return " or ".join(column.levels or ["0", "1"])
    if column.kind == "category":
        levels = ", ".join(column.levels[:4]) + ", ..." * (len(column.levels) > 4)
        return f"{column.why if column.why.endswith('classes') else f'{len(column.levels)} categories'}: {levels}"
    if column.kind in SIZES:
        return f"{column.why}, from {column.least:.6g} to {column.greatest:.6g}"
    return f"not used: {column.why}"


def print_tried(study: Study, terminal: Terminal) -> None:
    """Print a table for each criterion, the best kernel first."""
    for name, lines in study.lines.items():
        fitted = [line for line in lines if not line.problem]
        alike = any(line.as_good for line in fitted[1:_MOST_KERNELS])
        weighted = any(isfinite(line.weight) for line in fitted)
        best = "larger is better" if study.better[name] == "larger" else "smaller is better"
        terminal.heading(f"By {name}: {TABLE[name].sentence} ({best})")
        rows = [
            [
                line.kernel,
                (f"{line.value:.6g}" if study.better[name] == "larger" else f"{line.value:.4g}") + _mark(line, fitted, alike),
                _number(line.loo_rmse),
                f"{line.loo_log_density:.4g}" if isfinite(line.loo_log_density) else "-",
                f"{100 * line.coverage:.0f} %" if isfinite(line.coverage) else "-",
                *([f"{line.weight:.3f}"] if weighted else []),
                f"{line.seconds:.1f} s{'*' * _is_cut(line)}",
            ]
            for line in fitted[:_MOST_KERNELS]
        ]
        weights = ["weight"] if weighted else []
        titles = ["kernel", name if len(name) <= 8 else "value", "error", "density", "in 95 %", *weights, "time"]
        width = len(titles) if terminal.width >= _NARROW else len(titles) - 1
        terminal.table(titles[:width], [row[:width] for row in rows], best=0)
        if len(fitted) > _MOST_KERNELS:
            terminal.say(f"and {len(fitted) - _MOST_KERNELS} more")
        if alike:
            terminal.say("~ about as good as the first", style="dim")
        if study.order(name):
            terminal.say(study.order(name), style="dim")
        for line in lines:
            if line.problem:
                terminal.say(f"{line.kernel}: could not be fitted: {line.problem}", style="yellow")
        if any(map(_is_cut, fitted)):
            terminal.say("* before the search was at its end")
    if study.lines:
        near = f", the nearest {NEIGHBORS} of them," if len(study.kept) > MANY else ""
        terminal.say(
            f"\nerror, density, in 95 %: of each row, predicted from {study.others}{near} by this fit: root mean square error, "
            "mean log density, and how many are within their 95 % intervals.",
            style="dim",
        )


def print_chosen(study: Study, terminal: Terminal) -> None:
    """Print the chosen model in words, the influence of its inputs, and its errors."""
    terminal.heading(_heading(study))
    terminal.say(words_of(study))
    others = [line.kernel for line in study.lines[study.criterion][1:] if line.as_good]
    if others and not study.is_stacked:
        items = [*others[:_MOST_ALIKE], f"{len(others) - _MOST_ALIKE} more"] if len(others) > _MOST_ALIKE + 1 else others
        terminal.say(f"{_listed(items)} {'are' if len(others) > 1 else 'is'} about as good by {study.criterion}.")
    numbers = numbers_of(study)
    print_inputs(study, influences(study, inputs_of(study)), numbers, terminal)
    for sentence in about_bounds(numbers, study.process.selection_.at_bounds):
        terminal.say(sentence, style="yellow")
    terminal.heading("How good is it?")
    try:
        sentences = about_errors(study, findings_of(study))
    except ValueError as error:  # a trend may have no fit without one of the rows
        sentences = [f"Rows cannot be left out: {error}."]
    for sentence in sentences:
        terminal.say(sentence)


def _heading(study: Study) -> str:
    """Return what was chosen: a kernel, or several that are mixed."""
    if not study.is_stacked:
        return f"Chosen by {study.criterion}: {study.line.kernel}"
    weights = ", ".join(f"{one.weight:.0%} {one.kernel}" for one in study.combined)
    return f"Mixed, by {study.weighed_by}: {weights}"


def words_of(study: Study) -> str:
    """Return the kernel of the model, and its terms in words; of stacked processes, the terms of each."""
    if not isfinite(study.line.value):
        return f"the trend alone gives {study.target.name}: there is nothing to choose a kernel by"
    kernel = "" if study.is_stacked else f"{with_names(str(study.process.kernel_), study.names)}\n"
    return kernel + "\n".join(f"- {line}" for line in in_words(study.model, study.names).split("\n"))


def print_all_rows(learnt: LearntFromAll, terminal: Terminal) -> None:
    """Print how a model of all rows of a file does beside that of some."""
    test, some = learnt.study.test, learnt.test_of_some
    terminal.heading(f"All rows, by {learnt.landmarks:,} landmarks")
    terminal.say(
        f"{learnt.study.line.kernel} was conditioned on {learnt.rows:,} rows in {learnt.seconds:.1f} s. On {test['rows']:,.0f} "
        f"rows that were not learnt from: error {_number(test['rmse'])}, where the model of the sample has "
        f"{_number(some['rmse'])}; 95 % intervals contain {percent(test['coverage'])}."
    )
    if learnt.is_better:
        terminal.say("This is the model that is kept.")
    else:
        few = "; the landmarks see too little of the function for so little noise" if learnt.missing > 1 else ""
        terminal.say(f"The model of the sample is kept{few}.")


def print_inputs(study: Study, by_influence: list[Influence], numbers: list[Number], terminal: Terminal) -> None:
    """Print the inputs, those with the largest influence first, with their length scales."""
    ranges = dict(zip(study.names, np.ptp(study.model.X_train_, axis=0), strict=True))
    rows = []
    listed = by_influence
    if len(by_influence) > _ALL_LISTED:
        listed = [one for one in by_influence if one.share >= 0.005][:_MOST_COLUMNS] or by_influence[:1]
    for influence in listed:
        names = [study.names[place] for place in influence.input.places]
        lengths = [one for one in numbers if one.what == "length scale" and one.column in names and one.part != "Linear"]
        if influence.input.kind == "category":
            lengths = []  # there is one for each level, which means little
        span = ranges[names[0]] if influence.input.kind in ("number", "date") else nan
        rows.append(
            [
                influence.input.name,
                f"{100 * influence.share:.0f} %",
                ", ".join(_length(one.value, span) for one in lengths),
                _number(span) if isfinite(span) else "",
            ]
        )
    terminal.say("")
    if study.is_stacked:
        terminal.say(f"Length scales are those of {study.line.kernel}, the likeliest of them.", style="dim")
    lines = []
    if len(by_influence) > 1:
        lines.append(
            f"influence: how much of the variance of the prediction an input takes part in. {about_total(by_influence)}"
        )
    if any("far" in row[2] for row in rows):
        lines.append("far: so long a length scale that the prediction is straight there, or hardly depends on it")
    terminal.table(["input", "influence", "length scale", "range"], rows, flexible=0)
    if len(by_influence) > len(listed):
        terminal.say(f"and {len(by_influence) - len(listed):,} more with less influence")
    for line in lines:
        terminal.say(line, style="dim")


def about_bounds(numbers: list[Number], names: list[str]) -> list[str]:
    """Return sentences about hyperparameters that ended at a bound; `names` are those of the selection, with the noise."""
    at_bounds: dict[tuple[str, str, str], list[str]] = {}
    for one in numbers:
        if one.bound:
            at_bounds.setdefault((one.part, one.what, one.bound), []).append(one.column)
    sentences = []
    if "noise" in names:
        sentences.append("The noise ended at a bound of its range: there is next to none, or nothing else.")
    for (part, what, bound), all_columns in at_bounds.items():
        columns = [column for column in all_columns if column]
        owners = f" of {', '.join(columns)}" if columns else ""
        meaning = " (it hardly matters)" if what == "length scale" and bound == "upper" else ""
        sentences.append(f"At its {bound} bound: the {what}{owners} in {part}{meaning}.")
    return sentences


def about_errors(study: Study, findings: Findings) -> list[str]:
    """Return sentences about the leave-one-out errors of the model, and its errors on test rows."""
    name, n = study.target.name, len(findings.truth)
    rmse, rmse_of_mean = _number(findings.rmse), _number(findings.rmse_of_mean)
    counted = n - findings.gross
    sentences = [
        f"Each of {counted:,} rows, predicted from {study.others}: error {rmse} (root mean square), where the mean of "
        f"{name} has {rmse_of_mean}. That explains {percent(max(findings.explained, 0.0))} of its variance."
    ]
    if findings.verdict == "useless":
        sentences = [
            f"Nothing that was tried predicts {name} better than its mean does: rows left out are predicted with an error of "
            f"{rmse} (root mean square), by the mean with {rmse_of_mean}. These columns say "
            f"nothing of {name}, or too little for {n:,} rows."
        ]
    elif findings.verdict == "doubtful":
        sentences.append("That is so little that it may be chance.")
    if findings.gross:
        rows = "row that is an outlier is" if findings.gross == 1 else f"{findings.gross:,} rows that are outliers are"
        sentences.append(f"The {rows} not counted in this; with them the error is {_number(findings.rmse_of_all)}.")
    sentences.append(f"95 % intervals contain {100 * findings.within / n:.0f} % of all {n:,} rows.")
    if study.likelihood is not None:
        sentences.append(f"Their mean log density is {findings.log_density:.4g}.")
    if study.is_stacked:
        best = max((one.loo_log_density for one in study.lines[study.criterion] if isfinite(one.loo_log_density)), default=nan)
        alone = f", with the best kernel alone {best:.4g}" if isfinite(best) else ""
        sentences.append(f"Their mean log density is {findings.log_density:.4g}{alone}.")
    test = study.test
    if test:
        comparison = f", where the mean has {_number(test['rmse_of_mean'])}" if isfinite(test["rmse_of_mean"]) else ""
        sentences.append(
            f"On {test['rows']:,.0f} rows that were not learnt from: error {_number(test['rmse'])}{comparison}; 95 % intervals "
            f"contain {100 * test['coverage']:.0f} %."
            + (f" Mean log density {test['log_density']:.4g}." if "log_density" in test else "")
        )
    elif (study.is_stacked or TABLE[study.criterion].leaves_out) and n >= 20:
        sentences.append("The error was what was made small, so it is a little too good to be true; --test 20% measures it.")
    if study.approximation:
        sentences.append(study.approximation)
    if study.ended:
        sentences.append(f"{study.ended[0].upper()}{study.ended[1:]}.")
    return sentences


def _mark(line: Line, fitted: list[Line], alike: bool) -> str:
    """Return the mark of a kernel that is about as good as the first; blanks for others in a table that has such."""
    return (" ~" if line.as_good and line is not fitted[0] else "  ") if alike else ""


def _length(value: float, span: float) -> str:
    """Return a length scale, or "far" if it is far beyond the range of the column."""
    return "far" if isfinite(span) and value > 10 * span else f"{value:.3g}"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _is_cut(line: Line) -> bool:
    return line.ended not in ("converged", "undecided")


def _number(value: float, digits: int = 4) -> str:
    """Return a number with `digits` significant digits, whole numbers and large ones in full."""
    if not isfinite(value):
        return "-"
    if value == round(value) and abs(value) < 1e7:
        return f"{value:,.0f}"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits}g}"
    return f"{value:,.{max(digits - 1 - floor(log10(abs(value))), 0)}f}"
