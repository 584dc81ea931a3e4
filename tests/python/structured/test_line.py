"""Transport on a line, by quantiles."""

import itertools

import numpy as np
import pytest

from kernsel.structured import Cloud, TransportEmbedding, wasserstein_distance
from kernsel.structured.line import quantile_edges

from reference import transport_plan


def random_weights(rng, n):
    w = rng.uniform(0.1, 1.0, n)
    return w / w.sum()


def test_on_a_line_distances_of_rows_are_exact(rng):
    sizes = [5, 7, 10, 10, 6]
    clouds = [Cloud(rng.standard_normal((n, 1)), random_weights(rng, n) if n == 10 else None) for n in sizes]
    embedding = TransportEmbedding()
    rows = embedding.fit_transform(clouds)
    for i, j in itertools.combinations(range(len(sizes)), 2):
        x, y = clouds[i].points, clouds[j].points
        exact = np.sqrt(np.vdot(transport_plan(clouds[i].weights, clouds[j].weights, x, y), (x - y.T) ** 2))
        assert np.linalg.norm(rows[i] - rows[j]) == pytest.approx(exact, rel=1e-7)
        assert wasserstein_distance(clouds[i], clouds[j]) == pytest.approx(exact, rel=1e-7)
    # The barycenter's quantile function is the mean: rows of the training clouds sum to zero.
    assert rows.sum(axis=0) == pytest.approx(np.zeros(rows.shape[1]), abs=1e-10)
    assert embedding.n_iter_ == 0
    assert len(embedding.reference_) == rows.shape[1]


def test_many_jumps_on_a_line_become_cells(rng):
    clouds = [Cloud(rng.standard_normal((60, 1)), random_weights(rng, 60)) for _ in range(80)]
    assert len(quantile_edges(clouds, 4096)) == 4097
    rows = TransportEmbedding().fit_transform(clouds)
    assert rows.shape == (80, 4096)
    exact = wasserstein_distance(clouds[0], clouds[1])
    # A mean over cells shortens, and the 118 cells with a jump by at most the range each.
    assert np.linalg.norm(rows[0] - rows[1]) <= exact * (1 + 1e-12)
    assert np.linalg.norm(rows[0] - rows[1]) ** 2 >= exact**2 - 118 / 4096 * max(np.ptp(c.points) for c in clouds) ** 2
    assert TransportEmbedding(size=30).fit_transform(clouds).shape == (80, 30)


@pytest.fixture
def clouds(rng):
    found = [rng.normal(m, 0.5 + 0.1 * m, size=(12, 2)) for m in range(12)]
    for m in range(12):
        weights = rng.uniform(0.5, 1.5, size=7)
        found.append((rng.normal(-m, 1.0, size=(7, 2)), weights / weights.sum()))
    return found
