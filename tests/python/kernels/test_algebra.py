"""Sums, products, powers and columns of kernels: values and gradients of any tree, what is evaluated once, errors."""

import copy
import pickle
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import pairwise
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel import kernels
from kernsel.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exp,
    Linear,
    Matern,
    Polynomial,
    PolynomialOf,
    Product,
    Sum,
    WhiteKernel,
)

import reference
from accuracy import eps
from leaves import ROUGH, points, trees

SCALES = [0.5, 1.0, 2.0]
# Trees of three columns, as functions of theta, so that they can be moved along it.
TREES = {
    "rbf": lambda t: RBF(np.exp(t[0])),
    "ard": lambda t: RBF(np.exp(t[:3])),
    "constant": lambda t: ConstantKernel(np.exp(t[0])),
    "white": lambda t: WhiteKernel(np.exp(t[0])),
    "sum": lambda t: RBF(np.exp(t[0])) + WhiteKernel(np.exp(t[1])),
    "product": lambda t: RBF(np.exp(t[0])) * RBF(np.exp(t[1:4])),
    "scaled": lambda t: float(np.exp(t[0])) * RBF(np.exp(t[1:4])),
    "scaled from the right": lambda t: RBF(np.exp(t[:3])) * float(np.exp(t[3])),
    "deep": lambda t: (
        (
            ConstantKernel(np.exp(t[0])) * RBF(np.exp(t[1:4]))
            + RBF(np.exp(t[4])) * (RBF(np.exp(t[5])) + ConstantKernel(np.exp(t[6])))
        )
        * float(np.exp(t[7]))
        + WhiteKernel(np.exp(t[8]))
    ),
}
PARAMETERS = {
    "rbf": 1,
    "ard": 3,
    "constant": 1,
    "white": 1,
    "sum": 2,
    "product": 4,
    "scaled": 4,
    "scaled from the right": 4,
    "deep": 9,
}


@pytest.mark.core
@pytest.mark.parametrize(("name", "cross", "n"), pairwise(TREES, [False, True], [7, 125, 250]))
def test_pullback_by_central_differences(name, cross, n, rng):
    X = rng.standard_normal((n, 3))
    Z = rng.standard_normal((n + 4, 3)) if cross else None
    W = rng.standard_normal((n, n + 4 if cross else n))
    theta = rng.uniform(-0.7, 0.7, PARAMETERS[name])
    make = TREES[name]
    k = make(theta)
    assert k.theta == pytest.approx(theta, abs=4 * np.finfo(float).eps)
    expected, error = reference.central_differences(lambda t: np.vdot(W, make(t)(X, Z)), theta, step=1e-4)
    rounding = np.finfo(float).eps * np.linalg.norm(W) * n / 1e-4
    assert (np.abs(k.pullback(X, W, Z) - expected) <= error + rounding).all()


@pytest.mark.core
@given(st.sampled_from(list(TREES)), st.integers(1, 200), st.integers(0, 1000))
def test_pullback_in_single_precision(name, n, seed):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, 3)).astype(np.float32), rng.standard_normal((n, n)).astype(np.float32)
    k = TREES[name](rng.uniform(-0.7, 0.7, PARAMETERS[name]))
    exact = k.pullback(X.astype(float), W.astype(float))
    size = k.pullback(X.astype(float), np.abs(W.astype(float)))
    assert (
        np.abs(k.pullback(X, W) - exact) <= 64 * np.finfo(np.float32).eps * np.maximum(np.abs(size), np.abs(W).sum() / n)
    ).all()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (2.0 * RBF(1.5), 2.0 * sk.RBF(1.5)),
        (RBF(SCALES) + WhiteKernel(0.1), sk.RBF(SCALES) + sk.WhiteKernel(0.1)),
        (
            RBF(SCALES) * 3.0 + ConstantKernel(0.5) * RBF(0.7),
            sk.RBF(SCALES) * 3.0 + sk.ConstantKernel(0.5) * sk.RBF(0.7),
        ),
    ],
)
def test_values_and_gradients_of_scikit_learn(ours, theirs, rng):
    X = rng.standard_normal((60, 3))
    K, gradient = theirs(X, eval_gradient=True)
    W = rng.standard_normal((60, 60))
    tolerance = 64 * np.finfo(float).eps
    assert ours(X) == pytest.approx(K, abs=tolerance * K.max())
    assert ours(X, X[:9]) == pytest.approx(theirs(X, X[:9]), abs=tolerance * K.max())
    assert ours.diag(X) == pytest.approx(theirs.diag(X))
    assert ours.theta == pytest.approx(theirs.theta)
    assert ours.pullback(X, W) == pytest.approx(np.einsum("ij,ijp->p", W, gradient), abs=tolerance * np.abs(W).sum())


