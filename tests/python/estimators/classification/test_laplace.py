"""Laplace's approximation: the mode, the evidence and leave-one-out by dense formulas; gradients by differences."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sk

from kernsel.estimators.classification.laplace import laplace
from kernsel.estimators.classification.links import Logistic, Probit
from kernsel.kernels import RBF, from_sklearn

EPS = np.finfo(float).eps
LINKS = [Logistic(), Probit()]


def problem(rng, n=25, d=2, amplitude=4.0, scale=1.0):
    X = rng.standard_normal((n, d))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, -1] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return np.asarray((amplitude * RBF(scale))(X)), y


def dense(K, y, link):
    """Return mode, W and log evidence by Newton's method in 200 small steps, with explicit inverses."""
    f = np.zeros(len(y))
    for _ in range(200):
        d = link.derivatives(y * f)
        step = np.linalg.solve(np.eye(len(y)) - K * d.second, K @ (y * d.first) - f)
        f = f + min(1.0, 1.0 / np.abs(step).max(initial=1e-300)) * step
    d = link.derivatives(y * f)
    sign, log_det = np.linalg.slogdet(np.eye(len(y)) - K * d.second)
    assert sign > 0
    return f, -d.second, d.value.sum() - 0.5 * f @ (y * d.first) - 0.5 * log_det


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_mode_and_evidence(link, rng):
    K, y = problem(rng)
    found = laplace(K, y, link)
    f, W, log_evidence = dense(K, y, link)
    assert found.converged
    np.testing.assert_allclose(found.mean, f, atol=1e-8)
    np.testing.assert_allclose(found.precision, W, atol=1e-8)
    np.testing.assert_allclose(found.weights, y * link.derivatives(y * f).first, atol=1e-8)
    assert abs(found.log_evidence - log_evidence) <= 1e-9 * abs(log_evidence)
    covariance = np.linalg.inv(np.linalg.inv(K + 1e-10 * np.eye(len(y))) + np.diag(W))
    np.testing.assert_allclose(found.variance, np.diag(covariance), rtol=1e-5)


