"""Guards for fitted models that one thread changes while others use them: each result belongs to one state of the model."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import ParamSpec, TypeVar

__all__ = ["changes", "reads"]

P = ParamSpec("P")
R = TypeVar("R")

_CHANGING = "_changing_thread"  # the attribute with the thread that is changing the model
_CHANGES = "_number_of_changes"  # the attribute that counts the changes


def changes(method: Callable[P, R]) -> Callable[P, R]:
    """Wrap a method that changes a fitted model: RuntimeError if another thread is changing the model at the same time."""

    @wraps(method)
    def changing(*args: P.args, **kwargs: P.kwargs) -> R:
        state = vars(args[0])
        thread = get_ident()
        if state.setdefault(_CHANGING, thread) != thread:  # setdefault is atomic
            raise RuntimeError(
                f"{method.__name__}: another thread is changing this model, too; let one thread change it, or share a lock"
            )
        try:
            return method(*args, **kwargs)
        finally:
            state[_CHANGES] = state.get(_CHANGES, 0) + 1
            state.pop(_CHANGING, None)

    return changing


def reads(method: Callable[P, R]) -> Callable[P, R]:
    """Wrap a method that reads a fitted model: it is run again if another thread has changed the model during the call."""

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
