"""Linearized optimal transport: distributions as rows of numbers whose inner product is a kernel; and the exact distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Seed
from kernsel._base.documentation import LinksToItsPage
from kernsel.structured.barycenter import Size, check_limits, free_barycenter, sample
from kernsel.structured.clouds import Cloud, Distribution, Gaussian, as_clouds, as_distribution
from kernsel.structured.couplings import CloudMaps, Solver, checked_solver, weights_of
from kernsel.structured.gaussians import GaussianMaps, gaussian_barycenter, gaussian_distance
from kernsel.structured.line import quantile_edges, quantile_means

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["TransportEmbedding", "wasserstein_distance"]


def wasserstein_distance(first: Distribution, second: Distribution, *, solver: Solver = "auto") -> float:
    """Return the exact 2-Wasserstein distance of two distributions.

    W(p, q)^2 is the least mean of |x - y|^2 over all joint distributions of x from p and y from q. In one dimension it is the
    integral of (F_p^-1 - F_q^-1)^2; for Gaussians |m - n|^2 + tr(S + R - 2 (S^(1/2) R S^(1/2))^(1/2)).

    Parameters
    ----------
    first, second : Cloud, Gaussian, array-like of shape (n, d), or tuple (points, weights)
        Both clouds, or both Gaussians.
    solver : {"auto", "pot", "highs"}
        For transport plans that are not assignments: see :class:`TransportEmbedding`.

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
    # The images are means of where the mass of a point goes; the spread is the mean squared distance from these.
    image, spread = CloudMaps(a, solver).image(b)
    return float(np.sqrt(a.weights @ np.sum((a.points - image) ** 2, axis=1) + spread))


