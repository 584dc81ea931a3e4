"""The rules that choose lambda along a path, as plots show them: a name, a colour and a marker for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kernsel._base.annotations import Vector
from kernsel._solve.path import RULES, RegularizationPath
from kernsel.plotting.styles import BLUE, GREEN, OCHRE, PINK, VERMILION, VIOLET, foreground
from kernsel.plotting.writing import short_number

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["STYLES", "RuleStyle", "choices_of", "drawn_alphas", "hollow", "mark_of", "mark_used", "rules_of"]


_MARGIN = 1e3  # the factor by which the drawn part of a path goes beyond the least and the greatest lambda that are marked


@dataclass(frozen=True)
class RuleStyle:
    """How a rule is drawn.

    Attributes
    ----------
    name : str
        The label in the legend.
    color, marker, line : str
    """

    name: str
    color: str
    marker: str
    line: str = "-"


STYLES = {
    "loo": RuleStyle("leave-one-out", BLUE, "o"),
    "gcv": RuleStyle("GCV", VERMILION, "s", "--"),
    "lml": RuleStyle("likelihood", GREEN, "^"),
    "profiled_lml": RuleStyle("likelihood", GREEN, "^"),
    "reml": RuleStyle("restricted likelihood", OCHRE, "v", "--"),
    "profiled_reml": RuleStyle("restricted likelihood", OCHRE, "v", "--"),
    "discrepancy": RuleStyle("discrepancy", PINK, "D"),
    "lcurve": RuleStyle("L-curve corner", VIOLET, "P"),
    "sure": RuleStyle("unbiased risk", PINK, "<", "-."),
    "quasi-optimality": RuleStyle("quasi-optimality", OCHRE, ">"),
}


def rules_of(path: RegularizationPath, rules: Sequence[str] | None, *, scale_known: bool) -> list[str]:
    """Return the rules to draw, which by default are the main ones that can be evaluated for this path.

    Parameters
    ----------
    path : RegularizationPath
    rules : sequence of str or None
    scale_known : bool
        Whether the kernel and lambda are variances. If not, likelihoods are taken at the best scale.
    """
    if rules is not None:
        names = [rules] if isinstance(rules, str) else list(rules)
        for rule in names:
            if rule not in RULES:
                raise ValueError(f"rules: expected some of {', '.join(RULES)}, got {rule!r}")
        return names
    likelihoods = ["lml", "reml"] if path.n_trend else ["lml"]  # which are equal without a trend
    if not scale_known:
        likelihoods = [f"profiled_{rule}" for rule in likelihoods]
    return ["loo", "gcv", *likelihoods, *(["discrepancy"] if path.noise_std is not None else []), "lcurve"]


def choices_of(path: RegularizationPath, rules: Sequence[str], tau: float) -> tuple[dict[str, float], dict[str, str]]:
    """Return the lambda that each rule chooses, and for those that choose none the reason."""
    alphas: dict[str, float] = {}
    problems: dict[str, str] = {}
    for rule in rules:
        try:
            alphas[rule] = path.best(rule, tau=tau)
        except ValueError as error:
            if rule not in ("discrepancy", "lcurve", "quasi-optimality") or "noise_std" in str(error).split(":")[0]:
                raise
            problems[rule] = str(error)
    return alphas, problems


def hollow(style: RuleStyle, size: float) -> dict[str, object]:
    """Return the properties of a hollow marker, which does not hide others at the same place."""
    return {
        "color": style.color,
        "marker": style.marker,
        "markersize": size,
        "markerfacecolor": "none",
        "markeredgewidth": 1.8,
    }


def mark_of(rule: str, alpha: float | None, *, line: bool) -> Line2D:
    """Return the entry of a rule in a legend, with the lambda that it chose, or "none"."""
    from matplotlib.lines import Line2D

    style = STYLES[rule]
    return Line2D(
        [],
        [],
        linestyle=style.line if line else "none",
        **(hollow(style, 7) | {"marker": "none" if alpha is None else style.marker}),
        label=f"{style.name}: {'none' if alpha is None else short_number(alpha)}",
    )


def mark_used(alpha: float) -> Line2D:
    """Return the entry of the model's lambda in a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=foreground(), linestyle=":", label=f"of the model: {short_number(alpha)}")


def drawn_alphas(path: RegularizationPath, marked: Sequence[float]) -> Vector:
    """Return the values of lambda at which to draw a path: around the marked ones, or over its whole range without any."""
    least, greatest = path.alphas.min(), path.alphas.max()
    if len(marked):
        least = max(1e-16 * path.largest_alpha, min(marked) / _MARGIN)
        greatest = max(marked) * _MARGIN
    return np.asarray(np.geomspace(least, greatest, 240))
