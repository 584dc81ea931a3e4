"""Criteria along the regularization path, and the lambda that each rule chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernsel._base.annotations import Vector
from kernsel._solve.path import PathValues, RegularizationPath
from kernsel.criteria.table import TABLE
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.path_of_model import path_of_model
from kernsel.plotting.rules import choices_of, drawn_alphas, hollow, mark_of, mark_used, rules_of, style_of
from kernsel.plotting.styles import faint, foreground
from kernsel.plotting.writing import legend_below, named, set_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axes._secondary_axes import SecondaryAxis
    from matplotlib.lines import Line2D

    from kernsel.plotting.figures import AxesLike

__all__ = ["PathDisplay"]

_DEPTH = 1.0  # the range of the axis of log likelihoods per point, below the best
_HEIGHT = 3.0  # the range of the axis of errors, as a multiple of the least
_ROUND_NUMBERS = np.outer(10.0 ** np.arange(7), [1, 2, 5]).ravel()


class PathDisplay:
    """Criteria for all values of lambda, with the choice of each rule marked.

    The upper panel has errors, in the unit of the target: the root mean squared leave-one-out error, the root of the criterion
    GCV, and the root mean square of the residual, which crosses the level of the noise at the choice of the discrepancy
    principle. Rules without a curve (discrepancy, L-curve corner, quasi-optimality) are marked on the residual. The lower panel
    has log likelihoods per point, less the best one. The upper axis has the effective degrees of freedom.

    Parameters
    ----------
    path : RegularizationPath
    alpha : float, optional
        The lambda of a model, which is marked, too.
    rules : sequence of str, optional
        Rules of :meth:`kernsel.RegularizationPath.best`. By default leave-one-out, GCV, likelihoods, the discrepancy principle
        if the path knows the noise, and the corner of the L-curve.
    tau : float
        The factor of the discrepancy principle.
    scale_known : bool
        Whether the kernel and lambda are variances, as in a Gaussian process. If not, likelihoods are taken at the best scale.

    Attributes
    ----------
    choices_ : dict of str to float
        The lambda of each rule.
    problems_ : dict of str to str
        For rules that chose none, the reason.
    ax_ : matplotlib Axes
        The upper panel.
    axes_ : ndarray of matplotlib Axes
        All panels.
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
        The curves, by rule, and "residual".
    marks_ : dict of str to matplotlib Line2D
        The choices, by rule, and "model", a line in each panel.
    dof_axis_ : matplotlib secondary axis
    legend_ : matplotlib Legend

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 80).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80)
    >>> model = ks.GaussianProcessRegressor(noise="auto").fit(X, y)
    >>> display = ks.plotting.PathDisplay.from_estimator(model)
    >>> list(display.choices_)
    ['loo', 'gcv', 'lml', 'reml', 'discrepancy', 'lcurve']
    """

    def __init__(
        self,
        *,
        path: RegularizationPath,
        alpha: float | None = None,
        rules: Sequence[str] | None = None,
        tau: float = 1.0,
        scale_known: bool = False,
    ) -> None:
        self.path = path
        self.alpha = alpha
        self.rules = rules_of(path, rules, scale_known=scale_known)
        self.tau = tau
        self.choices_, self.problems_ = choices_of(path, self.rules, tau)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        rules: Sequence[str] | None = None,
        tau: float = 1.0,
        output: int = 0,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: AxesLike = None,
    ) -> Self:
        """Draw the criteria of an estimator.

        Parameters
        ----------
        estimator : GaussianProcessRegressor, KernelRidge, KernelRidgeCV, RidgeRegression or Selected
            Fitted. The path of a Gaussian process is that of its kernel without noise, and it knows the noise.
        X, y : array-like, optional
            The training data. A Gaussian process keeps them; others need `y`, unless they have chosen lambda along a path.
        rules, tau
            As above.
        output : int
            The index of the target, where each target has its own lambda.
        target_name : str, optional
        units : dict of str to str, optional
            The unit of the target, by its name.
        ax : matplotlib Axes, or two of them, optional
            One is divided into two.

        Returns
        -------
        display : PathDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        found = path_of_model(estimator, X, y, output)
        display = cls(path=found.path, alpha=found.alpha, rules=rules, tau=tau, scale_known=found.scale_known)
        return display.plot(ax, target_name=target_name, units=units)

    def plot(self, ax: AxesLike = None, *, target_name: str | None = None, units: Mapping[str, str] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them, optional
            A new figure by default.
        target_name, units
            As in `from_estimator`.

        Returns
        -------
        display : PathDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        likelihoods = [rule for rule in self.rules if TABLE[rule].is_likelihood]
        new, axes = ax is None, panels(ax, 2 if likelihoods else 1, height=1.35 if likelihoods else 1.1, sharex=True)
        alphas = drawn_alphas(self.path, [*self.choices_.values(), *([] if self.alpha is None else [self.alpha])])
        curves = self.path.at(alphas)
        self.lines_: dict[str, Line2D] = {}
        self.marks_: dict[str, Line2D | list[Line2D]] = {}
        self._draw_errors(axes[0], curves, [rule for rule in self.rules if rule not in likelihoods])
        name = target_name or "y"
        set_labels(axes[0], "", f"error of {named(name, units)}")
        if likelihoods:
            self._draw_likelihoods(axes[1], curves, likelihoods)
            set_labels(axes[1], "", "log likelihood per point, below the best")
        if self.alpha is not None:
            self.marks_["model"] = [one.axvline(self.alpha, **faint(1.2, ":")) for one in axes]
        axes[0].set_xscale("log")
        axes[0].set_xlim(alphas[0], alphas[-1])
        for one in axes[:-1]:
            one.tick_params(labelbottom=False)
        axes[-1].set_xlabel("λ")
        self.dof_axis_ = _with_degrees_of_freedom(axes[0], alphas, curves.effective_dof)
        handles = [mark_of(rule, self.choices_.get(rule), line=rule in self.lines_) for rule in self.rules]
        handles.append(self.lines_["residual"])
        if self.path.sigma is not None:
            handles.append(self.noise_)
        if self.alpha is not None:
            handles.append(mark_used(self.alpha))
        self.legend_ = legend_below(axes[-1], handles, "λ chosen by", grow=new)
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self

    def _draw_errors(self, ax: Axes, curves: PathValues, rules: Sequence[str]) -> None:
        """Draw root mean squares, which are in the unit of the target."""
        residual = _residual(self.path, curves)
        (self.lines_["residual"],) = ax.plot(
            curves.alphas, residual, color=foreground(), alpha=0.75, linewidth=1.2, label="residual (root mean square)"
        )
        if self.path.sigma is not None:
            self.noise_ = ax.axhline(self.path.sigma, label="noise (standard deviation)", **faint(1.0, (0, (6, 3))))
        best, most = [self.path.sigma or 0.0], [float(residual.max())]
        for rule in rules:
            style, values = style_of(rule), _error(self.path, curves, rule)
            if values is not None:
                (self.lines_[rule],) = ax.plot(curves.alphas, values, color=style.color, linestyle=style.line, linewidth=1.8)
                best.append(float(values.min()))
                most.append(float(values[-1]))
            if rule in self.choices_:
                choice = self.path.at(self.choices_[rule])
                error = _error(self.path, choice, rule)
                height = float((error if error is not None else _residual(self.path, choice))[0])
                self._mark(ax, rule, height)
                best.append(height)
        top = min(1.08 * max(most), _HEIGHT * max(best))
        ax.set_ylim(-0.03 * top, top)

    def _draw_likelihoods(self, ax: Axes, curves: PathValues, rules: Sequence[str]) -> None:
        lowest = 0.0
        for rule in rules:
            style, choice = style_of(rule), self.path.at(self.choices_[rule])
            top = float(_likelihood(choice, rule)[0])
            values = (_likelihood(curves, rule) - top) / self.path.n_points
            (self.lines_[rule],) = ax.plot(curves.alphas, values, color=style.color, linestyle=style.line, linewidth=1.8)
            self._mark(ax, rule, 0.0)
            lowest = min(lowest, float(values.min()))
        depth = min(_DEPTH, -lowest) or _DEPTH
        ax.set_ylim(-1.05 * depth, 0.12 * depth)

    def _mark(self, ax: Axes, rule: str, value: float) -> None:
        (mark,) = ax.plot(self.choices_[rule], value, linestyle="none", zorder=3, **hollow(style_of(rule), 8))
        self.marks_[rule] = mark


def _residual(path: RegularizationPath, values: PathValues) -> Vector:
    return np.asarray(values.residual_norm / (path.n_points * path.n_targets) ** 0.5)


def _error(path: RegularizationPath, values: PathValues, rule: str) -> Vector | None:
    """Return the root mean squared error that a rule minimizes; None for rules that minimize something else."""
    row = TABLE[rule]
    if not row.for_search or row.is_likelihood:
        return None
    squares = getattr(values, row.curve)
    if rule == "risk" and path.sigma is not None:  # the error for new observations at the same points
        squares = np.maximum(squares + path.sigma**2, 0.0)
    return np.asarray(np.sqrt(squares))


def _likelihood(values: PathValues, rule: str) -> Vector:
    return np.asarray(getattr(values, TABLE[rule].curve))


def _with_degrees_of_freedom(ax: Axes, alphas: Vector, dof: Vector) -> SecondaryAxis:
    """Add an upper axis with round numbers of degrees of freedom, as many as do not overlap."""
    from matplotlib.ticker import NullLocator

    upper = ax.secondary_xaxis("top")
    increasing = dof[::-1]
    places, labels = [], []
    span, least_gap = np.log(alphas[-1] / alphas[0]), 0.16
    last = np.inf
    for number in _ROUND_NUMBERS:
        if not increasing[0] < number < increasing[-1]:
            continue
        place = float(np.interp(number, increasing, np.log(alphas[::-1])))
        if last - place > least_gap * span and place - np.log(alphas[0]) > 0.03 * span:
            places.append(np.exp(place))
            labels.append(f"{number:.0f}")
            last = place
    upper.set_xticks(places, labels)
    upper.xaxis.set_minor_locator(NullLocator())
    upper.set_xlabel("effective degrees of freedom")
    return upper
