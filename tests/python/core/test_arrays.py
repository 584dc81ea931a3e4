"""The boundary: whatever NumPy can hold ends in the right result, or in an error that names the argument."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF

from accuracy import eps

A = np.array([[4.0, 2.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, 3.0]])
EXPECTED = np.linalg.cholesky(A)


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)
    view = raw[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    assert not view.flags.aligned
    return view


def odd_strides(array):
    records = np.zeros(array.shape, dtype=[("value", array.dtype), ("rest", np.uint8)])
    records["value"] = array
    return records["value"]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


VARIANTS = {
    "C": lambda a: a.copy(),
    "F": np.asfortranarray,
    "list": lambda a: a.tolist(),
    "int": lambda a: a.astype(int),
    "uint8": lambda a: a.astype(np.uint8),
    "float16": lambda a: a.astype(np.float16),
    "longdouble": lambda a: a.astype(np.longdouble),
    "object": lambda a: a.astype(object),
    "big endian": lambda a: a.astype(">f8"),
    "big endian single": lambda a: a.astype(">f4"),
    "unaligned": unaligned,
    "odd strides": odd_strides,
    "read only": read_only,
    "negative strides": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "every other": lambda a: np.repeat(np.repeat(a, 2, 0), 2, 1)[::2, ::2],
    "matrix": lambda a: np.ma.masked_array(a),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_what_can_be_read_is_read(name):
    given = VARIANTS[name](A)
    L = ks.linalg.cholesky(given).lower()
    assert L.dtype == (np.float32 if "single" in name else np.float64)
    assert pytest.approx(EXPECTED, rel=8 * eps(L.dtype)) == L
    assert np.asarray(given, dtype=float) == pytest.approx(A)
    assert L.flags.owndata
    assert L.flags.c_contiguous
    assert ks.gram(RBF(2.0), given) == pytest.approx(ks.gram(RBF(2.0), A), rel=8 * eps(L.dtype))
    b = VARIANTS[name](A)
    assert ks.linalg.cholesky(A).solve(b) == pytest.approx(np.eye(3), abs=64 * eps(L.dtype))


def test_booleans_are_numbers():
    assert ks.linalg.cholesky(np.eye(2, dtype=bool)).logdet() == 0


@pytest.mark.parametrize(
    "bad",
    [
        "text",
        np.array(["a"]),
        A + 1j,
        np.array([[None, 1], [1, 2]]),
        [[1, "x"]],
        np.array([["2020-01-01"]], "M8[D]"),
        {},
    ],
)
def test_what_is_not_a_number(bad):
    for call in (lambda: ks.linalg.cholesky(bad), lambda: ks.linalg.cholesky(np.eye(1)).solve(bad)):
        with pytest.raises((TypeError, ValueError), match=r"^(A|b): "):
            call()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError])
def test_other_errors_of_a_conversion_stay_what_they_are(error):
    class Lazy:
        def __array__(self, dtype=None, copy=None):
            raise error("while it is read")

    with pytest.raises(error):
        ks.linalg.cholesky(Lazy())


def test_ragged_lists():
    with pytest.raises((TypeError, ValueError), match=r"^X: "):
        ks.gram(RBF(), [[1.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ks.linalg.cholesky(np.ones(3)), r"A: expected an array of two dimensions, got shape \(3,\)"),
        (lambda: ks.linalg.cholesky(np.float64(3)), r"A: expected an array of two dimensions, got shape \(\)"),
        (lambda: ks.linalg.cholesky(np.ones((2, 2, 2))), r"A: expected an array of two dimensions, got shape \(2, 2, 2\)"),
        (lambda: ks.linalg.cholesky(np.ones((2, 3))), r"A: expected a square matrix, got shape \(2, 3\)"),
        (lambda: ks.linalg.cholesky(A).solve(np.ones(4)), r"b: expected 3 rows, as the matrix has, got shape \(4,\)"),
        (lambda: ks.linalg.cholesky(A).solve(np.ones((3, 1, 1))), r"b: expected an array of one or two dimensions"),
        (lambda: ks.linalg.cholesky(A).sandwich(np.ones(2)), r"g: expected 3 entries, one for each row of the matrix, got 2"),
        (lambda: ks.linalg.cholesky(A).append(np.ones(2), 1.0), r"a: expected 3 entries"),
        (lambda: ks.gram(RBF(), np.ones(3)), r"X: expected an array of two dimensions, .* use \.reshape\(-1, 1\)"),
        (lambda: ks.gram(RBF(), A, A[:, :2]), r"Z: expected 3 columns, as X has, got shape \(3, 2\)"),
        (lambda: ks.gram(RBF(), A, out=np.ones((2, 2))), r"out: expected shape \(3, 3\), got \(2, 2\)"),
        (lambda: ks.gram(RBF(), A, out=read_only(A)), r"out: the array is read-only"),
        (lambda: ks.gram(RBF(), A, out=unaligned(A)), r"out: the array is not aligned"),
        (
            lambda: ks.gram(RBF(), A, out=np.lib.stride_tricks.as_strided(np.ones(9), (3, 3), (8, 8))),
            r"out: elements of the array overlap",
        ),
    ],
)
def test_wrong_shapes(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_output():
    with pytest.raises(TypeError, match="out: expected dtype float64, the one of the data, got float32"):
        ks.gram(RBF(), A, out=np.ones((3, 3), np.float32))
    with pytest.raises(TypeError, match="out: expected a NumPy array"):
        ks.gram(RBF(), A, out=[[1.0]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_not_finite(value, dtype):
    bad = np.eye(150, dtype=dtype)
    bad[120, 7] = value
    with pytest.raises(ValueError, match="A: contains NaN or infinity, first at row 120, column 7"):
        ks.linalg.cholesky(bad)
    bad = np.eye(150, dtype=dtype)
    bad[120, 120] = value
    with pytest.raises(ValueError, match="A: contains NaN or infinity, first at row 120, column 120"):
        ks.linalg.cholesky(bad)
    bad = np.eye(150, dtype=dtype)
    bad[7, 120] = value  # above the diagonal: not read
    assert ks.linalg.cholesky(bad).logdet() == 0

    X = np.ones((5, 2), dtype)
    X[3, 1] = value
    for call in (lambda: ks.gram(RBF(), X), lambda: ks.gram(RBF(), np.ones((2, 2)), X), lambda: RBF().diag(X)):
        with pytest.raises(ValueError, match=r"[XZ]: contains NaN or infinity, first at row 3, column 1"):
            call()
    with pytest.raises(ValueError, match="a: contains NaN or infinity, first at entry 1"):
        ks.linalg.cholesky(np.eye(2)).append([0.0, value], 1.0)


def test_results_own_their_memory():
    F = ks.linalg.cholesky(A)
    L, inverse = F.lower(), F.inverse()
    del F
    L[:] = 0
    assert inverse @ A == pytest.approx(np.eye(3), abs=64 * eps(float))


def test_more_memory_than_there_is():
    huge = np.lib.stride_tricks.as_strided(np.ones(1), (2_000_000, 2_000_000), (0, 0))
    with pytest.raises(MemoryError, match=r"this needs 14\.\d+ TiB \(16\d+ bytes\), and .* are available"):
        ks.linalg.cholesky(huge)
    X = np.lib.stride_tricks.as_strided(np.ones(1), (2_000_000, 1), (0, 0))
    with pytest.raises(MemoryError, match=r"this needs 29\.\d+ TiB"):
        ks.gram(RBF(), X)
    with pytest.raises(MemoryError, match=r"2000000 points need 1\.49e\+04 GiB"):
        ks.KernelRidge(RBF(), approximation=None).fit(X, np.ones(2_000_000))
