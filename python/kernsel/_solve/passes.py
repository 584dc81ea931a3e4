"""Passes over blocks of rows, whose sums have the same bits wherever they are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import repeat
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from kernsel._data.rows import RowSource

__all__ = ["FAN_IN", "LocalPasses", "Passes", "Summand", "Tree", "total"]

FAN_IN = 8  # summands of a sum in the tree


class Summand(Protocol):
    """What is summed over rows. A new object without arguments is that of no rows."""

    def add(self, other: Any, /) -> None:
        """Add the sums of other rows."""


S = TypeVar("S", bound=Summand)
R = TypeVar("R")


def total(parts: list[S]) -> S:
    """Return the sum of parts from left to right. They stay as they are, since a task may use them once more."""
    if len(parts) == 1:
        return parts[0]
    out = type(parts[0])()
    for part in parts:
        out.add(part)
    return out


class Tree(Generic[S]):
    """A sum in a fixed order: of each `FAN_IN` consecutive summands, of as many of these sums, and so on.

    It has the same order whether summands come one after the other or all at once, and holds few of them at a time.
    """

    def __init__(self) -> None:
        self._levels: list[list[S]] = []

    def add(self, summand: S) -> None:
        """Add the next summand."""
        level = 0
        while True:
            if level == len(self._levels):
                self._levels.append([])
            self._levels[level].append(summand)
            if len(self._levels[level]) < FAN_IN:
                return
            summand = total(self._levels[level])
            self._levels[level] = []
            level += 1

    def result(self) -> S:
        """Return the sum of all, of which there must be one at least."""
        carried: list[S] = []
        for level in self._levels:
            parts = level + carried
            carried = [total(parts)] if parts else []
        return carried[0]


class Passes(AbstractContextManager["Passes"], Protocol):
    """Blocks of rows, over which passes are made.

    A pass calls function(stage, block, *more) for each block, with one element of each iterable of `each`.
    """

    def summed(self, name: str, function: Callable[..., S], stage: object, *each: Iterable[Any]) -> S:
        """Return the sum of what a function returns for each block."""

    def listed(self, name: str, function: Callable[..., R], stage: object, *each: Iterable[Any]) -> list[R]:
        """Return what a function returns for each block."""

    def regrouped(
        self,
        name: str,
        split: Callable[..., list[Any]],
        gather: Callable[..., Any],
        stage: object,
        count: int,
        *each: Iterable[Any],
    ) -> Passes:
        """Return passes over other blocks, which are kept until the end.

        Of each block, split(stage, block, *more) returns `count` pieces, and new block k is gather(stage, k, pieces), with the
        k-th piece of each.
        """

    def everywhere(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function once in each process that makes passes, here included."""


class _Held:
    """Blocks in memory."""

    def __init__(self, blocks: list[Any]) -> None:
        self._blocks = blocks

    def blocks(self) -> Iterator[Any]:
        """Return all blocks."""
        return iter(self._blocks)


class LocalPasses(Passes):
    """The blocks of a source, one after the other."""

    def __init__(self, source: RowSource | _Held) -> None:
        self._source = source

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        """Do nothing: there is nothing to release."""

    def summed(self, name: str, function: Callable[..., S], stage: object, *each: Iterable[Any]) -> S:
        """Return the sum of what a function returns for each block."""
        del name
        tree: Tree[S] = Tree()
        for block, *more in zip(self._source.blocks(), *(each or [repeat(None)]), strict=False):
            tree.add(function(stage, block, *(more if each else [])))
        return tree.result()

    def listed(self, name: str, function: Callable[..., R], stage: object, *each: Iterable[Any]) -> list[R]:
        """Return what a function returns for each block."""
        del name
        found = zip(self._source.blocks(), *(each or [repeat(None)]), strict=False)
        return [function(stage, block, *(more if each else [])) for block, *more in found]

    def regrouped(
        self,
        name: str,
        split: Callable[..., list[Any]],
        gather: Callable[..., Any],
        stage: object,
        count: int,
        *each: Iterable[Any],
    ) -> Passes:
        """Return passes over other blocks, which are held in memory."""
        pieces = self.listed(name, split, stage, *each)
        return LocalPasses(_Held([gather(stage, k, [of_block[k] for of_block in pieces]) for k in range(count)]))

    def everywhere(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function here."""
        function(*arguments)
