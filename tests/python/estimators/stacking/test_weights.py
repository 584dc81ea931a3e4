"""The weights of a mixture: the maximum, known by its conditions, and by another method."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import norm

from kernsel.estimators.stacking.weights import LEAST, probabilities_of, stacking_weights


def violation(logs, weights, points=0.0):
    """Return how far the conditions of a maximum on the simplex are from holding."""
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    of_points = points / np.where(weights > 0, weights, np.inf)
    slopes = ((p / (p @ weights)[:, None]).sum(axis=0) + of_points) / (len(p) + points * len(weights)) - 1
    assert (weights >= 0).all()
    return max(slopes.max(), np.abs(slopes[weights > 0]).max(), abs(weights.sum() - 1))


def drawn(rng, n, count, spread):
    return rng.normal(size=(n, 1)) + spread * rng.normal(size=(n, count)) + 0.1 * rng.normal(size=count)


@pytest.mark.parametrize("spread", [1e-6, 1e-3, 0.1, 1.0, 10.0])
@pytest.mark.parametrize(("n", "count"), [(1, 3), (7, 2), (50, 5), (300, 20), (2000, 50)])
def test_the_conditions_of_a_maximum_hold(rng, spread, n, count):
    logs = drawn(rng, n, count, spread)
    assert violation(logs, stacking_weights(logs, least=0.0)) < 1e-10
    assert violation(logs, stacking_weights(logs, least=0.0, points=3.0), 3.0) < 1e-10
    logs[:, -1] = logs[:, 0]  # equal models: their weights are not unique, the maximum is
    assert violation(logs, stacking_weights(logs, least=0.0)) < 1e-10


def test_densities_of_very_unlike_size(rng):
    logs = drawn(rng, 200, 5, 1.0)
    logs[:3, 1:] = -1e6  # three points that one model alone allows
    logs[:, 4] = -1e9
    assert violation(logs, stacking_weights(logs, least=0.0)) < 1e-10
    assert stacking_weights(logs)[4] == 0
    for _ in range(20):
        logs = drawn(rng, 60, 8, 200.0)
        assert violation(logs, stacking_weights(logs, least=0.0)) < 1e-8  # the slopes are sums of up to n


@pytest.mark.parametrize("points", [0.0, 2.5])
def test_it_is_the_maximum_that_another_method_finds(rng, points):
    logs = drawn(rng, 80, 4, 1.0)

    def loss(weights):
        return -np.log(np.exp(logs) @ weights).sum() - points * np.log(weights + 1e-300).sum()

    def of_free(free):
        return loss(np.exp(free) / np.exp(free).sum())

    best = min(minimize(of_free, start, tol=1e-12).fun for start in rng.normal(size=(5, 4)))
    assert loss(stacking_weights(logs, least=0.0, points=points)) == pytest.approx(best, abs=1e-6)
    two = logs[:, :2]
    grid = np.linspace(0, 1, 100_001)
    values = np.log(np.exp(two[:, :1]) * grid + np.exp(two[:, 1:]) * (1 - grid)).mean(axis=0)
    assert stacking_weights(two)[0] == pytest.approx(grid[np.argmax(values)], abs=2e-5)


def test_small_weights_are_dropped_and_the_others_are_the_best_without_them(rng):
    logs = drawn(rng, 30_000, 2, 1.0)
    rare = np.full((30_000, 1), -20.0)
    rare[7] = logs[7].max() + 12  # the third model is the best at one point alone
    three = np.hstack([logs, rare])
    assert 0 < stacking_weights(three, least=0.0)[2] < LEAST
    np.testing.assert_allclose(stacking_weights(three), [*stacking_weights(logs), 0.0], atol=1e-12)
    np.testing.assert_array_equal(stacking_weights(logs), stacking_weights(logs.copy()))


def test_probabilities_of_models_that_differ_alike_everywhere_are_those_of_these_data(rng):
    likely = np.array([-3.0, 0.0, -1.0])
    same = np.repeat(rng.normal(size=(50, 1)), 3, axis=1) + likely / 50
    np.testing.assert_allclose(probabilities_of(likely, same), softmax(likely), rtol=1e-10)
    assert probabilities_of([-1e6, 0.0], np.zeros((5, 2)))[0] == 0


def test_probabilities_are_of_other_data():
    """Of data from a standard normal distribution; the models' means are off by as much, on one side and the other."""
    rng = np.random.default_rng(0)

    def log_densities(y):
        return norm.logpdf(y[:, None], [-0.3, 0.3])

    def on_others(y, count):
        """Return the mean probability on data that are drawn from what y tells about their distribution."""
        means = y.mean() + rng.standard_normal((count, 1)) / np.sqrt(len(y))
        others = means + rng.standard_normal((count, len(y)))
        return np.mean([softmax(log_densities(other).sum(axis=0)) for other in others], axis=0)

    for _ in range(5):
        logs = log_densities(y := rng.standard_normal(40))
        np.testing.assert_allclose(probabilities_of(logs.sum(axis=0), logs), on_others(y, 4000), atol=0.06)


def test_probabilities_do_not_depend_on_the_order_of_models(rng):
    logs, likely = drawn(rng, 60, 5, 0.5), rng.normal(size=5)
    order = np.array([3, 0, 4, 1, 2])
    found = probabilities_of(likely, logs)
    np.testing.assert_allclose(probabilities_of(likely[order], logs[:, order]), found[order], atol=0.01)
    np.testing.assert_array_equal(probabilities_of(likely, logs), found)
    np.testing.assert_allclose(probabilities_of(likely + 1e3, logs + rng.normal(size=(60, 1))), found, rtol=1e-8)
    logs[0, 0] = -1e200
    assert np.isfinite(probabilities_of(likely, logs)).all()


def test_what_are_no_densities_is_said():
    for logs in (np.zeros(3), np.zeros((0, 2)), np.zeros((2, 0)), [[0.0, np.nan]], [[0.0, -np.inf]]):
        with pytest.raises(ValueError, match="log_densities: expected finite numbers of shape"):
            stacking_weights(logs)
