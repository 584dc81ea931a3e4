"""The types that annotations share: arrays, the functions that users give, and what is asked of an estimator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Indices", "Matrix", "PairFunction", "PointFunction", "Seed", "Vector"]

# Arrays of numbers. Double precision, except where a docstring allows single precision: NumPy has no type for "either".
Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

PointFunction = Callable[[Matrix], ArrayLike]  # of points, shape (n, d)
PairFunction = Callable[..., ArrayLike]  # of two points, or of two sets of points, and of parameters by name

# What scikit-learn's `check_random_state` takes.
Seed = int | np.random.RandomState | None
