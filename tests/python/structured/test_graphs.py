"""The kernel of Weisfeiler and Lehman against colours that are written out as trees, and against networkx."""

import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kernsel.structured.bags import bag_gram
from kernsel.structured.graphs import as_graphs, graph_diagonal, graph_gram

EPS = np.finfo(float).eps
KINDS = ("product", "jaccard", "tanimoto", "min-max")


def trees(graph, depth, directed=False):
    """Return the colours of all nodes, at each depth, as nested tuples: nothing is numbered, and nothing shared."""
    edges, labels = graph
    around = {node: [] for node in range(len(labels))}
    for u, v, *rest in edges:
        around[u].append(("to" if directed else "", *rest, v))
        if u != v or directed:
            around[v].append(("from" if directed else "", *rest, u))
    colours = [(label,) for label in labels]
    found = [colours]
    for _ in range(depth):
        colours = [
            (colours[node], tuple(sorted(((*kind, colours[other]) for *kind, other in around[node]), key=repr)))
            for node in range(len(labels))
        ]
        found.append(colours)
    return found


def by_trees(X, Z, depth, directed=False):
    """Return the kernel for every depth."""
    left, right = ([[Counter(c) for c in trees(graph, depth, directed)] for graph in graphs] for graphs in (X, Z))
    each = [[[sum(a[t][c] * b[t][c] for c in a[t]) for b in right] for a in left] for t in range(depth + 1)]
    return np.cumsum(np.array(each, dtype=float).reshape(depth + 1, len(X), len(Z)), axis=0)


@st.composite
def graphs(draw, least=0, most=7, loops=True, bonds=False, directed=False):
    n = draw(st.integers(least, most))
    labels = draw(st.lists(st.sampled_from("ABC"), min_size=n, max_size=n))
    pairs = [(i, j) for i in range(n) for j in range(n) if (i <= j if loops else i < j) or (directed and i != j)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=10, unique=True)) if pairs else []
    return [(*edge, draw(st.sampled_from("-="))) for edge in edges] if bonds else edges, labels


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("bonds", [False, True])
def test_by_definition(directed, bonds):
    @given(*[st.lists(graphs(bonds=bonds, directed=directed), min_size=1, max_size=5)] * 2)
    def check(X, Z):
        own, cross = by_trees(X, X, 3, directed), by_trees(X, Z, 3, directed)
        X, Z = as_graphs(X, directed=directed), as_graphs(Z, directed=directed)
        for depth in (1, 3, 0, 2):
            assert_array_equal(graph_gram(X, depth=depth), own[depth])
            assert_array_equal(graph_gram(X, Z, depth=depth), cross[depth])
            assert_array_equal(graph_diagonal(X, depth=depth), np.diag(own[depth]))

    check()


@given(graphs(bonds=True), graphs(bonds=True), st.randoms(use_true_random=False))
def test_order_of_nodes_and_edges(graph, other, random):
    edges, labels = graph
    names = list(range(len(labels)))
    random.shuffle(names)  # node i becomes names[i]
    moved = [(names[u], names[v], kind) if random.random() < 0.5 else (names[v], names[u], kind) for u, v, kind in edges]
    random.shuffle(moved)
    again = (moved, {names[i]: label for i, label in enumerate(labels)})
    listed = (moved, [label for _, label in sorted(zip(names, labels, strict=True))])
    for depth in range(5):
        K = graph_gram([graph, again, listed, other], depth=depth)
        assert_array_equal(K[0], K[1])
        assert_array_equal(K[0], K[2])
        assert K[0, 0] == K[0, 1]


def random_graphs(rng, n, nodes=12, letters="CNO"):
    result = []
    for _ in range(n):
        size = int(rng.integers(1, nodes))
        edges = [(i, j) for i in range(size) for j in range(i) if rng.uniform() < 1.5 / size]
        result.append((edges, rng.choice(list(letters), size)))
    return result


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_and_definiteness(kind, rng):
    X = random_graphs(rng, 50)
    for depth in range(4):
        matrix = graph_gram(X, depth=depth, kind=kind)
        bags = [[(t, c) for t, colours in enumerate(trees(graph, depth)) for c in colours] for graph in X]
        # Whole numbers, and one division and one root of them.
        np.testing.assert_allclose(matrix, bag_gram(bags, kind=kind), rtol=4 * EPS, atol=0)
        assert_array_equal(matrix, matrix.T)
        np.testing.assert_allclose(graph_diagonal(X, depth=depth, kind=kind), np.diag(matrix), rtol=4 * EPS)
        e = np.linalg.eigvalsh(matrix)
        assert e[0] >= -10 * len(e) * EPS * e[-1]
    later = random_graphs(rng, 10, letters="CNS")
    whole = graph_gram(X + later, depth=3, kind=kind)
    assert_array_equal(graph_gram(X, later, depth=3, kind=kind), whole[:50, 50:])
    assert_array_equal(graph_gram(later, X, depth=3, kind=kind), whole[50:, :50])


