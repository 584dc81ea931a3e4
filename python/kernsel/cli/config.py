"""`kernsel config`: what kernsel was built with and what it runs on."""

from __future__ import annotations

import argparse
import json

import kernsel as ks
from kernsel.cli.terminal import Terminal

__all__ = ["describe", "run"]


def describe(parser: argparse.ArgumentParser) -> None:
    """Say in the parser of the command what it does, and add its options."""
    parser.description = "Print what kernsel was built with and what it runs on: worth adding to a report of a problem."
    parser.epilog = "examples:\n  kernsel config\n  kernsel config --json"
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; return its exit code."""
    del terminal
    if arguments.json:
        print(json.dumps(ks.show_config("dict"), indent=2))
    else:
        ks.show_config()
    return 0
