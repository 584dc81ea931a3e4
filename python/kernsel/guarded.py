"""Fitted models that one thread changes while others use them: what is computed belongs to one state of the model."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any, ParamSpec, TypeVar

__all__ = ["changes", "reads"]

P = ParamSpec("P")
R = TypeVar("R")

_CHANGING = "_changing_thread"  # the attribute that names the thread, while it is at it
_CHANGES = "_number_of_changes"


def changes(method: Callable[P, R]) -> Callable[P, R]:
    """Return the method, which changes a fitted model, for one thread at a time."""

    @wraps(method)
    def changing(*args: P.args, **kwargs: P.kwargs) -> R:
        model: Any = args[0]
        thread = get_ident()
        if vars(model).setdefault(_CHANGING, thread) != thread:  # one step, for all threads
            raise RuntimeError(
                f"{method.__name__}: another thread is changing this model, too; let one thread change it, or share a lock"
            )
        try:
            return method(*args, **kwargs)
        finally:
            vars(model)[_CHANGES] = vars(model).get(_CHANGES, 0) + 1
            vars(model).pop(_CHANGING, None)

    return changing


def reads(method: Callable[P, R]) -> Callable[P, R]:
    """Return the method, which computes with a fitted model, such that it begins again if the model has changed meanwhile."""

    @wraps(method)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        state = vars(args[0])
        while True:
            while state.get(_CHANGING, get_ident()) != get_ident():
                time.sleep(1e-4)
            before = state.get(_CHANGES, 0)
            failure: Exception | None = None
            try:
                result = method(*args, **kwargs)
            except Exception as error:
                failure = error
            if state.get(_CHANGES, 0) != before or state.get(_CHANGING, get_ident()) != get_ident():
                continue
            if failure is not None:
                raise failure
            return result

    return reading
