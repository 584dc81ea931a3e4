"""Products of powers of the columns."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import factorial
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from kernsel._base.annotations import Matrix, Vector
from kernsel.features.base import Transformer, whole_number
from kernsel.kernels import ConstantKernel, DotProduct, Kernel, Linear, Product
from kernsel.kernels import Polynomial as PolynomialKernel
from kernsel.kernels.automatic import Data

__all__ = ["Polynomial"]


class Polynomial(Transformer):
    """All products of powers of the columns up to a degree.

    The columns are first centred and divided by their standard deviations at the points of `fit`, so that a penalty on the
    coefficients does not depend on the units of the columns. d columns and degree p make (d + p)! / (d! p!) features, the
    constant included.

    Parameters
    ----------
    degree : int
        From 1 on.
    include_bias : bool
        Whether the first feature is the constant 1.
    interaction_only : bool
        Whether to leave out powers of a column, and take products of different columns only.
    scale : bool
        False for columns that are neither centred nor scaled.
    kernel : Kernel, optional
        :class:`kernsel.kernels.Polynomial`, ``DotProduct`` or ``Linear``, or a positive multiple of one. The features are then
        those of the kernel, phi(x)'phi(z) = k(x, z): columns are divided by its length scales and not centred, a product has
        the root of its coefficient in the expansion of the kernel as a factor, and the other parameters are not used. Ridge
        regression on them is kernel ridge regression, in O(n) for few columns. "auto" parameters are set in `fit`, from the
        points.

    Attributes
    ----------
    powers_ : ndarray of shape (n_features_out, d)
        The exponent of each column in each feature. Features are sorted by degree.
    mean_, scale_ : ndarray of shape (d,)
        The mean that is subtracted from each column, and the number by which it is then divided, 1 for a constant column.
    weights_ : ndarray of shape (n_features_out,)
        The factors of the features, 1 without a kernel.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X has column names.

    Examples
    --------
    >>> from kernsel.features import Polynomial
    >>> poly = Polynomial(2).fit([[1.0, 100.0], [3.0, 300.0]])
    >>> poly.get_feature_names_out()
    array(['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2'], dtype=object)
    >>> poly.transform([[5.0, 100.0]])
    array([[ 3., -1.,  9., -3.,  1.]])

    Features of a kernel:

    >>> from kernsel import kernels
    >>> of_kernel = Polynomial(kernel=kernels.Polynomial(2, offset=1.0)).fit([[3.0], [4.0]])
    >>> of_kernel.transform([[3.0]]).round(3)  # 1, the root of 2 times x, x squared
    array([[1.   , 4.243, 9.   ]])
    """

    def __init__(
        self,
        degree: int = 2,
        *,
        include_bias: bool = False,
        interaction_only: bool = False,
        scale: bool = True,
        kernel: Kernel | None = None,
    ) -> None:
        self.degree = degree
        self.include_bias = include_bias
        self.interaction_only = interaction_only
        self.scale = scale
        self.kernel = kernel

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | float | None = None) -> Self:
        """Compute the mean and the standard deviation of each column.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        sample_weight : float or array-like of shape (n,), optional
            Weights of points in means and standard deviations.

        Returns
        -------
        self : Polynomial
        """
        del y
        degree = whole_number("degree", self.degree)
        for name in ("include_bias", "interaction_only", "scale"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name}: expected True or False, got {getattr(self, name)!r}")
        points, weights = self.points_of_fit(X, sample_weight)
        d = points.shape[1]
        if self.kernel is not None:
            return self._fit_to_kernel(self.resolved(self.kernel, points, weights), d)
        products = combinations if self.interaction_only else combinations_with_replacement
        factors = [columns for p in range(0 if self.include_bias else 1, degree + 1) for columns in products(range(d), p)]
        self.powers_ = np.array([np.bincount(columns, minlength=d) for columns in factors], dtype=np.intp).reshape(-1, d)
        self.mean_ = np.average(points, axis=0, weights=weights) if self.scale else np.zeros(d)
        self.scale_ = Data(points, None, weights).spreads if self.scale else np.ones(d)
        self.weights_ = np.ones(len(self.powers_))
        return self

    def _fit_to_kernel(self, kernel: Kernel, d: int) -> Self:
        """Take the terms of (offset + x'z)^p: p! / ((p - k)! a_1! ... a_d!) offset^(p - k) x^a z^a, a of the sum k."""
        self.kernel_ = kernel
        variance, degree, offset, length_scale = _expanded(kernel)
        self.mean_, self.scale_ = np.zeros(d), np.broadcast_to(length_scale, (d,)).astype(np.float64)
        least = 0 if offset > 0 else degree
        factors = [columns for k in range(least, degree + 1) for columns in combinations_with_replacement(range(d), k)]
        self.powers_ = np.array([np.bincount(columns, minlength=d) for columns in factors], dtype=np.intp).reshape(-1, d)
        rest = degree - self.powers_.sum(axis=1)
        coefficients = factorial(degree) / (factorial(rest) * np.prod(factorial(self.powers_), axis=1))
        self.weights_ = np.sqrt(variance * coefficients * offset**rest)
        return self

    def transform(self, X: ArrayLike) -> Matrix:
        """Return the features, each computed by one multiplication.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        features : ndarray of shape (n, n_features_out)
        """
        points = self.new_points(X)
        columns = (points - self.mean_.astype(points.dtype)) / self.scale_.astype(points.dtype)
        features = np.ones((len(points), len(self.powers_)), dtype=points.dtype)
        index_of: dict[tuple[int, ...], int] = {}
        for j, powers in enumerate(self.powers_.tolist()):
            index_of[tuple(powers)] = j
            last = max((k for k, power in enumerate(powers) if power), default=None)
            if last is None:
                continue
            powers[last] -= 1
            factor = index_of.get(tuple(powers))
            if factor is None:
                features[:, j] = np.prod(columns ** self.powers_[j], axis=1)
            else:  # the product of its last column with a feature of a lower degree
                features[:, j] = features[:, factor] * columns[:, last]
        return np.asarray(features * self.weights_.astype(points.dtype))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return names such as ``x0^2 x1``.

        Parameters
        ----------
        input_features : array-like of str of shape (d,), optional
            Names of the columns; by default those seen in `fit`, or x0, x1, ...

        Returns
        -------
        names : ndarray of str of shape (n_features_out,)
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        products = [
            " ".join(name if power == 1 else f"{name}^{power}" for name, power in zip(names, powers, strict=True) if power)
            for powers in self.powers_
        ]
        return np.asarray([name or "1" for name in products], dtype=object)


def _expanded(kernel: Kernel) -> tuple[float, int, float, Vector]:
    """Return variance, degree, offset and length scales of a kernel variance (offset + sum_k x_k z_k / l_k^2)^degree."""
    match kernel:
        case PolynomialKernel():
            return 1.0, int(kernel.degree), kernel.number("offset"), np.asarray(kernel.numbers("length_scale"))
        case DotProduct():
            scales = kernel.numbers("length_scale")
            return 1.0, 1, kernel.number("sigma_0") ** 2, np.asarray(scales or [1.0])
        case Linear():
            return 1.0, 1, 0.0, np.asarray(kernel.numbers("length_scale"))
        case Product(k1=ConstantKernel() as constant, k2=other) | Product(k1=other, k2=ConstantKernel() as constant):
            variance, degree, offset, length_scale = _expanded(other)
            return variance * constant.number("constant_value"), degree, offset, length_scale
    raise ValueError(
        f"kernel: {kernel} has no polynomial features; Polynomial, DotProduct, Linear and multiples of them have. Nystrom and "
        "Fourier are for other kernels"
    )