def test_algebra():
    k = RBF(0.5)
    assert k + 1.0 == Sum(k, ConstantKernel(1.0))
    assert 1 + k == Sum(ConstantKernel(1.0), k)
    assert 2 * k == Product(ConstantKernel(2.0), k)
    assert np.float64(2) * k == Product(ConstantKernel(2.0), k)
    assert k * np.float32(2) == Product(k, ConstantKernel(2.0))
    assert k != RBF(0.6)
    assert k != WhiteKernel(0.5)
    assert k != "RBF"
    assert RBF([1, 2]) == RBF(np.array([1.0, 2.0]))
    for other in ("text", None, True, 1j, np.ones(2)):
        with pytest.raises(TypeError):
            k + other
        with pytest.raises(TypeError):
            other * k


def test_repr_reads_back():
    k = (RBF(0.5) + WhiteKernel(0.1)) * RBF(np.array([1.0, 2.0])) + 2.0
    names = {"RBF": RBF, "WhiteKernel": WhiteKernel, "ConstantKernel": ConstantKernel}
    assert eval(repr(k), names) == k
    assert repr(RBF(np.float64(0.5))) == "RBF(length_scale=0.5)"


def test_negative_multiple():
    with pytest.raises(ValueError, match="constant_value: expected positive, finite numbers, got -2"):
        -2.0 * RBF()


@pytest.mark.core
@pytest.mark.filterwarnings("ignore:Sigmoid is not positive")
@given(trees(), st.integers(0, 99))
def test_trees(tree, seed):
    k, twin = tree
    X, W = 0.5 * points(25, seed), np.random.default_rng(seed).standard_normal((25, 25))
    K, expected = ks.gram(k, X), reference.gram(twin, X)
    assert np.abs(K - expected).max() <= 500 * eps(float) * max(np.abs(expected).max(), 1)
    assert np.linalg.eigvalsh(K).min() >= -1000 * eps(float) * np.abs(K).max() * 25 or any(
        name in repr(k) for name in ("ExpSineSquared", "Sigmoid")
    )
    direction = np.random.default_rng(seed + 1).standard_normal(k.n_dims)
    change, error = reference.central_differences(
        lambda t: np.vdot(W, k.clone_with_theta(k.theta + t[0] * direction)(X)), [0.0], 1e-4
    )
    rounding = eps(float) * np.linalg.norm(W) * np.linalg.norm(K) * 16 / 1e-4
    assert abs(k.pullback(X, W) @ direction - change[0]) <= error[0] + rounding
    assert k.clone_with_theta(k.theta).theta == pytest.approx(k.theta, abs=16 * eps(float))


@pytest.mark.core
def test_overflow_is_an_error():
    X = np.full((3, 2), 1e3)
    for k in (
        Exp(Linear()),
        Linear() ** 100,
        Polynomial(99, 1.0) * ConstantKernel(2.0),
        PolynomialOf(Linear(), [0.0] * 60 + [1.0]),
    ):
        for call in (
            lambda k=k: k(X),
            lambda k=k: k(X, X),
            lambda k=k: k.diag(X),
            lambda k=k: k.matmul(X, X, X),
            lambda k=k: k.pullback(X, np.ones((3, 3))),
        ):
            with pytest.raises(ValueError, match="the kernel overflows"):
                call()
        with pytest.raises(ValueError, match="the kernel overflows"):
            ks.KernelRidge(k).fit(X, X[:, 0])
    assert np.isfinite(Exp(Linear())(np.full((3, 2), 18.0))).all()


