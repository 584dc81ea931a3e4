"""`kernsel report`: the report of a saved model as an HTML page."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from pathlib import Path

from kernsel.cli.outputs import require_report, require_writable
from kernsel.cli.select import write_page
from kernsel.cli.terminal import Terminal
from kernsel.study import Study

__all__ = ["describe", "run"]


def describe(parser: argparse.ArgumentParser) -> None:
    """Say in the parser of the command what it does, and add its options."""
    parser.usage = "kernsel report MODEL [options]"
    parser.description = (
        "Write what is known of a model that `kernsel select` has saved: one HTML file that needs no other. "
        "Needs matplotlib: pip install 'kernsel[cli]'."
    )
    parser.epilog = "examples:\n  kernsel report cars.ksl --open\n  kernsel report cars.ksl --output page.html"
    parser.add_argument("model", metavar="MODEL", help="a .ksl file")
    parser.add_argument("--output", "-o", metavar="FILE", help="the name of the model with .html by default")
    parser.add_argument("--open", action="store_true", help="show it in a browser")


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; return its exit code."""
    path = arguments.output or str(Path(arguments.model).with_suffix(".html"))
    require_report(path, "--output")
    require_writable(path)
    found = Study.load(arguments.model)
    if not found.keeps_rows:
        raise ValueError(
            f"{arguments.model} keeps no rows, of which a report is; `kernsel select --report` writes one of the rows that "
            "chose the kernel"
        )
    write_page(found, path, model=arguments.model, command="")
    terminal.say(path, indent=0)
    if arguments.open:
        address = Path(path).resolve().as_uri()
        if not _has_display() or not webbrowser.open(address):
            terminal.note(f"There is no browser to open it in; its address is {address}")
    return 0


def _has_display() -> bool:
    """Tell whether there is a display for a browser; a browser that runs in the terminal is not wanted."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
