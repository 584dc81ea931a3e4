"""Kernels of graphs and trees as they are defined: product graphs that are formed, and fragments that are written out."""

from collections import Counter
from itertools import product

import numpy as np


def arcs_of(graph, directed):
    """Return {(u, v): label} for each way to go along an edge."""
    edges, _ = graph
    arcs = {}
    for u, v, *label in edges:
        arcs[u, v] = tuple(label)
        if not directed:
            arcs[v, u] = tuple(label)
    return arcs


def walks(graph, other, decay, steps, directed=False):
    """Return the random-walk kernel: 1' (I - decay W)^-1 of the product graph, whose steps W have weights."""
    (_, labels), (_, others) = graph, other
    first, second = arcs_of(graph, directed), arcs_of(other, directed)
    nodes = [(u, v) for u in range(len(labels)) for v in range(len(others)) if labels[u] == others[v]]
    if not nodes:
        return 0.0
    W = np.zeros((len(nodes), len(nodes)))
    for (i, (u, v)), (j, (s, t)) in product(enumerate(nodes), repeat=2):
        if (u, s) in first and (v, t) in second and first[u, s] == second[v, t]:
            W[i, j] = 1.0
            if steps == "probabilities":
                W[i, j] /= sum(a == u for a, _ in first) * sum(a == v for a, _ in second)
    start = 1.0 / (len(labels) * len(others)) if steps == "probabilities" else 1.0
    return start * float(np.linalg.solve(np.eye(len(nodes)) - decay * W, np.ones(len(nodes))).sum())


def paths(graph, directed=False):
    """Return how often there are a label, a distance and a label, of two nodes with a path (Floyd and Warshall)."""
    _, labels = graph
    n = len(labels)
    d = np.full((n, n), np.inf)
    for u, v in arcs_of(graph, directed):
        d[u, v] = 1.0
    for i in range(n):
        d[i, i] = 0.0
    for k, i, j in product(range(n), repeat=3):
        d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return Counter((labels[i], d[i, j], labels[j]) for i, j in product(range(n), repeat=2) if np.isfinite(d[i, j]))


def fragments(tree, whole):
    """Return (fragments with the root of a tree, all its fragments), nested tuples: a node that is cut off is its label alone.

    With `whole`, no node that has children is cut off.
    """
    label, *children = tree
    below, rooted_below = [], []
    for child in children:
        if not isinstance(child, tuple):
            rooted_below.append([child])
            continue
        rooted, everywhere = fragments(child, whole)
        below += everywhere
        rooted_below.append(rooted if whole else [child[0], *rooted])
    rooted = [(label, *choice) for choice in product(*rooted_below)]
    return rooted, rooted + below


def size(fragment):
    return 1 + sum(size(child) for child in fragment[1:] if isinstance(child, tuple))


def common_fragments(tree, other, decay, whole):
    """Return the kernel of trees, and its derivative in log decay."""
    ours, theirs = Counter(fragments(tree, whole)[1]), Counter(fragments(other, whole)[1])
    terms = [(size(f), ours[f] * theirs[f] * decay ** size(f)) for f in ours]
    return sum(term for _, term in terms), sum(n * term for n, term in terms)
