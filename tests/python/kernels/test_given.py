"""Kernels made of what users give: functions of points, functions of two sets of points, matrices."""

import threading

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import (
    RBF,
    FunctionKernel,
    HeteroscedasticNoise,
    Parameter,
    Precomputed,
    Transform,
    Warp,
)
from kernsel.kernels.priors import Gamma
from kernsel.testing import check_kernel


def laplace(X, Z, width=1.0):
    return np.exp(-np.abs(X[:, None] - Z[None]).sum(axis=-1) / width)


def bell(X, Z, width):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=-1) / width)


def grow(X):
    return np.exp(X[:, 0])


def square(X):
    return X[:, 1] ** 2


def lift(X):
    return np.column_stack([X, X[:, 0] ** 2])


def test_conformance(rng):
    X = rng.standard_normal((30, 2))
    for k in (
        FunctionKernel(bell, {"width": 2.0}),
        Warp(RBF(), grow) + HeteroscedasticNoise(square, 0.5, "auto"),
        Transform(RBF([1.0, 2.0, 3.0]), lift),
    ):
        check_kernel(k, X)


def test_a_function_is_called_with_blocks(rng):
    sizes = []

    def counted(X, Z):
        sizes.append((len(X), len(Z)))
        return laplace(X, Z)

    X = rng.standard_normal((500, 3))
    K = FunctionKernel(counted)(X)
    assert np.array_equal(K, K.T)
    assert pytest.approx(laplace(X, X)) == K
    assert max(max(size) for size in sizes) <= 256
    assert sum(n * m for n, m in sizes) < 0.7 * 500**2  # one triangle


def test_equal_parts_are_evaluated_once(rng):
    calls = []

    def counted(X, Z):
        calls.append(None)
        return laplace(X, Z)

    f, again = FunctionKernel(counted), FunctionKernel(counted)
    X, W = rng.standard_normal((20, 2)), rng.standard_normal((20, 20))
    K = (f * again + f)(X)
    assert len(calls) == 1
    assert pytest.approx(laplace(X, X) ** 2 + laplace(X, X)) == K
    # Each occurrence of a kernel that is evaluated once has its own hyperparameters, and gets its own gradient.
    k = RBF(1.0) * RBF(1.0) + 2.0 * RBF(1.0)
    one = RBF(1.0).pullback(X, W * RBF(1.0)(X))
    assert k.pullback(X, W) == pytest.approx([*one, *one, 2 * np.vdot(W, RBF(1.0)(X)), *(2 * RBF(1.0).pullback(X, W))])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            lambda X, Z: np.ones((len(X), 1)),
            r"function: expected the function to return an array of shape \(3, 3\), got \(3, 1\)",
        ),
        (lambda X, Z: np.ones(len(X)), "function: expected"),
        (lambda X, Z: "text", "function: expected"),
        (lambda X, Z: np.full((len(X), len(Z)), np.nan), "the function of a kernel returned a number that is not finite"),
        (lambda X, Z: {}["missing"], "missing"),
    ],
)
def test_functions_that_fail(returned, message):
    k = RBF() + FunctionKernel(returned)
    X = np.arange(6.0).reshape(3, 2)
    for call in (
        lambda: k(X),
        lambda: k(X, X),
        lambda: k.diag(X),
        lambda: k.matmul(X, X, X),
        lambda: k.pullback(X, np.ones((3, 3))),
        lambda: k.pullback(X, np.ones((3, 3)), wrt="X"),
        lambda: ks.KernelRidge(k).fit(X, X[:, 0]),
    ):
        with pytest.raises((ValueError, TypeError, KeyError), match=message):
            call()
    assert RBF()(X).shape == (3, 3)  # and life goes on


def test_an_interrupt_in_a_function_is_an_interrupt(rng):
    def interrupted(X, Z):  # noqa: ARG001
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FunctionKernel(interrupted)(rng.standard_normal((400, 2)))


