"""The axes that displays draw on: those of a new figure, or given ones, which are divided into panels if there are too few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    AxesLike: TypeAlias = Axes | Sequence[Axes] | None  # axes to draw on; None for a new figure

__all__ = ["panels", "require_matplotlib", "room"]


def require_matplotlib(caller: str) -> None:
    """Raise an ImportError that says what to install, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib: pip install 'kernsel[plot]'") from error


def room(ax: AxesLike) -> tuple[float, float]:
    """Return the width and height in inches of the first of some axes, or of a new figure for None."""
    if ax is None:
        from matplotlib import rcParams

        width, height = rcParams["figure.figsize"]
        return float(width), float(height)
    axes = np.ravel(np.asarray(ax, dtype=object))
    box = axes[0].get_position()
    # A subfigure has no size in inches of its own, but a bounding box in pixels.
    figure_box = axes[0].figure.bbox
    dpi = axes[0].figure.dpi
    return box.width * figure_box.width / dpi, box.height * figure_box.height / dpi


def panels(ax: AxesLike, rows: int = 1, columns: int = 1, *, height: float = 1.0, **options: bool) -> list[Axes]:
    """Return axes to draw on, rows times columns of them, row after row.

    Parameters
    ----------
    ax : None, Axes, or array-like of Axes
        None makes a figure by pyplot, so that `pyplot.show` shows it. One Axes is divided if there are several panels.
    rows, columns : int
    height : float
        The height of a new figure, as a multiple of the current style's.
    **options : bool
        Whether panels share something with the first one, by the argument of `add_subplot`, such as `sharex`.
    """
    count = rows * columns
    if ax is None:
        from matplotlib import pyplot as plt

        width, default_height = room(None)
        figure = plt.figure(figsize=(width, height * default_height), layout="constrained")
        grid = figure.add_gridspec(rows, columns)
    else:
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if not all(hasattr(one, "get_subplotspec") for one in axes):
            raise TypeError(f"ax: expected matplotlib's Axes or None, got {ax!r}")
        if len(axes) == count:
            return axes
        if len(axes) != 1:
            expected = "one Axes" if count == 1 else f"one Axes, or {count} of them"
            raise ValueError(f"ax: expected {expected}, got {len(axes)}")
        spec = axes[0].get_subplotspec()
        if spec is None:
            raise ValueError(f"ax: these Axes cannot be divided into {count}; make them by subplots, or give {count} of them")
        figure, grid = axes[0].figure, spec.subgridspec(rows, columns)
        axes[0].set_axis_off()
    created: list[Axes] = []
    for cell in grid:
        shared = {name: created[0] for name, is_shared in options.items() if is_shared and created}
        created.append(figure.add_subplot(cell, **shared))
    return created
