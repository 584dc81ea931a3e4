"""A study as people read it: what was read, what was tried, what was chosen, and how good that is."""

from __future__ import annotations

from math import floor, isfinite, log10, nan

import numpy as np

from kernsel.cli.terminal import Terminal
from kernsel.report.findings import Findings, findings_of
from kernsel.report.formats import percent
from kernsel.report.inputs import Influence, influences, inputs_of
from kernsel.report.parameters import Number, numbers_of
from kernsel.selector import in_words
from kernsel.study import Line, Study
from kernsel.tables import Column, Table, date_of

__all__ = ["CRITERIA_SAID", "print_chosen", "print_table_read", "print_tried", "words_of"]

CRITERIA_SAID = {
    "lml": "the likelihood",
    "profiled_lml": "the likelihood, its scale profiled out",
    "reml": "the restricted likelihood",
    "profiled_reml": "the restricted likelihood, its scale profiled out",
    "map": "the likelihood times the priors",
    "loo": "squared errors of rows left out",
    "loo_log_density": "log densities of rows left out",
    "profiled_loo_log_density": "log densities of rows left out, the scale profiled out",
    "loo_crps": "the continuous ranked probability score of rows left out",
    "loo_absolute": "absolute errors of rows left out",
    "gcv": "generalized cross-validation",
    "kfold": "squared errors of folds left out",
    "kfold_log_density": "log densities of folds left out",
}
_MOST_COLUMNS = 25  # that are listed
_FEW_COLUMNS = 10  # that are listed whatever their influence
_MOST_KERNELS = 12
_MOST_ALIKE = 4  # kernels that are named as about as good
_NARROW = 72  # columns of a terminal, below which times are not shown
_USED = ("number", "boolean", "category", "date")


def print_table_read(table: Table, terminal: Terminal) -> None:
    """Print what a file has, and what was made of it."""
    target = table.target
    assert target is not None
    used = [column for column in table.columns if column.kind in _USED]
    inputs = f"{len(used)} column{'s' * (len(used) != 1)}"
    terminal.heading(f"{table.source}: {table.rows:,} rows; {target.name} is predicted from {inputs}")
    rows = [_row(column) for column in table.columns[:_MOST_COLUMNS]]
    rows.append([f"{target.name} (target)", *_row(target)[1:]])
    shown = 3 if any(row[2] for row in rows) else 2
    terminal.table(["column", "values", "missing"][:shown], [row[:shown] for row in rows], flexible=1, left=(0, 1))
    if len(table.columns) > _MOST_COLUMNS:
        terminal.say(f"and {len(table.columns) - _MOST_COLUMNS:,} more columns")


def _row(column: Column) -> list[str]:
    return [column.name, _values(column), f"{column.missing:,}" if column.missing else ""]


def _values(column: Column) -> str:
    """Return what a column has, in words."""
    if column.kind == "number":
        counts = ", counts the rows" * (column.why == "counts the rows")
        return f"numbers from {column.least:.6g} to {column.greatest:.6g}{counts}"
    if column.kind == "date":
        return f"dates from {date_of(column.least)} to {date_of(column.greatest)}, as days"
    if column.kind == "boolean":
        return " or ".join(column.levels or ["0", "1"])
    if column.kind == "category":
        some = ", ".join(column.levels[:4]) + ", ..." * (len(column.levels) > 4)
        return f"{len(column.levels)} categories: {some}"
    return f"not used: {column.why}"


