"""Observations with a likelihood, as searches and evaluations take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel.likelihoods.base import Likelihood

__all__ = ["Observations", "sizes_of"]


@dataclass(frozen=True)
class Observations:
    """Observations with a likelihood.

    Attributes
    ----------
    likelihood : Likelihood
    y : ndarray of shape (n,)
    sizes : ndarray of shape (n,) or None
        What the likelihood knows of each besides y: exposures, numbers of trials.
    inference : {"auto", "laplace", "ep"}
        "auto" is the usual one of the likelihood.
    """

    likelihood: Likelihood
    y: Vector
    sizes: Vector | None = None
    inference: str = "auto"

    def core(self) -> _core.Observed:
        """Return a new object of the core, which keeps the last inference."""
        return _core.Observed(self.likelihood.core(), self.inferred_by, [] if self.sizes is None else self.sizes.tolist())

    @property
    def inferred_by(self) -> str:
        """The inference that is used, "laplace" or "ep"."""
        return self.likelihood.usual_inference if self.inference == "auto" else self.inference

    @cached_property
    def rough(self) -> Vector:
        """Latent values that are a transform of each observation alone, from which the data tell starts."""
        return np.asarray(self.likelihood.rough(self.y, self.sizes))


def sizes_of(likelihood: Likelihood, given: Mapping[str, ArrayLike | None], n: int) -> Vector | None:
    """Return the sizes of observations that a call was given under the name that the likelihood has for them, or None.

    Parameters
    ----------
    likelihood : Likelihood
    given : dict
        For each name, such as "exposure" and "trials", a number, an array of shape (n,), or None.
    n : int
    """
    sizes = None
    for name, values in given.items():
        if values is None:
            continue
        if name != likelihood.size_name:
            known = f"; they have {likelihood.size_name}" if likelihood.size_name else ""
            raise ValueError(f"{name}: {type(likelihood).__name__} observations have no {name}{known}")
        sizes = np.asarray(values, dtype=np.float64)
        if sizes.ndim == 0:
            sizes = np.full(n, float(sizes))
        if sizes.shape != (n,):
            raise ValueError(f"{name}: expected one number, or one for each of the {n} points, got shape {sizes.shape}")
        likelihood.check_sizes(sizes)
    return sizes
