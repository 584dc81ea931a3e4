"""The excess of a normal variable, near and far out, against 50 digits."""

import mpmath
import numpy as np
import pytest

from kernsel.design.normal import log_excess


@pytest.mark.parametrize("u", [-1e8, -1e3, -30.5, -29.5, -8.0, -1.0, -1e-3, 0.0, 0.5, 40.0])
def test_log_excess(u):
    with mpmath.workdps(50):
        x = mpmath.mpf(u)
        probability = mpmath.erfc(-x / mpmath.sqrt(2)) / 2
        phi = mpmath.npdf(x)
        h = phi + x * probability if u > -100 else phi * (x**-2 - 3 * x**-4 + 15 * x**-6 - 105 * x**-8)
        expected = [float(mpmath.log(h)), float(probability / h), float(phi / h)]
    found = np.ravel(log_excess(np.array([u])))
    amplified = 1 + min(u, 0.0) ** 2 if u > -30 else 4.0  # 1 + u r cancels until the series takes over
    eps = np.finfo(float).eps
    assert abs(found[0] - expected[0]) <= 4 * eps * (amplified + abs(expected[0]))
    assert found[1:] == pytest.approx(expected[1:], rel=4 * eps * amplified)
