"""Approximations as values: compared, copied, printed, cloned, and what they refuse."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kernsel as ks

Z = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_equal_landmarks_are_equal_approximations():
    given = ks.Nystrom(Z)
    assert given == ks.Nystrom(np.array(Z))
    assert hash(given) == hash(ks.Nystrom(np.array(Z)))
    others = (ks.Nystrom(3), ks.Nystrom(Z[:2]), ks.Nystrom(Z, random_state=1), ks.Nystrom(Z, bound=False), ks.Vecchia())
    assert all(given != other for other in (*others, ks.Nystrom(np.reshape(Z, (2, 3)))))
    assert ks.Nystrom(5) == ks.Nystrom(np.int64(5))


def test_landmarks_are_copied_and_read_only():
    coordinates = np.array(Z)
    given = ks.Nystrom(coordinates)
    coordinates[0, 0] = 7.0
    for other in (given, copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        np.testing.assert_array_equal(other.landmarks, Z)
        assert other == given
        with pytest.raises(ValueError, match="read-only"):
            other.landmarks[0, 0] = 7.0


def test_printed_in_one_line():
    assert repr(ks.Nystrom(50, "random")).startswith("Nystrom(landmarks=50, placement='random', random_state=0, bound=True")
    assert repr(ks.Nystrom(Z)).startswith("Nystrom(landmarks=<array of shape (3, 2)>, placement='pivoted'")


def test_a_parameter_of_estimators():
    for near in (ks.Nystrom(Z), ks.Nystrom(50)):
        model = clone(ks.GaussianProcessRegressor(approximation=near))
        assert model.get_params()["approximation"] == near


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"landmarks": 0}, "landmarks: expected a whole number from 1 on, got 0"),
        ({"landmarks": True}, "landmarks: expected a whole number from 1 on, got True"),
        ({"landmarks": 2.5}, r"landmarks: expected a whole number from 1 on, or landmarks of shape \(m, d\), got 2.5"),
        ({"landmarks": "many"}, "got 'many'"),
        ({"landmarks": [1.0, 2.0]}, r"shape \(m, d\), got \[1.0, 2.0\]"),
        ({"landmarks": np.zeros((0, 2))}, r"got shape \(0, 2\)"),
        ({"landmarks": [[1.0, np.nan]]}, "landmarks: expected finite coordinates, got nan in row 0, column 1"),
        ({"landmarks": 20000}, "landmarks: expected at most 10000, got 20000.*take kernsel.Vecchia"),
        ({"landmarks": np.zeros((10001, 1))}, "landmarks: expected at most 10000, got 10001"),
        ({"placement": "grid"}, 'placement: expected "pivoted", "k-means" or "random", got \'grid\''),
        ({"random_state": -1}, "random_state: expected a whole number from 0 on, got -1"),
        ({"bound": 1}, "bound: expected True or False, got 1"),
    ],
)
def test_bad_values_are_refused(bad, said):
    with pytest.raises(ValueError, match=said):
        ks.Nystrom(**bad)


def test_landmarks_have_the_columns_of_the_points():
    X, y, near = np.eye(4), np.arange(4.0), ks.Nystrom(Z)  # six coordinates, which 4 columns do not divide, but 3 do
    for columns in (3, 4):
        for model in (
            ks.GaussianProcessRegressor("RBF", approximation=near),
            ks.KernelRidge("RBF", approximation=near),
            ks.KernelRidgeCV("RBF", approximation=near),
            ks.features.Nystrom(Z),
        ):
            with pytest.raises(ValueError, match=rf"landmarks: expected {columns} columns, as X has, got shape \(3, 2\)"):
                model.fit(X[:, :columns], y)
