"""Labels, legends and names that cover nothing, in figures of any width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernsel.plotting.figures import room

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = [
    "legend_below",
    "name_points",
    "named",
    "percent",
    "plain_numbers_if_few",
    "set_labels",
    "short_number",
    "text_width",
]

# Of legends, in sizes of the font.
_HANDLE, _GAP = 2.6, 1.4
_LAID_OUT = 1.1  # the width of axes once they are laid out, over that before, or less


def named(name: str, units: Mapping[str, str] | None) -> str:
    """Return the label of an axis: a name, with its unit if that is known."""
    unit = (units or {}).get(name, "")
    return f"{name} ({unit})" if unit else name


def short_number(value: float) -> str:
    """Return a number to three digits, without an exponent if it is of a usual size."""
    return f"{float(f'{value:.3g}'):.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share as people write it."""
    return f"{100 * share:.3g} %"


def set_labels(ax: Axes, x: str, y: str) -> None:
    """Label the axes, in several lines where there is no room for one."""
    from matplotlib import rcParams

    width, height = room(ax)
    size = rcParams["axes.labelsize"]
    ax.set_xlabel(_wrapped(x, size, 72 * width))
    ax.set_ylabel(_wrapped(y, size, 72 * height))


def _wrapped(text: str, size: Any, width: float) -> str:
    """Return a text in as few lines as have room, about as long as each other."""
    if not text:
        return text
    whole = text_width(text, size)
    count = len(_lines(text, size, width))
    narrower = whole / count
    while len(_lines(text, size, narrower)) > count:
        narrower *= 1.05
    return "\n".join(_lines(text, size, narrower))


def _lines(text: str, size: Any, width: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def text_width(text: str, size: Any, *, bold: bool = False) -> float:
    """Return the width of a text in points, for a size in points or one that has a name."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def _font_size(size: Any) -> float:
    """Return a size of fonts in points."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=size).get_size_in_points())


def legend_below(ax: Axes, handles: Sequence[Artist], title: str | None = None, *, grow: bool) -> Any:
    """Add a legend below the label of the horizontal axis, in as many columns as there is room for.

    In a figure without a layout engine, which would make room there, it goes where it covers least inside the axes.

    Parameters
    ----------
    ax : Axes
    handles : sequence of Artist
        With labels; no legend if there are none.
    title : str, optional
    grow : bool
        Make the figure higher by as much: for a new one.
    """
    from matplotlib import rcParams
    from matplotlib.transforms import ScaledTranslation

    if not handles:
        return None
    if ax.figure.get_layout_engine() is None:
        return ax.legend(handles=handles, title=title, loc="best", fontsize="small", title_fontsize="small")
    size = _font_size("small")
    widest = max(text_width(str(handle.get_label()), "small") for handle in handles)
    width = room(ax)[0] * 72 * _LAID_OUT
    most = int(np.clip((width + _GAP * size) // (widest + (_HANDLE + _GAP) * size), 1, len(handles)))
    rows = -(-len(handles) // most)
    lines = len(ax.get_xlabel().split("\n")) if ax.get_xlabel() else 0
    below_ticks = lines * 1.45 * _font_size(rcParams["axes.labelsize"]) + rcParams["axes.labelpad"]
    ticks = rcParams["xtick.major.size"] + rcParams["xtick.major.pad"] + 1.5 * _font_size(rcParams["xtick.labelsize"])
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
        ncols=-(-len(handles) // rows),  # rows of equal length
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


def plain_numbers_if_few(axis: Any) -> None:
    """Give a logarithmic axis of less than a decade plain numbers: products with powers of ten are long."""
    from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator, ScalarFormatter

    low, high = axis.get_view_interval()
    if high < 10 * low:
        axis.set_major_locator(MaxNLocator(4))
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_minor_formatter(NullFormatter())


_AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


def name_points(ax: Axes, x: Any, y: Any, named: Sequence[int], names: Sequence[str]) -> list[Text]:
    """Write names beside some of the points, where they cover least, and no other name.

    Everything else must be on the axes: where there is room is measured. What has no place is left out.

    Parameters
    ----------
    ax : Axes
    x, y : ndarray of shape (n,)
        All points.
    named : sequence of int
        Those with a name, the first ones first.
    names : sequence of n str
        Of all.
    """
    if not len(named):
        return []
    ax.figure.get_figure(root=True).draw_without_rendering()
    inside = ax.get_window_extent()
    marks = ax.transData.transform(np.column_stack([x, y]))
    reach = 3.0 * ax.figure.dpi / 72
    taken: list[Any] = []
    texts = []
    for i in named:
        best: tuple[int, Text, Any] | None = None  # what it covers, the text, its box
        for right, up in _AROUND:
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
            box = text.get_window_extent().expanded(1.1, 1.0)  # another font may be wider
            within = inside.x0 < box.x0 and box.x1 < inside.x1 and inside.y0 < box.y0 and box.y1 < inside.y1
            covered = (np.abs(marks - box.get_points().mean(axis=0)) < np.array([box.width, box.height]) / 2 + reach).all(
                axis=1
            )
            free = not any(box.overlaps(other) for other in taken) and not covered[list(set(named) - {i})].any()
            if within and free and (best is None or covered.sum() < best[0]):
                if best is not None:
                    best[1].remove()
                best = (int(covered.sum()), text, box)
            else:
                text.remove()
        if best is not None:
            texts.append(best[1])
            taken.append(best[2])
    return texts
