"""Features of points for linear models, as scikit-learn's transformers.

With :class:`~kernsel.RidgeRegression`, n points and p features cost O(n p^2), where a kernel costs O(n^3).
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from numbers import Integral
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from kernsel._base.annotations import Matrix, Seed, Vector
from kernsel._data.kernel import kernel_of
from kernsel._data.noise import point_weights
from kernsel.kernels import (
    RBF,
    Columns,
    ConstantKernel,
    Cosine,
    Exponential,
    ExpSineSquared,
    Kernel,
    Matern,
    Power,
    Product,
    RationalQuadratic,
    SpectralMixture,
    Sum,
    Transform,
)
from kernsel.kernels.algebra import Pair
from kernsel.kernels.automatic import Data
from kernsel.kernels.hyperparameter import numbers

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["Fourier", "Polynomial", "RadialBasis"]


class _Transformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The base class of the transformers, which checks points and weights, and resolves "auto" parameters of kernels."""

    def _points(self, X: ArrayLike, sample_weight: ArrayLike | float | None) -> tuple[Matrix, Vector | None]:
        """Return the points of positive weight, in double precision, and their weights."""
        array = np.asarray(validate_data(self, X, dtype=(np.float64, np.float32)))
        points = array.astype(np.float64, copy=False)
        if (weights := point_weights(sample_weight, array)) is None:
            return points, None
        return points[weights > 0], weights[weights > 0]

    def _new_points(self, X: ArrayLike) -> Matrix:
        """Return points to be transformed, in single precision if they are in single precision."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=(np.float64, np.float32), reset=False))

    def _resolved(self, kernel: Kernel | None, points: Matrix, weights: Vector | None) -> Kernel:
        """Return the kernel, None standing for RBF("auto"), with "auto" parameters set from the points."""
        ours = kernel_of(kernel, auto=RBF("auto"), none=RBF("auto"))
        return ours.resolve(Data(points, None, weights, getattr(self, "feature_names_in_", None)))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Polynomial(_Transformer):
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

    Attributes
    ----------
    powers_ : ndarray of shape (n_features_out, d)
        The exponent of each column in each feature. Features are sorted by degree.
    mean_, scale_ : ndarray of shape (d,)
        The mean that is subtracted from each column, and the number by which it is then divided, 1 for a constant column.
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
    """

    def __init__(
        self, degree: int = 2, *, include_bias: bool = False, interaction_only: bool = False, scale: bool = True
    ) -> None:
        self.degree = degree
        self.include_bias = include_bias
        self.interaction_only = interaction_only
        self.scale = scale

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
        degree = _count("degree", self.degree)
        for name in ("include_bias", "interaction_only", "scale"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name}: expected True or False, got {getattr(self, name)!r}")
        points, weights = self._points(X, sample_weight)
        d = points.shape[1]
        products = combinations if self.interaction_only else combinations_with_replacement
        factors = [columns for p in range(0 if self.include_bias else 1, degree + 1) for columns in products(range(d), p)]
        self.powers_ = np.array([np.bincount(columns, minlength=d) for columns in factors], dtype=np.intp).reshape(-1, d)
        self.mean_ = np.average(points, axis=0, weights=weights) if self.scale else np.zeros(d)
        self.scale_ = Data(points, None, weights).spreads if self.scale else np.ones(d)
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
        points = self._new_points(X)
        columns = (points - self.mean_.astype(points.dtype)) / self.scale_.astype(points.dtype)
        features = np.ones((len(points), len(self.powers_)), dtype=points.dtype)
        index_of: dict[tuple[int, ...], int] = {}
        for j, powers in enumerate(self.powers_.tolist()):
            index_of[tuple(powers)] = j
            last = max((k for k, power in enumerate(powers) if power), default=None)
            if last is not None:  # the product of its last column with a feature of a lower degree
                powers[last] -= 1
                factor = index_of.get(tuple(powers))
                features[:, j] = columns[:, last] if factor is None else features[:, factor] * columns[:, last]
        return features

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


