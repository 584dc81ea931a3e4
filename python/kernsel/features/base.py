"""What the transformers share: the checks of points, weights and kernels."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.documentation import LinksToItsPage
from kernsel._data.kernel import kernel_of
from kernsel._data.noise import point_weights
from kernsel.kernels import RBF, Kernel
from kernsel.kernels.automatic import Data

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["Transformer", "whole_number"]


class Transformer(LinksToItsPage, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The base class of the transformers, which checks points and weights, and resolves "auto" parameters of kernels."""

    def points_of_fit(self, X: ArrayLike, sample_weight: ArrayLike | float | None) -> tuple[Matrix, Vector | None]:
        """Return the points of positive weight, in double precision, and their weights."""
        array = np.asarray(validate_data(self, X, dtype=(np.float64, np.float32)))
        points = array.astype(np.float64, copy=False)
        if (weights := point_weights(sample_weight, array)) is None:
            return points, None
        return points[weights > 0], weights[weights > 0]

    def new_points(self, X: ArrayLike) -> Matrix:
        """Return points to be transformed, in single precision if they are in single precision."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=(np.float64, np.float32), reset=False))

    def resolved(self, kernel: Kernel | None, points: Matrix, weights: Vector | None) -> Kernel:
        """Return the kernel, None standing for RBF("auto"), with "auto" parameters set from the points."""
        ours = kernel_of(kernel, auto=RBF("auto"), none=RBF("auto"))
        return ours.resolve(Data(points, None, weights, getattr(self, "feature_names_in_", None)))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def whole_number(name: str, value: object) -> int:
    """Return a number from 1 on; raise if it is none."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise ValueError(f"{name}: expected a whole number from 1 on, got {value!r}")
    return int(value)
