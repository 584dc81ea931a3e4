"""How the benchmarks measure."""

import time
from collections.abc import Callable

__all__ = ["best", "interleaved"]


def best(call: Callable[[], object], seconds: float = 0.5, pause: float = 0.0, repeats: int = 3) -> float:
    """Return the shortest time of a call, repeated for some seconds and at least some times, after a pause each time."""
    shortest, done, end = float("inf"), 0, time.perf_counter() + seconds
    while done < repeats or time.perf_counter() < end:
        if pause:
            time.sleep(pause)
        start = time.perf_counter()
        result = call()
        shortest = min(shortest, time.perf_counter() - start)
        del result  # its memory goes back before the next repetition is timed
        done += 1
    return shortest


def interleaved(*calls: Callable[[], object], seconds: float = 0.5, pause: float = 0.0, rounds: int = 3) -> list[float]:
    """Return the shortest time of each call, taking turns, so that a disturbance of the machine hits all of them."""
    times = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            times[i] = min(times[i], best(call, seconds / rounds, pause, repeats=2))
    return times
