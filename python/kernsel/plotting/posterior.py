"""The fit: mean, band and samples along one column, or mean and uncertainty over two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import BaseEstimator

from kernsel._base.annotations import Seed, Vector
from kernsel.estimators.fitted import column
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import panels, require_matplotlib, room
from kernsel.plotting.many import sampled
from kernsel.plotting.models import column_names, name_of_target
from kernsel.plotting.predicted import model_for_scene, predicted, samples_of, scene_of
from kernsel.plotting.styles import BLUE, OCHRE, VERMILION, foreground, points_style
from kernsel.plotting.writing import legend_below, named, percent, set_labels, short_number

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D

    from kernsel.plotting.figures import AxesLike

__all__ = ["PosteriorDisplay"]

_LIGHT, _DARK = "#f7f7f7", "#222222"  # of marks on a coloured map, the same in all styles


class PosteriorDisplay:
    """What a model has learnt, along one column or over two.

    Along one: the mean, a band, samples and the data. Over two: the mean and how sure it is, as contours in two panels, with
    the data. Where points have more columns, those are kept where they are, and the data, which are elsewhere, are only ticks
    that show where in the column they are (over two columns: dots). Of more than 5000 points a random sample of 1000 is drawn.

    Parameters
    ----------
    grid : tuple of one or two ndarray
        Values of the columns.
    mean : ndarray of shape (len(grid[0]),) or (len(grid[1]), len(grid[0]))
    lower, upper : ndarray of the same shape, optional
        The band; for one column.
    spread : ndarray of the same shape, optional
        For two columns.
    samples : ndarray of shape (len(grid[0]), s), optional
        For one column.
    X : ndarray of shape (n, len(grid)), optional
        The data, in these columns.
    y : ndarray of shape (n,), optional
    on_grid : bool
        Do the data have no other columns?
    names : sequence of str, optional
        Of the columns.
    target_name, band_name, spread_name, mean_name, title : str
    support : ndarray of int, optional
        Points to be marked: support vectors.
    classes : sequence of two, optional
        Of a classifier: the names of the labels 0 and 1, which y has.
    boundary : float, optional
        Of a decision function: the value at which the decision changes. Of a classifier without one, the probability 1/2.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The mean and the samples, for one column.
    band_ : matplotlib artist or None
    contours_ : list of matplotlib QuadContourSet
        For two columns.
    scatter_ : matplotlib artist or None
    legend_ : matplotlib Legend or None

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
    >>> model = ks.GaussianProcessRegressor(noise=0.0).fit(X, np.sin(X[:, 0]))
    >>> display = ks.plotting.PosteriorDisplay.from_estimator(model, n_samples=3)
    >>> len(display.lines_), display.ax_.get_xlabel()
    (4, 'x')
    """

    def __init__(
        self,
        *,
        grid: Sequence[ArrayLike],
        mean: ArrayLike,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        spread: ArrayLike | None = None,
        samples: ArrayLike | None = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        on_grid: bool = True,
        names: Sequence[str] | None = None,
        target_name: str = "y",
        band_name: str = "",
        spread_name: str = "standard deviation",
        mean_name: str = "mean",
        title: str = "",
        support: NDArray[np.intp] | None = None,
        classes: Sequence[object] | None = None,
        boundary: float | None = None,
    ) -> None:
        self.grid = tuple(column(axis, None, name="grid") for axis in grid)
        if len(self.grid) not in (1, 2):
            raise ValueError(f"grid: expected the values of one or two columns, got {len(self.grid)}")
        shape = tuple(len(axis) for axis in self.grid[::-1])
        self.mean = _of_shape("mean", mean, shape)
        self.lower, self.upper, self.spread = (
            None if values is None else _of_shape(name, values, shape)
            for name, values in (("lower", lower), ("upper", upper), ("spread", spread))
        )
        self.samples = None if samples is None else np.asarray(samples, dtype=np.float64)
        if self.samples is not None and (len(self.grid) == 2 or self.samples.shape != (*shape, self.samples.shape[-1])):
            raise ValueError(f"samples: expected {shape[0]} rows for a grid of one column, got shape {self.samples.shape}")
        self.X = None if X is None else np.asarray(X, dtype=np.float64).reshape(-1, len(self.grid))
        self.y = None if y is None or self.X is None else column(y, None, len(self.X))
        self.on_grid = on_grid
        self.names = column_names(None, len(self.grid)) if names is None else [str(name) for name in names]
        self.target_name = target_name
        self.band_name, self.spread_name, self.mean_name, self.title = band_name, spread_name, mean_name, title
        self.support = np.zeros(0, dtype=np.intp) if support is None else support
        self.classes, self.boundary = classes, boundary

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        columns: Sequence[int | str] | int | str | None = None,
        at: Mapping[int | str, float] | None = None,
        level: float = 0.95,
        noisy: bool = False,
        n_samples: int = 0,
        random_state: Seed = 0,
        output: int = 0,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: AxesLike = None,
        scatter_kwargs: Mapping[str, object] | None = None,
        line_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw the fit of an estimator.

        The band is that of the function for a Gaussian process, that of the probability for a classifier, the bound of the
        error for an interpolator, and the tube of width epsilon for an SVR, whose support vectors are marked. Kernel ridge and
        ridge regression have none.

        Parameters
        ----------
        estimator : any regressor of kernsel, GaussianProcessClassifier of two classes, or Selected
            Fitted to columns of numbers.
        X, y : array-like, optional
            The training data, where the estimator does not keep them: SVR and RidgeRegression need X; KernelRidge and those two
            show no targets without y.
        columns : one or two int or str, optional
            By default all if they are one or two, and otherwise the one along which the mean changes most.
        at : dict of int or str to float, optional
            Values of other columns; their medians by default.
        level : float
            Of the band.
        noisy : bool
            The band is that of observations; of a Gaussian process.
        n_samples : int
            How many samples of a Gaussian process are drawn along one column.
        random_state : int, RandomState instance or None
            Of the samples.
        output : int
            Which of several targets.
        target_name : str, optional
            By default the name of `y`, if it has one.
        units : dict of str to str, optional
            By names of columns and of the target.
        ax : matplotlib Axes, or two of them for two columns, optional
            One is divided.
        scatter_kwargs, line_kwargs : dict, optional
            For the data and the mean.

        Returns
        -------
        display : PosteriorDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        model, X = model_for_scene(estimator, X)
        if not 0 < level < 1:
            raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")
        data = model.shown_data(X, y, output)
        points = data.points
        scene = scene_of(model, points, columns, at, output)
        if n_samples and len(scene.columns) == 2:
            raise ValueError(f"n_samples: samples are drawn along one column, expected 0 for two, got {n_samples}")
        samples = samples_of(model, scene.points(), n_samples, random_state, output)
        found = predicted(model, scene.points(), level, noisy, output)
        all_names = column_names(model, points.shape[1])
        others = [k for k in range(points.shape[1]) if k not in scene.columns]
        title = ", ".join(f"{all_names[k]} = {short_number(scene.center[k])}" for k in others[:3])
        classes = getattr(model, "classes_", None)
        name = name_of_target(target_name, y)
        decides = found.boundary is not None
        targets = data.targets
        if decides and targets is not None and classes is not None and len(scene.columns) == 1:
            targets = 2 * targets - 1  # where the margins are
        display = cls(
            grid=scene.grid,
            mean=scene.shaped(found.mean),
            lower=scene.shaped(found.lower),
            upper=scene.shaped(found.upper),
            spread=scene.shaped(found.spread),
            samples=samples,
            X=points[:, scene.columns],
            y=targets,
            on_grid=not others,
            names=[all_names[k] for k in scene.columns],
            target_name=found.mean_name if decides else name if classes is None else f"probability of {classes[1]}",
            band_name=found.band_name.format(level=percent(level)),
            spread_name=found.spread_name,
            mean_name=found.mean_name,
            title=f"at {title}" + (", ..." if len(others) > 3 else "") if others else "",
            support=data.support,
            classes=classes,
            boundary=found.boundary,
        )
        return display.plot(ax, units=units, scatter_kwargs=scatter_kwargs, line_kwargs=line_kwargs)

    @classmethod
    def from_predictions(
        cls,
        grid: Sequence[ArrayLike] | ArrayLike,
        mean: ArrayLike,
        std: ArrayLike | None = None,
        *,
        samples: ArrayLike | None = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        level: float = 0.95,
        names: Sequence[str] | None = None,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: AxesLike = None,
    ) -> Self:
        """Draw predictions of any model, at points of one column or on a grid of two.

        Parameters
        ----------
        grid : array-like of shape (m,), or tuple of two of them
        mean, std : array-like of shape (m,) or (len(grid[1]), len(grid[0]))
        samples, X, y, names
            As above.
        level : float
            Of the band.
        target_name, units, ax
            As in `from_estimator`.

        Returns
        -------
        display : PosteriorDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_predictions")
        if not 0 < level < 1:
            raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")
        axes: Sequence[ArrayLike] = grid if isinstance(grid, tuple) else (np.ravel(np.asarray(grid)),)
        half = None if std is None else stats.norm.isf((1 - level) / 2) * np.asarray(std, dtype=np.float64)
        center = np.asarray(mean, dtype=np.float64)
        display = cls(
            grid=axes,
            mean=center,
            lower=None if half is None else center - half,
            upper=None if half is None else center + half,
            spread=std,
            samples=samples,
            X=X,
            y=y,
            names=names,
            target_name=name_of_target(target_name, y),
            band_name=f"{percent(level)} band",
        )
        return display.plot(ax, units=units)

    def plot(
        self,
        ax: AxesLike = None,
        *,
        units: Mapping[str, str] | None = None,
        scatter_kwargs: Mapping[str, object] | None = None,
        line_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them for two columns with a spread, optional
            A new figure by default.
        units, scatter_kwargs, line_kwargs
            As in `from_estimator`.

        Returns
        -------
        display : PosteriorDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        new = ax is None
        self._units, self._scatter_kwargs, self._line_kwargs = units, dict(scatter_kwargs or {}), dict(line_kwargs or {})
        self.band_ = self.scatter_ = self.legend_ = None
        self.lines_: list[Line2D] = []
        self.contours_: list[QuadContourSet] = []
        if len(self.grid) == 1:
            axes = panels(ax)
            self._draw_line(axes[0], new)
        else:
            count = 1 if self.spread is None else 2
            wide = room(ax)[0] >= 6.0
            axes = panels(ax, *((1, count) if wide else (count, 1)), height=1.0 if wide or count == 1 else 1.9)
            self._draw_plane(axes, new)
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self

    def _draw_line(self, ax: Axes, new: bool) -> None:
        x = self.grid[0]
        handles = []
        if self.lower is not None and self.upper is not None:
            color = self._line_kwargs.get("color", BLUE)
            self.band_ = ax.fill_between(
                x, self.lower, self.upper, color=color, alpha=0.3, linewidth=0, label=self.band_name or "band"
            )
        if self.samples is not None:
            self.lines_ = ax.plot(x, self.samples, color=OCHRE, linewidth=0.8, alpha=0.8)
        (mean,) = ax.plot(x, self.mean, **{"color": BLUE, "linewidth": 2.0, "label": self.mean_name, **self._line_kwargs})
        handles.append(mean)
        if self.band_ is not None:
            handles.append(self.band_)
        if self.lines_:
            self.lines_[0].set_label("samples")
            handles.append(self.lines_[0])
        self.lines_ = [mean, *self.lines_]
        if self.X is not None:
            handles += self._draw_data_on_line(ax, self.X[:, 0])
        ax.set_xlim(x[0], x[-1])
        set_labels(ax, named(self.names[0], self._units), named(self.target_name, self._units))
        if self.title:
            ax.set_title(self.title, fontsize="small", loc="left")
        self.legend_ = legend_below(ax, handles, grow=new)

    def _draw_data_on_line(self, ax: Axes, x: Vector) -> list[Artist]:
        drawn = sampled(len(x))
        if self.y is None or not self.on_grid:
            x = x[drawn]
            style = {"color": foreground(), "marker": "|", "markersize": 7, "markeredgewidth": 0.7, "linestyle": "none"}
            alpha = float(np.clip(8 / len(x) ** 0.5, 0.15, 0.7))
            place = ax.get_xaxis_transform()
            (self.scatter_,) = ax.plot(
                x, np.full(len(x), 0.02), transform=place, alpha=alpha, label="positions of the data", **style
            )
            return [self.scatter_]
        style = points_style(len(drawn), foreground()) | self._scatter_kwargs
        label = "data" if len(drawn) == len(x) else f"data ({len(drawn):,} of {len(x):,})"
        self.scatter_ = ax.scatter(x[drawn], self.y[drawn], **style, label=label)
        handles = [self.scatter_]
        if len(self.support):
            ring = {"s": 46, "facecolors": "none", "edgecolors": VERMILION, "linewidths": 1.3}
            handles.append(ax.scatter(x[self.support], self.y[self.support], label="support vectors", **ring))
        return handles

    def _draw_plane(self, axes: Sequence[Axes], new: bool) -> None:
        from matplotlib.ticker import MaxNLocator

        shown = [(self.mean, named(self.target_name, self._units), "viridis")]
        if self.spread is not None:
            shown.append(
                (
                    self.spread,
                    named(self.spread_name, {self.spread_name: (self._units or {}).get(self.target_name, "")}),
                    "cividis",
                )
            )
        for ax, (values, name, colors) in zip(axes, shown, strict=True):
            levels = MaxNLocator(11).tick_values(values.min(), values.max()) if np.ptp(values) else None
            drawn = ax.contourf(*self.grid, values, levels=levels, cmap=colors)
            drawn.set(edgecolor="face", linewidth=0.4)  # no seams between levels in vector graphics
            self.contours_.append(drawn)
            bar = ax.figure.colorbar(drawn, ax=ax, pad=0.03)
            bar.outline.set_visible(False)
            bar.set_label(name)
            bar.locator = MaxNLocator(5)
            bar.update_ticks()
            if self.X is not None:
                self._draw_data_on_plane(ax, self.X)
            set_labels(ax, named(self.names[0], self._units), named(self.names[1], self._units))
            ax.set_xlim(self.grid[0][[0, -1]])
            ax.set_ylim(self.grid[1][[0, -1]])
        if self.title:
            axes[0].set_title(self.title, fontsize="small", loc="left")
        if self.classes is not None or self.boundary is not None:
            self._draw_boundary(axes[0], axes[-1], new)

    def _draw_boundary(self, ax: Axes, lowest: Axes, new: bool) -> None:
        """Draw where the decision changes, in black and white, and say which mark is which class."""
        from matplotlib.lines import Line2D

        handles = []
        value = 0.5 if self.boundary is None else self.boundary
        if self.mean.min() < value < self.mean.max():
            for color, width in ((_DARK, 3.0), (_LIGHT, 1.4)):
                ax.contour(*self.grid, self.mean, levels=[value], colors=[color], linewidths=width)
            what = "as probable as not" if self.boundary is None else "decision boundary"
            handles.append(Line2D([], [], color=foreground(), label=what))
        if self.X is not None and self.y is not None and self.classes is not None:
            look = {"markerfacecolor": _LIGHT, "markeredgecolor": _DARK, "linestyle": "none"}
            handles += [Line2D([], [], marker=m, label=str(c), **look) for m, c in zip("o^", self.classes, strict=True)]
        self.legend_ = legend_below(lowest, handles, grow=new)

    def _draw_data_on_plane(self, ax: Axes, X: Vector) -> None:
        """Draw the points, light with a dark edge, so that they are seen on every colour of the map."""
        drawn = sampled(len(X))
        labels = np.zeros(len(drawn)) if self.classes is None or self.y is None else self.y[drawn]
        X = X[drawn]
        size = float(np.clip(1500 / len(X), 3, 22))
        for label, marker in ((0, "o"), (1, "^")):
            these = labels == label
            if these.any():
                style = {"s": size, "color": _LIGHT, "edgecolors": _DARK, "linewidths": min(0.5, size / 10), "marker": marker}
                self.scatter_ = ax.scatter(X[these, 0], X[these, 1], **(style | self._scatter_kwargs))


def _of_shape(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Vector:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers of shape {shape}, as the grid has, got shape {array.shape}")
    return array
