"""Boxes of numbers, whole numbers and categories."""

import numpy as np
import pytest

from kernsel.design.space import Space


def mixed():
    return Space([(-1.0, 2.0), (0, 2), None], integers=[1], categories={2: [5.0, 1.0, 7.0]})


def test_whole_numbers_and_categories_have_equal_parts():
    U = (np.arange(600)[:, None] + 0.5) / 600 * np.ones(3)
    X = mixed().from_unit(U)
    assert X[:, 0] == pytest.approx(3 * U[:, 0] - 1, abs=1e-15)
    for k, values in ((1, [0, 1, 2]), (2, [1, 5, 7])):
        assert np.unique(X[:, k], return_counts=True)[1].tolist() == [200, 200, 200]
        assert np.unique(X[:, k]).tolist() == values
    assert mixed().from_unit(np.ones((1, 3))).tolist() == [[2, 2, 7]]


def test_rounding_and_neighbours():
    space = mixed()
    X = np.array([[3.0, 0.4, 5.9], [0.5, 1.6, -3.0]])
    assert space.rounded(X).tolist() == [[2, 0, 5], [0.5, 2, 1]]
    assert X[0, 0] == 3.0
    assert space.neighbours(np.array([0.5, 0.0, 5.0])).tolist() == [[0.5, 1, 5], [0.5, 0, 1], [0.5, 0, 7]]
    assert [one for _, one in space.combinations()] == [(1,), (5,), (7,)]
    assert space.continuous.tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([],), "bounds: expected a lower and an upper end for each column"),
        (([(0, 1), (1, 0)],), r"bounds: expected finite ends .* for column 1, got \(1, 0\)"),
        (([(0, np.inf)],), "bounds: expected finite ends"),
        (([None],), "bounds: expected finite ends"),
        (([(0, 1.5)], [0]), "bounds: column 0 is of whole numbers; expected whole ends"),
        (([(0, 1)], [1]), "integers: expected columns from 0 to 0, got 1"),
        (([(0, 1)], [0], {0: [1]}), "integers: column 0 is one of categories"),
        (([(0, 1)], (), {0: []}), "categories: expected the numbers that stand for the categories of column 0"),
        (([(0, 1)], (), {0: ["a"]}), "categories: expected the numbers that stand for the categories of column 0"),
        (([(0, 1)], (), {"a": [1]}), "categories: expected columns from 0 to 0, got 'a'"),
    ],
)
def test_bad_input(arguments, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        Space(*arguments)
    with pytest.raises(TypeError, match=r"^categories: expected a dict of columns and their values, got list"):
        Space([(0, 1)], (), [0])
