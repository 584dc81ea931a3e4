"""Labelled graphs, compared by the subtrees that the colour refinement of Weisfeiler and Lehman counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel.structured.bags import Bag, Kind, bag_diagonal, bag_gram
from kernsel.structured.graph_input import is_of_networkx, read_graph
from kernsel.structured.numbering import Number, Numbering

__all__ = ["Graph", "as_graphs", "check_labels", "graph_diagonal", "graph_gram"]

T = TypeVar("T")

_COLOURS = Numbering()  # of the colours of nodes, and the kinds of arcs, of all graphs


class Graph:
    """A labelled graph that has been checked; :func:`as_graphs` makes them.

    Its colours are computed when they are first needed, and kept.

    Attributes
    ----------
    labels : list of length n_nodes
        None for each, if the graph has none.
    arcs : list of triples (source, target, kind)
        The arcs from each node to its neighbours, whose kinds are hashable. An undirected edge is an arc in both directions.
        If the graph is directed, kinds are pairs: ("to", label) of arcs along edges, and ("from", label) of those against them.
    directed : bool
    """

    __slots__ = ("_kept", "_kinds", "_levels", "_neighbours", "arcs", "directed", "labels")

    def __init__(self, labels: list[Hashable], arcs: list[tuple[int, int, Hashable]], directed: bool = False) -> None:
        self.labels = labels
        self.arcs = arcs
        self.directed = directed
        self._kinds = _COLOURS.of([("kind", kind) for *_, kind in arcs])
        # The neighbours of each node by the kind of arc, kinds ascending. Kinds are negative, which tells them from colours.
        neighbours: list[dict[int, list[int]]] = [{} for _ in labels]
        for (source, target, _), number in sorted(zip(arcs, self._kinds, strict=True), key=lambda arc: arc[1].value):
            neighbours[source].setdefault(-1 - number.value, []).append(target)
        self._neighbours = [list(kinds.items()) for kinds in neighbours]
        self._levels: tuple[list[Number], ...] = ()
        self._kept: dict[Hashable, Any] = {}

    @property
    def has_labels(self) -> bool:
        """Return whether the nodes have labels; the graph must have at least one node."""
        return self.labels[0] is not None

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Graph({len(self)} nodes)"

    def __reduce__(self) -> tuple[object, ...]:
        return Graph, (self.labels, self.arcs, self.directed)

    def kept(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` has computed of this graph when it was first asked for under this name."""
        if name not in self._kept:
            self._kept[name] = make()
        result: T = self._kept[name]
        return result

    def arcs_along_edges(self) -> list[tuple[int, int, int]]:
        """Return (source, target, number of the kind) of the arcs that walks may take: not against directed edges."""
        return [
            (source, target, number.value)
            for (source, target, kind), number in zip(self.arcs, self._kinds, strict=True)
            if not (self.directed and isinstance(kind, tuple) and kind[0] == "from")
        ]

    def colours(self, depth: int) -> tuple[list[Number], ...]:
        """Return the colours of the nodes at each depth up to the given one.

        Parameters
        ----------
        depth : int

        Returns
        -------
        colours : tuple of lists of Number
            Two nodes, also of different graphs, have equal colours if and only if their trees of walks are equal.
        """
        levels = self._levels or (_COLOURS.of([("label", label) for label in self.labels]),)
        while len(levels) <= depth:
            colours = [number.value for number in levels[-1]]
            keys = []
            for colour, kinds in zip(colours, self._neighbours, strict=True):
                key = [colour]
                for kind, nodes in kinds:
                    key.append(kind)
                    key.extend(sorted([colours[node] for node in nodes]))
                keys.append(tuple(key))
            levels = (*levels, _COLOURS.of(keys))
        self._levels = levels
        return levels[: depth + 1]

    def bag(self, depth: int) -> Bag:
        """Return the bag of all colours up to a depth.

        Parameters
        ----------
        depth : int

        Returns
        -------
        bag : Bag
        """

        def count() -> Bag:
            counts: dict[Number, int] = {}
            for level in self.colours(depth):
                for colour in level:
                    counts[colour] = counts.get(colour, 0) + 1
            return Bag(list(counts), counts.values())

        return self.kept(("bag", depth), count)


