"""Curves over the values of one parameter: their axis, fits with each value, and which side of the best value is which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier

from kernsel._base.annotations import Matrix, Vector
from kernsel.plotting.figures import room
from kernsel.plotting.writing import text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = ["Loss", "are_ordered", "loss_of", "places_of", "set_scale", "sides_of", "with_value", "write_sides"]

_SIDES = "kernsel sides"  # marks the texts that are names of sides

Loss: TypeAlias = Callable[[Any, Any], float]  # the error of predictions, from targets and predictions


def loss_of(estimator: BaseEstimator, loss: Loss | None) -> tuple[Loss, str]:
    """Return how errors are measured, and what they are called: by default root mean squares, or shares of wrong classes."""
    if loss is not None:
        if not callable(loss):
            raise TypeError(f"loss: expected a function of targets and predictions, got {loss!r}")
        return loss, str(getattr(loss, "__name__", "loss")).replace("_", " ")
    return (_share_wrong, "share of wrong classes") if is_classifier(estimator) else (_root_mean_square, "error of {target}")


def _root_mean_square(y: ArrayLike, predictions: ArrayLike) -> float:
    return float(np.sqrt(np.mean((np.asarray(y, dtype=np.float64) - np.asarray(predictions)) ** 2)))


def _share_wrong(y: ArrayLike, predictions: ArrayLike) -> float:
    return float(np.mean(np.asarray(y) != np.asarray(predictions)))


def with_value(estimator: BaseEstimator, name: str, value: object) -> BaseEstimator:
    """Return a copy of an estimator that is not fitted, with another value of a parameter."""
    if not isinstance(name, str) or name not in estimator.get_params():
        names = ", ".join(sorted(estimator.get_params()))
        raise ValueError(f"param_name: expected a parameter of {type(estimator).__name__}, one of {names}; got {name!r}")
    return clone(estimator).set_params(**{name: value})


def places_of(values: Sequence[Any]) -> Vector:
    """Return where values are on the axis: at themselves if they are ascending or descending numbers, otherwise at 0, 1, ..."""
    if not len(values):
        raise ValueError("param_range: expected at least one value, got none")
    if all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values):
        numbers = np.array(values, dtype=np.float64)
        if np.isfinite(numbers).all() and ((np.diff(numbers) > 0).all() or (np.diff(numbers) < 0).all()):
            return numbers
    return np.arange(len(values), dtype=np.float64)


def are_ordered(values: Sequence[Any], places: Vector) -> bool:
    """Tell whether values are numbers that are at themselves, and not names in any order."""
    return not isinstance(values[0], bool) and isinstance(values[0], int | float | np.number) and places[0] == values[0]


def set_scale(ax: Axes, values: Sequence[Any], places: Vector) -> None:
    """Make the horizontal axis logarithmic for positive numbers over a decade, and write the values that are no numbers."""
    if are_ordered(values, places):
        if places.min() > 0 and places.max() >= 10 * places.min():
            ax.set_xscale("log")
        return
    names = [str(value) for value in values]
    are_long = sum(text_width(name, "medium") + 10 for name in names) > 72 * room(ax)[0]
    ax.set_xticks(places, names, rotation=90 if are_long else 0)


def sides_of(places: Vector, train: Matrix, validation: Matrix, best: int) -> dict[str, str]:
    """Return which sides of the best value underfit and overfit: "left" or "right".

    A side has a name if the error of points that are left out is larger at its end than at the best value, by a hundredth and
    in most folds. The more flexible a model is, the less is its error at the points that it has seen: a side underfits if that
    error is above the one at the best value at its end, and overfits if it is below.

    Parameters
    ----------
    places : ndarray of shape (p,)
    train, validation : ndarray of shape (p, folds)
    best : int
    """
    sides = {}
    seen = train.mean(axis=1)
    for end, side in ((int(np.argmin(places)), "left"), (int(np.argmax(places)), "right")):
        is_worse = float(np.median(validation[end] - validation[best])) > 0.01 * float(validation[best].mean())
        if is_worse and seen[end] != seen[best]:
            sides["underfits" if seen[end] > seen[best] else "overfits"] = side
    return sides


def write_sides(ax: Axes, sides: dict[str, str]) -> list[Text]:
    """Write the names of the sides above the axes, each with an arrow to its side, unless another display has done so."""
    texts: list[Text] = []
    if any(text.get_gid() == _SIDES for text in ax.texts):
        return texts
    for name, side in sides.items():
        left = side == "left"
        text = f"\N{LEFTWARDS ARROW} {name}" if left else f"{name} \N{RIGHTWARDS ARROW}"
        where = (0.0, 1.02, text) if left else (1.0, 1.02, text)
        texts.append(ax.text(*where, transform=ax.transAxes, ha=side, va="bottom", fontsize="small", gid=_SIDES))
    return texts
