"""The threads of NumPy's and SciPy's BLAS, kept out of the way of ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from threading import Lock, get_ident, local
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["with_one_blas_thread"]

P = ParamSpec("P")
R = TypeVar("R")


@cache
def _libraries() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _State(local):
    limited = False  # is this thread in a function that is limited already?


_this_thread = _State()


def _set_threads(library: Any, number: int) -> None:
    """Set a library's number of threads, from whichever thread: newer versions of threadpoolctl obey one thread at a time."""
    clear = getattr(library, "clear_controlling_thread", lambda force: None)
    clear(force=True)
    library.set_num_threads(number)
    clear(force=True)


class _Limit:
    """One BLAS thread for the process while any of its threads asks for it; the numbers that were, afterwards.

    BLAS has one number for all threads of the process, so that each thread setting and restoring it would restore what another
    has set. The first that comes sets it, and the last that goes restores it. A KeyboardInterrupt may come between any two
    lines: threads are a set, so that what it leaves behind is put right by the thread's next ``begin`` and ``end``.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._threads: set[int] = set()
        self._before: list[tuple[Any, int]] | None = None  # libraries, and the threads that they had

    def begin(self, thread: int) -> None:
        with self._lock:
            self._threads.add(thread)
            if self._before is None:
                self._before = [(library, library.get_num_threads()) for library in _libraries()]
                for library, _ in self._before:
                    _set_threads(library, 1)

    def end(self, thread: int) -> None:
        with self._lock:
            self._threads.discard(thread)
            self._restore_if_unused()

    def keep_only(self, thread: int) -> None:
        """Forget all other threads: in a child of fork, where they do not exist, and one of them may have held the lock."""
        self._lock = Lock()
        self._threads &= {thread}
        self._restore_if_unused()

    def _restore_if_unused(self) -> None:
        if self._threads or self._before is None:
            return
        for library, number in self._before:
            if library.get_num_threads() == 1 != number:  # or else somebody has set it meanwhile
                _set_threads(library, number)
        self._before = None


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _limit.keep_only(get_ident()))


def with_one_blas_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, run while BLAS has one thread: for small matrices between computations of the core.

    BLAS's own threads wait busily for a while after each call, on the processors that ours need: a search took four times as
    long.
    """

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        if _this_thread.limited:
            return function(*args, **kwargs)
        try:
            _this_thread.limited = True
            _limit.begin(get_ident())
            return function(*args, **kwargs)
        finally:
            _this_thread.limited = False
            _limit.end(get_ident())

    return limited
