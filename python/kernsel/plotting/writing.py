"""Labels, legends and names of points, placed such that they overlap nothing, in figures of any width."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.plotting.figures import room

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

__all__ = [
    "cut",
    "legend_below",
    "name_points",
    "named",
    "percent",
    "plain_numbers_if_few",
    "set_labels",
    "short_number",
    "text_width",
]

# The widths of a legend's handle, with its padding, and of the gap between columns, as multiples of the font size.
_HANDLE, _GAP = 2.6, 1.4
_LAYOUT_GROWTH = 1.1  # the factor by which a layout engine widens axes, at least

FontSize = float | str  # in points, or one of matplotlib's names, such as "small"


def named(name: str, units: Mapping[str, str] | None) -> str:
    """Return the label of an axis: a name, with its unit if there is one."""
    unit = (units or {}).get(name, "")
    return f"{name} ({unit})" if unit else name


def short_number(value: float) -> str:
    """Return a number to three digits, without an exponent below a million."""
    return f"{float(f'{value:.3g}'):.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share between 0 and 1 as a percentage."""
    return f"{100 * share:.3g} %"


def set_labels(ax: Axes, x: str, y: str) -> None:
    """Label the axes, with line breaks where a label is longer than its axis."""
    from matplotlib import rcParams

    width, height = room(ax)
    size = rcParams["axes.labelsize"]
    ax.set_xlabel(_wrapped(x, size, 72 * width))
    ax.set_ylabel(_wrapped(y, size, 72 * height))


def _wrapped(text: str, size: FontSize, width: float) -> str:
    """Return a text in as few lines as fit the width, all about equally long."""
    if not text:
        return text
    count = len(_lines(text, size, width))
    line_width = text_width(text, size) / count
    while len(_lines(text, size, line_width)) > count:
        line_width *= 1.05
    return "\n".join(_lines(text, size, line_width))


