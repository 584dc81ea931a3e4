"""The first sections of a report: how well the target is predicted from the inputs, and what the data were."""

from __future__ import annotations

import numpy as np

from kernsel.report.findings import Findings
from kernsel.report.formats import count, date, percent, split_unit
from kernsel.report.inputs import Input
from kernsel.report.markup import Amounts, Html, Table, column, join, markup, paragraph, say, section, value
from kernsel.study import Study
from kernsel.study.tables import Column

__all__ = ["data", "headline", "title"]

_NAMED = 3  # inputs whose names are in the headline


def title(study: Study, inputs: list[Input]) -> Html:
    """Return the title of the page, "target from inputs"."""
    return say("{} from {}", column(study.target.name), _inputs(inputs))


def _inputs(inputs: list[Input]) -> Html:
    names = [column(one.name) for one in inputs]
    if len(names) > _NAMED:
        return markup(f"{count(len(names))} inputs")
    return names[0] if len(names) == 1 else say("{} and {}", join(names[:-1], ", "), names[-1])


def headline(study: Study, findings: Findings, inputs: list[Input]) -> Html:
    """Return a sentence on how well the target is predicted, and its main numbers."""
    target, n = column(study.target.name), len(findings.truth)
    rmse, of_mean = value(findings.rmse), value(findings.rmse_of_mean)
    unit = split_unit(study.target.name)[1]
    errors = say("{} {}", rmse, unit) if unit else rmse
    if findings.verdict == "constant":
        sentence = say("Every value of {} is {}: there is nothing to predict.", target, value(float(findings.truth[0]), 6))
    elif findings.verdict == "useless":
        best = min(line.loo_rmse for lines in study.lines.values() for line in lines if not line.problem)
        subject = "The chosen model does not predict" if best < findings.rmse_of_mean else "Nothing that was tried predicts"
        sentence = say(
            "{} {} from {} better than its mean does: a row that is left out is missed by {} typically, by the mean of the "
            "others by {}.",
            subject,
            target,
            _inputs(inputs),
            errors,
            of_mean,
        )
    else:
        reservation = (
            " This may be chance: the gain is less than twice its standard error." if findings.verdict == "doubtful" else ""
        )
        sentence = say(
            "{} is predicted from {} to within {} typically, where always saying the mean misses by {}: {} of the variance is "
            "explained.{}",
            target,
            _inputs(inputs),
            errors,
            of_mean,
            value(findings.explained, shown=percent(findings.explained)),
            reservation,
        )
    explanation = paragraph(
        "Typically means the root mean square over {} rows, each predicted from {}.{} The {} and the kernel were "
        "chosen on all of them, so expect a little more on new rows{}.",
        count(n - findings.gross),
        _others(study),
        _gross(findings),
        "noise" if study.likelihood is None else "likelihood",
        " than that, or look at the rows that were held out" if study.test else "",
        kind="note",
    )
    first = Html(f'<p class="headline">{sentence}</p>\n')
    return join([first, _tiles(study, findings), *([] if findings.verdict == "constant" else [explanation]), _test(study)])


def _gross(findings: Findings) -> Html | str:
    if not findings.gross:
        return ""
    subject = "An outlier is" if findings.gross == 1 else f"{count(findings.gross)} outliers are"
    return say(" {} not counted; with all rows it is {}.", subject, value(findings.rmse_of_all))


def _others(study: Study) -> str:
    """Return what a row is predicted from when it is left out, in words."""
    together = study.model.left_out_together_
    groups = len(np.unique(together))
    if study.grouped_by:
        return f"{study.others}, of which there are {count(groups - 1)}"
    return study.others if groups < len(together) else f"the {count(len(together) - 1)} others"


def _tiles(study: Study, findings: Findings) -> Html:
    n = len(findings.truth)
    noise = float(np.sqrt(study.noise))
    tiles = [
        ("typical error, left out", value(findings.rmse), "root mean square"),
        ("the mean's error", value(findings.rmse_of_mean), "always saying the mean"),
        ("variance explained", value(findings.explained, shown=percent(findings.explained)), "of rows left out"),
        (
            "in 95 % intervals",
            value(findings.within / n, shown=percent(findings.within / n)),
            f"{count(findings.within)} of {count(n)} rows",
        ),
        ("noise found", value(noise), "standard deviation")
        if study.likelihood is None
        else ("log density", value(findings.log_density), "of rows left out, on average"),
        ("rows learnt from", value(n, shown=count(n)), f"of {count(study.rows)} in the file"),
    ]
    if findings.verdict == "constant":
        tiles = tiles[-1:]
    cells = "".join(
        f"<div><dt>{markup(label)}</dt><dd>{number}<small>{markup(detail)}</small></dd></div>\n"
        for label, number, detail in tiles
    )
    return Html(f'<dl class="tiles">\n{cells}</dl>\n')


def _test(study: Study) -> Html:
    if not study.test:
        return Html("")
    test = study.test
    return paragraph(
        "<strong>On {} rows that were held out</strong> the error is {}, always saying the mean {}; the 95 % intervals hold {} "
        "of them.",
        value(test["rows"], shown=count(int(test["rows"]))),
        value(test["rmse"]),
        value(test["rmse_of_mean"]),
        value(test["coverage"], shown=percent(test["coverage"])),
        kind="test",
    )


def data(study: Study) -> Html:
    """Return the section with the columns of the file, and the remarks about them."""
    n_kept = len(study.kept)
    rows = [_row(study.target, "target")] + [_row(one, "") for one in study.columns]
    table = Table(
        say("Columns of {}", column(study.source)),
        ["column", "kind", Amounts("least"), Amounts("mean"), Amounts("greatest"), Amounts("missing"), "remarks"],
        rows,
        chosen=[0],
    )
    intro = paragraph(
        "{} has {} rows, of which {} are learnt from.",
        column(study.source),
        count(study.rows),
        "all" if n_kept == study.rows else count(n_kept),
    )
    remarks = "".join(f"<li>{markup(remark)}</li>\n" for remark in study.remarks)
    return section("data", "The data", intro + Html(f"<ul>\n{remarks}</ul>\n" if remarks else "") + table.html())


def _row(one: Column, role: str) -> list[Html | str]:
    kind = f"{role}, {one.kind}" if role else one.kind
    statistics = [value(v, 4, shown=date(v) if one.kind == "date" else None) for v in (one.least, one.mean, one.greatest)]
    numbers: list[Html | str] = list(statistics) if np.isfinite(one.least) else ["", "", ""]
    remark = markup(one.why)
    if one.kind == "category":
        remark = (
            remark + ": " + join([column(level) for level in one.levels[:8]], ", ") + (", …" if len(one.levels) > 8 else "")
        )
    missing = value(one.missing, shown=count(one.missing)) if one.missing else markup("0")
    return [column(one.name), kind, *numbers, missing, remark]
