"""Which side of the best value of a parameter is which, where values are, and how errors are measured."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from kernsel.plotting.of_parameter import loss_of, places_of, sides_of, with_value


def test_sides():
    places, train, error = np.array([1.0, 2.0, 3.0]), np.array([[0.1], [0.2], [0.5]]), np.array([[0.9], [0.4], [0.6]])
    assert sides_of(places, train, error, 1) == {"overfits": "left", "underfits": "right"}
    assert sides_of(-places, train, error, 1) == {"overfits": "right", "underfits": "left"}
    assert sides_of(places, train, error[[1, 0, 2]], 0) == {"underfits": "right"}  # there is nothing on the left
    assert sides_of(places, train, error[[0, 2, 1]], 2) == {"overfits": "left"}
    assert sides_of(places, np.ones((3, 1)), error, 1) == {}
    # An end that is as good as the best value is no side, nor is one that is worse in few folds.
    assert sides_of(places, train, np.array([[0.401], [0.4], [0.6]]), 1) == {"underfits": "right"}
    folds = np.array([[0.4, 0.4, 0.9], [0.4, 0.4, 0.4], [0.6, 0.6, 0.3]])
    assert sides_of(places, train, folds, 1) == {"underfits": "right"}


def test_places():
    np.testing.assert_array_equal(places_of([3, 1.5, 1]), [3, 1.5, 1])
    for values in (["a", "b", "c"], [1.0, 3.0, 2.0], [True, False, True], [1.0, np.inf, np.nan]):
        np.testing.assert_array_equal(places_of(values), [0, 1, 2])
    with pytest.raises(ValueError, match=r"^param_range: expected at least one value"):
        places_of([])


def test_losses_and_values():
    measure, name = loss_of(Ridge(), None)
    assert (measure([1.0, 2.0], [1.0, 4.0]), name) == (2**0.5, "error of {target}")
    measure, name = loss_of(LogisticRegression(), None)
    assert (measure(["a", "b"], ["a", "c"]), name) == (0.5, "share of wrong classes")
    with pytest.raises(TypeError, match=r"^loss: expected a function of targets and predictions, got 'mse'"):
        loss_of(Ridge(), "mse")
    model = Ridge()
    assert with_value(model, "alpha", 3.0).alpha == 3.0
    assert model.alpha == 1.0
    with pytest.raises(ValueError, match=r"^param_name: expected a parameter of Ridge, one of alpha, .*; got 'lambda'"):
        with_value(model, "lambda", 3.0)
