"""Coordinates without bounds: there and back, and densities that have the same integral."""

import numpy as np
import pytest
from scipy import integrate, stats

from kernsel._sample.coordinates import Coordinates

from accuracy import eps

BOTH = Coordinates(np.array([-1.0, -30.0]), np.array([4.0, 5.0]), np.array([0.0, -2.0]), np.array([False, True]))


def test_there_and_back():
    for x in ([0.0, -2.0], [3.5, -25.0], [-0.8, 4.9]):
        np.testing.assert_allclose(BOTH.x(BOTH.u(np.array(x))), x, rtol=64 * eps(float))
    at_bound = BOTH.x(BOTH.u(np.array([4.0, 0.0])))
    assert 3.8 < at_bound[0] < 4.0


@pytest.mark.parametrize("which", [0, 1])
def test_densities_keep_their_integral_and_their_gradients(which):
    one = Coordinates(*(values[which : which + 1] for values in (BOTH.lower, BOTH.upper, BOTH.centre, BOTH.heavy)))
    of_x = stats.truncnorm(-1.5, 3.5, loc=0.5) if which == 0 else stats.cauchy(-1.5, 2.0)

    def density(x):
        slope = 0.5 - x[0] if which == 0 else -2 * (x[0] + 1.5) / (4 + (x[0] + 1.5) ** 2)
        return float(of_x.logpdf(x[0])), np.array([slope])

    of_u = one.of(density)
    total, error = integrate.quad(lambda u: np.exp(of_u(np.array([u]))[0]), -40, 40, points=[-5, 0, 5], limit=400)
    assert total == pytest.approx(1.0, abs=error + 1e-7)
    for u in (-6.0, 0.4, 2.0):
        up, down = (of_u(np.array([u + h]))[0] for h in (1e-5, -1e-5))
        assert of_u(np.array([u]))[1][0] == pytest.approx((up - down) / 2e-5, abs=1e-8)
    assert of_u(np.array([1e4]))[0] == -np.inf
