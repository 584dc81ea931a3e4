"""Passes over collections of Dask: a task for each partition, and a fixed tree of sums, on any scheduler."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from copy import copy
from itertools import count
from operator import getitem
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import uuid4

from kernsel._data.rows.partitions import PartitionRows
from kernsel._solve.dask_worker import limited_threads
from kernsel._solve.passes import FAN_IN, Passes, Summand, total

__all__ = ["DaskPasses"]

S = TypeVar("S", bound=Summand)
R = TypeVar("R")

_ATTEMPTS = 3  # at a pass of which workers were lost that alone had something that was sent to them
_SHARE = 0.25  # of the memory of all workers that rows may take which are read once and kept


class DaskPasses(Passes):
    """The partitions of a collection, on the `distributed` client that there is, or on the scheduler that Dask is set to.

    Tasks are pure: what a lost worker had is computed again. What all tasks of a pass need is sent once to each worker. On a
    cluster, rows are kept by the workers until the end if they take a quarter of their memory at most, and are otherwise
    computed in each pass, unless the user has persisted them.
    """

    def __init__(self, source: PartitionRows) -> None:
        self._blocks = source.delayed_blocks()
        self._kept: list[Any] = []  # what was sent to workers, from which blocks are computed again
        self._client = _client()
        self._tasks = _tasks_at_once(self._client)
        if self._client is not None and source.bytes_at_most <= _SHARE * _memory(self._client):
            self._blocks = self._client.compute(self._blocks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        """Release the rows that workers keep, though the frames of an exception may still refer to them."""
        if self._client is not None and self._client.status == "running":
            for block in [*self._blocks, *self._kept]:
                if hasattr(block, "release"):
                    block.release()
        self._blocks, self._kept = [], []

    def summed(self, name: str, function: Callable[..., S], stage: object, *each: Iterable[Any]) -> S:
        """Return the sum of what a function returns for each block."""

        def tree(parts: list[Any]) -> Any:
            while len(parts) > 1:
                groups = [parts[first : first + FAN_IN] for first in range(0, len(parts), FAN_IN)]
                parts = [group[0] if len(group) == 1 else self._task(f"{name}-total", total, group) for group in groups]
            return parts[0]

        found: S = self._computed(name, function, stage, each, tree)
        return found

    def listed(self, name: str, function: Callable[..., R], stage: object, *each: Iterable[Any]) -> list[R]:
        """Return what a function returns for each block."""
        found: list[R] = self._computed(name, function, stage, each, lambda parts: self._task(f"{name}-all", list, parts))
        return found

    def regrouped(
        self,
        name: str,
        split: Callable[..., list[Any]],
        gather: Callable[..., Any],
        stage: object,
        count: int,
        *each: Iterable[Any],
    ) -> Passes:
        """Return passes over other blocks, which are kept by the workers, or in this process without a cluster."""
        rows = list(zip(*(list(_up_to(values, len(self._blocks))) for values in each), strict=True)) or [()] * len(self._blocks)
        sent = self._sent([stage])
        pieces = [
            self._task(name, _limited, split, self._tasks, sent[0], block, more)
            for block, more in zip(self._blocks, rows, strict=True)
        ]
        tasks = []
        for k in range(count):
            of_all = [self._task(f"{name}-piece", getitem, piece, k) for piece in pieces]
            tasks.append(self._task(name, gather, sent[0], k, of_all))
        other = copy(self)
        if self._client is None:
            from dask import compute, delayed

            found = compute(*tasks)
            other._blocks = [delayed(block, traverse=False, name=f"kernsel-{name}-{uuid4().hex}") for block in found]
            return other
        other._blocks = self._client.compute(tasks)
        other._kept = sent
        return other

    def everywhere(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function here and in all workers, without waiting for them."""
        function(*arguments)
        if self._client is not None and self._client.status == "running":
            self._client.run(function, *arguments, wait=False, on_error="ignore")

    def _computed(
        self, name: str, function: Callable[..., Any], stage: object, each: Iterable[Any], ends: Callable[[list[Any]], Any]
    ) -> Any:
        """Return what `ends` makes of the tasks of all blocks; computed once more if what was sent to workers is lost."""
        rows = list(zip(*(list(_up_to(values, len(self._blocks))) for values in each), strict=True)) or [()] * len(self._blocks)
        for attempt in count(1):
            sent: list[Any] = []
            try:
                sent = self._sent([stage, *rows])
                parts = [
                    self._task(name, _limited, function, self._tasks, sent[0], block, more)
                    for block, more in zip(self._blocks, sent[1:], strict=True)
                ]
                return self._result(ends(parts))
            except Exception as error:
                if self._client is not None and self._client.status != "running":
                    raise RuntimeError(
                        "the client of Dask was closed, or has lost its scheduler, while it was computing; fit again with one "
                        "that is open"
                    ) from error
                if not isinstance(error, CancelledError) or attempt == _ATTEMPTS:
                    raise
            finally:
                for value in sent:
                    if hasattr(value, "release"):
                        value.release()
        raise AssertionError

    def _task(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task whose name on the dashboard is `name`."""
        from dask import delayed

        return delayed(function, traverse=False, pure=False)(*arguments, dask_key_name=f"kernsel-{name}-{uuid4().hex}")

    def _sent(self, values: list[Any]) -> list[Any]:
        """Return what stands for values in tasks: the first goes to all workers, each of the others to one."""
        from dask import delayed

        if self._client is None:
            return [delayed(value, traverse=False, name=f"kernsel-sent-{uuid4().hex}") for value in values]
        first = self._client.scatter(values[0], broadcast=True, hash=False)
        others = values[1:]
        if any(not isinstance(value, int | None) for of_block in others for value in of_block):
            others = self._client.scatter(others, hash=False)
        return [first, *others]

    def _result(self, task: Any) -> Any:
        if self._client is None:
            return task.compute()
        future = self._client.compute(task)
        try:
            return future.result()
        except BaseException:
            if self._client.status == "running":
                future.cancel()
            raise


def _limited(function: Callable[..., Any], tasks: int | None, stage: object, block: Any, more: tuple[Any, ...]) -> Any:
    with limited_threads(tasks):
        return function(stage, block, *more)


def _up_to(values: Iterable[Any], length: int) -> list[Any]:
    return [value for value, _ in zip(values, range(length), strict=False)]


def _client() -> Any:
    """Return the client of `distributed` that computes Dask's collections; None if there is none."""
    import dask

    if "distributed" not in sys.modules or dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _memory(client: Any) -> float:
    """Return the bytes that all workers may use."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return float(sum(worker["memory_limit"] or 0 for worker in workers))


def _tasks_at_once(client: Any) -> int | None:
    """Return how many tasks a local scheduler of Dask runs at a time; None for workers, which know it themselves."""
    import dask
    from dask.base import get_scheduler
    from dask.system import CPU_COUNT

    if client is not None:
        return None
    scheduler = get_scheduler()
    alone = scheduler is not None and getattr(scheduler, "__name__", "") == "get_sync"
    return 1 if alone else int(dask.config.get("num_workers", None) or CPU_COUNT)
