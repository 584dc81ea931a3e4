"""What a search has tried: kernels by the value of the criterion, or where each start led."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kernsel.criteria.names import label_of
from kernsel.estimators.support.selection import SupportSelection
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import panels, require_matplotlib, room
from kernsel.plotting.models import likeliest, model_and_points
from kernsel.plotting.styles import BLUE, VERMILION, faint
from kernsel.plotting.writing import cut, set_labels, text_width
from kernsel.study.select import Selected

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = ["SearchDisplay"]

_ROW = 0.34  # inches


@dataclass(frozen=True)
class _Table:
    names: list[str]
    values: NDArray[np.float64]
    problems: list[str]
    criterion: str
    larger_is_better: bool
    best: int
    reason: str = "chosen for having found fewer numbers"


class SearchDisplay:
    """What was tried, as a dot for each: kernels, the best first, or the starts of a search for the hyperparameters of one.

    The best one has another colour and marker. What could not be fitted is listed below with the reason. Values that are far
    worse than most are at the edge, with an arrow.

    Parameters
    ----------
    names : sequence of str
    values : array-like of shape (p,)
        Of the criterion; nan for what could not be fitted.
    problems : sequence of str, optional
        Why not; empty for the others.
    criterion : str
        What the values are.
    larger_is_better : bool
    best : int, optional
        The one that was chosen, if that is not simply the best value.
    reason : str
        Why, then.
    max_rows : int
        How many are shown; the rest are counted.

    Attributes
    ----------
    order_ : ndarray of int
        What each row is.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : matplotlib LineCollection
    scatter_, best_ : matplotlib PathCollection
        All dots, and that of the best one.
    texts_ : list of matplotlib Text

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF, Linear
    >>> X = np.linspace(0, 6, 50).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + np.sin(3 * X[:, 0]) + 0.1 * np.cos(1e3 * X[:, 0])
    >>> found = ks.select(X, y, kernels=[RBF("auto"), Linear("auto"), RBF("auto") + Linear("auto")], criterion="lml")
    >>> display = ks.plotting.SearchDisplay.from_estimator(found)
    >>> [display.names[row] for row in display.order_]
    ['RBF + Linear', 'RBF', 'Linear']
    """

    def __init__(
        self,
        *,
        names: Sequence[str],
        values: ArrayLike,
        problems: Sequence[str] | None = None,
        criterion: str = "criterion",
        larger_is_better: bool = True,
        best: int | None = None,
        reason: str = "chosen for having found fewer numbers",
        max_rows: int = 20,
    ) -> None:
        self.names = [str(name) for name in names]
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.shape != (len(self.names),) or not len(self.names):
            raise ValueError(f"values: expected one for each of {len(self.names)} names, got shape {self.values.shape}")
        self.problems = [""] * len(self.names) if problems is None else [str(problem) for problem in problems]
        if len(self.problems) != len(self.names):
            raise ValueError(f"problems: expected one for each of {len(self.names)} names, got {len(self.problems)}")
        if max_rows < 1:
            raise ValueError(f"max_rows: expected 1 or more, got {max_rows!r}")
        self.criterion, self.larger_is_better, self.max_rows = criterion, larger_is_better, max_rows
        self.reason = reason
        cost = np.where(np.isfinite(self.values), -self.values if larger_is_better else self.values, np.inf)
        order = np.argsort(cost, kind="stable")
        self._first = int(order[0])
        self.best = self._first if best is None else best
        self.order_ = np.append(self.best, order[order != self.best])

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        max_rows: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw what was tried.

        Parameters
        ----------
        estimator : Selected, or an estimator with a search behind it
            What :func:`kernsel.select` returns: its kernels. An estimator, or its `selection_`: where each start led; of an
            SVR, each kernel at its best C and epsilon; of a StackedRegressor, where each start for the likeliest kernel led.
        X, y : ignored
        max_rows : int
        ax : matplotlib Axes, optional

        Returns
        -------
        display : SearchDisplay
        """
        del X, y
        require_matplotlib(f"{cls.__name__}.from_estimator")
        table = _table(estimator)
        display = cls(
            names=table.names,
            values=table.values,
            problems=table.problems,
            criterion=table.criterion,
            larger_is_better=table.larger_is_better,
            best=table.best,
            reason=table.reason,
            max_rows=max_rows,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default, as high as its rows need.

        Returns
        -------
        display : SearchDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        rows = self.order_[: self.max_rows]
        left_out = len(self.order_) - len(rows)
        whole = (len(rows) + 1) * _ROW + 0.6
        ax = panels(ax, height=whole / room(None)[1])[0]
        width = room(ax)[0] * 72
        finite = np.isfinite(self.values[rows])
        low, high = _limits(self.values[rows][finite], self.larger_is_better)
        places = np.arange(len(rows), dtype=np.float64)
        shown = np.clip(self.values[rows], low, high)
        self.lines_ = ax.hlines(places[finite], low, high, **(faint(0.8) | {"alpha": 0.3}))
        others = finite & (rows != self.best)
        off = others & (shown != self.values[rows])
        self.scatter_ = ax.scatter(shown[others & ~off], places[others & ~off], s=36, color=BLUE, zorder=3)
        ax.scatter(
            shown[off], places[off], s=40, color=BLUE, marker="<" if self.larger_is_better else ">", zorder=3, clip_on=False
        )
        here = rows == self.best
        self.best_ = ax.scatter(shown[here & finite], places[here & finite], s=64, color=VERMILION, marker="D", zorder=3)
        self.texts_: list[Text] = []
        for place, row in zip(places, rows, strict=True):
            self._write(ax, float(place), int(row), width)
        better = "larger" if self.larger_is_better else "smaller"
        rest = f"; {left_out} more were tried" if left_out else ""
        label = f"{self.criterion}, {better} is better{rest}"
        if self.best != self._first:
            label += f"; {self.reason}"
        ax.set_ylim(len(rows) - 0.5, -0.85)
        set_labels(ax, label, "")
        pad = 0.03 * (high - low)
        ax.set_xlim(low - pad, high + pad)
        ax.set_yticks([])
        ax.xaxis.get_major_locator().set_params(nbins="auto" if room(ax)[0] > 5 else 4)
        for side in ("left", "right", "top"):
            ax.spines[side].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _write(self, ax: Axes, place: float, row: int, width: float) -> None:
        """Write the name above a dot's line on the left, and what is said of it on the right."""
        value, problem = self.values[row], self.problems[row]
        fitted, best = bool(np.isfinite(value)), bool(row == self.best)
        said = (
            f"{value:.6g}".replace("-", "\N{MINUS SIGN}") if fitted else f"not fitted: {problem}" if problem else "not fitted"
        )
        if not fitted:
            said = cut(said, 0.6 * width, bold=best)
        name = cut(self.names[row], width - text_width(said, "small", bold=best) - 8, bold=best)
        style: dict[str, object] = {"fontsize": "small", "va": "center", "fontweight": "bold" if best else "normal"}
        for text, at, side in ((name, 0.0, "left"), (said, 1.0, "right")):
            self.texts_.append(ax.text(at, place - 0.42, text, ha=side, transform=ax.get_yaxis_transform(), **style))


def _limits(values: NDArray[np.float64], larger_is_better: bool) -> tuple[float, float]:
    """Return what is shown: all values, but for those that are so far off that the others could not be told apart."""
    if not len(values):
        return 0.0, 1.0
    best = values.max() if larger_is_better else values.min()
    off = np.abs(values - best)
    most = max(6 * float(np.median(off)), float(np.sort(off)[min(1, len(off) - 1)]))
    reach = float(off.max()) if off.max() <= most else most
    reach = reach or 0.05 * abs(float(best)) or 1.0
    return (best - reach, best + 0.0) if larger_is_better else (best + 0.0, best + reach)


def _table(given: Any) -> _Table:
    if isinstance(given, Selected):
        names = [_in_short(str(one.kernel)) for one in given.tried]
        values = np.array([one.value for one in given.tried])
        problems = [one.problem for one in given.tried]
        larger = given.criterion.larger_is_better
        by_density = given.criterion.leaves_points_out and given.best.as_good
        reason = "chosen as the simplest of those about as good by densities" if by_density else _Table.reason
        return _Table(names, values, problems, label_of(given.criterion), larger, 0, reason)
    given = likeliest(model_and_points(given, None)[0])
    selection = getattr(given, "selection_", given)
    if isinstance(selection, SupportSelection):
        names = [f"{one.kernel}, {one.n_points} points" for one in selection.table]
        values = np.array([one.value for one in selection.table])
        criterion = f"{selection.scoring} error by {selection.criterion}"
        return _Table(names, values, [""] * len(names), criterion, False, int(np.argmin(values)))
    if isinstance(selection, list):
        raise TypeError("estimator: it has several searches; give one of its selection_")
    starts = getattr(selection, "of_starts", None)
    if starts is None:
        raise TypeError(
            "estimator: expected what ks.select returns, or an estimator that has searched for its hyperparameters "
            f"(with selection_), got {type(given).__name__}"
        )
    values = np.asarray(starts, dtype=np.float64)
    if not len(values):
        raise ValueError("estimator: its search has not begun anywhere: there was nothing to be found")
    criterion_used = getattr(selection, "criterion", None)
    larger = True if criterion_used is None else criterion_used.larger_is_better
    name = "criterion" if criterion_used is None else label_of(criterion_used)
    if getattr(selection, "n_evaluations_subset", 0):
        name += " on some of the points"
    ranked = np.where(np.isfinite(values), values if larger else -values, -np.inf)
    names = [f"start {i + 1}" for i in range(len(values))]
    return _Table(names, values, ["" for _ in names], name, larger, int(np.argmax(ranked)))


def _in_short(kernel: str) -> str:
    """Return the text of a kernel without what is to be found in it, and without amplitudes that are."""
    for long, short in (("'auto' * ", ""), ("('auto')", ""), ("('auto', ", "(")):
        kernel = kernel.replace(long, short)
    return kernel
