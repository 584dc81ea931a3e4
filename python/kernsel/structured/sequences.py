"""Strings and sequences of any tokens: checks, and their encoding as numbers for the C++ core."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Integral
from typing import TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel._base.annotations import Matrix

__all__ = ["Alphabet", "Tables", "alphabet_size", "as_flag", "as_sequences", "encode", "is_whole", "numbers_of", "split"]

Alphabet = Sequence[Hashable]
Tables = Matrix | tuple[Matrix, Matrix]  # values of a kernel, with or without their derivatives


def as_sequences(X: object, name: str = "X") -> list[Sequence[Hashable]]:
    """Return a list of strings or of sequences of tokens; raise if X does not stand for one.

    Parameters
    ----------
    X : list of str, of bytes, or of sequences
        Also a tuple, an array or a series of these. Tokens are of any hashable kind; one-dimensional arrays become lists.
        Sequences may be empty.
    name : str
        What errors call X.

    Returns
    -------
    X : list of sequences
        Lists that need no change are returned as they are, in O(n).

    Raises
    ------
    TypeError
        If X is a single string, has no order, or has an item that is not a sequence.

    Examples
    --------
    >>> from kernsel.structured.strings import as_sequences
    >>> as_sequences(("GATTACA", ["to", "be"]))
    ['GATTACA', ['to', 'be']]
    """
    if isinstance(X, str | bytes | dict | AbstractSet) or not isinstance(X, Iterable):
        raise TypeError(f"{name}: expected a list of strings or of sequences of tokens, got {X!r}")
    items: list[Sequence[Hashable]] = X if isinstance(X, list) else list(X)
    if any(isinstance(item, np.ndarray) for item in items):
        items = [item.tolist() if isinstance(item, np.ndarray) else item for item in items]
    for i, item in enumerate(items):
        if not isinstance(item, str | bytes | Sequence):
            raise TypeError(f"{name}[{i}]: expected a string or a sequence of tokens, got {item!r}")
    return items


def alphabet_size(X: object) -> int:
    """Return the number of distinct tokens in a list of strings or sequences, but at least two.

    Parameters
    ----------
    X : list of str, of bytes, or of sequences

    Returns
    -------
    size : int

    Examples
    --------
    >>> from kernsel.structured.strings import alphabet_size
    >>> alphabet_size(["GATTACA", "GATTA"])
    4
    """
    sequences = as_sequences(X)
    try:
        return max(2, len(set(chain.from_iterable(sequences))))
    except TypeError as error:
        raise TypeError(f"X: expected tokens that are hashable ({error})") from None


def numbers_of(alphabet: Alphabet | int) -> dict[Hashable, int]:
    """Return the number of each letter of an alphabet."""
    try:
        tokens = list(alphabet)  # type: ignore[arg-type]  # a number raises
        numbers = {token: i for i, token in enumerate(tokens)}
    except TypeError as error:
        raise TypeError(f"alphabet: expected a string or a sequence of hashable tokens, got {alphabet!r} ({error})") from None
    if not tokens or len(numbers) < len(tokens):
        raise ValueError(f"alphabet: expected tokens that are all different, one at least, got {alphabet!r}")
    return numbers


def encode(X: object, Z: object, numbers: dict[Hashable, int] | None) -> tuple[_core.Sequences, _core.Sequences | None]:
    """Return two lists of sequences as the core reads them, in which equal tokens have equal numbers.

    If `numbers` are given, tokens that are not among them get -1; otherwise tokens are numbered in the order of their first
    occurrence.
    """
    complete = numbers is not None
    numbers = {} if numbers is None else numbers
    x = _encode_list(X, "X", numbers, complete)
    return x, None if Z is None else _encode_list(Z, "Z", numbers, complete)


def _encode_list(X: object, name: str, numbers: dict[Hashable, int], complete: bool) -> _core.Sequences:
    sequences = as_sequences(X, name)
    offsets = np.zeros(len(sequences) + 1, dtype=np.int64)
    np.cumsum([len(sequence) for sequence in sequences], out=offsets[1:])
    if all(isinstance(sequence, str) for sequence in sequences):
        return _core.Sequences(_encode_text("".join(cast("list[str]", sequences)), numbers, complete), offsets)
    parts = [np.empty(0, dtype=np.int32)]
    for i, sequence in enumerate(sequences):
        try:
            parts.append(_encode(sequence, numbers, complete))
        except TypeError as error:
            raise TypeError(f"{name}[{i}]: expected tokens that are hashable ({error})") from None
    return _core.Sequences(np.concatenate(parts), offsets)


def _encode(tokens: Iterable[Hashable], numbers: dict[Hashable, int], complete: bool) -> NDArray[np.int32]:
    """Return the numbers of tokens; add those that have none to `numbers`, unless these are complete."""
    if complete:
        return np.array([numbers.get(token, -1) for token in tokens], dtype=np.int32)
    return np.array([numbers.setdefault(token, len(numbers)) for token in tokens], dtype=np.int32)


def _encode_text(text: str, numbers: dict[Hashable, int], complete: bool) -> NDArray[np.int32]:
    """Return the numbers of characters, by looking up each distinct character once."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    table = np.zeros(1 + int(points.max(initial=0)), dtype=np.int32)
    table[points] = 1
    letters = np.flatnonzero(table)
    table[letters] = _encode(map(chr, letters), numbers, complete)
    return table[points]


def is_whole(value: object, least: int) -> TypeGuard[int]:
    """Tell whether a value is a whole number from `least` on that the C++ core can represent."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) < 2**31


def as_flag(name: str, value: object) -> bool:
    """Return a value that is True or False; raise if it is anything else."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def split(tables: Matrix) -> Tables:
    """Return the values of a kernel, tables[0], and its derivatives if there are any: one table, or an array of several."""
    first: Matrix = tables[0]
    if len(tables) == 1:
        return first
    return first, tables[1] if len(tables) == 2 else tables[1:]
