"""Bags of items against sums over all items."""

import pickle
from collections import Counter
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kernsel.structured import bags as module
from kernsel.structured.bags import as_bags, bag_diagonal, bag_gram

EPS = np.finfo(float).eps
KINDS = ("product", "jaccard", "tanimoto", "min-max")


def compared(a, b, kind):
    """Return the kernel of two bags, by its definition."""
    a, b = ({item: count for item, count in Counter(bag).items() if count} for bag in (a, b))
    items = set(a) | set(b)
    if kind == "jaccard":
        return len(set(a) & set(b)) / len(items) if items else 1.0
    if kind == "min-max":
        most = sum(max(a.get(t, 0), b.get(t, 0)) for t in items)
        return sum(min(a.get(t, 0), b.get(t, 0)) for t in items) / most if items else 1.0
    ab, aa, bb = (sum(u.get(t, 0) * v.get(t, 0) for t in items) for u, v in ((a, b), (a, a), (b, b)))
    if kind == "product":
        return ab
    return ab / (aa + bb - ab) if items else 1.0


def of_all_pairs(X, Z, kind):
    return np.array([[compared(x, z, kind) for z in Z] for x in X], dtype=float).reshape(len(X), len(Z))


ITEMS = st.sampled_from(["a", "b", ("a", 1), 3, 2.5, None, frozenset({1})])
BAGS = st.lists(ITEMS, max_size=8) | st.dictionaries(ITEMS, st.integers(0, 4) | st.floats(0.01, 9.0), max_size=7)


@given(st.lists(BAGS, max_size=6), st.lists(BAGS, max_size=6), st.sampled_from(KINDS))
def test_bags_by_definition(X, Z, kind):
    # Each sum is of positive terms, so that its relative error is at most eps for each of some tens of operations.
    for K, expected in (
        (bag_gram(X, Z, kind=kind), of_all_pairs(X, Z, kind)),
        (bag_gram(X, kind=kind), of_all_pairs(X, X, kind)),
    ):
        assert K.shape == expected.shape
        np.testing.assert_allclose(K, expected, rtol=50 * EPS, atol=0)


def random_bags(rng, n, whole=True):
    bags = [Counter(rng.zipf(1.6, size=rng.integers(1, 25)).clip(max=40).tolist()) for _ in range(n)]
    return bags if whole else [{item: count * rng.uniform(0.1, 2) for item, count in bag.items()} for bag in bags]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [True, False])
def test_positive_semidefinite_and_consistent(kind, whole, rng):
    bags = random_bags(rng, 80, whole)
    K = bag_gram(bags, kind=kind)
    assert_array_equal(K, K.T)
    e = np.linalg.eigvalsh(K)
    assert e[0] >= -10 * len(K) * EPS * e[-1]
    if kind != "product":
        np.testing.assert_allclose(np.diag(K), 1, rtol=100 * EPS)
    cross = bag_gram(bags[:30], bags[30:], kind=kind)
    np.testing.assert_allclose(cross, K[:30, 30:], rtol=100 * EPS, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_order_of_items_and_blocks(kind, rng, monkeypatch):
    bags = [list(bag.elements()) for bag in random_bags(rng, 40)]
    K = bag_gram(bags, kind=kind)
    shuffled = [rng.permutation(bag).tolist() for bag in reversed(bags)]
    assert_array_equal(bag_gram(shuffled, kind=kind), K[::-1, ::-1])
    for block in (1, 7, 300):
        monkeypatch.setattr(module, "_BLOCK", block)
        assert_array_equal(bag_gram(bags, kind=kind), K)


def test_kinds_that_agree_on_sets(rng):
    sets = [set(bag) for bag in random_bags(rng, 30)]
    K = bag_gram(sets, kind="jaccard")
    assert_array_equal(bag_gram(sets, kind="tanimoto"), K)
    assert_array_equal(bag_gram(sets, kind="min-max"), K)
    assert_array_equal(bag_gram(random_bags(rng, 0), sets), np.zeros((0, 30)))


@pytest.mark.parametrize("kind", KINDS)
def test_diagonal(kind, rng):
    bags = [[], *random_bags(rng, 20, whole=False)]
    np.testing.assert_allclose(bag_diagonal(bags, kind=kind), np.diag(bag_gram(bags, kind=kind)), rtol=100 * EPS, atol=0)
    assert bag_diagonal([], kind=kind).shape == (0,)


def test_empty_bags():
    for kind in ("jaccard", "tanimoto", "min-max"):
        assert_array_equal(bag_gram([[], ["a"], {"a": 0.0}], kind=kind), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    assert_array_equal(bag_gram([[], []], kind="product"), np.zeros((2, 2)))


def test_checked_bags():
    raw = [["b", "a", "b"], {"c": 0.5, "a": 0}, np.array([1, 1, 2]), iter(())]
    bags = as_bags(iter(raw))
    assert as_bags(bags) is bags
    assert repr(bags[:2]) == "[Bag({'b': 2.0, 'a': 1.0}), Bag({'c': 0.5})]"
    assert [bag.counts.tolist() for bag in bags[2:]] == [[2, 1], []]
    mixed = as_bags([bags[0], ["a", "b", "b"]])
    assert mixed[0] is bags[0]
    K = bag_gram([*bags, ["a"]], kind="product")
    for copies in (deepcopy(bags), pickle.loads(pickle.dumps(bags)), (bag for bag in bags)):
        assert_array_equal(bag_gram([*copies, ["a"]], kind="product"), K)
    assert_array_equal(bag_gram(mixed, bags, kind="jaccard")[0], bag_gram(mixed, bags, kind="jaccard")[1])


def test_items_are_equal_as_in_python():
    assert_array_equal(bag_gram([[1, 2]], [[1.0, 2.0], [True, np.int64(2)], np.array([1, 2]), ["1", "2"]]), [[1, 1, 1, 0]])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("abc", TypeError, r"^X: expected a list of bags, got 'abc'"),
        (3, TypeError, r"^X: expected a list of bags, got 3"),
        ({"a": 1}, TypeError, r"^X: expected a list of bags"),
        ([["a"], "abc"], TypeError, r"^X\[1\]: expected an iterable of items.*got 'abc'; list\(\.\.\.\) makes a bag"),
        ([["a"], 3], TypeError, r"^X\[1\]: expected an iterable of items"),
        ([[["a"]]], TypeError, r"^X\[0\]: expected items that are hashable"),
        ([np.zeros((2, 2))], TypeError, r"^X\[0\]: expected items that are hashable"),
        ([{"a": -1}], ValueError, r"^X\[0\]: expected counts that are finite and not negative, got -1 of 'a'"),
        ([{"a": np.nan}], ValueError, r"^X\[0\]: expected counts"),
        ([{"a": np.inf}], ValueError, r"^X\[0\]: expected counts"),
        ([{"a": "b"}], ValueError, r"^X\[0\]: expected counts"),
        ([{"a": 1j}], ValueError, r"^X\[0\]: expected counts"),
        ([["a", float("nan")]], ValueError, r"^X\[0\]: expected items that are equal to themselves, got nan"),
    ],
)
def test_what_is_no_bag(X, error, message):
    with pytest.raises(error, match=message):
        bag_gram(X)
    with pytest.raises(error, match=message.replace("X", "Z", 1)):
        bag_gram([["a"]], X)


def test_unknown_kind():
    for function in (bag_gram, bag_diagonal):
        with pytest.raises(ValueError, match=r"^kind: expected one of 'product', .*got 'dice'"):
            function([["a"]], kind="dice")
