"""What one tile costs from Python: ``pytest bench/micro``. Rates are in the column of extra information."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF


@pytest.fixture(params=["float64", "float32"])
def dtype(request):
    return request.param


def positive(n, dtype):
    B = np.random.default_rng(0).standard_normal((n, n))
    return (B @ B.T + n * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("n", [1, 16, 64, 96])
def bench_cholesky(benchmark, n, dtype):
    A = positive(n, dtype)
    L = benchmark(ks.linalg.cholesky, A).lower().astype(float)
    assert np.abs(L @ L.T - A).max() <= 4 * n * np.finfo(dtype).eps * np.abs(A).max()


@pytest.mark.parametrize("columns", [1, 8, 96])
def bench_solve(benchmark, columns, dtype):
    A = positive(96, dtype)
    b = np.ones((96, columns), dtype)
    x = benchmark(ks.linalg.cholesky(A).solve, b)
    assert A @ x == pytest.approx(b, abs=96 * 100 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("method", ["inverse", "inverse_diagonal", "logdet", "lower"])
def bench_after(benchmark, method, dtype):
    A = positive(96, dtype)
    result = benchmark(getattr(ks.linalg.cholesky(A), method))
    exact = np.linalg.inv(A.astype(float))
    expected = {
        "inverse": exact,
        "inverse_diagonal": np.diag(exact),
        "logdet": np.linalg.slogdet(A.astype(float))[1],
        "lower": np.linalg.cholesky(A.astype(float)),
    }
    assert result == pytest.approx(expected[method], abs=1000 * float(np.finfo(dtype).eps) * np.max(np.abs(expected[method])))


@pytest.mark.parametrize("ard", [False, True])
@pytest.mark.parametrize("d", [1, 10, 100])
@pytest.mark.parametrize("what", ["gram", "pullback", "matmul"])
def bench_rbf(benchmark, what, d, ard, dtype):
    X = np.random.default_rng(0).standard_normal((120, d)).astype(dtype)
    kernel = RBF([d**0.5] * d if ard else d**0.5)
    ones = np.ones((120, 120), dtype)
    call = {
        "gram": lambda: kernel(X),
        "pullback": lambda: kernel.pullback(X, ones),
        "matmul": lambda: kernel.matmul(X, X, ones[:, :8]),
    }
    result = benchmark(call[what])
    if what == "gram":
        assert result[0, 1] == pytest.approx(
            np.exp(-0.5 * np.sum((X[0] - X[1]) ** 2) / d), rel=1000 * float(np.finfo(dtype).eps)
        )
    elif what == "matmul":
        assert result[:, 0] == pytest.approx(kernel(X).sum(1), rel=1000 * float(np.finfo(dtype).eps))
    else:
        assert (result > 0).all()
