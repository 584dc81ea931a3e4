"""The parser of the command line: types of arguments, and suggestions where an argument is wrong."""

from __future__ import annotations

import argparse
import csv
import math
import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from kernsel.approximations import Nystrom

__all__ = ["Command", "Parser", "approximation", "criteria", "duration", "names", "share", "variance", "whole"]

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help that fits the width of the terminal, up to 100 columns; texts with line breaks keep them."""

    def __init__(self, prog: str) -> None:
        columns = shutil.get_terminal_size((100, 24)).columns
        super().__init__(prog, max_help_position=28, width=min(max(columns, 60), 100) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        if isinstance(action, argparse._SubParsersAction):  # without its first line, which repeats COMMAND
            text = text.split("\n", 1)[1]
        return text


class Parser(argparse.ArgumentParser):
    """A parser whose errors suggest similar arguments."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)

    def parse_strictly(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Return the parsed arguments; unknown options are an error of the command that they were given to."""
        namespace, unknown = self.parse_known_args(arguments)
        if unknown:
            getattr(namespace, "parser", self).error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace

    def error(self, message: str) -> NoReturn:
        """Print the usage, the error and a suggestion; exit with 2."""
        super().error(message + self._suggestion(message))

    def _suggestion(self, message: str) -> str:
        invalid = re.search(r"invalid choice: '([^']*)'", message)
        if invalid:
            choices = [choice for action in self._actions for choice in (action.choices or [])]
            close = get_close_matches(invalid[1], map(str, choices), 1, 0.5)
            return f"; did you mean {close[0]!r}?" if close else ""
        unknown = re.search(r"unrecognized arguments: (-[^ =]+)", message)
        if unknown:
            close = get_close_matches(unknown[1], self._option_string_actions, 1, 0.5)
            return f"; did you mean {close[0]}?" if close else f"; see {self.prog} --help"
        return ""


class Command(Parser):
    """The parser of a command, which is described by the module of its name, imported when the command is given."""

    _described = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the parsed arguments, and those that are not understood."""
        if not self._described:
            self._described = True
            name = self.prog.split()[-1]
            module = import_module(f"kernsel.cli.{name}")
            module.describe(self)
            self.set_defaults(run=module.run, parser=self)
            if name != "config":
                self.add_argument("--threads", type=whole(1), metavar="N", help="how many threads may compute; all by default")
            self.add_argument("--quiet", "-q", action="store_true", help="print results and errors only")
        return super().parse_known_args(args, namespace)


def duration(text: str) -> float:
    """Return the seconds of "30s", "2m", "1h" or "30"."""
    match = re.fullmatch(r"(\d+(?:[.]\d+)?)\s*(s|m|min|h|)", text.strip().lower())
    if not match or not float(match[1]):
        raise argparse.ArgumentTypeError(f"expected a time such as 30s, 2m or 1h, got {text!r}")
    return float(match[1]) * _SECONDS[match[2]]


def share(text: str) -> float:
    """Return the share of one that "20%" or "0.2" stands for."""
    match = re.fullmatch(r"(\d*[.]?\d+)\s*(%?)", text.strip())
    value = float(match[1]) / (100 if match[2] else 1) if match else math.nan
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a share such as 20% or 0.2, got {text!r}")
    return value


def variance(text: str) -> float | str:
    """Return a number from 0 on, or "auto"."""
    if text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"expected a variance from 0 on or auto, got {text!r}")
    return value


def approximation(text: str) -> Nystrom | str:
    """Return "auto" or "none", or the landmarks that "landmarks" or "landmarks=500" stands for."""
    from kernsel.approximations import Nystrom

    match = re.fullmatch(r"auto|none|landmarks(?:=(\d+))?", text.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"expected auto, none, landmarks or landmarks=500, got {text!r}")
    if not match[0].startswith("landmarks"):
        return match[0]
    try:
        return Nystrom(int(match[1])) if match[1] else Nystrom()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def names(text: str) -> list[str]:
    """Return the names in a list with commas; a name that contains a comma is in double quotes."""
    items = [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row]
    return [name for name in items if name]


def criteria(text: str) -> list[str]:
    """Return the names of criteria in a list with commas."""
    from kernsel.study import require_criterion

    try:
        return [require_criterion(name) for name in names(text)]
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("criterion: ")) from None


def whole(least: int, most: float = math.inf) -> Callable[[str], int]:
    """Return a function that parses a whole number in a range."""

    def read(text: str) -> int:
        try:
            value = int(text.replace(",", "").replace("_", ""))
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            upper = "" if math.isinf(most) else f" to {most:.0f}"
            raise argparse.ArgumentTypeError(f"expected a whole number from {least}{upper or ' on'}, got {text!r}")
        return value

    return read
