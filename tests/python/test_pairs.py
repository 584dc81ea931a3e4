"""The sample of combinations that other tests run on has what it says, and few combinations."""

from itertools import combinations, product

import pytest
from pairs import pairwise


@pytest.mark.parametrize("sizes", [(2, 3), (2, 2, 2), (3, 4, 1, 2), (13, 4, 6, 2), (3, 2, 2, 2, 2, 3)])
def test_any_two_values_of_two_lists_meet(sizes):
    lists = [[f"{axis}{i}" for i in range(size)] for axis, size in zip("abcdef", sizes, strict=False)]
    rows = pairwise(*lists)
    for p, q in combinations(range(len(lists)), 2):
        assert {(row[p], row[q]) for row in rows} == set(product(lists[p], lists[q]))
    first, second = sorted(sizes)[-2:]
    assert first * second <= len(rows) == len(set(rows)) <= first * second + 2
    assert rows == pairwise(*lists)


def test_values_may_be_anything_that_can_be_listed():
    assert pairwise({"a": 1, "b": 2}, range(1)) == [("a", 0), ("b", 0)]
    assert pairwise([[], []], [None]) == [([], None), ([], None)]
