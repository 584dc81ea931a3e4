"""Figures of a report: they say what they show."""

import re

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.report import figures
from kernsel.report.findings import findings_of
from kernsel.report.inputs import inputs_of

from reported import MADE, of_model, table_of

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", MADE)
def test_figures_say_what_they_show_and_follow_the_page(made, name):
    _, page = made(name)
    figures = page.all("svg")
    counts = {"constant": 0, "five": 7, "cars": 7, "plane": 8, "failing": 10, "many": 12, "stacked": 8, "counts": 6}
    assert len(figures) == counts[name]
    for figure in figures:
        assert figure["attributes"]["role"] == "img"
        alt = figure["attributes"]["aria-label"]
        assert len(alt) > 60
        assert len(re.findall(r"\d", alt)) > 3, alt
    assert len([e for e in page.all("title") if "svg" in e["inside"]]) == len(figures)
    assert len(page.all("text")) >= 5 * len(figures)
    for element in page.elements:
        if "svg" in element["inside"] and "style" in element["attributes"]:
            assert "font-family" not in element["attributes"]["style"]
            assert not element["attributes"]["style"].startswith("font:")
            # Colours are the page's, but on maps.
            in_map = name in ("plane", "stacked")
            assert in_map or "#" not in re.sub(r"url\(#[\w-]+\)", "", element["attributes"]["style"])
    used = set(re.findall(r"var\(--([a-z]+)\)", page.text))
    defined = set(re.findall(r"--([a-z]+):", page.all("style")[0]["text"]))
    assert used <= defined | {"share"}


def test_figures_of_many_rows_stay_small():
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(2000, 1))
    y = np.sin(6 * X[:, 0]) + 0.1 * rng.standard_normal(2000)
    model = ks.GaussianProcessRegressor(RBF(0.3), noise=0.01, trend="constant", optimizer=None).fit(X, y)
    found = of_model(model, table_of(X, y, ["a"]))
    findings = findings_of(found)
    drawn = [figures.left_out(found, findings, kind) for kind in ("predictions", "qq")]
    drawn.append(figures.line_of(found, inputs_of(found)[0]))
    assert sum(len(one.encode()) for one in drawn) < 600_000
    assert drawn[0].count("<use") > 2000  # marks, not a picture
