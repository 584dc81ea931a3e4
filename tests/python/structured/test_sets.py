"""What is a set of points, and what is none."""

import pickle

import numpy as np
import pytest

from kernsel.structured.sets import as_sets


def test_checked_sets(rng):
    raw = [*(rng.standard_normal((k, 2)) for k in (3, 1, 5)), []]
    sets = as_sets(raw)
    assert as_sets(sets) is sets
    assert [len(one) for one in sets] == [3, 1, 5, 0]
    assert as_sets([sets[0], raw[1]])[0] is sets[0]
    assert np.array_equal(pickle.loads(pickle.dumps(sets))[2].points, raw[2])
    assert [one.points.tolist() for one in as_sets(points.tolist() for points in raw[:3])] == [p.tolist() for p in raw[:3]]
    with pytest.raises(ValueError, match=r"^X\[1\]: expected points of 1 columns, as in X\[0\], got 2"):
        as_sets([*as_sets([[[0.0]]]), [[0.0, 1.0]]])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("abc", TypeError, r"^X: expected a list of sets of points, got 'abc'"),
        (1.0, TypeError, r"^X: expected a list of sets of points"),
        ([[[0.0]], [1.0, 2.0]], ValueError, r"^X\[1\]: expected shape \(k, d\), got \(2,\)"),
        ([[[0.0]], [[1.0, 2.0]]], ValueError, r"^X\[1\]: expected points of 1 columns, as in X\[0\], got 2"),
        ([[[0.0], [np.nan]]], ValueError, r"^X\[0\]: expected finite numbers, got nan"),
        ([[["a"]]], ValueError, r"^X\[0\]: expected numbers, of shape"),
        ([[[1.0], [1.0, 2.0]]], ValueError, r"^X\[0\]: expected numbers, of shape"),
        ([np.zeros((2, 0))], ValueError, r"^X\[0\]: expected shape"),
    ],
)
def test_what_are_no_sets_of_points(X, error, message):
    with pytest.raises(error, match=message):
        as_sets(X)
