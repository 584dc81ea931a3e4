"""Points that are not vectors: lists and mixes of them, and what is kept of them."""

import gc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kernsel as ks
from kernsel.kernels import RBF, Transform, Warp
from kernsel.structured import Mixed
from kernsel.testing import check_kernel

from letters import Letters

EPS = np.finfo(float).eps


@pytest.fixture
def strings(rng):
    return ["".join(rng.choice(list("ACGT"), rng.integers(5, 25))) for _ in range(150)]


@pytest.fixture
def y(strings, rng):
    return np.array([s.count("A") + 0.3 * s.count("C") ** 1.5 for s in strings]) + 0.1 * rng.normal(size=len(strings))


def test_a_mix_is_the_sum_of_its_parts(strings, rng):
    X = rng.normal(size=(150, 2))
    numbers, letters = RBF([1.0, 2.0]), RBF(2.0) @ Letters()
    kernel = numbers.on(["X"]) + 0.5 * letters.on(["s"])
    points = Mixed(X=X, s=strings)
    assert np.allclose(kernel(points), numbers(X) + 0.5 * letters(strings), rtol=10 * EPS)
    assert np.array_equal(kernel(points, points[::3]), kernel(points)[:, ::3])
    check_kernel(kernel, points[:30])
    columns = {"X": X[:, 0], "s": strings, "z": X[:, 1]}
    named = numbers.on(["X", "z"]) + 0.5 * letters.on(["s"])
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert np.array_equal(named(table), kernel(points))
        assert np.array_equal(named(table, table[:7]), kernel(points)[:, :7])
        assert np.array_equal(
            numbers.on(["X", "z"])(table.select(["z", "X"]) if hasattr(table, "select") else table[["z", "X"]]), numbers(X)
        )


