"""Print what fits take on a machine that others use, too: ``python -m bench.shared``.

Everything runs in fresh processes, one after the other, taking turns between one thread and the default number of threads:
whoever fits a model beside other work should never lose by the threads that are there. With ``--other NAME=PYTHON`` the package
of another environment (an earlier version) takes its turn, too.

Columns are milliseconds a fit: the median over the processes of each one's median fit, and the worst process; then both again
as multiples of the median that one thread takes in the same situation.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

__all__: list[str] = []

FIT = """
import json, sys, threading, time, numpy as np, kernsel as ks
n, fits, threads = {n}, {fits}, {threads}
rng = np.random.default_rng(0)
X = rng.uniform(size=(n, 6))
y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + 0.1 * rng.standard_normal(n)
times = []
def work():
    {prepare}
    for _ in range(fits):
        start = time.perf_counter()
        {call}
        times.append(time.perf_counter() - start)
team = [threading.Thread(target=work) for _ in range(threads)]
for thread in team: thread.start()
for thread in team: thread.join()
print(json.dumps(sorted(times)[len(times) // 2]))
"""
CALLS = {
    "fit": ("pass", "ks.GaussianProcessRegressor('auto', random_state=0).fit(X, y)"),
    "cholesky": ("A = ks.kernels.RBF(1.0)(X) + np.eye(n)", "ks.linalg.cholesky(A)"),
    "loo": (
        "k, room = 1.5 * ks.kernels.RBF(np.ones(6)), ks.criteria.Workspace()",
        "ks.evaluate('loo', k, X, y, noise=0.1, gradient=True, workspace=room)",
    ),
}
BUSY = "while True: pass"
# Name, busy processes beside, processes that fit at once, Python threads that fit at once, processors.
SITUATIONS = {
    "alone": (0, 1, 1, None),
    "beside one busy process": (1, 1, 1, None),
    "beside two": (2, 1, 1, None),
    "two processes that fit": (0, 2, 1, None),
    "two Python threads that fit": (0, 1, 2, None),
    "eight": (0, 1, 8, None),
    "on one processor": (0, 1, 1, "0"),
}


def run(python, code, processes, processors, environment):
    """Return the median time of a fit in each of several processes that run at once."""
    command = [python, "-c", code]
    if processors:
        command = ["taskset", "-c", processors, *command]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd="/") for _ in range(processes)]
    return [json.loads(process.communicate()[0]) for process in started]


def rows(what, situation, n, fits, repeats, interpreters):
    """Print a line for each interpreter and number of threads."""
    beside, processes, threads, processors = SITUATIONS[situation]
    prepare, call = CALLS[what]
    code = FIT.format(n=n, fits=max(fits // threads, 3), threads=threads, prepare=prepare, call=call)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "KERNSEL_"))}
    times = {}
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(beside)]
    try:
        for _ in range(repeats):
            for name, python in interpreters.items():
                for label, changes in (("1", {"OMP_NUM_THREADS": "1"}), ("all", {})):
                    times.setdefault((name, label), []).extend(run(python, code, processes, processors, clean | changes))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    for (name, label), seconds in times.items():
        one = statistics.median(times[name, "1"])
        median, worst = statistics.median(seconds), max(seconds)
        print(
            f"{what:9s} n = {n:5d}  {situation:28s} {name:8s} threads: {label:4s}{median * 1e3:10.3f} {worst * 1e3:10.3f} ms"
            f"   {median / one:6.2f} {worst / one:6.2f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.shared", description=__doc__)
    parser.add_argument("what", nargs="*", default=list(CALLS), help=f"of {', '.join(CALLS)}")
    parser.add_argument("--sizes", default="64,200,400,1000,4000")
    parser.add_argument("--situations", help=f"of: {', '.join(SITUATIONS)}; a part of a name will do, commas between them")
    parser.add_argument("--fits", type=int, default=8, help="in each process, at n = 400 (fewer if they take longer)")
    parser.add_argument("--repeats", type=int, default=10, help="processes for each figure")
    parser.add_argument("--other", action="append", default=[], help="name=python of another environment")
    asked = parser.parse_args()
    interpreters = {"here": sys.executable} | dict(item.split("=", 1) for item in asked.other)
    assert all(Path(python).exists() for python in interpreters.values())
    wanted = (asked.situations or "").split(",")
    for what in asked.what:
        for n in map(int, asked.sizes.split(",")):
            for situation in SITUATIONS:
                if any(part in situation for part in wanted):
                    rows(what, situation, n, asked.fits, asked.repeats, interpreters)


if __name__ == "__main__":
    main()