def print_tried(study: Study, terminal: Terminal) -> None:
    """Print a table for each criterion, the best kernel first."""
    for name, lines in study.lines.items():
        fitted = [line for line in lines if not line.problem]
        values = [line.value for line in fitted if isfinite(line.value)]
        by_worth = values != sorted(values, reverse=study.better[name] == "larger")  # as a search puts them
        best = "larger is better" if study.better[name] == "larger" else "smaller is better"
        terminal.heading(f"By {name}: {CRITERIA_SAID[name]} ({best})")
        rows = [
            [
                line.kernel,
                f"{line.value:.6g}" if study.better[name] == "larger" else f"{line.value:.4g}",
                _number(line.loo_rmse),
                f"{line.loo_log_density:.4g}" if isfinite(line.loo_log_density) else "-",
                f"{100 * line.coverage:.0f} %" if isfinite(line.coverage) else "-",
                f"{line.seconds:.1f} s{'*' * _is_cut(line)}",
            ]
            for line in fitted[:_MOST_KERNELS]
        ]
        titles = ["kernel", name if len(name) <= 8 else "value", "error", "density", "in 95 %", "time"]
        shown = len(titles) if terminal.width >= _NARROW else len(titles) - 1
        terminal.table(titles[:shown], [row[:shown] for row in rows], best=0)
        if len(fitted) > _MOST_KERNELS:
            terminal.say(f"and {len(fitted) - _MOST_KERNELS} more")
        if by_worth:
            terminal.say("The best first: the value less what the numbers found are worth.", style="dim")
        for line in lines:
            if line.problem:
                terminal.say(f"{line.kernel}: could not be fitted: {line.problem}", style="yellow")
        if any(map(_is_cut, fitted)):
            terminal.say("* before the search was at its end")
    if study.lines:
        terminal.say(
            "\nerror, density, in 95 %: of each row, predicted from the others by this fit: root mean square error, mean log "
            "density, and how many are within their 95 % intervals.",
            style="dim",
        )


def print_chosen(study: Study, terminal: Terminal) -> None:
    """Print what was chosen, in words, and how good it is."""
    terminal.heading(f"Chosen by {study.criterion}: {study.lines[study.criterion][0].kernel}")
    terminal.say(words_of(study))
    others = as_good(study.lines[study.criterion], study.better[study.criterion])
    if others:
        named = [*others[:_MOST_ALIKE], f"{len(others) - _MOST_ALIKE} more"] if len(others) > _MOST_ALIKE + 1 else others
        terminal.say(f"{_listed(named)} {'are' if len(others) > 1 else 'is'} about as good by {study.criterion}.")
    found = numbers_of(study)
    print_inputs(study, influences(study, inputs_of(study)), found, terminal)
    for sentence in about_bounds(found, study.model.selection_.at_bounds):
        terminal.say(sentence, style="yellow")
    terminal.heading("How good is it?")
    try:
        said = about_errors(study, findings_of(study))
    except ValueError as error:  # of a trend that needs each of the rows, say
        said = [f"Rows cannot be left out: {error}."]
    for sentence in said:
        terminal.say(sentence)


def words_of(study: Study) -> str:
    """Return what the model is made of."""
    model = study.model
    if not isfinite(study.lines[study.criterion][0].value):
        return f"the trend alone gives {study.target.name}: there is nothing to choose a kernel by"
    return f"{model.kernel_}\n" + "\n".join(f"- {line}" for line in in_words(model, study.names).split("\n"))


def as_good(lines: list[Line], better: str) -> list[str]:
    """Return the kernels that are not worse than the best by more than chance: one in a log density, 1 % of an error."""
    best = lines[0].value
    allowed = 1.0 if better == "larger" else 0.01 * abs(best)
    return [line.kernel for line in lines[1:] if abs(line.value - best) <= allowed]


