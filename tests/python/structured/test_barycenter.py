"""Barycenters of distributions."""

import numpy as np
import pytest

from kernsel.structured import Cloud, TransportEmbedding, barycenter, wasserstein_distance


def random_weights(rng, n):
    w = rng.uniform(0.1, 1.0, n)
    return w / w.sum()


@pytest.mark.parametrize("size", ["auto", 30])
def test_barycenters_of_images_by_commuting_maps(size, rng):
    """The barycenter of x A_k + b_k is x mean(A_k) + mean(b_k)."""
    x = rng.standard_normal((30, 2))
    A, b = rng.uniform(0.3, 3.0, (7, 2)), rng.standard_normal((7, 2))
    clouds = [(x * A[k] + b[k])[rng.permutation(30)] for k in range(7)]
    center = barycenter(clouds, size)
    expected = x * A.mean(axis=0) + b.mean(axis=0)
    order, its = np.lexsort(expected.T), np.lexsort(center.points.T)
    assert center.points[its] == pytest.approx(expected[order], abs=1e-12)
    embedding = TransportEmbedding(size=size)
    rows = embedding.fit_transform(clouds)
    assert embedding.n_iter_ <= 2
    assert rows.sum(axis=0) == pytest.approx(np.zeros(60), abs=1e-12)
    exact = np.sqrt(np.mean(np.sum((x * A[0] + b[0] - x * A[1] - b[1]) ** 2, axis=1)))
    assert np.linalg.norm(rows[0] - rows[1]) == pytest.approx(exact, rel=1e-12)


def test_barycenters_come_down(rng):
    clouds = [Cloud(rng.standard_normal((int(n), 2)) + rng.standard_normal(2)) for n in rng.integers(10, 20, 6)]

    def mean_square(center):
        return np.mean([wasserstein_distance(center, cloud) ** 2 for cloud in clouds])

    values = [mean_square(barycenter(clouds, 12, max_iter=k, tol=0.0)) for k in range(5)]
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < values[0]
    with_one = barycenter([clouds[0]], max_iter=3)
    assert wasserstein_distance(with_one, clouds[0]) < 1e-12


def test_sizes_of_barycenters(rng):
    def size(*sizes):
        return len(barycenter([rng.standard_normal((n, 2)) for n in sizes], max_iter=1))

    assert size(9, 9, 4, 5) == 9  # half of them
    assert size(3, 9, 10, 11) == 9  # the median: 9.5, cut
    assert size(2, 30, 31, 3, 29) == 29
    weighted = [(rng.standard_normal((n, 2)), random_weights(rng, n)) for n in (5, 6, 7)]
    assert len(barycenter(weighted, max_iter=1)) == 6
    more = barycenter([rng.standard_normal((4, 2)), rng.standard_normal((5, 2))], 20)  # than all points together
    assert len(more) == 20
    assert np.isfinite(more.points).all()


@pytest.fixture
def clouds(rng):
    found = [rng.normal(m, 0.5 + 0.1 * m, size=(12, 2)) for m in range(12)]
    for m in range(12):
        weights = rng.uniform(0.5, 1.5, size=7)
        found.append((rng.normal(-m, 1.0, size=(7, 2)), weights / weights.sum()))
    return found
