"""`kernsel examples`: examples that ship with the package."""

from __future__ import annotations

import argparse

from kernsel.cli.outputs import require_writable
from kernsel.cli.terminal import Terminal

__all__ = ["describe", "run"]


def describe(parser: argparse.ArgumentParser) -> None:
    """Say in the parser of the command what it does, and add its options."""
    parser.usage = "kernsel examples [NAME] [--plot FILE]"
    parser.description = "Run an example: each is a short Python file to read, too. Without a name, list them."
    parser.epilog = "examples:\n  kernsel examples\n  kernsel examples mauna_loa --plot co2.png"
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one to run")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw a picture into this file (needs matplotlib: pip install 'kernsel[plot]')"
    )


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
