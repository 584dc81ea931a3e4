"""Labelled graphs, compared by the lengths of the shortest paths between their nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from kernsel._base.annotations import Matrix, Vector
from kernsel.structured.bags import Bag, Kind, as_bags, bag_diagonal, bag_gram
from kernsel.structured.graphs import Graph, as_graphs, check_labels

__all__ = ["path_diagonal", "path_gram"]


def path_gram(X: Iterable[object], Z: Iterable[object] | None = None, *, kind: Kind = "product") -> Matrix:
    """Compare graphs by the shortest paths between their nodes (Borgwardt and Kriegel, 2005).

    With d(u, v) the number of edges of a shortest path from u to v, and l the labels of nodes: ::

        K(G, H) = sum_{u, v in G} sum_{u', v' in H} [l(u) = l(u')] [d(u, v) = d(u', v')] [l(v) = l(v')]

    ("product"), or another comparison of the same counts. The sums are over all ordered pairs of nodes between which there is a
    path, of a node with itself too, where d = 0. All kinds are positive semidefinite.

    Parameters
    ----------
    X : iterable of graphs
        As of :func:`kernsel.structured.graphs.as_graphs`; paths follow the directions of directed graphs. Labels of edges are
        not compared.
    Z : iterable of graphs, optional
    kind : {"product", "jaccard", "tanimoto", "min-max"}
        As of :func:`~kernsel.structured.bags.bag_gram`, of the triples (l(u), d(u, v), l(v)).

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)

    Notes
    -----
    O(nodes edges) for each graph, and then as many operations as there are pairs of equal triples.

    Examples
    --------
    >>> from kernsel.structured.shortest_paths import path_gram
    >>> ethanol, ether = ([(0, 1), (1, 2)], "CCO"), ([(0, 1), (1, 2)], "COC")
    >>> path_gram([ethanol, ether])
    array([[13.,  9.],
           [ 9., 17.]])
    """
    graphs = as_graphs(X)
    others = None if Z is None else as_graphs(Z, "Z")
    if others is not None:
        check_labels([("X", graphs), ("Z", others)])
    return bag_gram(_bags(graphs), None if others is None else _bags(others), kind=kind)


def path_diagonal(X: Iterable[object], *, kind: Kind = "product") -> Vector:
    """Return the diagonal of :func:`path_gram`.

    Parameters
    ----------
    X : iterable of graphs
    kind : {"product", "jaccard", "tanimoto", "min-max"}

    Returns
    -------
    diagonal : ndarray of shape (n,)

    Examples
    --------
    >>> from kernsel.structured.shortest_paths import path_diagonal
    >>> path_diagonal([([(0, 1)], "CO"), ([], "C")])
    array([4., 1.])
    """
    return bag_diagonal(_bags(as_graphs(X)), kind=kind)


def _bags(graphs: list[Graph]) -> list[Bag]:
    return [graph.kept("paths", partial(_bag, graph)) for graph in graphs]


def _bag(graph: Graph) -> Bag:
    return as_bags([_triples(graph)])[0]


def _triples(graph: Graph) -> dict[Hashable, int]:
    """Return how often there is a shortest path of some length between nodes of some labels."""
    n = len(graph)
    if not n:
        return {}
    arcs = graph.arcs_along_edges()
    sources, targets = [arc[0] for arc in arcs], [arc[1] for arc in arcs]
    adjacency = sparse.csr_array((np.ones(len(arcs)), (sources, targets)), shape=(n, n))
    distances = csgraph.shortest_path(adjacency, unweighted=True)
    labels = list(dict.fromkeys(graph.labels))
    place = {label: at for at, label in enumerate(labels)}
    codes = np.array([place[label] for label in graph.labels])
    connected = np.isfinite(distances)
    lengths = distances[connected].astype(np.intp)
    ends = np.broadcast_to(codes, (n, n))
    found, counts = np.unique((ends.T[connected] * n + lengths) * len(labels) + ends[connected], return_counts=True)
    return {
        (labels[code // len(labels) // n], code // len(labels) % n, labels[code % len(labels)]): count
        for code, count in zip(found.tolist(), counts.tolist(), strict=True)
    }
