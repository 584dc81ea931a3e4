"""Markup of a report: tables with captions, and nothing in the data that can break it."""

import re

import pytest

from kernsel.report.formats import short

from reported import HOSTILE, MADE

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", MADE)
def test_tables_have_captions_and_scopes(made, name):
    _, page = made(name)
    tables = page.all("table")
    assert len(page.all("caption")) == len(tables) > 3
    for head in page.all("th"):
        assert head["attributes"]["scope"] == ("col" if "thead" in head["inside"] else "row")
    for part in page.elements:
        if part["attributes"].get("class") == "scroll":
            assert part["attributes"]["tabindex"] == "0"
            assert part["attributes"]["aria-label"]
    for rows in re.findall(r"<table>.*?</table>", page.text, re.DOTALL):
        widths = {
            sum(int(m or 1) for m in re.findall(r'<t[hd](?=[ >])[^>]*?(?:colspan="(\d+)")?>', row))
            for row in re.findall(r"<tr.*?</tr>", rows, re.DOTALL)
        }
        assert len(widths) == 1


def test_hostile_names_are_text(made):
    found, page = made("failing")
    assert "alert(1)" in page.all("h1")[0]["text"] or "4 inputs" in page.all("h1")[0]["text"]
    names = [row[0] for row in page.table("Columns of")]
    assert names[1:] == [short(name, 48) for name in HOSTILE]
    assert "<script" not in page.text
    assert "<img" not in page.text
    assert "\x00" not in page.text
    assert "\u202e" not in page.text
    page.text.encode("utf-8")  # no halves of surrogate pairs
    labels = [element["text"] for element in page.all("text")]
    assert any("url(#a) font-family: {0} #0072b2"[:12] in label for label in labels)  # as it is
    failed = [row for row in page.table("By loo, ") if len(row) == 2]
    assert failed == [["FunctionKernel(fails)", "failed: <b>no</b> & {0}"]]
    assert found.lines["loo"][-1].problem == "<b>no</b> & {0}"
