"""Weights of points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

__all__ = ["point_weights"]


def point_weights(sample_weight: ArrayLike | float | None, X: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return one weight for each point, checked; None stays None."""
    if sample_weight is None:
        return None
    weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weights < 0).any():
        raise ValueError(f"sample_weight: expected weights that are not negative, got {weights.min():g}")
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero, which leaves nothing to fit")
    return weights
