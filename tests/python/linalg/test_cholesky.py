"""The Cholesky factor against its slow twin, for any size, order of storage, conditioning and number of threads."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kernsel as ks
from kernsel import _core
from kernsel.linalg.cholesky import Cholesky

import reference
from accuracy import assert_backward, assert_forward, eps

pytestmark = pytest.mark.core
DTYPES = [np.float64, np.float32]
# Around the padding, the register tiles and the tiles of the factorization.
SIZES = st.one_of(st.integers(1, 40), st.sampled_from([47, 48, 49, 63, 64, 65, 95, 96, 97, 111, 112, 113, 143, 144, 145, 193]))
LARGE = [193, 300, 561, 720, 865]


def matrix(n, seed=0, dtype=np.float64, condition=1e3):
    """Return a random symmetric positive definite matrix of a given condition number."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = (Q * np.geomspace(1, 1 / condition, n)) @ Q.T
    return ((A + A.T) / 2).astype(dtype)


def stored(A, order, seed=0):
    """Return the matrix in an order of storage, with what is above the diagonal destroyed."""
    n = len(A)
    A = A.copy()
    A[np.triu_indices(n, 1)] = np.random.default_rng(seed).standard_normal(n * (n - 1) // 2)
    if order in "CF":
        return np.asarray(A, order=order)
    if order == "strided":
        room = np.zeros((2 * n, 3 * n), A.dtype)
        room[::2, ::3] = A
        return room[::2, ::3]
    if order == "reversed":
        return A[::-1, ::-1].copy()[::-1, ::-1]
    raise AssertionError(order)


@given(
    SIZES,
    st.sampled_from(DTYPES),
    st.sampled_from(["C", "F", "strided", "reversed"]),
    st.sampled_from([0.0, 0.2, 0.6]),  # the condition number is eps to this power
    st.integers(0, 100),
)
def test_factor_and_what_follows(n, dtype, order, conditioning, seed):
    A = matrix(n, seed, dtype, condition=eps(dtype) ** -conditioning)
    F = ks.linalg.cholesky(stored(A, order, seed))
    exact = A.astype(float)
    L = reference.cholesky(exact)
    condition = np.linalg.cond(exact)

    assert F.n == n
    assert F.dtype == dtype
    lower = F.lower()
    assert lower.dtype == dtype
    assert (lower == np.tril(lower)).all()
    assert_backward(lower.astype(float) @ lower.T.astype(float) - exact, np.abs(exact), n, dtype)
    assert abs(F.logdet() - reference.logdet(L)) <= 4 * n * eps(dtype) * condition

    g = np.random.default_rng(seed).standard_normal(n)
    inverse = F.inverse()
    assert (inverse == inverse.T).all()
    assert_forward(inverse, reference.inverse(L), condition, n, dtype)
    assert_forward(F.inverse_diagonal(), reference.inverse_diagonal(L), condition, n, dtype)
    sandwich = F.sandwich(g)
    assert (sandwich == sandwich.T).all()
    limit = 8 * n * eps(dtype) * condition * np.linalg.norm(reference.inverse(L)) ** 2 * np.abs(g).max()
    assert np.abs(sandwich - reference.sandwich(L, g)).max() <= limit


@given(
    SIZES,
    st.sampled_from(DTYPES),
    st.one_of(st.none(), st.integers(0, 20), st.sampled_from([143, 144, 145, 290])),
    st.sampled_from(["C", "F", "strided"]),
    st.integers(0, 100),
)
@example(97, np.float64, 1, "C", 0)
def test_solve(n, dtype, columns, order, seed):
    A = matrix(n, seed, dtype)
    rng = np.random.default_rng(seed)
    shape = n if columns is None else (n, columns)
    b = rng.standard_normal(shape).astype(dtype)
    b = np.repeat(b, 2, axis=0)[::2] if order == "strided" else np.asarray(b, order=order)
    before = b.copy()
    F = ks.linalg.cholesky(A)
    x = F.solve(b)
    assert x.shape == b.shape
    assert x.dtype == dtype
    assert (b == before).all()
    residual = A.astype(float) @ x - b
    assert_backward(residual, np.linalg.norm(A, 2) * np.abs(x).max(initial=0) * np.ones(1), n, dtype, slack=8)
    y = F.solve_lower(b)
    assert_backward(F.lower().astype(float) @ y - b, np.linalg.norm(F.lower(), 2) * np.abs(y).max(initial=0), n, dtype, 8)
    squares = np.sum(y.astype(float) ** 2, axis=0)
    quadratic = F.inverse_quadratic(b)
    assert np.shape(quadratic) == np.shape(squares)
    assert quadratic == pytest.approx(squares, rel=float(4 * n * eps(dtype)), abs=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LARGE)
def test_several_tiles(n, dtype):
    A = matrix(n, n, dtype, condition=100)
    F = ks.linalg.cholesky(A)
    exact = np.linalg.inv(A.astype(float))
    b = np.random.default_rng(0).standard_normal((n, 5)).astype(dtype)
    L = F.lower().astype(float)
    assert_backward(L @ L.T - A, np.abs(A), n, dtype)
    assert_forward(F.solve(b), exact @ b, 100, n, dtype)
    assert_forward(F.inverse(), exact, 100, n, dtype)
    assert_forward(F.inverse_diagonal(), np.diag(exact), 100, n, dtype)
    g = b[:, 0]
    assert_forward(F.sandwich(g), exact @ (g[:, None] * exact), 100, n, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [64, 97, 300, 577, 900])
def test_same_bits_for_any_number_of_threads(n, dtype, threads):
    A = matrix(n, n, dtype)
    b = np.random.default_rng(0).standard_normal((n, 150)).astype(dtype)

    def results(count):
        threads(count)
        F = ks.linalg.cholesky(A)
        return [F.lower(), F.solve(b), F.solve(b[:, 0]), F.inverse(), F.inverse_diagonal(), F.sandwich(b[:, 1])]

    alone = results(1)
    for count in (2, 3, 5):
        for one, many in zip(alone, results(count), strict=True):
            assert np.array_equal(one, many)
    # Nor on what a right-hand side stands beside.
    assert np.array_equal(alone[1][:, 0], alone[2])


@given(SIZES, st.sampled_from(DTYPES), st.integers(0, 100), st.data())
def test_append_and_remove(n, dtype, seed, data):
    A = matrix(n + 3, seed, dtype, condition=50)
    F = ks.linalg.cholesky(A[:n, :n])
    for i in range(n, n + 3):
        F.append(A[:i, i], A[i, i])
    assert F.n == n + 3
    L = F.lower().astype(float)
    assert_backward(L @ L.T - A, np.abs(A), n + 3, dtype)
    for _ in range(min(n, 3)):
        i = data.draw(st.integers(0, len(A) - 1))
        F.remove(i)
        A = reference.remove(A, i)
        L = F.lower().astype(float)
        assert_backward(L @ L.T - A, np.abs(A), n + 3, dtype, slack=8)
    b = np.ones(len(A), dtype)
    assert_forward(F.solve(b), np.linalg.solve(A.astype(float), b), 50, n, dtype, slack=8)
    assert_forward(F.inverse(), np.linalg.inv(A.astype(float)), 50, n, dtype, slack=8)


def test_append_across_tiles():
    A = matrix(300, 1, condition=50)
    F = ks.linalg.cholesky(A[:1, :1])
    for i in range(1, 300):
        F.append(A[:i, i], A[i, i])
    L = F.lower()
    assert_backward(L @ L.T - A, np.abs(A), 300, float)
    for i in range(299):
        F.remove(i % 2 - 1)
    assert F.n == 1
    assert F.lower() > 0


def test_failed_append_changes_nothing():
    A = matrix(20)
    F = ks.linalg.cholesky(A)
    before = F.lower()
    with pytest.raises(ks.NotPositiveDefiniteError) as error:
        F.append(A[0], A[0, 0] * (1 - 1e-12))  # the first row again, its last pivot negative beyond rounding
    assert error.value.pivot == 20
    assert error.value.value <= 20 * eps(float)
    assert np.array_equal(F.lower(), before)


def test_remove_outside():
    F = ks.linalg.cholesky(matrix(3))
    for i in (3, -4):
        with pytest.raises(IndexError, match=f"i: {i} is not a row of a matrix of size 3"):
            F.remove(i)


@pytest.mark.parametrize("n", [1, 5, 64, 96, 97, 300, 600])
@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_pivot_of_a_failure(n, where, threads):
    i = {"first": 0, "middle": n // 2, "last": n - 1}[where]
    A = matrix(n, condition=10)
    A[i, i] = -1.0
    with pytest.raises(ArithmeticError) as expected:
        reference.cholesky(A)
    for count in (1, 2):
        threads(count)
        with pytest.raises(ks.NotPositiveDefiniteError, match=rf"pivot of row {i} is -") as error:
            ks.linalg.cholesky(A)
        assert error.value.pivot == i == expected.value.args[0]
        assert error.value.value == pytest.approx(expected.value.args[1], rel=100 * n * eps(float))


def test_error_is_a_linalg_error_and_pickles():
    with pytest.raises(np.linalg.LinAlgError, match="Add to the diagonal") as error:
        ks.linalg.cholesky(np.zeros((3, 3)))
    again = pickle.loads(pickle.dumps(error.value))
    assert (again.pivot, again.value, str(again)) == (0, 0.0, str(error.value))


def test_matrix_that_is_singular_to_rounding():
    X = np.linspace(0, 1, 50).reshape(-1, 1)
    with pytest.raises(ks.NotPositiveDefiniteError) as error:
        ks.linalg.cholesky(ks.gram(ks.kernels.RBF(1.0), X))
    assert 5 < error.value.pivot < 25
    assert abs(error.value.value) < 50**2 * eps(float)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extreme_scales(dtype):
    tiny, huge = np.finfo(dtype).tiny * 1e4, np.finfo(dtype).max / 1e4
    for scale in (tiny, huge):
        A = np.diag(np.full(20, scale, dtype))
        F = ks.linalg.cholesky(A)
        assert np.isfinite(F.lower()).all()
        assert F.solve(np.full(20, scale, dtype)) == pytest.approx(1, rel=8 * eps(dtype))


def test_empty():
    F = ks.linalg.cholesky(np.zeros((0, 0)))
    assert F.n == 0
    assert F.logdet() == 0
    assert F.lower().shape == F.inverse().shape == (0, 0)
    assert F.inverse_diagonal().shape == F.solve(np.zeros(0)).shape == (0,)
    assert F.solve(np.zeros((0, 3))).shape == (0, 3)
    F.append(np.zeros(0), 4.0)
    assert F.lower().tolist() == [[2.0]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_pickle(dtype):
    F = ks.linalg.cholesky(matrix(130, dtype=dtype))
    again = pickle.loads(pickle.dumps(F))
    b = np.ones(130, dtype)
    assert again.dtype == dtype
    assert np.array_equal(again.solve(b), F.solve(b))


def test_memory_is_half_a_matrix():
    F = ks.linalg.cholesky(np.eye(2000))
    assert F.nbytes <= 0.55 * 8 * 2000**2
    assert "2000 x 2000" in repr(F)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pickled_factors_are_the_same(dtype, rng):
    """Also by `__reduce__` alone, whose first entry must be the type of the object: this is what skops reads."""
    A = rng.standard_normal((150, 150)).astype(dtype)
    factor = ks.linalg.cholesky(A @ A.T + np.eye(150, dtype=dtype))
    others = [pickle.loads(pickle.dumps(factor, p)) for p in range(6)]
    others += [copy.copy(factor), copy.deepcopy(factor)]
    kind, arguments = factor.__reduce__()
    assert kind is type(factor)
    core, (lower,) = arguments[0].__reduce__()
    assert core is type(arguments[0])
    others.append(kind(core(lower)))
    for other in others:
        assert other.dtype == dtype
        assert np.array_equal(other.lower(), factor.lower())
        assert np.array_equal(other.solve(A[0]), factor.solve(A[0]))


@pytest.mark.parametrize(
    "state",
    ["x", None, [], [1.0], [[1.0, 2.0]], [[np.nan]], [[0.0]], [[-1.0]], [[1.0, 0.0], [np.inf, 1.0]], np.zeros((2, 2, 2))],
)
def test_states_that_are_no_factor(state):
    for kind in (_core.CholeskyFloat32, _core.CholeskyFloat64):
        with pytest.raises(ValueError, match=r"^L: "):
            kind(state)
    with pytest.raises(TypeError, match=r"(?s)factor: .* use kernsel.linalg.cholesky"):
        Cholesky(state)
