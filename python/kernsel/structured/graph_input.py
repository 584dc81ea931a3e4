"""Graphs as users give them, of networkx or as edges and labels: their checks, and their labels and arcs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Protocol, TypeGuard

import numpy as np

__all__ = ["is_of_networkx", "read_graph"]

Labels = dict[Hashable, Hashable]  # the label of each node
Edge = tuple[Hashable, ...]  # a pair of nodes, or a triple with a label
Arc = tuple[int, int, Hashable]
Attributes = Mapping[str, Hashable]


class NetworkxGraph(Protocol):
    """The methods of a graph of networkx that are used here."""

    def is_directed(self) -> bool: ...
    def nodes(self, *, data: bool) -> Iterable[tuple[Hashable, Attributes]]: ...
    @property
    def edges(self) -> Callable[..., Iterable[Edge]]: ...


def is_of_networkx(value: object) -> TypeGuard[NetworkxGraph]:
    """Tell whether a value is a graph of networkx."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(value, networkx.Graph)


def read_graph(
    graph: object, where: str, directed: bool, node_label: str | None, edge_label: str | None
) -> tuple[list[Hashable], list[Arc]]:
    """Return the labels of the nodes of a graph, and the arcs from each to its neighbours; see `as_graphs`.

    Parameters
    ----------
    graph : graph of networkx, or pair (edges, labels)
    where : str
        What errors call the graph.
    directed : bool
    node_label, edge_label : str or None

    Returns
    -------
    labels : list of hashable
        None for each, if the graph has none.
    arcs : list of triples (source, target, kind)
    """
    if is_of_networkx(graph):
        nodes, edges = _of_networkx(graph, where, directed, node_label, edge_label)
        both_ways = directed and not graph.is_directed()
    elif isinstance(graph, tuple | list) and len(graph) == 2:
        nodes, edges = _of_pair(graph[0], graph[1], where)
        both_ways = False
    else:
        raise TypeError(f"{where}: expected a graph of networkx, or a pair (edges, labels), got {graph!r}")
    if any(label is not None for label in nodes.values()):
        for node, label in nodes.items():
            _check_label(label, where, "node", node)
    arcs: list[Arc] = []
    for u, v, label in _ends(edges, {node: at for at, node in enumerate(nodes)}, where, directed):
        forward, backward = (("to", label), ("from", label)) if directed else (label, label)
        arcs.append((u, v, forward))
        if u != v or directed:
            arcs.append((v, u, backward))
        if both_ways and u != v:
            arcs.extend([(v, u, forward), (u, v, backward)])
    return list(nodes.values()), arcs


def _of_networkx(
    graph: NetworkxGraph, where: str, directed: bool, node_label: str | None, edge_label: str | None
) -> tuple[Labels, list[Edge]]:
    if graph.is_directed() and not directed:
        raise ValueError(f"{where}: is a directed graph; expected directed=True, or graph.to_undirected()")
    nodes = {node: None if node_label is None else attributes.get(node_label) for node, attributes in graph.nodes(data=True)}
    if node_label is not None:
        for node, attributes in graph.nodes(data=True):
            if attributes:  # a node without any attributes is checked later, if others have labels
                _check_label(attributes.get(node_label), where, "node", node)
    if edge_label is None:
        return nodes, list(graph.edges())
    for u, v, edge_attributes in graph.edges(data=True):
        if not isinstance(edge_attributes, Mapping) or edge_label not in edge_attributes:
            raise ValueError(f"{where}: the edge ({u!r}, {v!r}) has no attribute {edge_label!r}, which edge_label names")
    return nodes, list(graph.edges(data=edge_label))


def _of_pair(edges: object, labels: object, where: str) -> tuple[Labels, list[Edge]]:
    if isinstance(labels, bytes) or not isinstance(labels, Mapping | Iterable | None):
        raise TypeError(f"{where}: expected labels for its nodes, a sequence or a mapping, or None, got {labels!r}")
    if isinstance(edges, str | bytes | Mapping) or not isinstance(edges, Iterable):
        raise TypeError(f"{where}: expected edges, pairs or triples, got {edges!r}")
    rows = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
    for at, edge in enumerate(rows):
        if not isinstance(edge, tuple | list) or len(edge) not in (2, 3) or len(edge) != len(rows[0]):
            raise ValueError(f"{where}: expected edges that are all pairs, or all triples with a label, got {edge!r} at {at}")
    if labels is None:
        try:
            return dict.fromkeys(node for edge in rows for node in edge[:2]), rows
        except TypeError:
            raise TypeError(f"{where}: expected nodes that are hashable, got {rows!r}") from None
    if isinstance(labels, Mapping):
        nodes = dict(labels)
    else:
        nodes = dict(enumerate(labels.tolist() if isinstance(labels, np.ndarray) else labels))
    for node, label in nodes.items():
        _check_label(label, where, "node", node)
    return nodes, rows


def _check_label(label: object, where: str, kind: str, owner: object) -> None:
    """Raise unless a node or an edge, as `kind` says, has a label that is hashable and equal to itself."""
    try:
        hash(label)
    except TypeError:
        raise TypeError(f"{where}: expected labels that are hashable, got {label!r} for the {kind} {owner!r}") from None
    if label is None or label != label:  # as nan is
        raise ValueError(
            f"{where}: expected a label for each {kind}, got {label} for {owner!r}; "
            f"for networkx, {kind}_label names the attribute"
        )


def _ends(edges: list[Edge], place: Mapping[Hashable, int], where: str, directed: bool) -> Iterator[tuple[int, int, Hashable]]:
    """Yield the places of the nodes of each edge, and its label."""
    pairs = set()
    for edge in edges:
        try:
            u, v = place[edge[0]], place[edge[1]]
        except (KeyError, TypeError):
            nodes = _shown(place)
            raise ValueError(f"{where}: the edge {edge!r} has a node without a label; expected nodes of {nodes}") from None
        pair = (u, v) if directed or u < v else (v, u)
        if pair in pairs:
            raise ValueError(f"{where}: the edge {edge!r} is there twice; expected one at most between two nodes")
        pairs.add(pair)
        label = edge[2] if len(edge) == 3 else ""
        _check_label(label, where, "edge", edge[:2])
        yield u, v, label


def _shown(place: Mapping[Hashable, int]) -> str:
    nodes = [repr(node) for node in place]
    return ", ".join(nodes if len(nodes) <= 6 else [*nodes[:5], "...", nodes[-1]]) or "an empty graph"