def _lines(text: str, size: FontSize, width: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def text_width(text: str, size: FontSize, *, bold: bool = False) -> float:
    """Return the width of a text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def _font_size(size: FontSize) -> float:
    """Return the size of a font in points."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=size).get_size_in_points())


def legend_below(ax: Axes, handles: Sequence[Artist], title: str | None = None, *, grow: bool) -> Legend | None:
    """Add a legend below the label of the horizontal axis, in as many columns as fit the width.

    A layout engine makes room for it there. In a figure without one, it goes where it covers least inside the axes. Entries of
    a legend that the axes have already, of another display, are kept, before the new ones; the title only if both have one and
    the same.

    Parameters
    ----------
    ax : Axes
    handles : sequence of Artist
        The entries, which have labels; without any, there is no legend.
    title : str, optional
    grow : bool
        Whether to make the figure higher by the height of the legend, which is right for a new figure.
    """
    from matplotlib import rcParams
    from matplotlib.transforms import ScaledTranslation

    before = ax.get_legend()
    if before is not None and handles:
        title = title if before.get_title().get_text() == (title or "") else None
        handles = _joined(before, handles)
    if not handles:
        return None
    if ax.figure.get_layout_engine() is None:
        return ax.legend(handles=handles, title=title, loc="best", fontsize="small", title_fontsize="small")
    size = _font_size("small")
    widest = max(text_width(str(handle.get_label()), "small") for handle in handles)
    width = room(ax)[0] * 72 * _LAYOUT_GROWTH
    most = int(np.clip((width + _GAP * size) // (widest + (_HANDLE + _GAP) * size), 1, len(handles)))
    rows = -(-len(handles) // most)
    lines = len(ax.get_xlabel().split("\n")) if ax.get_xlabel() else 0
    below_ticks = lines * 1.45 * _font_size(rcParams["axes.labelsize"]) + rcParams["axes.labelpad"]
    ticks = rcParams["xtick.major.size"] + rcParams["xtick.major.pad"] + _height_of_names(ax)
    down = ScaledTranslation(0, -(ticks + below_ticks + 2) / 72, ax.figure.dpi_scale_trans)
    if grow:
        root = ax.figure.get_figure(root=True)
        root.set_figheight(root.get_figheight() + (rows + (title is not None)) * 1.55 * size / 72)
    return ax.legend(
        handles=handles,
        title=title,
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + down,
        ncols=-(-len(handles) // rows),  # as few columns as need no more rows
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
        borderaxespad=0.0,
        borderpad=0.0,
        columnspacing=_GAP,
        handletextpad=0.6,
        handlelength=_HANDLE - 0.6,
    )


def _height_of_names(ax: Axes) -> float:
    """Return the height of what is written at the ticks of the horizontal axis in points; names may be written upright."""
    from matplotlib import rcParams
    from matplotlib.ticker import FixedLocator

    line = 1.5 * _font_size(rcParams["xtick.labelsize"])
    if not isinstance(ax.xaxis.get_major_locator(), FixedLocator):
        return line
    upright = [name for name in ax.get_xticklabels() if name.get_rotation() == 90]
    return max((text_width(name.get_text(), name.get_size()) for name in upright), default=line)


def _joined(before: Legend, handles: Sequence[Artist]) -> list[Artist]:
    """Return the entries of a legend and new ones, but those that are there already: of the same label and colour."""
    from matplotlib.colors import to_rgb

    def look(handle: Artist) -> tuple[str, object]:
        for colour in ("get_color", "get_facecolor"):
            if hasattr(handle, colour):
                found = np.atleast_2d(np.asarray(getattr(handle, colour)(), dtype=object))[0]
                return str(handle.get_label()), to_rgb(found[0] if len(found) == 1 else tuple(found))
        return str(handle.get_label()), None

    joined: list[Artist] = []
    for handle, text in zip(before.legend_handles, before.get_texts(), strict=True):
        if handle is not None:
            handle.set_label(text.get_text())
            joined.append(handle)
    looks = {look(handle) for handle in joined}
    return [*joined, *(handle for handle in handles if look(handle) not in looks)]


def plain_numbers_if_few(axis: Axis) -> None:
    """Label a logarithmic axis of less than a decade with plain numbers, which are shorter than products with powers of ten."""
    from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator, ScalarFormatter

    low, high = axis.get_view_interval()
    if high < 10 * low:
        axis.set_major_locator(MaxNLocator(4))
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_minor_formatter(NullFormatter())


# The sides of a point, horizontal and vertical, where its name may be written, the preferred ones first.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


def name_points(ax: Axes, x: Vector, y: Vector, named: Sequence[int], names: Sequence[str]) -> list[Text]:
    """Write the names of some points beside them, where they cover the fewest points, and no other name.

    This measures what is drawn on the axes, and so must be the last thing that is drawn. A name without a free place is
    omitted.

    Parameters
    ----------
    ax : Axes
    x, y : ndarray of shape (n,)
        All points.
    named : sequence of int
        The points to name, the most important first.
    names : sequence of n str
        The names of all points.
    """
    if not len(named):
        return []
    ax.figure.get_figure(root=True).draw_without_rendering()
    inside = ax.get_window_extent()
    marks = ax.transData.transform(np.column_stack([x, y]))
    reach = 3.0 * ax.figure.dpi / 72
    boxes: list[Bbox] = []  # of the names that have been written
    texts = []
    for i in named:
        best: tuple[int, Text, Bbox] | None = None  # the number of points that it covers, the text, its box
        for right, up in _SIDES:
            text = ax.annotate(
                names[i],
                (x[i], y[i]),
                xytext=(4 * right, 4 * up),
                textcoords="offset points",
                ha=("right", "center", "left")[right + 1],
                va=("top", "center", "bottom")[up + 1],
                fontsize="small",
            )
            text.set_in_layout(False)
            box = text.get_window_extent().expanded(1.1, 1.0)  # the font of a saved file may be wider
            fits = inside.x0 < box.x0 and box.x1 < inside.x1 and inside.y0 < box.y0 and box.y1 < inside.y1
            covered = (np.abs(marks - box.get_points().mean(axis=0)) < np.array([box.width, box.height]) / 2 + reach).all(
                axis=1
            )
            is_free = not any(box.overlaps(other) for other in boxes) and not covered[list(set(named) - {i})].any()
            if fits and is_free and (best is None or covered.sum() < best[0]):
                if best is not None:
                    best[1].remove()
                best = (int(covered.sum()), text, box)
            else:
                text.remove()
        if best is not None:
            texts.append(best[1])
            boxes.append(best[2])
    return texts


def cut(text: str, width: float, *, bold: bool = False) -> str:
    """Return a small text no wider than so many points, its end left out if need be."""
    if text_width(text, "small", bold=bold) <= width:
        return text
    kept = bisect(range(len(text)), width, key=lambda letters: text_width(f"{text[:letters]}…", "small", bold=bold))
    return f"{text[: max(kept - 1, 0)]}…"
