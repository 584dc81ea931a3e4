"""The knowledge gradient is what a sum over possible observations says."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import integrate, stats

from kernsel import design
from kernsel.design.knowledge_gradient import expected_maximum, upper_envelope


@pytest.mark.parametrize("maximize", [True, False])
def test_value_is_the_mean_over_observations(process, rng, maximize):
    gp, R, z = process(0.05), rng.uniform(-1, 1, (5, 2)), np.array([0.1, -0.3])
    at = np.vstack([gp.X_train_, R])
    best = np.max if maximize else np.min
    mean, std = (values[0] for values in gp.predict(z[None], return_std=True, noisy=True))
    # The means are linear in the new observation, so that two of them say how.
    means = [deepcopy(gp).update(z[None], [mean + shift * std]).predict(np.vstack([at, z])) for shift in (0.0, 1.0)]
    shifts = np.linspace(-9, 9, 4001)
    after = best(means[0] + shifts[:, None] * (means[1] - means[0]), axis=1)
    expected = abs(integrate.trapezoid((after - best(gp.predict(at))) * stats.norm.pdf(shifts), shifts))
    assert design.KnowledgeGradient(gp, R, maximize=maximize)(z[None])[0] == pytest.approx(expected, rel=1e-3)


def test_maximum_of_lines(rng):
    a, b = rng.standard_normal((2, 30))
    b[:5] = b[5]  # parallel ones
    lines, breaks = upper_envelope(a, b)
    z = np.linspace(-10, 10, 20001)
    largest = np.max(a[lines, None] + b[lines, None] * z, axis=0)
    assert largest == pytest.approx(np.max(a[:, None] + b[:, None] * z, axis=0), rel=1e-12)
    expected = integrate.trapezoid(largest * stats.norm.pdf(z), z)
    assert expected_maximum(a[lines], b[lines], breaks)[0] == pytest.approx(expected, rel=1e-7)
