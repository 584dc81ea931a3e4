"""What is printed: results to the standard output, all else to the standard error; in colours where there are any.

With rich (``pip install 'kernsel[cli]'``) and a terminal, tables and bars are its; otherwise plain text says the same.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["Terminal"]

_NARROWEST, _WIDEST = 60, 110


class Terminal:
    """Where results and notes go.

    Parameters
    ----------
    quiet : bool
        No notes, no progress.
    json : bool
        Results are one JSON document, and what is said for people is not printed.
    """

    def __init__(self, *, quiet: bool = False, json: bool = False) -> None:
        self.quiet = quiet
        self.json = json
        self.width = min(max(shutil.get_terminal_size((100, 24)).columns, _NARROWEST), _WIDEST)
        self._out = self._console(sys.stdout)
        self._err = self._console(sys.stderr)

    def _console(self, stream: Any) -> Any:
        """Return rich's console, if there are rich and a terminal."""
        if not stream.isatty():
            return None
        try:
            console = importlib.import_module("rich.console")
        except ImportError:
            return None
        return console.Console(file=stream, width=self.width, highlight=False, markup=False, emoji=False)

    def heading(self, text: str) -> None:
        """Print the title of what follows."""
        self._print("\n" + textwrap.fill(text, self.width), "bold")

    def say(self, text: str, indent: int = 2, style: str = "") -> None:
        """Print paragraphs, wrapped."""
        for line in text.split("\n"):
            margin = " " * indent
            hanging = margin + "  " * line.startswith("- ")
            self._print(textwrap.fill(line, self.width, initial_indent=margin, subsequent_indent=hanging), style)

    def command(self, *lines: str) -> None:
        """Print what can be typed: never wrapped, so that it can be copied."""
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
        """Print a table that fits: one column, the flexible one, is wrapped if it must be.

        Parameters
        ----------
        titles : sequence of str
        rows : sequence of sequence of str
        flexible : int
            Which column is wrapped.
        left : sequence of int
            Which columns are aligned at the left; the others are at the right.
        best : int, optional
            Which row stands out.
        """
        if self.json:
            return
        if self._out is None:
            print("\n".join(_laid_out(titles, rows, self.width, flexible, left)))
            return
        kind = importlib.import_module("rich.table")
        boxes = importlib.import_module("rich.box")
        styled = importlib.import_module("rich.text").Text
        table = kind.Table(box=boxes.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim", show_edge=False)
        for k, title in enumerate(titles):
            justify = "left" if k in left else "right"
            table.add_column(styled(title), justify=justify, no_wrap=k != flexible, overflow="fold")
        for number, row in enumerate(rows):
            table.add_row(*map(styled, row), style="bold green" if number == best else None)
        padding = importlib.import_module("rich.padding")
        self._out.print(padding.Padding(table, (0, 0, 0, 2)))

    def note(self, text: str) -> None:
        """Tell of something on the standard error."""
        if not self.quiet:
            self._tell(text, "yellow")

    def error(self, text: str) -> None:
        """Say on the standard error what is wrong."""
        self._tell(f"kernsel: {text}", "bold red")

    def _tell(self, text: str, style: str) -> None:
        sys.stdout.flush()
        text = textwrap.fill(text, self.width, break_long_words=False, break_on_hyphens=False)
        if self._err is None:
            print(text, file=sys.stderr)
        else:
            self._err.print(text, style=style, soft_wrap=True)

    def document(self, value: Any) -> None:
        """Print the JSON document, if it is asked for."""
        if self.json:
            print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))

    @contextmanager
    def progress(self, total: int | None) -> Iterator[Callable[[str], None]]:
        """Show how far long work is; gives a function to be told what is begun next.

        Parameters
        ----------
        total : int or None
            How many steps there are, if that is known.
        """
        if self.quiet or not sys.stderr.isatty():
            yield lambda _: None
        elif self._err is None:
            yield from _plain_progress(total)
        else:
            yield from _rich_progress(self._err, total)


def _plain_progress(total: int | None) -> Iterator[Callable[[str], None]]:
    """Show steps on one line that is written over."""
    began, done, longest = time.monotonic(), 0, 0

    def begin(what: str) -> None:
        nonlocal done, longest
        of = "" if total is None else f"/{total}"
        line = f"[{done + 1}{of}, {time.monotonic() - began:.0f} s] {what}"[: _NARROWEST - 1]
        print("\r" + line.ljust(longest), end="", file=sys.stderr, flush=True)
        done, longest = done + 1, max(longest, len(line))

    try:
        yield begin
    finally:
        print("\r" + " " * longest + "\r", end="", file=sys.stderr, flush=True)


def _rich_progress(console: Any, total: int | None) -> Iterator[Callable[[str], None]]:
    """Show a bar."""
    rich = importlib.import_module("rich.progress")
    text = importlib.import_module("rich.table").Column
    bar = rich.Progress(
        rich.SpinnerColumn(),
        rich.BarColumn(bar_width=20),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TextColumn("{task.description}", markup=False, table_column=text(ratio=1, no_wrap=True, overflow="ellipsis")),
        console=console,
        transient=True,
        expand=True,
    )
    with bar:
        task = bar.add_task("", total=total)
        begun = 0

        def begin(what: str) -> None:
            nonlocal begun
            bar.update(task, completed=begun, description=what)
            begun += 1

        yield begin


def _laid_out(
    titles: Sequence[str], rows: Sequence[Sequence[str]], width: int, flexible: int, left: Sequence[int]
) -> Iterator[str]:
    """Return the lines of a table in plain text."""
    every = [list(titles), *map(list, rows)]
    widths = [max(map(_cells, column)) for column in zip(*every, strict=True)]
    widths[flexible] = max(min(widths[flexible], width - 2 - sum(widths) + widths[flexible] - 2 * (len(widths) - 1)), 10)
    rule = "  " + "  ".join("-" * w for w in widths)
    for number, row in enumerate(every):
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
    """Return how many cells of a terminal a text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
