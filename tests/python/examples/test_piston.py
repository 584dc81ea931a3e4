"""What the example prints is what a slow way finds."""

import numpy as np
import pytest

from kernsel.examples import piston


def test_the_piston_is_in_balance():
    X = piston.sample(5, seed=3)
    for (weight, surface, volume, spring, pressure, ambient, filling), seconds in zip(X, piston.cycle_time(X), strict=True):
        stiffness = (2 * np.pi / seconds) ** 2 * weight  # of the gas and the spring
        gas = pressure * volume / filling * ambient
        at_rest = surface * np.sqrt(gas / (stiffness - spring))
        # Pressure times volume is what it was, and the force of the gas holds the weight and the spring.
        force = gas / at_rest * surface
        assert force == pytest.approx(
            pressure * surface + 19.62 * weight - spring * volume / surface + spring * at_rest / surface, rel=1e-9
        )


def test_samples_of_pistons_fill_every_range():
    X = piston.sample(50, seed=0)
    for column, (_, low, high) in zip(X.T, piston.INPUTS.values(), strict=True):
        assert sorted(np.floor((column - low) / (high - low) * 50)) == list(range(50))


def test_effects_and_intervals_of_pistons(row):
    for name in ("piston weight", "piston surface", "initial gas volume", "spring coefficient"):
        found, true = row("piston", name)[-2:]
        assert found == pytest.approx(true, rel=0.2)
        assert true > 0.1
    for name in ("atmospheric pressure", "ambient temperature", "filling temperature"):
        assert max(row("piston", name)[-2:]) < 0.03
    product, distance, by_loo = (
        row("piston", name) for name in ("product of Matern  ", "Matern of the distance", "product, by leave-one-out")
    )
    for loo, half, most, error, other_half, other_most in (product, distance, by_loo):
        assert 0.004 < min(loo, error) < max(loo, error) < 0.015  # of 0.14 without a model
        assert 35 < min(half, other_half) < max(half, other_half) < 70
        assert 70 < min(most, other_most) < max(most, other_most) < 99
    assert by_loo[0] < product[0] < product[3] < by_loo[3]
