"""What can be typed, and what was meant by what cannot."""

from __future__ import annotations

import argparse
import csv
import math
import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from kernsel.study import require_criterion

__all__ = ["Parser", "criteria", "duration", "names", "share", "variance", "whole"]

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, up to where lines are too long to read; text with lines of its own keeps them."""

    def __init__(self, prog: str) -> None:
        columns = shutil.get_terminal_size((100, 24)).columns
        super().__init__(prog, max_help_position=28, width=min(max(columns, 60), 100) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        if isinstance(action, argparse._SubParsersAction):  # without the line that says COMMAND once more
            text = text.split("\n", 1)[1]
        return text


class Parser(argparse.ArgumentParser):
    """A parser that says what may have been meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)

    def parse_strictly(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Return what was typed; options that there are not are an error of their command."""
        found, others = self.parse_known_args(arguments)
        if others:
            getattr(found, "parser", self).error(f"unrecognized arguments: {' '.join(others)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Print the usage, what is wrong, and what may have been meant; exit with 2."""
        super().error(message + self._meant(message))

    def _meant(self, message: str) -> str:
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


def duration(text: str) -> float:
    """Return seconds: of "30s", "2m", "1h" or "30"."""
    found = re.fullmatch(r"(\d+(?:[.]\d+)?)\s*(s|m|min|h|)", text.strip().lower())
    if not found or not float(found[1]):
        raise argparse.ArgumentTypeError(f"expected a time such as 30s, 2m or 1h, got {text!r}")
    return float(found[1]) * _SECONDS[found[2]]


def share(text: str) -> float:
    """Return a share of one: of "20%" or "0.2"."""
    found = re.fullmatch(r"(\d*[.]?\d+)\s*(%?)", text.strip())
    value = float(found[1]) / (100 if found[2] else 1) if found else math.nan
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


def names(text: str) -> list[str]:
    """Return names with commas between them; a name with a comma in it is in double quotes."""
    found = [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row]
    return [name for name in found if name]


def criteria(text: str) -> list[str]:
    """Return names of criteria with commas between them."""
    try:
        return [require_criterion(name) for name in names(text)]
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("criterion: ")) from None


def whole(least: int, most: float = math.inf) -> Callable[[str], int]:
    """Return a function that reads a whole number of some range."""

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
