"""Calls that do not depend on each other, at the same time: in the processes, threads or machines of a backend of joblib."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from kernsel._solve.dask_worker import limited_threads

__all__ = ["jobs_of", "results_of"]

R = TypeVar("R")


def jobs_of(n_jobs: int | None) -> int:
    """Return how many calls run at the same time; None stands for one, or for what `joblib.parallel_config` has set."""
    return int(effective_n_jobs(n_jobs))


def results_of(
    function: Callable[..., R], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Generator[R, None, None]:
    """Yield what a function returns for each tuple of arguments, in their order; as they come, if several run at a time.

    Calls share the processors: each has its part of the threads of the core, whose results do not depend on their number.

    Examples
    --------
    >>> list(results_of(pow, [(2, 3), (3, 2)], n_jobs=1))
    [8, 9]
    """
    jobs = jobs_of(n_jobs)
    if jobs == 1:
        for one in arguments:
            yield function(*one)
        return
    # Arrays are copied to other processes: fitted models would keep references to temporary files that are mapped.
    parallel = _Quiet(n_jobs=n_jobs, return_as="generator", max_nbytes=None)
    outputs = parallel(delayed(_limited)(jobs, function, one) for one in arguments)
    try:
        for found in outputs:  # noqa: UP028 - "yield from" would close them with joblib's warning
            yield found
    finally:
        outputs.close()


class _Quiet(Parallel):  # type: ignore[misc]
    """Calls that may be cancelled. A filter of warnings would not do: the calls' own filters in other threads undo it."""

    def _warn_exit_early(self) -> None:
        """Say nothing of cancelled calls (joblib's method warns): whoever closes the results early wants that."""


def _limited(jobs: int, function: Callable[..., R], arguments: tuple[Any, ...]) -> R:
    with limited_threads(jobs):
        return function(*arguments)
