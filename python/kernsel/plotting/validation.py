"""The validation curve: errors at training points and at points that are left out, for the values of a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, indexable

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.folds import How, splits_by, splitter_for
from kernsel.estimators.fitted import HasLeftOut
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.models import model_and_points, name_of_target
from kernsel.plotting.of_parameter import Loss, are_ordered, loss_of, places_of, set_scale, sides_of, with_value, write_sides
from kernsel.plotting.styles import BLUE, GREEN, VERMILION, faint
from kernsel.plotting.writing import legend_below, named, set_labels, short_number
from kernsel.study.tasks import results_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["ValidationDisplay"]


class ValidationDisplay:
    """Errors of an estimator over the values of a parameter, and on which side of the best one it under- and overfits.

    Curves are means over folds, of the error at their training points and at the points that they leave out, with bands of one
    standard error. Where the estimator has them in closed form, the error of points that are left out one at a time is drawn,
    too. The best value has the least validation error.

    Parameters
    ----------
    param_name : str
    values : sequence of length p
        Numbers, or anything else that the parameter may be.
    train, validation : array-like of shape (p,) or (p, folds)
    left_out : array-like of shape (p,), optional
    error_name : str

    Attributes
    ----------
    best_ : object
        The value with the least mean validation error.
    sides_ : dict of str to str
        "left" or "right", for "underfits" and "overfits", where errors of points that are left out are larger than at the best
        value: by the errors of the points of the fit, which are larger where a model underfits.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
        "train", "validation" and "left_out".
    bands_ : dict of str to matplotlib artist
    texts_ : list of matplotlib Text
        The names of the sides.
    legend_ : matplotlib Legend

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (60, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(60)
    >>> model = ks.KernelRidge(ks.kernels.RBF(0.5))
    >>> display = ks.plotting.ValidationDisplay.from_estimator(
    ...     model, X, y, param_name="alpha", param_range=np.logspace(-8, 3, 12)
    ... )
    >>> display.sides_
    {'overfits': 'left', 'underfits': 'right'}
    >>> bool(1e-4 < display.best_ < 10)
    True
    """

    def __init__(
        self,
        *,
        param_name: str,
        values: Sequence[Any],
        train: ArrayLike,
        validation: ArrayLike,
        left_out: ArrayLike | None = None,
        error_name: str = "error",
    ) -> None:
        self.param_name = param_name
        self.values = list(values)
        self.places = places_of(self.values)
        self.train, self.validation = (
            _table(name, table, len(self.values)) for name, table in (("train", train), ("validation", validation))
        )
        self.left_out = None if left_out is None else _table("left_out", left_out, len(self.values))
        self.error_name = error_name
        best = int(np.argmin(self.validation.mean(axis=1)))
        self.best_ = self.values[best]
        is_ordered = are_ordered(self.values, self.places)
        self.sides_ = sides_of(self.places, self.train, self.validation, best) if is_ordered else {}

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        param_name: str = "alpha",
        param_range: ArrayLike | Sequence[Any] = (),
        cv: How = 5,
        groups: ArrayLike | None = None,
        loss: Loss | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        name: str = "",
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: Axes | None = None,
        line_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Fit an estimator in each fold with each value of a parameter, and draw its errors.

        Parameters
        ----------
        estimator : estimator
            Any with scikit-learn's interface; it is cloned. What it chooses itself is chosen in each fit anew.
        X : array-like of shape (n, d), or sequence of n objects
        y : array-like of shape (n,)
        param_name : str
            As in `set_params`, such as "alpha" or "kernel__length_scale".
        param_range : sequence
            The values.
        cv : int, splitter or iterable of pairs of indices
        groups : array-like of shape (n,), optional
            Folds keep groups whole.
        loss : callable, optional
            A function of targets and predictions that returns an error. By default the root of the mean square, or the share of
            wrong classes.
        random_state : int
            Of the folds, if `cv` is a number.
        n_jobs : int, optional
            How many values are computed at the same time, as in scikit-learn.
        name : str
            What the legend calls the estimator, where several are drawn on the same axes.
        target_name : str, optional
        units : dict of str to str, optional
            By the names of the target and of the parameter.
        ax : matplotlib Axes, optional
        line_kwargs : dict, optional
            For all curves, such as a colour that tells the estimator from others.

        Returns
        -------
        display : ValidationDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        if X is None or y is None:
            raise ValueError("X, y: expected the points and the targets that the estimator is to be fitted to, got None")
        values = list(np.asarray(param_range).tolist() if isinstance(param_range, np.ndarray) else param_range)  # type: ignore[arg-type]
        places_of(values)
        measure, error_name = loss_of(estimator, loss)
        X, y, groups = indexable(X, y, groups)
        splits = splits_by("folds", splitter_for("folds", cv, estimator, y, groups, random_state), X, y, groups)
        tasks = [(with_value(estimator, param_name, value), X, y, splits, measure) for value in values]
        found = list(results_of(_errors, tasks, n_jobs))
        left_out = [one[2] for one in found]
        display = cls(
            param_name=param_name,
            values=values,
            train=[one[0] for one in found],
            validation=[one[1] for one in found],
            left_out=None if None in left_out else [float(value) for value in left_out if value is not None],
            error_name=error_name.format(target=named(name_of_target(target_name, y), units)),
        )
        return display.plot(ax, name=name, units=units, line_kwargs=line_kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str = "",
        units: Mapping[str, str] | None = None,
        line_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        units : dict of str to str, optional
            The unit of the parameter, by its name.
        name, line_kwargs
            As in `from_estimator`.

        Returns
        -------
        display : ValidationDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        new, ax = ax is None, panels(ax)[0]
        self.lines_: dict[str, Line2D] = {}
        self.bands_: dict[str, object] = {}
        prefix = f"{name}: " if name else ""
        order = np.argsort(self.places)
        folds = self.validation.shape[1]
        for key, table, label, color, line, marker in (
            ("train", self.train, "points of the fit", BLUE, "--", "s"),
            ("validation", self.validation, f"left out in {folds} folds" if folds > 1 else "left out", VERMILION, "-", "o"),
            ("left_out", self.left_out, "left out one at a time", GREEN, ":", "^"),
        ):
            if table is None:
                continue
            mean, x = table.mean(axis=1)[order], self.places[order]
            style = {"color": color, "linestyle": line, "marker": marker, "markersize": 4, "linewidth": 1.8}
            (self.lines_[key],) = ax.plot(x, mean, label=prefix + label, **(style | dict(line_kwargs or {})))
            if table.shape[1] > 1:
                half = (table.std(axis=1, ddof=1) / table.shape[1] ** 0.5)[order]
                shade = {"color": self.lines_[key].get_color(), "alpha": 0.2, "linewidth": 0}
                self.bands_[key] = ax.fill_between(x, mean - half, mean + half, **shade)
        set_scale(ax, self.values, self.places)
        _set_error_scale(ax, [line.get_ydata() for line in self.lines_.values()])
        best = float(self.places[self.values.index(self.best_)])
        shown = short_number(self.best_) if isinstance(self.best_, int | float) else str(self.best_)
        mark = ax.axvline(best, **faint(1.2, ":"), label=f"{prefix}best: {shown}")
        set_labels(ax, named(self.param_name, units), self.error_name)
        self.texts_ = write_sides(ax, self.sides_)
        self.legend_ = legend_below(ax, [*self.lines_.values(), mark], grow=new)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _set_error_scale(ax: Axes, curves: list[Any]) -> None:
    """Make the vertical axis logarithmic if validation errors spread over more than a decade; training errors may leave it."""
    shown = np.concatenate(curves[1:])
    if shown.min() > 0 and shown.max() > 10 * shown.min():
        ax.set_yscale("log")
        positive = np.concatenate(curves)
        low = max(positive[positive > 0].min(), 1e-2 * shown.min())
        ax.set_ylim(0.8 * low, 1.25 * shown.max())
    else:
        ax.set_ylim(bottom=0)


def _table(name: str, values: ArrayLike, p: int) -> Matrix:
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != p or not table.size or not np.isfinite(table).all():
        raise ValueError(f"{name}: expected finite numbers, a row for each of {p} values, got shape {np.shape(values)}")
    return table


def _errors(
    estimator: BaseEstimator, X: Points, y: ArrayLike, splits: list[tuple[Indices, Indices]], measure: Loss
) -> tuple[Vector, Vector, float | None]:
    """Return the errors at the training and at the test points of each fold, and that of points left out one at a time."""
    train_errors, test_errors = np.empty(len(splits)), np.empty(len(splits))
    for fold, (train, test) in enumerate(splits):
        inside, outside = ((_safe_indexing(X, rows), _safe_indexing(y, rows)) for rows in (train, test))
        estimator.fit(*inside)
        train_errors[fold] = measure(inside[1], estimator.predict(inside[0]))
        test_errors[fold] = measure(outside[1], estimator.predict(outside[0]))
    estimator.fit(X, y)
    model, points = model_and_points(estimator, X)
    if not isinstance(model, HasLeftOut) or np.ndim(y) > 1:
        return train_errors, test_errors, None
    try:
        found = model.left_out(points, y)
    except ValueError:  # weights that it does not keep, or a matrix so ill-conditioned that the data are not told
        return train_errors, test_errors, None
    return train_errors, test_errors, measure(found.y, found.predictions)
