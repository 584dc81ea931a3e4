"""Numbers for hashable keys: equal keys have the same number, throughout the process."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from itertools import count
from threading import RLock
from weakref import WeakValueDictionary

__all__ = ["Number", "Numbering"]


class Number:
    """The number of a key, which the key keeps for as long as this object is referenced.

    Attributes
    ----------
    key : hashable
    value : int
        Never given to another key, even after this object is deleted.
    """

    __slots__ = ("__weakref__", "key", "value")

    def __init__(self, key: Hashable, value: int) -> None:
        self.key = key
        self.value = value


class Numbering:
    """Gives numbers to keys, and removes those whose `Number` is no longer referenced.

    So lists of objects that were made at different times can be compared by integers. Numbers are valid in one process:
    objects that refer to some are pickled with the keys.

    Examples
    --------
    >>> from kernsel.structured.numbering import Numbering
    >>> numbering = Numbering()
    >>> held = numbering.of(["b", "a"])
    >>> [number.value for number in numbering.of(["a", "c", "b"])]
    [1, 2, 0]
    """

    def __init__(self) -> None:
        self._numbers: WeakValueDictionary[Hashable, Number] = WeakValueDictionary()
        self._next = count()
        self._unlock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)  # a thread that held the lock does not exist in the child

    def _unlock(self) -> None:
        self._lock = RLock()

    def of(self, keys: Iterable[Hashable]) -> list[Number]:
        """Return the number of each key.

        Parameters
        ----------
        keys : iterable of hashable

        Returns
        -------
        numbers : list of Number
            Equal keys have the same number.
        """
        with self._lock:
            return [self._numbers.get(key) or self._add(key) for key in keys]

    def _add(self, key: Hashable) -> Number:
        number = Number(key, next(self._next))
        self._numbers[key] = number
        return number
