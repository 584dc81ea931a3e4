"""Interpolation of minimum norm, and the power function that bounds its error."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, WhiteKernel

N = 25


def data(outputs=1, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, n))[:, None]
    return X, np.sin(X) + 0.2 * rng.standard_normal((n, outputs)), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda X, y: ks.linalg.minimum_norm_interpolant(np.diag([1.0, -1.0]), [1.0, 1.0]),
            "positive semidefinite matrix, got the eigenvalue -1",
        ),
        (
            lambda X, y: ks.linalg.minimum_norm_interpolant(np.eye(2), [1.0]),
            "y: expected finite numbers, one row for each",
        ),
    ],
)
def test_bad_input(make, message):
    X, y, _ = data()
    with pytest.raises((TypeError, ValueError), match=message):
        make(X, y)


def test_interpolation(rng):
    X = np.linspace(0, 5, 8)[:, None]
    k, y = RBF(1.0), np.cos(X[:, 0])
    f = ks.linalg.minimum_norm_interpolant(k(X), y)
    assert f.feasible
    assert k(X) @ f.dual_coef == pytest.approx(y)
    assert f.norm == pytest.approx(np.sqrt(f.dual_coef @ k(X) @ f.dual_coef))
    B = rng.standard_normal((8, 3))
    low = ks.linalg.minimum_norm_interpolant(B @ B.T, np.column_stack([B[:, 0], y]))
    assert low.rank == 3
    assert not low.feasible
    assert low.distance[0] == pytest.approx(0, abs=1e-12)
    assert low.distance[1] == pytest.approx(np.linalg.norm(y - B @ np.linalg.lstsq(B, y, rcond=None)[0]))
    # The bound holds for functions of the space, and is reached.
    Z = np.linspace(0.3, 4.7, 20)[:, None]
    power = ks.linalg.power_function(k, X, Z)
    centres = rng.uniform(0, 5, (4, 1))
    weights = rng.standard_normal(4)
    norm = np.sqrt(weights @ k(centres) @ weights)
    true, data_at = k(Z, centres) @ weights, k(X, centres) @ weights
    s = ks.linalg.minimum_norm_interpolant(k(X), data_at)
    assert (np.abs(true - k(Z, X) @ s.dual_coef) <= power * np.sqrt(norm**2 - s.norm**2) + 1e-9).all()
    assert ks.linalg.power_function(k, X, X) == pytest.approx(np.zeros(8), abs=1e-6)
    assert (ks.linalg.power_function(k + WhiteKernel(0.1), X, Z) > power).all()
