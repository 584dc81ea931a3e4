"""Equal rows, groups and blocks of time."""

import numpy as np
import pytest

from kernsel._data.together import (
    Repeats,
    blocks_of_time,
    checked_groups,
    copies_in,
    first_of_equal,
    learnt_once,
    repeats_in,
    weights_of_first,
)


@pytest.mark.parametrize("order", ["C", "F"])
def test_equal_rows_are_found(rng, order):
    X = rng.integers(0, 3, (60, 3)) * -1.0  # many zeros, which are negative ones
    X[::2] += 0.0
    first = first_of_equal(np.array(X, order=order))
    for i, row in enumerate(X):
        assert first[i] == next(j for j in range(60) if np.array_equal(X[j], row))
    assert first_of_equal(rng.standard_normal((50, 2))) is None
    # Each column repeats, and no row does.
    assert first_of_equal(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])) is None


def test_repeats_are_counted_and_said():
    X = np.array([[0.0], [1.0], [0.0], [0.0], [1.0]])
    assert repeats_in(X, np.arange(5.0)) == Repeats(5, 3, 0)
    assert str(repeats_in(X, np.arange(5.0))) == "3 of 5 rows have the inputs of an earlier one"
    assert repeats_in(X, np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [1.0, 3.0], [4.0, 0.0]])) == Repeats(5, 3, 1)
    assert str(Repeats(1599, 244, 240)) == "244 of 1,599 rows have the inputs of an earlier one, 240 of them its target, too"
    assert str(Repeats(3, 1, 1)) == "1 of 3 rows has the inputs of an earlier one, and its target"


def test_weights_of_copies():
    first = np.array([0, 1, 0, 1, 4])
    assert weights_of_first(first, np.array([1.0, 0.0, 2.0, 0.0, 3.0])).tolist() == [3.0, 0.0, 0.0, 0.0, 3.0]


def copies_of(X, y, rows):
    """Return the rows that are taken for copies if the data are some of the rows of X and y."""
    once = learnt_once(X[rows], y[rows])
    return [] if once is None else np.setdiff1d(np.arange(len(rows)), once.kept).tolist()


def test_copies_of_measurements_are_found_beside_repeated_measurements(rng):
    X = np.vstack([rng.uniform(size=(40, 1))] * 2)[:60]  # 20 points are measured twice
    y = rng.standard_normal(60)
    assert copies_of(X, y, np.arange(60)) == []
    assert copies_of(X, y, np.append(np.arange(60), [3, 3, 59])) == [60, 61, 62]
    assert copies_of(X, y, np.tile(np.arange(60), 3)) == list(range(60, 180))
    once = learnt_once(np.vstack([X, X[2:4]]), np.append(y, y[2:4]))
    assert str(once) == "2 rows are copies of others: each is learnt from once."
    assert once.places(np.array([60, 3, 7])).tolist() == [2, 3, 7]


def test_counts_that_agree_by_chance_are_no_copies(rng):
    """Whole numbers at few points: equal rows are part of what tells the noise, unless all rows occur twice."""
    for _ in range(20):
        X = rng.integers(0, 3, (200, 2)).astype(float)
        y = X.sum(axis=1) + rng.integers(0, 3, 200)
        assert copies_of(X, y, np.arange(200)) == []
        assert copies_of(X, y, np.tile(np.arange(200), 2)) == list(range(200, 400))
    assert copies_of(X, np.zeros(200), np.arange(200)) == []  # nor where nearly all targets are the same
    interleaved = np.repeat(np.arange(200), 2)
    once = copies_in(X[interleaved], y[interleaved])
    assert len(np.unique(once)) == 200
    assert np.array_equal(np.column_stack([X, y])[interleaved][once], np.column_stack([X, y])[interleaved])


def test_a_copy_in_another_group_is_a_copy_unless_one_group_would_be_left(rng):
    X, y = np.vstack([rng.uniform(size=(20, 1))] * 2), np.tile(rng.standard_normal(20), 2)
    halves = np.repeat([0, 1], 20)
    assert learnt_once(X, y, halves) is None
    assert learnt_once(X, y, np.tile([0, 1], 20)).kept.tolist() == list(range(20))


def test_groups_are_checked():
    assert checked_groups(None, 3) is None
    assert checked_groups(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    for bad, message in (([1, 2], "one label for each of 3 points"), (["a"] * 3, "groups: expected two at least")):
        with pytest.raises(ValueError, match=message):
            checked_groups(bad, 3)


def test_blocks_of_time_follow_each_other(rng):
    time = rng.permutation(97).astype(float)
    blocks = blocks_of_time(time)
    assert (np.diff(blocks[np.argsort(time)]) >= 0).all()
    assert np.ptp(np.bincount(blocks)) <= 1
    assert blocks.max() == 9
    days = np.datetime64("2020-01-01") + np.repeat(np.arange(40), 3)
    in_days = blocks_of_time(days)
    assert all(len(set(in_days[days == day])) == 1 for day in days)
    assert in_days.max() == 9
    assert blocks_of_time([1, 2, 3]).tolist() == [0, 1, 2]
    assert len(set(blocks_of_time([0.0] * 98 + [1.0]))) == 2
    for bad, message in (([1.0, np.nan], "point 1 has none"), ([2.0, 2.0], "two different times"), ([[1.0]], "shape")):
        with pytest.raises(ValueError, match=message):
            blocks_of_time(bad)
