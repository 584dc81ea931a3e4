"""`kernsel demo`: a selection on data that ship with the package."""

from __future__ import annotations

import argparse
from importlib.resources import as_file, files

from kernsel.cli.outputs import require_report, require_writable
from kernsel.cli.select import add_choices, choose, finish
from kernsel.cli.terminal import Terminal
from kernsel.study.tables import read_table

__all__ = ["describe", "run"]


def describe(parser: argparse.ArgumentParser) -> None:
    """Say in the parser of the command what it does, and add its options."""
    parser.usage = "kernsel demo [options]"
    parser.description = (
        "Choose a kernel for the stopping distances of 50 cars (speed in miles per hour, distance in feet; "
        "M. Ezekiel, Methods of Correlation Analysis, Wiley 1930). Takes the options of `kernsel select` that do not "
        "concern the data."
    )
    parser.epilog = (
        "examples:\n"
        "  kernsel demo\n"
        "  kernsel demo --kernel search --criterion lml\n"
        "  kernsel demo --save cars.ksl --report cars.html"
    )
    add_choices(parser)


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; return its exit code."""
    require_writable(arguments.save, arguments.report)
    require_report(arguments.report)
    with as_file(files("kernsel") / "examples" / "cars.csv") as path:
        terminal.heading("Stopping distances of 50 cars: speed in miles per hour, dist in feet (Ezekiel, 1930)")
        terminal.say("This is what happens here:")
        terminal.command(f"kernsel select {path} --target dist")
        table = read_table(str(path), "dist")
        found = choose(table, arguments, terminal)
        code = finish(
            found, terminal, save=arguments.save, report=arguments.report, command=f"kernsel select {path} --target dist"
        )
        if arguments.save is None and arguments.report is None:
            terminal.heading("Next")
            terminal.command("kernsel demo --save cars.ksl --report cars.html   # keep the model, and look at it")
            terminal.command("kernsel select YOUR.csv --target COLUMN           # the same with data of yours")
            terminal.command('python -c "import kernsel; help(kernsel.select)"  # the same in Python')
    return code
