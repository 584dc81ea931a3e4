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


def test_graphs_without_labels():
    networkx = pytest.importorskip("networkx")
    shapes = [[(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)], [(0, 0), (0, 1), (1, 2), (2, 3), (3, 1)]]
    same = [(edges, "AAAA") for edges in shapes]
    bare = [(edges, None) for edges in shapes]
    theirs = [networkx.Graph(edges) for edges in shapes]
    for X in (bare, theirs):
        assert_array_equal(graph_gram(X, depth=3), graph_gram(same, depth=3))
        assert_array_equal(graph_gram(X, [*bare, ([], None), networkx.Graph()], depth=1)[:, 3:], np.zeros((3, 2)))
        for mixed in ([*same, *X], [*X, ([], ""), *same]):
            with pytest.raises(
                ValueError, match=r"^X\[\d\]: has no labels, and X\[\d\] has; expected labels for all graphs, or"
            ):
                graph_gram(mixed)
        with pytest.raises(ValueError, match=r"^Z\[2\]: has no labels, and X\[2\] has"):
            graph_gram(same, X)
    # The degrees, which all nodes of depth 1 tell; not the number of nodes, which depth 0 does.
    K = graph_gram(bare, depth=1) - graph_gram(bare, depth=0)
    assert_array_equal(K[:2, :2], [[2 * 2 + 2 * 2, 2 * 3], [2 * 3, 3 * 3 + 1]])


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


def test_networkx(rng):
    networkx = pytest.importorskip("networkx")
    X = random_graphs(rng, 15)
    theirs = []
    for edges, labels in X:
        graph = networkx.Graph()
        graph.add_nodes_from([(f"node {i}", {"label": str(label)}) for i, label in enumerate(labels)])
        graph.add_edges_from([(f"node {u}", f"node {v}") for u, v in edges])
        theirs.append(graph)
    assert_array_equal(graph_gram(theirs, X, depth=3), graph_gram(X, depth=3))
    hashes = [
        networkx.weisfeiler_lehman_subgraph_hashes(graph, node_attr="label", iterations=3, include_initial_labels=True)
        for graph in theirs
    ]
    bags = [[(t, h) for of_node in of_graph.values() for t, h in enumerate(of_node)] for of_graph in hashes]
    assert_array_equal(graph_gram(theirs, depth=3), bag_gram(bags, kind="product"))
    plain = [(edges, dict.fromkeys(range(len(labels)), 0)) for edges, labels in X]
    assert_array_equal(graph_gram(as_graphs(theirs, node_label=None), depth=3), graph_gram(plain, depth=3))
    # Not directed is the same as both directions.
    both = [([*edges, *[(v, u) for u, v in edges]], labels) for edges, labels in X]
    expected = graph_gram(both := as_graphs(both, directed=True))
    for same in (theirs, [graph.to_directed() for graph in theirs]):
        assert_array_equal(graph_gram(as_graphs(same, directed=True), both), expected)


