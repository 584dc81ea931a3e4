"""Random Fourier features of stationary kernels."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state

from kernsel._base.annotations import Matrix, Seed
from kernsel.features.base import Transformer, whole_number
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
from kernsel.kernels.hyperparameter import numbers

__all__ = ["Fourier"]


class Fourier(ClassNamePrefixFeaturesOutMixin, Transformer):  # type: ignore[misc]
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
        count = whole_number("n_components", self.n_components)
        points, weights = self.points_of_fit(X, sample_weight)
        self.kernel_ = self.resolved(self.kernel, points, weights)
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
        points = self.new_points(X)
        phases = (points - self.mean_) @ self.frequencies_
        count = phases.shape[1]
        features = np.empty((len(points), 2 * count), dtype=points.dtype)
        features[:, :count], features[:, count:] = np.cos(phases), np.sin(phases)
        features *= (self.variance_ / count) ** 0.5
        return features

    @property
    def _n_features_out(self) -> int:
        return 2 * int(self.frequencies_.shape[1])


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
