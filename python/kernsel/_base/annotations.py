"""Types for annotations: arrays, functions that users give, random seeds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Indices", "Matrix", "PairFunction", "PointFunction", "Seed", "Vector"]

# Arrays of numbers. Double precision, except where a docstring allows single precision: NumPy has no type for "either".
Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

PointFunction = Callable[[Matrix], ArrayLike]  # a function of points, shape (n, d)
PairFunction = Callable[..., ArrayLike]  # a function of two points, or of two sets of points, and of named parameters

# The arguments that scikit-learn's `check_random_state` accepts.
Seed = int | np.random.RandomState | None
