"""`kernsel config`: what kernsel was built with and what it runs on."""

from __future__ import annotations

import argparse
import json
from typing import Any

import kernsel as ks
from kernsel.cli.terminal import Terminal

__all__ = ["add", "run"]


def add(commands: Any) -> Any:
    """Add the command to a parser; return its own."""
    parser = commands.add_parser(
        "config",
        help="print what kernsel was built with",
        description="Print what kernsel was built with and what it runs on: worth adding to a report of a problem.",
        epilog="examples:\n  kernsel config\n  kernsel config --json",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command, return its exit code."""
    del terminal
    if arguments.json:
        print(json.dumps(ks.show_config("dict"), indent=2))
    else:
        ks.show_config()
    return 0
