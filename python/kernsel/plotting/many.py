"""Many points in a figure: how dense they are instead of each, or some of them, so that it is drawn at once and can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernsel._base.annotations import Indices, Vector
from kernsel.plotting.styles import BLUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

__all__ = ["DRAWN", "MANY", "draw_density", "sampled", "spread_over"]

MANY = 5000  # points, from which on they would cover each other, and are drawn as a density
DRAWN = 1000  # points that are drawn of so many where a density would hide what is behind


def draw_density(ax: Axes, x: Vector, y: Vector) -> PolyCollection:
    """Draw hexagons that are the more opaque the more points they hold, on a logarithmic scale, with a colour bar."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgb

    shades = LinearSegmentedColormap.from_list("density", [(*to_rgb(BLUE), opacity) for opacity in (0.12, 1.0)])
    drawn = ax.hexbin(x, y, gridsize=(44, 30), mincnt=1, cmap=shades, norm=LogNorm(), linewidths=0, zorder=2)
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, fraction=0.05)
    bar.outline.set_visible(False)
    bar.set_label("points in a hexagon")
    return drawn


def sampled(n: int) -> Indices:
    """Return the sorted numbers of the points that are drawn of n: all, or a random sample of `DRAWN` if there are `MANY`."""
    if n <= MANY:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, DRAWN, replace=False))


def spread_over(n: int) -> Indices:
    """Return the ranks that are drawn of n sorted points: all, or if there are `MANY` some that look the same in a curve.

    They are the `DRAWN` / 4 outermost on either side, and as many as these between them.
    """
    if n <= MANY:
        return np.arange(n)
    tail = DRAWN // 4
    between = np.linspace(tail, n - tail - 1, DRAWN // 2).round().astype(np.intp)
    return np.concatenate([np.arange(tail), between, np.arange(n - tail, n)])
