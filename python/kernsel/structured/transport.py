"""Linearized optimal transport: distributions as rows of numbers whose inner product is a kernel; and the exact distance."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsel.structured.barycenter import Size, check_limits, free_barycenter, sample
from kernsel.structured.clouds import Cloud, Gaussian, as_clouds, as_distribution
from kernsel.structured.couplings import CloudMaps, Solver, checked_solver, weights_of
from kernsel.structured.gaussians import GaussianMaps, gaussian_barycenter, gaussian_distance
from kernsel.structured.line import quantile_edges, quantile_means

__all__ = ["TransportEmbedding", "wasserstein_distance"]

Vector = NDArray[np.float64]


def wasserstein_distance(first: Any, second: Any, *, solver: Solver = "auto") -> float:
    """Return the 2-Wasserstein distance of two distributions, exactly.

    W(p, q)^2 is the least mean of |x - y|^2 over all joint distributions of x from p and y from q. In one dimension it is the
    integral of (F_p^-1 - F_q^-1)^2; for Gaussians |m - n|^2 + tr(S + R - 2 (S^(1/2) R S^(1/2))^(1/2)).

    Parameters
    ----------
    first, second : Cloud, Gaussian, array-like of shape (n, d), or tuple (points, weights)
        Both clouds, or both Gaussians.
    solver : {"auto", "pot", "highs"}
        For weights that are not equal, or other numbers of points: see :class:`TransportEmbedding`.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> from kernsel.structured import wasserstein_distance
    >>> wasserstein_distance([[0.0, 0.0], [1.0, 0.0]], [[1.0, 4.0], [0.0, 4.0]])
    4.0
    """
    a = as_distribution(first, "first")
    b = as_distribution(second, "second")
    if type(a) is not type(b):
        raise TypeError(f"second: expected a {type(a).__name__}, as first is one, got {b!r:.80}")
    if a.dimension != b.dimension:
        raise ValueError(f"second: expected points of {a.dimension} columns, as first has, got {b.dimension}")
    solver = checked_solver(solver)
    if isinstance(a, Gaussian):
        return gaussian_distance(a, cast(Gaussian, b))
    b = cast(Cloud, b)
    if a.dimension == 1:
        edges = quantile_edges([a, b], len(a) + len(b))
        p, q = (quantile_means(cloud.points[:, 0], weights_of(cloud), edges) for cloud in (a, b))
        return float(np.sqrt(np.diff(edges) @ (p - q) ** 2))
    # The spread of what comes from one point to several is what the barycentric projection does not show.
    image, spread = CloudMaps(a, solver).image(b)
    return float(np.sqrt(a.weights @ np.sum((a.points - image) ** 2, axis=1) + spread))


class TransportEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Distributions as rows of numbers: by the optimal transport map T from a reference rho, Id - T in L2(rho).

    The row of a cloud mu is a_i^(1/2) (x_i - T(x_i)) for all points x_i of the reference, of weights a_i. So the inner product
    of two rows is the linearized 2-Wasserstein kernel <Id - T_mu, Id - T_nu>_L2(rho), and any kernel of rows is one of
    distributions. The norm of a row is the 2-Wasserstein distance from the reference (at most that, where mass of one point is
    split), and the distance between two rows an approximation of theirs: from above where no mass is split, exact on a line
    if the reference is the barycenter.

    T is an assignment for clouds with as many points as the reference, of equal weights on both sides; the barycentric
    projection of the optimal plan otherwise; on a line the quantile function of mu, averaged over the weight of each point of
    the reference. For Gaussians N(m, S), T is linear in closed form, and a row of d + d^2 numbers is exact.

    Clouds are worked on by as many threads as :func:`kernsel.set_num_threads` allows; rows do not depend on them. O(m^3) a
    cloud at worst, near O(m^2.5) mostly.

    Parameters
    ----------
    reference : "barycenter", "sample", Cloud, Gaussian, array-like of shape (m, d), or tuple (points, weights)
        The barycenter of the clouds in `fit` (see :func:`barycenter`), or points drawn from them.
    size : int or "auto"
        How many points a reference has that is found in `fit`; see :func:`barycenter`.
    max_iter : int
        How often the points of the barycenter move at most; each time is as long as one `transform` of the training clouds.
    tol : float
        They stop when they move by less, relative to their standard deviation, in the mean square.
    solver : {"auto", "pot", "highs"}
        For plans that are no assignments, in two dimensions and more: the network simplex of the package POT
        (``pip install 'kernsel[structured]'``), or SciPy's linear program, which takes tens of times as long and is exact to
        1e-9 of the largest cost. "auto" is POT where it is installed.
    random_state : int, RandomState instance or None
        For "sample".

    Attributes
    ----------
    reference_ : Cloud or Gaussian
    n_iter_ : int
        How often the points of the barycenter moved; 0 if it has a closed form or is not wanted.
    dimension_ : int
        Of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.structured import TransportEmbedding
    >>> rng = np.random.default_rng(0)
    >>> clouds = [rng.normal(mean, 1.0, size=(50, 2)) for mean in range(8)]
    >>> rows = TransportEmbedding().fit_transform(clouds)
    >>> rows.shape
    (8, 100)
    >>> distances = np.linalg.norm(rows[0] - rows, axis=1)  # those of the means, 2^(1/2) k, and a little
    >>> bool(np.allclose(distances, 2**0.5 * np.arange(8), atol=0.3))
    True
    """

    def __init__(
        self,
        reference: Any = "barycenter",
        *,
        size: Size = "auto",
        max_iter: int = 20,
        tol: float = 0.01,
        solver: Solver = "auto",
        random_state: Any = None,
    ) -> None:
        self.reference = reference
        self.size = size
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the reference.

        Parameters
        ----------
        X : sequence of clouds or of Gaussians
            Of `Cloud`, points of shape (n, d), tuples (points, weights), or all `Gaussian`.
        y : ignored

        Returns
        -------
        self : TransportEmbedding
        """
        del y
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Vector:
        """Find the reference, and return the rows; the maps of the barycenter's last step are not computed twice.

        Parameters
        ----------
        X : sequence of clouds or of Gaussians
        y : ignored

        Returns
        -------
        rows : ndarray of shape (N, n_features_out)
        """
        del y
        found, images = self._fit(X)
        return cast(Vector, self._maps.rows(found) if images is None else self._maps.rows_of(images))

    def transform(self, X: Any) -> Vector:
        """Return the rows.

        Parameters
        ----------
        X : sequence of clouds or of Gaussians

        Returns
        -------
        rows : ndarray of shape (N, n_features_out)
            m d for a reference of m points of dimension d; d + d^2 for a Gaussian.
        """
        check_is_fitted(self)
        found = as_clouds(X, "X", self.dimension_, kind=type(self.reference_))
        return cast(Vector, self._maps.rows(found))

    def inverse_transform(self, X: ArrayLike) -> list[Cloud] | list[Gaussian]:
        """Return the distributions of rows: where the map that a row stands for brings the reference.

        Parameters
        ----------
        X : array-like of shape (N, n_features_out)
            Any rows: means of those of clouds, or points on the line between two.

        Returns
        -------
        found : list of Cloud, or of Gaussian
        """
        check_is_fitted(self)
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self._n_features_out:
            raise ValueError(f"X: expected shape (N, {self._n_features_out}), got {rows.shape}")
        return [self._maps.distribution(row) for row in rows]

    def _fit(self, X: Any) -> tuple[list[Any], Vector | None]:
        found: list[Any] = as_clouds(X)
        check_limits(self.size, self.max_iter, self.tol)
        solver = checked_solver(self.solver)
        gaussian = isinstance(found[0], Gaussian)
        images, steps = None, 0
        reference: Any
        if not isinstance(self.reference, str):
            reference = as_distribution(self.reference, "reference")
            if type(reference) is not type(found[0]):
                raise TypeError(f"reference: expected a {type(found[0]).__name__}, as X[0] is one, got {reference!r:.80}")
            if reference.dimension != found[0].dimension:
                raise ValueError(
                    f"reference: expected points of {found[0].dimension} columns, as X[0] has, got {reference.dimension}"
                )
        elif self.reference == "barycenter":
            if gaussian:
                reference = gaussian_barycenter(found)
            else:
                reference, images, steps = free_barycenter(found, self.size, self.max_iter, self.tol, solver)
        elif self.reference == "sample":
            if gaussian:
                raise ValueError('reference: "sample" is for clouds; the reference of Gaussians is a Gaussian')
            reference = sample(found, self.size, check_random_state(self.random_state))
        else:
            raise ValueError(f'reference: expected "barycenter", "sample" or a distribution, got {self.reference!r}')
        self._maps: Any = GaussianMaps(reference) if gaussian else CloudMaps(reference, solver)
        self.reference_, self.n_iter_, self.dimension_ = reference, steps, reference.dimension
        return found, images

    @property
    def _n_features_out(self) -> int:
        d: int = self.dimension_
        return d + d * d if isinstance(self.reference_, Gaussian) else len(self.reference_) * d

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
