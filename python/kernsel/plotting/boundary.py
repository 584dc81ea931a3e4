"""The boundaries of two, three and more classes over two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix
from kernsel.estimators.fitted import as_fitted, column
from kernsel.kernels.objects import Points
from kernsel.plotting.classes import LOOKS, draw_classes, require_few
from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.many import sampled
from kernsel.plotting.models import column_names, model_and_points
from kernsel.plotting.predicted import scene_of_columns
from kernsel.plotting.styles import foreground
from kernsel.plotting.writing import legend_below, named, set_labels, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.image import AxesImage

__all__ = ["BoundaryDisplay"]

_ON_A_SIDE = 121  # grid points
_LEAST, _MOST = 0.1, 0.55  # how opaque the colour of a class is where all are as probable, and where it is certain


class BoundaryDisplay:
    """The most probable class over two columns, and the boundaries between classes.

    Colours are the stronger the more probable the class is, and lines are where two classes are as probable.

    Parameters
    ----------
    grid : tuple of two ndarray
        Values of the columns.
    probabilities : array-like of shape (len(grid[1]), len(grid[0]), classes)
        Of each class, at the points of the grid.
    classes : sequence
        Their names, ten at most.
    X : array-like of shape (n, 2), optional
        The data, in these columns.
    y : array-like of shape (n,), optional
        Their classes.
    names : sequence of two str, optional
        Of the columns.
    title : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
    boundaries_ : list of matplotlib QuadContourSet
        For each class that is the most probable one somewhere, but not everywhere.
    scatters_ : list of matplotlib PathCollection
        The data, of each class.
    legend_ : matplotlib Legend

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2))
    >>> y = np.array(["low", "right", "left"])[np.where(X[:, 1] < -0.5, 0, np.where(X[:, 0] > 0, 1, 2))]
    >>> model = ks.GaussianProcessClassifier(4.0 * ks.kernels.RBF(1.0), optimizer=None).fit(X, y)
    >>> display = ks.plotting.BoundaryDisplay.from_estimator(model, X, y)
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['left', 'low', 'right']
    """

    def __init__(
        self,
        *,
        grid: Sequence[ArrayLike],
        probabilities: ArrayLike,
        classes: ArrayLike,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        title: str = "",
    ) -> None:
        self.grid = tuple(column(axis, None, name="grid") for axis in grid)
        if len(self.grid) != 2:
            raise ValueError(f"grid: expected the values of two columns, got {len(self.grid)}")
        self.classes = np.asarray(classes)
        require_few(self.classes)
        shape = (len(self.grid[1]), len(self.grid[0]), len(self.classes))
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        if self.probabilities.shape != shape or not np.isfinite(self.probabilities).all():
            raise ValueError(f"probabilities: expected finite numbers of shape {shape}, got shape {self.probabilities.shape}")
        self.X = None if X is None else np.asarray(X, dtype=np.float64).reshape(-1, 2)
        self.y = None if y is None or self.X is None else np.asarray(y)
        if self.X is not None and (self.y is None or self.y.shape != (len(self.X),)):
            raise ValueError(f"y: expected a class for each of {len(self.X)} points, got {y!r:.60}")
        self.names = column_names(None, 2) if names is None else [str(name) for name in names]
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        columns: Sequence[int | str] | None = None,
        at: Mapping[int | str, float] | None = None,
        units: Mapping[str, str] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the classes of a classifier.

        Parameters
        ----------
        estimator : any classifier, or Selected
            Fitted to columns of numbers. One without `predict_proba` is certain everywhere.
        X, y : array-like
            The points that are drawn, and their classes.
        columns : two int or str, optional
            Needed if there are more than two; the others are held.
        at : dict of int or str to float, optional
            Values of other columns; their medians by default.
        units : dict of str to str, optional
            By names of columns.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : BoundaryDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        # A pipeline has the columns that it was given, not those that its last step sees.
        model, X = (estimator, X) if isinstance(estimator, Pipeline) else model_and_points(estimator, X)
        if not is_classifier(model):
            raise TypeError(f"estimator: expected a classifier, got {type(model).__name__}")
        check_is_fitted(model)
        if X is None or y is None:
            raise ValueError("X, y: expected the points that are drawn, and their classes, got None")
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] < 2:
            raise ValueError(f"X: expected two columns of numbers at least, got shape {points.shape}")
        names = column_names(model, points.shape[1])
        if columns is None and points.shape[1] > 2:
            raise ValueError(f"columns: expected two of {', '.join(names)}, got None")
        scene = scene_of_columns(points, names, [0, 1] if columns is None else columns, at, on_a_side=_ON_A_SIDE)
        if len(scene.columns) != 2:
            raise ValueError(f"columns: expected two different columns, got {columns!r}")
        Z = as_fitted(model, scene.points())
        if hasattr(model, "predict_proba"):
            probabilities = np.asarray(model.predict_proba(Z))
        else:
            probabilities = (np.asarray(model.predict(Z))[:, None] == model.classes_).astype(np.float64)
        others = [k for k in range(points.shape[1]) if k not in scene.columns]
        title = ", ".join(f"{names[k]} = {short_number(scene.center[k])}" for k in others[:3])
        display = cls(
            grid=scene.grid,
            probabilities=probabilities.reshape(len(scene.grid[1]), len(scene.grid[0]), -1),
            classes=model.classes_,
            X=points[:, scene.columns],
            y=y,
            names=[names[k] for k in scene.columns],
            title=f"at {title}" + (", ..." if len(others) > 3 else "") if others else "",
        )
        return display.plot(ax, units=units)

    def plot(self, ax: Axes | None = None, *, units: Mapping[str, str] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        units : dict of str to str, optional
            As in `from_estimator`.

        Returns
        -------
        display : BoundaryDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        new, ax = ax is None, panels(ax)[0]
        x, y = self.grid
        extent = (x[0], x[-1], y[0], y[-1])
        options = {"origin": "lower", "aspect": "auto", "interpolation": "bilinear", "zorder": 0}
        self.image_: AxesImage = ax.imshow(self._colors(), extent=extent, **options)
        self.boundaries_: list[QuadContourSet] = []
        for k in range(len(self.classes)):
            lead = self.probabilities[..., k] - np.delete(self.probabilities, k, axis=-1).max(axis=-1, initial=0.0)
            if lead.min() < 0 < lead.max():
                self.boundaries_.append(ax.contour(x, y, lead, levels=[0.0], colors=[foreground()], linewidths=1.2))
        self.scatters_: list[PathCollection] = []
        if self.X is not None and self.y is not None:
            rows = sampled(len(self.X))
            size = float(np.clip(4000 / len(rows), 9, 26))
            self.scatters_ = draw_classes(ax, self.X[rows], self.y[rows], self.classes, edge="#f7f7f7", size=size)
        ax.set_xlim(x[[0, -1]])
        ax.set_ylim(y[[0, -1]])
        set_labels(ax, named(self.names[0], units), named(self.names[1], units))
        if self.title:
            ax.set_title(self.title, fontsize="small", loc="left")
        self.legend_ = legend_below(ax, self.scatters_ or self._patches(), grow=new)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _colors(self) -> Matrix:
        """Return the colour of each point of the grid, with its opacity."""
        from matplotlib.colors import to_rgb

        k = len(self.classes)
        largest = self.probabilities.max(axis=-1)
        certain = np.clip((largest - 1 / k) / max(1 - 1 / k, 1e-300), 0, 1)
        colors = np.array([to_rgb(color) for color, _ in LOOKS])[self.probabilities.argmax(axis=-1)]
        return np.concatenate([colors, (_LEAST + (_MOST - _LEAST) * certain)[..., None]], axis=-1)

    def _patches(self) -> list[object]:
        from matplotlib.patches import Patch

        return [Patch(color=color, alpha=_MOST, label=str(one)) for one, (color, _) in zip(self.classes, LOOKS, strict=False)]
