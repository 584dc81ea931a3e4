"""The threads of NumPy's and SciPy's BLAS, kept out of the way of ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["with_one_blas_thread"]

P = ParamSpec("P")
R = TypeVar("R")


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()


def with_one_blas_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, run while BLAS has one thread: for small matrices between computations of the core.

    Its threads wait busily for a while after each call, on the processors that ours need: a search took four times as long.
    """

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _pools().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