@pytest.mark.core
def test_columns_by_name(rng):
    import pandas as pd

    table = pd.DataFrame(rng.standard_normal((20, 3)), columns=["year", "price", "size"])
    k = RBF(1.0).on(["price"]) + Matern([1.0, 2.0]).on(["size", "year"])
    by_index = RBF(1.0).on([1]) + Matern([1.0, 2.0]).on([2, 0])
    assert np.array_equal(k(table), by_index(table.to_numpy()))
    W = rng.standard_normal((20, 20))
    assert np.array_equal(k.pullback(table, W), by_index.pullback(table.to_numpy(), W))
    model = ks.KernelRidge(RBF("auto").on(["size", "price"]), alpha=0.1).fit(table, table["size"])
    assert model.kernel_.columns == ["size", "price"]
    assert model.kernel_.indices() == [2, 1]
    assert str(model.kernel_).endswith(".on(['size', 'price'])")
    assert kernels.kernel(repr(model.kernel_)) == model.kernel_
    K = model.kernel_(table)
    assert np.array_equal(model.kernel_(table[["price", "size", "year"]]), K)  # by name, wherever they are
    assert np.array_equal(model.kernel_(table.to_numpy()), K)  # as in the fit
    assert np.array_equal(pickle.loads(pickle.dumps(model.kernel_))(table.to_numpy()), K)
    with pytest.raises(ValueError, match="columns: size not among the columns year, price"):
        model.kernel_(table[["year", "price"]])
    other = model.kernel_.set_params(columns=["year", "price"])
    with pytest.raises(ValueError, match="are names, and the points have none"):  # not those of the fit
        other(table.to_numpy())
    assert model.kernel_.kernel.length_scale == pytest.approx(table[["size", "price"]].std(ddof=0) * 2**0.5)
    with pytest.raises(ValueError, match="columns: weight not among the columns year, price, size"):
        RBF().on(["weight"])(table)
    with pytest.raises(ValueError, match="are names, and the points have none"):
        RBF().on(["price"])(table.to_numpy())
    nested = (RBF(1.0).on(["price"]) + Linear(1.0)).on(["size", "price"])
    assert np.array_equal(nested.on_table(["year", "price", "size"])(table.to_numpy()), nested(table))


