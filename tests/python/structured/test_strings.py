"""Kernels that count words and subsequences, against enumerations of them."""

import _thread
import doctest
import threading
import time

import numpy as np
import pytest

from kernsel.structured import alignments, sequences, strings
from kernsel.structured.alignments import local_alignment_gram
from kernsel.structured.strings import spectrum_diagonal, spectrum_gram, subsequence_diagonal, subsequence_gram

import reference
from strings_drawn import DNA, check, differences, texts

EPS = np.finfo(float).eps


@pytest.mark.core
@pytest.mark.parametrize(("length", "mismatches"), [(1, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 1)])
def test_spectrum(rng, length, mismatches):
    X, Z = texts(rng, 7, 14, "ACGTN"), texts(rng, 5, 12, "ACGTN")
    options = {"length": length, "mismatches": mismatches, "alphabet": DNA}
    check(
        lambda *lists: spectrum_gram(*lists, **options),
        lambda X: spectrum_diagonal(X, **options),
        lambda s, t: float(reference.spectrum(tuple(s), tuple(t), length, mismatches, DNA)),
        X,
        Z,
        0.0,
    )


@pytest.mark.core
@pytest.mark.parametrize("decay", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_subsequences(rng, length, decay):
    X, Z = texts(rng, 11, 9, "ACGN"), texts(rng, 9, 8, "ACGN")
    options = {"length": length, "decay": decay, "alphabet": "ACG"}
    check(
        lambda *lists: subsequence_gram(*lists, **options),
        lambda X: subsequence_diagonal(X, **options),
        lambda s, t: reference.subsequences(s, t, **options)[0],
        X,
        Z,
        200 * EPS,
    )
    check(
        lambda *lists: subsequence_gram(*lists, derivative=True, **options)[1],
        lambda X: subsequence_diagonal(X, derivative=True, **options)[1],
        lambda s, t: reference.subsequences(s, t, **options)[1],
        X,
        Z,
        200 * EPS,
    )
    for lists in ((X,), (X, Z)):
        values = subsequence_gram(*lists, derivative=True, **options)[0]
        assert np.array_equal(values, subsequence_gram(*lists, **options))


def test_long_subsequences_against_numpy(rng):
    s, t = rng.integers(0, 4, 80), rng.integers(0, 4, 95)
    for length, decay in ((1, 0.5), (3, 0.9), (6, 1.0)):
        K = subsequence_gram([s], [t], length=length, decay=decay)
        expected = reference.subsequences_by_rows(s, t, length, decay)
        assert K[0, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("cross", [False, True])
def test_derivatives_of_long_subsequences(rng, cross):
    lists = (texts(rng, 12, 20), texts(rng, 10, 25))[: 1 + cross]
    for length in (1, 2, 4):
        K, slope = subsequence_gram(*lists, length=length, decay=0.6, derivative=True)
        h = 1e-4  # of log decay; 45 letters are spanned at most, to whose fifth power the fifth derivative may grow

        def value(step, length=length):
            return subsequence_gram(*lists, length=length, decay=0.6 * np.exp(step))

        assert np.all(np.abs(slope - differences(value, h)) <= (200 * EPS / h + 45**5 * h**4 / 30) * K)
        assert np.array_equal(subsequence_gram(*lists, length=length, decay=0.6), K)


def test_positive_semidefinite(rng):
    X = texts(rng, 40, 30)
    for K in (
        spectrum_gram(X, length=3, mismatches=1, alphabet=DNA),
        subsequence_gram(X, length=3, decay=0.8),
        local_alignment_gram(X, beta=0.5),
    ):
        assert np.array_equal(K, K.T)
        assert np.linalg.eigvalsh(K)[0] >= -100 * 40 * EPS * np.linalg.norm(K, 2)


def test_the_same_bits_on_any_number_of_threads(rng, threads):
    X = texts(rng, 60, 60)

    def everything():
        tables = [spectrum_gram(X, mismatches=1), spectrum_diagonal(X)]
        tables += [*subsequence_gram(X, derivative=True), *subsequence_diagonal(X, derivative=True)]
        tables += [*local_alignment_gram(X, derivative=True), local_alignment_gram(X, X[::2])]
        return [table.tobytes() for table in tables]

    threads(1)
    alone = everything()
    threads(2)
    assert everything() == alone


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: spectrum_gram("ACGT"), TypeError, "X: expected a list of strings .*, got 'ACGT'"),
        (lambda: spectrum_gram(["A"], 3), TypeError, "Z: expected a list of strings"),
        (lambda: spectrum_gram(["A", 3]), TypeError, r"X\[1\]: expected a string or a sequence of tokens, got 3"),
        (lambda: spectrum_gram([[["A"]]]), TypeError, r"X\[0\]: expected tokens that are hashable"),
        (lambda: spectrum_gram(["A"], length=0), ValueError, "length: expected a whole number from 1 on, got 0"),
        (lambda: spectrum_gram(["A"], length=2.0), ValueError, "length: expected a whole number"),
        (lambda: spectrum_gram(["A"], mismatches=-1), ValueError, "mismatches: expected a whole number from 0 on"),
        (lambda: spectrum_gram(["A"], mismatches=3), ValueError, "mismatches: expected fewer than the 3 letters"),
        (lambda: spectrum_gram(["A"], length=40, mismatches=1), ValueError, "length: expected at most 30"),
        (lambda: spectrum_gram([[["A"]]], mismatches=1), TypeError, "X: expected tokens that are hashable"),
        (lambda: spectrum_gram(["A"], alphabet=""), ValueError, "alphabet: expected tokens that are all different"),
        (lambda: spectrum_gram(["A"], alphabet="AA"), ValueError, "alphabet: expected tokens that are all different"),
        (lambda: spectrum_gram(["A"], alphabet=0), TypeError, "alphabet: expected a string or a sequence"),
        (lambda: subsequence_gram(["A"], alphabet=3), TypeError, "alphabet: expected a string or a sequence"),
        (lambda: subsequence_gram(["A"], derivative=1), TypeError, "derivative: expected True or False, got 1"),
        (
            lambda: spectrum_gram(["A" * 99], length=30, mismatches=14, alphabet=range(1000)),
            ValueError,
            "spectrum: the counts are too large to be exact",
        ),
        (lambda: subsequence_gram(["A"], decay=0.0), ValueError, "decay: expected a number above 0, up to 1, got 0.0"),
        (lambda: subsequence_gram(["A"], decay=np.nan), ValueError, "decay: expected a number"),
        (lambda: subsequence_gram(["A" * 600], length=250, decay=1.0), ValueError, "beyond all numbers"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda X: spectrum_gram(X * 30, length=12, mismatches=4),
        lambda X: subsequence_gram(X, length=20),
        lambda X: subsequence_diagonal(["".join(X)], length=3, derivative=True),
    ],
)
def test_interrupt(rng, call):
    """Each would take minutes."""
    X = ["".join(rng.choice(list(DNA), 2000)) for _ in range(40)]
    timer = threading.Timer(0.3, _thread.interrupt_main)
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call(X)
    assert time.perf_counter() - start < 2.0


@pytest.mark.parametrize("module", [alignments, sequences, strings])
def test_examples(module):
    failed, attempted = doctest.testmod(module)
    assert attempted >= 3
    assert failed == 0
