"""Standard functions of computer experiments, in their physical units, with the boxes they are studied on.

Formulas and boxes as in the virtual library of simulation experiments (Surjanovic and Bingham); ``check`` holds each against
published values, or against the equation that it solves.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc
from sklearn.datasets import make_friedman1

__all__ = ["FUNCTIONS", "Function", "check"]


@dataclass(frozen=True)
class Function:
    """A function of points (m, d) on a box."""

    call: Callable
    box: tuple  # of a lower and an upper end for each column

    @property
    def d(self):
        return len(self.box)

    def __call__(self, X):
        return self.call(*X.T)

    def design(self, n, seed):
        """Return a Latin hypercube."""
        return self._inside(qmc.LatinHypercube(self.d, seed=seed).random(n))

    def uniform(self, m, seed):
        return self._inside(np.random.default_rng(seed).uniform(size=(m, self.d)))

    def even(self, m):
        """Return 2^m points for integrals."""
        return self._inside(qmc.Sobol(self.d, seed=0).random_base2(m))

    def _inside(self, unit):
        lower, upper = np.transpose(self.box)
        return lower + unit * (upper - lower)


def otl(Rb1, Rb2, Rf, Rc1, Rc2, beta):
    """Return the voltage in the middle of a push-pull circuit without an output transformer."""
    load = beta * (Rc2 + 9)
    Vb1 = 12 * Rb2 / (Rb1 + Rb2)
    return ((Vb1 + 0.74) * load + 11.35 * Rf + 0.74 * Rf * load / Rc1) / (load + Rf)


def gas_volume(M, S, V0, k, P0, Ta, T0):
    """Return the volume of the gas under the piston at rest."""
    A = P0 * S + 19.62 * M - k * V0 / S
    return S / (2 * k) * (np.sqrt(A**2 + 4 * k * P0 * V0 / T0 * Ta) - A)


def piston(M, S, V0, k, P0, Ta, T0):
    """Return the time that a piston takes for a cycle."""
    V = gas_volume(M, S, V0, k, P0, Ta, T0)
    return 2 * np.pi * np.sqrt(M / (k + S**2 * P0 * V0 / T0 * Ta / V**2))


def wing_weight(Sw, Wfw, A, sweep, q, taper, tc, Nz, Wdg, Wp):
    """Return the weight of the wing of a light aircraft; sweep in degrees."""
    cosine = np.cos(np.deg2rad(sweep))
    structure = 0.036 * Sw**0.758 * Wfw**0.0035 * (A / cosine**2) ** 0.6 * q**0.006 * taper**0.04
    return structure * (100 * tc / cosine) ** -0.3 * (Nz * Wdg) ** 0.49 + Sw * Wp


def robot_arm(*angles_and_lengths):
    """Return how far from its base an arm of four segments reaches."""
    directions, lengths = np.cumsum(angles_and_lengths[:4], axis=0), np.array(angles_and_lengths[4:])
    return np.abs((lengths * np.exp(1j * directions)).sum(axis=0))


def ishigami(x1, x2, x3):
    return np.sin(x1) + 7 * np.sin(x2) ** 2 + 0.1 * x3**4 * np.sin(x1)


def friedman(x1, x2, x3, x4, x5):
    return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5


FUNCTIONS = {
    "otl": Function(otl, ((50, 150), (25, 70), (0.5, 3), (1.2, 2.5), (0.25, 1.2), (50, 300))),
    "piston": Function(
        piston, ((30, 60), (0.005, 0.020), (0.002, 0.010), (1000, 5000), (90000, 110000), (290, 296), (340, 360))
    ),
    "wing": Function(
        wing_weight,
        ((150, 200), (220, 300), (6, 10), (-10, 10), (16, 45), (0.5, 1), (0.08, 0.18), (2.5, 6), (1700, 2500), (0.025, 0.08)),
    ),
    "robot": Function(robot_arm, ((0, 2 * np.pi),) * 4 + ((0, 1),) * 4),
    "ishigami": Function(ishigami, ((-np.pi, np.pi),) * 3),
    "friedman": Function(friedman, ((0, 1),) * 5),
}


def check():
    """Assert that the functions are what they are called."""
    X = FUNCTIONS["otl"].even(10)
    Rb1, Rb2, Rf, Rc1, Rc2, beta = X.T
    V, Vb1 = otl(*X.T), 12 * Rb2 / (Rb1 + Rb2)
    currents = (V - Vb1 - 0.74) / Rf, (V - 11.35) / (beta * (Rc2 + 9)), -0.74 / Rc1  # into the middle: Kirchhoff's law
    assert np.abs(np.sum(currents, axis=0)).max() <= 1e-13 * np.abs(currents).max()

    X = FUNCTIONS["piston"].even(10)
    M, S, V0, k, P0, Ta, T0 = X.T
    V = gas_volume(*X.T)
    assert (V > 0).all()
    forces = (
        P0 * V0 / T0 * Ta / V * S,
        k * V0 / S,
        -P0 * S,
        -19.62 * M,
        -k * V / S,
    )  # of the gas, the spring, the air, the weight
    assert np.abs(np.sum(forces, axis=0)).max() <= 1e-12 * np.abs(forces).max()
    stiffness = k + S**2 * P0 * V0 / T0 * Ta / V**2  # minus the slope of these forces in V / S
    step = 1e-6 * V
    slope = (P0 * V0 / T0 * Ta * S * (1 / (V - step) - 1 / (V + step)) + 2 * k * step / S) / (2 * step / S)
    assert np.abs(slope / stiffness - 1).max() <= 1e-8
    assert np.abs(piston(*X.T) * np.sqrt(stiffness / M) / (2 * np.pi) - 1).max() <= 1e-14

    # The baseline of Forrester, Sobester and Keane (2008), a Cessna C172 without paint, and the centre of the box: as other
    # libraries of test functions have them.
    assert abs(wing_weight(174, 252, 7.52, 0, 33.98, 0.672, 0.12, 3.795, 2004, 0) - 233.90840542) <= 1e-7
    centre = np.mean(FUNCTIONS["wing"].box, axis=1)
    assert abs(wing_weight(*centre) - 267.625) <= 1e-3

    f = FUNCTIONS["robot"]
    assert robot_arm(0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4) == 1.0
    assert abs(robot_arm(0.3, np.pi, 0, 0, 1, 1, 0, 0)) <= 1e-15
    assert abs(robot_arm(0.3, np.pi / 2, 0, 0, 3, 4, 0, 0) - 5) <= 1e-14
    assert abs(np.mean(f(f.even(16)) ** 2) - 4 / 3) <= 1e-3  # four lengths, and directions that do not depend on each other

    f = FUNCTIONS["ishigami"]
    values = f(f.even(16))
    assert abs(values.mean() - 3.5) <= 1e-3
    assert abs(values.var() - (7**2 / 8 + 0.1 * np.pi**4 / 5 + 0.1**2 * np.pi**8 / 18 + 1 / 2)) <= 1e-2

    X, y = make_friedman1(100, n_features=5, noise=0.0, random_state=0)
    assert np.abs(friedman(*X.T) - y).max() <= 1e-13
