"""Main effects: the mean of a function along each input, all others averaged over, with its band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from kernsel._base.annotations import Matrix
from kernsel.plotting.figures import panels, require_matplotlib, room
from kernsel.plotting.styles import BLUE, faint
from kernsel.plotting.writing import legend_below, named, percent, set_labels
from kernsel.sensitivity import main_effects
from kernsel.sensitivity.indices import checked_level
from kernsel.sensitivity.inputs import Inputs

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

    from kernsel.plotting.figures import AxesLike

__all__ = ["MainEffectsDisplay"]

_PANEL = 2.4  # inches, the least width of a panel with labels


class MainEffectsDisplay:
    """The mean of a function along each input, all other inputs being averaged over, a panel each on one scale.

    Parameters
    ----------
    grid, mean : array-like of shape (d, m)
        Values of each input, and E[f | x_j] there.
    std : array-like of shape (d, m), optional
        The standard deviation of the mean.
    overall : float
        E f, a line in all panels.
    names : sequence of d str
    level : float
        Of the band.
    target_name : str

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
    ax_ : matplotlib Axes
        The first panel.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The means.
    bands_ : list of matplotlib artists
    legend_ : matplotlib Legend or None

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    >>> gp = ks.GaussianProcessRegressor("RBF").fit(X, X[:, 0] + X[:, 1] ** 2)
    >>> display = ks.plotting.MainEffectsDisplay.from_estimator(gp)
    >>> len(display.lines_), display.axes_[1].get_xlabel()
    (2, 'x1')
    """

    def __init__(
        self,
        *,
        grid: ArrayLike,
        mean: ArrayLike,
        std: ArrayLike | None = None,
        overall: float,
        names: Sequence[str],
        level: float = 0.95,
        target_name: str = "y",
    ) -> None:
        checked_level(level)
        self.grid = _numbers("grid", grid, None)
        self.mean = _numbers("mean", mean, self.grid.shape)
        self.std = None if std is None else _numbers("std", std, self.grid.shape)
        if len(names) != len(self.grid):
            raise ValueError(f"names: expected one for each of {len(self.grid)} inputs, got {len(names)}")
        self.names = [str(name) for name in names]
        self.overall, self.level, self.target_name = overall, level, target_name

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        inputs: Inputs | None = None,
        *,
        n_points: int = 101,
        level: float = 0.95,
        output: int = 0,
        target_name: str = "y",
        units: Mapping[str, str] | None = None,
        ax: AxesLike = None,
    ) -> Self:
        """Draw the main effects of a model.

        Parameters
        ----------
        estimator : fitted regressor, or callable
        inputs : sequence or dict of Uniform, Normal or (lower, upper), optional
            As in :func:`kernsel.sensitivity.main_effects`: by default uniform on the ranges of the training points.
        n_points : int
            The number of values along each input.
        level : float
            Of the band, which Gaussian processes with a product kernel have.
        output : int
            Which of several targets.
        target_name : str
        units : dict of str to str, optional
            By names of columns and of the target.
        ax : matplotlib Axes, or one for each input, optional
            One is divided.

        Returns
        -------
        display : MainEffectsDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        found = main_effects(estimator, inputs, n_points=n_points, output=output)
        display = cls(
            grid=found.grid,
            mean=found.mean,
            std=found.std,
            overall=found.overall,
            names=found.names,
            level=level,
            target_name=target_name,
        )
        return display.plot(ax, units=units)

    def plot(self, ax: AxesLike = None, *, units: Mapping[str, str] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or one for each input, optional
            A new figure by default.
        units : dict of str to str, optional

        Returns
        -------
        display : MainEffectsDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        new = ax is None
        d = len(self.grid)
        columns = min(d, max(1, int(room(ax)[0] // _PANEL)), 4)
        rows = -(-d // columns)
        given = len(np.ravel(np.asarray(ax, dtype=object))) if ax is not None else 0
        shape = (d, 1) if given == d else (rows, columns)
        axes = panels(ax, *shape, height=max(1.0, 0.55 * rows))
        for unused in axes[d:]:
            unused.set_axis_off()
        axes = axes[:d]
        self.lines_: list[Line2D] = []
        self.bands_ = []
        half = None if self.std is None else stats.norm.isf((1 - self.level) / 2) * self.std
        width = np.zeros(1) if half is None else half
        lowest, highest = float((self.mean - width).min()), float((self.mean + width).max())
        margin = 0.05 * (highest - lowest)
        for j, one in enumerate(axes):
            x, mean = self.grid[j], self.mean[j]
            line = one.axhline(self.overall, **faint(style="--"), label="overall mean")
            if half is not None:
                band = f"{percent(self.level)} band"
                self.bands_.append(
                    one.fill_between(x, mean - half[j], mean + half[j], color=BLUE, alpha=0.3, linewidth=0, label=band)
                )
            self.lines_ += one.plot(x, mean, color=BLUE, linewidth=2.0, label="mean over the other inputs")
            if x[0] < x[-1]:
                one.set_xlim(x[0], x[-1])
            if margin > 0:
                one.set_ylim(lowest - margin, highest + margin)
            first_of_row = given == d or j % columns == 0
            set_labels(one, named(self.names[j], units), named(self.target_name, units) if first_of_row else "")
            if not first_of_row:
                one.tick_params(labelleft=False)
        handles = [self.lines_[-1], *self.bands_[-1:], line]
        self.legend_ = legend_below(axes[(rows - 1) * columns if shape[0] == rows else -1], handles, grow=new)
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self


def _numbers(name: str, values: ArrayLike, shape: tuple[int, ...] | None) -> Matrix:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or (shape is not None and array.shape != shape) or not np.isfinite(array).all():
        expected = "(d, m)" if shape is None else str(shape)
        raise ValueError(f"{name}: expected finite numbers of shape {expected}, got shape {array.shape}")
    return array
