"""The sections about the chosen model: its expression, its hyperparameters, the function, and the influence of inputs."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.likelihoods.named import name_of
from kernsel.likelihoods.words import numbers_of as parameters_of
from kernsel.report import figures
from kernsel.report.formats import count, listed, percent, short, split_unit
from kernsel.report.inputs import Influence, Input, about_total
from kernsel.report.markup import Amounts, Cell, Html, Table, code, column, join, markup, paragraph, say, section, value
from kernsel.report.parameters import Number, numbers_of
from kernsel.study import Study
from kernsel.study.select import in_words
from kernsel.study.tables.table import SIZES

__all__ = ["fit", "influence", "model"]

_SLICES = 6  # inputs along which the function is drawn
_MOST = 60  # rows of a table


def model(study: Study) -> Html:
    """Return the section with the chosen model in words, and its hyperparameters with remarks."""
    chosen = study.process
    names = [short(name) for name in study.names]
    undecided = chosen.selection_.ended == "undecided"
    words = ["the trend alone gives every value"] if undecided else in_words(study.model, names).split("\n")
    items = "".join(f"<li>{markup(line)}</li>\n" for line in words)
    kernel = paragraph("{}", code(str(chosen.kernel_)), kind="kernel")
    numbers = numbers_of(study)
    sized = next((one for one in study.columns if one.kind in SIZES), None)
    more_of_sizes = Html("")
    if sized is not None:
        more_of_sizes = paragraph(
            "Predictions in figures are for {} of 1: {} = 1.", sized.kind, column(sized.name), kind="note"
        )
    intro = paragraph(
        "{} is {}",
        say("The function f of {}", column(study.target.name)) if study.likelihood is not None else column(study.target.name),
        "a mixture of" if study.is_stacked else "made of",
    )
    if study.is_stacked:
        kernel = join([paragraph("The likeliest of the kernels, and its numbers:"), kernel])
    unit = split_unit(study.target.name)[1]
    noise = float(np.sqrt(np.mean(chosen.noise_)))
    rows: list[list[Cell]] = [_row(one) for one in numbers[:_MOST]]
    likelihood = study.likelihood
    if likelihood is None:
        rows.append(["noise", "standard deviation", value(noise), unit, "", "" if noise > 0 else "none was found"])
    else:
        rows += [
            [code(name_of(likelihood)), name, value(number), "", "", ""] for name, number in parameters_of(likelihood).items()
        ]
    heads: list[str] = ["part", "number", Amounts("value"), "unit", Amounts("over the column's range"), "remarks"]
    if not any(row[3] for row in rows):
        rows, heads = [row[:3] + row[4:] for row in rows], heads[:3] + heads[4:]
    table = Table("Numbers of the kernel", heads, rows).html()
    more = f"{count(len(numbers) - _MOST)} more are not shown." if len(numbers) > _MOST else ""
    return section(
        "model",
        "The chosen model",
        join(
            [
                intro,
                Html(f"<ul>\n{items}</ul>\n"),
                more_of_sizes,
                kernel,
                _remarks(numbers, chosen.selection_.at_bounds),
                table,
                paragraph("{}", more, kind="note") if more else Html(""),
            ]
        ),
    )


def _row(one: Number) -> list[Cell]:
    remarks = [f"at its {one.bound} bound"] if one.bound else []
    remarks += ["the data say nothing about it"] if one.flat else []
    remarks += ["given, not found"] if one.fixed else []
    what = say("{} of {}", one.what, column(one.column)) if one.column else one.what
    ratio = one.value / one.range if one.range > 0 else np.nan
    return [code(one.part), what, value(one.value), one.unit, value(ratio, 2) if np.isfinite(ratio) else "", "; ".join(remarks)]


def _remarks(numbers: list[Number], at_bounds: list[str]) -> Html:
    """Return sentences on the hyperparameters that ended at a bound, and on those that the criterion does not depend on."""
    bounded = [one for one in numbers if one.bound]
    flat = [one for one in numbers if one.flat]
    remarks = []
    if "noise" in at_bounds:
        remarks.append(say("The noise ended at a bound of what can be told: there may be none."))
    if bounded:
        names = _names_of(bounded)
        irrelevant = all(one.bound == "upper" and one.what == "length scale" for one in bounded)
        meaning = " A length scale at its upper bound means that the column hardly matters." if irrelevant else ""
        remarks.append(say("At a bound of the search ended {}.{}", names, meaning))
    if flat:
        remarks.append(say("The data say nothing about {}: any other value would do as well.", _names_of(flat)))
    if not remarks:
        return paragraph("No number ended at a bound of the search, and the data have something to say about each.")
    return join(Html(f'<p class="remark">{line}</p>\n') for line in remarks)


def _names_of(numbers: list[Number]) -> str:
    return (
        listed([_named(one) for one in numbers])
        if len(numbers) <= 3
        else f"{count(len(numbers))} of the numbers, as told below"
    )


def _named(one: Number) -> str:
    return f"{one.what} of {short(one.column)}" if one.column else f"{one.what} of {one.part}"


def fit(study: Study, inputs: list[Input], influences: list[Influence]) -> Html:
    """Return the section with figures of the function: over one or two inputs, or along those with the most influence."""
    if len(inputs) == 1 and inputs[0].kind in ("number", "date"):
        picture = figures.line_of(study, inputs[0])
        return section("function", "The function", Html(f'<div class="plots wide">\n{picture}</div>\n'))
    smooth = all(one.kind in ("number", "date") for one in inputs)
    if len(inputs) == 2 and smooth:
        maps = [figures.map_of(study, inputs, of_std=of_std) for of_std in (False, True)]
        return section("function", "The function", Html(f'<div class="plots">\n{join(maps)}</div>\n'))
    drawn = [one.input for one in influences if one.share > 0][:_SLICES] or inputs[:_SLICES]
    small = len(drawn) not in (2, 4)  # three in a row, not two
    slices = figures.slices_of(study, drawn, middle(study, inputs), small=small)
    intro = paragraph(
        "Along {}, with all others at their medians{}. The band holds 95 % of what the function may be; ticks below are {}.",
        "each input" if len(drawn) == len(inputs) else f"the {count(len(drawn))} inputs that move the prediction most",
        "" if smooth else " or at what is most frequent",
        "the rows" if len(study.kept) <= figures.TICKS else f"{count(figures.TICKS)} of the rows",
    )
    kind = "plots small" if small else "plots"
    return section("function", "The function", intro + Html(f'<div class="{kind}">\n{join(slices)}</div>\n'))


def middle(study: Study, inputs: list[Input]) -> Vector:
    """Return a row with numbers at their medians, and categories at their most frequent level."""
    X = study.model.X_train_
    row = np.asarray(np.median(X, axis=0))
    for one in inputs:
        if one.kind in ("category", "boolean"):
            codes, counts = np.unique(X[:, one.places], axis=0, return_counts=True)
            row[one.places] = codes[np.argmax(counts)]
    return row


def influence(study: Study, influences: list[Influence]) -> Html:
    """Return the section with the influence of each input."""
    if len(influences) < 2:
        return Html("")
    unit = split_unit(study.target.name)[1]
    rows: list[list[Cell]] = []
    for one in influences[:_MOST]:
        per = one.input.unit
        bar = Html(f'<span class="bar" style="--share: {100 * one.share:.1f}%"></span>')
        slope = value(one.slope) if np.isfinite(one.slope) else markup("")
        units = f"{unit} per {per}".strip() if per else unit
        alone, share = (value(number, shown=_percent_of_variance(number)) for number in (one.alone, one.share))
        slope_in_units = say("{} {}", slope, units) if np.isfinite(one.slope) else ""
        rows.append([column(one.input.name), alone, share, bar, slope_in_units, _direction(one)])
    intro = paragraph(
        "How much of the variance of the predictions each input explains alone, and with all that it does together with "
        "others: its first-order and total Sobol' indices, for inputs that are independent of each other. It asks the model "
        "what it says, and so is right for sums and products of kernels, where a length scale alone would mislead. {}",
        about_total(influences),
    )
    heads = ["input", Amounts("alone"), Amounts("in all"), markup(""), Amounts("mean slope"), "direction"]
    return section(
        "influence", "What moves the prediction", intro + Table("Share of the variance of predictions", heads, rows).html()
    )


def _percent_of_variance(share: float) -> str:
    if share >= 0.01:
        return percent(round(share, 2))
    return percent(share) if share >= 0.001 else "< 0.1 %"


def _direction(one: Influence) -> str:
    """Return in words where the prediction rises with an input."""
    if one.share < 1e-4:
        return "hardly moves it"
    if one.input.kind == "category":
        return f"{count(len(one.input.levels))} levels"
    if one.input.kind == "boolean":
        level = one.input.level_of(np.array([float(one.slope > 0)]))
        share = max(one.rising, 1 - one.rising)
        return f"larger for {short(level)}" + (f", at {percent(round(share, 2))} of the rows" if share < 0.995 else "")
    if one.rising in (0.0, 1.0):
        return "rises everywhere" if one.rising else "falls everywhere"
    if not 0.005 < one.rising < 0.995:
        return "rises nearly everywhere" if one.rising > 0.5 else "falls nearly everywhere"
    return f"rises at {percent(round(one.rising, 2))} of the rows"
