"""Where parts of an expression are equal or nearly so, and where points are far apart: what is shared must be the same."""

import copy
import os
import pickle
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk

from kernsel.kernels import (
    RBF,
    ArcCosine,
    Cosine,
    DotProduct,
    Exponential,
    ExpSineSquared,
    FunctionKernel,
    Linear,
    Matern,
    Normalize,
    Parameter,
    Polynomial,
    PolynomialOf,
    Precomputed,
    RationalQuadratic,
    Transform,
    Warp,
    Wendland,
    from_sklearn,
    kernel,
)
from kernsel.kernels.priors import Gamma, LogNormal
from kernsel.testing import check_kernel


def last(X):
    return X[:, -1]


def test_one_function_on_different_columns(rng):
    X, W = rng.standard_normal((9, 3)), rng.standard_normal((9, 9))
    a, b = Warp(RBF().on([0]), last).on([0, 1]), Warp(RBF().on([0]), last).on([0, 2])
    assert (a + b)(X) == pytest.approx(a(X) + b(X))
    assert (a + b).pullback(X, W, wrt="X") == pytest.approx(a.pullback(X, W, wrt="X") + b.pullback(X, W, wrt="X"))


def test_views_of_one_matrix(rng):
    A = rng.standard_normal((6, 6))
    A = A @ A.T
    p, q, r = Precomputed(A), Precomputed(A[::2, ::2]), Precomputed(A[:2, :2])
    X = np.arange(3.0)[:, None]
    assert (p + q)(X) == pytest.approx(p(X) + q(X))
    assert (q + p)(X) == pytest.approx(p(X) + q(X))
    with pytest.raises(ValueError, match="points must be whole numbers"):
        (p + r)([[5.0]])


