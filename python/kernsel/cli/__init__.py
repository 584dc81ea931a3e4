"""The command `kernsel`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TextIO

import numpy as np

import kernsel as ks
from kernsel.cli.parser import Command, Parser
from kernsel.cli.terminal import Terminal

__all__ = ["main"]

# What they do in a line; a module of this room has the same name.
_COMMANDS = {
    "select": "choose a kernel for a table, and learn from it",
    "predict": "predict at the rows of a file, with intervals",
    "report": "write the page of a model, with figures",
    "demo": "see it work, on data that ship with it",
    "examples": "list examples, or run one",
    "config": "print what kernsel was built with",
}
_DONE, _FAILED, _INTERRUPTED = 0, 1, 130  # exit codes; that of wrong usage is 2, with which argparse exits

# Errors that a user can correct. Others are bugs, and are shown with their traceback.
_MISTAKES = (ValueError, OSError, MemoryError, np.linalg.LinAlgError, ImportError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments of the process by default.

    Returns
    -------
    code : int
        0 if all is done, 1 if data or model cannot be used, 130 if it was interrupted. Wrong usage exits with 2.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # for names of columns that the terminal cannot encode
    command = _parser().parse_strictly(arguments)
    terminal = Terminal(quiet=getattr(command, "quiet", False), json=getattr(command, "json", False))
    threads = ks.get_num_threads()
    try:
        if getattr(command, "threads", None):
            ks.set_num_threads(command.threads)
        with warnings.catch_warnings():
            warnings.showwarning = _shown_by(terminal)
            warnings.simplefilter("default", UserWarning)
            code: int = command.run(command, terminal)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has closed the pipe, as in `kernsel demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _DONE
    except KeyboardInterrupt:
        terminal.error("interrupted, and there is no result yet")
        return _INTERRUPTED
    except _MISTAKES as error:
        if os.environ.get("KERNSEL_DEBUG"):
            raise
        terminal.error(_message(error))
        return _FAILED
    finally:
        ks.set_num_threads(threads)


def _parser() -> Parser:
    parser = Parser(
        prog="kernsel",
        description="Which kernel fits your data? kernsel tries several, each at its best by several criteria, shows what they "
        "say, and predicts with intervals that are as wide as they should be.",
        epilog="examples:\n"
        "  kernsel demo                                          see it work\n"
        "  kernsel select cars.csv --target dist                 choose a kernel, and learn from a table\n"
        "  kernsel predict cars.ksl new.csv --output out.csv     predict at new rows\n"
        "  kernsel report cars.ksl --open                        look at the model in a browser\n\n"
        "`kernsel COMMAND --help` says more, with examples. KERNSEL_DEBUG=1 shows where an error comes from.",
    )
    parser.add_argument("--version", action="version", version=f"kernsel {ks.__version__}", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands", parser_class=Command)
    for name, sentence in _COMMANDS.items():
        commands.add_parser(name, help=sentence)
    return parser


def _message(error: BaseException) -> str:
    """Return the message of an error in one paragraph."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def _shown_by(terminal: Terminal) -> Callable[..., None]:
    """Return a replacement of `warnings.showwarning` that prints each warning once, as a note."""
    printed: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del category, filename, lineno, file, line
        text = " ".join(str(message).split())
        if text not in printed:
            printed.add(text)
            terminal.note(f"Warning: {text}")

    return show
