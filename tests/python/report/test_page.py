"""The page of a study: well formed, alone, and readable in browsers."""

import html
import re
import shutil
import subprocess

import numpy as np
import pytest

from kernsel.report import write_report
from kernsel.report.findings import findings_of
from kernsel.study import Study, study
from kernsel.study.tables import read_table

from reported import MADE, Page

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", MADE)
def test_page_is_well_formed_and_alone(made, name):
    _, page = made(name)
    assert page.problems == []
    assert page.text.startswith("<!DOCTYPE html>\n")
    assert page.all("html")[0]["attributes"]["lang"] == "en"
    assert [m["attributes"]["content"] for m in page.all("meta") if m["attributes"].get("name") == "viewport"]
    assert len(page.all("title")[0]["text"]) > 5
    assert not page.all("script")
    assert not page.all("link")
    assert not page.all("img")
    ids = [e["attributes"]["id"] for e in page.elements if "id" in e["attributes"]]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        for attribute, value in element["attributes"].items():
            assert not attribute.startswith("on")
            assert attribute not in ("src", "action", "xmlns", "srcset")
            if attribute in ("href", "aria-labelledby"):
                assert value.startswith("data:image/png") or value.removeprefix("#") in ids, value
            if attribute == "style":
                assert re.sub(r"url\(#[\w-]+\)", "", value).find("url(") < 0
    style = page.all("style")
    assert len(style) == 1
    assert "url(" not in style[0]["text"]
    assert "@import" not in style[0]["text"]
    assert "http" not in style[0]["text"]


def test_table_of_a_file_with_everything(tmp_path):
    path = tmp_path / "wines <2024>.csv"
    rng = np.random.default_rng(7)
    rows = ["grape,day,organic,sugar,same,score"]
    for i in range(45):
        grape = ["Riesling", "Grüner", "مرحبا & <b>"][i % 3]
        sugar = rng.uniform(0, 9)
        score = (i % 3) + np.sin(sugar) + 0.01 * i + 0.1 * rng.standard_normal()
        rows.append(
            f"{grape},2024-01-{1 + i % 28:02d},{'yes' if i % 2 else 'no'},{'' if i == 8 else f'{sugar:.3f}'},7,{score:.3f}"
        )
    path.write_text("\n".join(rows), encoding="utf-8")
    found = study(read_table(str(path), "score"), kernels=["RBF"], criteria=("reml",))
    found.save(tmp_path / "it's.ksl")
    found = Study.load(tmp_path / "it's.ksl")
    write_report(found, tmp_path / "page.html", file="it's.ksl")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.problems == []
    shown = {row[0]: row for row in page.table("Columns of")}
    assert shown["grape"][1] == "category"
    assert "مرحبا & <b>" in shown["grape"][6]
    assert shown["sugar"][5] == 1
    assert ">2024-01-01</data>" in page.text
    assert page.table("Share of the variance")[0][0] == "grape"
    assert "44 are learnt from" in re.sub("<[^>]*>", "", page.text)
    far = findings_of(found).farthest(1)[0]
    assert page.table("The rows farthest")[0][0] == found.kept[far]
    assert "kernsel predict 'it'\"'\"'s.ksl'" in next(pre["text"] for pre in page.all("pre"))


BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
LOOK = """<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><body>{frames}<script>
let left = 2;
for (const frame of document.querySelectorAll("iframe")) frame.onload = () => {{
  const page = frame.contentDocument, width = page.documentElement.clientWidth;
  const wide = [...page.querySelectorAll("body *")].filter(
    e => !e.closest(".scroll, pre, svg, .skip") && e.getBoundingClientRect().right > width + 0.5);
  const small = [...page.querySelectorAll("svg text")].filter(e => e.getBoundingClientRect().height < 6);
  frame.dataset.found = JSON.stringify({{
    scroll: page.documentElement.scrollWidth, width, wide: wide.map(e => e.outerHTML.slice(0, 80)), small: small.length,
    paper: getComputedStyle(page.body).backgroundColor, ink: getComputedStyle(page.querySelector("svg text")).fill,
    tables: page.querySelectorAll("table").length, figures: page.querySelectorAll("svg").length}});
}};</script></body>"""


def browse(folder, *arguments):
    command = [
        BROWSER,
        "--no-sandbox",
        "--headless=new",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
    ]
    command += ["--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line or "Uncaught" in line]
    return done.stdout


@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser_nothing_overflows_in_light_and_dark(made, tmp_path, dark):
    frames = "".join(
        f'<iframe style="width:{width}px;height:900px;border:0" srcdoc="{html.escape(made("failing")[1].text)}"></iframe>'
        for width in (360, 1200)
    )
    (tmp_path / "look.html").write_text(LOOK.format(frames=frames), encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    out = browse(tmp_path, scheme, "--window-size=1300,2000", "--dump-dom", (tmp_path / "look.html").as_uri())
    found = [eval(html.unescape(text)) for text in re.findall(r'data-found="([^"]*)"', out)]
    assert [one["width"] for one in found] == [360, 1200]
    for one in found:
        assert one["scroll"] <= one["width"]
        assert one["wide"] == []
        assert one["small"] == 0
        assert one["figures"] == 10
        paper, ink = (sum(map(int, re.findall(r"\d+", one[what])[:3])) for what in ("paper", "ink"))
        assert (paper < 150 and ink > 450) if dark else (paper > 700 and ink < 350)


@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
def test_in_a_browser_it_prints(made, tmp_path):
    (tmp_path / "page.html").write_text(made("cars")[1].text, encoding="utf-8")
    browse(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", (tmp_path / "page.html").as_uri())
    printed = (tmp_path / "page.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12
