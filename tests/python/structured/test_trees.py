"""Kernels of trees, against fragments that are all written out."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernsel.structured import trees as module
from kernsel.structured.trees import as_trees, tree_diagonal, tree_gram

import reference_structured as reference

EPS = np.finfo(float).eps
LABELS = st.sampled_from("AB")
TREES = st.recursive(
    st.tuples(LABELS, LABELS),
    lambda below: st.tuples(LABELS, st.one_of(below, LABELS)) | st.tuples(LABELS, below, st.one_of(below, LABELS)),
    max_leaves=6,
)


@pytest.mark.parametrize("kind", ["subset-trees", "subtrees"])
def test_by_fragments(kind):
    @settings(max_examples=25)
    @given(*[st.lists(TREES, min_size=1, max_size=4)] * 2, st.sampled_from([1.0, 0.4]))
    def check(X, Z, decay):
        for others, theirs in ((None, X), (Z, Z)):
            expected = [[reference.common_fragments(a, b, decay, kind == "subtrees") for b in theirs] for a in X]
            found = tree_gram(X, others, decay=decay, fragments=kind, derivative=True)
            # Sums and products of positive numbers, some for each node.
            assert_allclose(np.moveaxis(found, 0, -1), expected, rtol=100 * EPS, atol=0)
        own = np.diag(tree_gram(X, decay=decay, fragments=kind))
        assert_allclose(tree_diagonal(X, decay=decay, fragments=kind), own, rtol=100 * EPS)

    check()


def test_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    X = [("S", *[("AB"[rng.integers(2)], *("xy"[k] for k in rng.integers(0, 2, 2))) for _ in range(3)]) for _ in range(12)]
    K = tree_gram(X)
    monkeypatch.setattr(module, "_MOST", 7)
    assert_allclose(tree_gram(X), K, rtol=20 * EPS)
    assert_array_equal(tree_gram(X), tree_gram(X).T)


def test_reading():
    texts = ["(S (NP she) (VP (V sees) (NP it)))", " ( S(NP she)\n(VP (V sees)(NP it)) ) "]
    nested = ["S", ["NP", "she"], ("VP", ("V", "sees"), ["NP", "it"])]
    trees = as_trees([*texts, nested])
    assert as_trees(trees) is trees
    assert_array_equal(tree_gram(trees, decay=1.0), np.full((3, 3), tree_diagonal(texts[:1], decay=1.0)[0]))
    copies = pickle.loads(pickle.dumps(trees))
    assert_array_equal(tree_gram(copies, trees), tree_gram(trees))
    assert_array_equal(tree_gram([("A",)]), [[0]])  # a leaf has no fragment
    deep = ("A", "B")
    for _ in range(1200):
        deep = ("A", deep)
    assert tree_diagonal([deep], decay=1.0, fragments="subtrees")[0] == 1201
    assert tree_gram([]).shape == (0, 0)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("(S x)", TypeError, r"^X: expected a list of trees, got '\(S x\)'"),
        ([3], TypeError, r"^X\[0\]: expected a tree, such as .*, got 3"),
        (["(S x", "(S x)"], ValueError, r"^X\[0\]: expected a tree, such as .*, with a label after each bracket, got '\(S x'"),
        (["(S x))"], ValueError, r"^X\[0\]: expected a tree"),
        (["(S ())"], ValueError, r"^X\[0\]: expected a tree"),
        (["S x"], ValueError, r"^X\[0\]: expected a tree"),
        ([""], ValueError, r"^X\[0\]: expected a tree"),
        ([(("S", "x"), "y")], ValueError, r"^X\[0\]: expected a label before the children"),
        ([("S", {})], TypeError, r"^X\[0\]: expected labels that are hashable, got \{\}"),
        ([("S", np.nan)], ValueError, r"^X\[0\]: expected a label for each node, got nan"),
    ],
)
def test_bad_trees(X, error, message):
    with pytest.raises(error, match=message):
        tree_gram(X)


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"^decay: expected a number above 0, up to 1, got 1.5"):
        tree_gram(["(S x)"], decay=1.5)
    with pytest.raises(ValueError, match=r'^fragments: expected "subset-trees" or "subtrees", got \'all\''):
        tree_gram(["(S x)"], fragments="all")
    wide = ("S", *[("A", "x")] * 1100)
    with pytest.raises(ValueError, match=r"^X: the trees are so large .* give a smaller decay"):
        tree_gram([wide], decay=1.0)