@pytest.mark.parametrize("order", [1, -1])
def test_equal_values_with_other_gradients(order, rng):
    X, W = rng.standard_normal((9, 2)), rng.standard_normal((9, 9))
    parts = [DotProduct(2.0, length_scale=1.0), Polynomial(1, offset=4.0), Linear() + 4.0][::order]
    whole = parts[0] + parts[1] + parts[2]
    assert whole.pullback(X, W) == pytest.approx(np.concatenate([part.pullback(X, W) for part in parts]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_normalize_of_a_small_diagonal(dtype, rng):
    power, size = (20, 1e-5) if dtype == np.float64 else (6, 1e-2)
    k = Normalize(Polynomial(power, offset=0.0, length_scale=[1.0, 2.0]))  # does not see the size of points
    X, W = (1 + rng.uniform(size=(5, 2))).astype(dtype), rng.standard_normal((5, 5)).astype(dtype)
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    small = (X * dtype(size)).astype(dtype)
    assert k.pullback(small, W) == pytest.approx(k.pullback(X, W), rel=tolerance, abs=tolerance)
    in_the_points = k.pullback(small, W, wrt="X") * size
    assert in_the_points == pytest.approx(k.pullback(X, W, wrt="X"), rel=tolerance, abs=tolerance)


FAR = [
    RBF(),
    Exponential(),
    Matern(nu=0.7),
    Matern(nu=1.5),
    Matern(nu=2.5),
    Matern(nu=0.5, product=True),
    Matern(nu=1.5, product=True),
    Matern(nu=2.5, product=True),
    Matern(nu=3.3, product=True),
    RationalQuadratic(),
    RationalQuadratic(alpha=0.3),
    Wendland(),
    Wendland(smoothness=2),
    ExpSineSquared(),
]


@pytest.mark.parametrize("k", FAR, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_points_far_apart(k, dtype):
    X = (np.array([[0.0, 0.0], [1.0, 2.0]]) * (1e200 if dtype == np.float64 else 1e25)).astype(dtype)
    K, W = k(X), np.ones((2, 2), dtype)
    assert np.isfinite(K).all()
    assert (np.diag(K) == 1).all()
    assert K[0, 1] == 0 or isinstance(k, RationalQuadratic | ExpSineSquared)
    assert np.isfinite(k.pullback(X, W)).all()
    assert np.isfinite(k.pullback(X, W, wrt="X")).all()


def test_matern_just_below_one():
    nu = sum([0.1] * 10)
    assert nu < 1
    for near in (nu, 1 - 1e-9, 1 - 1e-6, 0.95):
        k = Matern(nu=near)
        r = np.geomspace(1e-12, 1e-3, 200)[:, None]
        values = k([[0.0]], r)[0]
        assert (np.diff(values) <= 1e-15).all()
        assert 1 - values[100] < 1e-12
        assert k.pullback([[0.0]], [[1.0]], [[1e-10]])[0] < 1e-17


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_fork_while_a_table_is_made():
    stop = []

    def build():
        i = 0
        while not stop:
            i += 1
            Matern(nu=50 + i * 1e-4)([[0.0], [1.0]])

    worker = threading.Thread(target=build, daemon=True)
    worker.start()
    children = []
    for i in range(5):
        time.sleep(0.01)
        child = os.fork()
        if child == 0:
            Matern(nu=60.5 + i)([[0.0], [1.0]])
            os._exit(0)
        children.append(child)
    end = time.time() + 20
    while children and time.time() < end:
        children = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
        time.sleep(0.05)
    stop.append(True)
    worker.join()
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert not children


def test_ties_that_are_auto(rng):
    length = Parameter("auto", name="length")
    X = rng.standard_normal((30, 2)) * [1.0, 10.0]
    k = (RBF(length).on([0]) + RBF(length).on([1])).for_data(X)
    assert k.n_dims == 1
    assert k.k1.kernel.length_scale == k.k2.kernel.length_scale
    assert k.pullback(X, np.ones((30, 30))).shape == (1,)


@pytest.mark.parametrize(
    "other", [Parameter(1.0, (0.1, 2.0), LogNormal(0.0, 1.0), "l"), Parameter(1.0, (5.0, 6.0), Gamma(2.0, 3.0), "l")]
)
def test_ties_with_other_bounds_or_priors(other):
    k = RBF(Parameter(1.0, (0.1, 2.0), Gamma(2.0, 3.0), "l")) + Linear(other)
    with pytest.raises(ValueError, match="or their bounds or priors differ"):
        k.log_prior()


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


def test_chains_are_written_and_read():
    for text in (
        "RBF * Linear + Cosine * (RBF + Linear) * 2.0",
        "(RBF + Linear) * (RBF + Linear) ** 2 + (Cosine + Linear)",
        "2.0 * RBF * 3.0 + 1.0 * Linear",
        "RBF * (Linear * Cosine) * (RBF + 1.0)",
    ):
        k = kernel(text)
        assert kernel(repr(k)) == k
        assert repr(kernel(repr(k))) == repr(k)
    assert str(kernel("2.0 * RBF * 3.0 + 1.0 * Linear")) == "2 * RBF(1) * ConstantKernel(3) + 1 * Linear(1)"


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: FunctionKernel(f, {"w": 1.0}, parameter_bounds={"w": "fxied"}), 'expected two numbers, "fixed" or "auto"'),
        (lambda f: FunctionKernel(f, {"w": Parameter(1.0, bounds=(-1, 5))}), "expected positive"),
        (lambda f: FunctionKernel(f, {"w": 1.0}, parameter_bounds={"w": (5, 1)}), "the lower bound is above"),
        (lambda f: FunctionKernel(f, {"w": 1.0}, parameter_bounds={"w": (5,)}), "expected a lower and an upper bound"),
        (lambda f: FunctionKernel(f, {"w": Parameter(1.0, prior=Gamma(1.0, 1.0), log=False)}), "may be negative"),
    ],
)
def test_bounds_of_functions(make, message):
    with pytest.raises(ValueError, match=message):
        make(lambda X, Z, w: np.exp(-np.abs(X - Z.T) / w))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives_by_differences_near_a_limit():
    X = np.array([[1e-4], [0.5], [1.0]])
    k = Transform(RBF(), np.log)
    assert np.isfinite(k(X)).all()
    with pytest.raises(ValueError, match=r"give its derivative|not finite"):
        k.pullback(X, np.ones((3, 3)), wrt="X")
    exact = Transform(RBF(), np.log, derivative=lambda X: 1 / X[:, :, None])
    assert np.isfinite(exact.pullback(X, np.ones((3, 3)), wrt="X")).all()


