"""The commands, their output as JSON, and terminals with rich and without."""

import io
import json
import sys
from pathlib import Path

import kernsel as ks

CARS = Path(ks.__file__).parent / "examples" / "cars.csv"
COMMANDS = ["select", "predict", "report", "demo", "examples", "config"]


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def strict(text):
    """Return a JSON document, if it is one without inventions such as NaN."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


def without_rich(monkeypatch):
    for name in ("rich", "rich.console", "rich.progress", "rich.table"):
        monkeypatch.setitem(sys.modules, name, None)
