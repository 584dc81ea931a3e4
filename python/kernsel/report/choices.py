"""The noise variance lambda that each rule chooses, with the kernel of the study's model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsel._solve.path import RegularizationPath
from kernsel.plotting import PathDisplay
from kernsel.plotting.rules import style_of
from kernsel.study import Study

__all__ = ["Choice", "Choices", "choices_of"]

_MANY, _SAMPLE = 3000, 1500  # rows whose path would take long, and how many of them it is then of


@dataclass(frozen=True)
class Choice:
    """The choice of one rule.

    Attributes
    ----------
    title : str
        The name of the rule.
    alpha : float
        The chosen lambda; nan if the rule chooses none.
    rmse : float
        The leave-one-out error with this lambda.
    dof : float
        The effective number of parameters with this lambda.
    problem : str
        The reason if the rule chooses none.
    """

    title: str
    alpha: float
    rmse: float
    dof: float
    problem: str = ""


@dataclass(frozen=True)
class Choices:
    """The regularization path of the chosen kernel, the place of the model on it, and the choice of each rule.

    Attributes
    ----------
    path : RegularizationPath
    model : Choice or None
        None if the model's noise is zero.
    rules : dict of str to Choice
    rows : int
        The number of rows that the path is of.
    """

    path: RegularizationPath
    model: Choice | None
    rules: dict[str, Choice]
    rows: int

    @property
    def alpha(self) -> float | None:
        """The lambda of the model."""
        return None if self.model is None else self.model.alpha


def choices_of(study: Study) -> Choices:
    """Return the choice of each rule; of many rows for a random sample, since a path takes all eigenvalues of their matrix."""
    n = len(study.process.X_train_)
    rows = np.arange(n) if n <= _MANY else np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))
    of_model = study.process.regularization_path(rows=rows)
    path, alpha = of_model.path, of_model.alpha
    display = PathDisplay(path=path, alpha=alpha, scale_known=of_model.scale_known)
    rules = {}
    for rule in display.rules:
        title = style_of(rule).name
        if rule in display.choices_:
            rules[rule] = _choice(path, title, display.choices_[rule])
        else:
            rules[rule] = Choice(title, np.nan, np.nan, np.nan, display.problems_[rule].removeprefix(f"{rule}: "))
    return Choices(path, None if alpha is None else _choice(path, "the model", alpha), rules, len(rows))


def _choice(path: RegularizationPath, title: str, alpha: float) -> Choice:
    values = path.at(alpha)
    return Choice(title, float(alpha), float(np.sqrt(values.loo[0])), float(values.effective_dof[0]))