class TransportEmbedding(LinksToItsPage, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Distributions as rows of numbers: Id - T in L2(rho), with T the optimal transport map from a reference rho.

    The row of a cloud mu is a_i^(1/2) (x_i - T(x_i)) for all points x_i of the reference, with weights a_i. So the inner
    product of two rows is the linearized 2-Wasserstein kernel <Id - T_mu, Id - T_nu>_L2(rho), and any kernel of rows is a
    kernel of distributions. The norm of a row is the 2-Wasserstein distance from the reference (or less, where the mass of a
    point is split). The distance between two rows approximates the distance of their distributions: from above where no mass is
    split, exactly on a line if the reference is the barycenter.

    T is an assignment for clouds with as many points as the reference, of equal weights on both sides; the barycentric
    projection of the optimal plan otherwise; on a line the quantile function of mu, averaged over the weight of each point of
    the reference. For Gaussians N(m, S), T is linear in closed form, and a row of d + d^2 numbers is exact.

    Rows are computed on as many threads as :func:`kernsel.set_num_threads` allows, and do not depend on their number. A cloud
    takes O(m^3) at worst, and mostly near O(m^2.5).

    Parameters
    ----------
    reference : "barycenter", "sample", Cloud, Gaussian, array-like of shape (m, d), or tuple (points, weights)
        The barycenter of the training clouds (see :func:`barycenter`), points drawn from them, or a distribution.
    size : int or "auto"
        The number of points of a barycenter or of a sample; see :func:`barycenter`.
    max_iter : int
        The greatest number of iterations for the barycenter, each of which takes as long as `transform` of the training clouds.
    tol : float
        They stop when points move by less, relative to their standard deviation, in the root mean square.
    solver : {"auto", "pot", "highs"}
        For transport plans that are not assignments, in two dimensions and more: the network simplex of the package POT
        (``pip install 'kernsel[structured]'``), or SciPy's linear program, which takes tens of times as long and is exact to
        1e-9 of the largest cost. "auto" is POT where it is installed.
    random_state : int, RandomState instance or None
        Of the sample.

    Attributes
    ----------
    reference_ : Cloud or Gaussian
    n_iter_ : int
        The number of iterations for the barycenter; 0 if it has a closed form, or the reference is another distribution.
    dimension_ : int
        The number of columns of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.structured import TransportEmbedding
    >>> rng = np.random.default_rng(0)
    >>> clouds = [rng.normal(mean, 1.0, size=(50, 2)) for mean in range(8)]
    >>> rows = TransportEmbedding().fit_transform(clouds)
    >>> rows.shape
    (8, 100)
    >>> distances = np.linalg.norm(rows[0] - rows, axis=1)  # near the distances of the means, 2^(1/2) k
    >>> bool(np.allclose(distances, 2**0.5 * np.arange(8), atol=0.3))
    True
    """

    def __init__(
        self,
        reference: str | Distribution = "barycenter",
        *,
        size: Size = "auto",
        max_iter: int = 20,
        tol: float = 0.01,
        solver: Solver = "auto",
        random_state: Seed = None,
    ) -> None:
        self.reference = reference
        self.size = size
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: object, y: object = None) -> Self:
        """Find the reference.

        Parameters
        ----------
        X : sequence of clouds or of Gaussians
            Each is a `Cloud`, points of shape (n, d), or a tuple (points, weights); or all are `Gaussian`.
        y : ignored

        Returns
        -------
        self : TransportEmbedding
        """
        del y
        self._fit(X)
        return self

    def fit_transform(self, X: object, y: object = None) -> Matrix:
        """Find the reference, and return the rows; the maps of the barycenter's last iteration are not computed twice.

        Parameters
        ----------
        X : sequence of clouds or of Gaussians
        y : ignored

        Returns
        -------
        rows : ndarray of shape (N, n_features_out)
        """
        del y
        distributions, images = self._fit(X)
        if images is None or isinstance(self._maps, GaussianMaps):
            return self._rows(distributions)
        return self._maps.rows_of(images)

    def transform(self, X: object) -> Matrix:
        """Return the rows.

        Parameters
        ----------
        X : sequence of clouds or of Gaussians

        Returns
        -------
        rows : ndarray of shape (N, n_features_out)
            They have m d numbers for a reference of m points of dimension d; d + d^2 for a Gaussian.
        """
        check_is_fitted(self)
        return self._rows(as_clouds(X, "X", self.dimension_, kind=type(self.reference_)))

    def _rows(self, distributions: list[Cloud] | list[Gaussian]) -> Matrix:
        if isinstance(self._maps, GaussianMaps):
            return self._maps.rows(cast(list[Gaussian], distributions))
        return self._maps.rows(cast(list[Cloud], distributions))

    def inverse_transform(self, X: ArrayLike) -> list[Cloud] | list[Gaussian]:
        """Return the distribution for each row: the image of the reference under the transport map that the row encodes.

        Parameters
        ----------
        X : array-like of shape (N, n_features_out)
            Any rows, such as means of the rows of clouds, or points on the line between two.

        Returns
        -------
        distributions : list of Cloud, or of Gaussian
        """
        check_is_fitted(self)
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self._n_features_out:
            raise ValueError(f"X: expected shape (N, {self._n_features_out}), got {rows.shape}")
        if isinstance(self._maps, GaussianMaps):
            return [self._maps.distribution(row) for row in rows]
        return [self._maps.distribution(row) for row in rows]

    def _fit(self, X: object) -> tuple[list[Cloud] | list[Gaussian], Matrix | None]:
        """Find the reference; return the distributions X, and the images of the reference's points if they are known."""
        distributions = as_clouds(X)
        first = distributions[0]
        gaussians = [one for one in distributions if isinstance(one, Gaussian)]
        clouds = [one for one in distributions if isinstance(one, Cloud)]
        check_limits(self.size, self.max_iter, self.tol)
        solver = checked_solver(self.solver)
        images, steps = None, 0
        reference: Cloud | Gaussian
        if not isinstance(self.reference, str):
            reference = as_distribution(self.reference, "reference")
            if type(reference) is not type(first):
                raise TypeError(f"reference: expected a {type(first).__name__}, as X[0] is one, got {reference!r:.80}")
            if reference.dimension != first.dimension:
                raise ValueError(
                    f"reference: expected points of {first.dimension} columns, as X[0] has, got {reference.dimension}"
                )
        elif self.reference == "barycenter":
            if gaussians:
                reference = gaussian_barycenter(gaussians)
            else:
                reference, images, steps = free_barycenter(clouds, self.size, self.max_iter, self.tol, solver)
        elif self.reference == "sample":
            if gaussians:
                raise ValueError('reference: "sample" is for clouds; the reference of Gaussians is a Gaussian')
            reference = sample(clouds, self.size, check_random_state(self.random_state))
        else:
            raise ValueError(f'reference: expected "barycenter", "sample" or a distribution, got {self.reference!r}')
        self._maps = GaussianMaps(reference) if isinstance(reference, Gaussian) else CloudMaps(reference, solver)
        self.reference_, self.n_iter_, self.dimension_ = reference, steps, reference.dimension
        return distributions, images

    @property
    def _n_features_out(self) -> int:
        d: int = self.dimension_
        return d + d * d if isinstance(self.reference_, Gaussian) else len(self.reference_) * d

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
