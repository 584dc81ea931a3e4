"""The L-curve: the norm of the function against the norm of the residual, for all lambda."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from kernsel._solve.path import RegularizationPath
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import panels, require_matplotlib
from kernsel.plotting.path_of_model import path_of_model
from kernsel.plotting.rules import choices_of, drawn_alphas, hollow, mark_of, mark_used, rules_of, style_of
from kernsel.plotting.styles import faint, foreground
from kernsel.plotting.writing import legend_below, named, plain_numbers_if_few, set_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["LCurveDisplay"]


class LCurveDisplay:
    """The L-curve of a regularization path, with the choices of rules marked on it.

    Along the curve lambda grows from the top left, where the function interpolates the data, to the bottom right, where it
    ignores them. Dots are a factor of ten in lambda apart.

    Parameters
    ----------
    path : RegularizationPath
    alpha : float, optional
        The lambda of a model, which is marked, too.
    rules : sequence of str, optional
        Rules of :meth:`kernsel.RegularizationPath.best`. By default leave-one-out, GCV, likelihoods, the discrepancy principle
        if the path knows the noise, and the corner.
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
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The curve.
    decades_ : matplotlib Line2D
        The dots.
    marks_ : dict of str to matplotlib Line2D
        The choices, by rule, and "model".
    legend_ : matplotlib Legend

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 80).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80)
    >>> model = ks.KernelRidgeCV(ks.kernels.RBF(1.0), criterion="lcurve").fit(X, y)
    >>> display = ks.plotting.LCurveDisplay.from_estimator(model)
    >>> bool(np.isclose(display.choices_["lcurve"], model.alpha_))
    True
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
        ax: Axes | None = None,
        line_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw the L-curve of an estimator.

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
        ax : matplotlib Axes, optional
        line_kwargs : dict, optional
            Properties of the curve, as in `plot` of matplotlib.

        Returns
        -------
        display : LCurveDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        found = path_of_model(estimator, X, y, output)
        display = cls(path=found.path, alpha=found.alpha, rules=rules, tau=tau, scale_known=found.scale_known)
        return display.plot(ax, target_name=target_name, units=units, line_kwargs=line_kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        line_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        target_name, units, line_kwargs
            As in `from_estimator`.

        Returns
        -------
        display : LCurveDisplay
        """
        require_matplotlib(f"{type(self).__name__}.plot")
        new, ax = ax is None, panels(ax)[0]
        alphas = drawn_alphas(self.path, [*self.choices_.values(), *([] if self.alpha is None else [self.alpha])])
        curve = self.path.at(alphas)
        shown = (curve.residual_norm > 0) & (curve.seminorm > 0)  # the part that has logarithms
        style = {"color": foreground(), "linewidth": 1.6, "alpha": 0.75} | dict(line_kwargs or {})
        (self.line_,) = ax.plot(curve.residual_norm[shown], curve.seminorm[shown], **style)
        decades = 10.0 ** np.arange(np.ceil(np.log10(alphas[shown][0])), np.log10(alphas[shown][-1]))
        handles: list[Line2D] = []
        if len(decades):
            points = self.path.at(decades)
            dots = {"color": foreground(), "marker": ".", "linestyle": "none", "markersize": 5}
            (self.decades_,) = ax.plot(points.residual_norm, points.seminorm, label="λ is a power of ten", **dots)
            handles.append(self.decades_)
        self.marks_: dict[str, Line2D] = {}
        for size, (rule, alpha) in zip(np.linspace(14, 6, len(self.choices_)), self.choices_.items(), strict=True):
            point = self.path.at(alpha)
            style_of_rule = hollow(style_of(rule), size)
            (self.marks_[rule],) = ax.plot(point.residual_norm, point.seminorm, linestyle="none", zorder=3, **style_of_rule)
        if self.alpha is not None:
            point = self.path.at(self.alpha)
            self.marks_["model"] = ax.axvline(float(point.residual_norm[0]), **faint(1.2, ":"))
            handles.insert(0, mark_used(self.alpha))
        handles = [mark_of(rule, self.choices_.get(rule), line=False) for rule in self.rules] + handles
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            plain_numbers_if_few(axis)
        name = target_name or "y"
        unit = named(name, units).removeprefix(name)
        set_labels(ax, f"norm of the residual of {name}{unit}", "norm of the function")
        self.legend_ = legend_below(ax, handles, "λ chosen by", grow=new)
        self.ax_, self.figure_ = ax, ax.figure
        return self
