"""The page of a report, made of its sections."""

from __future__ import annotations

import re
from html import unescape
from importlib.resources import files

from kernsel.report import about_choice, about_errors, about_model, about_result, about_use
from kernsel.report.choices import choices_of
from kernsel.report.drawing import require_matplotlib
from kernsel.report.findings import findings_of
from kernsel.report.formats import escape
from kernsel.report.inputs import influences, inputs_of
from kernsel.report.markup import Html, join
from kernsel.study import Study

__all__ = ["page"]


def page(study: Study, file: str, command: str) -> str:
    """Return the report of a study as HTML."""
    require_matplotlib()
    findings = findings_of(study)
    inputs = inputs_of(study)
    by_influence = influences(study, inputs)
    title = about_result.title(study, inputs)
    parts = [about_result.data(study), about_choice.kernels(study), about_model.model(study)]
    if findings.verdict != "constant":  # a constant target has no errors to show
        parts += [
            about_model.fit(study, inputs, by_influence),
            about_model.influence(study, by_influence),
            about_errors.errors(study, findings),
            about_errors.intervals(study, findings),
        ]
        if study.likelihood is None:  # rules for lambda are of squared errors
            parts.append(about_choice.rules(study, choices_of(study)))
    parts += [
        about_choice.spent(study),
        about_use.use(study, file),
        about_use.made_by(command),
    ]
    head = about_result.headline(study, findings, inputs)
    text = unescape(re.sub("<[^>]*>", "", title))
    style = files("kernsel.report").joinpath("style.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="kernsel">
<title>{escape(text)}: kernsel</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the results</a>
<header>
<p class="kicker">Report of <span translate="no">kernsel</span></p>
<h1>{title}</h1>
</header>
<main id="content">
{head}{_contents(parts)}{join(parts)}</main>
</body>
</html>
"""


def _contents(parts: list[Html]) -> Html:
    """Return links to all sections."""
    matches = [re.match(r'<section id="([^"]*)"[^>]*>\n<h2[^>]*>(.*?)</h2>', part) for part in parts]
    links = "".join(f'<li><a href="#{m[1]}">{m[2]}</a></li>\n' for m in matches if m)
    return Html(f'<nav aria-label="Sections">\n<ul>\n{links}</ul>\n</nav>\n')
