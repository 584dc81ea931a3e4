"""What the example prints of a ride is so."""

import numpy as np
import pytest

from kernsel.examples import train_ride


def test_the_ride_is_consistent():
    t, h = np.linspace(0, 600, 61), 1e-3
    # Central differences: h^2 times third derivatives, of some 1e-2.
    for f, slope in ((train_ride.distance, train_ride.speed), (train_ride.speed, train_ride.acceleration)):
        np.testing.assert_allclose((f(t + h) - f(t - h)) / (2 * h), slope(t), atol=1e-6)
    begin, end, means = (np.ravel(part) for part in train_ride.measured()["averages"])
    ways = train_ride.distance(end) - train_ride.distance(begin)
    assert np.abs(ways - 1000).max() < 4 * 0.1 * 2**0.5 * 40  # four deviations of two times of a watch, at 40 m/s
    np.testing.assert_allclose(means * (end - begin), 1000)


@pytest.mark.slow
def test_each_instrument_helps(row):
    all_three = row("train_ride", "all three")
    for some in ("speedometer  ", "speedometer, accelerometer", "speedometer, kilometre posts"):
        errors = row("train_ride", some)
        assert all_three[0] < 0.75 * errors[0]
        assert all_three[2] < errors[2]
    assert 0.4 < all_three[1] / all_three[0] < 1.5
    assert 0.6 < all_three[3] / all_three[2] < 1.5
