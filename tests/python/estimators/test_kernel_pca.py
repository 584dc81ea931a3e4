"""KernelPCA: against scikit-learn and against NumPy, at training points and others."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import decomposition
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.kernels import RBF, Matern

EPS = np.finfo(float).eps


@parametrize_with_checks([ks.KernelPCA(), ks.KernelPCA("linear", n_components=1, fit_inverse_transform=True)])
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
@pytest.mark.parametrize("count", [3, None])
def test_against_scikit_learn(rng, kernel, count):
    X, Z = rng.standard_normal((40, 4)), rng.standard_normal((11, 4))
    options = {"kernel": kernel, "gamma": 0.1, "degree": 2, "fit_inverse_transform": kernel != "cosine"}
    ours, theirs = ks.KernelPCA(n_components=count, **options), decomposition.KernelPCA(count, **options)
    T, expected = ours.fit_transform(X), theirs.fit_transform(X)
    T, expected = T[:, :3], expected[:, :3]  # beyond, eigenvalues that are rounding count for some and not for others
    size = np.sqrt(theirs.eigenvalues_[0])
    limit = 100 * len(X) * EPS * size * theirs.eigenvalues_[0] / np.min(np.abs(np.diff(theirs.eigenvalues_[:4])))
    assert ours.eigenvalues_[:3] == pytest.approx(theirs.eigenvalues_[:3], rel=1e-12)
    assert expected == pytest.approx(T, abs=limit)
    assert theirs.transform(Z)[:, :3] == pytest.approx(ours.transform(Z)[:, :3], abs=limit)
    if kernel != "cosine" and count == 3:
        assert ours.inverse_transform(T) == pytest.approx(theirs.inverse_transform(expected), abs=1e-9)


def test_the_definition(rng):
    X, Z = rng.standard_normal((25, 3)), rng.standard_normal((7, 3))
    kernel = Matern(1.5, nu=1.5)
    model = ks.KernelPCA(kernel).fit(X)
    n, K = 25, kernel(X)
    H = np.eye(n) - 1 / n
    V, values = model.eigenvectors_, model.eigenvalues_
    assert len(values) == n - 1  # the centred matrix has one zero eigenvalue
    np.testing.assert_allclose(H @ K @ H @ V, V * values, rtol=0, atol=1e-13 * n)
    np.testing.assert_allclose(V.T @ V, np.eye(n - 1), rtol=0, atol=1e-13 * n)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0)
    # Coordinates keep distances: |phi(x) - phi(z)|^2 = k(x, x) + k(z, z) - 2 k(x, z), for training points.
    T = model.transform(X)
    distances = ((T[:, None] - T) ** 2).sum(axis=2)
    assert distances == pytest.approx(np.diag(K)[:, None] + np.diag(K) - 2 * K, abs=1e-12)
    k = kernel(Z, X)
    centred = k - k.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    assert model.transform(Z) == pytest.approx(centred @ V / np.sqrt(values), abs=1e-12)
    assert (V[np.abs(V).argmax(axis=0), np.arange(n - 1)] > 0).all()


def test_a_matrix_sparse_points_frames_and_copies(rng):
    X, Z = rng.standard_normal((30, 2)), rng.standard_normal((5, 2))
    plain = ks.KernelPCA(RBF(1.0), n_components=4).fit(X)
    matrix = ks.KernelPCA("precomputed", n_components=4).fit(RBF(1.0)(X))
    assert matrix.transform(RBF(1.0)(Z, X)) == pytest.approx(plain.transform(Z), abs=1e-12)
    flat = ks.KernelPCA(RBF(1.0), n_components=4).fit(sparse.csr_matrix(X))
    assert np.array_equal(flat.transform(sparse.csr_matrix(Z)), plain.transform(Z))
    frame = pd.DataFrame(X, columns=["a", "b"])
    named = ks.KernelPCA(RBF(1.0), n_components=2).set_output(transform="pandas")
    assert list(named.fit_transform(frame).columns) == ["kernelpca0", "kernelpca1"]
    assert np.array_equal(pickle.loads(pickle.dumps(plain)).transform(Z), plain.transform(Z))
    words = ["aab", "abb", "bbb", "aaa", "bab"]
    assert ks.KernelPCA(ks.structured.Spectrum(1), n_components=1).fit(words).transform(words).shape == (5, 1)
    with pytest.raises(ValueError, match="fit_inverse_transform: expected False for points that are objects"):
        ks.KernelPCA(ks.structured.Spectrum(1), fit_inverse_transform=True).fit(words)


def test_the_map_back(rng):
    # Of points on a circle, coordinates of the leading components tell where they are.
    angle = rng.uniform(0, 2 * np.pi, 60)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    model = ks.KernelPCA(n_components=4, fit_inverse_transform=True, alpha=1e-3).fit(X[:50])
    assert model.inverse_transform(model.transform(X[50:])) == pytest.approx(X[50:], abs=0.1)
    with pytest.raises(ValueError, match="T: expected 4 columns, one for each component, got 2"):
        model.inverse_transform(X)
    with pytest.raises(ValueError, match="fit_inverse_transform: expected True in the fit, got False"):
        ks.KernelPCA().fit(X).inverse_transform(X)


def test_points_without_variance():
    model = ks.KernelPCA(RBF(1.0)).fit(np.ones((5, 2)))
    assert model.transform(np.ones((3, 2))).shape == (3, 0)
    kept = ks.KernelPCA(RBF(1.0), n_components=2).fit(np.ones((5, 2)))
    assert (kept.transform(np.zeros((3, 2))) == 0.0).all()
    assert ks.KernelPCA(RBF(1.0), n_components=2, remove_zero_eig=True).fit(np.ones((5, 2))).eigenvalues_.size == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_components": 0}, "n_components: expected a whole number from 1 on, or None for all, got 0"),
        ({"n_components": 1.5}, "n_components: expected a whole number"),
        ({"alpha": 0.0}, "alpha: expected a positive number, got 0.0"),
        ({"fit_inverse_transform": 1}, "fit_inverse_transform: expected True or False, got 1"),
        (
            {"kernel": "precomputed", "fit_inverse_transform": True},
            'fit_inverse_transform: expected False with kernel="precomp',
        ),
        ({"kernel": "precomputed"}, "X: expected a square kernel matrix"),
        ({"kernel": RBF([1.0, 2.0]), "fit_inverse_transform": True, "n_components": 3}, "the map back evaluates the kernel at"),
        ({"kernel": "sigmoid", "gamma": 5.0, "coef0": -3.0}, "is not positive semidefinite: its centred"),
    ],
)
def test_wrong_parameters(rng, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ks.KernelPCA(**change).fit(rng.standard_normal((9, 2)))
