"""The sections about leave-one-out errors: outliers, leverages, and the coverage of intervals."""

from __future__ import annotations

import numpy as np

from kernsel.plotting.loo import Kind
from kernsel.report import figures
from kernsel.report.findings import Findings
from kernsel.report.formats import count, number, percent
from kernsel.report.markup import Amounts, Cell, Html, Table, join, markup, paragraph, section, value
from kernsel.study import Study

__all__ = ["errors", "intervals"]

_ROWS = 10  # of the table of outliers, at most


def errors(study: Study, findings: Findings) -> Html:
    """Return the section with leave-one-out predictions, and a table of the largest errors."""
    outliers = findings.outliers
    n = len(findings.z)
    threshold = number(findings.far, 2)
    if len(outliers):
        intro = paragraph(
            "{} of {} rows {} farther than {} standard deviations from what the others predict. By chance, one of twenty "
            "tables like this has such a row: look for a typing error, another regime, or noise with heavy tails.",
            value(len(outliers), shown=count(len(outliers))),
            count(n),
            "is" if len(outliers) == 1 else "are",
            threshold,
        )
    else:
        intro = paragraph(
            "No row is farther than {} standard deviations from what the others predict: there are no outliers.", threshold
        )
    listed = findings.farthest(min(n, max(5, min(len(outliers), _ROWS))))
    rows: list[list[Cell]] = [
        [
            value(study.kept[i], shown=count(int(study.kept[i]))),
            value(findings.truth[i], 4),
            value(findings.predicted[i], 4),
            value(findings.errors[i]),
            value(findings.z[i], 2),
            value(findings.leverage[i], 2),
        ]
        for i in listed
    ]
    heads = [
        Amounts("row"),
        Amounts("measured"),
        Amounts("predicted from the others"),
        Amounts("error"),
        Amounts("in standard deviations"),
        Amounts("leverage"),
    ]
    table = Table(
        "The rows farthest from their predictions", heads, rows, chosen=[i for i, j in enumerate(listed) if j in outliers]
    ).html()
    note = paragraph("Rows are numbered as in the file, from 1 on without its header. Outliers are marked.", kind="note")
    plots = _plots(study, findings, "predictions", "leverage")
    return section("errors", "Predictions of rows left out", intro + plots + table + note)


def intervals(study: Study, findings: Findings) -> Html:
    """Return the section with the coverage of leave-one-out intervals."""
    levels = np.array([0.5, 0.8, 0.9, 0.95, 0.99])
    shares = findings.within_shares(levels)
    n = len(findings.z)
    rows: list[list[Cell]] = [
        [
            percent(float(level)),
            value(share, shown=percent(float(share))),
            markup(f"{count(round(float(share) * n))} of {count(n)}"),
        ]
        for level, share in zip(levels, shares, strict=True)
    ]
    table = Table(
        "Rows within leave-one-out intervals", [Amounts("interval"), Amounts("share within"), Amounts("rows")], rows
    ).html()
    plots = _plots(study, findings, "calibration", "qq")
    if findings.quantiles is None:
        return section("intervals", "Do the intervals hold?", plots + table)
    note = paragraph(
        "Errors are quantile residuals: the quantile of the standard normal distribution that corresponds to each value in its "
        "predictive distribution{}. If the likelihood is right, they are normal.",
        ", at random within the probability of the value itself" if findings.counts is not None else "",
        kind="note",
    )
    rootogram = Html("")
    if findings.counts is not None:
        rootogram = Html(f'<div class="plots">\n{figures.rootogram(study, findings)}</div>\n')
    return section("intervals", "Do the intervals hold?", plots + note + table + rootogram)


def _plots(study: Study, findings: Findings, *kinds: Kind) -> Html:
    pictures = join(figures.left_out(study, findings, kind) for kind in kinds)
    return Html(f'<div class="plots">\n{pictures}</div>\n')
