"""Elements of HTML. Text gets into a page through these functions only, which escape it."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

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


_LONG = 40  # letters, from which on a cell may be broken into lines


class Html(str):
    """A text that is HTML, and is not escaped again."""

    __slots__ = ()

    def __add__(self, other: str) -> Html:
        return Html(f"{self}{markup(other)}")


class Amounts(str):
    """The head of a column of numbers, which are aligned on the right."""

    __slots__ = ()


def markup(content: object) -> Html:
    """Return HTML as it is, and anything else as escaped text."""
    return content if isinstance(content, Html) else Html(escape(str(content)))


def join(parts: Iterable[object], separator: str = "") -> Html:
    """Return parts one after the other, each escaped unless it is HTML."""
    return Html(separator.join(markup(part) for part in parts))


def say(template: str, *parts: object) -> Html:
    """Return a template, which is HTML, with its {} replaced by parts, which are escaped unless they are HTML."""
    return Html(template.format(*(markup(part) for part in parts)))


def paragraph(template: str, *parts: object, kind: str = "") -> Html:
    """Return a paragraph; for its template see `say`."""
    attribute = f' class="{kind}"' if kind else ""
    return Html(f"<p{attribute}>{say(template, *parts)}</p>\n")


def column(name: str, most: int = 48) -> Html:
    """Return the name of a column, isolated from the text around it, because its script may run from right to left."""
    label, full = short(name, most), clean(name)
    title = f' title="{escape(full[:300])}"' if label != full else ""
    return Html(f'<bdi class="name"{title}>{escape(label)}</bdi>')


def code(text: str) -> Html:
    """Return a text as inline code."""
    return Html(f"<code><bdi>{escape(text)}</bdi></code>")


def program(text: str, label: str) -> Html:
    """Return a program as a block of code, with a label for screen readers."""
    return Html(
        f'<pre tabindex="0" role="region" aria-label="{escape(label)}"><code>{html.escape(text, quote=False)}</code></pre>\n'
    )


def value(exact: float, digits: int = 3, shown: str | None = None) -> Html:
    """Return a rounded number, or the text `shown`, with the exact number as an attribute for programs."""
    text = number(exact, digits) if shown is None else shown
    return Html(f'<data value="{float(exact)!r}">{escape(text)}</data>')


def section(name: str, heading: str, content: str) -> Html:
    """Return a section with its heading."""
    return Html(
        f'<section id="{name}" aria-labelledby="{name}-heading">\n<h2 id="{name}-heading">{markup(heading)}</h2>\n'
        f"{content}</section>\n"
    )


@dataclass(frozen=True)
class Wide:
    """A cell that spans several columns."""

    content: str
    span: int


# What a cell of a table is made from: text, HTML, or HTML across several columns.
Cell = str | Wide


@dataclass(frozen=True)
class Table:
    """A table, which has its own scroll bar if it is too wide.

    Attributes
    ----------
    caption : str or Html
    heads : sequence of str, Html or Amounts
        The heads of the columns.
    rows : sequence of sequences
        The cells of each row, of which the first is the head; a cell is text, HTML or :class:`Wide`.
    chosen : collection of int
        The rows that are marked.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    chosen: Collection[int] = ()

    def html(self) -> Html:
        """Return the table as HTML."""
        amounts = [isinstance(head, Amounts) for head in self.heads]
        heads = "".join(f'<th scope="col"{_kind(a)}>{markup(h)}</th>' for h, a in zip(self.heads, amounts, strict=True))
        body = "".join(self._row(row, amounts, i in self.chosen) for i, row in enumerate(self.rows))
        caption = markup(self.caption)
        label = escape(_text_of(caption))
        return Html(
            f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n<table>\n'
            f"<caption><span>{caption}</span></caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n"
        )

    def _row(self, row: Sequence[Cell], amounts: Sequence[bool], chosen: bool) -> str:
        cells = [f'<th scope="row"{_kind(amounts[0])}>{markup(row[0])}</th>']
        column = 1
        for cell in row[1:]:
            if isinstance(cell, Wide):
                cells.append(f'<td class="long" colspan="{cell.span}">{markup(cell.content)}</td>')
                column += cell.span
            else:
                content = markup(cell)
                cells.append(f"<td{_kind(amounts[column], long=len(_text_of(content)) > _LONG)}>{content}</td>")
                column += 1
        mark = ' class="chosen"' if chosen else ""
        return f"<tr{mark}>{''.join(cells)}</tr>\n"


def _kind(amount: bool, long: bool = False) -> str:
    """Return the class of a cell as an attribute."""
    return ' class="amount"' if amount else ' class="long"' if long else ""


def _text_of(content: str) -> str:
    """Return the text of HTML, without its tags."""
    return html.unescape(re.sub("<[^>]*>", "", content))