class RadialBasis(ClassNamePrefixFeaturesOutMixin, _Transformer):  # type: ignore[misc]
    """Kernel functions at some centres: phi_j(x) = k(x, c_j).

    The centres c_j are points of `fit`, each the farthest from all centres before it, so that the greatest distance of a point
    from a centre is at most twice that of the best choice of as many centres. Distances are taken after dividing each column by
    its standard deviation. O(n n_centers d) operations.

    Parameters
    ----------
    n_centers : int
        If there are fewer distinct points, these are the centres.
    kernel : Kernel, optional
        None stands for ``RBF("auto")``. "auto" parameters are set in `fit`, from the points.
    random_state : int, RandomState instance or None
        With None, the first centre is the point nearest to the mean, and the centres are always the same. Otherwise it is the
        outermost point in a random direction.

    Attributes
    ----------
    centers_ : ndarray of shape (n_centers, d)
        The centres in the order in which they were chosen, so that the first ones alone are a good choice of fewer centres.
    kernel_ : Kernel
        The kernel in use, "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.features import RadialBasis
    >>> basis = RadialBasis(4).fit(np.arange(9.0).reshape(-1, 1))
    >>> basis.centers_.ravel()
    array([4., 0., 8., 2.])
    >>> basis.transform([[0.0], [4.0]]).shape
    (2, 4)
    """

    def __init__(self, n_centers: int = 100, *, kernel: Kernel | None = None, random_state: Seed = None) -> None:
        self.n_centers = n_centers
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | float | None = None) -> Self:
        """Choose the centres, and set "auto" parameters of the kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        sample_weight : float or array-like of shape (n,), optional
            Weights of points in means and standard deviations. Points of weight zero are no centres.

        Returns
        -------
        self : RadialBasis
        """
        del y
        count = _count("n_centers", self.n_centers)
        points, weights = self._points(X, sample_weight)
        self.kernel_ = self._resolved(self.kernel, points, weights)
        scaled = (points - np.average(points, axis=0, weights=weights)) / Data(points, None, weights).spreads
        if self.random_state is None:
            first = int(np.argmin(np.sum(scaled**2, axis=1)))
        else:
            first = int(np.argmax(scaled @ check_random_state(self.random_state).standard_normal(scaled.shape[1])))
        self.centers_ = points[_farthest_points(scaled, count, first)]
        return self

    def transform(self, X: ArrayLike) -> Matrix:
        """Return k(X, centers_).

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        features : ndarray of shape (n, n_centers)
        """
        points = self._new_points(X)
        return self.kernel_(points, self.centers_.astype(points.dtype, copy=False))

    @property
    def _n_features_out(self) -> int:
        return len(self.centers_)


