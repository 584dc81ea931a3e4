"""What the core promises for n points at once, kernel matrices and all: ``pytest bench/core``, with pytest-benchmark."""

import numpy as np
import pytest
import scipy.linalg

import kernsel as ks
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, Matern

N, D = 600, 5
EPS = np.finfo(float).eps
NOISE = 0.1


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, D))
    return X, np.sin(6 * X[:, 0]) + X.sum(axis=1) + NOISE**0.5 * rng.standard_normal(N)


@pytest.fixture(scope="module")
def kernel():
    return 1.5 * RBF(np.linspace(0.5, 1.5, D))


@pytest.fixture(scope="module")
def matrix(data, kernel):
    """Return K + N; its condition number is at most 1.5 n / noise + 1."""
    return kernel(data[0]) + NOISE * np.eye(N)


CONDITION = 1.5 * N / NOISE + 1


@pytest.mark.parametrize("name", ["RBF", "Matern"])
def bench_gram(benchmark, data, name):
    X = data[0] / np.linspace(0.5, 1.5, D)
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=-1)
    distance = np.sqrt(5 * squared)
    kernel = {"RBF": RBF, "Matern": lambda length: Matern(length, nu=2.5)}[name](np.linspace(0.5, 1.5, D))
    expected = {"RBF": np.exp(-squared / 2), "Matern": (1 + distance + 5 * squared / 3) * np.exp(-distance)}[name]
    assert np.abs(benchmark(kernel, data[0]) - expected).max() <= 100 * EPS


def bench_cholesky(benchmark, matrix):
    factor = benchmark(ks.linalg.cholesky, matrix)
    assert np.abs(factor.lower() - np.linalg.cholesky(matrix)).max() <= N * CONDITION * EPS


@pytest.mark.parametrize("what", ["inverse", "inverse_diagonal"])
def bench_inverse(benchmark, matrix, what):
    inverse = benchmark(getattr(ks.linalg.cholesky(matrix), what))
    expected = np.linalg.inv(matrix)
    expected = expected if what == "inverse" else np.diag(expected)
    assert np.abs(inverse - expected).max() <= N * CONDITION * EPS / NOISE


def bench_leverage_and_leave_one_out(benchmark, data, kernel, matrix):
    X, y = data
    fit = benchmark(ks.loo, kernel, X, y, noise=NOISE)
    P = np.linalg.inv(matrix)
    assert fit.residuals == pytest.approx(P @ y / np.diag(P), abs=N * CONDITION * EPS)
    assert fit.leverage == pytest.approx(1 - NOISE * np.diag(P), abs=N * CONDITION * EPS)


CRITERIA = {
    "lml": lambda P, c, y: -(y @ c - np.linalg.slogdet(P)[1] + N * np.log(2 * np.pi)) / 2,
    "loo": lambda P, c, y: np.mean((c / np.diag(P)) ** 2),
    "loo_log_density": lambda P, c, y: np.sum(np.log(np.diag(P) / (2 * np.pi)) - c**2 / np.diag(P)) / 2,
    "gcv": lambda P, c, y: np.mean(c**2) / np.mean(np.diag(P)) ** 2,
}


@pytest.mark.parametrize("criterion", CRITERIA)
def bench_criterion(benchmark, data, kernel, matrix, criterion):
    X, y = data
    found = benchmark(ks.evaluate, criterion, kernel, X, y, noise=NOISE, workspace=Workspace())
    P = np.linalg.inv(matrix)
    assert found.value == pytest.approx(CRITERIA[criterion](P, P @ y, y), rel=N * CONDITION * EPS)


@pytest.mark.parametrize("criterion", CRITERIA)
def bench_gradient(benchmark, data, kernel, criterion):
    X, y = data
    found = benchmark(ks.evaluate, criterion, kernel, X, y, noise=NOISE, gradient=True, workspace=Workspace())
    step = 1e-4  # of a number of the size 0.1: the third order of the differences is one millionth
    higher, lower = (ks.evaluate(criterion, kernel, X, y, noise=NOISE + h).value for h in (step, -step))
    assert found.noise_gradient == pytest.approx((higher - lower) / (2 * step), rel=1e-5)


def bench_gradient_of_the_log_determinant(benchmark, data, kernel, matrix):
    """d log det K~ / d theta = tr(P dK / d theta), from the inverse and one pull."""
    inverse = np.linalg.inv(matrix)
    gradient = benchmark(kernel.pullback, data[0], inverse)
    step = 1e-5
    theta = kernel.theta
    for k, shift in enumerate(np.eye(len(theta)) * step):
        higher, lower = (
            np.linalg.slogdet(kernel.clone_with_theta(theta + h)(data[0]) + NOISE * np.eye(N))[1] for h in (shift, -shift)
        )
        assert gradient[k] == pytest.approx((higher - lower) / (2 * step), rel=1e-4, abs=1e-4)


def bench_solve(benchmark, matrix):
    b = np.ones(N)
    x = benchmark(ks.linalg.cholesky(matrix).solve, b)
    assert x == pytest.approx(scipy.linalg.solve(matrix, b, assume_a="pos"), abs=N * CONDITION * EPS / NOISE)
