"""Compare two commits, or two environments: ``python -m bench.commits OLD NEW``, after ``pip install '.[bench]'``.

Each side is a revision of git, which is built in an environment of its own below build/commits (minutes, once), or the path of
a Python that has kernsel already. The benchmarks are those of this checkout (``bench/core`` unless others are named); they run
in fresh processes that take turns, old, new, new, old, so that what disturbs the machine hits both. Times are the shortest over
all rounds, in milliseconds. "spread" is how far the shortest times of the rounds of one side lie apart: a smaller change is
none.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

__all__: list[str] = []

ROOT = Path(__file__).parents[1]


def environment(side):
    """Return the Python of a side, having built the revision that it names if there is no such file."""
    if Path(side).is_file():
        return Path(side).absolute()  # not resolved: the link of a virtual environment says which one it is
    git = ["git", "-C", ROOT]
    named = subprocess.run([*git, "rev-parse", "--verify", f"{side}^{{commit}}"], capture_output=True, text=True, check=False)
    if named.returncode:
        sys.exit(f"{side}: expected the path of a Python that has kernsel, or a revision of git ({named.stderr.strip()})")
    commit = named.stdout.strip()[:12]
    folder = ROOT / "build" / "commits" / commit
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        print(f"building {side} ({commit}) in {folder}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as source:
            archive = subprocess.run([*git, "archive", commit], stdout=subprocess.PIPE, check=True).stdout
            subprocess.run(["tar", "-x", "-C", source], input=archive, check=True)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            needed = [source, "pytest>=8", "pytest-benchmark>=5", "pytest-xdist>=3.5"]
            subprocess.run([python, "-m", "pip", "install", "-q", *needed], check=True)
        (folder / "complete").touch()
    return python


def measure(python, options, folder):
    """Return the shortest time of each benchmark in one process, in seconds."""
    results = Path(folder, "results.json")
    command = [python, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "--benchmark-json", results]
    command += ["--benchmark-min-rounds=3", "--benchmark-max-time=0.5", "--benchmark-warmup=on", *options]
    environment = os.environ | {"PYTHONPATH": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python}: the benchmarks fail\n{done.stdout}{done.stderr}")
    return {one["fullname"]: one["stats"]["min"] for one in json.loads(results.read_text())["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="a revision of git, or a Python that has kernsel")
    parser.add_argument("new")
    parser.add_argument("benchmarks", nargs="*", default=["bench/core"], help="files or folders; bench/core")
    parser.add_argument("-k", metavar="EXPRESSION", help="only benchmarks whose name matches, as with pytest")
    parser.add_argument("--rounds", type=int, default=4, help="how many processes of each side")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds: expected at least 1, got {arguments.rounds}")
    pythons = [environment(side) for side in (arguments.old, arguments.new)]
    options = arguments.benchmarks + (["-k", arguments.k] if arguments.k else [])
    rounds = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(arguments.rounds):
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                rounds[side].append(measure(pythons[side], options, folder))
    print(f"{'':58s} {'old':>9s} {'new':>9s} {'new / old':>10s} {'spread':>8s}")
    for name in rounds[0][0]:
        times = [[one[name] * 1e3 for one in side] for side in rounds]
        old, new = map(min, times)
        spread = max(max(side) / min(side) for side in times) - 1
        print(f"{name.split('::')[1]:58s} {old:9.3f} {new:9.3f} {new / old:10.3f} {spread:8.1%}")


if __name__ == "__main__":
    main()
