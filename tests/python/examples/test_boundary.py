"""What the example prints is what a slow way finds."""

import numpy as np
import pytest

from kernsel.examples import boundary


def test_true_probabilities_of_moons(rng):
    angle = np.pi * rng.uniform(size=200_000)
    which = rng.integers(2, size=len(angle))
    centre = np.where(which, [1 - np.cos(angle), 0.5 - np.sin(angle)], [np.cos(angle), np.sin(angle)]).T
    points = centre + 0.3 * rng.standard_normal(centre.shape)
    for z in ([0.5, 0.4], [1.0, 0.1], [0.0, 0.4]):
        near = ((points - z) ** 2).sum(axis=1) < 0.08**2
        share = which[near].mean()
        error = np.sqrt(share * (1 - share) / near.sum())
        assert boundary.true_probability(np.array([z]))[0] == pytest.approx(share, abs=4 * error + 0.005)


@pytest.mark.slow
def test_classifiers_of_moons(row):
    theirs, same, default, ep, best = (
        row("boundary", start)
        for start in (
            "scikit-learn, RBF",
            "the same kernel here",
            "the default here",
            "expectation propagation",
            "the best possible",
        )
    )
    assert same[1:] == pytest.approx(theirs, abs=0.11)
    assert theirs[0] < ep[1] < best[0]
    for loo, held_out, right, off in (same, default, ep):
        assert loo == pytest.approx(held_out, abs=2)
        assert 85 < right <= best[1] + 1
        assert 0 < off < 0.1
    assert best[2] == 0
