"""`kernsel examples`: examples that ship with the package."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kernsel.cli.outputs import require_writable
from kernsel.cli.terminal import Terminal

if TYPE_CHECKING:
    from kernsel.cli.parser import Commands

__all__ = ["add", "run"]


def add(commands: Commands) -> argparse.ArgumentParser:
    """Add the command to the commands of `kernsel`; return its parser."""
    parser = commands.add_parser(
        "examples",
        usage="kernsel examples [NAME] [--plot FILE]",
        help="list examples, or run one",
        description="Run an example: each is a short Python file to read, too. Without a name, list them.",
        epilog="examples:\n  kernsel examples\n  kernsel examples mauna_loa --plot co2.png",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one to run")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw a picture into this file (needs matplotlib: pip install 'kernsel[plot]')"
    )
    return parser


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; return its exit code."""
    from kernsel import examples

    if arguments.name is None:
        if arguments.plot is not None:
            arguments.parser.error("--plot: of which example?")
        terminal.table(["example", "what it shows"], [list(one) for one in examples.names().items()], flexible=1, left=(0, 1))
        terminal.say("\nkernsel examples NAME runs one.")
        return 0
    require_writable(arguments.plot)
    examples.run(arguments.name, plot=arguments.plot)
    return 0
