"""Probabilities that constraints hold."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from kernsel.design.feasibility import Feasibility, constraints_of, log_probability

import reference


def test_probability_and_its_derivatives(process, rng):
    gp, Z = process(), rng.uniform(-1, 1, (3, 2))
    both = Feasibility(constraints_of([gp, (gp, -0.2, 0.7), (gp, 0.1, np.inf)], 2))
    f = stats.norm(*gp.predict(Z, return_std=True))
    value, slopes = both.evaluate(Z, True)
    assert value == pytest.approx(np.log(f.cdf(0) * (f.cdf(0.7) - f.cdf(-0.2)) * f.sf(0.1)), rel=1e-9)
    differences, error = reference.central_differences(lambda z: both.evaluate(z.reshape(3, 2), False)[0].sum(), Z.ravel())
    assert (np.abs(slopes.ravel() - differences) <= 10 * error).all()


@pytest.mark.parametrize(("a", "b"), [(30.0, 31.0), (-31.0, -30.0), (-1.0, 2.0), (-np.inf, -50.0), (50.0, np.inf)])
def test_far_out(a, b):
    with mpmath.workdps(800):
        expected = float(
            mpmath.log((mpmath.erfc(mpmath.mpf(a) / mpmath.sqrt(2)) - mpmath.erfc(mpmath.mpf(b) / mpmath.sqrt(2))) / 2)
        )
    assert log_probability(np.array([a]), np.array([b]))[0] == pytest.approx(expected, rel=1e-13)


def test_bad_input(process):
    gp = process()
    with pytest.raises(TypeError, match=r"^constraints: expected a list of processes"):
        constraints_of(gp, 2)
    with pytest.raises(ValueError, match=r"^constraints: expected a process, or .process, lower, upper., got a tuple of 2"):
        constraints_of([(gp, 0.0)], 2)
    with pytest.raises(ValueError, match="with lower < upper"):
        constraints_of([(gp, 1.0, 0.0)], 2)
    with pytest.raises(ValueError, match=r"^constraints: expected processes of 3 columns"):
        constraints_of([gp], 3)
    with pytest.raises(TypeError, match=r"^constraints: expected a fitted GaussianProcessRegressor, got int"):
        constraints_of([3], 2)