@pytest.mark.parametrize("amplitude", [1e-3, 1.0, 50.0])
def test_scikit_learn_has_the_same_evidence_and_gradient(amplitude, rng):
    X = rng.standard_normal((60, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(60) > 0, 1, -1)
    theirs = sk.ConstantKernel(amplitude) * sk.RBF([0.8, 1.7])
    model = GaussianProcessClassifier(theirs, optimizer=None).fit(X, y)
    value, gradient = model.log_marginal_likelihood(theirs.theta, eval_gradient=True)
    ours = from_sklearn(theirs)
    found = laplace(np.asarray(ours(X)), y.astype(float), Logistic())
    assert abs(found.log_evidence - value) <= 1e-8 * abs(value)
    slopes = ours.pullback(X, found.evidence_adjoint())
    np.testing.assert_allclose(slopes, gradient, rtol=1e-8, atol=1e-8 * np.abs(gradient).max())


def matrices(rng):
    """Return kernel matrices that are hard: of large amplitude, of low rank, with points that are equal, all but zero."""
    K, y = problem(rng)
    Z = rng.standard_normal((25, 2))
    yield "amplitude 1e6", 1e6 * K, y
    yield "amplitude 1e10", 1e10 * K, y
    yield "rank 2, large", 1e6 * Z @ Z.T, y
    yield "equal points", np.full((25, 25), 1e4), y
    yield "equal points, one label", np.full((25, 25), 1e6), np.ones(25)
    yield "zero", np.zeros((25, 25)), y
    yield "tiny", 1e-12 * K, y


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("number", range(7))
def test_the_objective_never_falls(link, number, rng):
    name, K, y = list(matrices(rng))[number]
    for start in (None, 30 * rng.standard_normal(len(y)), -1e3 * y):
        found = laplace(K, y, link, start=start)
        assert found.converged, name
        rounding = 64 * EPS * (len(y) + np.abs(found.objective)[1:] + np.diag(K).max() * found.weights @ found.weights)
        assert np.all(np.diff(found.objective) >= -rounding), name
        # The gradient of the objective in whitened values, K^1/2 (d log p / df - a), is zero to rounding.
        gap = y * link.derivatives(y * found.mean).first - found.weights
        size = np.linalg.norm(K, 2) * np.abs(found.weights).max() ** 2 * len(y)
        assert gap @ K @ gap <= 1e-9 + (64 * len(y) * EPS) ** 2 * size * np.linalg.norm(K, 2), name
        assert np.isfinite(found.log_evidence), name
        assert np.isfinite(found.evidence_adjoint()).all(), name
        assert np.isfinite(found.loo_adjoint()).all(), name


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_starts_agree(link, rng):
    K, y = problem(rng)
    found = laplace(K, y, link)
    near = laplace(1.3 * K, y, link, start=found)
    far = laplace(1.3 * K, y, link)
    assert near.iterations < far.iterations
    assert abs(near.log_evidence - far.log_evidence) <= 1e-9 * abs(far.log_evidence)
    np.testing.assert_allclose(near.mean, far.mean, atol=1e-8)


def along(K, rng):
    """Return a direction in which a positive semidefinite matrix stays one, for both signs of a small step."""
    A = rng.standard_normal(K.shape)
    L = np.linalg.cholesky(K + 1e-12 * np.trace(K) * np.eye(len(K)))
    return L @ (A + A.T) @ L.T / np.linalg.norm(A + A.T, 2)


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("amplitude", [0.01, 4.0, 1e4])
@pytest.mark.parametrize("what", ["evidence", "loo", "groups"])
def test_adjoints(link, amplitude, what, rng):
    K, y = problem(rng, n=12, amplitude=amplitude)
    rows = [np.array(group) for group in ([3, 0, 7, 9], [1], [2, 4, 5], [10, 6, 8, 11])]

    def value(K):
        found = laplace(K, y, link)
        if what == "evidence":
            return found.log_evidence
        return found.loo_log_probability(rows if what == "groups" else None).sum()

    found = laplace(K, y, link)
    adjoint = {"evidence": found.evidence_adjoint, "loo": found.loo_adjoint, "groups": lambda: found.groups_adjoint(rows)}[
        what
    ]()
    np.testing.assert_allclose(adjoint, adjoint.T, atol=1e-13 * np.abs(adjoint).max())
    for _ in range(4):
        D, h = along(K, rng), 1e-3
        narrow = (value(K + h * D) - value(K - h * D)) / (2 * h)
        wide = (value(K + 2 * h * D) - value(K - 2 * h * D)) / (4 * h)
        expected = (4 * narrow - wide) / 3
        # What is left of the differences: the next term of their error, and the accuracy of the values, over the step.
        limit = 0.1 * abs(wide - narrow) + 1e-9 * (1 + abs(value(K))) / h
        assert abs(np.vdot(adjoint, D) - expected) <= limit
        assert limit <= 1e-3 * max(abs(expected), 1e-2)


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("amplitude", [1e-6, 4.0, 1e6])
def test_cavities(link, amplitude, rng):
    K, y = problem(rng, amplitude=amplitude, n=15)
    found = laplace(K, y, link)
    mean, variance = found.cavity
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        # The posterior of f_i under the sites of the others: regression on pseudo-targets, with their noise.
        S, nu = found.precision[rest], found.shift[rest]
        B = np.eye(len(rest)) + np.sqrt(S)[:, None] * K[np.ix_(rest, rest)] * np.sqrt(S)
        a = np.sqrt(S) * np.linalg.solve(B, nu / np.sqrt(S))
        k = np.sqrt(S) * K[rest, i]
        condition = np.linalg.cond(B)
        tolerance = 1e3 * EPS * condition + 1e-9
        assert abs(mean[i] - K[i, rest] @ a) <= tolerance * (1 + abs(mean[i])) * np.sqrt(1 + amplitude)
        assert abs(variance[i] - (K[i, i] - k @ np.linalg.solve(B, k))) <= tolerance * K[i, i]
    p = link.moments(y * mean, variance).log_mean
    np.testing.assert_array_equal(found.loo_log_probability(), p)


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("amplitude", [1e-6, 4.0, 1e6])
def test_cavities_of_groups(link, amplitude, rng):
    K, y = problem(rng, amplitude=amplitude, n=15)
    found = laplace(K, y, link)
    groups = [np.arange(0, 15, 3), np.array([1, 4]), np.array([13, 2, 5, 7, 8, 10, 11, 14])]
    mean, variance, covariances = found.cavity_of_groups(groups)
    for rows, C in zip(groups, covariances, strict=True):
        rest = np.setdiff1d(np.arange(15), rows)
        S, nu = found.precision[rest], found.shift[rest]
        B = np.eye(len(rest)) + np.sqrt(S)[:, None] * K[np.ix_(rest, rest)] * np.sqrt(S)
        a = np.sqrt(S) * np.linalg.solve(B, nu / np.sqrt(S))
        k = np.sqrt(S)[:, None] * K[np.ix_(rest, rows)]
        tolerance = 1e3 * EPS * np.linalg.cond(np.eye(15) + found.root[:, None] * K * found.root) + 1e-9
        size = tolerance * (1 + np.abs(mean[rows])) * np.sqrt(1 + amplitude)
        assert (np.abs(mean[rows] - K[np.ix_(rows, rest)] @ a) <= size).all()
        assert np.abs(C - (K[np.ix_(rows, rows)] - k.T @ np.linalg.solve(B, k))).max() <= tolerance * amplitude
        np.testing.assert_allclose(variance[rows], np.diag(C), rtol=1e-12)
    p = link.moments(y * mean, variance).log_mean
    np.testing.assert_array_equal(found.loo_log_probability(groups), p)
    alone = [np.array([i]) for i in range(15)]
    np.testing.assert_allclose(found.loo_log_probability(alone), found.loo_log_probability(), rtol=tolerance)
    np.testing.assert_allclose(found.groups_adjoint(alone), found.loo_adjoint(), rtol=1e-6, atol=1e-9 / amplitude)


def test_leave_one_out_is_close_to_refits(rng):
    K, y = problem(rng, n=30)
    found = np.exp(laplace(K, y, Logistic()).loo_log_probability())
    for i in range(0, 30, 5):
        rest = np.delete(np.arange(30), i)
        refit = laplace(K[np.ix_(rest, rest)], y[rest], Logistic())
        V = np.linalg.solve(refit.factor.lower(), refit.root * K[rest, i])
        mean, variance = K[i, rest] @ refit.weights, K[i, i] - V @ V
        p = Logistic().probability(np.array([y[i] * mean]), np.array([variance]))[0]
        assert abs(found[i] - p) <= 0.03


def test_bad_input():
    with pytest.raises(ValueError, match="K: expected shape"):
        laplace(np.eye(3), np.ones(2), Logistic())
    with pytest.raises(ValueError, match="y: expected -1 or 1"):
        laplace(np.eye(2), np.array([0.0, 1.0]), Logistic())
    with pytest.raises(ValueError, match="K: expected finite"):
        laplace(np.full((2, 2), np.nan), np.ones(2), Logistic())
    with pytest.raises(np.linalg.LinAlgError):
        laplace(-100 * np.eye(2), np.ones(2), Logistic())
