"""Shapley effects of linear functions of normal inputs have closed forms, and those of independent ones follow from Sobol'."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.sensitivity import GaussianCopula, Normal, Uniform, shapley, sobol


def of_linear(beta, covariance):
    """Effects of beta'x for normal x: with c(u) = beta_u' Cov(x_u | the others) beta_u, summed over subsets."""
    d = len(beta)

    def cost(u):
        kept = [k for k in range(d) if k not in u]
        rest = covariance[np.ix_(u, u)]
        if kept:
            rest = rest - covariance[np.ix_(u, kept)] @ np.linalg.solve(
                covariance[np.ix_(kept, kept)], covariance[np.ix_(kept, u)]
            )
        return beta[list(u)] @ rest @ beta[list(u)]

    found = np.zeros(d)
    for j in range(d):
        others = [k for k in range(d) if k != j]
        for size in range(d):
            for u in combinations(others, size):
                found[j] += (cost([*u, j]) - (cost(list(u)) if u else 0.0)) / (d * comb(d - 1, size))
    return found / cost(list(range(d)))


BETA = np.array([1.0, 2.0, -1.0])
R = np.array([[1.0, 0.7, 0.0], [0.7, 1.0, -0.4], [0.0, -0.4, 1.0]])
STD = np.array([1.0, 0.5, 2.0])


def line(X):
    return X @ BETA


def test_linear_functions_of_normal_inputs(rng):
    truth = of_linear(BETA, R * np.outer(STD, STD))
    copula = GaussianCopula([Normal(0.3, s) for s in STD], R)
    found = shapley(line, copula)
    half = found.intervals[:, 1] - found.intervals[:, 0]
    assert (np.abs(found.effects - truth) < half).all()  # twice the half width of 95 %
    assert half.max() < 0.1
    assert found.effects.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.variance == pytest.approx(BETA @ (R * np.outer(STD, STD)) @ BETA, rel=0.1)
    draws = rng.multivariate_normal(np.zeros(3), R * np.outer(STD, STD), 4000)
    by_neighbours = shapley(line, draws=draws)
    np.testing.assert_allclose(by_neighbours.effects, truth, rtol=0, atol=0.05)  # neighbours are near, and not equal
    assert str(found).splitlines()[0].split() == ["input", "effect"]


def test_draws_of_few_values(rng):
    draws = np.column_stack([rng.integers(0, 3, 2000), rng.standard_normal(2000)])
    found = shapley(lambda X: X[:, 1], draws=draws)
    # E Var(f | x0) is a mean of 2000 variances of three draws, each with a deviation of one.
    np.testing.assert_allclose(found.effects, [0.0, 1.0], rtol=0, atol=4 / 2000**0.5)


def test_independent_inputs_of_a_process(rng):
    X = rng.uniform(0, 1, (30, 2))
    gp = ks.GaussianProcessRegressor(RBF(0.7), alpha=0.01, optimizer=None).fit(X, X[:, 0] * X[:, 1] + X[:, 1])
    indices = sobol(gp, [(0, 1)] * 2, n_draws=0)
    found = shapley(gp, [(0, 1)] * 2)
    expected = (indices.first + indices.total) / 2  # an interaction of two is shared out equally
    assert (np.abs(found.effects - expected) < found.intervals[:, 1] - found.intervals[:, 0]).all()


def test_many_inputs_by_random_orders():
    d = 12
    beta = np.arange(d) + 1.0
    found = shapley(lambda X: X @ beta, [Normal(0.0, 1.0)] * d, n_samples=256, n_orders=6)
    np.testing.assert_allclose(found.effects, beta**2 / (beta @ beta), rtol=0, atol=0.05)
    assert found.effects.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: GaussianCopula([(0, 1)] * 2, np.eye(3)), r"correlation: expected finite numbers of shape \(2, 2\)"),
        (lambda: GaussianCopula([(0, 1)] * 2, [[1, 0.5], [0.4, 1]]), "correlation: expected a symmetric matrix"),
        (lambda: GaussianCopula([(0, 1)] * 2, [[1, 1], [1, 1]]), "correlation: expected a positive definite matrix"),
        (lambda: shapley(line, [(0, 1)] * 3, draws=np.eye(6)), "draws: expected None where inputs are given"),
        (lambda: shapley(line, draws=np.eye(3)), "draws: expected finite numbers of shape"),
        (lambda: shapley(line, [Uniform(0, 1)] * 3, n_orders=0), "n_orders: expected a whole number from 1 on, got 0"),
    ],
)
def test_bad_input(made, message):
    with pytest.raises(ValueError, match=message):
        made()
