"""The kernel: its matrix at the training points, and the function along each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.base import BaseEstimator

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.kernel import kernel_of
from kernsel.estimators.fitted import HasKernel, require_fitted
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import panels, require_matplotlib, room
from kernsel.plotting.models import column_names, likeliest, model_and_points, require_two_classes
from kernsel.plotting.styles import BLUE, GREEN, OCHRE, PINK, VERMILION, LineStyle, faint
from kernsel.plotting.writing import cut, legend_below, named, set_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from kernsel.plotting.figures import AxesLike

__all__ = ["KernelDisplay", "kernel_and_points_of"]

Kind = Literal["both", "matrix", "function"]

_ACCEPTED = (
    "GaussianProcessRegressor, StackedRegressor, GaussianProcessClassifier of two classes, KernelRidge, KernelRidgeCV, "
    "KernelInterpolator, SVR, "
    "a pipeline that ends with one, or what ks.select returns with one"
)
_CURVES: list[tuple[str, LineStyle]] = [
    (BLUE, "-"),
    (VERMILION, "--"),
    (GREEN, "-."),
    (PINK, (0, (1, 1))),
    (OCHRE, (0, (5, 1, 1, 1, 1, 1))),
]


class KernelDisplay:
    """The kernel matrix of points as an image, and the kernel as a function of the distance along each column.

    In the image, points with one column are sorted by it, and others by the first principal component in the kernel's feature
    space, so that similar points are neighbours. The function is k(o, o + r e), with o the medians of the columns and r the
    distance along a column: in its unit if there is one column, otherwise divided by its range, so that all share an axis.
    Kernels that are not even in r are drawn to both sides. Neither shows noise.

    Parameters
    ----------
    kernel : Kernel
    X : array-like of shape (n, d)
    names : sequence of d str, optional
        The names of the columns.
    max_points : int
        The most points in the image. If there are more, it has so many of them, evenly spread over their order.

    Attributes
    ----------
    order_ : ndarray of int
        The points in the image.
    matrix_ : ndarray
        Their kernel matrix.
    curves_ : dict of str to tuple of ndarray
        Distances and values along each column, those along which the kernel changes most first.
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
    colorbar_ : matplotlib Colorbar
    lines_ : dict of str to matplotlib Line2D
        By column.
    legend_ : matplotlib Legend or None

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(50, 2))
    >>> model = ks.GaussianProcessRegressor(noise="auto").fit(X, np.sin(6 * X[:, 0]) + 0.3 * X[:, 1])
    >>> display = ks.plotting.KernelDisplay.from_estimator(model)
    >>> display.matrix_.shape, list(display.curves_)
    ((50, 50), ['x0', 'x1'])
    """

    def __init__(self, *, kernel: Kernel, X: ArrayLike, names: Sequence[str] | None = None, max_points: int = 1000) -> None:
        ours = kernel_of(kernel)
        if max_points < 2:
            raise ValueError(f"max_points: expected 2 or more, got {max_points!r}")
        self.X = np.asarray(X, dtype=np.float64)
        if self.X.ndim != 2 or not self.X.size or not np.isfinite(self.X).all():
            raise ValueError(f"X: expected finite numbers, one row for each point, got shape {self.X.shape}")
        d = self.X.shape[1]
        self.names = column_names(None, d) if names is None else [str(name) for name in names]
        if len(self.names) != d:
            raise ValueError(f"names: expected one for each of {d} columns, got {len(self.names)}")
        self.kernel = ours
        self.name = ""  # which kernel it is, if there are several
        self.of_numbers = not ours.for_objects()
        self.order_, self.matrix_ = _ordered(ours, self.X, self.of_numbers and d == 1, max_points)
        self.curves_ = _curves(ours, self.X, self.names) if self.of_numbers else {}

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        kind: Kind | None = None,
        max_points: int = 1000,
        units: Mapping[str, str] | None = None,
        ax: AxesLike = None,
        image_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw the kernel of an estimator at its training points, or at others.

        Parameters
        ----------
        estimator : GaussianProcessRegressor, GaussianProcessClassifier of two classes, any with a kernel, or Selected
            Fitted. KernelRidge, KernelRidgeCV, KernelInterpolator and SVR have kernels, too; of a StackedRegressor, the
            likeliest kernel is drawn, and named.
        X : array-like of shape (n, d), optional
            The training points by default; for an SVR, its support vectors.
        y : ignored
        kind : {"both", "matrix", "function"}, optional
            "matrix" for points that are objects, otherwise "both".
        max_points
            As above.
        units : dict of str to str, optional
            By the names of the columns.
        ax : matplotlib Axes, or two of them for "both", optional
            One is divided into two.
        image_kwargs : dict, optional
            Properties of the image, as in `imshow` of matplotlib.

        Returns
        -------
        display : KernelDisplay
        """
        del y
        require_matplotlib(f"{cls.__name__}.from_estimator")
        model, X = model_and_points(estimator, X)
        of_mixture = isinstance(model, StackedRegressor)
        model = likeliest(model)
        kernel, points = kernel_and_points_of(model)
        if X is not None:
            reading = kernel.reading()
            points = np.asarray(X) if reading is None else reading.numbers(X, keep=False)
        names = column_names(model, np.shape(points)[1])
        display = cls(kernel=kernel, X=points, names=names, max_points=max_points)
        display.name = f"likeliest of the mixture: {kernel}" if of_mixture else ""
        return display.plot(ax, kind=kind, units=units, image_kwargs=image_kwargs)

    def plot(
        self,
        ax: AxesLike = None,
        *,
        kind: Kind | None = None,
        units: Mapping[str, str] | None = None,
        image_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them for "both", optional
            A new figure by default.
        kind, units, image_kwargs
            As in `from_estimator`.

        Returns
        -------
        display : KernelDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        kind = kind if kind is not None else "both" if self.of_numbers else "matrix"
        if kind not in get_args(Kind):
            raise ValueError(f"kind: expected one of {', '.join(get_args(Kind))}, got {kind!r}")
        if kind != "matrix" and not self.of_numbers:
            raise ValueError(f'kind: expected "matrix", since {self.kernel} is of objects, got {kind!r}')
        count = 2 if kind == "both" else 1
        wide = room(ax)[0] >= 6.0
        height = 1.0 if count == 1 or wide else 1.9
        self._new, axes = ax is None, panels(ax, *((1, count) if wide else (count, 1)), height=height)
        self.legend_ = None
        if kind != "function":
            self._draw_matrix(axes[0], dict(image_kwargs or {}))
        if kind != "matrix":
            self._draw_function(axes[-1], units)
        if self.name:
            self._write_name(axes[0])
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self

    def _write_name(self, ax: Axes) -> None:
        """Write which kernel it is above a new figure, or above the first panel of axes that were given."""
        if self._new:
            ax.figure.suptitle(cut(self.name, 0.97 * 72 * room(None)[0]), x=0.01, ha="left", fontsize="small")
        else:
            ax.set_title(cut(self.name, 72 * room(ax)[0]), loc="left", fontsize="small")

    def _draw_matrix(self, ax: Axes, options: dict[str, object]) -> None:
        K = self.matrix_
        least, most = float(K.min()), float(K.max())
        signed = least < -0.01 * most
        limits: dict[str, object] = (
            {"cmap": "RdBu_r", "vmin": -max(most, -least), "vmax": max(most, -least)} if signed else {"cmap": "viridis"}
        )
        self.image_ = ax.imshow(K, **(limits | options))
        self.colorbar_ = ax.figure.colorbar(self.image_, cax=ax.inset_axes([1.04, 0, 0.05, 1]))
        self.colorbar_.outline.set_visible(False)
        self.colorbar_.set_label("k(x, z)")
        shown = "" if len(K) == len(self.X) else f"{len(K)} of {len(self.X)} "
        by = self.names[0] if self.of_numbers and self.X.shape[1] == 1 else "similarity"
        set_labels(ax, f"{shown}points, by {by}", "")
        ax.set_xticks([])
        ax.set_yticks([])

    def _draw_function(self, ax: Axes, units: Mapping[str, str] | None) -> None:
        self.lines_: dict[str, Line2D] = {}
        has_others = len(self.curves_) > len(_CURVES)  # columns that share one faint style
        for i, (name, (distance, value)) in enumerate(self.curves_.items()):
            style: dict[str, object]
            if i >= len(_CURVES) - has_others:
                style = faint(0.8)
            else:
                style = {"color": _CURVES[i][0], "linestyle": _CURVES[i][1], "linewidth": 2.0}
            (self.lines_[name],) = ax.plot(distance, value, label=name, **style)
        named_lines = list(self.lines_.values())
        if has_others:
            named_lines = named_lines[: len(_CURVES)]
            named_lines[-1].set_label(f"{len(self.curves_) - len(_CURVES) + 1} others")
        is_even = all(distance[0] == 0 for distance, _ in self.curves_.values())
        if len(self.curves_) > 1:
            label = "distance r along a column, over its range"
        else:
            label = f"distance r along {self.names[0]}{named(self.names[0], units).removeprefix(self.names[0])}"
        set_labels(ax, label, "k(r)" if is_even else "k(o, o + r)")
        least = min(float(value.min()) for _, value in self.curves_.values())
        if least > 0:
            ax.set_ylim(bottom=0)
        if len(self.curves_) > 1:
            self.legend_ = legend_below(ax, named_lines, grow=self._new)


def kernel_and_points_of(model: BaseEstimator) -> tuple[Kernel, Matrix]:
    """Return the kernel of a fitted model, and the points of its function; raise TypeError unless there is one of each."""
    if not isinstance(model, HasKernel):
        raise TypeError(f"estimator: expected a fitted {_ACCEPTED}, got {type(model).__name__}")
    require_fitted(model)
    require_two_classes(model)
    kernel, points = model.kernel_and_points()
    if isinstance(kernel, str):
        raise TypeError(f"estimator: this {type(model).__name__} was given a kernel matrix, and knows no kernel")
    return kernel, points


def _ordered(kernel: Kernel, X: Matrix, one_column: bool, most: int) -> tuple[Indices, Matrix]:
    """Return indices of at most `most` points, similar points being neighbours, and their kernel matrix without noise."""
    n = len(X)
    if one_column:
        order = np.argsort(X[:, 0], kind="stable")
        rows = order[np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)]
        return rows, np.asarray(kernel(X[rows], X[rows]))
    rows = np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)
    K = np.asarray(kernel(X[rows], X[rows]))
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    last = len(K) - 1
    component = linalg.eigh((centred + centred.T) / 2, subset_by_index=[last, last])[1][:, 0]
    order = np.argsort(component if component[np.argmax(np.abs(component))] > 0 else -component, kind="stable")
    return rows[order], K[np.ix_(order, order)]


def _curves(kernel: Kernel, X: Matrix, names: Sequence[str]) -> dict[str, tuple[Vector, Vector]]:
    """Return distances r and values k(o, o + r e) along each column, those along which the kernel changes most first."""
    origin = np.median(X, axis=0)
    ranges = np.ptp(X, axis=0)
    ranges = np.where(ranges > 0, ranges, 1.0)
    r = np.linspace(0.0, 1.0, 201)
    curves = {}
    for k, name in enumerate(names):
        above, below = (np.repeat(origin[None], len(r), axis=0) for _ in range(2))
        above[:, k] += r * ranges[k]
        below[:, k] -= r * ranges[k]
        right, left = (np.asarray(kernel(points, origin[None]))[:, 0] for points in (above, below))
        is_even = np.abs(right - left).max() <= 1e-9 * np.abs(right).max()
        distance, value = (r, right) if is_even else (np.append(-r[:0:-1], r), np.append(left[:0:-1], right))
        curves[name] = (distance * (ranges[k] if len(names) == 1 else 1.0), value)
    return dict(sorted(curves.items(), key=lambda item: -float(np.mean(np.abs(item[1][1] - item[1][1].max())))))
