"""Distributions as rows of numbers, whose Euclidean distance is the sliced Wasserstein distance."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from scipy import special
from scipy.stats import qmc
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Seed
from kernsel._base.documentation import LinksToItsPage
from kernsel.structured.clouds import Cloud, as_clouds
from kernsel.structured.line import quantile_means
from kernsel.structured.threads import on_threads

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["SlicedWassersteinEmbedding"]


class SlicedWassersteinEmbedding(LinksToItsPage, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Clouds as rows of numbers: the quantiles of their projections on many directions.

    The distance of two rows is the sliced 2-Wasserstein distance, SW^2 = mean over directions u of W(u'X, u'Z)^2, W on a line
    being the distance of quantile functions in L2. As rows of numbers are in a Euclidean space, their inner product, and any
    kernel of their distance that is one in all dimensions, such as `RBF`, is a kernel of distributions.

    Quantile functions are averaged over `n_quantiles` cells of equal probability: exactly what they are for clouds of that
    many points of equal weights; from below otherwise. O(n_directions n (d + log n)) a cloud.

    Parameters
    ----------
    n_directions : int
        In one dimension, one direction is used whatever this is.
    n_quantiles : int or "auto"
        "auto" is the number of points of the largest cloud in `fit`, at most 1000.
    random_state : int, RandomState instance or None
        None spreads the directions evenly and always the same: at equal angles in two dimensions, by Sobol' points in more.
        Otherwise they are drawn at random.

    Attributes
    ----------
    directions_ : ndarray of shape (n_directions, d)
        Of length one.
    n_quantiles_ : int
    dimension_ : int
        Of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.structured import SlicedWassersteinEmbedding
    >>> cloud = np.random.default_rng(0).normal(size=(30, 2))
    >>> rows = SlicedWassersteinEmbedding(20).fit_transform([cloud, cloud + [3.0, 4.0]])
    >>> rows.shape
    (2, 600)
    >>> float((2**0.5 * np.linalg.norm(rows[0] - rows[1])).round(6))  # the mean of (u'v)^2 is |v|^2 / 2
    5.0
    """

    def __init__(
        self, n_directions: int = 50, *, n_quantiles: int | Literal["auto"] = "auto", random_state: Seed = None
    ) -> None:
        self.n_directions = n_directions
        self.n_quantiles = n_quantiles
        self.random_state = random_state

    def fit(self, X: object, y: object = None) -> Self:
        """Choose the directions.

        Parameters
        ----------
        X : sequence of clouds
            Each is a `Cloud`, points of shape (n, d), or a tuple (points, weights).
        y : ignored

        Returns
        -------
        self : SlicedWassersteinEmbedding
        """
        del y
        clouds = as_clouds(X, kind=Cloud)
        count = _count("n_directions", self.n_directions, "")
        if isinstance(self.n_quantiles, str) and self.n_quantiles == "auto":
            self.n_quantiles_ = min(max(len(cloud) for cloud in clouds), 1000)
        else:
            self.n_quantiles_ = _count("n_quantiles", self.n_quantiles, ', or "auto"')
        self.dimension_ = clouds[0].dimension
        self.directions_ = _directions(self.dimension_, count, self.random_state)
        return self

    def transform(self, X: object) -> Matrix:
        """Return the rows.

        Parameters
        ----------
        X : sequence of clouds

        Returns
        -------
        rows : ndarray of shape (N, n_directions * n_quantiles)
            The quantiles of the first direction, then those of the next; all divided by the root of their number.
        """
        check_is_fitted(self)
        clouds = as_clouds(X, "X", self.dimension_, kind=Cloud)
        count, q = len(self.directions_), self.n_quantiles_
        edges = np.arange(q + 1) / q
        rows = np.empty((len(clouds), count, q))

        def find(i: int) -> None:
            cloud = clouds[i]
            projected = self.directions_ @ cloud.points.T
            if cloud.equal:
                rows[i] = quantile_means(projected, None, edges)
            else:
                rows[i] = [quantile_means(values, cloud.weights, edges) for values in projected]

        on_threads(find, len(clouds))
        rows /= np.sqrt(count * q)
        return rows.reshape(len(clouds), -1)

    @property
    def _n_features_out(self) -> int:
        return len(self.directions_) * self.n_quantiles_

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _directions(d: int, count: int, random_state: Seed) -> Matrix:
    """Return unit vectors, shape (count, d)."""
    if d == 1:
        return np.ones((1, 1))
    if random_state is not None:
        drawn = check_random_state(random_state).standard_normal((count, d))
    elif d == 2:
        angles = np.pi * np.arange(count) / count  # on half a circle: u and -u give the same distance
        drawn = np.column_stack([np.cos(angles), np.sin(angles)])
    else:
        bits = max(int(np.ceil(np.log2(count))), 1)
        # Points are moved to the middle of their cells, so that none is the centre of the cube, which has no direction.
        points = qmc.Sobol(d, scramble=False).random_base2(bits)[:count] + 0.5 ** (bits + 1)
        drawn = special.ndtri(points)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1)[:, None])


def _count(name: str, value: object, alternative: str) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise ValueError(f"{name}: expected a whole number from 1 on{alternative}, got {value!r}")
    return int(value)
