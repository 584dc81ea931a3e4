"""Optimal transport between normal distributions: closed forms."""

import itertools

import numpy as np
import pytest
from scipy import linalg

from kernsel.structured import Gaussian, TransportEmbedding, wasserstein_distance


def positive(rng, d):
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return (Q * rng.uniform(0.2, 3.0, d)) @ Q.T


def commuting(rng, d, count):
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return [Gaussian(rng.standard_normal(d), (Q * rng.uniform(0.1, 4.0, d)) @ Q.T) for _ in range(count)]


@pytest.mark.parametrize("d", [1, 2, 4])
def test_gaussians_whose_covariances_commute(d, rng):
    found = commuting(rng, d, 5)
    embedding = TransportEmbedding()
    rows = embedding.fit_transform(found)
    assert rows.shape == (5, d + d * d)
    for i, j in itertools.combinations(range(5), 2):
        S, R = (linalg.sqrtm(found[k].covariance).real for k in (i, j))
        exact = np.sqrt(np.sum((found[i].mean - found[j].mean) ** 2) + np.sum((S - R) ** 2))
        assert np.linalg.norm(rows[i] - rows[j]) == pytest.approx(exact, rel=1e-10)
        assert wasserstein_distance(found[i], found[j]) == pytest.approx(exact, rel=1e-10)
    mean_root = np.mean([linalg.sqrtm(g.covariance).real for g in found], axis=0)
    assert embedding.reference_.covariance == pytest.approx(mean_root @ mean_root, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("d", [2, 3])
def test_gaussians(d, rng):
    found = [Gaussian(rng.standard_normal(d), positive(rng, d)) for _ in range(6)]
    embedding = TransportEmbedding().fit(found)
    rho, rows = embedding.reference_, embedding.transform(found)
    for g, row in zip(found, rows, strict=True):
        slope = linalg.sqrtm(rho.covariance).real - row[d:].reshape(d, d)
        A = slope @ np.linalg.inv(linalg.sqrtm(rho.covariance).real)
        # The optimal map is the one that is symmetric, positive definite, and brings one covariance to the other.
        assert pytest.approx(A.T, abs=1e-10) == A
        assert np.linalg.eigvalsh((A + A.T) / 2)[0] > 0
        assert A @ rho.covariance @ A.T == pytest.approx(g.covariance, abs=1e-10)
        S, R = rho.covariance, g.covariance
        trace = np.trace(S + R - 2 * linalg.sqrtm(linalg.sqrtm(S) @ R @ linalg.sqrtm(S)).real)
        assert np.sum(row**2) == pytest.approx(np.sum((rho.mean - g.mean) ** 2) + trace, rel=1e-9)
        assert np.linalg.norm(row) == pytest.approx(wasserstein_distance(rho, g), rel=1e-10)
    assert rows.sum(axis=0) == pytest.approx(np.zeros(d + d * d), abs=1e-10)  # of the barycenter
    for g, back in zip(found, embedding.inverse_transform(rows), strict=True):
        assert back.mean == pytest.approx(g.mean, abs=1e-12)
        assert back.covariance == pytest.approx(g.covariance, abs=1e-10)
    flat = Gaussian(np.zeros(d), np.diag(np.arange(d)))
    assert np.isfinite(embedding.transform([flat])).all()
    with pytest.raises(ValueError, match="reference: expected a covariance that is positive definite"):
        TransportEmbedding(flat).fit(found)
