"""What the example prints is what a slow way finds."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from kernsel.examples.data import cars


def most_likely(features, noise_power):
    """Return the greatest likelihood of cars for terms of these powers of speed and noise of that, and their coefficients."""
    speed, distance = cars()
    F, noise = np.column_stack([speed**power for power in features]), np.diag(speed ** (2 * noise_power))

    def minus(logs):
        return -multivariate_normal(cov=(F * np.exp(logs[1:])) @ F.T + np.exp(logs[0]) * noise).logpdf(distance)

    found = minimize(minus, [5.0 - 5 * noise_power, *(4.0 - 3 * p for p in features)], method="Nelder-Mead", tol=1e-6)
    variances = np.exp(found.x[1:])
    K = (F * variances) @ F.T + np.exp(found.x[0]) * noise
    return -found.fun, variances * (F.T @ np.linalg.solve(K, distance))


@pytest.mark.parametrize(
    ("start", "features", "noise_power", "column"),
    [
        ("line through the origin", [1], 0, 2),
        ("any line", [0, 1], 0, 2),
        ("reaction and brakes", [1, 2], 0, 2),
        ("With noise that is proportional to speed, the log likelihood is", [1, 2], 1, 0),
    ],
)
def test_likelihoods_of_cars(row, start, features, noise_power, column):
    value, _ = most_likely(features, noise_power)
    assert row("stopping_distances", start)[column] == pytest.approx(value, abs=0.006)


def test_errors_of_cars(row):
    speed, distance = cars()
    F = np.column_stack([np.ones(50), speed])
    residuals = distance - F @ np.linalg.lstsq(F, distance)[0]
    left_out = np.empty(50)
    for one in np.unique(speed):  # cars of equal speed are left out together
        out = speed == one
        left_out[out] = distance[out] - F[out] @ np.linalg.lstsq(F[~out], distance[~out])[0]
    loo, gcv, _ = row("stopping_distances", "any line")
    # Least squares is the limit of great amplitudes: what is best is a little better.
    assert 0.99 < loo / np.sqrt(np.mean(left_out**2)) < 1.001
    assert 0.99 < gcv / (np.sqrt(np.mean(residuals**2)) / (1 - 2 / 50)) < 1.001


def test_brakes_of_cars(row):
    reaction, brakes = most_likely([1, 2], 1)[1]
    printed = row("stopping_distances", "distance / ft =")
    assert printed[:2] == [pytest.approx(reaction, rel=0.02), pytest.approx(brakes, rel=0.02)]
    seconds, deceleration = printed[-2:]
    # 20 mph are 8.94 m/s, a foot is 0.3048 m, g is 9.81 m/s^2.
    assert 20 * reaction * 0.3048 / 8.94 == pytest.approx(seconds, rel=0.03)
    assert 8.94**2 / 2 / (400 * brakes * 0.3048) / 9.81 == pytest.approx(deceleration, rel=0.03)
