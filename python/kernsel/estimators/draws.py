"""Joint draws of normal variables."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Matrix, Vector

__all__ = ["draws_of_normal"]


def draws_of_normal(rng: np.random.RandomState, mean: Vector, cov: Matrix, count: int) -> Matrix:
    """Return draws of a normal distribution, shape (m, count). The covariance need be semidefinite only up to rounding."""
    size = float(np.diag(cov).max(initial=0.0)) or 1.0  # scaled to one, since NumPy's check has an absolute tolerance
    drawn = rng.multivariate_normal(np.zeros(len(mean)), cov / size, count, check_valid="ignore")
    return np.asarray(mean[:, None] + np.sqrt(size) * drawn.T)
