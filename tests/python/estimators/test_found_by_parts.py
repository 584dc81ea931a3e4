"""The search over parts of space ends where one for all rows at once does, from any start."""

import numpy as np
import pytest
from scipy.optimize import minimize

import kernsel as ks
from kernsel import _core
from kernsel._data.rows import row_source
from kernsel._solve.by_parts import PartsOfSpace, Sizes
from kernsel._solve.keyed_rows import first_rows
from kernsel._solve.passes import LocalPasses
from kernsel.criteria.base import Given
from kernsel.criteria.names import criterion_named
from kernsel.estimators.found_by_parts import find_by_parts
from kernsel.kernels import Matern

ROWS, NEAR, SIZES = 1200, ks.Vecchia(6), Sizes(400, 200)
TOLERANCE = 0.05  # nats: of two searches, of which each ends within 0.01 by what its own curvature tells


def source():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(ROWS, 2))
    y = np.sin(7 * X[:, 0]) + np.cos(4 * X[:, 1]) + 0.3 * rng.standard_normal(ROWS)
    return LocalPasses(row_source(X, y, block=500))


def found_from(start, noise, name, **more):
    criterion = criterion_named(name, {})
    return find_by_parts(criterion, start, source(), NEAR, noise=noise, least_noise=0.0, sizes=SIZES, **more)


def best_at_once(name, kernel, noise):
    """Return the log density of all rows at once that L-BFGS reaches, with the neighbours of a kernel."""
    rows = first_rows(source(), ROWS, NEAR.random_state)[0].rows
    near = NEAR.core(ordered=True, features=_core.features_of(kernel.build(), rows.X[: SIZES.first]))
    criterion, workspace = criterion_named(name, {}).core(Given(rows.X, rows.y, np.arange(ROWS))), _core.Workspace()

    def objective(x):
        there, variance = kernel.clone_with_theta(x[:-1]), np.exp(x[-1])
        found = _core.evaluate(
            criterion, there.build(), rows.X, rows.y, [variance], np.zeros((ROWS, 0)), None, True, workspace, near, False
        )
        slopes = np.append(there.in_theta(found["gradient"]), np.sum(found["noise_gradient"]) * variance)
        return -found["value"], -slopes

    return -minimize(objective, [*kernel.theta, np.log(noise)], jac=True, method="L-BFGS-B").fun


@pytest.mark.parametrize("name", ["lml", "loo_log_density"])
def test_it_ends_where_a_search_for_all_rows_at_once_does(name):
    found = found_from(1.0 * Matern([0.2, 0.6]), 0.3, name)
    assert found.ended == "converged"
    assert found.refreshes > 0
    again = found_from(found.kernel, found.noise, name)  # with the neighbours of that kernel
    assert again.found.value == pytest.approx(best_at_once(name, found.kernel, found.noise), abs=TOLERANCE)


def test_known_noise_and_limits():
    kernel = 1.0 * Matern([0.2, 0.2])
    criterion = criterion_named("lml", {})
    known = find_by_parts(criterion, kernel, source(), NEAR, noise=0.09, most=3, sizes=SIZES)
    assert known.noise == 0.09
    assert (known.n_evaluations, known.ended) == (3, "evaluations")
    with PartsOfSpace(criterion, source(), NEAR, None, SIZES) as parts:
        start = parts.evaluate(kernel, noise=0.09, gradient=False)
        assert known.found.value > start.value
        assert known.found.value == parts.evaluate(known.kernel, noise=0.09, gradient=False).value
    late = find_by_parts(criterion, kernel, source(), NEAR, noise=0.09, seconds=0.0, sizes=SIZES)
    assert late.ended == "seconds"
    assert late.found.value == start.value
    np.testing.assert_array_equal(late.kernel.theta, kernel.theta)
    fixed = Matern(0.4, length_scale_bounds="fixed")
    noise = find_by_parts(criterion, fixed, source(), NEAR, noise=0.5, least_noise=0.01, sizes=SIZES)
    assert 0.06 < noise.noise < 0.13  # of which 0.01 is known
    nothing = find_by_parts(criterion, fixed, source(), NEAR, noise=noise.noise, sizes=SIZES)
    assert nothing.found.value == noise.found.value
    assert nothing.n_evaluations == 1
