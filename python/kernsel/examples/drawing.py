"""Plots of the examples, for which matplotlib is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kernsel._base.annotations import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BLUE", "GREEN", "GREY", "ORANGE", "axes_of", "draw_histograms", "draw_predictions", "figure_of", "require_drawing"]

# Colours of M. Okabe and K. Ito, which colour-blind people can tell apart, and which differ in lightness.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "0.45"


def _figure(width: float = 6.4, height: float = 4.4) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'kernsel[plot]'") from error
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def require_drawing(plot: str) -> None:
    """Raise an error if a plot cannot be written to a file of this name: to be called before the computation.

    Parameters
    ----------
    plot : str
        The name of the file; its ending tells the format.
    """
    formats = sorted(_figure().canvas.get_supported_filetypes())
    if Path(plot).suffix.lower().removeprefix(".") not in formats:
        raise ValueError(f"plot: expected the name of a file that ends in one of {', '.join(formats)}, got {plot!r}")
    if not Path(plot).absolute().parent.is_dir():
        raise FileNotFoundError(f"plot: there is no folder to write {plot!r} into; make it first")


@contextmanager
def figure_of(plot: str, width: float = 6.4, height: float = 4.4) -> Iterator[Figure]:
    """Yield a figure to draw on, and then write it to a file.

    Parameters
    ----------
    plot : str
        The name of the file; its ending tells the format.
    width, height : float
        The size in inches.

    Yields
    ------
    figure : matplotlib.figure.Figure
    """
    figure = _figure(width, height)
    yield figure
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(plot)


@contextmanager
def axes_of(plot: str, width: float = 6.4, height: float = 4.4, **labels: object) -> Iterator[Axes]:
    """Yield the axes of a figure with one panel, see :func:`figure_of`.

    Parameters
    ----------
    plot, width, height
    **labels
        Arguments of `set` of matplotlib's axes, such as `xlabel` and `ylabel`.

    Yields
    ------
    axes : matplotlib.axes.Axes
    """
    with figure_of(plot, width, height) as figure:
        axes = figure.subplots()
        axes.set(**labels)
        yield axes


def draw_predictions(plot: str, truth: Vector, predicted: Vector, quantity: str) -> None:
    """Draw predictions against true values into a file.

    Parameters
    ----------
    plot : str
        The name of the file; its ending tells the format.
    truth, predicted : ndarray of shape (n,)
    quantity : str
        The name of what is predicted.
    """
    values = np.concatenate([truth, predicted])
    with axes_of(plot, 5, 5, xlabel=quantity, ylabel=f"{quantity}, predicted") as axes:
        axes.plot([values.min(), values.max()], [values.min(), values.max()], color="0.7")
        axes.plot(truth, predicted, ".", color=BLUE)


def draw_histograms(plot: str, values: dict[str, Vector], quantity: str) -> None:
    """Draw histograms of the values of several groups into a file.

    Parameters
    ----------
    plot : str
        The name of the file; its ending tells the format.
    values : dict of str to ndarray of shape (n,)
        The values of each group, by its name.
    quantity : str
        The name of the values.
    """
    with axes_of(plot, 5, 5, xlabel=quantity, ylabel="number") as axes:
        for (name, group), colour in zip(values.items(), [BLUE, ORANGE, GREEN] * len(values), strict=False):
            axes.hist(group, bins=20, alpha=0.6, label=name, color=colour)
        axes.legend()
