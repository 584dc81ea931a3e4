"""Expectation propagation: against exact integrals for few points, draws of the posterior, and differences."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernsel.estimators.classification.expectation_propagation import expectation_propagation
from kernsel.estimators.classification.laplace import laplace
from kernsel.estimators.classification.links import Logistic, Probit
from kernsel.estimators.classification.sampling import sample_latent
from kernsel.kernels import RBF

import reference

LINKS = [Logistic(), Probit()]


def problem(rng, n=20, amplitude=4.0):
    X = rng.standard_normal((n, 2))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return np.asarray((amplitude * RBF(1.0))(X)), y


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("amplitude", [0.1, 3.0, 100.0])
def test_one_point_is_exact(link, amplitude):
    found = expectation_propagation(np.array([[amplitude]]), np.array([-1.0]), link)
    moments = link.moments(np.zeros(1), np.array([amplitude]))
    np.testing.assert_allclose(found.log_evidence, np.log(0.5), rtol=1e-10)
    np.testing.assert_allclose(found.mean, -amplitude * moments.first, rtol=1e-8)
    np.testing.assert_allclose(found.variance, amplitude + amplitude**2 * moments.second, rtol=1e-7)


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("n", [3, 4, 5])
def test_few_points(link, n, rng):
    K, y = problem(rng, n)
    log_evidence, mean, covariance = reference.gp_classifier(K, y, link.log_density, nodes=12)  # right to 1e-5
    found = expectation_propagation(K, y, link)
    std = np.sqrt(np.diag(covariance))
    # Errors are a few thousandths where those of Laplace's approximation are a few hundredths or tenths.
    other = laplace(K, y, link)
    assert abs(found.log_evidence - log_evidence) <= min(0.02, 0.1 * abs(other.log_evidence - log_evidence))
    assert np.all(np.abs(found.mean - mean) <= 0.005 * std)
    assert np.abs(found.mean - mean).max() <= 0.02 * np.abs(other.mean - mean).max()
    assert np.all(np.abs(np.log(found.variance / std**2)) <= 0.06)
    without = reference.gp_classifier_without(K, y, link.log_density, nodes=12)
    np.testing.assert_allclose(np.exp(found.loo_log_probability()), without, atol=0.025)


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_draws_of_the_posterior(link, rng):
    K, y = problem(rng, 15)
    found = expectation_propagation(K, y, link)
    F = np.linalg.cholesky(K + 1e-10 * np.eye(15))
    samples = sample_latent(
        F, y, link, n_samples=1200, n_burn=100, n_chains=4, rng=np.random.default_rng(5), sites=(found.precision, found.shift)
    )
    draws = samples.f.reshape(-1, 15)
    std = draws.std(axis=0)
    error = std / np.sqrt(samples.effective_sample_size)
    # Four standard errors, and what expectation propagation itself leaves: a few hundredths of a standard deviation.
    assert np.all(np.abs(draws.mean(axis=0) - found.mean) <= 4 * error + 0.03 * std)
    np.testing.assert_allclose(std, np.sqrt(found.variance), rtol=0.1)


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("amplitude", [0.05, 4.0, 1e3])
@pytest.mark.parametrize("what", ["evidence", "loo"])
def test_adjoints(link, amplitude, what, rng):
    K, y = problem(rng, 10, amplitude)

    def value(K):
        found = expectation_propagation(K, y, link, tolerance=1e-11, quiet=True)
        return found.log_evidence if what == "evidence" else found.loo_log_probability().sum()

    found = expectation_propagation(K, y, link, tolerance=1e-11, quiet=True)
    adjoint = found.evidence_adjoint() if what == "evidence" else found.loo_adjoint()
    np.testing.assert_allclose(adjoint, adjoint.T, atol=1e-13 * np.abs(adjoint).max())
    L = np.linalg.cholesky(K + 1e-12 * amplitude * np.eye(10))
    for _ in range(3):
        A = rng.standard_normal(K.shape)
        D, h = L @ (A + A.T) @ L.T / np.linalg.norm(A + A.T, 2), 2e-3
        narrow, wide = ((value(K + step * D) - value(K - step * D)) / (2 * step) for step in (h, 2 * h))
        # The next term of the error of the differences, and the accuracy of the values over the step.
        limit = 0.1 * abs(wide - narrow) + 1e-9 * (1 + abs(found.log_evidence)) / h
        assert abs(np.vdot(adjoint, D) - (4 * narrow - wide) / 3) <= limit
        assert limit <= 1e-3 * max(abs(narrow), 1e-2)


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_a_fixed_point_is_one_whatever_the_start(link, rng):
    K, y = problem(rng, 20)
    cold = expectation_propagation(K, y, link, tolerance=1e-9)
    warm = expectation_propagation(K, y, link, start=laplace(1e-8 * K, y, link), tolerance=1e-9)
    assert cold.residual <= 1e-9
    assert warm.residual <= 1e-9
    assert abs(cold.log_evidence - warm.log_evidence) <= 1e-10 * abs(cold.log_evidence)
    np.testing.assert_allclose(cold.mean, warm.mean, atol=1e-7)
    # What defines it: the moments of each likelihood over its cavity are those of the marginal.
    mean, variance = cold.cavity
    moments = link.moments(y * mean, variance)
    np.testing.assert_allclose(mean + variance * y * moments.first, cold.mean, atol=1e-7)
    np.testing.assert_allclose(variance * (1 + variance * moments.second), cold.variance, rtol=1e-7)


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_hard_matrices(link, rng):
    K, y = problem(rng, 20)
    Z = rng.standard_normal((20, 2))
    for matrix in (1e6 * K, 1e4 * Z @ Z.T, np.full((20, 20), 100.0), np.zeros((20, 20)), 1e-10 * K):
        found = expectation_propagation(matrix, y, link)
        assert found.converged
        assert np.isfinite(found.log_evidence)
        assert np.isfinite(found.evidence_adjoint()).all()
        assert np.isfinite(found.loo_adjoint()).all()
        assert np.all(found.precision >= 0)


def test_it_says_when_it_has_not_converged(rng):
    K, y = problem(rng)
    with pytest.warns(ConvergenceWarning, match="has not converged in 2 sweeps"):
        found = expectation_propagation(K, y, Probit(), max_iterations=2)
    assert not found.converged
