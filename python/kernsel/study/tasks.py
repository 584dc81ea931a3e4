"""Calls that do not depend on each other, at the same time: in the processes, threads or machines of a backend of joblib."""

from __future__ import annotations

import warnings
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
    parallel = Parallel(n_jobs=n_jobs, return_as="generator", max_nbytes=None)
    outputs = parallel(delayed(_limited)(jobs, function, one) for one in arguments)
    try:
        for found in outputs:  # noqa: UP028 - "yield from" would close them with joblib's warning
            yield found
    finally:
        with warnings.catch_warnings():  # that calls were cancelled, as they should be
            warnings.filterwarnings("ignore", message=".*(cancelled|executed)", category=UserWarning)
            outputs.close()


def _limited(jobs: int, function: Callable[..., R], arguments: tuple[Any, ...]) -> R:
    with limited_threads(jobs):
        return function(*arguments)
