"""Labelled graphs, compared by all their walks of equal labels: a geometric series over the lengths of walks.

The walks that two graphs have in common are those of their product graph, whose nodes are pairs of equal labels. It is never
formed: numbers at its nodes are a matrix F, with a row for each node of one graph and a column for each node of the other, and
a step along its edges is the product A' F B with the adjacency matrices of the graphs. Many graphs are compared at once, as one
graph of many components.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from numbers import Real
from typing import Literal, get_args

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.structured.graphs import Graph, as_graphs, check_labels
from kernsel.structured.threads import on_threads

__all__ = ["Steps", "check_steps", "walk_diagonal", "walk_gram"]

Steps = Literal["probabilities", "counts"]

_EPS = float(np.finfo(np.float64).eps)
_NODES = 128  # of the graphs that are compared at once: numbers at the nodes of their product graphs stay in the cache
_LARGE = 300  # nodes, from which on the norm of one graph is that of a sparse matrix
_STEPS_BETWEEN = 4  # two looks at what is left of the series


def walk_gram(
    X: Iterable[object],
    Z: Iterable[object] | None = None,
    *,
    decay: float = 0.5,
    steps: Steps = "probabilities",
    derivative: bool = False,
) -> Matrix | tuple[Matrix, Matrix]:
    """Compare graphs by their walks of equal labels, of any length.

    With the labels of a walk those of its nodes and edges: ::

        K(G, H) = sum_{l = 0, 1, ...} decay^l sum_{w in G, w' in H, of l steps, of equal labels} p(w) p(w')

    p(w) is the probability that a random walk begins with w: it begins at any node, and takes any edge of a node with the same
    probability (Kashima et al., 2003); or p(w) = 1, which counts pairs of walks (Gärtner et al., 2003). Positive semidefinite.

    Parameters
    ----------
    X : iterable of graphs
        As of :func:`kernsel.structured.graphs.as_graphs`; walks follow the directions of directed graphs.
    Z : iterable of graphs, optional
    decay : float
        Above 0. Below 1 for probabilities; for counts, below 1 / (|A| |B|) for all pairs of adjacency matrices, whose spectral
        norms are the largest eigenvalues of undirected graphs: beyond it the series need not converge.
    steps : {"probabilities", "counts"}
    derivative : bool
        Whether to return dK/dlog decay, too.

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)
    slope : ndarray of the same shape, if wanted

    Notes
    -----
    Takes O(e m + n f) for each pair of graphs of n and m nodes and e and f edges, and for each step: until what is left of the
    series and of its derivative is below the rounding of K.

    Examples
    --------
    >>> from kernsel.structured.walks import walk_gram
    >>> ethanol, ether = ([(0, 1), (1, 2)], "CCO"), ([(0, 1), (1, 2)], "COC")
    >>> walk_gram([ethanol, ether], decay=0.5).round(4)
    array([[0.836 , 0.7302],
           [0.7302, 1.1111]])
    """
    graphs = as_graphs(X)
    others = graphs if Z is None else as_graphs(Z, "Z")
    check_labels([("X", graphs), ("Z", others)])
    check_decay(decay)
    check_steps(steps)
    values, slopes = (np.zeros((len(graphs), len(others))) for _ in range(2))
    kinds = np.intersect1d(_kinds(graphs), _kinds(others))  # of edges that walks may have in common
    blocks = [(columns, _joined(others[columns], kinds, steps)) for columns in _blocks(others)]
    of_X = blocks if Z is None else [(rows, _joined(graphs[rows], kinds, steps)) for rows in _blocks(graphs)]
    pairs = [(x, z) for x in of_X for z in blocks if Z is not None or z[0].start <= x[0].start]

    def compare(at: int) -> None:
        (rows, x), (columns, z) = pairs[at]
        values[rows, columns], slopes[rows, columns] = _series(x, z, float(decay), derivative)

    on_threads(compare, len(pairs))
    if Z is None:  # equal to the last bit on both sides of the diagonal
        for table in (values, slopes):
            table[:] = np.tril(table) + np.tril(table, -1).T
    return (values, slopes) if derivative else values


def walk_diagonal(X: Iterable[object], *, decay: float = 0.5, steps: Steps = "probabilities") -> Vector:
    """Return the diagonal of :func:`walk_gram`.

    Parameters
    ----------
    X : iterable of graphs
    decay : float
    steps : {"probabilities", "counts"}

    Returns
    -------
    diagonal : ndarray of shape (n,)

    Examples
    --------
    >>> from kernsel.structured.walks import walk_diagonal
    >>> walk_diagonal([([(0, 1)], "CO"), ([], "C")], decay=0.5)
    array([1., 1.])
    """
    graphs = as_graphs(X)
    check_decay(decay)
    check_steps(steps)
    diagonal = np.zeros(len(graphs))
    kinds = _kinds(graphs)
    for rows in _blocks(graphs):
        x = _joined(graphs[rows], kinds, steps)
        diagonal[rows] = np.diag(_series(x, x, float(decay), False)[0])
    return diagonal


def check_steps(steps: object) -> None:
    """Raise unless `steps` says how walks are weighted."""
    if steps not in get_args(Steps):
        raise ValueError(f'steps: expected "probabilities" or "counts", got {steps!r}')


def check_decay(decay: object) -> None:
    """Raise unless `decay` is a positive number."""
    if isinstance(decay, bool) or not isinstance(decay, Real) or not 0 < float(decay) < np.inf:
        raise ValueError(f"decay: expected a number above 0, got {decay!r}")


@dataclass(frozen=True)
class _Joined:
    """Several graphs as one, of n nodes.

    Attributes
    ----------
    colours : ndarray of int of shape (n,)
        The numbers of the labels of nodes.
    start : ndarray of shape (n,)
        The weight of a walk of no steps that begins at a node.
    forward : sparse array of shape (kinds n, n)
        The transposed matrices of the weights of steps, for each kind of edges, one below the other.
    backward : sparse array of shape (n, kinds n)
        The same, one beside the other.
    members : sparse array of shape (graphs, n)
        Ones for the nodes of each graph.
    norms : ndarray of shape (graphs,), or None
        The spectral norms of the adjacency matrices, if walks are counted.
    """

    colours: Indices
    start: Vector
    forward: sparse.csr_array
    backward: sparse.csr_array
    members: sparse.csr_array
    norms: Vector | None


def _arcs(graph: Graph) -> Indices:
    """Return the arcs of walks: columns of sources, targets and kinds."""
    return graph.kept("arcs", lambda: np.array(graph.arcs_along_edges(), dtype=np.intp).reshape(-1, 3))


def _kinds(graphs: list[Graph]) -> Indices:
    """Return the sorted kinds of the edges of some graphs."""
    return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(_arcs(graph)[:, 2] for graph in graphs)]))


def _joined(graphs: list[Graph], kinds: Indices, steps: Steps) -> _Joined:
    sizes = np.array([len(graph) for graph in graphs], dtype=np.intp)
    first = np.concatenate([[0], np.cumsum(sizes)])
    n = int(first[-1])
    owner = np.repeat(np.arange(len(graphs)), sizes)
    arcs = np.vstack([_arcs(graph) + np.array([begin, begin, 0]) for graph, begin in zip(graphs, first, strict=False)])
    sources, targets, kind_of_arc = arcs.T
    weights = np.ones(len(arcs))
    start = np.ones(n)
    if steps == "probabilities":
        weights /= np.bincount(sources, minlength=n)[sources]
        start /= sizes[owner]
    common = np.isin(kind_of_arc, kinds)
    sources, targets, weights = sources[common], targets[common], weights[common]
    part = np.searchsorted(kinds, kind_of_arc[common]) * n  # where the matrix of a kind begins
    forward = sparse.csr_array((weights, (part + targets, sources)), shape=(len(kinds) * n, n))
    backward = sparse.csr_array((weights, (targets, part + sources)), shape=(n, len(kinds) * n))
    colours = np.array([number.value for graph in graphs for number in graph.colours(0)[0]], dtype=np.intp)
    members = sparse.csr_array((np.ones(n), (owner, np.arange(n))), shape=(len(graphs), n))
    norms = np.array([graph.kept("norm", partial(_norm, graph)) for graph in graphs]) if steps == "counts" else None
    return _Joined(colours, start, forward, backward, members, norms)


def _norm(graph: Graph) -> float:
    """Return the spectral norm of the adjacency matrix."""
    n = len(graph)
    sources, targets, _ = _arcs(graph).T
    A = sparse.csr_array((np.ones(len(sources)), (sources, targets)), shape=(n, n))
    if n > _LARGE and len(sources):  # from equal numbers, which are not orthogonal to what is sought: no entry is negative
        return float(svds(A, 1, v0=np.ones(n), return_singular_vectors=False)[0])
    return float(np.linalg.norm(A.toarray(), 2)) if n else 0.0


def _blocks(graphs: list[Graph]) -> Iterator[slice]:
    """Yield slices of a list of graphs, each of one graph, or with at most `_NODES` nodes in all."""
    begin, nodes = 0, 0
    for i, graph in enumerate(graphs):
        if nodes and nodes + len(graph) > _NODES:
            yield slice(begin, i)
            begin, nodes = i, 0
        nodes += len(graph)
    if begin < len(graphs):
        yield slice(begin, len(graphs))


def _series(x: _Joined, z: _Joined, decay: float, derivative: bool) -> tuple[Matrix, Matrix]:
    """Return the values of the kernel for all pairs of two blocks of graphs, and their derivatives in log decay, or zeros.

    The steps that are left out add at most a geometric series of the given ratio to what a step adds: walks lose probability
    at labels that differ, and the number of pairs of walks of l steps is at most that of no steps times (|A| |B|)^l.
    """
    ratio = np.full((x.members.shape[0], z.members.shape[0]), decay)
    if x.norms is not None and z.norms is not None:
        ratio *= np.outer(x.norms, z.norms)
    if ratio.size and ratio.max() >= 1:
        least = decay / float(ratio.max())
        cure = "" if x.norms is None else ', or steps="probabilities", whose sums always converge below 1'
        raise ValueError(f"decay: expected a number below {least:.6g} for these graphs, got {decay!r}{cure}")

    def by_graph(F: Matrix) -> Matrix:
        return np.asarray((x.members @ F) @ z.members.T)

    F = np.where(x.colours[:, None] == z.colours, np.outer(x.start, z.start), 0.0)
    if not F.any():
        return by_graph(F), by_graph(F)
    matched = F > 0
    forward = x.forward * decay
    values, slopes = F.copy(), np.zeros_like(F)
    first = by_graph(F)
    for step in count(1):
        F = _step(forward, F, z.backward)
        F *= matched
        values += F
        if derivative:
            slopes += step * F
        if step % _STEPS_BETWEEN == 0:
            added = by_graph(F) if x.norms is None else first * ratio**step
            rest = added * ratio / (1 - ratio) * (step + 1 / (1 - ratio))
            if (rest <= _EPS * by_graph(values)).all():
                break
    return by_graph(values), by_graph(slopes)


def _step(forward: sparse.csr_array, F: Matrix, backward: sparse.csr_array) -> Matrix:
    """Return the sum of A' F B over the kinds of edges, whose weights are A and B."""
    n, m = F.shape
    halfway = (forward @ F).reshape(forward.shape[0] // n, n, m)  # A' F of each kind
    return np.asarray(backward @ halfway.transpose(0, 2, 1).reshape(backward.shape[1], n)).T
