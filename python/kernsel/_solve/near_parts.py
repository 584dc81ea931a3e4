"""Parts of space with the rows in them and those around them, from which criteria by nearest neighbours are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.rows import RowBlock
from kernsel._solve.boxes import Boxes
from kernsel._solve.keyed_rows import KeyedRows, Keys
from kernsel.approximations import Feature

__all__ = ["Division", "Part", "gathered", "split_of"]

_BYTES_OF_WORKSPACE = 500  # for each own row: neighbours of both kinds, and what sets have shown


@dataclass(frozen=True)
class Division:
    """How rows are divided: a part has the rows in its box, those near the box, and the first rows in the order of keys.

    A row is a neighbour of rows after it only, which have the more neighbours at smaller distances the later they are. So what
    is near enough depends on the place of a row in the order, of n: a later row has to be nearer.

    Attributes
    ----------
    seed : int
        Of the keys.
    features : list of (column, scale, period)
        The coordinates in which neighbours are near.
    boxes : Boxes
    radii : ndarray of shape (parts,)
        The distance from each box at which the row after the first ones is near enough.
    rows : int
        n, of those with a weight.
    first : KeyedRows
        The first rows, which all parts have.
    """

    seed: int
    features: list[Feature]
    boxes: Boxes
    radii: Vector
    rows: int
    first: KeyedRows

    def coordinates(self, X: Matrix) -> Matrix:
        """Return the features of points."""
        return np.asarray(_core.in_features(X, self.features))

    def shares(self, places: Vector) -> Vector:
        """Return the shares (k / place)^(1/d) of the radii of boxes within which rows at these places are near enough."""
        shares = np.minimum(len(self.first) / np.maximum(places, 1.0), 1.0)
        return np.asarray(shares ** (1.0 / max(sum(2 if period else 1 for *_, period in self.features), 1)))

    def places(self, keys: Keys) -> Vector:
        """Return the places of rows in the order, nearly."""
        return keys / 2.0**64 * self.rows


@dataclass
class Part:
    """The rows of a part, in the order of their keys.

    Attributes
    ----------
    rows : KeyedRows
    own : ndarray of int
        Which of them are in the box.
    features : list of (column, scale, period)
    reach, reach_before : ndarray of shape (own,)
        Within which distance of each own row the part has all rows, and all that are before it in the order.
    workspace : Workspace
        With the neighbours and the sets of the last evaluation; it is not pickled.
    shown : str
        The name of the evaluation whose sets the workspace has; empty if there are none.
    """

    rows: KeyedRows
    own: Indices
    features: list[Feature]
    reach: Vector
    reach_before: Vector
    workspace: _core.Workspace = field(default_factory=_core.Workspace)
    shown: str = ""

    def uncertain(self, left_out: bool) -> int:
        """Return how many own rows may have nearer neighbours than those of the last evaluation."""
        found = self.workspace.neighbors(left_out)
        if found is None:
            return 0
        points = np.asarray(_core.in_features(self.rows.X, self.features))
        last = np.where(found[:, -1] >= 0, found[:, -1], self.own)
        distances = np.sqrt(np.sum((points[self.own] - points[last]) ** 2, axis=1))
        distances[found[:, -1] < 0] = np.inf  # with too few neighbours, a row at any distance would be one
        return int(np.sum(distances > (self.reach if left_out else self.reach_before)))

    def __sizeof__(self) -> int:
        """Return about how many bytes it has while it is evaluated: Dask asks whether moving it to another worker pays."""
        return self.rows.nbytes + _BYTES_OF_WORKSPACE * len(self.own)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "workspace"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, workspace=_core.Workspace(), shown="")


def split_of(division: Division, block: RowBlock, before: int) -> list[KeyedRows]:
    """Return for each part the rows of a block that belong to it, but the first ones."""
    rows = KeyedRows.of_block(block, before, division.seed)
    if len(rows):
        rows = rows.part(np.flatnonzero(rows.keys > division.first.keys[-1]))
    points, shares = np.asfortranarray(division.coordinates(rows.X)), division.shares(division.places(rows.keys))
    boxes, radii = division.boxes, division.radii
    found: list[Indices] = []

    def split(near: Indices, begin: int, end: int) -> None:
        """Add the rows of each box of a range that are among those near the range, in which neighbours follow each other."""
        near = near[boxes.distances(points, begin, end, near) <= radii[begin:end].max() * shares[near]]
        if end - begin == 1:
            found.append(near)
            return
        middle = (begin + end) // 2
        split(near, begin, middle)
        split(near, middle, end)

    split(np.arange(len(rows)), 0, len(boxes))
    return [rows.part(near) for near in found]


def gathered(division: Division, box: int, pieces: Sequence[KeyedRows]) -> Part:
    """Return a part of the pieces of all blocks that belong to it."""
    rows = KeyedRows.in_order([division.first, *pieces])
    points = division.coordinates(rows.X)
    own = division.boxes.inside(points, box)
    if len(division.first) == division.rows:
        everywhere = np.full(len(own), np.inf)
        return Part(rows, own, division.features, everywhere, everywhere)
    depths = division.boxes.depths(points[own], box)
    reach = depths + division.radii[box] * division.shares(np.array([float(division.rows)]))
    reach_before = depths + division.radii[box] * division.shares(division.places(rows.keys[own]))
    reach_before[own < len(division.first)] = np.inf
    return Part(rows, own, division.features, reach, reach_before)
