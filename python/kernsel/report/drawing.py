"""From matplotlib's SVG to figures that are part of a page: they follow its colours and fonts, and stay small."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from math import log10
from typing import Any

from kernsel.plotting.styles import BLUE, GREEN, OCHRE, PINK, VERMILION, VIOLET
from kernsel.report.formats import escape, number, power_of_ten
from kernsel.report.markup import Html, markup

__all__ = ["COLORS", "draw", "require_matplotlib"]

# What matplotlib draws with, and the variable of style.css that takes its place.
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
    "text.parse_math": False,  # names of columns may have dollars in them
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
_MOST_MARKS = 2500  # of more, a picture is made


def require_matplotlib() -> Any:
    """Return the module matplotlib, or say how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("report: needs matplotlib for its figures; pip install 'kernsel[cli]'") from error
    return matplotlib


def draw(
    name: str, title: str, alt: str, caption: Any, paint: Callable[[Any], None], *, width: float = 340.0, height: float
) -> Html:
    """Return a figure as HTML.

    Parameters
    ----------
    name : str
        Its id; all ids in it begin with that.
    title, alt : str
        What it is in a few words, and what it shows, for those who do not see it.
    caption : str or Html
    paint : callable
        Draws on a matplotlib figure.
    width, height : float
        In points; by default as wide as on a phone, so that its text can be read there.
    """
    matplotlib = require_matplotlib()
    from matplotlib.figure import Figure

    style = _STYLE | {"axes.prop_cycle": matplotlib.cycler(color=[COLORS[c] for c in _CYCLE]), "svg.hashsalt": name}
    file = io.StringIO()
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # it is the reader's browser that needs the glyph
        warnings.filterwarnings("ignore", ".*Matplotlib currently does not support")
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        paint(figure)
        _with_plain_numbers(figure)
        _with_pictures_of_many(figure)
        figure.savefig(file, format="svg", dpi=200, metadata={"Creator": None, "Date": None, "Format": None, "Type": None})
    picture = _inline(file.getvalue(), name, title, alt)
    return Html(f'<figure id="{name}" class="plot">\n{picture}\n<figcaption>{markup(caption)}</figcaption>\n</figure>\n')


def _with_plain_numbers(figure: Any) -> None:
    """Label logarithmic axes without mathtext, which a browser cannot read."""
    from matplotlib.ticker import FuncFormatter, LogFormatter, NullFormatter, NullLocator

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_formatter(), LogFormatter):
                axis.set_major_formatter(FuncFormatter(_decade))
                axis.set_minor_formatter(NullFormatter())
                low, high = axis.get_view_interval()
                if high > 1e3 * low:
                    axis.set_minor_locator(NullLocator())  # too many to see


def _with_pictures_of_many(figure: Any) -> None:
    """Make thousands of marks or lines one picture."""
    for axes in figure.axes:
        for drawn in axes.collections:
            if max(len(drawn.get_offsets()), len(drawn.get_paths())) > _MOST_MARKS:
                drawn.set_rasterized(True)


def _decade(value: float, _: int) -> str:
    power = round(log10(value)) if value > 0 else 0
    whole = value > 0 and abs(value / 10.0**power - 1) < 1e-9
    return power_of_ten(power) if whole and not -3 <= power <= 3 else number(value, 1)


def _inline(svg: str, name: str, title: str, alt: str) -> str:
    """Return what matplotlib wrote as an element of a page: tags are changed, texts are not, since they may be anything."""
    box = re.search(r'viewBox="([^"]*)"', svg)
    assert box is not None
    begin = svg.index(">", svg.index("<svg")) + 1
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg[begin : svg.rindex("</svg>")], flags=re.DOTALL)
    pieces = re.split(r"(<[^>]*>)", body)
    tags = pieces[1::2]
    used = {a or b for tag in tags for a, b in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', tag)}
    ids = {found: f"{name}-{i}" for i, found in enumerate(sorted(used))}
    pieces[1::2] = [_tag(tag, ids) for tag in tags]
    body = re.sub(r"<g>\s*</g>|<defs>\s*</defs>|<path [^>]*style=\"fill: none\"/>", "", "".join(pieces))
    body = re.sub(r">\s+<", ">\n<", body)
    return (
        f'<svg viewBox="{box[1]}" role="img" aria-label="{escape(alt)}"><title>{escape(title)}</title>'
        f"{_with_shared_styles(body).strip()}</svg>"
    )


def _tag(tag: str, ids: dict[str, str]) -> str:
    """Return a tag with colours and fonts of the page, ids of its figure, and coordinates to a hundredth of a point."""
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
    """Say once what many marks or lines in a row have in common: where they are clipped, and their style."""
    lines: list[str] = []
    run: list[str] = []
    shared: tuple[str, ...] = ()

    def end() -> None:
        if len(run) > 2:
            plain = [line.replace(part, "") for line in run for part in ["".join(shared)]]
            lines.extend([f"<g{''.join(shared)}>", *plain, "</g>"])
        else:
            lines.extend(run)
        run.clear()

    for line in body.split("\n"):
        found = re.fullmatch(r'<(?:use|path)(?: [a-z]+="[^"]*")*?((?: clip-path="[^"]*")?)( style="[^"]*")/>', line)
        if run and (found is None or found.groups() != shared):
            end()
        if found is None:
            lines.append(line)
        else:
            shared = found.groups()
            run.append(line)
    end()
    return "\n".join(lines)
