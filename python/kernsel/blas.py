"""The threads of NumPy's and SciPy's BLAS, kept out of the way of ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from threading import local
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["with_one_blas_thread"]

P = ParamSpec("P")
R = TypeVar("R")


class _State(local):
    limited = False  # is it so already?


_this_thread = _State()


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()


def with_one_blas_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, run while BLAS has one thread: for small matrices between computations of the core.

    Its threads wait busily for a while after each call, on the processors that ours need: a search took four times as long.
    """

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        if _this_thread.limited:
            return function(*args, **kwargs)
        with _pools().limit(limits=1, user_api="blas"):
            _this_thread.limited = True
            try:
                return function(*args, **kwargs)
            finally:
                _this_thread.limited = False

    return limited
