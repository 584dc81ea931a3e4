"""Plots of the examples, by matplotlib, which only they need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLUE", "GREEN", "GREY", "ORANGE", "axes_of", "draw_histograms", "draw_predictions", "figure_of", "require_drawing"]

Vector = NDArray[np.float64]
# Of M. Okabe and K. Ito: those who see colours differently tell them apart, and they differ in grey.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "0.45"


def _figure(width: float = 6.4, height: float = 4.4) -> Any:
    try:
        module = import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'kernsel[plot]'") from error
    return module.Figure(figsize=(width, height), layout="constrained", dpi=150)


def require_drawing(plot: str) -> None:
    """Raise an error if nothing can be drawn into a file of this name: before the work, not after it.

    Parameters
    ----------
    plot : str
        The name of the file; its ending tells the format.
    """
    known = sorted(_figure().canvas.get_supported_filetypes())
    if Path(plot).suffix.lower().removeprefix(".") not in known:
        raise ValueError(f"plot: expected the name of a file that ends in one of {', '.join(known)}, got {plot!r}")
    if not Path(plot).absolute().parent.is_dir():
        raise FileNotFoundError(f"plot: there is no folder to write {plot!r} into; make it first")


@contextmanager
def figure_of(plot: str, width: float = 6.4, height: float = 4.4) -> Iterator[Any]:
    """Give a figure to draw on, and write it into a file when that is done.

    Parameters
    ----------
    plot : str
        The name of the file; its ending tells the format.
    width, height : float
        In inches.

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
def axes_of(plot: str, width: float = 6.4, height: float = 4.4, **labels: Any) -> Iterator[Any]:
    """Give the axes of a figure of one part, see :func:`figure_of`.

    Parameters
    ----------
    plot, width, height
    **labels
        What `set` of matplotlib's axes takes, such as `xlabel` and `ylabel`.

    Yields
    ------
    axes : matplotlib.axes.Axes
    """
    with figure_of(plot, width, height) as figure:
        axes = figure.subplots()
        axes.set(**labels)
        yield axes


def draw_predictions(plot: str, truth: Vector, predicted: Vector, what: str) -> None:
    """Draw predictions over the truth into a file.

    Parameters
    ----------
    plot : str
        The name of the file; its ending tells the format.
    truth, predicted : ndarray of shape (n,)
    what : str
        Is predicted.
    """
    both = np.concatenate([truth, predicted])
    with axes_of(plot, 5, 5, xlabel=what, ylabel=f"{what}, predicted") as axes:
        axes.plot([both.min(), both.max()], [both.min(), both.max()], color="0.7")
        axes.plot(truth, predicted, ".", color=BLUE)


def draw_histograms(plot: str, values: dict[str, Vector], what: str) -> None:
    """Draw how often each value is there into a file, for some groups.

    Parameters
    ----------
    plot : str
        The name of the file; its ending tells the format.
    values : dict of str to ndarray of shape (n,)
        By the names of the groups.
    what : str
        Their values are.
    """
    with axes_of(plot, 5, 5, xlabel=what, ylabel="number") as axes:
        for (name, group), colour in zip(values.items(), [BLUE, ORANGE, GREEN] * len(values), strict=False):
            axes.hist(group, bins=20, alpha=0.6, label=name, color=colour)
        axes.legend()
