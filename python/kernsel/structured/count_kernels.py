"""Kernels of counts: of the items in bags, and of the subtrees in graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from kernsel._base.annotations import Vector
from kernsel.kernels.leaf import Leaf
from kernsel.kernels.object_kernel import ObjectKernel, Table
from kernsel.structured.bags import Bag, Kind, as_bags, bag_diagonal, bag_gram, check_kind
from kernsel.structured.graphs import Graph, as_graphs, graph_diagonal, graph_gram

__all__ = ["BagOfItems", "WeisfeilerLehman"]


class BagOfItems(ObjectKernel[Bag], Leaf):
    """Bags and sets of items, compared by what they have in common.

    With a_t and b_t the counts of item t in two bags: ::

        "product"    <a, b> = sum_t a_t b_t
        "jaccard"    |A n B| / |A u B|, of the sets of items with counts that are not zero
        "tanimoto"   <a, b> / (<a, a> + <b, b> - <a, b>)
        "min-max"    sum_t min(a_t, b_t) / sum_t max(a_t, b_t)

    The last three are the same for sets, where all counts are 0 or 1; of two empty bags they are 1.

    Parameters
    ----------
    kind : {"min-max", "tanimoto", "jaccard", "product"}

    Notes
    -----
    Points are sets, lists or other iterables of hashable items, or mappings from items to counts, which are not negative and
    need not be whole. As many operations as there are pairs of equal items, one from each of two bags.

    Examples
    --------
    >>> from kernsel.structured import BagOfItems
    >>> BagOfItems("jaccard")([{1, 2, 3}, {2, 3, 4}, {5}])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    _hyper: ClassVar = {}
    _always_shown = ("kind",)

    def __init__(self, kind: Kind = "min-max") -> None:
        self.kind = kind
        self._check()

    def _check(self) -> None:
        super()._check()
        check_kind(self.kind)

    def _encode(self, objects: Sequence[object]) -> list[Bag]:
        return as_bags(objects)

    def _table(self, X: Sequence[Bag], Z: Sequence[Bag] | None, derivative: bool) -> Table:
        del derivative
        return bag_gram(X, Z, kind=self.kind), []

    def _diagonal_of(self, X: Sequence[Bag]) -> Vector:
        return bag_diagonal(X, kind=self.kind)


class WeisfeilerLehman(ObjectKernel[Graph], Leaf):
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

    def _encode(self, objects: Sequence[object]) -> list[Graph]:
        return as_graphs(objects, directed=self.directed, node_label=self.node_label, edge_label=self.edge_label)

    def _read_with(self) -> tuple[object, ...]:
        return self.directed, self.node_label, self.edge_label

    def _table(self, X: Sequence[Graph], Z: Sequence[Graph] | None, derivative: bool) -> Table:
        del derivative
        return graph_gram(X, Z, depth=self.depth, kind=self.kind), []

    def _diagonal_of(self, X: Sequence[Graph]) -> Vector:
        return graph_diagonal(X, depth=self.depth, kind=self.kind)
