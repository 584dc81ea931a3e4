"""What examples print, each run once."""

import contextlib
import io
import re
from importlib.util import find_spec

import pytest

from kernsel import examples


@pytest.fixture(scope="session")
def outcome(tmp_path_factory):
    """Run each example once; return what it prints, and the name of its picture."""
    done = {}

    def run(name):
        if name not in done:
            plot = tmp_path_factory.mktemp("examples") / f"{name}.png" if find_spec("matplotlib") else None
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                examples.run(name, None if plot is None else str(plot))
            done[name] = text.getvalue(), plot
        return done[name]

    return run


@pytest.fixture
def row(outcome):
    """Return the numbers in the only line of an example that begins so."""

    def numbers(name, start):
        (line,) = (line for line in outcome(name)[0].splitlines() if line.strip().startswith(start))
        return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e[+-]\d+)?", line.strip().removeprefix(start))]

    return numbers
