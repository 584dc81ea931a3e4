"""Where the model is wrong: errors of rows left out, outliers, leverage, and whether its intervals hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernsel.plotting.loo import Kind
from kernsel.report import figures
from kernsel.report.findings import Findings
from kernsel.report.formats import count, number, percent
from kernsel.report.markup import Amounts, Html, Table, join, markup, paragraph, section, value
from kernsel.study import Study

__all__ = ["errors", "intervals"]

_ROWS = 10


def errors(study: Study, findings: Findings) -> Html:
    """Return predictions of rows left out, and those that are far from them by name."""
    far = findings.outliers
    n = len(findings.z)
    beyond = number(findings.far, 2)
    if len(far):
        said = paragraph(
            "{} of {} rows {} farther than {} standard deviations from what the others predict. By chance, one of twenty "
            "tables like this has such a row: look for a typing error, another regime, or noise with heavy tails.",
            value(len(far), shown=count(len(far))),
            count(n),
            "is" if len(far) == 1 else "are",
            beyond,
        )
    else:
        said = paragraph(
            "No row is farther than {} standard deviations from what the others predict: there are no outliers.", beyond
        )
    listed = findings.farthest(min(n, max(5, min(len(far), _ROWS))))
    rows: list[list[Any]] = [
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
        "The rows farthest from their predictions", heads, rows, chosen=[i for i, j in enumerate(listed) if j in far]
    ).html()
    note = paragraph("Rows are numbered as in the file, from 1 on without its header. Outliers are marked.", kind="note")
    plots = _plots(study, findings, "predictions", "leverage")
    return section("errors", "Predictions of rows left out", said + plots + table + note)


def intervals(study: Study, findings: Findings) -> Html:
    """Return whether intervals hold what they promise."""
    levels = np.array([0.5, 0.8, 0.9, 0.95, 0.99])
    shares = findings.within_shares(levels)
    n = len(findings.z)
    rows: list[list[Any]] = [
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
    return section("intervals", "Do the intervals hold?", plots + table)


def _plots(study: Study, findings: Findings, *kinds: Kind) -> Html:
    drawn = join(figures.left_out(study, findings, kind) for kind in kinds)
    return Html(f'<div class="plots">\n{drawn}</div>\n')
