"""Pieces of HTML: all that is said goes through these, and is escaped here."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kernsel.report.formats import clean, escape, number, short

__all__ = [
    "Amounts",
    "Html",
    "Table",
    "Wide",
    "code",
    "column",
    "join",
    "markup",
    "paragraph",
    "program",
    "say",
    "section",
    "value",
]


_LONG = 40  # letters of a cell that may be broken into lines


class Html(str):
    """A text that is HTML already, and is not escaped again."""

    __slots__ = ()

    def __add__(self, other: str) -> Html:
        return Html(f"{self}{markup(other)}")


class Amounts(str):
    """The head of a column of numbers, which are set to the right."""

    __slots__ = ()


def markup(content: Any) -> Html:
    """Return what is HTML as it is, anything else as escaped text."""
    return content if isinstance(content, Html) else Html(escape(str(content)))


def join(parts: Iterable[Any], between: str = "") -> Html:
    """Return pieces one after the other, each escaped unless it is HTML."""
    return Html(between.join(markup(part) for part in parts))


def say(template: str, *parts: Any) -> Html:
    """Return a sentence of ours with parts in place of its {}, which are escaped unless they are HTML."""
    return Html(template.format(*(markup(part) for part in parts)))


def paragraph(template: str, *parts: Any, kind: str = "") -> Html:
    """Return a paragraph, see `say`."""
    attribute = f' class="{kind}"' if kind else ""
    return Html(f"<p{attribute}>{say(template, *parts)}</p>\n")


def column(name: str, most: int = 48) -> Html:
    """Return the name of a column, which may be of any script: its direction is its own."""
    cut, whole = short(name, most), clean(name)
    title = f' title="{escape(whole[:300])}"' if cut != whole else ""
    return Html(f'<bdi class="name"{title}>{escape(cut)}</bdi>')


def code(text: str) -> Html:
    """Return a text as code within a line."""
    return Html(f"<code><bdi>{escape(text)}</bdi></code>")


def program(text: str, what: str) -> Html:
    """Return a program, and for those who do not see it what it is."""
    return Html(
        f'<pre tabindex="0" role="region" aria-label="{escape(what)}"><code>{html.escape(text, quote=False)}</code></pre>\n'
    )


def value(of: float, digits: int = 3, shown: str | None = None) -> Html:
    """Return a number as it is read, with the exact one for programs."""
    text = number(of, digits) if shown is None else shown
    return Html(f'<data value="{float(of)!r}">{escape(text)}</data>')


def section(name: str, heading: str, content: Any) -> Html:
    """Return a section with its heading."""
    return Html(
        f'<section id="{name}" aria-labelledby="{name}-heading">\n<h2 id="{name}-heading">{markup(heading)}</h2>\n'
        f"{content}</section>\n"
    )


@dataclass(frozen=True)
class Wide:
    """A cell across several columns."""

    content: Any
    span: int


@dataclass(frozen=True)
class Table:
    """A table that scrolls within itself where it is too wide.

    Attributes
    ----------
    caption : str or Html
    heads : sequence of str, Html or Amounts
        Of the columns.
    rows : sequence of sequences
        The first cell of each is its head; a cell is text, HTML or :class:`Wide`.
    chosen : collection of int
        Which rows are marked.
    """

    caption: Any
    heads: Sequence[Any]
    rows: Sequence[Sequence[Any]]
    chosen: Collection[int] = ()

    def html(self) -> Html:
        """Return it as HTML."""
        amounts = [isinstance(head, Amounts) for head in self.heads]
        heads = "".join(f'<th scope="col"{_kind(a)}>{markup(h)}</th>' for h, a in zip(self.heads, amounts, strict=True))
        body = "".join(self._row(row, amounts, i in self.chosen) for i, row in enumerate(self.rows))
        caption = markup(self.caption)
        label = escape(_seen(caption))
        return Html(
            f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n<table>\n'
            f"<caption><span>{caption}</span></caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n"
        )

    def _row(self, row: Sequence[Any], amounts: Sequence[bool], chosen: bool) -> str:
        cells = [f'<th scope="row"{_kind(amounts[0])}>{markup(row[0])}</th>']
        at = 1
        for cell in row[1:]:
            if isinstance(cell, Wide):
                cells.append(f'<td class="long" colspan="{cell.span}">{markup(cell.content)}</td>')
                at += cell.span
            else:
                content = markup(cell)
                cells.append(f"<td{_kind(amounts[at], long=len(_seen(content)) > _LONG)}>{content}</td>")
                at += 1
        mark = ' class="chosen"' if chosen else ""
        return f"<tr{mark}>{''.join(cells)}</tr>\n"


def _kind(amount: bool, long: bool = False) -> str:
    return ' class="amount"' if amount else ' class="long"' if long else ""


def _seen(content: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", content))
