"""Axes to draw on: new ones, or those that are given, divided if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["panels", "require_matplotlib", "room"]


def require_matplotlib(caller: str) -> None:
    """Raise ImportError, saying what to install, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib: pip install 'kernsel[plot]'") from error


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
