"""Kernels of points that are not vectors, on an example that is slow and obvious."""

import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, DotProduct, Normalize, Warp
from kernsel.structured import Mixed
from kernsel.testing import check_kernel

from letters import Letters, features

EPS = np.finfo(float).eps


@pytest.fixture
def strings(rng):
    return ["".join(rng.choice(list("ACGT"), rng.integers(5, 25))) for _ in range(150)]


@pytest.fixture
def y(strings, rng):
    return np.array([s.count("A") + 0.3 * s.count("C") ** 1.5 for s in strings]) + 0.1 * rng.normal(size=len(strings))


@pytest.fixture(params=["list", "tuple", "array", "objects", "series"])
def container(request, strings):
    return {
        "list": list,
        "tuple": tuple,
        "array": np.array,
        "objects": lambda s: np.array(s, dtype=object),
        "series": lambda s: pd.Series(s, index=np.arange(len(s)) + 7),
    }[request.param](strings)


def test_matrices(strings, container):
    F = features(strings)
    k = Letters()
    assert np.array_equal(k(container), F @ F.T) or np.allclose(k(container), F @ F.T, rtol=10 * EPS)
    assert np.allclose(k(container[:3], strings[5:]), F[:3] @ F[5:].T, rtol=10 * EPS)
    assert np.array_equal(k.diag(container), np.diag(k(container)))
    assert np.array_equal(ks.gram(k, container), k(container))
    V = np.linspace(-1, 1, len(strings))
    assert np.allclose(k.matmul(container, strings, V), F @ (F.T @ V))


@pytest.mark.parametrize(
    "kernel",
    [
        Letters(),
        2.0 * RBF(3.0) @ Letters(2, 0.3) + 0.1,
        Normalize(Letters()) * Letters(1),
        DotProduct(1.0) @ Letters(3) + RBF(0.5) @ Normalize(Letters()),
    ],
)
def test_conformance(kernel, strings):
    check_kernel(kernel, strings[:40])


def test_what_is_auto_is_set_from_objects(strings, y):
    kernel = (RBF("auto") @ Letters()).for_data(strings, y)
    rows = features(strings)
    assert np.isclose(kernel.outer.length_scale, np.sqrt(rows.var(axis=0).sum()), rtol=1e-6)
    X = np.arange(300.0).reshape(150, 2)
    warped = Warp(RBF("auto"), lambda X: X[:, 0]).on(["X"]).for_data(Mixed(X=X, s=strings))
    assert np.allclose(warped(Mixed(X=X, s=strings)), Warp(RBF("auto"), lambda X: X[:, 0]).for_data(X)(X))


def test_tables_are_made_once_where_only_outer_parameters_change(strings, y):
    Letters.tables = 0
    fixed = Letters(4, 0.5, "fixed")
    model = ks.GaussianProcessRegressor(2.0 * RBF("auto") @ fixed, noise="auto").fit(strings[:100], y[:100])
    assert model.n_evaluations_ > 10
    assert Letters.tables == 1
    model.predict(strings[100:], return_std=True)
    assert Letters.tables == 2  # of new points against those of fit
    Letters.tables = 0
    ks.select(strings, y, [RBF("auto") @ fixed, fixed, Letters([2, 4], 0.5, "fixed")])
    assert Letters.tables == 2  # of length 4 and 2


def test_predictions_take_no_derivatives(strings, y, monkeypatch):
    model = ks.GaussianProcessRegressor(2.0 * Letters(), noise=0.1).fit(strings[:100], y[:100])
    asked, table = [], Letters._table
    monkeypatch.setattr(
        Letters, "_table", lambda self, X, Z, derivative: asked.append(derivative) or table(self, X, Z, derivative)
    )
    model.predict(strings[100:], return_std=True)
    assert asked == [False]
    W = np.ones((3, 100))
    slope = model.kernel_.pullback(strings[:3], W, strings[:100])[1]
    assert np.isclose(slope, ((model.kernel_(strings[:3], strings[:100]) - model.kernel_.k1.constant_value) * W).sum())


def test_tables_of_several_terms_are_kept_side_by_side(strings, y):
    Letters.tables = 0
    fixed = [Letters(4, decay, "fixed") for decay in (0.1, 0.2, 0.4)]
    kernel = ConstantKernel("auto") * fixed[0] + ConstantKernel("auto") * fixed[1] + RBF("auto") @ fixed[2]
    model = ks.GaussianProcessRegressor(kernel, noise="auto").fit(strings[:100], y[:100])
    assert model.n_evaluations_ > 10
    assert Letters.tables == 3
    K = model.kernel_(strings[:100])
    parts = [constant * one for constant, one in zip((model.kernel_.k1.k1.k1, model.kernel_.k1.k2.k1), fixed, strict=False)]
    parts.append(clone(model.kernel_.k2))
    assert np.allclose(K, sum(part(strings[:100]) for part in parts), rtol=1e-12)


def test_threads(strings, y):
    model = ks.GaussianProcessRegressor(RBF(3.0) @ Letters(), noise=0.1).fit(strings, y)
    expected = [model.predict(strings[i:]) for i in range(8)]
    wrong = []

    def work():
        for i in range(8):
            if not np.array_equal(model.predict(strings[i:]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
