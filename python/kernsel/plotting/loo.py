"""Leave-one-out predictions: against the truth, their residuals, leverages, quantiles, and whether intervals hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import BaseEstimator

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.estimators.fitted import column
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.left_out import left_out
from kernsel.plotting.many import MANY, draw_density, spread_over
from kernsel.plotting.models import name_of_target
from kernsel.plotting.styles import BLUE, VERMILION, faint, foreground, points_style
from kernsel.plotting.writing import legend_below, name_points, named, percent, set_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

__all__ = ["LOODisplay"]

Kind = Literal["predictions", "residuals", "leverage", "qq", "calibration"]

_LEVELS = np.linspace(0.01, 0.99, 99)
_MANY = 100  # points whose intervals would cover each other


class LOODisplay:
    """Leave-one-out predictions of a model, looked at in one of five ways.

    "predictions" has the truth against the predictions, with their intervals. "residuals" has truth minus prediction against
    the prediction. "leverage" has residuals over their standard deviations against leverages. "qq" has their quantiles against
    those of the normal distribution. "calibration" has for each level how many of the points are in their intervals of that
    level. Shaded is where 95 % of independent normal residuals would be.

    Outliers, which are farther off than any of n normal residuals would be with a probability of 95 %, have another colour and
    marker. The points that are farthest off are named, outliers or not. More than 5000 points are drawn as a density, hexagons
    with the number of points in each, and without intervals; of their quantiles some are drawn.

    Parameters
    ----------
    y : array-like of shape (n,)
    predictions : array-like of shape (n,)
        Each from all other points.
    std : array-like of shape (n,), optional
        The standard deviations of y - predictions; "calibration" and intervals need them. Without them, residuals are divided
        by a robust estimate of their spread.
    leverage : array-like of shape (n,), optional
        For "leverage".
    labels : sequence of n str, optional
        Names of the points; their numbers by default.
    standardized : array-like of shape (n,), optional
        Of predictive distributions F that are not normal, the quantiles ndtri(F(y)), which are normal if F is right. By default
        the residuals over their standard deviations.
    others : str
        What each point is predicted from, for the labels of axes.
    quantiles : callable, optional
        Of predictive distributions that are not normal: a function that returns their quantiles, (n, k), for k probabilities.

    Attributes
    ----------
    residuals_, standardized_ : ndarray of shape (n,)
    outliers_ : ndarray of int
        The worst first.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    scatter_, outlier_scatter_ : matplotlib PathCollection
        Not for "calibration". Of many points, `scatter_` is a PolyCollection of hexagons, but for "qq".
    line_ : matplotlib Line2D
        The line of reference; of "calibration" the curve.
    intervals_ : list of matplotlib LineCollection
        Of "predictions": those that hold the truth, and those that do not.
    band_ : matplotlib artist
        Of "qq" and "calibration".
    texts_ : list of matplotlib Text
        The names.
    legend_ : matplotlib Legend or None

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> y[20] += 1.0
    >>> model = ks.GaussianProcessRegressor(noise="auto").fit(X, y)
    >>> display = ks.plotting.LOODisplay.from_estimator(model, kind="residuals")
    >>> display.outliers_, display.texts_[0].get_text()
    (array([20]), '20')
    """

    def __init__(
        self,
        *,
        y: ArrayLike,
        predictions: ArrayLike,
        std: ArrayLike | None = None,
        leverage: ArrayLike | None = None,
        labels: Sequence[object] | None = None,
        standardized: ArrayLike | None = None,
        others: str = "all other points",
        quantiles: Callable[[Vector], Matrix] | None = None,
    ) -> None:
        self.quantiles = quantiles
        self.y = column(y, None)
        n = len(self.y)
        self.predictions = column(predictions, None, n, "predictions")
        self.std = None if std is None else column(std, None, n, "std")
        if self.std is not None and (self.std <= 0).any():
            raise ValueError(f"std: expected positive numbers, got {self.std.min():.4g} among them")
        self.leverage = None if leverage is None else column(leverage, None, n, "leverage")
        if labels is not None and len(labels) != n:
            raise ValueError(f"labels: expected one for each of {n} points, got {len(labels)}")
        self.others = others
        self.labels = [str(label) for label in (range(n) if labels is None else labels)]
        self.residuals_ = self.y - self.predictions
        # The median of the absolute values is 0.674 standard deviations of normal residuals.
        spread = self.std if self.std is not None else float(np.median(np.abs(self.residuals_))) / 0.6745
        spread = np.where(np.asarray(spread) > 0, spread, 1.0)
        given = None if standardized is None else column(standardized, None, n, "standardized")
        self.standardized_: Vector = np.asarray(self.residuals_ / spread) if given is None else given
        size = np.abs(self.standardized_)
        order = np.argsort(-size, kind="stable")
        self._worst = order
        self.outliers_ = order[size[order] > stats.norm.isf(0.025 / n)]

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        kind: Kind = "predictions",
        labels: Sequence[object] | None = None,
        level: float = 0.95,
        most_names: int = 3,
        output: int = 0,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: Axes | None = None,
        scatter_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw leave-one-out predictions of an estimator, with its hyperparameters as they are.

        Parameters
        ----------
        estimator : GaussianProcessRegressor, StackedRegressor, KernelRidge, KernelRidgeCV, KernelInterpolator, RidgeRegression,
            SVR or Selected. Fitted. Standard deviations of all but the first two are those of the Gaussian process with the
            same predictions and the scale of the best likelihood; an SVR has none, and its residuals are the span estimate.
        X, y : array-like, optional
            The training data. A Gaussian process and an interpolator know them; KernelRidge, KernelRidgeCV and RidgeRegression
            need `y`, SVR both.
        kind : {"predictions", "residuals", "leverage", "qq", "calibration"}
        labels
            As above.
        level : float
            Of the intervals of "predictions".
        most_names : int
            How many points are named, if there is room.
        output : int
            Which of several targets.
        target_name : str, optional
            By default the name of `y`, if it has one.
        units : dict of str to str, optional
            By names of the target.
        ax : matplotlib Axes, optional
        scatter_kwargs : dict, optional
            For the points, as in `scatter` of matplotlib.

        Returns
        -------
        display : LOODisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        found = left_out(estimator, X, y, output)
        display = cls(
            y=found.y,
            predictions=found.predictions,
            std=found.std,
            leverage=found.leverage,
            labels=labels,
            standardized=found.standardized,
            others="points of other groups" if found.in_groups else "all other points",
            quantiles=found.quantiles,
        )
        return display.plot(
            ax,
            kind=kind,
            level=level,
            most_names=most_names,
            target_name=name_of_target(target_name, y),
            units=units,
            scatter_kwargs=scatter_kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        predictions: ArrayLike,
        std: ArrayLike | None = None,
        *,
        leverage: ArrayLike | None = None,
        labels: Sequence[object] | None = None,
        kind: Kind = "predictions",
        level: float = 0.95,
        most_names: int = 3,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: Axes | None = None,
        scatter_kwargs: Mapping[str, object] | None = None,
        others: str = "all other points",
    ) -> Self:
        """Draw predictions of points that were left out, of any model.

        Parameters
        ----------
        y, predictions, std, leverage, labels, others
            As above.
        kind, level, most_names, target_name, units, ax, scatter_kwargs
            As in `from_estimator`.

        Returns
        -------
        display : LOODisplay
        """
        require_matplotlib(f"{cls.__name__}.from_predictions")
        display = cls(y=y, predictions=predictions, std=std, leverage=leverage, labels=labels, others=others)
        return display.plot(
            ax,
            kind=kind,
            level=level,
            most_names=most_names,
            target_name=name_of_target(target_name, y),
            units=units,
            scatter_kwargs=scatter_kwargs,
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: Kind = "predictions",
        level: float = 0.95,
        most_names: int = 3,
        target_name: str = "y",
        units: Mapping[str, str] | None = None,
        scatter_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        kind, level, most_names, target_name, units, scatter_kwargs
            As in `from_estimator`.

        Returns
        -------
        display : LOODisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        if kind not in get_args(Kind):
            raise ValueError(f"kind: expected one of {', '.join(get_args(Kind))}, got {kind!r}")
        if not 0 < level < 1:
            raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")
        if kind == "calibration" and self.std is None and self.quantiles is None:
            raise ValueError('std: kind="calibration" needs the standard deviations of the predictions')
        if kind == "leverage" and self.leverage is None:
            raise ValueError('leverage: kind="leverage" needs the leverage of each point, which this model does not have')
        self._new, self.ax_ = ax is None, panels(ax)[0]
        self.figure_ = self.ax_.figure
        self.legend_, self._scatter_kwargs = None, dict(scatter_kwargs or {})
        self.texts_: list[Annotation] = []
        self._unit = named(target_name, units).removeprefix(target_name)
        self._name, self._level, self._most_names = target_name, level, most_names
        draw: dict[str, Callable[[Axes], None]] = {
            "predictions": self._draw_predictions,
            "residuals": self._draw_residuals,
            "leverage": self._draw_leverage,
            "qq": self._draw_quantiles,
            "calibration": self._draw_calibration,
        }
        draw[kind](self.ax_)
        return self

    def _draw_predictions(self, ax: Axes) -> None:
        """Draw predictions over the truth; of many points, only the intervals that miss it."""
        ends = np.array([self.y.min(), self.y.max()])
        (self.line_,) = ax.plot(ends, ends, **faint(1.2), zorder=1)
        self._scatter(ax, self.y, self.predictions)
        handles = []
        if self.std is not None or self.quantiles is not None:
            lower, upper = self._intervals()
            missed = (self.y < lower) | (self.y > upper)
            held, not_held = percent(float(np.mean(~missed))), percent(float(np.mean(missed)))
            none = np.zeros(len(lower), dtype=bool)
            drawn = ~missed if len(lower) <= _MANY else none
            missed = missed if len(lower) <= MANY else none
            self.intervals_ = [
                ax.vlines(
                    self.y[rows],
                    lower[rows],
                    upper[rows],
                    color=color,
                    alpha=0.65,
                    linewidth=1.2,
                    zorder=1.5,
                )
                for rows, color in ((drawn, BLUE), (missed, VERMILION))
            ]
            mark = "|" if len(lower) <= _MANY else "."
            handles = [
                _mark(BLUE, mark, f"{percent(self._level)} interval holds the truth: {held}"),
                _mark(VERMILION, "|", f"it does not: {not_held}"),
            ]
            if len(lower) > MANY:
                handles = [_mark(BLUE, "", f"{percent(self._level)} intervals hold the truth: {held}")]
        set_labels(ax, f"{self._name}{self._unit}", f"{self._name}, predicted from {self.others}{self._unit}")
        self.legend_ = legend_below(ax, handles, grow=self._new)
        self._name_worst(ax, self.y, self.predictions)

    def _intervals(self) -> tuple[Vector, Vector]:
        """Return the ends of the interval of each point."""
        tail = (1 - self._level) / 2
        if self.quantiles is not None:
            lower, upper = self.quantiles(np.array([tail, 1 - tail])).T
            return lower, upper
        half = stats.norm.isf(tail) * np.asarray(self.std)
        return self.predictions - half, self.predictions + half

    def _draw_residuals(self, ax: Axes) -> None:
        self.line_ = ax.axhline(0.0, **faint(1.2), zorder=1)
        self._scatter(ax, self.predictions, self.residuals_)
        set_labels(ax, f"{self._name}, predicted from {self.others}{self._unit}", f"truth minus prediction{self._unit}")
        self._name_worst(ax, self.predictions, self.residuals_)

    def _draw_leverage(self, ax: Axes) -> None:
        assert self.leverage is not None
        self.line_ = ax.axhline(0.0, **faint(1.2), zorder=1)
        mean = float(self.leverage.mean())
        twice = ax.axvline(2 * mean, label="twice the mean leverage", **faint(1.0, (0, (6, 3))))
        self._scatter(ax, self.leverage, self.standardized_)
        set_labels(ax, "leverage", "standardized residual")
        self.legend_ = legend_below(ax, [twice], grow=self._new)
        self._name_worst(ax, self.leverage, self.standardized_)

    def _draw_quantiles(self, ax: Axes) -> None:
        n = len(self.y)
        order = np.argsort(self.standardized_, kind="stable")
        normal = np.empty(n)
        normal[order] = stats.norm.ppf((np.arange(1, n + 1) - 0.5) / n)
        drawn = spread_over(n)
        low, high = (stats.norm.ppf(stats.beta.ppf(p, drawn + 1, n - drawn)) for p in (0.025, 0.975))
        self.band_ = ax.fill_between(
            normal[order[drawn]], low, high, color=foreground(), alpha=0.18, linewidth=0, label="95 % of normal residuals"
        )
        (self.line_,) = ax.plot(normal[order][[0, -1]], normal[order][[0, -1]], **faint(1.2), zorder=1)
        self._scatter(ax, normal, self.standardized_, order[drawn])
        set_labels(ax, "quantile of the normal distribution", "standardized residual")
        self.legend_ = legend_below(ax, [self.band_], grow=self._new)
        self._name_worst(ax, normal, self.standardized_)

    def _draw_calibration(self, ax: Axes) -> None:
        """Draw how many points are within their intervals, for all levels; a binomial distribution says how near that is."""
        n = len(self.y)
        inside = np.sort(2 * stats.norm.cdf(np.abs(self.standardized_)) - 1)
        observed = np.searchsorted(inside, _LEVELS, side="right") / n
        low, high = (stats.binom.ppf(p, n, _LEVELS) / n for p in (0.025, 0.975))
        self.band_ = ax.fill_between(
            _LEVELS, low, high, color=foreground(), alpha=0.18, linewidth=0, label="95 % of well calibrated models"
        )
        ax.plot([0, 1], [0, 1], **faint(1.2))
        (self.line_,) = ax.plot(_LEVELS, observed, color=BLUE, linewidth=2.0, label="observed")
        half = stats.norm.isf((1 - self._level) / 2)
        share = float(np.mean(np.abs(self.standardized_) <= half))
        (mark,) = ax.plot(
            self._level,
            share,
            color=VERMILION,
            marker="D",
            markersize=7,
            linestyle="none",
            label=f"{percent(self._level)} intervals: {percent(share)}",
        )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        set_labels(ax, "level of the interval", "share of points inside")
        self.legend_ = legend_below(ax, [self.line_, mark, self.band_], grow=self._new)

    def _scatter(self, ax: Axes, x: Vector, y: Vector, drawn: Indices | None = None) -> None:
        """Draw outliers, and of all other points those that are to be `drawn`, or how dense they are if there are many."""
        usual = np.setdiff1d(np.arange(len(x)) if drawn is None else drawn, self.outliers_)
        if drawn is None and len(usual) > MANY:
            self.scatter_ = draw_density(ax, x[usual], y[usual])
        else:
            style = points_style(len(usual), BLUE) | self._scatter_kwargs
            self.scatter_ = ax.scatter(x[usual], y[usual], **style)
        other = {"s": 34, "color": VERMILION, "marker": "D", "linewidths": 0, "zorder": 3}
        self.outlier_scatter_ = ax.scatter(x[self.outliers_], y[self.outliers_], **other)

    def _name_worst(self, ax: Axes, x: Vector, y: Vector) -> None:
        self.texts_ = name_points(ax, x, y, self._worst[: self._most_names].tolist(), self.labels)


def _mark(color: str, marker: str, label: str) -> Line2D:
    """Return what stands for points or intervals in a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, marker=marker, markersize=9, markeredgewidth=1.4, linestyle="none", label=label)
