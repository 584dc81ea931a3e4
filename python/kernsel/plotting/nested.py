"""Nested cross-validation, fold by fold: the scores of selections, and what they were selected by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.styles import BLUE, OCHRE, faint
from kernsel.plotting.writing import legend_below, set_labels, short_number
from kernsel.study.nested import NestedResult

if TYPE_CHECKING:
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

    from kernsel.plotting.figures import AxesLike

__all__ = ["NestedDisplay"]


class NestedDisplay:
    """The score of each outer fold of :func:`kernsel.nested_cv`, their mean and standard deviation, and the inner scores.

    A search of scikit-learn selects by scores of the same kind, which are drawn as hollow marks beside the outer ones: where
    they are better, they are too optimistic. An estimator that selects by a criterion has other values, which are in a lower
    panel.

    Parameters
    ----------
    result : NestedResult
    score : str, optional
        The name of one of the scores; the first by default.

    Attributes
    ----------
    optimism_ : float
        The mean inner score less the mean outer one; nan if they are of different kinds, or there are no inner ones.
    ax_ : matplotlib Axes
        The upper panel.
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure
    outer_, inner_ : matplotlib Line2D
        The scores of the folds; None for inner ones that there are not.
    mean_ : matplotlib Line2D
    band_ : matplotlib artist or None
    legend_ : matplotlib Legend

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (60, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    >>> model = ks.KernelRidge(ks.kernels.RBF(1.0))
    >>> result = ks.nested_cv(model, X, y, param_grid={"alpha": [1e-8, 1e-2, 1e2]}, outer=4)
    >>> display = ks.plotting.NestedDisplay.from_result(result)
    >>> len(display.outer_.get_ydata()), bool(abs(display.optimism_) < 0.1)
    (4, True)
    """

    def __init__(self, *, result: NestedResult, score: str | None = None) -> None:
        if not isinstance(result, NestedResult):
            raise TypeError(f"result: expected what kernsel.nested_cv returns, got {type(result).__name__}")
        self.result = result
        self.score = next(iter(result.scores)) if score is None else score
        if self.score not in result.scores:
            raise ValueError(f"score: expected one of {', '.join(result.scores)}, got {score!r}")
        # A search selects by the first score.
        self._same_kind = "SearchCV" in result.selection and self.score == next(iter(result.scores))
        inner = result.inner_scores
        self._has_inner = bool(np.isfinite(inner).any())
        self.optimism_ = float(np.mean(inner)) - result.mean[self.score] if self._same_kind else float("nan")

    @classmethod
    def from_result(cls, result: NestedResult, *, score: str | None = None, ax: AxesLike = None) -> Self:
        """Draw what :func:`kernsel.nested_cv` has returned.

        Parameters
        ----------
        result : NestedResult
        score : str, optional
            As above.
        ax : matplotlib Axes, or two of them if the inner values are of another kind, optional
            One is divided.

        Returns
        -------
        display : NestedDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_result")
        return cls(result=result, score=score).plot(ax)

    def plot(self, ax: AxesLike = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them, optional
            A new figure by default.

        Returns
        -------
        display : NestedDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        below = self._has_inner and not self._same_kind
        new, axes = ax is None, panels(ax, 2 if below else 1, height=1.3 if below else 1.0, sharex=True)
        scores, inner = self.result.scores[self.score], self.result.inner_scores
        folds = np.arange(1, len(scores) + 1)
        mean, std = self.result.mean[self.score], self.result.std[self.score]
        marks = {"linestyle": "none", "markersize": 7}
        self.inner_: Line2D | None = None
        self.band_: PolyCollection | None = None
        if np.isfinite(std):
            label = f"standard deviation: {short_number(std)}"
            self.band_ = axes[0].axhspan(mean - std, mean + std, color=BLUE, alpha=0.15, linewidth=0, label=label)
        self.mean_ = axes[0].axhline(mean, **faint(1.4), label=f"mean: {short_number(mean)}")
        if self._has_inner:
            where = axes[-1]
            if self._same_kind:
                where.vlines(folds, np.minimum(scores, inner), np.maximum(scores, inner), **faint(0.9))
            style = {"color": OCHRE, "marker": "s", "markerfacecolor": "none", "markeredgewidth": 1.6, **marks}
            label = "best score inside" if self._same_kind else "criterion inside"
            (self.inner_,) = where.plot(folds, inner, label=label, **style)
        (self.outer_,) = axes[0].plot(folds, scores, color=BLUE, marker="o", label="fold that is left out", zorder=3, **marks)
        axes[-1].set_xticks(folds)
        axes[-1].set_xlim(0.5, len(folds) + 0.5)
        for one in axes[:-1]:
            one.tick_params(labelbottom=False)
        if below:
            set_labels(axes[1], "outer fold", "criterion inside")
        set_labels(axes[0], "" if below else "outer fold", self.score)
        handles = [self.outer_, self.inner_, self.mean_, self.band_]
        self.legend_ = legend_below(axes[-1], [one for one in handles if one is not None], grow=new)
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self
