"""`kernsel config`: what kernsel was built with and what it runs on."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import kernsel as ks
from kernsel.cli.terminal import Terminal

if TYPE_CHECKING:
    from kernsel.cli.parser import Commands

__all__ = ["add", "run"]


def add(commands: Commands) -> argparse.ArgumentParser:
    """Add the command to the commands of `kernsel`; return its parser."""
    parser = commands.add_parser(
        "config",
        help="print what kernsel was built with",
        description="Print what kernsel was built with and what it runs on: worth adding to a report of a problem.",
        epilog="examples:\n  kernsel config\n  kernsel config --json",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; return its exit code."""
    del terminal
    if arguments.json:
        print(json.dumps(ks.show_config("dict"), indent=2))
    else:
        ks.show_config()
    return 0
