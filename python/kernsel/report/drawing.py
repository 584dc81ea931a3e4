"""Figures of matplotlib as SVG within a page, which have the page's colours and fonts, and few bytes."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from math import log10
from types import ModuleType
from typing import TYPE_CHECKING

from kernsel.plotting.styles import BLUE, GREEN, OCHRE, PINK, VERMILION, VIOLET
from kernsel.report.formats import escape, number, power_of_ten
from kernsel.report.markup import Html, markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLORS", "draw", "require_matplotlib"]

# The colours that matplotlib draws with, by the variables of style.css that replace them.
COLORS = {
    "ink": "#1b1f24",
    "muted": "#5b6470",
    "line": "#d5dae0",
    "paper": "#fefefe",
    "blue": BLUE.lower(),
    "red": VERMILION.lower(),
    "green": GREEN.lower(),
    "pink": PINK.lower(),
    "ochre": OCHRE.lower(),
    "violet": VIOLET.lower(),
}
_STYLE = {
    "svg.fonttype": "none",
    "font.size": 9.5,
    "text.parse_math": False,  # names of columns may contain dollar signs
    "text.color": COLORS["ink"],
    "axes.edgecolor": COLORS["muted"],
    "axes.labelcolor": COLORS["ink"],
    "axes.titlecolor": COLORS["ink"],
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.5,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "figure.edgecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": COLORS["line"],
    "grid.linewidth": 0.6,
    "xtick.color": COLORS["muted"],
    "ytick.color": COLORS["muted"],
    "xtick.labelcolor": COLORS["muted"],
    "ytick.labelcolor": COLORS["muted"],
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.0,
    "lines.color": COLORS["blue"],
    "patch.facecolor": COLORS["blue"],
}
_CYCLE = ("blue", "red", "green", "pink", "ochre", "violet")
_MOST_MARKS = 2500  # that are drawn as vectors; more become a bitmap


def require_matplotlib() -> ModuleType:
    """Return the module matplotlib, or raise an error that says how to install it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("report: needs matplotlib for its figures; pip install 'kernsel[cli]'") from error
    module: ModuleType = matplotlib
    return module


def draw(
    name: str, title: str, alt: str, caption: str, paint: Callable[[Figure], None], *, width: float = 340.0, height: float
) -> Html:
    """Return a figure as HTML.

    Parameters
    ----------
    name : str
        The id of the figure, with which all ids in it begin.
    title, alt : str
        A name, and a description for readers who do not see the figure.
    caption : str or Html
    paint : callable
        A function that draws on a matplotlib figure.
    width, height : float
        The size in points; by default the width of a phone's screen, on which the text is then legible.
    """
    matplotlib = require_matplotlib()
    from matplotlib.figure import Figure

    style = _STYLE | {"axes.prop_cycle": matplotlib.cycler(color=[COLORS[c] for c in _CYCLE]), "svg.hashsalt": name}
    file = io.StringIO()
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # only the reader's browser needs the glyph
        warnings.filterwarnings("ignore", ".*Matplotlib currently does not support")
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        paint(figure)
        _with_plain_numbers(figure)
        _with_pictures_of_many(figure)
        figure.savefig(file, format="svg", dpi=200, metadata={"Creator": None, "Date": None, "Format": None, "Type": None})
    picture = _inline(file.getvalue(), name, title, alt)
    return Html(f'<figure id="{name}" class="plot">\n{picture}\n<figcaption>{markup(caption)}</figcaption>\n</figure>\n')


def _with_plain_numbers(figure: Figure) -> None:
    """Label logarithmic axes without mathtext, which browsers do not render."""
    from matplotlib.ticker import FuncFormatter, LogFormatter, NullFormatter, NullLocator

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_formatter(), LogFormatter):
                axis.set_major_formatter(FuncFormatter(_decade))
                axis.set_minor_formatter(NullFormatter())
                low, high = axis.get_view_interval()
                if high > 1e3 * low:
                    axis.set_minor_locator(NullLocator())  # minor ticks would overlap


def _with_pictures_of_many(figure: Figure) -> None:
    """Draw collections of thousands of marks or lines as one bitmap."""
    for axes in figure.axes:
        for collection in axes.collections:
            if max(len(collection.get_offsets()), len(collection.get_paths())) > _MOST_MARKS:
                collection.set_rasterized(True)


def _decade(value: float, _: int) -> str:
    power = round(log10(value)) if value > 0 else 0
    is_decade = value > 0 and abs(value / 10.0**power - 1) < 1e-9
    return power_of_ten(power) if is_decade and not -3 <= power <= 3 else number(value, 1)


def _inline(svg: str, name: str, title: str, alt: str) -> str:
    """Return matplotlib's SVG as an element of a page. Only its tags are changed, and not its texts."""
    box = re.search(r'viewBox="([^"]*)"', svg)
    assert box is not None
    begin = svg.index(">", svg.index("<svg")) + 1
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg[begin : svg.rindex("</svg>")], flags=re.DOTALL)
    pieces = re.split(r"(<[^>]*>)", body)
    tags = pieces[1::2]
    targets = {a or b for tag in tags for a, b in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', tag)}
    ids = {target: f"{name}-{i}" for i, target in enumerate(sorted(targets))}
    pieces[1::2] = [_tag(tag, ids) for tag in tags]
    body = re.sub(r"<g>\s*</g>|<defs>\s*</defs>|<path [^>]*style=\"fill: none\"/>", "", "".join(pieces))
    body = re.sub(r">\s+<", ">\n<", body)
    return (
        f'<svg viewBox="{box[1]}" role="img" aria-label="{escape(alt)}"><title>{escape(title)}</title>'
        f"{_with_shared_styles(body).strip()}</svg>"
    )


def _tag(tag: str, ids: dict[str, str]) -> str:
    """Return a tag with the colours and fonts of the page, ids of its figure, and coordinates to a hundredth of a point."""
    if tag.startswith("<!--"):
        return ""
    tag = re.sub(r' id="([^"]*)"', lambda m: f' id="{ids[m[1]]}"' if m[1] in ids else "", tag)
    tag = re.sub(r'(?:xlink:)?href="#([^"]+)"', lambda m: f'href="#{ids[m[1]]}"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{ids[m[1]]})", tag)
    if tag.startswith("<image"):
        return tag.replace("xlink:href", "href")
    tag = re.sub(r' transform="rotate\(-0 [^"]*"', "", tag)
    tag = re.sub(r"font-family: [^;\"]*;? ?|(?<=px) '[^;\"]*", "", tag).replace("font: ", "font-size: ")
    for variable, color in COLORS.items():
        tag = tag.replace(color, f"var(--{variable})")
    tag = re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), tag)
    return re.sub(r"\s*\n\s*", " ", tag).replace(' "', '"')


def _with_shared_styles(body: str) -> str:
    """Group consecutive marks or lines that have the same style and clip path, which the group then has once."""
    lines: list[str] = []
    run: list[str] = []
    shared: tuple[str, ...] = ()

    def end() -> None:
        if len(run) > 2:
            attributes = "".join(shared)
            lines.extend([f"<g{attributes}>", *(line.replace(attributes, "") for line in run), "</g>"])
        else:
            lines.extend(run)
        run.clear()

    for line in body.split("\n"):
        match = re.fullmatch(r'<(?:use|path)(?: [a-z]+="[^"]*")*?((?: clip-path="[^"]*")?)( style="[^"]*")/>', line)
        if run and (match is None or match.groups() != shared):
            end()
        if match is None:
            lines.append(line)
        else:
            shared = match.groups()
            run.append(line)
    end()
    return "\n".join(lines)
