"""The points in the feature space of a kernel: in two coordinates, its principal components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.folds import number_of_points
from kernsel._data.kernel import kernel_of
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points
from kernsel.plotting.classes import LOOKS, draw_classes, require_few
from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.kernel import kernel_and_points_of
from kernsel.plotting.models import likeliest, model_and_points, name_of_target
from kernsel.plotting.styles import BLUE, foreground, points_style
from kernsel.plotting.writing import legend_below, named, percent, set_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colorbar import Colorbar

__all__ = ["FeatureSpaceDisplay"]


class FeatureSpaceDisplay:
    """Points where they are in the feature space of a kernel, in its two principal components.

    Distances in feature space are |f(x) - f(z)|^2 = k(x, x) - 2 k(x, z) + k(z, z). Of all pairs of coordinates that are linear
    in f, these have the largest variance: with u_i and e_i the leading eigenvectors and eigenvalues of the centred kernel
    matrix, a point's coordinates are e_i^(1/2) u_i. Points may be objects, such as strings or graphs.

    Parameters
    ----------
    coordinates : array-like of shape (n, 2)
    shares : sequence of two float
        The parts of the variance in feature space that they have.
    y : array-like of shape (n,), optional
        Numbers or classes, by which points are coloured; ten classes at most.
    target_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    scatters_ : list of matplotlib PathCollection
        One of all points, or one for each class.
    colorbar_ : matplotlib Colorbar or None
    legend_ : matplotlib Legend or None

    Examples
    --------
    >>> import kernsel as ks
    >>> from kernsel.structured import Spectrum
    >>> words = ["GATTACA", "GATTA", "ATTACA", "CCGG", "CCGGA", "TCCGG"]
    >>> display = ks.plotting.FeatureSpaceDisplay.from_kernel(Spectrum(2), words, ["a", "a", "a", "b", "b", "b"])
    >>> display.coordinates.shape, bool(sum(display.shares) > 0.8)
    ((6, 2), True)
    """

    def __init__(
        self, *, coordinates: ArrayLike, shares: ArrayLike, y: ArrayLike | None = None, target_name: str = "y"
    ) -> None:
        self.coordinates = np.asarray(coordinates, dtype=np.float64)
        if self.coordinates.ndim != 2 or self.coordinates.shape[1] != 2 or not np.isfinite(self.coordinates).all():
            raise ValueError(f"coordinates: expected finite numbers of shape (n, 2), got shape {self.coordinates.shape}")
        self.shares = [float(share) for share in np.ravel(shares)]
        if len(self.shares) != 2:
            raise ValueError(f"shares: expected two numbers, got {len(self.shares)}")
        self.y = None if y is None else np.asarray(y)
        if self.y is not None and self.y.shape != (len(self.coordinates),):
            raise ValueError(f"y: expected one for each of {len(self.coordinates)} points, got shape {self.y.shape}")
        self.classes = np.unique(self.y) if self.y is not None and _are_classes(self.y) else None
        if self.classes is not None:
            require_few(self.classes)
        self.target_name = target_name

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        max_points: int = 2000,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the points of an estimator in the feature space of its kernel.

        Parameters
        ----------
        estimator : any with a kernel, or Selected
            Fitted.
        X : array-like of shape (n, d), or sequence of n objects, optional
            The training points by default; for an SVR, its support vectors.
        y : array-like of shape (n,), optional
            Colours the points.
        max_points, target_name, units, ax
            As in `from_kernel`.

        Returns
        -------
        display : FeatureSpaceDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        model, X = model_and_points(estimator, X)
        kernel, points = kernel_and_points_of(likeliest(model))
        given = points if X is None else X
        return cls.from_kernel(kernel, given, y, max_points=max_points, target_name=target_name, units=units, ax=ax)

    @classmethod
    def from_kernel(
        cls,
        kernel: Kernel,
        X: Points,
        y: ArrayLike | None = None,
        *,
        max_points: int = 2000,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw points in the feature space of a kernel.

        Parameters
        ----------
        kernel : Kernel
        X : array-like of shape (n, d), or sequence of n objects
        y : array-like of shape (n,), optional
            Colours the points.
        max_points : int
            Of more points, so many are drawn, evenly spread over their order: the eigenvectors take O(n^2) memory.
        target_name : str, optional
            By default the name of `y`, if it has one.
        units : dict of str to str, optional
            By names of the target.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : FeatureSpaceDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_kernel")
        n = number_of_points(X)
        if max_points < 3:
            raise ValueError(f"max_points: expected 3 or more, got {max_points!r}")
        if n < 3:
            raise ValueError(f"X: expected three points at least, got {n}")
        if y is not None and np.shape(y) != (n,):
            raise ValueError(f"y: expected one for each of {n} points, got shape {np.shape(y)}")
        rows = np.linspace(0, n - 1, min(n, max_points)).round().astype(np.intp)
        name = name_of_target(target_name, y)
        some = X if len(rows) == n else _safe_indexing(X, rows)
        coordinates, shares = _principal(np.asarray(kernel_of(kernel)(some)))
        display = cls(coordinates=coordinates, shares=shares, y=None if y is None else np.asarray(y)[rows], target_name=name)
        return display.plot(ax, units=units)

    def plot(self, ax: Axes | None = None, *, units: Mapping[str, str] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        units : dict of str to str, optional
            By names of the target.

        Returns
        -------
        display : FeatureSpaceDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        from matplotlib.ticker import MaxNLocator

        new, ax = ax is None, panels(ax)[0]
        self.colorbar_: Colorbar | None = None
        self.legend_ = None
        points, n = self.coordinates, len(self.coordinates)
        self.scatters_: list[PathCollection]
        if self.classes is None or self.y is None:
            style = points_style(n, BLUE)
            if self.y is not None:
                style |= {"color": None, "c": self.y.astype(np.float64), "cmap": "viridis", "alpha": 0.9}
            self.scatters_ = [ax.scatter(points[:, 0], points[:, 1], **style)]
        else:
            size = float(np.clip(4000 / n, 9, 26))
            self.scatters_ = draw_classes(ax, points, self.y, self.classes, edge=foreground(), size=size)
        ax.axhline(0, color=foreground(), alpha=0.2, linewidth=0.8, zorder=0)
        ax.axvline(0, color=foreground(), alpha=0.2, linewidth=0.8, zorder=0)
        middle, reach = (points.max(axis=0) + points.min(axis=0)) / 2, 0.54 * float(np.ptp(points, axis=0).max()) or 1.0
        ax.set_xlim(middle[0] - reach, middle[0] + reach)
        ax.set_ylim(middle[1] - reach, middle[1] + reach)
        ax.set_aspect("equal")
        for axis in (ax.xaxis, ax.yaxis):  # ticks that do not change when the axes become square, after the layout
            axis.set_major_locator(MaxNLocator(5))
        labels = [
            f"{which} component ({percent(share)})" for which, share in zip(("first", "second"), self.shares, strict=True)
        ]
        set_labels(ax, *labels)
        if self.classes is not None:
            self.legend_ = legend_below(ax, self.scatters_, grow=new)
        elif self.y is not None:
            self.colorbar_ = ax.figure.colorbar(self.scatters_[0], cax=ax.inset_axes([1.04, 0, 0.05, 1]))
            self.colorbar_.outline.set_visible(False)
            self.colorbar_.solids.set_alpha(1.0)
            self.colorbar_.set_label(named(self.target_name, units))
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _are_classes(y: np.ndarray[tuple[int], np.dtype[np.generic]]) -> bool:
    """Tell whether targets are classes: texts, truth values, or whole numbers of which there are few."""
    if y.dtype.kind in "OUSb":
        return True
    return type_of_target(y) in ("binary", "multiclass") and len(np.unique(y)) <= len(LOOKS)


def _principal(K: Matrix) -> tuple[Matrix, Vector]:
    """Return the two principal components of points with the kernel matrix K, and the shares of the variance that they have."""
    n = len(K)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = linalg.eigh((centred + centred.T) / 2, subset_by_index=[n - 2, n - 1])
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    # The largest entry of each component is positive, so that the picture does not depend on signs that have no meaning.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])
    total = float(np.trace(centred))
    return vectors * signs * np.sqrt(values), values / total if total > 0 else np.zeros(2)
