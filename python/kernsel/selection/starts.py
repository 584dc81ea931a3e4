"""Where searches start: a few places that complement each other, read off the data.

A likelihood has few basins, and they differ in kind: short scales that follow the noise, long ones that call everything noise,
and the right one between them. So without noise there are a middle start, one that trusts each column as far as a cubic of it
alone explains the targets, and a short one; with noise short and quiet ones, long and loud, and loud ones that trust columns
likewise. A few quasi-random ones are for the rest. Few points with noise have more basins, and most of them take some columns
for irrelevant: so do sparse starts, and turns of each column of what was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kernsel.kernels.automatic import Anchor
from kernsel.selection.unknowns import Layout

__all__ = ["Landscape", "landscape", "sparse_points", "starting_points", "turned_points"]

Vector = NDArray[np.float64]

# How far quasi-random starts are spread around what the data propose, on the scale of theta, where it is no length scale.
_WIDTHS = {"variance": 4.0, "ratio": 4.0, "norm": 4.0, "size": 4.0, "period": 2.0, "signed": 1.0}
_IRRELEVANT, _RELEVANT, _BETWEEN = 100.0, 0.5, 5.0  # length scales of columns, in their ranges


@dataclass(frozen=True)
class Landscape:
    """What is known of each number of theta before any search, on its scale."""

    rule: NDArray[np.str_]
    middle: Vector  # the proposal of the data
    unit: Vector  # of length scales: the range of the column
    relevance: Vector  # of length scales: how much the column alone explains
    columns: Vector  # of length scales: how many the kernel sees
    leaf: NDArray[np.intp]  # of length scales: which of the kernels of the expression, counted from 0
    of_column: NDArray[np.bool_]  # is it the length scale of a column alone?


def landscape(layout: Layout, anchors: list[Anchor]) -> Landscape:
    """Return what the data say about `theta` of a kernel, which was resolved with these anchors."""
    theta = layout.theta
    count = len(theta)
    result = Landscape(
        np.full(count, "none", dtype="<U8"),
        theta.copy(),
        np.zeros(count),
        np.ones(count),
        np.ones(count),
        np.zeros(count, np.intp),
        np.zeros(count, np.bool_),
    )
    if [h.n_elements for _, h, _ in layout.entries] != [anchor.count for anchor in anchors]:
        return result  # a kernel that tells nothing of itself
    leaves = -1
    for (at, h, _), anchor in zip(layout.entries, anchors, strict=True):
        leaves += anchor.rule == "length"
        if at < 0:
            continue
        here = slice(at, at + h.n_elements)
        proposal = anchor.data.proposal(anchor.rule)
        start = np.asarray(proposal.start, dtype=np.float64)
        by_column = np.size(start) > 1 and h.n_elements % np.size(start) == 0
        middle = np.tile(start, h.n_elements // np.size(start)) if by_column else np.mean(start)
        result.rule[here] = anchor.rule
        if h.log:
            result.middle[here] = np.log(middle)
        if anchor.rule == "length":
            d = anchor.data.X.shape[1]
            every = h.n_elements // d if d and h.n_elements % d == 0 and h.n_elements > 1 else 0
            ranges = anchor.data.ranges
            result.unit[here] = np.log(np.tile(ranges, every) if every else np.mean(ranges))
            if every:
                result.relevance[here] = np.tile(anchor.data.relevance, every)
                result.of_column[here] = True
            result.columns[here] = d
            result.leaf[here] = leaves
    return result


def starting_points(land: Landscape, variance: float, noise: bool, random: int, shift: float) -> list[tuple[Vector, float]]:
    """Return starts, each theta and the logarithm of the noise.

    Parameters
    ----------
    land : Landscape
    variance : float
        Of what is modelled, in the unit of the noise.
    noise : bool
        Is there noise to be found, be it the kernel's or beside it?
    random : int
        How many quasi-random points there are at the end.
    shift : float
        Moves these.
    """
    is_length = land.rule == "length"
    root = np.sqrt(land.columns)
    share = land.relevance / max(float(land.relevance[is_length].max(initial=0.0)), 1e-3)
    trusted = np.clip(np.maximum(share, 1e-3) ** -0.5, 1.0, 30.0)
    if noise:
        kinds = [(0.3 * root, 1e-4), (1.2 * root, 1.0), (0.1 + 0 * root, 1e-4), (0.4 * root * trusted, 0.1)]
    else:
        kinds = [(0.5 + 0 * root, 1e-4), (0.5 * root * trusted, 1e-4), (0.1 + 0 * root, 1e-4)]
    # Kernels of one kind in a sum must not start alike: they would stay so.
    leaves = int(land.leaf.max(initial=0)) + 1
    apart = 4.0 ** (land.leaf - (leaves - 1) / 2)
    result = []
    for number, (factor, ratio) in enumerate(kinds):
        theta = land.middle.copy()
        spread = apart if number % 2 == 0 else 1 / apart
        theta[is_length] = (land.unit + np.log(factor * spread))[is_length]
        theta[land.rule == "noise"] = np.log(ratio * variance)
        result.append((theta, float(np.log(ratio * variance))))
    width = np.array([_WIDTHS.get(rule, 0.0) for rule in land.rule.tolist()])
    others = width > 0
    points = _quasi_random(random, len(land.middle) + 1, shift)
    for u in points:
        theta = land.middle.copy()
        wide = np.maximum(1.0, np.sqrt(land.columns / 4))
        theta[is_length] = (land.unit + np.log(0.1 * wide) + u[:-1] * np.log(30.0))[is_length]
        theta[others] += width[others] * (u[:-1][others] - 0.5)
        log_noise = float(np.log(1e-4 * variance) + u[-1] * np.log(1e4))
        theta[land.rule == "noise"] = log_noise
        result.append((theta, log_noise))
    return result


def sparse_points(land: Landscape, variance: float, count: int, shift: float) -> list[tuple[Vector, float]]:
    """Return quasi-random starts, as above, that take about half of the columns for irrelevant, and the noise for small."""
    width = np.array([_WIDTHS.get(rule, 0.0) for rule in land.rule.tolist()])
    shortest = land.unit + np.log(0.1 * np.maximum(1.0, np.sqrt(land.columns / 4)))
    result = []
    for u in _quasi_random(count, len(land.middle) + 1, shift):
        on = u[:-1] < 0.5
        length = np.where(on, shortest + 2 * u[:-1] * np.log(10.0), land.unit + np.log(_IRRELEVANT))
        log_noise = float(np.log(1e-6 * variance) + u[-1] * np.log(1e4))
        theta = np.where(land.of_column, length, land.middle + width * (u[:-1] - 0.5))
        theta[land.rule == "noise"] = log_noise
        result.append((theta, log_noise))
    return result


def turned_points(land: Landscape, theta: Vector) -> list[Vector]:
    """Return `theta` with one column at a time turned irrelevant, or relevant if it was not."""
    result = []
    for at in np.flatnonzero(land.of_column):
        other = theta.copy()
        relevant = theta[at] < land.unit[at] + np.log(_BETWEEN)
        other[at] = land.unit[at] + np.log(_IRRELEVANT if relevant else _RELEVANT)
        result.append(other)
    return result


@cache
def _steps(dimension: int) -> Vector:
    root = 2.0
    for _ in range(40):
        root = (1 + root) ** (1 / (dimension + 1))
    return np.asarray(root ** -np.arange(1.0, dimension + 1))


def _quasi_random(count: int, dimension: int, shift: float) -> Vector:
    """Return points that fill the unit cube evenly: multiples of powers of the root of x^(d+1) = x + 1."""
    steps = _steps(dimension)
    return (0.5 + shift * np.arange(1, dimension + 1) + np.outer(np.arange(1, count + 1), steps)) % 1.0
