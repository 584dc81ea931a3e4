"""Sums of a kernel over all pairs of points, in blocks of any size, against those of the whole matrix."""

from itertools import pairwise

import numpy as np
import pytest

from kernsel.kernels import RBF, Linear, Matern
from kernsel.structured import pair_sums as module
from kernsel.structured.pair_sums import WeightedPoints, pair_sums, pair_sums_pullback, self_sums

EPS = np.finfo(float).eps
KERNELS = [RBF(0.7), 1.5 * Matern([0.8, 2.0], nu=1.5, length_scale_bounds="fixed") + Linear(0.5)]


def random_sets(rng, n, least=0):
    sets = [rng.standard_normal((rng.integers(least, 9), 2)) for _ in range(n)]
    return sets, [rng.uniform(0.1, 1.0, len(points)) for points in sets]


def summed(kernel, X, a, Z, b):
    """Return the sums from the matrix of all points."""
    K = kernel(np.vstack(X), np.vstack(Z)) * np.outer(np.concatenate(a), np.concatenate(b))
    rows, columns = (np.cumsum([0, *map(len, sets)]) for sets in (X, Z))
    return np.array([[K[i:j, k:m].sum() for k, m in pairwise(columns)] for i, j in pairwise(rows)])


@pytest.fixture(params=[1, 5, 1024], autouse=True)
def block(request, monkeypatch):
    """Compare so many points at a time."""
    monkeypatch.setattr(module, "_BLOCK", request.param)
    monkeypatch.setattr(module, "_SMALL_SETS", request.param)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_by_definition(kernel, rng):
    (X, a), (Z, b) = random_sets(rng, 12), random_sets(rng, 7)
    A, B = WeightedPoints.joined(X, a), WeightedPoints.joined(Z, b)
    expected = summed(kernel, X, a, X, a)
    limit = 64 * 64 * EPS * np.abs(expected).max()
    K = pair_sums(kernel, A, None)
    assert np.array_equal(K, K.T)
    assert np.abs(K - expected).max() <= limit
    assert np.abs(self_sums(kernel, A) - np.diag(expected)).max() <= limit
    assert np.abs(pair_sums(kernel, A, B) - summed(kernel, X, a, Z, b)).max() <= limit


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_gradients(kernel, rng):
    (X, a), (Z, b) = random_sets(rng, 6), random_sets(rng, 5)
    A, B = WeightedPoints.joined(X, a), WeightedPoints.joined(Z, b)
    W = rng.standard_normal((6, 5))
    own = pair_sums_pullback(kernel, A, B, W)
    free = np.repeat([not h.fixed for h, _ in kernel.own()], [h.n_elements for h, _ in kernel.own()])
    assert len(own) == len(free)
    theta, step = kernel.theta, 2.0**-11
    for p, derivative in enumerate(own[free]):

        def along(h, p=p):
            return np.vdot(W, pair_sums(kernel.clone_with_theta(theta + h * np.eye(len(theta))[p]), A, B))

        narrow, wide = (along(step) - along(-step)) / (2 * step), (along(2 * step) - along(-2 * step)) / (4 * step)
        assert abs(derivative - (4 * narrow - wide) / 3) <= abs(narrow - wide) + 1e4 * EPS * np.linalg.norm(W) / step


def test_empty_sets(rng):
    nothing = WeightedPoints.joined([np.zeros((0, 2))] * 2, [np.zeros(0)] * 2)
    X, a = random_sets(rng, 3, least=1)
    some = WeightedPoints.joined([X[0], np.zeros((0, 2)), X[2]], [a[0], np.zeros(0), a[2]])
    kernel = RBF(1.0)
    assert np.array_equal(pair_sums(kernel, nothing, None), np.zeros((2, 2)))
    assert np.array_equal(self_sums(kernel, nothing), np.zeros(2))
    assert np.array_equal(pair_sums_pullback(kernel, nothing, some, np.ones((2, 3))), [0.0])
    K = pair_sums(kernel, some, None)
    assert not K[1].any()
    assert not K[:, 1].any()
    assert K[0, 0] > 0
