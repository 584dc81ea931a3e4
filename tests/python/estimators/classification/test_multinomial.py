"""Laplace's approximation for several classes: against dense formulas, generic optimizers, quadrature and two classes."""

import itertools

import numpy as np
import pytest
from scipy import optimize, special
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sk

from kernsel.estimators.classification import multinomial
from kernsel.estimators.classification.multinomial import class_probabilities, multinomial_laplace
from kernsel.kernels import RBF, Matern

import reference

EPS = np.finfo(float).eps


def problem(n, classes, rng, amplitude=3.0):
    X = rng.uniform(0, 3, (n, 2))
    kernels = [amplitude * (1 + c) * Matern(0.5 + 0.3 * c, nu=1.5) for c in range(classes)]
    Y = np.eye(classes)[np.concatenate([np.arange(classes), rng.integers(0, classes, n)])[:n]]
    return X, kernels, Y


def stacked(matrices):
    """Return the covariance of all latent values, class after class."""
    classes, n = len(matrices), len(matrices[0])
    K = np.zeros((classes * n, classes * n))
    for c, matrix in enumerate(matrices):
        K[c * n : (c + 1) * n, c * n : (c + 1) * n] = matrix
    return K


def curvature(f):
    """Return the negative second derivative of log p(Y | f), (C n, C n), class after class."""
    n, classes = f.shape
    p = special.softmax(f, axis=1)
    W = np.zeros((classes * n, classes * n))
    for i in range(n):
        at = np.arange(classes) * n + i
        W[np.ix_(at, at)] = np.diag(p[i]) - np.outer(p[i], p[i])
    return W


