"""What the core promises beyond one factorization: paths, support vectors, neighbours, landmarks; ``pytest bench/core``."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, Matern


def points(n, d):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, d))
    return X, np.sin(6 * X[:, 0]) + X.sum(axis=1) + 0.3 * rng.standard_normal(n)


def bench_path(benchmark):
    """A hundred values of lambda from one decomposition."""
    X, y = points(400, 4)
    alphas = np.logspace(-3, 1, 100)
    path = benchmark(ks.RegularizationPath, RBF(0.7), y, X=X, alphas=alphas)
    of_one = ks.loo(RBF(0.7), X, y, noise=path.alphas[50])
    assert path.loo[50] == pytest.approx(np.mean(of_one.residuals**2), rel=1e-9)


def bench_support_vectors(benchmark):
    X, y = points(600, 4)
    model = benchmark(lambda: ks.SVR(RBF(0.7), C=1.0, epsilon=0.3).fit(X, y))
    K, residual = RBF(0.7)(X), y - model.predict(X)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_.ravel()
    primal = 0.5 * beta @ K @ beta + np.maximum(np.abs(residual) - 0.3, 0).sum()
    dual = y @ beta - 0.3 * np.abs(beta).sum() - 0.5 * beta @ K @ beta
    assert 0 <= primal - dual <= 0.01 * primal


NEIGHBORS = ks.Vecchia(20)
LANDMARKS = ks.Nystrom(100)


@pytest.mark.parametrize("approximation", [NEIGHBORS, LANDMARKS], ids=["neighbours", "landmarks"])
@pytest.mark.parametrize("criterion", ["lml", "loo"])
def bench_many_points(benchmark, approximation, criterion):
    """A criterion with its gradient, the neighbours or landmarks being chosen already."""
    X, y = points(5000, 4)
    kernel, workspace = 1.0 * Matern(np.linspace(0.5, 1.5, 4), nu=2.5), Workspace()

    def call(noise=0.1, gradient=True):
        return ks.evaluate(
            criterion, kernel, X, y, noise=noise, gradient=gradient, approximation=approximation, workspace=workspace
        )

    found = benchmark(call)
    step = 1e-4
    difference = (call(0.1 + step, False).value - call(0.1 - step, False).value) / (2 * step)
    assert found.noise_gradient == pytest.approx(difference, rel=1e-4)


def bench_nearest_neighbours(benchmark):
    """The choice of neighbours, and a likelihood."""
    X, y = points(5000, 4)
    kernel = 1.0 * Matern(np.linspace(0.5, 1.5, 4), nu=2.5)
    value = benchmark(ks.evaluate, "lml", kernel, X, y, noise=0.1, approximation=NEIGHBORS).value
    closer = ks.evaluate("lml", kernel, X, y, noise=0.1, approximation=ks.Vecchia(60)).value
    assert value == pytest.approx(closer, rel=0.1)  # three times as many neighbours: a better approximation
