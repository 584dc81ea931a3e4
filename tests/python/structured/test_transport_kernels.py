"""Kernels of distributions by optimal transport."""

from itertools import product

import numpy as np
import pytest

import kernsel as ks
from kernsel import structured as st
from kernsel.kernels import RBF, Matern


@pytest.fixture
def clouds(rng):
    found = [rng.normal(m, 0.5 + 0.1 * m, size=(12, 2)) for m in range(12)]
    for m in range(12):
        weights = rng.uniform(0.5, 1.5, size=7)
        found.append((rng.normal(-m, 1.0, size=(7, 2)), weights / weights.sum()))
    return found


def test_embeddings_are_those_of_the_transformers(clouds):
    for kernel, transformer in (
        (st.LinearizedTransport(), st.TransportEmbedding()),
        (st.SlicedWasserstein(7), st.SlicedWassersteinEmbedding(7)),
    ):
        rows = transformer.fit(clouds).transform(clouds)
        assert np.allclose(kernel(clouds), rows @ rows.T, rtol=1e-9, atol=1e-9 * np.square(rows).sum(axis=1).max())
        assert np.allclose((RBF(2.0) @ kernel)(clouds), RBF(2.0)(rows), rtol=1e-9)
        assert np.allclose((Matern(np.full(rows.shape[1], 3.0), nu=1.5) @ kernel)(clouds), Matern(3.0, nu=1.5)(rows), rtol=1e-9)


def test_references_are_told_apart(clouds, rng):
    references = [st.Cloud(rng.normal(size=(12, 2)) + shift) for shift in (0.0, 5.0)]  # they look the same when printed
    first, second = (st.LinearizedTransport(reference) for reference in references)
    assert np.allclose((first + second)(clouds), first(clouds) + second(clouds), rtol=1e-12)
    given = [(cloud.points, np.full(12, 1 / 12)) for cloud in references]
    chosen = ks.select(clouds, rng.normal(size=len(clouds)), [RBF(1.0) @ st.LinearizedTransport(one) for one in given])
    assert [one.problem for one in chosen.tried] == ["", ""]
    assert chosen.tried[0].value != chosen.tried[1].value


def test_gaussians():
    gaussians = [st.Gaussian([m], [[s**2]]) for m, s in product((-1.0, 0.0, 2.0), (0.5, 1.0, 3.0))]
    K = (RBF(1.0) @ st.LinearizedTransport(st.Gaussian([0.0], [[1.0]])))(gaussians)
    # In one dimension the 2-Wasserstein distance is that of (mean, deviation).
    points = np.array(list(product((-1.0, 0.0, 2.0), (0.5, 1.0, 3.0))))
    assert np.allclose(K, RBF(1.0)(points), rtol=1e-10)
    with pytest.raises((ValueError, TypeError), match=r"X\[1\]"):
        st.LinearizedTransport()([gaussians[0], np.zeros((3, 1))])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: st.LinearizedTransport()([np.zeros((2, 1)), np.zeros((2, 2))]), ValueError, r"X\[1\]"),
        (lambda: st.LinearizedTransport("centre")([np.zeros((2, 1))]), ValueError, "reference"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
