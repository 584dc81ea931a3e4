"""Kernels of probability distributions that are inner products of rows: by optimal transport, and by that of projections."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kernsel.kernels.leaf import Leaf
from kernsel.kernels.object_kernel import ObjectEmbedding
from kernsel.structured.barycenter import Size
from kernsel.structured.clouds import as_clouds
from kernsel.structured.couplings import Solver
from kernsel.structured.sliced import SlicedWassersteinEmbedding
from kernsel.structured.transport import TransportEmbedding

__all__ = ["LinearizedTransport", "SlicedWasserstein"]

Matrix = NDArray[np.float64]


class EmbeddingKernel(ObjectEmbedding, Leaf):
    """The inner product of rows that a transformer makes of distributions."""

    _hyper: ClassVar = {}

    @abstractmethod
    def _transformer(self) -> Any:
        """Return the transformer, before it is fitted."""

    def _encode(self, objects: Sequence[Any]) -> Any:
        return as_clouds(objects)

    def _learn(self, X: Any) -> Any:
        transformer = self._transformer()
        return transformer, X, transformer.fit_transform(X)

    def _embed(self, X: Any) -> Matrix:
        transformer, known, rows = self._learnt
        return np.asarray(rows if X is known else transformer.transform(X))

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
        The barycenter of the distributions to learn from, points drawn from them, or a distribution that is given.
    size : int or "auto"
        How many points a reference has that is found.
    solver : {"auto", "pot", "highs"}
        For plans that are no assignments: see :class:`TransportEmbedding`.
    random_state : int, RandomState instance or None
        For "sample".

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
        self, reference: Any = "barycenter", size: Size = "auto", solver: Solver = "auto", random_state: Any = None
    ) -> None:
        self.reference = reference
        self.size = size
        self.solver = solver
        self.random_state = random_state
        self._check()

    def _transformer(self) -> TransportEmbedding:
        return TransportEmbedding(self.reference, size=self.size, solver=self.solver, random_state=self.random_state)


class SlicedWasserstein(EmbeddingKernel):
    """The sliced 2-Wasserstein kernel of probability distributions: inner products of quantile functions of projections.

    Of the rows of :class:`SlicedWassersteinEmbedding`, whose distance is the sliced Wasserstein distance; so any kernel of
    vectors composes with it, as ``RBF("auto") @ SlicedWasserstein()``.

    Parameters
    ----------
    n_directions : int
    n_quantiles : int or "auto"
        "auto" is the number of points of the largest cloud to learn from, at most 1000.
    random_state : int, RandomState instance or None
        None spreads the directions evenly, the same every time.

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

    def __init__(self, n_directions: int = 50, n_quantiles: int | Literal["auto"] = "auto", random_state: Any = None) -> None:
        self.n_directions = n_directions
        self.n_quantiles = n_quantiles
        self.random_state = random_state
        self._check()

    def _transformer(self) -> SlicedWassersteinEmbedding:
        return SlicedWassersteinEmbedding(self.n_directions, n_quantiles=self.n_quantiles, random_state=self.random_state)
