"""Printing: results go to the standard output, notes, errors and progress to the standard error.

In a terminal, rich (``pip install 'kernsel[cli]'``) draws tables and progress bars; otherwise they are plain text.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Terminal"]

_NARROWEST, _WIDEST = 60, 110  # columns


class Terminal:
    """The standard output and the standard error of a command.

    Parameters
    ----------
    quiet : bool
        Whether to print no notes and no progress.
    json : bool
        Whether to print one JSON document in place of text.
    """

    def __init__(self, *, quiet: bool = False, json: bool = False) -> None:
        self.quiet = quiet
        self.json = json
        self.width = min(max(shutil.get_terminal_size((100, 24)).columns, _NARROWEST), _WIDEST)
        self._out = self._console(sys.stdout)
        self._err = self._console(sys.stderr)

    def _console(self, stream: TextIO) -> Console | None:
        """Return rich's console for a stream; None if it is no terminal, or rich is not installed."""
        if not stream.isatty():
            return None
        try:
            from rich.console import Console
        except ImportError:
            return None
        return Console(file=stream, width=self.width, highlight=False, markup=False, emoji=False)

    def heading(self, text: str) -> None:
        """Print a heading."""
        self._print("\n" + textwrap.fill(text, self.width), "bold")

    def say(self, text: str, indent: int = 2, style: str = "") -> None:
        """Print paragraphs, wrapped."""
        for line in text.split("\n"):
            margin = " " * indent
            hanging = margin + "  " * line.startswith("- ")
            self._print(textwrap.fill(line, self.width, initial_indent=margin, subsequent_indent=hanging), style)

    def command(self, *lines: str) -> None:
        """Print command lines, without line breaks, so that they can be copied."""
        for line in lines:
            self._print("  " + line, "cyan")

    def _print(self, text: str, style: str = "") -> None:
        if self.json:
            return
        if self._out is None:
            print(text)
        else:
            self._out.print(text, style=style, soft_wrap=True)

    def table(
        self,
        titles: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        flexible: int = 0,
        left: Sequence[int] = (0,),
        best: int | None = None,
    ) -> None:
        """Print a table that fits the width of the terminal, by wrapping one column.

        Parameters
        ----------
        titles : sequence of str
        rows : sequence of sequence of str
        flexible : int
            The index of the column that is wrapped.
        left : sequence of int
            The columns that are aligned on the left; others are on the right.
        best : int, optional
            The row that is highlighted.
        """
        if self.json:
            return
        if self._out is None:
            print("\n".join(_laid_out(titles, rows, self.width, flexible, left)))
            return
        from rich.box import SIMPLE_HEAD
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim", show_edge=False)
        for k, title in enumerate(titles):
            table.add_column(Text(title), justify="left" if k in left else "right", no_wrap=k != flexible, overflow="fold")
        for number, row in enumerate(rows):
            table.add_row(*map(Text, row), style="bold green" if number == best else None)
        self._out.print(Padding(table, (0, 0, 0, 2)))

    def note(self, text: str) -> None:
        """Print a note to the standard error."""
        if not self.quiet:
            self._tell(text, "yellow")

    def error(self, text: str) -> None:
        """Print an error to the standard error."""
        self._tell(f"kernsel: {text}", "bold red")

    def _tell(self, text: str, style: str) -> None:
        sys.stdout.flush()
        text = textwrap.fill(text, self.width, break_long_words=False, break_on_hyphens=False)
        if self._err is None:
            print(text, file=sys.stderr)
        else:
            self._err.print(text, style=style, soft_wrap=True)

    def document(self, value: object) -> None:
        """Print the JSON document, if there is to be one."""
        if self.json:
            print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))

    @contextmanager
    def progress(self, total: int | None) -> Iterator[Callable[[str], None]]:
        """Show the progress of a long computation; yields a function to call with the name of each step when it begins.

        Parameters
        ----------
        total : int or None
            The number of steps, if it is known.
        """
        if self.quiet or not sys.stderr.isatty():
            yield lambda _: None
        elif self._err is None:
            yield from _plain_progress(total)
        else:
            yield from _rich_progress(self._err, total)


def _plain_progress(total: int | None) -> Iterator[Callable[[str], None]]:
    """Show the current step on one line, which each step overwrites."""
    start, done, longest = time.monotonic(), 0, 0

    def begin(step: str) -> None:
        nonlocal done, longest
        count = "" if total is None else f"/{total}"
        line = f"[{done + 1}{count}, {time.monotonic() - start:.0f} s] {step}"[: _NARROWEST - 1]
        print("\r" + line.ljust(longest), end="", file=sys.stderr, flush=True)
        done, longest = done + 1, max(longest, len(line))

    try:
        yield begin
    finally:
        print("\r" + " " * longest + "\r", end="", file=sys.stderr, flush=True)


def _rich_progress(console: Console, total: int | None) -> Iterator[Callable[[str], None]]:
    """Show a progress bar."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    bar = Progress(
        SpinnerColumn(),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        console=console,
        transient=True,
        expand=True,
    )
    with bar:
        task = bar.add_task("", total=total)
        done = 0

        def begin(step: str) -> None:
            nonlocal done
            bar.update(task, completed=done, description=step)
            done += 1

        yield begin


def _laid_out(
    titles: Sequence[str], rows: Sequence[Sequence[str]], width: int, flexible: int, left: Sequence[int]
) -> Iterator[str]:
    """Return the lines of a table in plain text."""
    table = [list(titles), *map(list, rows)]
    widths = [max(map(_cells, column)) for column in zip(*table, strict=True)]
    widths[flexible] = max(min(widths[flexible], width - 2 - sum(widths) + widths[flexible] - 2 * (len(widths) - 1)), 10)
    rule = "  " + "  ".join("-" * w for w in widths)
    for number, row in enumerate(table):
        wrapped = textwrap.wrap(row[flexible], widths[flexible]) or [""]
        for k, part in enumerate(wrapped):
            cells = ["" if k else cell for cell in row]
            cells[flexible] = part
            padded = [
                cell + " " * (w - _cells(cell)) if i in left else " " * (w - _cells(cell)) + cell
                for i, (cell, w) in enumerate(zip(cells, widths, strict=True))
            ]
            yield ("  " + "  ".join(padded)).rstrip()
        if not number:
            yield rule


def _cells(text: str) -> int:
    """Return the width of a text in cells of a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
