"""A process, its trends and its noise, written out, and how closely other ways to compute must agree."""

import numpy as np
import pytest

from kernsel.kernels import RBF, WhiteKernel

EPS = float(np.finfo(float).eps)


def waves(X):
    return np.column_stack([np.ones(len(X)), np.sin(3 * X[:, 0]), X[:, 1]])


def basis(trend, X):
    """Return a trend's functions, written out."""
    if trend is None:
        return np.zeros((len(X), 0))
    if callable(trend):
        return trend(X)
    one, (a, b) = np.ones(len(X)), X.T
    return np.column_stack({"constant": [one], "linear": [one, a, b], "quadratic": [one, a, b, a * a, a * b, b * b]}[trend])


SIGNAL = 1.5 * RBF([0.3, 0.5])
TRENDS = [None, "constant", "linear", "quadratic", waves]


def noise_of(kind, n):
    """Return the noise argument, the kernel and the diagonal that they give."""
    vector = np.linspace(0.01, 0.05, n)
    return {
        "one": (0.02, SIGNAL, np.full(n, 0.02)),
        "vector": (vector, SIGNAL, vector),
        "white": (None, SIGNAL + WhiteKernel(0.02), np.full(n, 0.02)),
    }[kind]


def limit_of(K, y, factor=64):
    """Return what rounding may do to predictions: the condition of the matrix, its size, and y."""
    return float(factor * len(K) * EPS * np.linalg.cond(K) * max(1.0, np.abs(y).max()))


ATTRIBUTES = ["X_train_", "y_train_", "alpha_", "beta_", "noise_", "jitter_", "scale_", "log_marginal_likelihood_value_", "L_"]
ATTRIBUTES += ["loo_residuals_", "loo_std_", "leverage_"]


def assert_same_model(one, other, Z, limit):
    for name in ATTRIBUTES:
        a, b = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        assert a.shape == b.shape, name
        assert a == pytest.approx(b, abs=limit * max(1.0, float(np.abs(b).max(initial=0.0)))), name
    for option in ("return_std", "return_cov"):
        for a, b in zip(one.predict(Z, **{option: True}), other.predict(Z, **{option: True}), strict=True):
            assert a == pytest.approx(b, abs=limit)


def rounding_of(gp):
    """Return the relative error that a criterion may have."""
    K = gp.kernel_(gp.X_train_) + np.diag(gp.posterior_.noise)
    eigenvalues = np.linalg.eigvalsh(K)
    return float(10 * len(K) * EPS * eigenvalues[-1] / abs(eigenvalues[0]))
