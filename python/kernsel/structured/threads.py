"""Loops over a Python function on several threads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from kernsel._base.config import get_num_threads

__all__ = ["on_threads"]


def on_threads(job: Callable[[int], None], count: int) -> None:
    """Call job(0), ..., job(count - 1) on the threads that computations may use; the first error ends the loop.

    SciPy's assignments, distances, linear programs and sparse products release the GIL while they compute.

    Parameters
    ----------
    job : callable
        Its calls must be independent of each other.
    count : int

    Examples
    --------
    >>> squares = [0] * 4
    >>> on_threads(lambda i: squares.__setitem__(i, i * i), 4)
    >>> squares
    [0, 1, 4, 9]
    """
    threads = min(get_num_threads(), count)
    indices, stop = itertools.count(), Event()

    def work() -> None:
        try:
            while not stop.is_set() and (i := next(indices)) < count:
                job(i)
        finally:
            stop.set()

    if threads < 2:
        work()
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            for future in [pool.submit(work) for _ in range(threads)]:
                future.result()
        finally:
            stop.set()
