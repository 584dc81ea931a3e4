"""How classes are drawn: a colour and a marker for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel.plotting.styles import BLUE, GREEN, OCHRE, PINK, VERMILION, VIOLET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

__all__ = ["LOOKS", "draw_classes", "require_few"]

LOOKS = [
    (BLUE, "o"),
    (VERMILION, "^"),
    (GREEN, "s"),
    (PINK, "D"),
    (OCHRE, "v"),
    (VIOLET, "P"),
    ("#6F7B83", "X"),
    ("#9A6A3A", "<"),
    ("#4F9E9E", ">"),
    ("#D0559A", "p"),
]


def require_few(classes: NDArray[np.generic]) -> None:
    """Raise for more classes than there are colours."""
    if len(classes) > len(LOOKS):
        raise ValueError(f"y: expected at most {len(LOOKS)} classes, which can be told apart, got {len(classes)}")


def draw_classes(
    ax: Axes, points: NDArray[np.float64], labels: ArrayLike, classes: NDArray[np.generic], *, edge: str, size: float
) -> list[PathCollection]:
    """Draw points of two coordinates, each with the colour and the marker of its class; return one artist for each class."""
    drawn = []
    for one, (color, marker) in zip(classes, LOOKS, strict=False):
        rows = np.asarray(labels) == one
        style = {"s": size, "color": color, "edgecolors": edge, "linewidths": 0.5, "marker": marker, "zorder": 3}
        drawn.append(ax.scatter(points[rows, 0], points[rows, 1], label=str(one), **style))
    return drawn
