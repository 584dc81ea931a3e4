"""Names that raise an error which says what to use instead.

A name that is written here is understood nowhere, and refused with the same words wherever it may be given. Files of models
may hold it: reading them translates it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import NoReturn, ParamSpec, TypeVar

__all__ = [
    "CRITERIA",
    "CRITERION_CLASSES",
    "TOP_LEVEL",
    "RenamedAttribute",
    "refuse_criterion",
    "refuse_name_in_module",
    "refuses_arguments",
]

P = ParamSpec("P")
R = TypeVar("R")

CRITERIA = {"sure": "risk"}
CRITERION_CLASSES = {"Posterior": "MaximumAPosteriori"}

# Of the package: what has moved to a room of its own, and the classes of results, which users get from what returns them.
TOP_LEVEL = {
    "Cholesky": "what kernsel.linalg.cholesky returns",
    "Evaluation": "what kernsel.evaluate returns",
    "Interpolant": "what kernsel.linalg.minimum_norm_interpolant returns",
    "LeastSquaresLOO": "what kernsel.linalg.loo_least_squares returns",
    "LeaveOneOutFit": "what kernsel.loo returns",
    "NestedFold": "an entry of `folds` of what kernsel.nested_cv returns",
    "NestedResult": "what kernsel.nested_cv returns",
    "PathValues": "what the method at of kernsel.RegularizationPath returns",
    "Selected": "what kernsel.select returns",
    "cholesky": "kernsel.linalg.cholesky",
    "evaluation": "kernsel.evaluate, and kernsel.criteria.Workspace for the memory that evaluations share",
    "leverage": "kernsel.linalg.leverage",
    "loo_least_squares": "kernsel.linalg.loo_least_squares",
    "minimum_norm_interpolant": "kernsel.linalg.minimum_norm_interpolant",
    "power_function": "kernsel.linalg.power_function",
    "tables": "kernsel.study.tables",
}


def refuse_criterion(argument: str, name: object) -> None:
    """Raise ValueError if this is the refused name of a criterion, given as this argument."""
    if isinstance(name, str) and name in CRITERIA:
        raise ValueError(f'{argument}: "{name}" is called "{CRITERIA[name]}"')


def refuses_arguments(**renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator of functions that raises TypeError if an argument is given by a refused name."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for old, new in renamed.items():
                if old in kwargs:
                    raise TypeError(f"{old}: this argument is called {new}")
            return function(*args, **kwargs)

        return checked

    return decorate


class RenamedAttribute:
    """An attribute of a class whose name is refused: reading it raises AttributeError.

    Examples
    --------
    >>> class Model:
    ...     best_score_ = RenamedAttribute("criterion_value_")
    >>> hasattr(Model(), "best_score_")
    False
    """

    def __init__(self, new: str) -> None:
        self.new = new
        self.old = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.old = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"{self.old}: this attribute is called {self.new}")


def refuse_name_in_module(module: str, name: str, renamed: Mapping[str, str]) -> NoReturn:
    """Raise the AttributeError of a module that has no such name, with the name in use if this one is refused."""
    if name in renamed:
        raise AttributeError(f"{module}.{name}: is {renamed[name]}", name=name)
    raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
