"""The rules that choose lambda along a path, as plots show them: a name, a colour and a marker for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kernsel._base.annotations import Vector
from kernsel._solve.path import RegularizationPath
from kernsel.criteria.names import along_path, needs, require_name, with_free_scale
from kernsel.criteria.table import TABLE
from kernsel.plotting.styles import BLUE, GREEN, OCHRE, PINK, VERMILION, VIOLET, foreground
from kernsel.plotting.writing import short_number

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["RuleStyle", "choices_of", "drawn_alphas", "hollow", "mark_of", "mark_used", "rules_of", "style_of"]

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
    line: str


_LOOKS = {
    "loo": (BLUE, "o", "-"),
    "gcv": (VERMILION, "s", "--"),
    "lml": (GREEN, "^", "-"),
    "profiled_lml": (GREEN, "^", "-"),
    "reml": (OCHRE, "v", "--"),
    "profiled_reml": (OCHRE, "v", "--"),
    "discrepancy": (PINK, "D", "-"),
    "lcurve": (VIOLET, "P", "-"),
    "risk": (PINK, "<", "-."),
    "quasi-optimality": (OCHRE, ">", "-"),
}
_OTHER = (VIOLET, "X", ":")  # a rule that has no colour of its own


def style_of(rule: str) -> RuleStyle:
    """Return how a rule is drawn, and what it is called in legends."""
    return RuleStyle(TABLE[rule].short, *_LOOKS.get(rule, _OTHER))


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
            require_name(rule, along_path(), argument="rules", how_many="some")
        return names
    likelihoods = ["lml", "reml"] if path.n_trend else ["lml"]  # which are equal without a trend
    if not scale_known:
        likelihoods = [with_free_scale(rule) for rule in likelihoods]
    return ["loo", "gcv", *likelihoods, *(["discrepancy"] if path.sigma is not None else []), "lcurve"]


def choices_of(path: RegularizationPath, rules: Sequence[str], tau: float) -> tuple[dict[str, float], dict[str, str]]:
    """Return the lambda that each rule chooses, and for those that choose none the reason."""
    alphas: dict[str, float] = {}
    problems: dict[str, str] = {}
    for rule in rules:
        try:
            alphas[rule] = path.best(rule, tau=tau)
        except ValueError as error:
            if TABLE[rule].for_search or (needs(rule, "sigma") and path.sigma is None):
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

    style = style_of(rule)
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
