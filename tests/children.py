"""Python programs in processes of their own."""

import os
import subprocess
import sys
import textwrap


def environment(**changes):
    """Return the environment for a child process, without settings that would limit or choose what runs."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "KERNSEL_"))} | changes


def run(code, timeout=120, **changes):
    """Run a program, return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
