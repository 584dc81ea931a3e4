"""Limits on the threads of NumPy's and SciPy's BLAS, which would compete with the threads of the core."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from threading import Lock, get_ident, local
from typing import ParamSpec, Protocol, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["with_one_blas_thread"]

P = ParamSpec("P")
R = TypeVar("R")


class _Library(Protocol):
    """The methods of threadpoolctl's controller of a BLAS library that are used here."""

    def get_num_threads(self) -> int: ...
    def set_num_threads(self, num_threads: int) -> None: ...


@cache
def _libraries() -> list[_Library]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _State(local):
    limited = False  # whether this thread is in a call of a limited function


_this_thread = _State()


def _set_threads(library: _Library, number: int) -> None:
    """Set a library's number of threads, from any thread: new versions of threadpoolctl obey one controlling thread only."""
    clear = getattr(library, "clear_controlling_thread", lambda force: None)
    clear(force=True)
    library.set_num_threads(number)
    clear(force=True)


class _Limit:
    """A limit of one BLAS thread for the process, while any thread is within a limited function.

    BLAS has one setting for the process, so that threads that set and restored it on their own would restore what another has
    set. The first thread that enters a limited function sets it, and the last one that leaves restores it. A KeyboardInterrupt
    may come between any two lines. Threads are therefore kept in a set, in which a thread that was interrupted is corrected by
    its next ``begin`` and ``end``.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._threads: set[int] = set()
        self._before: list[tuple[_Library, int]] | None = None  # libraries with their numbers of threads before the limit

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
        """Remove all other threads: in a child of fork they do not exist, and one of them may have held the lock."""
        self._lock = Lock()
        self._threads &= {thread}
        self._restore_if_unused()

    def _restore_if_unused(self) -> None:
        if self._threads or self._before is None:
            return
        for library, number in self._before:
            if library.get_num_threads() == 1 != number:  # otherwise the user has set another number meanwhile
                _set_threads(library, number)
        self._before = None


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _limit.keep_only(get_ident()))


def with_one_blas_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Limit a function to one BLAS thread, for functions that use small matrices between computations of the core.

    BLAS's threads wait busily for a while after each call, on processors that the threads of the core need. Without the limit,
    a search took four times as long.
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
