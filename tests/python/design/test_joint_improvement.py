"""The improvement of several points together."""

import numpy as np
import pytest

from kernsel import design

import reference


@pytest.mark.parametrize("maximize", [True, False])
def test_value_is_the_mean_over_draws_and_has_its_derivatives(process, maximize):
    gp = process()
    X = np.array([[0.7, -0.2], [0.4, 0.5], [0.0, -0.9]])
    best = float(np.median(gp.predict(X)))
    joint = design.JointExpectedImprovement(gp, 3, maximize=maximize, best=best, samples=4096)
    draws = (1 if maximize else -1) * (gp.sample_y(X, 200_000, random_state=1, noisy=False) - best)
    gains = np.maximum(draws.max(axis=0), 0.0)
    value, slopes = joint.value_and_gradient(X)
    assert value == joint(X)
    assert abs(value - gains.mean()) <= 5 * gains.std() / np.sqrt(200_000) + 1e-3 * gains.mean()
    differences, error = reference.central_differences(lambda z: joint(z.reshape(3, 2)), X.ravel(), 1e-6)
    # Which point is the best of a draw changes within the step, for a share of the draws of the step's size.
    assert (np.abs(slopes.ravel() - differences) <= error + 1e-4 * np.abs(differences).max()).all()


def test_one_point_is_the_expected_improvement(process):
    gp, X = process(0.1), np.array([[0.5, 0.5]])
    joint = design.JointExpectedImprovement(gp, 1, best=float(gp.predict(X)[0]), samples=4096)
    expected = design.ExpectedImprovement(gp, best=float(gp.predict(X)[0]))(X)[0]
    assert joint(X) == pytest.approx(expected, rel=1e-3)


def test_equal_points_count_once(process):
    gp, X = process(0.1), np.array([[0.5, 0.5], [0.5, 0.5]])
    best = float(gp.predict(X)[0])
    joint = design.JointExpectedImprovement(gp, 2, best=best, samples=4096)
    value, slopes = joint.value_and_gradient(X)
    assert value == pytest.approx(design.ExpectedImprovement(gp, best=best)(X)[0], rel=1e-3)
    assert np.isfinite(slopes).all()


def test_bad_input(process):
    with pytest.raises(ValueError, match=r"^q: expected a whole number from 1 on, got 0$"):
        design.JointExpectedImprovement(process(), 0)
    with pytest.raises(ValueError, match=r"^X: expected 2 points, one for each of q, got 1$"):
        design.JointExpectedImprovement(process(), 2)([[0.0, 0.0]])
