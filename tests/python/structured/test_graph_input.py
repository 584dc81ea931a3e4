"""What a graph may be, and what is said of those that are none."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernsel.structured.bags import bag_gram
from kernsel.structured.graphs import as_graphs, graph_gram


def random_graphs(rng, n, nodes=12, letters="CNO"):
    result = []
    for _ in range(n):
        size = int(rng.integers(1, nodes))
        edges = [(i, j) for i in range(size) for j in range(i) if rng.uniform() < 1.5 / size]
        result.append((edges, rng.choice(list(letters), size)))
    return result


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
