"""Least squares against refits."""

import numpy as np
import pytest
from scipy import linalg

import kernsel as ks

N = 25


def data(outputs=1, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, n))[:, None]
    return X, np.sin(X) + 0.2 * rng.standard_normal((n, outputs)), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: ks.linalg.leverage([1.0]), "A: expected a matrix"),
        (lambda X, y: ks.linalg.loo_least_squares(X, y[:3]), "b: expected finite numbers, one row for each of 25"),
        (lambda X, y: ks.linalg.loo_least_squares(X, y, ridge=-1.0), "ridge: expected a finite number that is not negative"),
    ],
)
def test_bad_input(make, message):
    X, y, _ = data()
    with pytest.raises((TypeError, ValueError), match=message):
        make(X, y)


@pytest.mark.parametrize("shape", [(12, 4), (12, 12), (5, 12), (1, 3)])
@pytest.mark.parametrize("rank", ["full", "deficient"])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_least_squares_by_refitting(shape, rank, ridge, rng):
    A = rng.standard_normal(shape)
    if rank == "deficient" and shape[1] > 2:
        A[:, 2] = A[:, 0] - A[:, 1]
    b = rng.standard_normal((shape[0], 2))

    def fit(rows):
        if ridge:
            return np.linalg.solve(A[rows].T @ A[rows] + ridge * np.eye(shape[1]), A[rows].T @ b[rows])
        return linalg.lstsq(A[rows], b[rows], cond=1e-12)[0] if len(rows) else np.zeros((shape[1], 2))

    found = ks.linalg.loo_least_squares(A, b, ridge=ridge)
    everyone = np.arange(shape[0])
    for i in everyone:
        assert found.residuals[i] == pytest.approx(b[i] - A[i] @ fit(np.delete(everyone, i)), rel=1e-7, abs=1e-9)
    assert found.coef == pytest.approx(fit(everyone), rel=1e-7, abs=1e-9)
    assert found.press == pytest.approx(np.sum(found.residuals**2, axis=0))
    assert found.leverage == pytest.approx(ks.linalg.leverage(A, ridge=ridge), abs=1e-12)
    if not ridge:
        assert found.leverage.sum() == pytest.approx(found.rank)
    one = ks.linalg.loo_least_squares(A, b[:, 0], ridge=ridge)
    assert one.residuals == pytest.approx(found.residuals[:, 0])


def test_an_isolated_row(rng):
    A = np.zeros((6, 3))
    A[:5, :2] = rng.standard_normal((5, 2))
    A[5, 2] = 1.0
    b = rng.standard_normal(6)
    found = ks.linalg.loo_least_squares(A, b)
    assert found.leverage[5] == 1
    assert found.residuals[5] == pytest.approx(b[5])
