"""The path of support vector regression: errors of points that are left out, over C and epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel.estimators.support.path import Folds, SVRPath
from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.styles import VERMILION, faint
from kernsel.plotting.writing import legend_below, named, set_labels, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from kernsel.plotting.figures import AxesLike

__all__ = ["SVRPathDisplay"]

_COLORS = "viridis"
_RANGE = (0.28, 0.8)  # of the colours: those that are visible on light and dark backgrounds


class SVRPathDisplay:
    """Errors of points that are left out over C, a curve for each epsilon, with the best pair marked; and support vectors.

    The upper panel has the scores of :meth:`kernsel.SVRPath.scores`, the lower one the share of points that are support
    vectors. Fits that have not converged are hollow.

    Parameters
    ----------
    path : SVRPath
    criterion : {"loo", "kfold"}
    scoring : {"absolute", "squared"}
    folds, groups
        As in `scores`.

    Attributes
    ----------
    scores_ : ndarray of shape (Cs, epsilons)
    best_ : tuple of float
        The C and the epsilon of the least score, as :meth:`kernsel.SVRPath.best` returns them.
    ax_ : matplotlib Axes
        The upper panel.
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The scores, for each epsilon.
    support_lines_ : list of matplotlib Line2D
    mark_ : matplotlib Line2D
        The best pair.
    legend_ : matplotlib Legend

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> path = ks.SVRPath(X, y, ks.kernels.RBF(1.0), Cs=np.logspace(-2, 2, 5), epsilons=[0.05, 0.2])
    >>> display = ks.plotting.SVRPathDisplay.from_path(path)
    >>> display.best_ == path.best("loo")
    True
    """

    def __init__(
        self,
        *,
        path: SVRPath,
        criterion: str = "loo",
        scoring: str = "absolute",
        folds: Folds = 5,
        groups: ArrayLike | None = None,
    ) -> None:
        if not isinstance(path, SVRPath):
            raise TypeError(f"path: expected a kernsel.SVRPath, got {type(path).__name__}")
        self.path = path
        self.criterion, self.scoring = criterion, scoring
        self.scores_ = path.scores(criterion, scoring=scoring, folds=folds, groups=groups)
        i, j = np.unravel_index(int(np.argmin(self.scores_)), self.scores_.shape)
        self.best_ = float(path.Cs[i]), float(path.epsilons[j])
        self._best_score = float(self.scores_[i, j])

    @classmethod
    def from_path(
        cls,
        path: SVRPath,
        *,
        criterion: str = "loo",
        scoring: str = "absolute",
        folds: Folds = 5,
        groups: ArrayLike | None = None,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: AxesLike = None,
    ) -> Self:
        """Draw the scores of a path.

        Parameters
        ----------
        path : SVRPath
        criterion, scoring, folds, groups
            As above.
        target_name : str, optional
        units : dict of str to str, optional
            The unit of the target, by its name.
        ax : matplotlib Axes, or two of them, optional
            One is divided into two.

        Returns
        -------
        display : SVRPathDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_path")
        display = cls(path=path, criterion=criterion, scoring=scoring, folds=folds, groups=groups)
        return display.plot(ax, target_name=target_name, units=units)

    def plot(self, ax: AxesLike = None, *, target_name: str | None = None, units: Mapping[str, str] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them, optional
            A new figure by default.
        target_name, units
            As in `from_path`.

        Returns
        -------
        display : SVRPathDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        new, axes = ax is None, panels(ax, 2, height=1.35, sharex=True)
        share = self.path.n_support / self.path.coefficients.shape[2]
        self.lines_ = self._draw(axes[0], self.scores_)
        self.support_lines_ = self._draw(axes[1], share)
        C, epsilon = self.best_
        label = f"best: C = {short_number(C)}, ε = {short_number(epsilon)}"
        ring = {"marker": "o", "markersize": 12, "markerfacecolor": "none", "markeredgewidth": 1.8, "linestyle": "none"}
        (self.mark_,) = axes[0].plot(C, self._best_score, color=VERMILION, label=label, zorder=4, **ring)
        for one in axes:
            one.axvline(C, **faint(1.2, ":"))
        axes[0].set_xscale("log")
        positive = self.scores_[self.scores_ > 0]
        if len(positive) == self.scores_.size and positive.max() > 10 * positive.min():
            axes[0].set_yscale("log")
        axes[1].set_ylim(0, 1.03)
        axes[0].tick_params(labelbottom=False)
        name = target_name or "y"
        unit = (units or {}).get(name, "")
        error = f"absolute error of {named(name, units)}"
        if self.scoring == "squared":
            error = f"squared error of {name}{f' ({unit}²)' if unit else ''}"
        left_out = "left out one at a time" if self.criterion == "loo" else "left out in folds"
        set_labels(axes[0], "", f"mean {error}, {left_out}")
        set_labels(axes[1], "C", "share of support vectors")
        self.legend_ = legend_below(axes[1], [*self.lines_, self.mark_], grow=new)
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self

    def _draw(self, ax: Axes, table: ArrayLike) -> list[Line2D]:
        """Draw a curve over C for each epsilon."""
        from matplotlib import colormaps

        values, epsilons, Cs = np.asarray(table), self.path.epsilons, self.path.Cs
        lines: list[Line2D] = []
        for j, at in enumerate(np.linspace(*_RANGE, len(epsilons))):
            color = colormaps[_COLORS](at)
            style = {"color": color, "linewidth": 1.6, "marker": ".", "markersize": 5}
            lines += ax.plot(Cs, values[:, j], label=f"ε = {short_number(epsilons[j])}", **style)
            not_there = ~self.path.converged[:, j]
            hollow = {"marker": "o", "markersize": 6, "markerfacecolor": "none", "linestyle": "none"}
            ax.plot(Cs[not_there], values[not_there, j], color=color, **hollow)
        return lines
