"""Kernel ridge regression of rows in collections of Dask: that of the same rows in memory."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.criteria import GroupsOut
from kernsel.kernels import RBF

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

ROWS = 600
SLACK = 1e4 * ROWS * np.finfo(float).eps  # rounding of sums in another order, times the condition of B


@pytest.fixture(autouse=True)
def in_this_process():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, (ROWS, 2))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(ROWS), rng.uniform(0.5, 2, ROWS)


def lazy(*arrays):
    return [da.from_array(array, chunks=(140, *array.shape[1:])) for array in arrays]


def test_a_given_alpha_gives_the_function_of_rows_in_memory(numbers):
    X, y, weights = numbers
    near = ks.Nystrom(X[:25].copy())
    for kind, more in (
        (ks.KernelRidge, {"alpha": 0.3, "fit_intercept": True}),
        (ks.KernelRidgeCV, {"alphas": [0.3], "fit_intercept": True}),
    ):
        local = kind(RBF(0.7), approximation=near, **more).fit(X, y, sample_weight=weights)
        found = kind(RBF(0.7), approximation=near, **more)
        found.fit(*lazy(X, y), sample_weight=lazy(weights)[0])
        np.testing.assert_allclose(found.predict(X), local.predict(X), rtol=0, atol=SLACK)
        assert found.intercept_ == pytest.approx(local.intercept_, abs=SLACK)
        np.testing.assert_array_equal(found.predict(lazy(X)[0]).compute(), found.predict(X))


def test_alpha_and_kernel_are_chosen_by_some_rows_or_by_all(numbers):
    X, y, _ = numbers
    for rows in (200, None):
        model = ks.KernelRidge("RBF", approximation=ks.Nystrom(25, search_rows=rows)).fit(*lazy(X, y))
        assert np.mean((model.predict(X) - np.sin(3 * X[:, 0]) - X[:, 1]) ** 2) < 0.02
        assert ("all of them" if rows is None else "200 of them") in model.approximation_


def test_several_targets(numbers):
    X, y, _ = numbers
    Y = np.column_stack([y, -2 * y])
    near = ks.Nystrom(X[:25].copy())
    for model in (ks.KernelRidge(RBF(0.7), alpha=0.3, approximation=near), ks.KernelRidgeCV(RBF(0.7), approximation=near)):
        model.fit(*lazy(X, Y))
        found = model.predict(lazy(X)[0]).compute()
        np.testing.assert_allclose(found[:, 1], -2 * found[:, 0], rtol=0, atol=SLACK)


def test_refuses_what_rows_elsewhere_cannot(numbers):
    X, y, _ = numbers
    for what, model in (
        ("alpha_scale: expected", ks.KernelRidge(RBF(0.7), alpha_scale="n")),
        ("approximation: expected", ks.KernelRidge(RBF(0.7), approximation=None)),
    ):
        with pytest.raises(ValueError, match=what):
            model.fit(*lazy(X, y))
    some = ks.KernelRidge("RBF", criterion=GroupsOut(np.arange(ROWS) % 3), approximation=ks.Nystrom(10, search_rows=50))
    with pytest.raises(ValueError, match="folds: labels are of all 600 rows, of which 50 are drawn"):
        some.fit(*lazy(X, y))


def test_neighbours_are_those_of_rows_in_memory(numbers):
    X, y, weights = numbers
    more = {"alpha": 0.3, "approximation": ks.Vecchia(8, 20)}
    local = ks.KernelRidge(RBF(0.7), **more).fit(X, y, sample_weight=weights)
    found = ks.KernelRidge(RBF(0.7), **more).fit(*lazy(X, y), sample_weight=lazy(weights)[0])
    np.testing.assert_array_equal(found.predict(lazy(X)[0]).compute(), local.predict(X))
