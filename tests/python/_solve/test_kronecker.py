"""Related outputs that are all observed at the same points, against matrices of all points and outputs."""

import numpy as np
import pytest

from kernsel._solve.kronecker import Kronecker

import reference as ref
from accuracy import eps


@pytest.fixture
def problem(rng):
    n, m = 7, 3
    R, W = rng.standard_normal((n, n)), rng.standard_normal((m, 2))
    K, B, d = R @ R.T / n + 0.1 * np.eye(n), W @ W.T + np.diag([0.3, 0.1, 0.5]), np.array([0.2, 0.5, 0.1])
    return K, B, d, rng.standard_normal((n, m))


@pytest.mark.parametrize("q", [0, 2])
def test_everything_but_the_cost_is_that_of_the_whole_matrix(problem, q, rng):
    K, B, d, Y = problem
    n, m = Y.shape
    H, h = rng.standard_normal((n, q)), rng.standard_normal((2, q))
    cross, among = rng.standard_normal((2, n)), np.array([[3.0, 0.4], [0.4, 2.0]])
    found, expected = Kronecker(K, B, d, Y, H), ref.related(K, B, d, Y, H, cross, among, h)
    limit = 100 * n * m * eps(float) * np.linalg.cond(np.kron(B, K) + np.kron(np.diag(d), np.eye(n)))
    for mine, theirs in (
        (found.log_likelihood, expected.log_likelihood),
        (found.mean(cross, h), expected.mean),
        (found.covariance(cross, among, h), expected.covariance),
        (found.variances(cross, np.diag(among), h), np.einsum("aiai->ai", expected.covariance)),
        (found.left_out()[0], expected.residuals),
        (found.left_out()[1], expected.variances),
    ):
        assert np.abs(mine - theirs).max() <= limit * max(np.abs(theirs).max(), 1)


def test_derivatives(problem, rng):
    K, B, d, Y = problem
    H = np.ones((len(K), 1))
    adjoints = Kronecker(K, B, d, Y, H).adjoints()
    for which, given, adjoint in ((0, K, adjoints.of_kernel), (1, B, adjoints.of_outputs), (2, d, adjoints.of_noise)):
        change = rng.standard_normal(given.shape)
        change = change if which == 2 else change + change.T

        def value(t, which=which, given=given, change=change):
            moved = given + t[0] * change
            return Kronecker(*(moved if k == which else one for k, one in enumerate((K, B, d))), Y, H).log_likelihood

        expected, error = ref.central_differences(value, [0.0], step=1e-4)
        assert abs(np.vdot(adjoint, change) - expected[0]) <= error[0] + 1e4 * eps(float) * abs(value([0.0])) * 100
