"""What all displays share: axes to draw on, colours that are seen on light and dark, legends that cover nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = [
    "BLUE",
    "GREEN",
    "OCHRE",
    "PINK",
    "VERMILION",
    "VIOLET",
    "faint",
    "font_size",
    "foreground",
    "legend_below",
    "name_points",
    "named",
    "panels",
    "percent",
    "plain_numbers_if_few",
    "points_style",
    "require_matplotlib",
    "room",
    "set_labels",
    "short_number",
    "text_width",
]

# After Okabe and Ito, but each with a contrast of 3 at least with white and with black. Colours of one hue to people who are
# colour-blind differ in lightness.
BLUE, VERMILION, GREEN, PINK, OCHRE, VIOLET = "#2E8FD6", "#C73A0A", "#00926B", "#C678A4", "#B08D00", "#8148D8"

# Of legends, in sizes of the font.
_HANDLE, _GAP = 2.6, 1.4
_LAID_OUT = 1.1  # the width of axes once they are laid out, over that before, or less


def require_matplotlib(caller: str) -> None:
    """Raise ImportError, saying what to install, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib: pip install 'kernsel[plot]'") from error


def foreground() -> str:
    """Return the colour of text in the current style, for lines that belong to no curve."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def faint(width: float = 1.0, style: Any = "-") -> dict[str, Any]:
    """Return the style of a line of reference."""
    return {"color": foreground(), "alpha": 0.55, "linewidth": width, "linestyle": style}


def points_style(n: int, color: str) -> dict[str, Any]:
    """Return a style for `n` points, smaller and more transparent the more there are."""
    size = float(np.clip(4000 / max(n, 1), 9, 26))
    return {"s": size, "color": color, "alpha": float(np.clip(16 / max(n, 1) ** 0.5, 0.55, 0.9)), "linewidths": 0}


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


def room(ax: Any) -> tuple[float, float]:
    """Return the width and height in inches of what is to be drawn on: axes, or a new figure for None."""
    if ax is None:
        from matplotlib import rcParams

        width, height = rcParams["figure.figsize"]
        return float(width), float(height)
    axes = np.ravel(np.asarray(ax, dtype=object))
    box = axes[0].get_position()
    # The size in inches of a figure or subfigure is that of its box in the units that dpi_scale_trans counts.
    whole = axes[0].figure.bbox
    dpi = axes[0].figure.dpi
    return box.width * whole.width / dpi, box.height * whole.height / dpi


def panels(ax: Any, rows: int = 1, columns: int = 1, *, height: float = 1.0, **options: Any) -> list[Axes]:
    """Return axes to draw on, rows times columns of them, row after row.

    Parameters
    ----------
    ax : None, Axes, or array-like of Axes
        None makes a figure by pyplot, so that its `show` shows it. One Axes is divided if there are several panels.
    rows, columns : int
    height : float
        Of a new figure, over that of the current style.
    **options
        Of `add_subplot` for new panels but the first, such as `sharex=True`.
    """
    count = rows * columns
    if ax is None:
        from matplotlib import pyplot as plt

        width, whole = room(None)
        figure = plt.figure(figsize=(width, height * whole), layout="constrained")
        grid: Any = figure.add_gridspec(rows, columns)
    else:
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if not all(hasattr(one, "get_subplotspec") for one in given):
            raise TypeError(f"ax: expected matplotlib's Axes or None, got {ax!r}")
        if len(given) == count:
            return given
        if len(given) != 1:
            expected = "one Axes" if count == 1 else f"one Axes, or {count} of them"
            raise ValueError(f"ax: expected {expected}, got {len(given)}")
        spec = given[0].get_subplotspec()
        if spec is None:
            raise ValueError(f"ax: these Axes cannot be divided into {count}; make them by subplots, or give {count} of them")
        figure, grid = given[0].figure, spec.subgridspec(rows, columns)
        given[0].set_axis_off()
    made: list[Axes] = []
    for place in grid:
        share = {name: made[0] for name, wanted in options.items() if wanted and made}
        made.append(figure.add_subplot(place, **share))
    return made


def text_width(text: str, size: Any, *, bold: bool = False) -> float:
    """Return the width of a text in points, for a size in points or one that has a name."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def font_size(size: Any) -> float:
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
    size = font_size("small")
    widest = max(text_width(str(handle.get_label()), "small") for handle in handles)
    width = room(ax)[0] * 72 * _LAID_OUT
    most = int(np.clip((width + _GAP * size) // (widest + (_HANDLE + _GAP) * size), 1, len(handles)))
    rows = -(-len(handles) // most)
    lines = len(ax.get_xlabel().split("\n")) if ax.get_xlabel() else 0
    below_ticks = lines * 1.45 * font_size(rcParams["axes.labelsize"]) + rcParams["axes.labelpad"]
    ticks = rcParams["xtick.major.size"] + rcParams["xtick.major.pad"] + 1.5 * font_size(rcParams["xtick.labelsize"])
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


def name_points(ax: Axes, x: Any, y: Any, names: Sequence[str]) -> list[Text]:
    """Write names beside points, the first ones first; leave out those that have no place free of other names.

    Everything else must be on the axes: where there is room is measured.
    """
    if not len(names):
        return []
    ax.figure.get_figure(root=True).draw_without_rendering()
    inside = ax.get_window_extent()
    marks = ax.transData.transform(np.column_stack([x, y]))
    reach = 3.0 * ax.figure.dpi / 72
    taken: list[Any] = []
    texts = []
    for at, name in enumerate(names):
        for right, up in _AROUND:
            text = ax.annotate(
                name,
                (x[at], y[at]),
                xytext=(4 * right, 4 * up),
                textcoords="offset points",
                ha=("right", "center", "left")[right + 1],
                va=("top", "center", "bottom")[up + 1],
                fontsize="small",
            )
            text.set_in_layout(False)
            box = text.get_window_extent()
            box = box.expanded(1.1, 1.0)  # another font may be wider
            within = inside.x0 < box.x0 and box.x1 < inside.x1 and inside.y0 < box.y0 and box.y1 < inside.y1
            over = any(box.overlaps(other) for other in taken)
            others = np.delete(marks, at, axis=0)
            on_mark = bool(
                (
                    (others[:, 0] > box.x0 - reach)
                    & (others[:, 0] < box.x1 + reach)
                    & (others[:, 1] > box.y0 - reach)
                    & (others[:, 1] < box.y1 + reach)
                ).any()
            )
            if within and not over and not on_mark:
                taken.append(box)
                texts.append(text)
                break
            text.remove()
    return texts
