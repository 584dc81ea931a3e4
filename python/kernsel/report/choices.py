"""What each rule would choose for lambda, the noise, with the kernel that the study has chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel.path import PathValues, RegularizationPath
from kernsel.study import Study

__all__ = ["Choice", "Choices", "choices_of"]

_POINTS = 160  # of each curve
_BEYOND = 30.0  # times the smallest and the largest choice that is shown


@dataclass(frozen=True)
class Choice:
    """What one rule chooses.

    Attributes
    ----------
    rule : str
        As :meth:`kernsel.RegularizationPath.best` has it, or "model".
    title : str
    alpha : float
        nan if the rule chooses none.
    rmse : float
        Leave-one-out error with it.
    dof : float
        Effective number of parameters with it.
    problem : str
        Why the rule chooses none.
    """

    rule: str
    title: str
    alpha: float
    rmse: float
    dof: float
    problem: str = ""


@dataclass(frozen=True)
class Choices:
    """The choices of all rules, the model's own first, and the curves around them."""

    choices: list[Choice]
    path: RegularizationPath
    curves: PathValues
    likelihood: str  # the name of its curve


def choices_of(study: Study) -> Choices | None:
    """Return what each rule chooses; None if the noise differs from point to point, and is not one number to choose."""
    model = study.model
    noise = np.unique(model.noise_)
    if len(noise) > 1:
        return None
    own = float(noise[0] + model.jitter_)
    trend = model._conditional.H
    restricted = trend.shape[1] > 0
    path = RegularizationPath(
        model.kernel_,
        model.y_train_,
        X=model.X_train_,
        noise_std=float(np.sqrt(own)) if own > 0 else None,
        trend=trend if restricted else None,
    )
    rules = [
        ("loo", "leave-one-out"),
        ("gcv", "GCV"),
        ("reml", "restricted likelihood") if restricted else ("lml", "likelihood"),
        ("discrepancy", "discrepancy"),
        ("lcurve", "L-curve corner"),
    ]
    found = [_at(path, "model", "the model", own)] if own > 0 else []
    for rule, title in rules:
        try:
            found.append(_at(path, rule, title, path.best(rule)))
        except ValueError as error:  # there is no such lambda
            found.append(Choice(rule, title, np.nan, np.nan, np.nan, str(error).split(": ", 1)[-1]))
    least, largest = path.alphas[[0, -1]]
    # A rule that ends far from all others would leave no room for them.
    inside = [c.alpha for c in found if least <= c.alpha <= largest] or [least, largest]
    shown = np.geomspace(max(min(inside) / _BEYOND, 1e-4 * least), min(max(inside) * _BEYOND, largest), _POINTS)
    return Choices(found, path, path.at(shown), "restricted_log_likelihood" if restricted else "log_likelihood")


def _at(path: RegularizationPath, rule: str, title: str, alpha: float) -> Choice:
    values = path.at(alpha)
    return Choice(rule, title, float(alpha), float(np.sqrt(values.loo[0])), float(values.effective_dof[0]))