def test_labels_of_edges_and_loops_of_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from("ab", element="C")
    graph.add_edge("a", "b", bond="=")
    graph.add_edge("a", "a", bond="-")
    pair = ([(0, 1, "="), (0, 0, "-")], "CC")
    ours = {"node_label": "element", "edge_label": "bond"}
    assert_array_equal(graph_gram(as_graphs([graph], **ours), [pair]), graph_gram([pair]))
    for directed in (False, True):
        both = ([(0, 1, "="), (1, 0, "="), (0, 0, "-")] if directed else pair[0], "CC")
        both = as_graphs([both], directed=directed)
        assert_array_equal(graph_gram(as_graphs([graph], directed=directed, **ours), both), graph_gram(both))
    with pytest.raises(ValueError, match=r"^X\[0\]: the edge \('a', 'b'\) has no attribute 'kind', which edge_label names"):
        as_graphs([graph], node_label="element", edge_label="kind")
    with pytest.raises(ValueError, match=r"^X\[0\]: expected a label for each node, got None for 'a'; .*node_label names"):
        graph_gram([graph])
    with pytest.raises(ValueError, match=r"^Z\[0\]: is a directed graph; expected directed=True, or graph.to_undirected"):
        graph_gram([pair], [graph.to_directed()])
    with pytest.raises(TypeError, match=r"^X: expected a list of graphs"):
        graph_gram(graph)
    several = networkx.MultiGraph([("a", "b"), ("a", "b")])
    with pytest.raises(ValueError, match=r"^X\[0\]: the edge \('a', 'b'\) is there twice; expected one at most"):
        graph_gram([several])


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (3, TypeError, r"expected a graph of networkx, or a pair \(edges, labels\), got 3"),
        (([], "C", 1), TypeError, r"expected a graph of networkx, or a pair"),
        (([(0, [1])], None), TypeError, r"expected nodes that are hashable, got "),
        (([(0, 1)], 2), TypeError, r"expected labels for its nodes"),
        ((3, "CC"), TypeError, r"expected edges, pairs or triples, got 3"),
        (("01", "CC"), TypeError, r"expected edges, pairs or triples, got '01'"),
        (
            ([(0, 1), (0,)], "CC"),
            ValueError,
            r"expected edges that are all pairs, or all triples with a label, got \(0,\) at 1",
        ),
        (([(0, 1), (1, 2, "-")], "CCC"), ValueError, r"expected edges that are all pairs, or all triples"),
        ((np.eye(4), "CCCC"), ValueError, r"expected edges that are all pairs"),
        (([0, 1], "CC"), ValueError, r"expected edges that are all pairs"),
        (([(0, 2)], "CC"), ValueError, r"the edge \(0, 2\) has a node without a label; expected nodes of 0, 1$"),
        (([(0, -1)], "CC"), ValueError, r"the edge \(0, -1\) has a node without a label"),
        (([(0, [1])], "CC"), ValueError, r"the edge \(0, \[1\]\) has a node without a label"),
        (([("a", "b")], {"a": "C"}), ValueError, r"the edge \('a', 'b'\) has a node without a label; expected nodes of 'a'$"),
        (([(0, 1)], ""), ValueError, r"the edge \(0, 1\) has a node without a label; expected nodes of an empty graph$"),
        (([(0, 1), (1, 0)], "CC"), ValueError, r"the edge \(1, 0\) is there twice; expected one at most between two nodes"),
        (([(0, 1, "-"), (0, 1, "=")], "CC"), ValueError, r"the edge \(0, 1, '='\) is there twice"),
        (([(0, 0), (0, 0)], "CC"), ValueError, r"the edge \(0, 0\) is there twice"),
        (([], ["C", None]), ValueError, r"expected a label for each node, got None for 1"),
        (([], ["C", np.nan]), ValueError, r"expected a label for each node, got nan for 1"),
        (([], ["C", ["O"]]), TypeError, r"expected labels that are hashable, got \['O'\] for the node 1"),
        (([], [np.zeros(2)]), TypeError, r"expected labels that are hashable"),
        (([(0, 1, None)], "CC"), ValueError, r"expected a label for each edge, got None for \(0, 1\)"),
        (([(0, 1, {})], "CC"), TypeError, r"expected labels that are hashable, got \{\} for the edge \(0, 1\)"),
    ],
)
def test_what_is_no_graph(graph, error, message):
    good = ([(0, 1)], "CC")
    with pytest.raises(error, match=r"^X\[1\]: " + message):
        graph_gram([good, graph])
    with pytest.raises(error, match=r"^Z\[0\]: " + message):
        graph_gram([good], [graph])


def test_directions_of_the_same_edge_are_two():
    both = ([(0, 1), (1, 0)], "CC")
    assert_array_equal(graph_gram(as_graphs([both], directed=True), depth=1), [[8]])
    with pytest.raises(ValueError, match=r"^X\[0\]: the edge \(0, 1\) is there twice"):
        as_graphs([([(0, 1), (0, 1)], "CC")], directed=True)


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