def print_inputs(study: Study, moved: list[Influence], numbers: list[Number], terminal: Terminal) -> None:
    """Print the inputs, those that matter most first, with their length scales."""
    ranges = dict(zip(study.names, np.ptp(study.model.X_train_, axis=0), strict=True))
    rows = []
    shown = moved if len(moved) <= _FEW_COLUMNS else [one for one in moved if one.share >= 0.005][:_MOST_COLUMNS] or moved[:1]
    for influence in shown:
        names = [study.names[place] for place in influence.input.places]
        lengths = [one for one in numbers if one.what == "length scale" and one.column in names and one.part != "Linear"]
        if influence.input.kind == "category":
            lengths = []  # of each level one: too many to say anything
        span = ranges[names[0]] if influence.input.kind in ("number", "date") else nan
        rows.append(
            [
                influence.input.name,
                f"{min(100 * influence.share, 100):.0f} %",
                ", ".join(_length(one.value, span) for one in lengths),
                _number(span) if isfinite(span) else "",
            ]
        )
    terminal.say("")
    lines = ["influence: how much of the variance of the prediction an input takes part in"] if len(moved) > 1 else []
    if any("far" in row[2] for row in rows):
        lines.append("far: so long a length scale that the prediction is straight there, or hardly depends on it")
    terminal.table(["input", "influence", "length scale", "range"], rows, flexible=0)
    if len(moved) > len(shown):
        terminal.say(f"and {len(moved) - len(shown):,} more with less influence")
    for line in lines:
        terminal.say(line, style="dim")


def about_bounds(numbers: list[Number], names: list[str]) -> list[str]:
    """Return what ended at the end of its range, in sentences."""
    hit: dict[tuple[str, str, str], list[str]] = {}
    for one in numbers:
        if one.bound:
            hit.setdefault((one.part, one.what, one.bound), []).append(one.column)
    said = []
    if "noise" in names:
        said.append("The noise ended at a bound of its range: there is next to none, or nothing else.")
    for (part, what, bound), columns in hit.items():
        named = [column for column in columns if column]
        of = f" of {', '.join(named)}" if named else ""
        meaning = " (it hardly matters)" if what == "length scale" and bound == "upper" else ""
        said.append(f"At its {bound} bound: the {what}{of} in {part}{meaning}.")
    return said


def about_errors(study: Study, found: Findings) -> list[str]:
    """Return how good the model is, in sentences, no better than it is."""
    name, n = study.target.name, len(found.truth)
    said = [
        f"Each of {n:,} rows, predicted from the others: error {_number(found.rmse)} (root mean square), where the mean of "
        f"{name} has {_number(found.rmse_of_mean)}. That explains {percent(max(found.explained, 0.0))} of its variance."
    ]
    if found.verdict == "useless":
        said = [
            f"Nothing that was tried predicts {name} better than its mean does: rows left out are predicted with an error of "
            f"{_number(found.rmse)} (root mean square), by the mean with {_number(found.rmse_of_mean)}. These columns say "
            f"nothing of {name}, or too little for {n:,} rows."
        ]
    elif found.verdict == "doubtful":
        said.append("That is so little that it may be chance.")
    said.append(f"Their 95 % intervals contain {100 * found.within / n:.0f} % of them.")
    test = study.test
    if test:
        known = f", where the mean has {_number(test['rmse_of_mean'])}" if isfinite(test["rmse_of_mean"]) else ""
        said.append(
            f"On {test['rows']:,.0f} rows that were not learnt from: error {_number(test['rmse'])}{known}; 95 % intervals "
            f"contain {100 * test['coverage']:.0f} %."
        )
    elif study.criterion.startswith(("loo", "gcv", "kfold")) and n >= 20:
        said.append("The error was what was made small, so it is a little too good to be true; --test 20% measures it.")
    if study.ended:
        said.append(f"{study.ended[0].upper()}{study.ended[1:]}.")
    return said


def _length(value: float, span: float) -> str:
    """Return a length scale; in a word, if it is far beyond the data."""
    return "far" if isfinite(span) and value > 10 * span else f"{value:.3g}"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _is_cut(line: Line) -> bool:
    return line.ended not in ("converged", "undecided")


def _number(value: float, digits: int = 4) -> str:
    """Return a number with so many digits, in full if it is not too long."""
    if not isfinite(value):
        return "-"
    if value == round(value) and abs(value) < 1e7:
        return f"{value:,.0f}"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits}g}"
    return f"{value:,.{max(digits - 1 - floor(log10(abs(value))), 0)}f}"
