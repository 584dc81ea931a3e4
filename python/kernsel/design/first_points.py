"""First designs: points that fill a box before anything is known of the function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import qmc
from sklearn.utils import check_random_state

from kernsel._base.annotations import Matrix, Seed
from kernsel._data.allowed import one_of, whole
from kernsel.design.space import Space

__all__ = ["first_points", "sobol"]

_METHODS = one_of("sobol", "latin")


def first_points(
    bounds: ArrayLike,
    n: int,
    *,
    method: str = "sobol",
    integers: Any = (),
    categories: Mapping[int, Any] | None = None,
    random_state: Seed = 0,
) -> Matrix:
    """Return points that fill a box.

    Parameters
    ----------
    bounds : array-like of shape (d, 2)
        The lower and the upper end of each column; of a column of categories it may be None.
    n : int
        Some 10 d are usual; 2 d + 2 if evaluations are dear.
    method : {"sobol", "latin"}
        A scrambled Sobol' sequence, or a Latin hypercube whose centred discrepancy was lowered by exchanges, in O(n^2).
    integers : sequence of int
        The columns of whole numbers.
    categories : dict of int to sequence of float, optional
        The numbers that stand for the categories of a column.
    random_state : int, RandomState instance or None

    Returns
    -------
    X : ndarray of shape (n, d)

    Examples
    --------
    >>> import kernsel as ks
    >>> X = ks.design.first_points([(-5, 10), (0, 15), None], 8, integers=[1], categories={2: [0, 1, 2]})
    >>> X.shape, sorted(set(X[:, 2].tolist()))
    ((8, 3), [0.0, 1.0, 2.0])
    """
    if not _METHODS.accepts(method):
        raise ValueError(f"method: expected {_METHODS.expected}, got {method!r}")
    if not whole(1).accepts(n):
        raise ValueError(f"n: expected {whole(1).expected}, got {n!r}")
    space = Space(bounds, integers, categories)
    rng = check_random_state(random_state)
    if method == "sobol":
        return space.from_unit(sobol(space.d, int(n), rng))
    sampler = qmc.LatinHypercube(space.d, optimization="random-cd", seed=_seed(rng))
    return space.from_unit(sampler.random(int(n)))


def sobol(d: int, n: int, rng: np.random.RandomState) -> Matrix:
    """Return the first n points of a scrambled Sobol' sequence in the unit cube."""
    sampler = qmc.Sobol(d, seed=_seed(rng))
    return np.asarray(sampler.random_base2(max(int(np.ceil(np.log2(n))), 0))[:n])


def _seed(rng: np.random.RandomState) -> np.random.Generator:
    return np.random.default_rng(rng.randint(2**31 - 1))
