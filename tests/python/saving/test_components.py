"""Kernel principal components on disk."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.saving.container import read_container, write_container

from same import assert_same


@pytest.mark.parametrize("kernel", ["auto", "poly", "precomputed"])
def test_round_trip(kernel, again, rng):
    X, Z = rng.standard_normal((20, 2)), rng.standard_normal((5, 2))
    points, others = (RBF(1.0)(X), RBF(1.0)(Z, X)) if kernel == "precomputed" else (X, Z)
    model = ks.KernelPCA(kernel, n_components=3, fit_inverse_transform=kernel != "precomputed").fit(points)
    loaded = again(again(model))
    assert_same(model.transform(others), loaded.transform(others), "transform")
    for name in ("eigenvalues_", "eigenvectors_", "explained_variance_ratio_", "X_fit_", "kernel_"):
        assert_same(getattr(model, name), getattr(loaded, name), name)
    if kernel == "precomputed":
        assert not hasattr(loaded, "dual_coef_")
    else:
        T = model.transform(others)
        assert_same(model.inverse_transform(T), loaded.inverse_transform(T), "inverse_transform")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("eigenvalues_", np.array([1.0, 2.0]), "eigenvalues_: expected numbers in descending order"),
        ("eigenvalues_", np.array([1.0, -2.0]), "eigenvalues_: expected numbers from 0 on"),
        ("eigenvectors_", np.ones((3, 2)), "eigenvectors_: expected an array of shape"),
        ("means", np.full(9, np.nan), "means: expected finite numbers"),
        ("map_back.coordinates", np.ones((9, 3)), "map_back.coordinates: expected an array of shape"),
    ],
)
def test_damaged_files(name, value, message, rng, tmp_path):
    ks.save(ks.KernelPCA(n_components=2, fit_inverse_transform=True).fit(rng.standard_normal((9, 2))), tmp_path / "a.ksl")
    container = read_container(tmp_path / "a.ksl")
    arrays = {key: container.array(key) for key in container.tensors}
    write_container(tmp_path / "b.ksl", arrays | {name: value}, container.metadata)
    with pytest.raises(ValueError, match=message):
        ks.load(tmp_path / "b.ksl")