def test_the_period_of_a_difference(rng):
    X = rng.standard_normal((9, 2))
    assert (Cosine(2.0) + Cosine([2.0, 2.0]))(X) == pytest.approx(2 * Cosine(2.0)(X))


def test_numbers_out_of_range():
    X = np.array([[3.0], [6.0]])
    for k in (1e308 * RBF() + 1e308 * RBF(), (1e200 * RBF()) * (1e200 * RBF())):
        with pytest.raises(ValueError, match="the kernel overflows"):
            k(X)
    for factor in (1e50, 1e-50):
        with pytest.raises(ValueError, match="out of the range of single precision"):
            (factor * RBF())(X.astype(np.float32))
        assert np.isfinite((factor * RBF())(X)).all()


def test_set_params_is_all_or_nothing():
    k = RBF(1.0)
    with pytest.raises(ValueError, match="length_scale: expected positive"):
        k.set_params(length_scale=-1)
    assert k == RBF(1.0)
    k = RBF() + RBF()
    k.set_params(k1__length_scale=3.0, k1=Linear())
    assert k == Linear(3.0) + RBF()
    with pytest.raises(ValueError, match="length_scale: has no parameters of its own"):
        RBF().set_params(length_scale__x=1)
    power = (RBF() * RBF()) ** 0.5
    with pytest.raises(ValueError, match="need not be positive semidefinite"):
        power.set_params(kernel__k1=Linear())
    power.kernel.set_params(k1=Linear())
    with pytest.raises(ValueError, match="need not be positive semidefinite"):
        power([[1.0], [-1.0]])


def test_small_points_have_a_direction():
    assert ArcCosine(0, offset=0.0)([[1e-200]])[0, 0] == 1
    assert ArcCosine(0, offset=0.0)(np.array([[1e-25]], np.float32))[0, 0] == 1
    assert ArcCosine(0, offset=0.0)([[0.0]])[0, 0] == 0


def test_normalize_refuses_the_same_points():
    for call in (Normalize(Linear()), Normalize(Linear()).diag):
        with pytest.raises(ValueError, match="is not positive for a point"):
            call([[0.0], [1.0]])


def test_scikit_learn_on_the_left(rng):
    X = rng.standard_normal((9, 2))
    theirs = sk.RBF(2.0) + 3.0 * (sk.DotProduct() * RBF(1.0))
    assert from_sklearn(theirs)(X) == pytest.approx(RBF(2.0)(X) + 3 * DotProduct()(X) * RBF(1.0)(X))


def test_sum_of_a_list(rng):
    X = rng.standard_normal((9, 2))
    assert sum([RBF(1.0), RBF(2.0), Linear()]) == RBF(1.0) + RBF(2.0) + Linear()
    assert sum([RBF(1.0), Linear()])(X) == pytest.approx(RBF(1.0)(X) + Linear()(X))


@pytest.mark.parametrize(
    "k",
    [
        RBF([np.float64(1.5), np.float64(2)]),
        RBF(1.0, (np.float64(0.1), np.float64(2))),
        PolynomialOf(Linear(), [np.float64(1)]),
        RBF(Parameter(np.float64(1.0), prior=LogNormal(np.float64(0), np.float64(1)))),
    ],
    ids=str,
)
def test_numbers_of_numpy_read_back(k):
    assert kernel(repr(k)) == k


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_auto_in_any_unit(unit, rng):
    X = rng.standard_normal((30, 2))
    for k in (RBF("auto"), Linear("auto"), Cosine("auto")):
        one, other = k.for_data(X), k.for_data(X * unit)
        assert other.theta == pytest.approx(one.theta + np.log(unit))
        assert other.bounds == pytest.approx(one.bounds + np.log(unit))
    for nothing in (np.zeros((3, 0)), np.zeros((0, 2))):
        assert np.isfinite(RBF("auto").for_data(nothing).bounds).all()


def test_a_kernel_that_cannot_be_pickled(rng):
    with pytest.raises(AssertionError, match="the kernel cannot be pickled"):
        check_kernel(FunctionKernel(lambda X, Z: X @ Z.T), rng.uniform(0.1, 1, (9, 2)))
    check_kernel(1e200 * RBF(), rng.uniform(0.1, 1, (9, 2)))