@pytest.mark.core
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear() ** 0.5, "other powers of this kernel need not be positive semidefinite"),
        (lambda: RBF() ** 0, "exponent: expected a whole number from 1 to 100, got 0"),
        (lambda: RBF() ** -1, "exponent: expected a whole number"),
        (lambda: PolynomialOf(RBF(), [1.0, -1.0]), "a polynomial with a negative coefficient need not be"),
        (lambda: PolynomialOf(RBF(), []), "coefficients: expected"),
        (lambda: PolynomialOf(RBF(), "x"), "coefficients: expected numbers, got 'x'"),
        (lambda: Exp(3.0), r"kernel: expected a kernel, got 3\.0"),
        (lambda: RBF().on([]), "columns: expected a list of indices or of names"),
        (lambda: RBF().on([-1]), "columns: expected indices from 0 on"),
        (lambda: RBF().on([0, 0]), "columns: a column is named twice"),
        (lambda: RBF().on([5])(np.ones((2, 2))), "on: a column that the points do not have"),
        (lambda: RBF([1.0, 2.0]).on([0, 1, 2])(np.ones((4, 3))), "one length scale, or one for each column"),
    ],
)
def test_what_would_not_be_a_kernel(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.core
@pytest.mark.filterwarnings("ignore:Sigmoid is not positive")
@given(trees(ROUGH), st.booleans(), st.integers(0, 99))
def test_trees_as_functions_of_the_points(tree, cross, seed):
    k, _ = tree
    X, W = 0.5 * points(25, seed), np.random.default_rng(seed).standard_normal((25, 25))
    Z = 0.5 * points(25, seed + 7) if cross else None
    direction = np.random.default_rng(seed + 1).standard_normal(X.shape)
    change, error = reference.central_differences(lambda t: np.vdot(W, k(X + t[0] * direction, Z)), [0.0], 1e-4)
    rounding = eps(float) * np.linalg.norm(W) * np.linalg.norm(k(X, Z)) * 64 / 1e-4
    assert abs(np.vdot(k.pullback(X, W, Z, wrt="X"), direction) - change[0]) <= error[0] + rounding


@pytest.mark.parametrize("order", [1, -1])
def test_equal_values_with_other_gradients(order, rng):
    X, W = rng.standard_normal((9, 2)), rng.standard_normal((9, 9))
    parts = [DotProduct(2.0, length_scale=1.0), Polynomial(1, offset=4.0), Linear() + 4.0][::order]
    whole = parts[0] + parts[1] + parts[2]
    assert whole.pullback(X, W) == pytest.approx(np.concatenate([part.pullback(X, W) for part in parts]))


def test_many_operands(rng):
    """As many as there are columns, say: all that one does with a kernel, without recursion, in time that does not explode."""
    X, W = rng.standard_normal((5, 3)), rng.standard_normal((5, 5))
    seconds = []
    for n in (40, 160, 1500):
        k = sum([RBF(1.5 + i).on([i % 3]) for i in range(n)])
        best = np.inf
        for _ in range(3 if n < 1000 else 1):
            start = time.perf_counter()
            moved = k.clone_with_theta(np.zeros(n))
            gradient = moved.pullback(X, W)
            best = min(best, time.perf_counter() - start)
        seconds.append(best)
        alone = [RBF(1.0).on([j]).pullback(X, W)[0] for j in range(3)]
        assert gradient == pytest.approx([alone[i % 3] for i in range(n)])
    assert seconds[1] < 32 * seconds[0]  # its square is 16, its cube 64
    assert clone(k) == k == pickle.loads(pickle.dumps(k)) == copy.deepcopy(k)
    assert k != k + 1.0
    assert repr(k).count("RBF") == str(k).count("RBF") == 1500
    assert k.for_data(X)(X).shape == (5, 5)
    assert k.diag(X) == pytest.approx(np.full(5, 1500.0))
    assert k.set_params(k2__kernel__length_scale=7.0).k2.kernel.length_scale == 7.0
    assert k.n_dims == len(k.bounds) == 1500


def test_tables_whose_columns_differ(rng):
    d = pd.DataFrame(rng.standard_normal((4, 2)), columns=["a", "b"])
    k = RBF().on(["a"])
    assert (k(d, d).diagonal() == 1).all()
    for call in (
        lambda Z: k(d, Z),
        lambda Z: k.matmul(d, Z, np.ones(4)),
        lambda Z: k.pullback(d, np.ones((4, 4)), Z),
    ):
        with pytest.raises(ValueError, match="Z: expected the columns a, b, as X has, got b, a"):
            call(d[["b", "a"]])
    twice = pd.DataFrame(rng.standard_normal((4, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="more than one column a"):
        k(twice)


def test_numbers_out_of_range():
    X = np.array([[3.0], [6.0]])
    for k in (1e308 * RBF() + 1e308 * RBF(), (1e200 * RBF()) * (1e200 * RBF())):
        with pytest.raises(ValueError, match="the kernel overflows"):
            k(X)
    for factor in (1e50, 1e-50):
        with pytest.raises(ValueError, match="out of the range of single precision"):
            (factor * RBF())(X.astype(np.float32))
        assert np.isfinite((factor * RBF())(X)).all()


def test_sum_of_a_list(rng):
    X = rng.standard_normal((9, 2))
    assert sum([RBF(1.0), RBF(2.0), Linear()]) == RBF(1.0) + RBF(2.0) + Linear()
    assert sum([RBF(1.0), Linear()])(X) == pytest.approx(RBF(1.0)(X) + Linear()(X))