def test_functions_may_compute_themselves(rng, threads):
    threads(2)
    X = rng.standard_normal((300, 2))
    k = FunctionKernel(lambda X, Z: RBF(1.0)(X, Z)) * RBF(2.0)
    assert np.abs(k(X) - RBF(1.0)(X) * RBF(2.0)(X)).max() <= 1e-15
    results = []
    workers = [threading.Thread(target=lambda: results.append(k(X))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(result, k(X)) for result in results)
    assert len(results) == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: FunctionKernel(3.0)(X), r"function: expected a function, got 3\.0"),
        (lambda X: FunctionKernel(laplace, {"width": -1.0})(X), r"parameters\['width'\]: expected positive"),
        (
            lambda X: FunctionKernel(laplace, {"width": 1.0}, parameter_bounds={"w": "fixed"})(X),
            "'w' is not one of the parameters",
        ),
        (
            lambda X: FunctionKernel(laplace, {"width": 1.0}, lambda X, Z, width: {}).pullback(X, np.ones((3, 3))),
            "gradient: expected a dict with the keys width",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_functions(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(np.arange(6.0).reshape(3, 2))


def test_a_signed_parameter_of_a_function(rng):
    X, W = rng.standard_normal((20, 2)), rng.standard_normal((20, 20))
    k = FunctionKernel(lambda X, Z, t: laplace(X - t, Z - t) * np.cos(t), {"t": Parameter(-0.3, bounds=(-1.0, 1.0), log=False)})
    assert k.theta == pytest.approx([-0.3])
    assert k.bounds == pytest.approx(np.array([[-1.0, 1.0]]))
    assert k.pullback(X, W) == pytest.approx([np.vdot(W, laplace(X, X)) * np.sin(0.3)])
    assert k.clone_with_theta([0.5]).parameters["t"].value == 0.5


def test_precomputed(rng):
    B = rng.standard_normal((50, 50))
    K = B @ B.T
    K = (K + K.T) / 2
    rows = rng.permutation(50)[:20].astype(float)[:, None]
    k = Precomputed(K)
    check_kernel(k, rows, points=False)
    i = rows[:, 0].astype(int)
    assert np.array_equal(k(rows), K[np.ix_(i, i)])
    assert np.array_equal(k(rows[:5], rows), K[np.ix_(i[:5], i)])
    assert np.array_equal(k(np.arange(50)[:, None]), K)
    X = np.column_stack([rng.standard_normal(20), rows[:, 0]])
    mixed = RBF(1.0).on([0]) + 2.0 * Precomputed(K).on([1])
    assert mixed(X) == pytest.approx(RBF(1.0)(X[:, :1]) + 2 * K[np.ix_(i, i)])
    y = rng.standard_normal(20)
    ours = ks.KernelRidge(2.0 * k, alpha=0.5).fit(rows, y).predict(rows[:7])
    assert ours == pytest.approx(2 * K[np.ix_(i[:7], i)] @ np.linalg.solve(2 * K[np.ix_(i, i)] + 0.5 * np.eye(20), y))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Precomputed(np.ones((2, 3))), r"K: expected a square matrix, got shape \(2, 3\)"),
        (
            lambda: Precomputed([[1.0, 2.0], [0.0, 1.0]]),
            r"K: expected a symmetric matrix, got 2\.0 at \(0, 1\) and 0\.0 at \(1, 0\)",
        ),
        (lambda: Precomputed([[np.nan]]), "K: expected finite numbers"),
        (lambda: Precomputed("K"), "K: expected a matrix of numbers"),
        (lambda: Precomputed(np.eye(3))([[3]]), "points must be whole numbers, the numbers of rows"),
        (lambda: Precomputed(np.eye(3))([[0.5]]), "points must be whole numbers"),
        (lambda: Precomputed(np.eye(3))([[-1]]), "points must be whole numbers"),
        (lambda: Precomputed(np.eye(3))([[1, 2]]), "points must have one column"),
        (lambda: Precomputed(np.eye(3)).pullback([[1]], [[1.0]], wrt="X"), "no gradient in the points"),
    ],
)
def test_bad_matrices(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_a_matrix_lives_as_long_as_its_kernel(rng):
    k = Precomputed(np.asfortranarray(rng.standard_normal((300, 300)) * 0 + np.eye(300)).astype(np.float32))
    core = k.build()
    del k
    assert np.array_equal(core.gram(np.arange(300.0)[:, None], None), np.eye(300))


def test_views_of_one_matrix(rng):
    A = rng.standard_normal((6, 6))
    A = A @ A.T
    p, q, r = Precomputed(A), Precomputed(A[::2, ::2]), Precomputed(A[:2, :2])
    X = np.arange(3.0)[:, None]
    assert (p + q)(X) == pytest.approx(p(X) + q(X))
    assert (q + p)(X) == pytest.approx(p(X) + q(X))
    with pytest.raises(ValueError, match="points must be whole numbers"):
        (p + r)([[5.0]])


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
