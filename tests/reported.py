"""Studies of data of many kinds, and the page of a report as its elements."""

import html
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

import kernsel as ks
from kernsel.kernels import FunctionKernel
from kernsel.study import Line, Study, study
from kernsel.study.tables import Column, Table, read_table

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


def stacked():
    rng = np.random.default_rng(6)
    X = rng.uniform(0, 6, (80, 2))
    y = np.where(X[:, 0] > 3, 1.0, np.sin(4 * X[:, 0])) + 0.1 * rng.standard_normal(80)
    kernels = ["RBF", "Matern(nu=0.5)", "RBF + Linear", FunctionKernel(len)]
    found = study(table_of(X, y, ["a", "b"]), kernels=kernels, criteria=("loo", "reml"), combine="stack")
    assert len(found.combined) > 1
    return found


def counts():
    rng = np.random.default_rng(8)
    X = rng.uniform(0, 6, (90, 1))
    y = rng.negative_binomial(3, 3 / (3 + np.exp(1 + np.sin(2 * X[:, 0]))))
    table = table_of(X, y.astype(float), ["age (y)"], "faults")
    return study(table, kernels=["RBF"], criteria=("lml",), likelihood="negative_binomial", test=0.2)


MADE = {f.__name__: f for f in (cars, failing, plane, many, five, constant, stacked, counts)}
