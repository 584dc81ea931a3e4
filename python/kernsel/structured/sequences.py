"""Strings and sequences of any tokens, checked, and numbered for the core."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kernsel import _core

__all__ = ["Alphabet", "Tables", "alphabet_size", "as_flag", "as_sequences", "encode", "is_whole", "numbers_of", "split"]

Alphabet = Sequence[Hashable]
Matrix = NDArray[np.float64]
Tables = Matrix | tuple[Matrix, Matrix]  # a kernel, and its derivatives if they are wanted


def as_sequences(X: Any, name: str = "X") -> list[Sequence[Hashable]]:
    """Check a list of strings or of sequences of tokens.

    Parameters
    ----------
    X : list of str, of bytes, or of sequences
        Also a tuple, an array or a series of these. Tokens are of any hashable kind; one-dimensional arrays become lists.
        Sequences may be empty.
    name : str
        What errors call it.

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
    items = X if isinstance(X, list) else list(X)
    if any(isinstance(item, np.ndarray) for item in items):
        items = [item.tolist() if isinstance(item, np.ndarray) else item for item in items]
    for i, item in enumerate(items):
        if not isinstance(item, str | bytes | Sequence):
            raise TypeError(f"{name}[{i}]: expected a string or a sequence of tokens, got {item!r}")
    return items


def alphabet_size(X: Any) -> int:
    """Count the different tokens in a list of strings or sequences; two at least.

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


def numbers_of(alphabet: Any) -> dict[Hashable, int]:
    """Return the number of each letter of an alphabet."""
    try:
        tokens = list(alphabet)
        numbers = {token: i for i, token in enumerate(tokens)}
    except TypeError as error:
        raise TypeError(f"alphabet: expected a string or a sequence of hashable tokens, got {alphabet!r} ({error})") from None
    if not tokens or len(numbers) < len(tokens):
        raise ValueError(f"alphabet: expected tokens that are all different, one at least, got {alphabet!r}")
    return numbers


def encode(X: Any, Z: Any | None, numbers: dict[Hashable, int] | None) -> tuple[_core.Sequences, _core.Sequences | None]:
    """Return two lists of sequences as the core reads them, equal tokens having equal numbers.

    With numbers, tokens without one are unknown, which is -1; without, all tokens are numbered as they come.
    """
    known = numbers is not None
    numbers = {} if numbers is None else numbers
    x = _encode_list(X, "X", numbers, known)
    return x, None if Z is None else _encode_list(Z, "Z", numbers, known)


def _encode_list(X: Any, name: str, numbers: dict[Hashable, int], known: bool) -> _core.Sequences:
    sequences = as_sequences(X, name)
    offsets = np.zeros(len(sequences) + 1, dtype=np.int64)
    np.cumsum([len(sequence) for sequence in sequences], out=offsets[1:])
    if all(isinstance(sequence, str) for sequence in sequences):
        return _core.Sequences(_encode_text("".join(cast("list[str]", sequences)), numbers, known), offsets)
    parts = [np.empty(0, dtype=np.int32)]
    for i, sequence in enumerate(sequences):
        try:
            parts.append(_encode(sequence, numbers, known))
        except TypeError as error:
            raise TypeError(f"{name}[{i}]: expected tokens that are hashable ({error})") from None
    return _core.Sequences(np.concatenate(parts), offsets)


def _encode(tokens: Iterable[Hashable], numbers: dict[Hashable, int], known: bool) -> NDArray[np.int32]:
    if known:
        return np.array([numbers.get(token, -1) for token in tokens], dtype=np.int32)
    return np.array([numbers.setdefault(token, len(numbers)) for token in tokens], dtype=np.int32)


def _encode_text(text: str, numbers: dict[Hashable, int], known: bool) -> NDArray[np.int32]:
    """Encode each character that there is once, for all places that have it."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    table = np.zeros(1 + int(points.max(initial=0)), dtype=np.int32)
    table[points] = 1
    letters = np.flatnonzero(table)
    table[letters] = _encode(map(chr, letters), numbers, known)
    return table[points]


def is_whole(value: Any, least: int) -> bool:
    """Say whether it is a whole number, from that one on, that the core can hold."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) < 2**31


def as_flag(name: str, value: Any) -> bool:
    """Check that it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def split(tables: Matrix) -> Tables:
    """Return the first of some tables, and what is behind it: one table by itself, or several."""
    first: Matrix = tables[0]
    if len(tables) == 1:
        return first
    return first, tables[1] if len(tables) == 2 else tables[1:]
