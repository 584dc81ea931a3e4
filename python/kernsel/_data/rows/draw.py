"""Some rows at random of a number of rows that nobody knows before the end."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Indices

__all__ = ["Draw"]


class Draw:
    """A draw without replacement: every row draws a number, one after the other, and those with the least ones win.

    Who wins depends on the seed and the number of rows, and not on the blocks in which they come. A user of this class stores
    the rows of `candidates`, one block after the other, and from time to time only `kept` of these.

    Parameters
    ----------
    count : int
        The rows to take; all if there are fewer.
    seed : int
    """

    def __init__(self, count: int, seed: int) -> None:
        self._count = count
        self._random = np.random.default_rng(seed)
        self._keys = np.zeros(0)  # of all candidates
        self._bound = np.inf  # on the keys of those that may win: enough others are below

    def candidates(self, rows: int) -> Indices:
        """Return which of the next rows may win."""
        keys = self._random.random(rows)
        taken = np.flatnonzero(keys < self._bound)
        self._keys = np.concatenate([self._keys, keys[taken]])
        return taken

    def is_due(self) -> bool:
        """Tell whether there are so many candidates that those that have lost should be forgotten."""
        return len(self._keys) > 2 * self._count

    def kept(self) -> Indices:
        """Return which of the candidates so far may still win; the others are forgotten."""
        kept = np.sort(np.argsort(self._keys, kind="stable")[: self._count])
        self._keys = self._keys[kept]
        if len(kept) == self._count:
            self._bound = float(self._keys.max(initial=0.0))
        return kept