def log_likelihood(f, Y):
    return np.sum(f * Y) - special.logsumexp(f, axis=1).sum()


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("shared", [False, True])
def test_against_dense_formulas(classes, shared, rng):
    n, m = 14, 4
    X, kernels, Y = problem(n, classes, rng)
    Z = rng.uniform(0, 3, (m, 2))
    if shared:
        kernels = kernels[:1] * classes
    matrices = [k(X) for k in kernels]
    found = multinomial_laplace(matrices[:1] if shared else matrices, Y, gradient=True)
    assert found.converged
    f, K = found.mode, stacked(matrices)
    # A generic optimizer, of whitened values.
    F = np.linalg.cholesky(K)
    down = lambda v: 0.5 * v @ v - log_likelihood((F @ v).reshape(classes, n).T, Y)  # noqa: E731

    def slope(v):
        f = (F @ v).reshape(classes, n).T
        return v - F.T @ (Y - special.softmax(f, axis=1)).T.ravel()

    generic = optimize.minimize(down, np.zeros(classes * n), jac=slope, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    assert f == pytest.approx((F @ generic.x).reshape(classes, n).T, abs=1e-5)
    assert found.weights == pytest.approx(Y - special.softmax(f, axis=1), abs=1e-9)
    assert f.T.ravel() == pytest.approx(K @ found.weights.T.ravel(), abs=1e-9)
    # The evidence, with the whole matrix.
    W = curvature(f)
    value = log_likelihood(f, Y) - 0.5 * np.sum(f * found.weights) - 0.5 * np.linalg.slogdet(np.eye(classes * n) + K @ W)[1]
    assert found.log_evidence == pytest.approx(value, abs=1e-9 * n)
    # Predictions.
    mean, covariance = found.latent([k(X, Z) for k in kernels[: 1 if shared else None]], [k.diag(Z) for k in kernels])
    S = np.linalg.solve(np.eye(classes * n) + W @ K, W)
    for j in range(m):
        cross = np.zeros((classes * n, classes))
        for c, k in enumerate(kernels):
            cross[c * n : (c + 1) * n, c] = k(X, Z[j : j + 1])[:, 0]
        own = np.diag([k.diag(Z[j : j + 1])[0] for k in kernels])
        assert mean[j] == pytest.approx(cross.T @ found.weights.T.ravel(), abs=1e-9)
        assert covariance[j] == pytest.approx(own - cross.T @ S @ cross, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_gradient_in_every_entry(classes, rng):
    n = 5
    X, kernels, Y = problem(n, classes, rng)
    matrices = [k(X) for k in kernels]
    adjoints = multinomial_laplace(matrices, Y, gradient=True).adjoints
    for c, i in itertools.product(range(classes), range(n)):
        for j in range(i + 1):
            direction = np.zeros((n, n))
            direction[i, j] = direction[j, i] = 1.0

            def along(t, c=c, direction=direction):
                moved = [K + t[0] * direction if d == c else K for d, K in enumerate(matrices)]
                return multinomial_laplace(moved, Y).log_evidence

            slope, error = reference.central_differences(along, [0.0], 1e-3)
            assert np.sum(adjoints[c] * direction) == pytest.approx(slope[0], abs=error[0] + 1e-10)
    for adjoint in adjoints:
        assert np.array_equal(adjoint, adjoint.T)


@pytest.mark.parametrize(("n", "classes", "amplitude"), [(30, 3, 1.0), (25, 4, 50.0), (12, 2, 1e4)])
def test_gradient_in_random_directions(n, classes, amplitude, rng):
    X, kernels, Y = problem(n, classes, rng, amplitude)
    matrices = [k(X) for k in kernels]
    found = multinomial_laplace(matrices, Y, gradient=True)
    shared = multinomial_laplace(matrices[:1], Y, gradient=True)
    assert len(shared.adjoints) == 1
    repeated = multinomial_laplace(matrices[:1] * classes, Y, gradient=True)
    assert shared.adjoints[0] == pytest.approx(sum(repeated.adjoints), abs=1e-12 * np.abs(shared.adjoints[0]).max())
    for _ in range(4):
        # Relative to K, so that it stays positive semidefinite.
        roots = [np.linalg.cholesky(K) for K in matrices]
        inner = [(A + A.T) / 2 / np.sqrt(n) for A in rng.standard_normal((classes, n, n))]
        directions = [L @ A @ L.T for L, A in zip(roots, inner, strict=True)]

        def along(t, directions=directions):
            return multinomial_laplace([K + t[0] * D for K, D in zip(matrices, directions, strict=True)], Y).log_evidence

        slope, error = reference.central_differences(along, [0.0], 1e-3)
        expected = sum(np.sum(A * D) for A, D in zip(found.adjoints, directions, strict=True))
        assert expected == pytest.approx(slope[0], abs=error[0] + 1e-8)

        def along_shared(t, direction=directions[0]):
            return multinomial_laplace([matrices[0] + t[0] * direction], Y).log_evidence

        slope, error = reference.central_differences(along_shared, [0.0], 1e-3)
        assert np.sum(shared.adjoints[0] * directions[0]) == pytest.approx(slope[0], abs=error[0] + 1e-8)


def binary_laplace(K, y, K_cross, own):
    """Return the log evidence and the latent mean and variance of the logistic likelihood, densely."""
    n = len(y)
    f = np.zeros(n)
    for _ in range(100):
        p = special.expit(f)
        W = p * (1 - p)
        f = f + 0.5 * (np.linalg.solve(np.eye(n) + K * W, K @ (W * f + (y + 1) / 2 - p)) - f)
    p = special.expit(f)
    W = p * (1 - p)
    B = np.eye(n) + np.sqrt(np.outer(W, W)) * K
    a = (y + 1) / 2 - p
    value = -np.sum(np.logaddexp(0, -y * f)) - 0.5 * a @ f - 0.5 * np.linalg.slogdet(B)[1]
    variance = own - np.sum(K_cross * np.linalg.solve(K + np.diag(1 / W), K_cross), axis=0)
    return value, K_cross.T @ a, variance


def test_two_classes_are_one_latent_function_of_twice_the_kernel(rng):
    X, (k, _), Y = problem(40, 2, rng)
    Z = rng.uniform(0, 3, (9, 2))
    found = multinomial_laplace([k(X)], Y)
    y = np.where(Y[:, 1] == 1, 1.0, -1.0)
    value, mean, variance = binary_laplace(2 * k(X), y, 2 * k(X, Z), 2 * k.diag(Z))
    assert found.log_evidence == pytest.approx(value, abs=1e-9)
    means, covariances = found.latent([k(X, Z)], [k.diag(Z)])
    difference = np.array([-1.0, 1.0])
    assert means @ difference == pytest.approx(mean, abs=1e-9)
    assert np.einsum("c,mcd,d->m", difference, covariances, difference) == pytest.approx(variance, abs=1e-9)
    x, w = np.polynomial.hermite_e.hermegauss(100)
    expected = special.expit(mean[:, None] + np.sqrt(variance)[:, None] * x) @ w / np.sqrt(2 * np.pi)
    assert class_probabilities(means, covariances)[:, 1] == pytest.approx(expected, abs=1e-10)


def test_two_classes_against_scikit_learn(rng):
    X, _, Y = problem(40, 2, rng)
    theirs = GaussianProcessClassifier(2 * 3.0 * sk.RBF(0.7), optimizer=None).fit(X, Y[:, 1])
    found = multinomial_laplace([3.0 * RBF(0.7)(X)], Y)
    value = theirs.log_marginal_likelihood_value_
    assert found.log_evidence == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("amplitude", [1e-8, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("separable", [False, True])
def test_newton_never_falls_and_always_arrives(amplitude, separable, rng):
    n, classes = 60, 3
    X = rng.uniform(0, 3, (n, 2))
    labels = (X[:, 0]).astype(int) if separable else rng.integers(0, classes, n)
    K = amplitude * RBF(1.0)(X)
    K.flat[:: n + 1] *= 1 + 1e-10
    Y = np.eye(classes)[labels]
    start = 1e3 * rng.standard_normal((n, classes))
    zero, far = multinomial_laplace([K], Y), multinomial_laplace([K], Y, start=start)
    for found in (zero, far):
        assert found.converged
        assert found.iterations < 60
        rounding = EPS * n * (np.max(np.abs(found.objective)) + amplitude * np.abs(found.weights).max())
        assert (np.diff(found.objective) >= -rounding).all()
        # At the mode, a = Y - p; errors of f = K a are those of rounding in K.
        limit = 1e-8 + 64 * EPS * n * amplitude
        assert found.weights == pytest.approx(Y - special.softmax(found.mode, axis=1), abs=limit)
    assert far.log_evidence == pytest.approx(zero.log_evidence, rel=1e-7)
    assert far.objective[0] >= -n * np.log(classes) * (1 + 1e-12)


def test_an_end_before_the_mode_is_told(rng, monkeypatch):
    X, kernels, Y = problem(20, 3, rng, 1e3)
    monkeypatch.setattr(multinomial, "MAX_ITERATIONS", 2)
    with pytest.warns(ConvergenceWarning, match="has not converged in 2 iterations"):
        found = multinomial_laplace([k(X) for k in kernels], Y, gradient=True)
    assert not found.converged
    assert found.iterations == 2
    assert np.isfinite(found.log_evidence)


def test_a_start_saves_iterations(rng):
    X, kernels, Y = problem(50, 3, rng, 100.0)
    matrices = [k(X) for k in kernels]
    cold = multinomial_laplace(matrices, Y)
    warm = multinomial_laplace([1.02 * K for K in matrices], Y, start=cold.mode)
    assert warm.iterations < cold.iterations
    assert warm.log_evidence == pytest.approx(multinomial_laplace([1.02 * K for K in matrices], Y).log_evidence, abs=1e-9)


def test_singular_kernels_and_repeated_points(rng):
    X, kernels, Y = problem(12, 3, rng)
    twice = np.vstack([X, X])
    found = multinomial_laplace([k(twice) for k in kernels], np.vstack([Y, Y[::-1]]), gradient=True)
    assert found.converged
    assert found.mode[:12] == pytest.approx(found.mode[12:], abs=1e-8)
    nothing = multinomial_laplace([np.zeros((12, 12))], Y, gradient=True)
    assert nothing.log_evidence == pytest.approx(-12 * np.log(3))
    assert (nothing.mode == 0).all()


def test_a_single_point():
    found = multinomial_laplace([[[2.0]]], [[0.0, 1.0, 0.0]])
    assert found.converged
    assert found.mode.argmax() == 1


@pytest.mark.parametrize(
    ("kernels", "Y", "message"),
    [
        ([np.eye(2)], [[1.0], [1.0]], r"Y: expected shape \(n, at least 2 classes\)"),
        ([np.eye(2)], [[1.0, 0.0], [1.0, 1.0]], r"Y: expected a one in each row"),
        ([np.eye(2)], [[1.0, 0.0], [0.5, 0.5]], r"Y: expected a one in each row"),
        ([np.eye(3)], np.eye(2), r"kernels: expected matrices of finite numbers, of shape \(2, 2\), got shape \(3, 3\)"),
        ([np.eye(2)] * 3, np.eye(2), r"kernels: expected one for each of 2 classes, or one that all share, got 3"),
        ([np.full((2, 2), np.nan)], np.eye(2), r"kernels: expected matrices of finite"),
    ],
)
def test_bad_input(kernels, Y, message):
    with pytest.raises(ValueError, match=message):
        multinomial_laplace(kernels, Y)


def test_bad_start_and_covariance():
    with pytest.raises(ValueError, match=r"start: expected finite numbers of shape \(2, 2\), got shape \(2,\)"):
        multinomial_laplace([np.eye(2)], np.eye(2), start=[0.0, 1.0])
    with pytest.raises(ValueError, match=r"cross: expected one for each of 2 classes, or one that all share, got 3"):
        multinomial_laplace([np.eye(2)], np.eye(2)).latent([np.eye(2)] * 3, [np.ones(2)])
    with pytest.raises(ValueError, match=r"covariance: expected shape \(m, classes, classes\)"):
        class_probabilities([[0.0, 1.0]], [[0.0, 1.0]])
