"""The L-curve: the size of the function against the size of the residual, for all lambda."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kernsel.path import PathValues, RegularizationPath
from kernsel.plotting.figures import (
    faint,
    foreground,
    legend_below,
    named,
    panels,
    plain_numbers_if_few,
    require_matplotlib,
    set_labels,
)
from kernsel.plotting.path_of_model import path_of_model
from kernsel.plotting.rules import STYLES, choices_of, drawn_alphas, hollow, mark_of, mark_used, rules_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LCurveDisplay"]


class LCurveDisplay:
    """The L-curve of a regularization path, with the choices of rules marked on it.

    Along the curve lambda goes from small, at the top left, where the function follows every point, to large, at the bottom
    right, where it follows none. Dots are a factor of ten in lambda apart.

    Parameters
    ----------
    path : RegularizationPath
    alpha : float, optional
        The lambda of a model, marked, too.
    rules : sequence of str, optional
        Of :meth:`kernsel.RegularizationPath.best`. By default leave-one-out, GCV, likelihoods, the discrepancy principle if
        the path knows the noise, and the corner.
    tau : float
        Of the discrepancy principle.
    scale_known : bool
        Are kernel and lambda variances, as in a Gaussian process? If not, likelihoods are taken at the best scale.

    Attributes
    ----------
    choices_ : dict of str to float
        The lambda of each rule.
    problems_ : dict of str to str
        Why rules have chosen none.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The curve.
    decades_ : matplotlib Line2D
        The dots.
    marks_ : dict of str to matplotlib Line2D
        By rule, and "model".
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
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        rules: Sequence[str] | None = None,
        tau: float = 1.0,
        output: int = 0,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: Axes | None = None,
        line_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the L-curve of an estimator.

        Parameters
        ----------
        estimator : GaussianProcessRegressor, KernelRidge, KernelRidgeCV, RidgeRegression or Selected
            Fitted. Of a Gaussian process, the kernel without noise, and its noise as what is known of it.
        X, y : array-like, optional
            The training data. Those of a Gaussian process are known; others need `y`, unless they have chosen lambda along a
            path.
        rules, tau
            As above.
        output : int
            Which target, where each has a lambda of its own.
        target_name : str, optional
        units : dict of str to str, optional
            By names of the target.
        ax : matplotlib Axes, optional
        line_kwargs : dict, optional
            For the curve, as in `plot` of matplotlib.

        Returns
        -------
        display : LCurveDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        of = path_of_model(estimator, X, y, output)
        display = cls(path=of.path, alpha=of.alpha, rules=rules, tau=tau, scale_known=of.scale_known)
        return display.plot(ax, target_name=target_name, units=units, line_kwargs=line_kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        line_kwargs: Mapping[str, Any] | None = None,
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
        shown = _seen(curve)
        style = {"color": foreground(), "linewidth": 1.6, "alpha": 0.75} | dict(line_kwargs or {})
        (self.line_,) = ax.plot(curve.residual_norm[shown], curve.seminorm[shown], **style)
        decades = 10.0 ** np.arange(np.ceil(np.log10(alphas[shown][0])), np.log10(alphas[shown][-1]))
        handles: list[Any] = []
        if len(decades):
            at = self.path.at(decades)
            dots = {"color": foreground(), "marker": ".", "linestyle": "none", "markersize": 5}
            (self.decades_,) = ax.plot(at.residual_norm, at.seminorm, label="λ is a power of ten", **dots)
            handles.append(self.decades_)
        self.marks_: dict[str, Any] = {}
        for size, (rule, alpha) in zip(np.linspace(14, 6, len(self.choices_)), self.choices_.items(), strict=True):
            here = self.path.at(alpha)
            look = hollow(STYLES[rule], size)
            (self.marks_[rule],) = ax.plot(here.residual_norm, here.seminorm, linestyle="none", zorder=3, **look)
        if self.alpha is not None:
            here = self.path.at(self.alpha)
            self.marks_["model"] = ax.axvline(float(here.residual_norm[0]), **faint(1.2, ":"))
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


def _seen(curve: PathValues) -> Any:
    """Return which part of the curve has a logarithm."""
    return (curve.residual_norm > 0) & (curve.seminorm > 0)
