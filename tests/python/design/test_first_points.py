"""First designs fill the box."""

import numpy as np
import pytest
from scipy.stats import qmc

from kernsel.design import first_points


@pytest.mark.parametrize("method", ["sobol", "latin"])
def test_they_are_spread_better_than_at_random(method, rng):
    bounds = np.array([[-2.0, 3.0], [10.0, 11.0]])
    X = first_points(bounds, 13, method=method)
    unit = (X - bounds[:, 0]) / np.ptp(bounds, axis=1)
    assert X.shape == (13, 2)
    assert qmc.discrepancy(unit) < np.median([qmc.discrepancy(rng.uniform(size=(13, 2))) for _ in range(20)])
    assert np.array_equal(X, first_points(bounds, 13, method=method))
    assert not np.array_equal(X, first_points(bounds, 13, method=method, random_state=1))
    if method == "latin":
        assert sorted(np.floor(13 * unit[:, 0]).tolist()) == list(range(13))


def test_bad_input():
    with pytest.raises(ValueError, match=r'^method: expected "sobol" or "latin", got \'grid\''):
        first_points([(0, 1)], 4, method="grid")
    with pytest.raises(ValueError, match=r"^n: expected a whole number from 1 on, got 0$"):
        first_points([(0, 1)], 0)