def as_graphs(
    X: Iterable[object],
    name: str = "X",
    *,
    directed: bool = False,
    node_label: str | None = "label",
    edge_label: str | None = None,
) -> list[Graph]:
    """Return a list of checked graphs, ready to be compared many times.

    Parameters
    ----------
    X : iterable of graphs
        A graph is one of networkx, or a pair (edges, labels). `labels` has a hashable label for each node: a sequence, for
        nodes 0, 1, ..., or a mapping from nodes to labels. `edges` are pairs of nodes, or triples (node, node, label of the
        edge). A self-loop makes a node its own neighbour, once. Repeated edges are an error: a label can give their number. A
        graph without labels is (edges, None), or has no attributes in networkx; its nodes have the same colour at depth 0, and
        their degrees as colours at depth 1. Either all or none of X have labels.
    name : str
        What errors call X.
    directed : bool
        Whether edges lead from their first node to their second; colours then tell successors from predecessors, and an
        undirected graph of networkx has each edge in both directions.
    node_label, edge_label : str or None
        The attributes of networkx's nodes and edges that are their labels; None if they have none.

    Returns
    -------
    graphs : list of Graph
        X itself, if it is such a list.

    Examples
    --------
    >>> from kernsel.structured.graphs import as_graphs
    >>> as_graphs([([(0, 1), (1, 2)], "CCO"), ([("a", "b")], {"a": "C", "b": "O"})])
    [Graph(3 nodes), Graph(2 nodes)]
    """
    if type(X) is list and set(map(type, X)) <= {Graph}:
        return X
    for argument, attribute in (("node_label", node_label), ("edge_label", edge_label)):
        if not isinstance(attribute, str | None):
            raise TypeError(f"{argument}: expected the name of an attribute, or None, got {attribute!r}")
    if not isinstance(directed, bool | np.bool_):
        raise TypeError(f"directed: expected True or False, got {directed!r}")
    if isinstance(X, str | bytes | Mapping) or is_of_networkx(X) or not isinstance(X, Iterable):
        raise TypeError(f"{name}: expected a list of graphs, got {X!r}")
    graphs = [
        one if type(one) is Graph else Graph(*read_graph(one, f"{name}[{i}]", directed, node_label, edge_label), bool(directed))
        for i, one in enumerate(X)
    ]
    check_labels([(name, graphs)])
    return graphs


def check_labels(lists: list[tuple[str, list[Graph]]]) -> None:
    """Raise unless all graphs of some named lists have labels, or none has."""
    if len({graph.has_labels for _, graphs in lists for graph in graphs if len(graph)}) < 2:
        return
    places = {graph.has_labels: f"{name}[{i}]" for name, graphs in lists for i, graph in enumerate(graphs) if len(graph)}
    raise ValueError(f"{places[False]}: has no labels, and {places[True]} has; expected labels for all graphs, or for none")


def graph_gram(X: Iterable[object], Z: Iterable[object] | None = None, *, depth: int = 3, kind: Kind = "product") -> Matrix:
    """Compare graphs by their subtrees, from depth 0 to a given one: the kernel of Weisfeiler and Lehman.

    At depth 0 the colour of a node is its label. At depth t + 1 it is its colour at depth t, with those of its neighbours,
    counted: the tree of all walks of t + 1 steps from it. With c_t(G) the counts of the colours of depth t in a graph: ::

        K(G, H) = sum_{t=0}^{depth} <c_t(G), c_t(H)>

    ("product"; Shervashidze et al., 2011), or another comparison of the same counts: "tanimoto" and "min-max" are those of
    molecular fingerprints. All are positive semidefinite, and do not depend on the order of nodes and edges.

    Parameters
    ----------
    X : iterable of graphs
        Graphs of networkx, or pairs (edges, labels), with labels of nodes and undirected edges. :func:`as_graphs` takes other
        graphs, and returns a list whose colours are kept for further calls.
    Z : iterable of graphs, optional
    depth : int
        From 0 on.
    kind : {"product", "jaccard", "tanimoto", "min-max"}
        As of :func:`~kernsel.structured.bags.bag_gram`, for the colours of all depths together.

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)

    Examples
    --------
    >>> from kernsel.structured.graphs import graph_gram
    >>> ethanol, ether = ([(0, 1), (1, 2)], "CCO"), ([(0, 1), (1, 2)], "COC")
    >>> graph_gram([ethanol, ether], depth=1)
    array([[ 8.,  5.],
           [ 5., 10.]])
    """
    check_depth(depth)
    graphs = as_graphs(X)
    others = None if Z is None else as_graphs(Z, "Z")
    if others is not None:
        check_labels([("X", graphs), ("Z", others)])
    return bag_gram(_bags(graphs, depth), None if others is None else _bags(others, depth), kind=kind)


def graph_diagonal(X: Iterable[object], depth: int = 3, *, kind: Kind = "product") -> Vector:
    """Return the diagonal of :func:`graph_gram`.

    Parameters
    ----------
    X : iterable of graphs
    depth : int
    kind : {"product", "jaccard", "tanimoto", "min-max"}

    Returns
    -------
    diagonal : ndarray of shape (n,)

    Examples
    --------
    >>> from kernsel.structured.graphs import graph_diagonal
    >>> graph_diagonal([([(0, 1), (1, 2)], "CCO"), ([], "C")], depth=1)
    array([8., 2.])
    """
    check_depth(depth)
    return bag_diagonal(_bags(as_graphs(X), depth), kind=kind)


def check_depth(depth: object) -> None:
    """Raise unless `depth` is a whole number from 0 on."""
    if isinstance(depth, bool) or not isinstance(depth, Integral) or int(depth) < 0:
        raise ValueError(f"depth: expected a whole number from 0 on, got {depth!r}")


def _bags(graphs: list[Graph], depth: int) -> list[Bag]:
    return [graph.bag(depth) for graph in graphs]
