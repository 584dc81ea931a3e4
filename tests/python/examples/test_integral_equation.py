"""What the example prints is what a slow way finds."""

import numpy as np
import pytest
from scipy.integrate import quad

from kernsel.examples import integral_equation


def test_gravity_is_the_integral():
    t = integral_equation.midpoints(64)
    found = integral_equation.blurring(t, t) @ integral_equation.masses(t)
    for i in (0, 20, 63):

        def pull(x, s=t[i]):  # of what is at x, in m/s^2
            return (
                6.674e-11 * 25 / (25**2 + (s - x) ** 2) ** 1.5 * 1e5 * (np.sin(np.pi * x / 100) + 0.5 * np.sin(np.pi * x / 50))
            )

        assert found[i] == pytest.approx(1e8 * quad(pull, 0, 100)[0], rel=1e-3)


def test_rules_for_gravity(row):
    n = 64
    t = integral_equation.midpoints(n)
    A, b = integral_equation.blurring(t, t), integral_equation.measured(t, 0)
    for start in ("discrepancy  ", "discrepancy, tau = 1.1", "L-curve", "GCV", "quasi-optimality"):
        alpha, over, freedom, off, median, most = row("integral_equation", start)
        x = np.linalg.solve(A.T @ A + alpha * np.eye(n), A.T @ b)
        assert off == pytest.approx(np.sqrt(np.mean((x - integral_equation.masses(t)) ** 2)), rel=0.02)
        assert over == pytest.approx(np.linalg.norm(A @ x - b) / 8, rel=0.01)  # 64^(1/2) times noise of 1
        assert freedom == pytest.approx(np.trace(np.linalg.solve(A.T @ A + alpha * np.eye(n), A.T @ A)), abs=0.06)
        assert 1 <= median <= most
    assert row("integral_equation", "discrepancy  ")[1] == 1.0
    assert row("integral_equation", "discrepancy, tau = 1.1")[1] == 1.1
