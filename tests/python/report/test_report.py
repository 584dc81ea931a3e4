"""The report of a study: what it says is so, what it shows is well made, and nothing in the data can break it."""

import html
import io
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from html.parser import HTMLParser
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, FunctionKernel, Linear
from kernsel.report import about_model, figures, render, write_report
from kernsel.report.about_result import headline
from kernsel.report.findings import findings_of
from kernsel.report.formats import clean, date, number, percent, seconds, short, split_unit
from kernsel.report.inputs import influences, inputs_of
from kernsel.report.parameters import numbers_of
from kernsel.study import Line, Study, study
from kernsel.study.tables import Column, Table, read_table

pytest.importorskip("matplotlib")

MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
VOID = {"meta", "br", "link", "img", "input", "hr"}
HOSTILE = [
    '"><script>alert(1)</script>',
    "$\\frac{$" + "x" * 3000,
    "\u202eevil\x00\ud800 & مدة 日本",
    "url(#a) font-family: {0} #0072b2",
]


class Page(HTMLParser):
    """A page, read strictly: every element is closed, in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text = text
        self.open, self.elements, self.problems = [], [], []
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag, _ in self.open]

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice")
        element = {"tag": tag, "attributes": dict(attributes), "text": "", "inside": [e["tag"] for _, e in self.open]}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append((tag, element))

    def handle_startendtag(self, tag, attributes):
        if "svg" not in [t for t, _ in self.open]:
            self.problems.append(f"<{tag}/> is closed as in XML, outside of SVG")
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1][0] if self.open else 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data):
        for _, element in self.open:
            element["text"] += data

    def all(self, tag):
        return [element for element in self.elements if element["tag"] == tag]

    def table(self, caption):
        """Return the rows of the table with a caption: texts, and the exact numbers that cells hold."""
        part = next(
            part
            for part in self.text.split("<table>")[1:]
            if caption in html.unescape(re.sub("<[^>]*>", "", part.split("</caption>")[0]))
        )
        rows = re.findall(r"<tr.*?</tr>", part.split("</table>")[0], re.DOTALL)[1:]
        return [[_cell(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows]


def _cell(content):
    exact = re.search(r'<data value="([^"]*)"', content)
    return float(exact[1]) if exact else html.unescape(re.sub("<[^>]*>", "", content))


def table_of(X, y, names, target="y", rows=None, columns=None):
    def described(name, values):
        return Column(name, "number", least=float(values.min()), greatest=float(values.max()), mean=float(values.mean()))

    columns = columns or [described(name, x) for name, x in zip(names, X.T, strict=True)]
    return Table("data.csv", rows or len(y), X, y, list(names), columns, described(target, y), [], np.arange(1, len(y) + 1))


def of_model(model, table, seconds=0.1):
    """Return the study of one model that is there already."""
    line = Line(
        "RBF", str(model.kernel_), model.criterion_value_, 0.5, -1.0, 0.9, float(model.noise_), 2, 5, seconds, "", "converged"
    )
    lines = {"reml": [line]}
    return Study(
        "data.csv",
        table.rows,
        table.names,
        table.columns,
        table.target,
        [],
        lines,
        {"reml": "larger"},
        "reml",
        model,
        {},
        table.kept,
        0.2,
    )


def cars():
    path = str(Path(ks.__file__).parent / "examples" / "cars.csv")
    return study(read_table(path, "dist"), criteria=("reml", "loo", "gcv"))


def failing():
    def fails(*points):
        assert points
        raise ValueError("<b>no</b> & {0}")

    rng = np.random.default_rng(6)
    X = rng.uniform(size=(30, 4))
    y = X @ [1.0, 2.0, 3.0, 0.0] + 0.1 * rng.standard_normal(30)
    table = table_of(X, y, HOSTILE, target="$y_{<img src=http://x.y/z onerror=alert(1)>")
    return study(table, kernels=["RBF", FunctionKernel(fails)], criteria=("loo", "reml"))


def plane():
    rng = np.random.default_rng(4)
    X = rng.uniform(-2, 2, (40, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(40)
    return study(table_of(X, y, ["east (km)", "north (km)"], "height (m)"), kernels=["RBF + Linear"], criteria=("reml",))


def many():
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(60, 10)) * 10.0 ** np.arange(-4, 6)
    y = X[:, 0] * 1e4 + np.sin(4 * X[:, 9] / 1e5) + 0.05 * rng.standard_normal(60)
    return study(table_of(X, y, [f"x{k}" for k in range(10)]), kernels=["RBF"], criteria=("reml",), test=0.25)


def five():
    table = table_of(np.arange(5.0)[:, None], np.array([1.0, -2.0, 1.5, -1.0, 0.9]), ["x"])  # nothing to learn
    return study(table, kernels=["RBF"], criteria=("reml",))


def constant():
    table = table_of(np.linspace(0, 1, 12)[:, None], np.full(12, 3.25), ["x"])
    return of_model(ks.GaussianProcessRegressor("RBF", noise="auto", trend="constant").fit(table.X, table.y), table)


MADE = {f.__name__: f for f in (cars, failing, plane, many, five, constant)}


@pytest.fixture(scope="module")
def made():
    """Return a function that returns a study and its page; each is made once."""
    kept = {}

    def get(name):
        if name not in kept:
            found = MADE[name]()
            kept[name] = (found, Page(render(found, command="kernsel select data.csv --target y")))
        return kept[name]

    return get


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


@pytest.mark.parametrize("name", MADE)
def test_figures_say_what_they_show_and_follow_the_page(made, name):
    _, page = made(name)
    figures = page.all("svg")
    assert len(figures) == {"constant": 0, "five": 7, "cars": 7, "plane": 8, "failing": 10, "many": 12}[name]
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
            in_map = name == "plane"
            assert in_map or "#" not in re.sub(r"url\(#[\w-]+\)", "", element["attributes"]["style"])
    used = set(re.findall(r"var\(--([a-z]+)\)", page.text))
    defined = set(re.findall(r"--([a-z]+):", page.all("style")[0]["text"]))
    assert used <= defined | {"share"}


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


def left_out_by_refitting(model):
    """Return predictions of all points, each from a model of the others with the same hyperparameters, and their variances."""
    X, y = model.X_train_, model.y_train_
    found = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        again = ks.GaussianProcessRegressor(
            model.kernel_, alpha=model.jitter_, noise=model.noise_, trend=model.trend, optimizer=None
        ).fit(X[others], y[others])
        found.append([float(v[0]) for v in again.predict(X[[i]], return_std=True, noisy=True)])
    return np.array(found).T


@pytest.mark.parametrize("name", ["cars", "many"])
def test_headline_and_outliers_are_those_of_refitting(made, name):
    found, page = made(name)
    y = found.model.y_train_
    predicted, std = left_out_by_refitting(found.model)
    rmse = np.sqrt(np.mean((y - predicted) ** 2))
    of_mean = np.sqrt(np.mean([(y[i] - np.delete(y, i).mean()) ** 2 for i in range(len(y))]))
    within = np.mean(np.abs(y - predicted) < 1.959964 * std)
    tiles = [float(value) for value in re.findall(r'<dd><data value="([^"]*)"', page.text)]
    noise = np.sqrt(found.model.noise_)
    np.testing.assert_allclose(tiles, [rmse, of_mean, 1 - rmse**2 / of_mean**2, within, noise, len(y)], rtol=1e-6)
    sentence = page.text.split('<p class="headline">')[1].split("</p>")[0]
    assert f">{number(rmse)}</data>" in sentence
    assert f">{percent(1 - rmse**2 / of_mean**2)}</data>" in sentence
    z = (y - predicted) / std
    order = np.argsort(-np.abs(z))
    rows = page.table("The rows farthest")
    for row, i in zip(rows, order, strict=False):
        expected = [found.kept[i], y[i], predicted[i], y[i] - predicted[i], z[i], found.model.leverage_[i]]
        np.testing.assert_allclose(row, expected, rtol=1e-5)
    nominal = {0.5: 0.674490, 0.8: 1.281552, 0.9: 1.644854, 0.95: 1.959964, 0.99: 2.575829}
    for row, (level, width) in zip(page.table("Rows within leave-one-out"), nominal.items(), strict=True):
        assert row[0] == percent(level)
        assert row[1] == np.mean(np.abs(z) <= width)


def test_tables_of_kernels_are_those_of_the_study(made):
    found, page = made("cars")
    matrix = page.table("Leave-one-out error of each kernel")
    for row in matrix:
        for criterion, shown in zip(found.lines, row[1:], strict=True):
            assert shown == next(line.loo_rmse for line in found.lines[criterion] if line.kernel == row[0])
    for criterion, lines in found.lines.items():
        rows = page.table(f"By {criterion}, ")
        for row, line in zip(rows, lines, strict=True):
            assert row[0] == line.kernel + line.fitted
            expected = [
                line.value,
                line.loo_rmse,
                line.coverage,
                line.noise**0.5,
                line.parameters,
                line.evaluations,
                line.seconds,
            ]
            np.testing.assert_allclose(row[1:], expected)
    assert page.text.count('<tr class="chosen"><th scope="row"><code><bdi>' + found.lines["reml"][0].kernel) == 1


def test_rules_are_marked_with_their_errors(made):
    found, page = made("cars")
    model = found.model
    rows = {row[0]: row[1:] for row in page.table("What each rule")}
    assert set(rows) == {
        "the model", "leave-one-out", "GCV", "likelihood", "restricted likelihood", "discrepancy", "L-curve corner",
    }  # fmt: skip
    np.testing.assert_allclose(rows["the model"][0], model.noise_ + model.jitter_)
    np.testing.assert_allclose(rows["restricted likelihood"][0], rows["the model"][0], rtol=1e-3)  # it has chosen the model
    for values in rows.values():
        lam, root, rmse, _ = values
        fit = ks.loo(model.kernel_, model.X_train_, model.y_train_, noise=lam, trend="constant")
        np.testing.assert_allclose([root, rmse], [lam**0.5, np.sqrt(np.mean(fit.residuals**2))], rtol=1e-6)
    assert rows["leave-one-out"][2] == min(values[2] for values in rows.values())


def test_influence_is_the_mean_over_all_exchanges(made):
    found, page = made("plane")
    model = found.model
    X = model.X_train_
    mean = model.predict(X)
    shown = {row[0]: row for row in page.table("Share of the variance")}
    for k, name in enumerate(found.names):
        exchanged = np.repeat(X[:, None], len(X), axis=1)
        exchanged[:, :, k] = X[:, k]
        changed = model.predict(exchanged.reshape(-1, 2)).reshape(len(X), -1)
        every = (
            0.5 * np.mean([(changed[i, j] - mean[i]) ** 2 for i, j in permutations(range(len(X)), 2)]) / np.var(mean, ddof=1)
        )
        assert abs(shown[name][1] - every) < 0.1 * every  # of a part of all exchanges
        slopes = model.predict_gradient(X)[:, k]
        np.testing.assert_allclose(shown[name][3], slopes.mean(), rtol=1e-5)
    assert shown["north (km)"][4] == "rises everywhere"
    five_points, _ = made("five")
    assert influences(five_points, inputs_of(five_points))[0].share == pytest.approx(1.0)  # all exchanges: the variance itself


@pytest.mark.parametrize("unit", [1.0, 1e140, 1e-130])
def test_verdicts_in_any_unit(unit):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (40, 1))
    verdicts = []
    for y in (np.sin(6 * X[:, 0]) + 0.1 * rng.standard_normal(40), rng.standard_normal(40)):
        model = ks.GaussianProcessRegressor(unit**2 * RBF(0.2), noise=0.04 * unit**2, optimizer=None).fit(X, unit * y)
        with np.errstate(all="raise", under="ignore"):
            verdicts.append(findings_of(of_model(model, table_of(X, unit * y, ["x"]))).verdict)
    assert verdicts == ["useful", "useless"]


def test_influence_sees_through_sums_and_products():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 3))
    y = X[:, 0] * X[:, 1]
    kernel = Linear(1.0).on([0]) * Linear(1.0).on([1]) + 1e-6 * RBF([1.0, 1.0, 0.01])
    table = table_of(X, y, list("abc"))
    found = of_model(ks.GaussianProcessRegressor(kernel, noise=1e-6, optimizer=None).fit(X, y), table)
    shares = {one.input.name: one.share for one in influences(found, inputs_of(found))}
    # Each of the two decides all with the other: its share is the whole, whatever the length scales of the last part say.
    assert shares["a"] == pytest.approx(1.0, abs=0.15)
    assert shares["b"] == pytest.approx(1.0, abs=0.15)
    assert shares["c"] < 1e-3


def test_numbers_have_columns_units_and_bounds():
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 10, (40, 2))
    y = np.sin(X[:, 0])
    kernel = 2.0 * RBF([5.0, 1.0], [[4.0, 1e2], [1e-2, 20.0]]) + Linear(3.0).on([1])
    table = table_of(X, y, ["time (s)", "width [mm]"], "force (N)")
    found = of_model(ks.GaussianProcessRegressor(kernel, noise="auto", trend="constant").fit(X, y), table)
    numbers = numbers_of(found)
    assert [(n.part, n.what, n.column, n.unit) for n in numbers] == [
        ("ConstantKernel", "variance", "", "N²"),
        ("RBF", "length scale", "time (s)", "s"),
        ("RBF", "length scale", "width [mm]", "mm"),
        ("Linear", "length scale", "width [mm]", "mm"),
    ]
    np.testing.assert_allclose(np.log([n.value for n in numbers]), found.model.selection_.kernel.theta)
    assert [n.bound for n in numbers][:3] == ["", "lower", "upper"]
    page = about_model.model(found)
    assert "at its upper bound" in page
    assert "at its lower bound" in page
    assert "At a bound of the search ended" in page


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


def test_verdicts_are_honest(made):
    found, page = made("five")
    assert findings_of(found).verdict == "useless"
    assert "Nothing that was tried predicts" in page.text
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(30, 1)), rng.standard_normal(30)
    found = of_model(ks.GaussianProcessRegressor(RBF(0.1), noise=1e-2, optimizer=None).fit(X, y), table_of(X, y, ["x"]))
    assert findings_of(found).verdict == "useless"
    findings = findings_of(found)
    assert "The chosen model does not predict" in headline(found, findings, inputs_of(found))  # the line says otherwise
    worse = replace(found.lines["reml"][0], loo_rmse=9.0)
    assert "Nothing that was tried predicts" in headline(replace(found, lines={"reml": [worse]}), findings, inputs_of(found))
    weak = of_model(
        ks.GaussianProcessRegressor(Linear(1.0), noise=1.0, trend="constant", optimizer=None).fit(X, y + 1.2 * X[:, 0]),
        table_of(X, y + 1.2 * X[:, 0], ["x"]),
    )
    assert findings_of(weak).verdict == "doubtful"
    assert "may be chance" in headline(weak, findings_of(weak), inputs_of(weak))
    found, page = made("constant")
    assert "there is nothing to predict" in page.text
    found, page = made("many")
    assert f"On {found.test['rows']:.0f} rows that were held out" in re.sub("<[^>]*>", "", page.text)
    assert f'<data value="{found.test["rmse"]!r}">' in page.text


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


def test_python_of_the_page_runs(made, tmp_path, monkeypatch):
    found, page = made("many")
    monkeypatch.chdir(tmp_path)
    found.save("model.ksl")
    program = next(pre["text"] for pre in page.all("pre") if "import kernsel" in pre["text"])
    said = io.StringIO()
    with redirect_stdout(said):
        exec(program, {})
    printed = [float(number) for number in re.findall(r"[\d.e+-]+", said.getvalue())]
    promised = [float(number) for number in program.split("#")[1].split(",")]
    np.testing.assert_allclose(printed, promised, rtol=1e-5)
    np.testing.assert_allclose(promised[0], found.model.predict(found.model.X_train_[:1])[0], rtol=1e-4)


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


def test_missing_matplotlib_is_said(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'kernsel\[cli\]'"):
        render(made("constant")[0])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (15.3791, "15.4"), (9.996, "10.0"), (999.96, "1,000"), (1234567.8, "1,234,568"), (42.2, "42.2"), (18.0, "18"),
        (0.000123, "0.000123"), (1e7, f"1.00 {TIMES} 10⁷"), (-2e-5, f"{MINUS}2.00 {TIMES} 10⁻⁵"),
        (1e-310, f"1.00 {TIMES} 10⁻³¹⁰"),
        (0.0, "0"), (float("nan"), "\N{EN DASH}"), (-np.inf, f"{MINUS}∞"),
    ],
)  # fmt: skip
def test_numbers_for_people(value, text):
    assert number(value) == text


def test_other_formats():
    assert [percent(v) for v in (0.0, 1.0, 0.936, 0.9996, 0.99999, 0.002, -0.12)] == [
        "0 %", "100 %", "94 %", "99.96 %", "99.999 %", "0.2 %", f"{MINUS}12 %",
    ]  # fmt: skip
    assert [seconds(v) for v in (0.0021, 0.0996, 12.34, 99.7, 3725.0)] == [
        "2.1 ms",
        "0.10 s",
        "12 s",
        "1 min 40 s",
        "1 h 2 min",
    ]
    assert short("a" * 30 + "b" * 30, 11) == "aaaaaa…bbbb"
    assert clean("a\n\tb\x07") == "a b\N{REPLACEMENT CHARACTER}"
    assert split_unit("x (a) [m/s]") == ("x (a)", "m/s")
    assert date(19783.5) == "2024-03-01 12:00"


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
