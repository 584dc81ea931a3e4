"""Kernels of labelled graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.kernels.hyperparameter import Bounds, Parameter, numbers
from kernsel.kernels.leaf import Leaf
from kernsel.kernels.object_kernel import ObjectKernel, Table
from kernsel.structured.bags import Kind, check_kind
from kernsel.structured.graphs import Graph, as_graphs, graph_diagonal, graph_gram
from kernsel.structured.shortest_paths import path_diagonal, path_gram
from kernsel.structured.walks import Steps, check_steps, walk_diagonal, walk_gram

__all__ = ["RandomWalk", "ShortestPath", "WeisfeilerLehman"]


class GraphKernel(ObjectKernel[Graph], Leaf):
    """The base class of kernels of graphs, which reads graphs of networkx, or pairs of edges and labels."""

    directed: bool
    node_label: str | None
    edge_label: str | None

    def _encode(self, objects: Sequence[object]) -> list[Graph]:
        return as_graphs(objects, directed=self.directed, node_label=self.node_label, edge_label=self.edge_label)

    def _read_with(self) -> tuple[object, ...]:
        return self.directed, self.node_label, self.edge_label


class WeisfeilerLehman(GraphKernel):
    """The subtree kernel of Weisfeiler and Lehman: labelled graphs compared by the neighbourhoods of their nodes.

    At depth 0 the colour of a node is its label; at depth t + 1 it is its colour at depth t with those of its neighbours,
    counted. k(G, H) = sum_{t=0}^{depth} <c_t(G), c_t(H)>, c_t being the counts of the colours of depth t (Shervashidze et al.,
    2011); or another comparison of the same counts, see :class:`BagOfItems`: "tanimoto" and "min-max" are those of molecular
    fingerprints.

    Parameters
    ----------
    depth : int, or list of int for :func:`kernsel.select` to choose from
    kind : {"product", "tanimoto", "min-max", "jaccard"}
    directed : bool
        Whether edges lead from their first node to their second; colours then tell successors from predecessors.
    node_label, edge_label : str or None
        The attributes of networkx's nodes and edges that are their labels; None if they have none.

    Notes
    -----
    Points are graphs of networkx, or pairs (edges, labels): edges are pairs of nodes, or triples with a label of the edge, and
    labels a sequence for nodes 0, 1, ..., a mapping, or None, with which nodes differ by their neighbours only. A self-loop
    makes a node its own neighbour. O(edges) for each depth and graph; all depths up to the largest are computed at once.

    Examples
    --------
    >>> from kernsel.structured import WeisfeilerLehman
    >>> ethanol, ether = ([(0, 1), (1, 2)], "CCO"), ([(0, 1), (1, 2)], "COC")
    >>> WeisfeilerLehman(1)([ethanol, ether])
    array([[ 8.,  5.],
           [ 5., 10.]])
    """

    _hyper: ClassVar = {}
    _whole: ClassVar = {"depth": 0}

    def __init__(
        self,
        depth: int | Sequence[int] = 3,
        kind: Kind = "product",
        directed: bool = False,
        node_label: str | None = "label",
        edge_label: str | None = None,
    ) -> None:
        self.depth: Any = depth  # one integer, in a bound kernel
        self.kind = kind
        self.directed = directed
        self.node_label = node_label
        self.edge_label = edge_label
        self._check()

    def _check(self) -> None:
        super()._check()
        self._check_whole()
        check_kind(self.kind)

    def _table(self, X: Sequence[Graph], Z: Sequence[Graph] | None, derivative: bool) -> Table:
        del derivative
        return graph_gram(X, Z, depth=self.depth, kind=self.kind), []

    def _diagonal_of(self, X: Sequence[Graph]) -> Vector:
        return graph_diagonal(X, depth=self.depth, kind=self.kind)


class ShortestPath(GraphKernel):
    """The shortest-path kernel: labelled graphs compared by the distances between their nodes.

    k(G, H) is the number of pairs of shortest paths, one of each graph, of equal length and with equal labels at both ends
    (Borgwardt and Kriegel, 2005); or another comparison of the same counts, see :class:`BagOfItems`.

    Parameters
    ----------
    kind : {"product", "tanimoto", "min-max", "jaccard"}
    directed : bool
        Whether edges lead from their first node to their second, and paths with them.
    node_label : str or None
        The attribute of networkx's nodes that is their label; None if they have none.

    Notes
    -----
    Points are graphs as for :class:`WeisfeilerLehman`. A path has a length, its number of edges, from 0 on (a node alone), and
    counts in both directions; nodes without a path between them do not count. Labels of edges are not compared.
    O(nodes edges) for each graph, once.

    Examples
    --------
    >>> from kernsel.structured import ShortestPath
    >>> ethanol, ether = ([(0, 1), (1, 2)], "CCO"), ([(0, 1), (1, 2)], "COC")
    >>> ShortestPath("min-max")([ethanol, ether]).round(3)
    array([[1.   , 0.385],
           [0.385, 1.   ]])
    """

    _hyper: ClassVar = {}
    edge_label = None

    def __init__(self, kind: Kind = "product", directed: bool = False, node_label: str | None = "label") -> None:
        self.kind = kind
        self.directed = directed
        self.node_label = node_label
        self._check()

    def _check(self) -> None:
        super()._check()
        check_kind(self.kind)

    def _table(self, X: Sequence[Graph], Z: Sequence[Graph] | None, derivative: bool) -> Table:
        del derivative
        return path_gram(X, Z, kind=self.kind), []

    def _diagonal_of(self, X: Sequence[Graph]) -> Vector:
        return path_diagonal(X, kind=self.kind)


class RandomWalk(GraphKernel):
    """The random-walk kernel: labelled graphs compared by all their walks, of any length, with equal labels.

    k(G, H) = sum_l decay^l sum_{w, w'} p(w) p(w'), over the walks w of G and w' of H with l steps and equal labels of nodes and
    edges. p(w) is the probability that a random walk begins with w (Kashima et al., 2003), or 1 if walks are counted (Gärtner
    et al., 2003). Probabilities compare graphs whatever their sizes; counts grow with them, which may be what is to be learned.

    Parameters
    ----------
    decay : float, "auto" or Parameter
        Above 0, and below 1 for probabilities. For counts it has to be below 1 / (|A| |B|) for all pairs of graphs, |A| the
        largest eigenvalue of the adjacency matrix (the largest singular value, if graphs are directed): some hundredths for
        molecules. Larger values are an error, also in a search, so that counts need bounds.
    decay_bounds : pair of floats, or "fixed"
    steps : {"probabilities", "counts"}
    directed : bool
        Whether edges lead from their first node to their second, and walks with them.
    node_label, edge_label : str or None
        The attributes of networkx's nodes and edges that are their labels; None if they have none.

    Notes
    -----
    Points are graphs as for :class:`WeisfeilerLehman`. O(e m + n f) for a pair of graphs of n and m nodes and e and f edges,
    and for each step, with the derivative; some 40 / (1 - decay) steps at most, and far fewer where labels tell nodes apart.
    The product graph of two graphs, whose walks these are, is not formed.

    Examples
    --------
    >>> from kernsel.structured import RandomWalk
    >>> ethanol, ether = ([(0, 1), (1, 2)], "CCO"), ([(0, 1), (1, 2)], "COC")
    >>> RandomWalk(0.5)([ethanol, ether]).round(4)
    array([[0.836 , 0.7302],
           [0.7302, 1.1111]])
    """

    _hyper: ClassVar = {"decay": "share"}

    def __init__(
        self,
        decay: float | str | Parameter = 0.5,
        decay_bounds: Bounds = (0.01, 0.9),
        steps: Steps = "probabilities",
        directed: bool = False,
        node_label: str | None = "label",
        edge_label: str | None = None,
    ) -> None:
        self.decay = decay
        self.decay_bounds = decay_bounds
        self.steps = steps
        self.directed = directed
        self.node_label = node_label
        self.edge_label = edge_label
        self._check()

    def _check(self) -> None:
        super()._check()
        check_steps(self.steps)
        bounds = self.bounds_of("decay")
        if bounds == "auto" or (not isinstance(bounds, str) and np.max(bounds) >= 1):
            raise ValueError(f'decay_bounds: expected two numbers above 0, below 1, or "fixed", got {bounds!r}')

    def _check_value(self, name: str, value: object) -> None:
        super()._check_value(name, value)
        if not isinstance(value, str) and float(numbers(value, name)) >= 1:
            raise ValueError(f"decay: expected a number above 0, below 1, got {value!r}")

    def _table(self, X: Sequence[Graph], Z: Sequence[Graph] | None, derivative: bool) -> Table:
        decay = self.number("decay")
        if not derivative:
            return np.asarray(walk_gram(X, Z, decay=decay, steps=self.steps)), []
        values, slope = walk_gram(X, Z, decay=decay, steps=self.steps, derivative=True)
        return values, [slope]

    def _diagonal_of(self, X: Sequence[Graph]) -> Vector:
        return walk_diagonal(X, decay=self.number("decay"), steps=self.steps)
