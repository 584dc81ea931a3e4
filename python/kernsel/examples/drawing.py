"""Plots of the examples, by matplotlib, which only they need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw_histograms", "draw_predictions"]

Vector = NDArray[np.float64]


def _axes() -> tuple[Any, Any]:
    try:
        module = import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError("plot: needs matplotlib; pip install matplotlib") from error
    figure = module.Figure(figsize=(5, 5), layout="constrained")
    return figure, figure.subplots()


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
    figure, axes = _axes()
    both = np.concatenate([truth, predicted])
    axes.plot([both.min(), both.max()], [both.min(), both.max()], color="0.7")
    axes.plot(truth, predicted, ".")
    axes.set(xlabel=what, ylabel=f"{what}, predicted")
    figure.savefig(plot)


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
    figure, axes = _axes()
    for name, group in values.items():
        axes.hist(group, bins=20, alpha=0.6, label=name)
    axes.set(xlabel=what, ylabel="number")
    axes.legend()
    figure.savefig(plot)
