"""What each rule would choose for lambda, the noise, with the kernel that the study has chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel.path import RegularizationPath
from kernsel.plotting import PathDisplay
from kernsel.plotting.path_of_model import path_of_model
from kernsel.plotting.rules import STYLES
from kernsel.study import Study

__all__ = ["Choice", "Choices", "choices_of"]


@dataclass(frozen=True)
class Choice:
    """What one rule chooses.

    Attributes
    ----------
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

    title: str
    alpha: float
    rmse: float
    dof: float
    problem: str = ""


@dataclass(frozen=True)
class Choices:
    """The path of the chosen kernel, where the model is on it, and what each rule chooses.

    Attributes
    ----------
    path : RegularizationPath
    model : Choice or None
        None if there is no noise, not even as much as rounding needs.
    rules : dict of str to Choice
    """

    path: RegularizationPath
    model: Choice | None
    rules: dict[str, Choice]

    @property
    def alpha(self) -> float | None:
        """The lambda of the model."""
        return None if self.model is None else self.model.alpha


def choices_of(study: Study) -> Choices:
    """Return what each rule chooses."""
    of = path_of_model(study.model, None, None, 0)
    found = PathDisplay(path=of.path, alpha=of.alpha, scale_known=of.scale_known)
    rules = {}
    for rule in found.rules:
        title = STYLES[rule].name
        if rule in found.choices_:
            rules[rule] = _choice(of.path, title, found.choices_[rule])
        else:
            rules[rule] = Choice(title, np.nan, np.nan, np.nan, found.problems_[rule].removeprefix(f"{rule}: "))
    model = None if of.alpha is None else _choice(of.path, "the model", of.alpha)
    return Choices(of.path, model, rules)


def _choice(path: RegularizationPath, title: str, alpha: float) -> Choice:
    values = path.at(alpha)
    return Choice(title, float(alpha), float(np.sqrt(values.loo[0])), float(values.effective_dof[0]))
