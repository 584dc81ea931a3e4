"""Kernels of probability distributions that are inner products of transport embeddings, of the points or of projections."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from kernsel._base.annotations import Matrix, Seed
from kernsel.kernels.leaf import Leaf
from kernsel.kernels.object_kernel import ObjectEmbedding
from kernsel.structured.barycenter import Size
from kernsel.structured.clouds import Cloud, Distribution, Gaussian, as_clouds
from kernsel.structured.couplings import Solver
from kernsel.structured.sliced import SlicedWassersteinEmbedding
from kernsel.structured.transport import TransportEmbedding

__all__ = ["LinearizedTransport", "SlicedWasserstein"]

Distributions = Sequence[Cloud | Gaussian]
Embedding = TransportEmbedding | SlicedWassersteinEmbedding


class EmbeddingKernel(ObjectEmbedding[Cloud | Gaussian], Leaf):
    """The inner product of the rows that an embedding makes of distributions."""

    _hyper: ClassVar = {}
    _learnt: tuple[Embedding, Distributions, Matrix]  # the fitted embedding, the training distributions, their rows

    @abstractmethod
    def _embedding(self) -> Embedding:
        """Return the embedding, not yet fitted."""

    def _encode(self, objects: Sequence[object]) -> Distributions:
        return as_clouds(objects)

    def _learn(self, X: Distributions) -> tuple[Embedding, Distributions, Matrix]:
        embedding = self._embedding()
        return embedding, X, embedding.fit_transform(X)

    def _embed(self, X: Distributions) -> Matrix:
        embedding, training, rows = self._learnt
        return np.asarray(rows if X is training else embedding.transform(X))

    def _width(self) -> int:
        return int(self._learnt[2].shape[1])


class LinearizedTransport(EmbeddingKernel):
    """The linearized 2-Wasserstein kernel of probability distributions: <Id - T_mu, Id - T_nu> in L2(rho).

    T_mu is the optimal transport map from the reference rho to mu. The rows of :class:`TransportEmbedding` have these inner
    products, so any kernel of vectors composes with it: ``RBF("auto") @ LinearizedTransport()`` is the squared exponential of a
    distance that is close to the 2-Wasserstein distance.

    Parameters
    ----------
    reference : "barycenter", "sample", Cloud, Gaussian, array-like of shape (m, d), or tuple (points, weights)
        The barycenter of the training distributions, points drawn from them, or a distribution.
    size : int or "auto"
        The number of points of a barycenter or of a sample.
    solver : {"auto", "pot", "highs"}
        For transport plans that are not assignments: see :class:`TransportEmbedding`.
    random_state : int, RandomState instance or None
        Of the sample.

    Notes
    -----
    Points are :class:`Cloud`, arrays of shape (n, d), tuples (points, weights), or all :class:`Gaussian`. One transport problem
    for each of them, O(m^3) at worst, and for a barycenter once more for each of its steps; not one for each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.structured import Gaussian, LinearizedTransport
    >>> k = LinearizedTransport(Gaussian([0.0], [[1.0]]))
    >>> k([Gaussian([2.0], [[1.0]]), Gaussian([0.0], [[9.0]])])  # means times means, differences of deviations likewise
    array([[4., 0.],
           [0., 4.]])
    """

    def __init__(
        self,
        reference: str | Distribution = "barycenter",
        size: Size = "auto",
        solver: Solver = "auto",
        random_state: Seed = None,
    ) -> None:
        self.reference = reference
        self.size = size
        self.solver = solver
        self.random_state = random_state
        self._check()

    def _embedding(self) -> TransportEmbedding:
        return TransportEmbedding(self.reference, size=self.size, solver=self.solver, random_state=self.random_state)


class SlicedWasserstein(EmbeddingKernel):
    """The sliced 2-Wasserstein kernel of probability distributions: inner products of quantile functions of projections.

    Of the rows of :class:`SlicedWassersteinEmbedding`, whose distance is the sliced Wasserstein distance; so any kernel of
    vectors composes with it, as ``RBF("auto") @ SlicedWasserstein()``.

    Parameters
    ----------
    n_directions : int
    n_quantiles : int or "auto"
        "auto" is the number of points of the largest training cloud, at most 1000.
    random_state : int, RandomState instance or None
        None spreads the directions evenly, and always the same.

    Notes
    -----
    Points are :class:`Cloud`, arrays of shape (n, d), or tuples (points, weights). O(n_directions n (d + log n)) for each.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.kernels import RBF
    >>> from kernsel.structured import SlicedWasserstein
    >>> cloud = np.random.default_rng(0).normal(size=(30, 2))
    >>> K = (RBF(1.0) @ SlicedWasserstein())([cloud, cloud + [1.0, 1.0]])
    >>> bool(np.isclose(K[0, 1], np.exp(-1 / 2)))  # half of |(1, 1)|^2 on average over directions
    True
    """

    def __init__(self, n_directions: int = 50, n_quantiles: int | Literal["auto"] = "auto", random_state: Seed = None) -> None:
        self.n_directions = n_directions
        self.n_quantiles = n_quantiles
        self.random_state = random_state
        self._check()

    def _embedding(self) -> SlicedWassersteinEmbedding:
        return SlicedWassersteinEmbedding(self.n_directions, n_quantiles=self.n_quantiles, random_state=self.random_state)
