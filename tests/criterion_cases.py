"""Data, kernels, trends and options for which criteria are evaluated."""

import numpy as np

from kernsel.criteria import CRITERIA
from kernsel.criteria.table import TABLE
from kernsel.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    HeteroscedasticNoise,
    Matern,
    Normalize,
    RationalQuadratic,
    Transform,
    WhiteKernel,
)

N, D = 14, 2
KERNELS = {
    "rbf": 1.3 * RBF([0.7, 1.1]),
    "matern and noise": Matern(0.8, nu=2.5) * 0.7 + WhiteKernel(0.2),
    "nu": 2.0 * Matern([0.9, 1.4], nu=0.8),
    "linear and periodic": DotProduct(0.8) * RBF(1.5) + ExpSineSquared(1.2, 2.3).on([0]),
    "mixture": RationalQuadratic(0.7, 0.8) * ConstantKernel(0.5) + Normalize(DotProduct(1.1)) + WhiteKernel(0.1),
    "projected": Transform(RBF(0.9), [[1.0, -0.4]]) + HeteroscedasticNoise(np.linspace(0.1, 0.4, N), 0.7, "auto"),
}
TRENDS = {None: 0, "constant": 1, "linear": 3, "quadratic": 6}
FOLDS = np.arange(N) % 4
TEST = np.array([3, 4, 9])
AT_GIVEN = [name for name in CRITERIA if not TABLE[name].kind.integrates]  # that have a value at given hyperparameters
PLAIN = [name for name in AT_GIVEN if name != "map"]


def data(outputs, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (N, D))
    y = np.sin(2 * X[:, :1]) + X[:, 1:] ** 2 + 0.3 * rng.standard_normal((N, outputs or 1))
    noise = rng.uniform(0.05, 0.3, N)
    return X, y if outputs else y[:, 0], noise


def options(name):
    return {
        "kfold": {"folds": FOLDS},
        "kfold_log_density": {"folds": FOLDS},
        "holdout": {"test": TEST},
        "risk": {"sigma": 0.3},
    }.get(name, {})


def split(k, X):
    """Return the kernel matrix without what is noise in it, and the noise."""
    whole, points = k(X), k(X, X)
    return points, np.diag(whole) - np.diag(points)
