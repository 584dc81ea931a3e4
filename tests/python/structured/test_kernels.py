"""Kernels of strings, bags, sets, graphs, trees and distributions: as kernels, and in estimators."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kernsel as ks
from kernsel import structured as st
from kernsel.kernels import RBF, ConstantKernel, Linear, Matern, Normalize, WhiteKernel
from kernsel.testing import check_kernel


@pytest.fixture
def strings(rng):
    return ["".join(rng.choice(list("ACGT"), rng.integers(6, 14))) for _ in range(24)]


@pytest.fixture
def bags(rng):
    return [rng.integers(0, 8, size=rng.integers(1, 9)).tolist() for _ in range(24)]


@pytest.fixture
def sets(rng):
    return [rng.normal(size=(rng.integers(1, 9), 2)) for _ in range(24)]


@pytest.fixture
def graphs(rng):
    def one():
        n = int(rng.integers(2, 9))
        edges = [(i, int(rng.integers(0, i))) for i in range(1, n)]
        return edges, "".join(rng.choice(list("CNO"), n))

    return [one() for _ in range(24)]


@pytest.fixture
def trees(rng):
    words = list("abc")
    return [("S", ("N", rng.choice(words)), ("V", rng.choice(words), ("N", rng.choice(words)))) for _ in range(24)]


@pytest.fixture
def clouds(rng):
    found = [rng.normal(m, 0.5 + 0.1 * m, size=(12, 2)) for m in range(12)]
    for m in range(12):
        weights = rng.uniform(0.5, 1.5, size=7)
        found.append((rng.normal(-m, 1.0, size=(7, 2)), weights / weights.sum()))
    return found


KERNELS = [
    ("strings", st.Spectrum(2)),
    ("strings", st.Spectrum(4, 1)),
    ("strings", st.Spectrum(3, 2, alphabet="ACGT")),
    ("strings", st.Subsequence(2, 0.7)),
    ("strings", st.Subsequence(4, 0.3, alphabet="ACGT")),
    ("strings", st.LocalAlignment(0.6, 1.5, 0.5)),
    ("strings", st.LocalAlignment(0.6, 0.0, 0.5, gap_extend_bounds="fixed")),
    ("bags", st.BagOfItems()),
    ("bags", st.BagOfItems("tanimoto")),
    ("bags", st.BagOfItems("jaccard")),
    ("bags", st.BagOfItems("product")),
    ("sets", st.SetKernel(RBF([0.7, 1.3]))),
    ("sets", st.SetKernel(2.0 * Matern(1.0, nu=1.5) + Linear(2.0, "fixed"), mean=True)),
    ("graphs", st.WeisfeilerLehman(2)),
    ("graphs", st.WeisfeilerLehman(3, "min-max")),
    ("graphs", st.ShortestPath("tanimoto")),
    ("graphs", st.RandomWalk(0.3, (0.1, 0.4))),
    ("trees", st.TreeKernel(0.4, (0.1, 0.9))),
    ("trees", st.TreeKernel(1.0, "fixed", "subtrees")),
    ("clouds", st.MeanEmbedding(RBF(1.5))),
    ("clouds", st.SlicedWasserstein(10)),
    ("clouds", st.LinearizedTransport()),
    ("clouds", st.LinearizedTransport(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]))),
]


@pytest.mark.parametrize(("objects", "kernel"), KERNELS, ids=lambda value: str(value)[:60])
def test_conformance(objects, kernel, request):
    points = request.getfixturevalue(objects)
    check_kernel(kernel, points)
    check_kernel(0.5 * (RBF(2.0) @ kernel) + kernel, points[:12])
    check_kernel(Normalize(kernel), points[:12])


@pytest.mark.parametrize(("objects", "kernel"), KERNELS, ids=lambda value: str(value)[:60])
def test_any_order_of_objects(objects, kernel, request, rng):
    points = request.getfixturevalue(objects)
    order = rng.permutation(len(points))
    if isinstance(kernel, st.LinearizedTransport) and isinstance(kernel.reference, str):
        kernel = st.LinearizedTransport(points[0])  # a barycenter is a local minimum, which depends on the order
    K = kernel(points)
    assert np.allclose(kernel([points[i] for i in order]), K[np.ix_(order, order)], rtol=1e-10, atol=1e-10 * np.abs(K).max())


@pytest.mark.parametrize(("objects", "kernel"), KERNELS, ids=lambda value: str(value)[:60])
def test_estimators(objects, kernel, request, rng):
    points = request.getfixturevalue(objects)
    K = kernel(points)
    y = K[:, ::5] @ rng.normal(size=K[:, ::5].shape[1])
    y = y / y.std()
    size = float(np.mean(np.diag(K)))
    scaled = ConstantKernel(1 / size, "fixed") * clone(kernel)
    model = ks.GaussianProcessRegressor(scaled, noise=1e-3, optimizer=None).fit(points[:20], y[:20])
    # The same of the matrix: what is learnt from the points is learnt from the first 20 of them.
    bound = model.kernel_
    S = bound(points[:20])
    expected = bound(points[20:], points[:20]) @ np.linalg.solve(S + 1e-3 * np.eye(20), y[:20])
    assert np.allclose(model.predict(points[20:]), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    fitted = ks.KernelRidge(RBF("auto") @ kernel, alpha="auto").fit(points, y)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(points[:5]), fitted.predict(points[:5]))
    assert np.mean((fitted.predict(points) - y) ** 2) < 0.9


def test_right_answers_for_the_least():
    assert np.array_equal(st.Spectrum(2)(["", "AC"]), [[0.0, 0.0], [0.0, 1.0]])
    assert np.array_equal(st.Subsequence(2)([""]), [[0.0]])
    assert np.array_equal(st.LocalAlignment()(["", ""]), np.ones((2, 2)))
    assert np.array_equal(st.BagOfItems()([[], []]), np.ones((2, 2)))
    assert np.array_equal(st.SetKernel(RBF())([np.zeros((0, 1)), [[1.0]]]), [[0.0, 0.0], [0.0, 1.0]])
    loop = st.WeisfeilerLehman(1)([([(0, 0)], "C"), ([], "C")])
    assert np.array_equal(loop, [[2.0, 1.0], [1.0, 2.0]])
    assert (RBF(1.0) @ st.Spectrum(2) + WhiteKernel(0.5))(["AA", "AA"])[0, 0] == 1.5
