"""Two classes by the inference of the core: on matrices that are hard, and with labels that are left out."""

import warnings

import numpy as np
import pytest

from kernsel import _core
from kernsel.criteria import Workspace
from kernsel.criteria.base import Given
from kernsel.estimators.classification.binary import approximated, observations_of
from kernsel.estimators.classification.labels_out import LabelsOut
from kernsel.estimators.classification.links import Logistic, Probit
from kernsel.kernels import RBF, ConstantKernel, Linear

import reference

EPS = np.finfo(float).eps
LINKS = [Logistic(), Probit()]
GROUPS = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 2, 2])


def problem(rng, n=15):
    X = rng.standard_normal((n, 2))
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)


def mode(K, y, link):
    """Return mode, its precisions W and the evidence by small Newton steps, with a dense inverse of I + K W."""
    f = np.zeros(len(y))
    for _ in range(100):
        d = link.derivatives(y * f)
        step = np.linalg.solve(np.eye(len(y)) - K * d.second, K @ (y * d.first) - f)
        f = f + min(1.0, 1.0 / np.abs(step).max(initial=1e-300)) * step
    d = link.derivatives(y * f)
    log_det = np.linalg.slogdet(np.eye(len(y)) - K * d.second)[1]
    return f, -d.second, d.value.sum() - 0.5 * f @ (y * d.first) - 0.5 * log_det


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("inference", ["laplace", "ep"])
def test_hard_matrices(link, inference, rng):
    X, y = problem(rng)
    for kernel, labels in (
        (1e4 * RBF(1.0), y),
        (1e6 * RBF(1.0), y),
        (1e4 * Linear(1e-3), y),  # of rank two, and of one
        (ConstantKernel(1e4), y),
        (ConstantKernel(1e6), np.ones(15)),
        (1e-12 * RBF(1.0), y),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = approximated(kernel, X, observations_of(labels, link, inference))
        K = np.asarray(kernel(X))
        mean, variance = found.latent(X)
        assert np.isfinite(mean).all()
        assert ((variance >= 0) & (variance <= np.diag(K) * (1 + 1e-9))).all()
        log_p = found.left_out(np.arange(15))[2]
        assert ((log_p <= 0) & np.isfinite(log_p)).all()
        if inference == "laplace":
            f, _, evidence = mode(K, labels, link)
            assert found.value == pytest.approx(evidence, rel=1e-6, abs=1e-6)
            assert found.value == found.evidence_at(kernel, 0.0, eval_gradient=False)
            np.testing.assert_allclose(mean, f, rtol=1e-5, atol=1e-5 * np.abs(f).max() + 1e-12)


@pytest.mark.parametrize("amplitude", [1e-6, 4.0, 1e4])
@pytest.mark.parametrize("groups", [np.arange(15), GROUPS], ids=["alone", "groups"])
def test_labels_left_out_are_predicted_by_the_sites_of_the_others(groups, amplitude, rng):
    X, y = problem(rng)
    kernel = amplitude * RBF(1.0)
    K, link = np.asarray(kernel(X)), Logistic()
    found = approximated(kernel, X, observations_of(y, link, "laplace"))
    f, W, _ = mode(K, y, link)
    targets = f + y * link.derivatives(y * f).first / W
    log_p = found.left_out(groups)[2]
    for i in range(15):
        rest = groups != groups[i]
        A = K[np.ix_(rest, rest)] + np.diag(1 / W[rest])
        k = K[i, rest]
        mean, variance = k @ np.linalg.solve(A, targets[rest]), K[i, i] - k @ np.linalg.solve(A, k)
        expected = link.likelihood().moments((y[i] + 1) / 2, mean, variance)[0]
        # What rounding is to the largest number from which the variance is a difference, and to systems of this condition.
        rounding = 1e2 * EPS * (np.max(1 / W) / max(variance, 1e-300) + np.linalg.cond(A))
        assert log_p[i] == pytest.approx(float(expected), abs=1e-7 + rounding)


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("inference", ["laplace", "ep"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["alone", "groups"])
def test_gradients_of_labels_left_out(link, inference, groups, rng):
    X, y = problem(rng)
    X[3] = X[4]  # equal rows are independent labels
    kernel = 4.0 * RBF([0.8, 1.7])
    observations = observations_of(y, link, inference)

    def evaluated(theta, gradient=False):
        at = kernel.clone_with_theta(theta)
        criterion = LabelsOut(groups).of_observations(Given(X, observations.y, np.arange(15)), has_trend=False)
        return at, _core.evaluate(
            criterion, at.build(), X, observations.y, np.zeros(15), np.zeros((15, 0)), None, gradient, Workspace(), None, False,
            observations.core(),
        )  # fmt: skip

    at, found = evaluated(kernel.theta, gradient=True)
    process = approximated(kernel, X, observations)
    left_out = process.left_out(np.arange(15) if groups is None else groups)[2]
    assert found["value"] == pytest.approx(left_out.sum(), abs=1e-7)
    slopes, error = reference.central_differences(lambda theta: evaluated(theta)[1]["value"], kernel.theta, step=1e-3)
    np.testing.assert_allclose(at.in_theta(found["gradient"]), slopes, atol=1e-6 + error.max())
