"""Boxes that divide space, and how far rows outside of one may be that are neighbours of rows inside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from kernsel._base.annotations import Indices, Matrix, Vector

__all__ = ["Boxes", "divided", "radii"]

_QUANTILE = 0.99  # of the distances of neighbours of the rows of a box
_SAFETY = 1.25
_QUERIES, _QUERIES_OF_BOX = 4000, 200  # points whose neighbours are looked at, in all and for each box, at least


@dataclass(frozen=True)
class Boxes:
    """Boxes without gaps; a lower face belongs to its box, and an upper one does not.

    Attributes
    ----------
    low, high : ndarray of shape (count, d)
        The outermost faces are infinitely far.
    """

    low: Matrix
    high: Matrix

    def __len__(self) -> int:
        return len(self.low)

    def inside(self, points: Matrix, box: int) -> Indices:
        """Return which points are in a box."""
        return np.flatnonzero(((points >= self.low[box]) & (points < self.high[box])).all(axis=1))

    def distances(self, points: Matrix, begin: int, end: int, rows: Indices | None = None) -> Vector:
        """Return the distances of points, or of some rows of them, from the smallest box around some boxes; zero inside."""
        low, high = self.low[begin:end].min(axis=0), self.high[begin:end].max(axis=0)
        total = np.zeros(len(points) if rows is None else len(rows))
        for column in range(points.shape[1]):
            if np.isinf(low[column]) and np.isinf(high[column]):
                continue
            values = points[:, column] if rows is None else points[:, column].take(rows)
            total += np.maximum(np.maximum(low[column] - values, values - high[column]), 0.0) ** 2
        return np.sqrt(total)

    def depths(self, points: Matrix, box: int) -> Vector:
        """Return the distances of points in a box from its faces; infinite if there are none."""
        to_faces = np.minimum(points - self.low[box], self.high[box] - points)
        return np.asarray(to_faces.min(axis=1, initial=np.inf))


def divided(points: Matrix, count: int) -> Boxes:
    """Return boxes with about equally many of the points: at most `count`, and fewer if too many points are equal."""
    boxes: list[tuple[Vector, Vector]] = []

    def divide(rows: Indices, low: Vector, high: Vector, count: int) -> None:
        inside = points[rows]
        for column in np.argsort(-np.ptp(inside, axis=0), kind="stable") if count > 1 else ():
            values = np.sort(inside[:, column])
            if values[0] < values[-1]:
                cut = max(values[len(values) * (count // 2) // count], values[np.searchsorted(values, values[0], "right")])
                below = inside[:, column] < cut
                upper, lower = high.copy(), low.copy()
                upper[column] = lower[column] = cut
                divide(rows[below], low, upper, count // 2)
                divide(rows[~below], lower, high, count - count // 2)
                return
        boxes.append((low, high))

    infinite = np.full(points.shape[1], np.inf)
    divide(np.arange(len(points)), -infinite, infinite, count)
    low, high = zip(*boxes, strict=True)
    return Boxes(np.array(low), np.array(high))


def radii(points: Matrix, boxes: Boxes, neighbors: int, rows: int, most: float) -> Vector:
    """Return for each box a distance within which rows of the box have nearly always so many neighbours among points.

    It is smaller where the rows at this and smaller distances, of which there are more the nearer they are (see
    `Division.shares`), would be more than `most`.

    Parameters
    ----------
    points : ndarray of shape (k, d)
        A sample of all rows, in random order.
    boxes : Boxes
    neighbors : int
    rows : int
        The number of all rows.
    most : float
    """
    some = points[: max(_QUERIES, _QUERIES_OF_BOX * len(boxes))]
    found = np.full(len(some), np.inf)
    if neighbors < len(points) and points.shape[1]:
        found = KDTree(points).query(some, k=[neighbors + 1])[0][:, 0]  # a point is its own nearest one
    out = np.empty(len(boxes))
    of_each = rows / len(points)  # rows that a point stands for
    for box in range(len(boxes)):
        inside = found[boxes.inside(some, box)]
        out[box] = _SAFETY * np.quantile(inside, _QUANTILE, method="higher") if len(inside) else np.inf
        distances = boxes.distances(points, box, box + 1)
        distances = distances[distances > 0]
        if not np.isfinite(out[box]) or not len(distances):
            continue
        d = points.shape[1]

        def outside(radius: float, at: Vector = distances, d: int = d) -> float:
            return float(np.minimum((radius / at) ** d, of_each).sum())

        if outside(out[box]) > most:
            low, high = 0.0, float(out[box])
            for _ in range(40):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if outside(middle) <= most else (low, middle)
            out[box] = low
    return out
