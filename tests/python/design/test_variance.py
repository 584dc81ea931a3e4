"""Variance reductions are what an update says."""

from copy import deepcopy

import numpy as np
import pytest

from kernsel import design


@pytest.mark.parametrize("trend", [None, "linear"])
def test_reduction_is_that_of_an_update(process, rng, trend):
    gp, R, Z = process(0.05, trend), rng.uniform(-1, 1, (8, 2)), rng.uniform(-1, 1, (2, 2))
    found = design.VarianceReduction(gp, R)(Z)
    for z, reduction in zip(Z, found, strict=True):
        again = deepcopy(gp).update(z[None], [0.0])
        expected = np.mean(gp.predict(R, return_std=True)[1] ** 2 - again.predict(R, return_std=True)[1] ** 2)
        assert reduction == pytest.approx(expected, rel=1e-6)  # the update adds the jitter, too
    assert (design.VarianceReduction(gp, R, noise=1.0)(Z) < found).all()
    assert design.Variance(gp)(Z) == pytest.approx(gp.predict(Z, return_std=True)[1] ** 2, rel=1e-12)
