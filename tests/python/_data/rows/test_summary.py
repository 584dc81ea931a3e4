"""One pass over rows: statistics, and rows at random."""

import tracemalloc

import numpy as np
import pytest

from kernsel._data.rows import row_source, summary

from accuracy import eps


def test_statistics(rng):
    X = rng.normal(size=(1000, 3)) * [1, 1e-3, 1e6] + [0, 1e3, 0]
    y = rng.normal(size=(1000, 2))
    found = summary(row_source(X, y, block=77), subset=10)
    assert found.rows == 1000
    for statistics, values in ((found.columns, X), (found.targets, y)):
        # A mean of n numbers is rounded n times at most, and deviations from it as often as the largest number.
        rounding = 1000 * eps(np.float64) * np.abs(values).max(axis=0)
        assert (np.abs(statistics.mean - values.mean(axis=0)) <= rounding).all()
        assert (np.abs(statistics.sd - values.std(axis=0)) <= rounding).all()
        np.testing.assert_array_equal(statistics.least, values.min(axis=0))
        np.testing.assert_array_equal(statistics.greatest, values.max(axis=0))
    assert summary(row_source(X)).targets is None


def test_the_subset_is_rows_of_the_source_whatever_the_blocks(rng):
    X, y, noise = rng.normal(size=(500, 2)), rng.normal(size=500), rng.uniform(size=500)
    subsets = [summary(row_source(X, y, noise=noise, block=block), 20, seed=3).subset for block in (1, 7, 500)]
    for subset in subsets:
        np.testing.assert_array_equal(subset.rows, subsets[0].rows)
        assert len(np.unique(subset.rows)) == 20
        np.testing.assert_array_equal(subset.X, X[subset.rows])
        np.testing.assert_array_equal(subset.y[:, 0], y[subset.rows])
        np.testing.assert_array_equal(subset.noise, noise[subset.rows])
        assert subset.weights is None
    assert set(summary(row_source(X), 20, seed=4).subset.rows) != set(subsets[0].rows)


def test_all_rows_are_taken_if_there_are_fewer(rng):
    X = rng.normal(size=(9, 1))
    np.testing.assert_array_equal(summary(row_source(X, block=2), 9).subset.X, X)
    np.testing.assert_array_equal(summary(row_source(X, block=2), 10).subset.rows, np.arange(9))
    assert summary(row_source(X, block=2), 0).subset.X.shape == (0, 1)


def test_each_row_is_as_likely():
    X, taken = np.zeros((20, 1)), np.zeros(20)
    for seed in range(400):
        taken[summary(row_source(X, block=6), 5, seed=seed).subset.rows] += 1
    # Each is taken in 100 of 400 draws, with a variance of 75; the chance of more than 4.5 sd anywhere is 20 * 7e-6.
    assert np.abs(taken - 100).max() < 4.5 * np.sqrt(75)


def test_memory_is_that_of_a_block_and_of_the_subset():
    def blocks():
        return (np.zeros((1000, 4)) for _ in range(300))

    tracemalloc.start()
    found = summary(row_source(blocks), 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.rows == 300_000
    assert peak < 10 * 1000 * 4 * 8  # of 300 blocks


def test_a_subset_has_no_negative_size():
    with pytest.raises(ValueError, match="subset: expected a number of rows from 0 on"):
        summary(row_source(np.zeros((2, 1))), -1)