class Fourier(ClassNamePrefixFeaturesOutMixin, _Transformer):  # type: ignore[misc]
    """Random Fourier features: their inner products approximate a stationary kernel, phi(x)'phi(z) ~ k(x, z).

    A stationary kernel with v = k(x, x) is the mean of v cos(w'(x - z)) over random frequencies w, whose distribution is its
    spectrum. With q frequencies drawn from it, phi(x) = (v/q)^(1/2) [cos w_1'x, ..., cos w_q'x, sin w_1'x, ..., sin w_q'x].
    The error falls as q^(-1/2), for any number of columns; phi(x)'phi(x) = v exactly. O(n q d) operations.

    Parameters
    ----------
    n_components : int
        The number of frequencies q; there are twice as many features.
    kernel : Kernel, optional
        None stands for ``RBF("auto")``. "auto" parameters are set in `fit`, from the points. Frequencies are normal for `RBF`;
        Student's t with 2 nu degrees of freedom for `Matern` (nu = 1/2 for `Exponential`), of each column on its own with
        `product=True`; normal times the root of a gamma variable for `RationalQuadratic`; mixtures of normal ones for
        `SpectralMixture`; whole multiples of one for `ExpSineSquared` (of one column); one and its negative for `Cosine`. Also
        multiples, sums, products and whole powers of these, ``k.on(columns)``, and `Transform` with a matrix. Others are
        refused.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    frequencies_ : ndarray of shape (d, n_components)
        The frequencies in radians per unit of a column.
    variance_ : float
        The variance v = k(x, x).
    mean_ : ndarray of shape (d,)
        The mean of the points, which is subtracted from points to keep the phases small; this does not change the kernel.
    kernel_ : Kernel
        The kernel in use, "auto" parameters set.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.features import Fourier
    >>> from kernsel.kernels import Matern
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> features = Fourier(2000, kernel=Matern(2.0, nu=1.5), random_state=0).fit_transform(X)
    >>> features.shape
    (50, 4000)
    >>> bool(np.abs(features @ features.T - Matern(2.0, nu=1.5)(X)).max() < 0.1)
    True
    """

    def __init__(self, n_components: int = 100, *, kernel: Kernel | None = None, random_state: Seed = None) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | float | None = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points determine the number of columns, the mean, and "auto" parameters of the kernel.
        y : ignored
        sample_weight : float or array-like of shape (n,), optional
            Weights of points in means and standard deviations.

        Returns
        -------
        self : Fourier
        """
        del y
        count = _count("n_components", self.n_components)
        points, weights = self._points(X, sample_weight)
        self.kernel_ = self._resolved(self.kernel, points, weights)
        self.kernel_.diag(points[:1])  # raises if the kernel does not fit the number of columns
        self.variance_, frequencies = _spectrum(self.kernel_, points.shape[1], count, check_random_state(self.random_state))
        self.frequencies_ = np.ascontiguousarray(frequencies.T)
        self.mean_ = np.average(points, axis=0, weights=weights)
        return self

    def transform(self, X: ArrayLike) -> Matrix:
        """Return the features: all cosines, then all sines.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        features : ndarray of shape (n, 2 * n_components)
        """
        points = self._new_points(X)
        phases = (points - self.mean_) @ self.frequencies_
        count = phases.shape[1]
        features = np.empty((len(points), 2 * count), dtype=points.dtype)
        features[:, :count], features[:, count:] = np.cos(phases), np.sin(phases)
        features *= (self.variance_ / count) ** 0.5
        return features

    @property
    def _n_features_out(self) -> int:
        return 2 * int(self.frequencies_.shape[1])


def _count(name: str, value: object) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise ValueError(f"{name}: expected a whole number from 1 on, got {value!r}")
    return int(value)


def _farthest_points(points: Matrix, count: int, first: int) -> list[int]:
    """Return indices of `count` points, each the farthest from all before it; fewer if there are fewer distinct points."""
    centers = [first]
    distances = np.sum((points - points[first]) ** 2, axis=1)  # squared, to the nearest centre
    while len(centers) < count:
        farthest = int(np.argmax(distances))
        if distances[farthest] == 0:
            break
        centers.append(farthest)
        np.minimum(distances, np.sum((points - points[farthest]) ** 2, axis=1), out=distances)
    return centers


def _spectrum(kernel: Kernel, d: int, count: int, rng: np.random.RandomState) -> tuple[float, Matrix]:
    """Return the variance of a stationary kernel of d columns, and frequencies drawn from its spectrum, shape (count, d)."""
    normal = rng.standard_normal
    match kernel:
        case RBF():
            return 1.0, normal((count, d)) / kernel.numbers("length_scale")
        case Exponential():
            return 1.0, _student(0.5, (count, d), False, rng) / kernel.numbers("length_scale")
        case Matern():
            return 1.0, _student(float(kernel.nu), (count, d), kernel.product, rng) / kernel.numbers("length_scale")
        case RationalQuadratic():
            alpha = kernel.number("alpha")
            return 1.0, normal((count, d)) * np.sqrt(rng.gamma(alpha, 1 / alpha, (count, 1))) / kernel.numbers("length_scale")
        case Cosine():
            frequency = np.broadcast_to(2 * np.pi / np.asarray(kernel.numbers("periodicity")), (count, d))
            return 1.0, _signs(count, rng) * frequency
        case ExpSineSquared() if d == 1:
            # exp((cos t - 1) / l^2) is the characteristic function of the difference of two Poisson variables.
            rate = 0.5 / kernel.number("length_scale") ** 2
            multiples = rng.poisson(rate, (count, 1)) - rng.poisson(rate, (count, 1))
            return 1.0, 2 * np.pi * multiples / np.asarray(kernel.numbers("periodicity"))
        case SpectralMixture():
            scales, periods = zip(*kernel.components(), strict=True)
            weights = np.asarray(kernel.numbers("weights"))
            components = rng.choice(len(weights), count, p=weights / weights.sum())
            scale, period = np.asarray(scales)[components], np.asarray(periods)[components]
            return float(weights.sum()), _signs(count, rng) * (2 * np.pi / period + normal((count, d)) / scale)
        case ConstantKernel():
            return kernel.number("constant_value"), np.zeros((count, d))
        case Columns():
            columns = kernel.indices()
            variance, part = _spectrum(kernel.kernel, len(columns), count, rng)
            frequencies = np.zeros((count, d))
            frequencies[:, columns] = part
            return variance, frequencies
        case Transform() if not callable(kernel.phi):
            B = numbers(kernel.phi, "phi", positive=False)
            variance, part = _spectrum(kernel.kernel, len(B), count, rng)
            return variance, part @ B
        case Power() if float(kernel.exponent).is_integer():
            variance, frequencies = _spectrum(kernel.kernel, d, count, rng)
            for _ in range(1, int(kernel.exponent)):
                frequencies = frequencies + _spectrum(kernel.kernel, d, count, rng)[1]
            return variance ** int(kernel.exponent), frequencies
        case Sum() | Product():
            return _spectrum_of_pairs(kernel, d, count, rng)
    raise ValueError(
        f"kernel: the spectrum of {kernel} is not known here. There are Fourier features of RBF, Exponential, Matern, "
        "RationalQuadratic, Cosine, SpectralMixture, ExpSineSquared of one column, constants, their sums, products and whole "
        "powers, .on(columns), and Transform with a matrix; for others, use RadialBasis"
    )


def _spectrum_of_pairs(kernel: Pair, d: int, count: int, rng: np.random.RandomState) -> tuple[float, Matrix]:
    """Return the spectrum of a sum, which is a mixture, or of a product, whose frequencies are sums."""
    first, pairs = kernel.chain()
    variance, frequencies = _spectrum(first, d, count, rng)
    for pair in pairs:
        variance2, frequencies2 = _spectrum(pair.k2, d, count, rng)
        if isinstance(pair, Sum):
            from_second = rng.uniform(size=(count, 1)) * (variance + variance2) < variance2
            frequencies = np.where(from_second, frequencies2, frequencies)
            variance += variance2
        else:
            variance, frequencies = variance * variance2, frequencies + frequencies2
    return variance, frequencies


def _student(nu: float, shape: tuple[int, int], by_column: bool, rng: np.random.RandomState) -> Matrix:
    """Return draws of Student's t with 2 nu degrees of freedom, multivariate or independent for each column."""
    normal = rng.standard_normal(shape)
    if nu == np.inf:
        return normal
    # A chi squared variable with few degrees of freedom can underflow to zero, which would make a frequency infinite.
    squares = np.maximum(rng.chisquare(2 * nu, shape if by_column else (shape[0], 1)), 1e-200)
    return np.asarray(normal / np.sqrt(squares / (2 * nu)))


def _signs(count: int, rng: np.random.RandomState) -> Matrix:
    """Return random signs, which make a spectrum symmetric, as the sums of frequencies in products need it."""
    return np.asarray(rng.choice([-1.0, 1.0], (count, 1)))
