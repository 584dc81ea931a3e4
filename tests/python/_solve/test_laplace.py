"""Laplace's approximation by the core, around every factor, against a slow twin, brute force and differences."""

import numpy as np
import pytest
from scipy import integrate

from kernsel import _core
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, ConstantKernel
from kernsel.likelihoods import Bernoulli, Poisson, StudentT

import reference_likelihoods as twin

JITTER = 1e-6
CASES = {"poisson": Poisson(), "bernoulli_logit": Bernoulli(), "student_t": StudentT(scale=0.3, df=4.0)}
APPROXIMATIONS = {
    "dense": None,
    "landmarks": ("landmarks", 8, 0, 0, False, []),
    "neighbours": (8, 0, [], 0, [], False, []),
}


def data(name, n=30):
    rng = np.random.default_rng(3)
    X = np.sort(rng.uniform(0, 5, n))[:, None]
    f = 1 + np.sin(2 * X[:, 0])
    size = rng.uniform(0.5, 2.0, n)
    if name == "poisson":
        return X, rng.poisson(size * np.exp(f)).astype(float), size
    if name == "bernoulli_logit":
        return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * np.sin(2 * X[:, 0])))).astype(float), None
    return X, f + 0.3 * rng.standard_t(3, n), None


def values_of(likelihood):
    return [p.value for p in likelihood.parameters()]


def evaluated(name, criterion, *, approximation=None, trend=None, gradient=False, phi=None, theta=None, noise=None, n=30):
    X, y, size = data(name, n)
    likelihood = CASES[name] if phi is None else CASES[name].with_values(phi)
    kernel = ConstantKernel(1.3) * RBF(0.8)
    kernel = kernel if theta is None else kernel.clone_with_theta(np.asarray(theta))
    noise = np.full(n, JITTER) if noise is None else noise
    observed = _core.Observed(likelihood.core(), "laplace", [] if size is None else list(size))
    H = np.zeros((n, 0)) if trend is None else np.column_stack([np.ones(n), X[:, 0]][:trend])
    found = _core.evaluate(
        criterion, kernel.build(), X, y, noise, H, None, gradient, Workspace(), approximation, False, observed
    )
    assert observed.converged
    return found, observed


@pytest.mark.parametrize("trend", [None, 1])
@pytest.mark.parametrize("name", CASES)
def test_the_evidence_is_that_of_the_twin(name, trend):
    X, y, size = data(name)
    K = np.asarray((ConstantKernel(1.3) * RBF(0.8))(X, X)) + JITTER * np.eye(len(X))
    H = None if trend is None else np.ones((len(X), 1))
    value, f, _ = twin.evidence(name, K, y, values_of(CASES[name]), 1.0 if size is None else size, H)
    found, observed = evaluated(name, _core.likelihood(trend is not None, "known"), trend=trend)
    # The twin's minimizer ends where gradients are 1e-9 in the whitened coordinates, and its curvature is by differences.
    np.testing.assert_allclose(observed.latent, f, atol=1e-6)
    assert found["value"] == pytest.approx(value, abs=1e-5)


def test_the_evidence_of_two_points_is_near_the_integral():
    kernel, X, y = ConstantKernel(0.5) * RBF(1.0), np.array([[0.0], [1.0]]), np.array([3.0, 1.0])
    K = np.asarray(kernel(X, X))
    P = np.linalg.inv(K)

    def density(b, a):
        f = np.array([a, b])
        prior = np.exp(-0.5 * f @ P @ f) / (2 * np.pi * np.sqrt(np.linalg.det(K)))
        return prior * np.exp(twin.log_density("poisson", y, f, [], 1.0).sum())

    exact = np.log(integrate.dblquad(density, -4, 4, -4, 4)[0])
    observed = _core.Observed(Poisson().core(), "laplace", [])
    evidence, none = _core.likelihood(False, "known"), np.zeros((2, 0))
    found = _core.evaluate(evidence, kernel.build(), X, y, np.zeros(2), none, None, False, Workspace(), None, False, observed)
    assert found["value"] == pytest.approx(exact, abs=0.02)  # what a normal approximation of this skew density can do


@pytest.mark.parametrize("trend", [None, 2])
@pytest.mark.parametrize("criterion", ["evidence", "left out", "folds"])
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, approximation, criterion, trend):
    folds = (np.arange(30) % 5).tolist()
    made = {
        "evidence": _core.likelihood(trend is not None, "known"),
        "left out": _core.left_out_density(True),
        "folds": _core.left_out_density(False, folds, 5),
    }[criterion]
    options = {"approximation": APPROXIMATIONS[approximation], "trend": trend}
    if approximation == "neighbours" and criterion == "folds":
        with pytest.raises(ValueError, match="expected no folds"):
            evaluated(name, made, **options)
        return
    theta, phi = np.log([1.3, 0.8]), values_of(CASES[name])
    found, _ = evaluated(name, made, gradient=True, **options)

    def difference(change, h=1e-4):
        """Return the derivative, with an error of the fourth order in h."""
        at = [evaluated(name, made, **options, **change(step))[0]["value"] for step in (-2 * h, -h, h, 2 * h)]
        return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)

    size = max(abs(found["value"]), 1.0)
    # Steps to the mode end at squared decrements of 1e-17 by neighbours, which differences divide by h.
    slack = {"dense": 1e-7, "landmarks": 1e-6, "neighbours": 1e-5}[approximation] * size
    for p in range(2):
        expected = difference(lambda step, p=p: {"theta": theta + step * np.eye(2)[p]})
        assert found["gradient"][p] == pytest.approx(expected, abs=slack, rel=1e-5)
    for p in range(len(phi)):
        expected = difference(lambda step, p=p: {"phi": np.asarray(phi) + step * np.eye(len(phi))[p]})
        assert found["likelihood_gradient"][p] == pytest.approx(expected, abs=slack, rel=1e-5)
    noise, unit = np.full(30, 1e-2), np.eye(30)[4]
    found, _ = evaluated(name, made, gradient=True, noise=noise, **options)
    expected = difference(lambda step: {"noise": noise + step * unit})
    assert found["noise_gradient"][4] == pytest.approx(expected, abs=slack, rel=1e-5)
