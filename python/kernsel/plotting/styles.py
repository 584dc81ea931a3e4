"""Colours and lines that are visible on a light and on a dark background."""

from __future__ import annotations

import numpy as np

__all__ = ["BLUE", "GREEN", "OCHRE", "PINK", "VERMILION", "VIOLET", "LineStyle", "faint", "foreground", "points_style"]

# After Okabe and Ito, changed to have a contrast of at least 3 with white and with black. Colours that colour-blind people see
# as one hue differ in lightness.
BLUE, VERMILION, GREEN, PINK, OCHRE, VIOLET = "#2E8FD6", "#C73A0A", "#00926B", "#C678A4", "#B08D00", "#8148D8"


def foreground() -> str:
    """Return the colour of text in the current style, for lines that belong to no curve."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


# A style that matplotlib has a name for, or an offset with the lengths of dashes and gaps.
LineStyle = str | tuple[int, tuple[int, ...]]


def faint(width: float = 1.0, style: LineStyle = "-") -> dict[str, object]:
    """Return the style of a line of reference."""
    return {"color": foreground(), "alpha": 0.55, "linewidth": width, "linestyle": style}


def points_style(n: int, color: str) -> dict[str, object]:
    """Return a style for `n` points, smaller and more transparent the more there are."""
    size = float(np.clip(4000 / max(n, 1), 9, 26))
    return {"s": size, "color": color, "alpha": float(np.clip(16 / max(n, 1) ** 0.5, 0.55, 0.9)), "linewidths": 0}
