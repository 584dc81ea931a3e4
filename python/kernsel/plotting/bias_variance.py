"""Bias and variance of an estimator, from fits to many samples of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import _safe_indexing, indexable

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.folds import number_of_points
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import panels, require_matplotlib, room
from kernsel.plotting.models import column_names, name_of_target
from kernsel.plotting.of_parameter import places_of, set_scale, with_value
from kernsel.plotting.styles import BLUE, GREEN, OCHRE, VERMILION, faint, foreground
from kernsel.plotting.writing import legend_below, named, set_labels, short_number
from kernsel.study.tasks import results_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from kernsel.plotting.figures import AxesLike

__all__ = ["BiasVarianceDisplay"]

Kind = Literal["curves", "fits"]
Sample = tuple[Points, ArrayLike]
_SHOWN = 3  # values of the parameter whose fits are drawn: the first, the best and the last one


class BiasVarianceDisplay:
    """How much of an estimator's error is bias, and how much is variance, for the values of a parameter.

    The estimator is fitted to many samples s of the data. With f_s(x) its predictions, t(x) the truth, and means over samples
    and points x: ::

        mean (f_s(x) - t(x))^2 = mean (mean_s f_s(x) - t(x))^2 + mean (f_s(x) - mean_s f_s(x))^2
                               =          bias^2              +           variance

    Where the truth is not known, the targets stand for it: bias^2 then has the variance of the noise as well, and each point is
    predicted from those samples that lack it.

    Parameters
    ----------
    param_name : str
    values : sequence of length p
    predictions : array-like of shape (p, samples, m)
        Of each fit, at m points.
    target : array-like of shape (m,)
        The truth, or observations.
    counted : array-like of bool of shape (samples, m), optional
        Which predictions are means over; by default all.
    is_truth : bool
        Whether the target has no noise.
    x : array-like of shape (m,), optional
        The points, if they have one column, over which fits are drawn.
    x_name, target_name : str

    Attributes
    ----------
    bias2_, variance_, error_ : ndarray of shape (p,)
        The squared bias, the variance, and their sum.
    best_ : object
        The value with the least error.
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
        "bias2", "variance" and "error"; or "mean" and "target", of the last panel of fits.
    legend_ : matplotlib Legend

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 40).reshape(-1, 1)
    >>> def draw(rng):
    ...     return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(40)
    >>> display = ks.plotting.BiasVarianceDisplay.from_estimator(
    ...     ks.KernelRidge(ks.kernels.RBF(0.5)), *draw(rng), param_name="alpha", param_range=np.logspace(-4, 2, 7),
    ...     draw=draw, truth=np.sin(2 * X[:, 0]), n_samples=20
    ... )
    >>> bool(display.variance_[0] > display.bias2_[0]), bool(display.variance_[-1] < display.bias2_[-1])
    (True, True)
    """

    def __init__(
        self,
        *,
        param_name: str,
        values: Sequence[Any],
        predictions: ArrayLike,
        target: ArrayLike,
        counted: ArrayLike | None = None,
        is_truth: bool = True,
        x: ArrayLike | None = None,
        x_name: str = "x",
        target_name: str = "y",
    ) -> None:
        self.param_name = param_name
        self.values = list(values)
        self.places = places_of(self.values)
        self.predictions = np.asarray(predictions, dtype=np.float64)
        self.target = np.asarray(target, dtype=np.float64)
        p, m = len(self.values), self.target.size
        if self.predictions.ndim != 3 or self.predictions.shape[::2] != (p, m) or not np.isfinite(self.predictions).all():
            shape = np.shape(predictions)
            raise ValueError(f"predictions: expected finite numbers of shape ({p}, samples, {m}), got shape {shape}")
        if self.target.ndim != 1 or not np.isfinite(self.target).all():
            raise ValueError(f"target: expected finite numbers, one for each point, got shape {self.target.shape}")
        everywhere = np.ones(self.predictions.shape[1:], dtype=bool)
        self.counted = everywhere if counted is None else np.asarray(counted, dtype=bool)
        if self.counted.shape != everywhere.shape:
            raise ValueError(f"counted: expected shape {everywhere.shape}, got {self.counted.shape}")
        self.is_truth = is_truth
        self.x = None if x is None else np.asarray(x, dtype=np.float64)
        self.x_name, self.target_name = x_name, target_name
        self.bias2_, self.variance_ = self._decomposed()
        self.error_ = self.bias2_ + self.variance_
        self.best_ = self.values[int(np.argmin(self.error_))]

    def _decomposed(self) -> tuple[Vector, Vector]:
        """Return the means over points; those that no sample lacks do not count."""
        times = self.counted.sum(axis=0)
        used = times > 0
        if not used.any():
            raise ValueError("counted: expected predictions that count, got none; give more samples")
        weights = (self.counted / np.maximum(times, 1))[:, used]
        found = self.predictions[:, :, used]
        mean = np.einsum("psm,sm->pm", found, weights)
        spread = np.einsum("psm,sm->pm", (found - mean[:, None]) ** 2, weights)
        return ((mean - self.target[used]) ** 2).mean(axis=1), spread.mean(axis=1)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        param_name: str = "alpha",
        param_range: ArrayLike | Sequence[Any] = (),
        truth: ArrayLike | None = None,
        draw: Callable[[np.random.Generator], Sample] | None = None,
        n_samples: int = 30,
        random_state: int = 0,
        n_jobs: int | None = None,
        kind: Kind = "curves",
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: AxesLike = None,
    ) -> Self:
        """Fit a regressor to samples of the data with each value of a parameter, and draw its bias and variance.

        Parameters
        ----------
        estimator : regressor
            Any with scikit-learn's interface; it is cloned. What it chooses itself is chosen in each fit anew.
        X : array-like of shape (n, d), or sequence of n objects
            Where bias and variance are taken.
        y : array-like of shape (n,)
        param_name : str
            As in `set_params`, such as "alpha" or "kernel__length_scale".
        param_range : sequence
            The values.
        truth : array-like of shape (n,), optional
            The function at X, without noise, if it is known.
        draw : callable, optional
            Returns other data, (X, y), from a random generator, as one can for simulated data. By default samples are n rows of
            the data, drawn with replacement.
        n_samples : int
        random_state : int
        n_jobs : int, optional
            How many values are computed at the same time, as in scikit-learn.
        kind : {"curves", "fits"}
            Bias and variance over the parameter; or, where X has one column, the fits with the first, the best and the last
            value.
        target_name : str, optional
        units : dict of str to str, optional
            By the names of the target and of the parameter.
        ax : matplotlib Axes, or several of them for the fits, optional

        Returns
        -------
        display : BiasVarianceDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        if is_classifier(estimator):
            raise TypeError(f"estimator: expected a regressor, got the classifier {type(estimator).__name__}")
        if X is None or y is None:
            raise ValueError("X, y: expected the points and the targets that the estimator is to be fitted to, got None")
        if isinstance(n_samples, bool) or not isinstance(n_samples, int) or n_samples < 2:
            raise ValueError(f"n_samples: expected two samples at least, got {n_samples!r}")
        values = list(np.asarray(param_range).tolist() if isinstance(param_range, np.ndarray) else param_range)  # type: ignore[arg-type]
        places_of(values)
        X, y = indexable(X, y)
        rng = np.random.default_rng(random_state)
        n = number_of_points(X)
        rows = [rng.integers(0, n, n) for _ in range(n_samples)] if draw is None else []
        samples = [draw(rng) for _ in range(n_samples)] if draw is not None else [_rows(X, y, taken) for taken in rows]
        if truth is None:
            target = np.asarray(y, dtype=np.float64)
        else:
            target = np.asarray(truth, dtype=np.float64)
            if target.shape != (n,):
                raise ValueError(f"truth: expected a number for each of {n} points, got shape {target.shape}")
        counted = None
        if truth is None and draw is None:
            counted = np.array([np.bincount(taken, minlength=n) == 0 for taken in rows])
        tasks = [(with_value(estimator, param_name, value), samples, X) for value in values]
        column = np.asarray(X, dtype=np.float64)[:, 0] if getattr(X, "shape", ())[1:] == (1,) else None
        display = cls(
            param_name=param_name,
            values=values,
            predictions=list(results_of(_predictions, tasks, n_jobs)),
            target=target,
            counted=counted,
            is_truth=truth is not None,
            x=column,
            x_name="x" if column is None else str(getattr(X, "columns", column_names(estimator, 1))[0]),
            target_name=name_of_target(target_name, y),
        )
        return display.plot(ax, kind=kind, units=units)

    def plot(self, ax: AxesLike = None, *, kind: Kind = "curves", units: Mapping[str, str] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or several of them for the fits, optional
            A new figure by default.
        kind, units
            As in `from_estimator`.

        Returns
        -------
        display : BiasVarianceDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        if kind not in get_args(Kind):
            raise ValueError(f"kind: expected one of {', '.join(get_args(Kind))}, got {kind!r}")
        if kind == "fits" and self.x is None:
            raise ValueError('kind: fits are drawn over points of one column, expected "curves", got "fits"')
        self.lines_: dict[str, Line2D] = {}
        axes = self._draw_curves(ax, units) if kind == "curves" else self._draw_fits(ax, units)
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self

    def _draw_curves(self, given: AxesLike, units: Mapping[str, str] | None) -> list[Axes]:
        ax = panels(given)[0]
        order = np.argsort(self.places)
        for key, values, label, color, line, marker in (
            ("bias2", self.bias2_, "bias²" if self.is_truth else "bias² and noise", VERMILION, "--", "s"),
            ("variance", self.variance_, "variance", BLUE, "-.", "^"),
            ("error", self.error_, "sum: mean squared error", foreground(), "-", "o"),
        ):
            style = {"color": color, "linestyle": line, "marker": marker, "markersize": 4, "linewidth": 1.8}
            (self.lines_[key],) = ax.plot(self.places[order], values[order], label=label, **style)
        set_scale(ax, self.values, self.places)
        if self.bias2_.min() > 0 and self.variance_.min() > 0 and self.error_.max() > 10 * self.error_.min():
            ax.set_yscale("log")
            ax.set_ylim(bottom=max(ax.get_ylim()[0], 1e-3 * self.error_.min()))
        best = self.values.index(self.best_)
        shown = short_number(self.best_) if isinstance(self.best_, int | float) else str(self.best_)
        mark = ax.axvline(float(self.places[best]), **faint(1.2, ":"), label=f"best: {shown}")
        unit = (units or {}).get(self.target_name, "")
        set_labels(ax, named(self.param_name, units), f"squared error of {self.target_name}{f' ({unit}²)' if unit else ''}")
        self.legend_ = legend_below(ax, [*self.lines_.values(), mark], grow=given is None)
        return [ax]

    def _draw_fits(self, given: AxesLike, units: Mapping[str, str] | None) -> list[Axes]:
        assert self.x is not None
        best = self.values.index(self.best_)
        shown = sorted({0, best, len(self.values) - 1})[:_SHOWN]
        wide = room(given)[0] >= 6.0
        shape = (1, len(shown)) if wide else (len(shown), 1)
        axes = panels(given, *shape, height=0.8 if wide else 0.6 * len(shown), sharex=True, sharey=True)
        order = np.argsort(self.x)
        x = self.x[order]
        for ax, value in zip(axes, shown, strict=True):
            fits = self.predictions[value][:, order]
            lines = ax.plot(x, fits.T, color=OCHRE, linewidth=0.7, alpha=0.5)
            lines[0].set_label("fits to samples")
            (self.lines_["mean"],) = ax.plot(x, fits.mean(axis=0), color=BLUE, linewidth=2.0, label="their mean")
            if self.is_truth:
                style = {"color": GREEN, "linestyle": "--", "linewidth": 1.6, "label": "truth"}
            else:
                style = {"color": foreground(), "linestyle": "none", "marker": ".", "markersize": 3, "label": "observations"}
            (self.lines_["target"],) = ax.plot(x, self.target[order], **style)
            number = self.values[value]
            text = short_number(number) if isinstance(number, int | float) else str(number)
            ax.set_title(f"{self.param_name} = {text}" + (", the best" if value == best else ""), fontsize="small", loc="left")
            bottom = not wide and ax is axes[-1]
            set_labels(
                ax, self.x_name if wide or bottom else "", named(self.target_name, units) if not wide or ax is axes[0] else ""
            )
            ax.tick_params(labelleft=not wide or ax is axes[0], labelbottom=wide or bottom)
        self.legend_ = legend_below(axes[0 if wide else -1], [lines[0], *self.lines_.values()], grow=given is None)
        return axes


def _rows(X: Points, y: ArrayLike, rows: Indices) -> Sample:
    return _safe_indexing(X, rows), _safe_indexing(y, rows)


def _predictions(estimator: BaseEstimator, samples: Sequence[Sample], X: Points) -> Matrix:
    """Return the predictions at X of the fits to all samples, shape (samples, n)."""
    return np.array([np.ravel(estimator.fit(*sample).predict(X)) for sample in samples])
