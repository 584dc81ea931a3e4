"""Shortest paths, against all distances by dynamic programming."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kernsel.structured.bags import bag_gram
from kernsel.structured.graphs import as_graphs
from kernsel.structured.shortest_paths import path_diagonal, path_gram

import reference_structured as reference


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 6))
    labels = draw(st.lists(st.sampled_from("AB"), min_size=n, max_size=n))
    pairs = [(i, j) for i in range(n) for j in range(i + 1)]
    return draw(st.lists(st.sampled_from(pairs), max_size=8, unique=True)) if pairs else [], labels


@pytest.mark.parametrize("directed", [False, True])
def test_by_all_distances(directed):
    @settings(max_examples=15)
    @given(*[st.lists(graphs(), min_size=1, max_size=4)] * 2)
    def check(X, Z):
        left, right = ([reference.paths(graph, directed) for graph in graphs] for graphs in (X, Z))
        read_X, read_Z = as_graphs(X, directed=directed), as_graphs(Z, directed=directed)
        for kind in ("product", "min-max"):
            assert_array_equal(path_gram(read_X, kind=kind), bag_gram(left, kind=kind))
            assert_array_equal(path_gram(read_X, read_Z, kind=kind), bag_gram(left, right, kind=kind))
            assert_array_equal(path_diagonal(read_X, kind=kind), np.diag(bag_gram(left, kind=kind)))

    check()


def test_what_it_can_tell():
    hexagon = ([(i, (i + 1) % 6) for i in range(6)], "C" * 6)
    triangles = ([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], "C" * 6)
    # Distances 0, 1, 2, 3 occur 6, 12, 12 and 6 times, or 6 and 12 times: Weisfeiler and Lehman see no difference.
    assert_array_equal(path_gram([hexagon, triangles]), [[36 + 144 + 144 + 36, 36 + 144], [36 + 144, 36 + 144]])
    assert_array_equal(path_gram([([(0, 1)], None)]), [[8]])
    with pytest.raises(ValueError, match=r"Z\[0\]: has no labels, and X\[0\] has"):
        path_gram([hexagon], [([(0, 1)], None)])
