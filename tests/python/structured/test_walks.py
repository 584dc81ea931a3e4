"""Random walks: against product graphs that are formed, and central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import kernsel
from kernsel.structured import walks as module
from kernsel.structured.graphs import as_graphs
from kernsel.structured.walks import walk_diagonal, walk_gram

import reference_structured as reference

EPS = np.finfo(float).eps


@st.composite
def graphs(draw, directed):
    n = draw(st.integers(0, 5))
    labels = draw(st.lists(st.sampled_from("AB"), min_size=n, max_size=n))
    pairs = [(i, j) for i in range(n) for j in range(n) if directed or i <= j]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=8, unique=True)) if pairs else []
    return [(*edge, draw(st.sampled_from("-="))) for edge in edges], labels


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("steps", ["probabilities", "counts"])
def test_by_product_graphs(directed, steps):
    decay = 0.4 if steps == "probabilities" else 0.03  # 5 nodes have a norm of 5 at most

    @settings(max_examples=8)
    @given(*[st.lists(graphs(directed), min_size=1, max_size=3)] * 2)
    def check(X, Z):
        given_X, given_Z = as_graphs(X, directed=directed), as_graphs(Z, directed=directed)
        for others, theirs in ((None, X), (given_Z, Z)):
            expected = [[reference.walks(a, b, decay, steps, directed) for b in theirs] for a in X]
            # Some hundred sums of positive numbers, and what is left of the series.
            assert_allclose(walk_gram(given_X, others, decay=decay, steps=steps), expected, rtol=200 * EPS, atol=0)
        own = np.diag(walk_gram(given_X, decay=decay, steps=steps))
        assert_allclose(walk_diagonal(given_X, decay=decay, steps=steps), own, rtol=200 * EPS, atol=0)

    check()


def molecules(rng, n):
    made = []
    for _ in range(n):
        size = int(rng.integers(1, 9))
        edges = [(i, int(rng.integers(0, i))) for i in range(1, size)]
        made.append((edges, rng.choice(list("CNO"), size).tolist()))
    return made


@pytest.mark.parametrize(("steps", "decay"), [("probabilities", 0.6), ("counts", 0.1)])
@pytest.mark.usefixtures("threads")
def test_derivative_and_blocks(steps, decay, rng, monkeypatch):
    X, Z = molecules(rng, 8), molecules(rng, 4)
    h = 2.0**-13
    for others in (None, Z):
        K, slope = walk_gram(X, others, decay=decay, steps=steps, derivative=True)
        ahead, behind, further, back = (walk_gram(X, others, decay=decay * np.exp(s * h), steps=steps) for s in (1, -1, 2, -2))
        near, far = (ahead - behind) / (2 * h), (further - back) / (4 * h)
        assert_allclose(slope, (4 * near - far) / 3, rtol=0, atol=np.abs(near - far).max() + 500 * EPS * K.max() / h)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_NODES", 10)
            assert_allclose(walk_gram(X, others, decay=decay, steps=steps), K, rtol=500 * EPS)
            kernsel.set_num_threads(1)
            alone = walk_gram(X, others, decay=decay, steps=steps)
            kernsel.set_num_threads(2)
            assert_array_equal(walk_gram(X, others, decay=decay, steps=steps), alone)
    assert_array_equal(walk_gram(X, decay=decay, steps=steps), walk_gram(X, decay=decay, steps=steps).T)


def test_the_norm_of_a_large_graph():
    """A grid of 20 by 18 nodes has the norm 2 cos(pi / 21) + 2 cos(pi / 19)."""
    number = np.arange(360).reshape(20, 18)
    pairs = [*zip(number[1:].flat, number[:-1].flat, strict=True), *zip(number[:, 1:].flat, number[:, :-1].flat, strict=True)]
    least = 1 / (2 * np.cos(np.pi / 21) + 2 * np.cos(np.pi / 19)) ** 2
    with pytest.raises(ValueError, match=f"expected a number below {least:.6g} for these graphs"):
        walk_diagonal([([(int(u), int(v)) for u, v in pairs], "C" * 360)], decay=0.07, steps="counts")


def test_known_values():
    edge, node, nothing = ([(0, 1)], "CC"), ([], "C"), ([], "")
    # Walks of any length go to and fro: 1 / (1 - decay); a node has one walk; nothing has none.
    assert_allclose(walk_gram([edge, node, nothing], decay=0.5), [[2, 1, 0], [1, 1, 0], [0, 0, 0]], rtol=4 * EPS)
    assert_allclose(walk_gram([edge], decay=0.5, steps="counts"), [[4 / (1 - 0.5)]], rtol=4 * EPS)
    there, back = as_graphs([([(0, 1)], "CO"), ([(1, 0)], "CO")], directed=True)
    assert_array_equal(walk_gram([there, back], decay=0.5), [[0.5 + 0.5 / 4, 0.5], [0.5, 0.5 + 0.5 / 4]])
    assert walk_gram([]).shape == (0, 0)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"decay": 0.0}, "decay: expected a number above 0, got 0.0"),
        ({"decay": 1.0}, "decay: expected a number below 1 for these graphs, got 1.0"),
        ({"decay": np.nan}, "decay: expected a number above 0, got nan"),
        ({"decay": 0.3, "steps": "counts"}, 'below 0.25 for these graphs, got 0.3, or steps="probabilities"'),
        ({"steps": "count"}, 'steps: expected "probabilities" or "counts", got \'count\''),
        ({"Z": [([(0, 1)], None)]}, r"Z\[0\]: has no labels, and X\[0\] has"),
    ],
)
def test_bad_input(keywords, message):
    with pytest.raises(ValueError, match=message):
        walk_gram(**{"X": [([(0, 1), (1, 2), (2, 0)], "CCC")], **keywords})