def test_checked_graphs(rng):
    raw = random_graphs(rng, 8)
    X = as_graphs(raw)
    assert as_graphs(X) is X
    assert [repr(graph) for graph in X] == [f"Graph({len(labels)} nodes)" for _, labels in raw]
    assert as_graphs([X[0], raw[1]])[0] is X[0]
    K = graph_gram(X, depth=3)
    for copies in (deepcopy(X), pickle.loads(pickle.dumps(X)), raw):
        assert_array_equal(graph_gram(copies, X, depth=3), K)


def test_graphs_that_come_and_go(rng):
    """Colours whose graphs are gone are found again, and colours that some graph has stay what they are."""
    raw = random_graphs(rng, 12)
    kept = as_graphs(raw[::3])
    K = graph_gram(kept, raw)
    for _ in range(3):
        as_graphs(raw)
        assert_array_equal(graph_gram(raw, depth=3)[::3], K)
        assert_array_equal(graph_gram(kept, as_graphs(raw)), K)


def test_threads_agree(rng):
    raw = random_graphs(rng, 40)
    with ThreadPoolExecutor(4) as pool:
        lists = list(pool.map(lambda _: [graph for graph in as_graphs(raw) if graph.bag(3)], range(8)))
    K = graph_gram(raw)
    for X in lists:
        assert_array_equal(graph_gram(X, lists[0]), K)


def test_what_it_can_tell_and_what_it_cannot():
    hexagon = ([(i, (i + 1) % 6) for i in range(6)], "C" * 6)
    triangles = ([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], "C" * 6)
    assert_array_equal(graph_gram([hexagon, triangles], depth=5), np.full((2, 2), 6 * 36))
    path, star = ([(0, 1), (1, 2), (2, 3)], "CCCC"), ([(0, 1), (0, 2), (0, 3)], "CCCC")
    # Ends 2 and 3, a middle of degree 2 twice, or of degree 3 once.
    assert_array_equal(graph_gram([path, star], depth=1), [[16 + 8, 16 + 6], [16 + 6, 16 + 10]])
    there, back = ([(0, 1)], "CO"), ([(1, 0)], "CO")
    assert_array_equal(graph_gram([there, back], depth=1), [[4, 4], [4, 4]])
    assert_array_equal(graph_gram(as_graphs([there, back], directed=True), depth=1), [[4, 2], [2, 4]])
    loop, none = ([(0, 0)], "C"), ([], "C")
    for directed in (False, True):
        assert_array_equal(graph_gram(as_graphs([loop, none], directed=directed), depth=2), [[3, 1], [1, 3]])
    single, double = ([(0, 1, "-")], "CC"), ([(0, 1, "=")], "CC")
    assert_array_equal(graph_gram([single, double], depth=1), [[8, 4], [4, 8]])
    # Nothing to do with a colour that has the same number: no other label is 0 or 1.
    assert_array_equal(graph_gram([([(0, 1)], [0, 1])], [([(0, 1)], ["0", "1"])]), [[0]])


def test_small_and_empty():
    assert graph_gram([]).shape == (0, 0)
    assert graph_diagonal([]).shape == (0,)
    assert graph_gram([], [([], "C")]).shape == (0, 1)
    assert_array_equal(graph_gram([([], "")], [([], ""), ([], "C")]), [[0, 0]])
    assert_array_equal(graph_gram([([], ""), ([], "")], kind="min-max"), np.ones((2, 2)))
    K = graph_gram([(np.zeros((0, 2), dtype=int), np.array([1, 1]))], depth=0)
    assert_array_equal(K, [[4]])
    assert_array_equal(graph_gram([(np.array([[0, 1]]), np.array([1, 1]))]), [[16]])
    assert_array_equal(graph_gram([({("a", "b")}, {"a": "C", "b": "C"})]), [[16]])


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"depth": -1}, ValueError, "^depth: expected a whole number from 0 on, got -1"),
        ({"depth": 1.5}, ValueError, "^depth: expected a whole number from 0 on, got 1.5"),
        ({"depth": True}, ValueError, "^depth: expected a whole number from 0 on, got True"),
        ({"kind": "rbf"}, ValueError, "^kind: expected one of 'product', 'jaccard'"),
        ({"X": "CCO"}, TypeError, "^X: expected a list of graphs, got 'CCO'"),
        ({"X": 3}, TypeError, "^X: expected a list of graphs, got 3"),
    ],
)
def test_wrong_arguments(keywords, error, message):
    for function in (graph_gram, graph_diagonal):
        with pytest.raises(error, match=message):
            function(**{"X": [([(0, 1)], "CC")], **keywords})


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"directed": "no"}, "^directed: expected True or False, got 'no'"),
        ({"node_label": 3}, "^node_label: expected the name of an attribute, or None, got 3"),
        ({"edge_label": 3}, "^edge_label: expected the name of an attribute, or None, got 3"),
    ],
)
def test_wrong_settings(keywords, message):
    with pytest.raises(TypeError, match=message):
        as_graphs([([(0, 1)], "CC")], **keywords)
