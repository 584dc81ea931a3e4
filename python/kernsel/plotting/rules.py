"""The rules that choose lambda along a path, as plots show them: a name, a colour and a marker for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernsel.path import RULES, RegularizationPath
from kernsel.plotting.styles import BLUE, GREEN, OCHRE, PINK, VERMILION, VIOLET, foreground
from kernsel.plotting.writing import short_number

__all__ = ["STYLES", "RuleStyle", "choices_of", "drawn_alphas", "hollow", "mark_of", "mark_used", "rules_of"]


_BEYOND = 1e3  # times the least and the greatest lambda that is marked: what is drawn of a path


@dataclass(frozen=True)
class RuleStyle:
    """How a rule is drawn.

    Attributes
    ----------
    name : str
        For the legend.
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
    """Return the rules to show: those asked for, or all that are no variants of others and can be told for this path.

    Parameters
    ----------
    path : RegularizationPath
    rules : sequence of str or None
    scale_known : bool
        Does the kernel have an amplitude, and lambda the size of the noise? If not, likelihoods are taken at the best scale.
    """
    if rules is not None:
        chosen = [rules] if isinstance(rules, str) else list(rules)
        for rule in chosen:
            if rule not in RULES:
                raise ValueError(f"rules: expected some of {', '.join(RULES)}, got {rule!r}")
        return chosen
    likelihoods = ["lml", "reml"] if path.n_trend else ["lml"]  # without a trend both are the same
    if not scale_known:
        likelihoods = [f"profiled_{rule}" for rule in likelihoods]
    return ["loo", "gcv", *likelihoods, *(["discrepancy"] if path.noise_std is not None else []), "lcurve"]


def choices_of(path: RegularizationPath, rules: Sequence[str], tau: float) -> tuple[dict[str, float], dict[str, str]]:
    """Return the lambda of each rule, and why others found none."""
    found: dict[str, float] = {}
    problems: dict[str, str] = {}
    for rule in rules:
        try:
            found[rule] = path.best(rule, tau=tau)
        except ValueError as error:
            if rule not in ("discrepancy", "lcurve", "quasi-optimality") or "noise_std" in str(error).split(":")[0]:
                raise
            problems[rule] = str(error)
    return found, problems


def hollow(style: RuleStyle, size: float) -> dict[str, Any]:
    """Return the looks of a mark that does not hide others at the same place."""
    return {
        "color": style.color,
        "marker": style.marker,
        "markersize": size,
        "markerfacecolor": "none",
        "markeredgewidth": 1.8,
    }


def mark_of(rule: str, alpha: float | None, *, line: bool) -> Any:
    """Return what stands for a rule in a legend, with the lambda that it chose, or "none"."""
    from matplotlib.lines import Line2D

    style = STYLES[rule]
    return Line2D(
        [],
        [],
        linestyle=style.line if line else "none",
        **(hollow(style, 7) | {"marker": "none" if alpha is None else style.marker}),
        label=f"{style.name}: {'none' if alpha is None else short_number(alpha)}",
    )


def mark_used(alpha: float) -> Any:
    """Return what stands for the lambda of the model in a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=foreground(), linestyle=":", label=f"of the model: {short_number(alpha)}")


def drawn_alphas(path: RegularizationPath, marked: Sequence[float]) -> NDArray[np.float64]:
    """Return the values of lambda to draw a path at: around those that are marked, all of it if there are none."""
    least, greatest = path.alphas.min(), path.alphas.max()
    if len(marked):
        least = max(1e-16 * path.largest_alpha, min(marked) / _BEYOND)
        greatest = max(marked) * _BEYOND
    return np.asarray(np.geomspace(least, greatest, 240))
