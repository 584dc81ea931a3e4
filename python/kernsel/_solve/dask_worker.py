"""What a task knows of the worker of Dask that runs it: whether it is still wanted, and how many threads it may use."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from kernsel import _core

__all__ = ["CancelledTask", "limited_threads", "raise_if_cancelled"]


class CancelledTask(RuntimeError):  # noqa: N818
    """Nobody waits any longer for the result of a task. Only a worker sees it."""


def raise_if_cancelled() -> None:
    """Raise CancelledTask in a task of a worker of Dask whose result is not wanted any longer; do nothing elsewhere."""
    worker = _worker()
    if worker is None:
        return
    try:
        task = worker.state.tasks.get(worker.get_current_task())
    except (AttributeError, KeyError, ValueError):  # a thread that is no task
        return
    if task is None or task.state in ("cancelled", "released", "forgotten"):
        raise CancelledTask("the computation was cancelled")


@contextmanager
def limited_threads(tasks: int | None) -> Iterator[None]:
    """Share the threads of the core among the tasks that run at the same time in this process.

    The number that OMP_NUM_THREADS names is taken as it is: Dask sets it to one in the processes that it starts.

    Parameters
    ----------
    tasks : int or None
        How many tasks run at a time, where it is no worker of a cluster; None does not limit anything.
    """
    worker = _worker()
    if worker is not None:
        tasks = int(worker.state.nthreads)
    if tasks is None or tasks == 1 or os.environ.get("OMP_NUM_THREADS"):
        yield
        return
    with _openmp().limit(limits=max(_core.num_threads() // tasks, 1)):  # of the thread that runs the task alone
        yield


@cache
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


def _worker() -> Any:
    """Return the worker that runs this thread's task; None outside of workers."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None