def test_mixed_is_indexed_as_arrays_are(strings, rng):
    points = Mixed(X=rng.normal(size=150), s=strings)
    assert points.shape == (150, 2)
    assert len(points) == 150
    for rows in ([3, 1], slice(2, 9), np.arange(150) % 7 == 0, np.array([], dtype=int), (np.array([5, 4]), ...), 3):
        index = np.atleast_1d(np.arange(150)[rows[0] if isinstance(rows, tuple) else rows])
        assert points[rows].parts["s"] == [strings[i] for i in index]
        assert np.array_equal(points[rows].parts["X"], points.parts["X"][index])
    assert repr(points) == "<Mixed: 150 points of X: 1 columns, s: objects>"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Mixed(), ValueError, "at least one part"),
        (lambda: Mixed(a=[1.0], b=["x", "y"]), ValueError, "a has 1, b has 2"),
        (lambda: Mixed(a="text"), TypeError, "a: expected an array or a sequence of objects, got 'text'"),
        (lambda: Mixed(a=3), TypeError, "got 3"),
        (lambda: Letters()("ACGT"), TypeError, "X: expected a list of objects"),
        (lambda: Letters()(pl.LazyFrame({"s": ["A"]})), TypeError, "a data frame that is not lazy"),
        (lambda: Letters()(pd.DataFrame([["A", "C"]], columns=["s", "s"])), ValueError, "X: Expected unique column names"),
        (lambda: Letters()({"AC", "GT"}), TypeError, "X: expected a list of objects"),
        (lambda: Letters()({"AC": 1}), TypeError, "X: expected a list of objects"),
        (lambda: Mixed(a={"x"}), TypeError, "a: expected an array or a sequence of objects"),
        (lambda: Letters()([]), ValueError, "X: expected at least one object"),
        (lambda: Letters()([3.0]), TypeError, "X: expected strings, got 3.0"),
        (lambda: Letters()(Mixed(X=[1.0], s=["A"])), ValueError, r"say which: .on\(\['s'\]\)"),
        (lambda: np.asarray(Mixed(X=[1.0])), TypeError, "expected an array, got <Mixed: 1 points of X: 1 columns>"),
        (lambda: RBF()(Mixed(X=[1.0], s=["A"])), ValueError, "is one of numbers, and the points are objects"),
        (
            lambda: ks.KernelRidge().fit(Mixed(X=[1.0], s=["A"]), [1.0]),
            ValueError,
            r"RBF\('auto'\) is one of numbers, and the points are objects; give it columns",
        ),
        (
            lambda: ks.KernelRidge(RBF()).fit(Mixed(X=[1.0]), [1.0]),
            TypeError,
            "expected one that names the parts of X, such as",
        ),
        (lambda: ks.select(Mixed(X=[1.0], s=["A"]), [1.0], "search"), ValueError, "expected kernels that name the parts of X"),
        (lambda: (RBF() + Letters().on(["s"]))(Mixed(X=[1.0], s=["A"])), ValueError, r"give it columns: .on\(\['X'\]\)"),
        (lambda: (RBF() + Letters())(["A"]), ValueError, "is one of numbers, and the points are objects"),
        (lambda: Letters().on(["t"])(Mixed(s=["A"])), ValueError, "t not among the parts of the points: s"),
        (lambda: Letters().on([3])(Mixed(s=["A"])), ValueError, "there is no column 3, the points have 1"),
        (
            lambda: (RBF().on(["X"]) + Letters().on(["s"]))(Mixed(X=[np.nan], s=["A"])),
            ValueError,
            "finite numbers in the part 'X'",
        ),
        (lambda: Letters([1, 2])(["A"]), ValueError, "kernsel.select chooses one of several"),
        (lambda: Letters([]), ValueError, "length: expected at least one value"),
        (lambda: Letters([1, 0]), ValueError, "length: expected a whole number from 1 on"),
        (lambda: Letters().pullback(["A"], [[1.0]], wrt="X"), ValueError, "no derivatives in the points"),
        (lambda: Warp(Letters(), lambda X: X[:, 0])(["A", "C"]), ValueError, "is one of numbers, and the points are objects"),
        (lambda: Transform(Letters(), [[2.0]])(["A", "C"]), ValueError, "is one of numbers, and the points are objects"),
        (lambda: Letters().on(["a"])(Mixed(a=[[1, 2], [3, 4]])), ValueError, "expected objects, got columns of numbers"),
        (lambda: Letters() @ Letters(), ValueError, "outer: expected a kernel of vectors"),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_other_parts_than_in_fit(strings, y, rng):
    kernel = RBF("auto").on(["X"]) + Letters().on(["s"])
    points = Mixed(X=rng.normal(size=150), s=strings)
    model = ks.KernelRidge(kernel).fit(points, y)
    expected = model.predict(points[:4])
    assert np.array_equal(model.predict(Mixed(s=strings[:4], X=points.parts["X"][:4])), expected)
    for wrong, message in [
        (strings[:4], "expected the parts X, s, got None"),
        (Mixed(s=strings[:4]), "expected the parts X, s, got s"),
        (Mixed(s=[1.0], X=[2.0]), "expected objects in the part 's'"),
        (Mixed(s=["A"], X=["A"]), "expected numbers in the part 'X'"),
        (Mixed(s=["A"], X=[[1.0, 2.0]]), "expected 1 columns in the part 'X', got 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(wrong)


def test_tables_are_kept_within_limits(strings, y, monkeypatch):
    kernel = Letters(4, 0.5, "fixed") + RBF(3.0, "fixed") @ Letters(2, 0.3, "fixed")
    expected = ks.KernelRidge(kernel, alpha=0.1).fit(strings, y).predict(strings[:9])
    monkeypatch.setattr("kernsel.kernels.objects._MOST_BYTES", 1)
    model = ks.KernelRidge(kernel, alpha=0.1).fit(strings, y)
    assert len(model.kernel_.k1._pool.kept()[0]._results) == 1
    assert np.array_equal(model.predict(strings[:9]), expected)


def test_new_points_are_forgotten(strings, y):
    model = ks.GaussianProcessRegressor(RBF(3.0) @ Letters(), noise=0.1).fit(strings[:50], y[:50])
    pool = model.kernel_.inner._pool
    for _ in range(3):
        model.predict(strings, return_std=True)
    gc.collect()
    assert len(pool._sets) == 1
    assert len(pool.wanted()) == 1


def test_numbers_that_are_no_objects_are_refused(strings, y):
    model = ks.KernelRidge(RBF(3.0) @ Letters()).fit(strings, y)
    for numbers in ([[1000.0]], [[-1.0]], [[0.5]]):
        with pytest.raises(ValueError, match="X: expected the objects that the kernel is of"):
            model.kernel_(np.array(numbers))
    with pytest.raises(ValueError, match="are numbers"):
        Letters().build()
