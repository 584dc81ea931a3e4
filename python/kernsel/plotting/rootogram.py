"""Rootograms: how often each count was observed, and how often it was to be expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernsel.estimators.fitted import column, require_fitted
from kernsel.estimators.observed_distribution import ObservedDistribution
from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.models import name_of_target
from kernsel.plotting.styles import BLUE, VERMILION, faint, foreground
from kernsel.plotting.writing import legend_below, named, set_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RootogramDisplay"]

_MOST = 40  # the largest count that has a bar of its own
_CHANCE = 1.0  # the root of a frequency has a standard deviation of a half at most: 95 % are within two of them


class RootogramDisplay:
    """A hanging rootogram: for each count, a bar as long as the root of its frequency hangs from that of the expected one.

    A bar that ends above zero is of a count that is rarer than expected, one that ends below of a more frequent one. Roots make
    the differences of rare and of frequent counts comparable: shaded is where 95 % of the bars would end if the model is right.
    Each point's distribution is that given all others.

    Parameters
    ----------
    observed, expected : array-like of shape (k,)
        How many points have the counts 0, 1, ..., k - 1, and how many were to be expected.
    open_end : bool
        Whether the last is of all counts from k - 1 on.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
    line_ : matplotlib Line2D
        The roots of the expected frequencies.
    band_ : matplotlib artist
    legend_ : matplotlib Legend or None

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> y = np.random.default_rng(0).poisson(np.exp(np.sin(X[:, 0])))
    >>> gp = ks.GaussianProcessRegressor("RBF", likelihood="poisson").fit(X, y)
    >>> display = ks.plotting.RootogramDisplay.from_estimator(gp)
    >>> display.observed[:3], bool(abs(display.expected.sum() - 60) < 1e-6)
    (array([16., 22.,  8.]), True)
    """

    def __init__(self, *, observed: ArrayLike, expected: ArrayLike, open_end: bool = False) -> None:
        self.observed = column(observed, None, name="observed")
        self.expected = column(expected, None, len(self.observed), "expected")
        if (self.observed < 0).any() or (self.expected < 0).any():
            raise ValueError("observed, expected: expected no negative frequencies")
        self.open_end = open_end

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the rootogram of a process whose likelihood is of counts.

        Parameters
        ----------
        estimator : GaussianProcessRegressor or Selected
            Fitted, with a likelihood of whole numbers, such as "poisson".
        target_name : str, optional
        units : dict of str to str, optional
            By names of the target.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : RootogramDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        model: Any = getattr(estimator, "best_estimator_", estimator)
        require_fitted(model)
        found = model.left_out_predictive() if hasattr(model, "left_out_predictive") else None
        if not isinstance(found, ObservedDistribution):
            raise TypeError('estimator: expected a process with a likelihood of counts, such as likelihood="poisson"')
        display = cls(**frequencies_of(found, model.kept_data()[1]))
        return display.plot(ax, target_name=name_of_target(target_name, None), units=units)

    def plot(self, ax: Axes | None = None, *, target_name: str = "y", units: Mapping[str, str] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        target_name, units
            As in `from_estimator`.

        Returns
        -------
        display : RootogramDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        is_new, self.ax_ = ax is None, panels(ax)[0]
        self.figure_ = self.ax_.figure
        counts = np.arange(len(self.observed))
        tops, lengths = np.sqrt(self.expected), np.sqrt(self.observed)
        self.band_ = self.ax_.axhspan(
            -_CHANCE, _CHANCE, color=foreground(), alpha=0.18, linewidth=0, label="95 % of bars end here by chance"
        )
        self.ax_.axhline(0.0, **faint(1.2))
        self.bars_ = self.ax_.bar(
            counts, lengths, bottom=tops - lengths, width=0.8, color=BLUE, alpha=0.65, label="observed, hanging"
        )
        (self.line_,) = self.ax_.plot(counts, tops, color=VERMILION, linewidth=1.8, marker="o", markersize=4, label="expected")
        self.ax_.locator_params(axis="x", integer=True)
        if self.open_end:
            last = len(counts) - 1
            ticks = [tick for tick in self.ax_.get_xticks() if 0 <= tick < 0.92 * last] + [last]
            self.ax_.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks[:-1]] + [f"≥ {last}"])
        self.ax_.set(xlim=(-0.7, len(counts) - 0.3), ylim=(min(-1.2 * _CHANCE, float((tops - lengths).min()) - 0.1), None))
        set_labels(self.ax_, named(target_name, units), "root of the number of points")
        self.legend_ = legend_below(self.ax_, [self.line_, self.bars_, self.band_], grow=is_new)
        return self


def frequencies_of(found: ObservedDistribution, y: ArrayLike) -> dict[str, Any]:
    """Return how often each count was observed and is expected, as arguments of :class:`RootogramDisplay`.

    Counts that are larger than 40 are taken together.
    """
    lower, upper, discrete = found.likelihood.outcomes
    if not discrete or lower != 0:
        raise ValueError(f"estimator: expected a likelihood of counts, got {type(found.likelihood).__name__}")
    values = np.asarray(y, dtype=np.float64)
    most = int(min(values.max(), _MOST))
    expected = found.frequencies(most)
    open_end = upper > most
    observed = np.bincount(np.minimum(values, most + 1).astype(int), minlength=most + 2).astype(np.float64)
    if not open_end:
        observed, expected = observed[:-1], expected[:-1]
    return {"observed": observed, "expected": np.maximum(expected, 0.0), "open_end": open_end}
