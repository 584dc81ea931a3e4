"""Kernels on strings, against enumerations of all words, subsequences and alignments."""

import _thread
import doctest
import threading
import time

import numpy as np
import pytest

from kernsel.structured import alignments, sequences, strings
from kernsel.structured.alignments import local_alignment_gram, pairs_are_a_kernel
from kernsel.structured.sequences import alphabet_size, as_sequences
from kernsel.structured.strings import spectrum_diagonal, spectrum_gram, subsequence_diagonal, subsequence_gram

import reference

EPS = np.finfo(float).eps
DNA = "ACGT"


def texts(rng, count, longest, letters=DNA):
    """Return random strings, an empty one and one of a single letter among them."""
    lengths = [0, 1, *rng.integers(0, longest + 1, count - 2)]
    return ["".join(rng.choice(list(letters), n)) for n in lengths]


def check(gram, diagonal, expected, X, Z, rtol):
    """Compare with a function of two strings: X, X against Z, each with itself."""
    own = np.array([[expected(s, t) for t in X] for s in X])
    cross = np.array([[expected(s, t) for t in Z] for s in X])
    np.testing.assert_allclose(gram(X), own, rtol=rtol, atol=0)
    np.testing.assert_allclose(gram(X, Z), cross, rtol=rtol, atol=0)
    np.testing.assert_allclose(diagonal(X), np.diag(own), rtol=rtol, atol=0)


def differences(call, h):
    """Return the central difference of fourth order at 0, which is exact for polynomials of degree 4."""
    return (8 * (call(h) - call(-h)) - call(2 * h) + call(-2 * h)) / (12 * h)


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


def test_the_size_of_an_alphabet(rng):
    """By default, an alphabet has the letters of X; k is a polynomial in its size: of degree one for one mismatch."""
    X, Z = ["GATTACA", *texts(rng, 6, 14)], texts(rng, 5, 12, "ACGTN")
    options = {"length": 3, "mismatches": 1}
    K = spectrum_gram(X, **options)
    assert np.array_equal(K, spectrum_gram(X, alphabet=DNA, **options))
    assert np.array_equal(K, spectrum_gram(X, alphabet=3 + 1, **options))
    assert np.array_equal(np.diag(K), spectrum_diagonal(X, **options))
    five, six = ([[reference.spectrum(tuple(s), tuple(t), 3, 1, A) for t in Z] for s in X] for A in ("ACGTN", "ACGTNX"))
    assert np.array_equal(spectrum_gram(X, Z, alphabet=5, **options), five)
    assert np.array_equal(spectrum_gram(X, Z, **options), 2 * np.array(five) - np.array(six))
    assert alphabet_size(X) == 4
    assert alphabet_size(["", "AAA"]) == alphabet_size([]) == 2
    assert np.array_equal(spectrum_gram(["", "AA"], length=2, mismatches=1), [[0.0, 0.0], [0.0, 3.0]])


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


GAPS = [{}, {"gap_open": 2.0, "gap_extend": 0.25}, {"gap_open": np.inf}, {"table": True}]


def score_and_options(rng, options):
    """Return a score of pairs of letters of ACGN, N being unknown, and the arguments that mean it."""
    given = {"beta": 0.7, "gap_open": 1.0, "gap_extend": 1.0} | options
    table = rng.standard_normal((3, 3))
    table += table.T
    with_table = given.pop("table", False)

    def score(a, b):
        if "N" in (a, b):
            return -np.inf
        return table["ACG".index(a), "ACG".index(b)] if with_table else 1.0 if a == b else -1.0

    return score, given, {"alphabet": "ACG"} | ({"scores": table} if with_table else {})


@pytest.mark.core
@pytest.mark.parametrize("options", GAPS)
def test_local_alignments(rng, options):
    X, Z = texts(rng, 5, 5, "ACGN"), texts(rng, 4, 6, "ACGN")
    score, given, more = score_and_options(rng, options)

    def expected(s, t):
        return float(reference.local_alignments(s, t, score, **given))

    check(
        lambda *lists: local_alignment_gram(*lists, normalize=False, **given, **more),
        lambda X: np.diag(local_alignment_gram(X, normalize=False, **given, **more)),
        expected,
        X,
        Z,
        100 * EPS,
    )
    K = np.array([[expected(s, t) for t in Z] for s in X])
    rows, cols = (np.sqrt([expected(s, s) for s in A]) for A in (X, Z))
    np.testing.assert_allclose(local_alignment_gram(X, Z, **given, **more), K / np.outer(rows, cols), rtol=200 * EPS)
    own = local_alignment_gram(X, **given, **more)
    np.testing.assert_allclose(own, local_alignment_gram(X, X, **given, **more), rtol=200 * EPS)
    assert np.array_equal(np.diag(own), np.ones(5))
    logs = local_alignment_gram(X, Z, log=True, normalize=False, **given, **more)
    np.testing.assert_allclose(logs * given["beta"], np.log(K), rtol=0, atol=200 * EPS)
    if "scores" in more:
        pairs = {(a, b): score(a, b) for i, a in enumerate("ACG") for b in "ACG"[i:]}
        assert np.array_equal(local_alignment_gram(X, **given, alphabet="ACG", scores=pairs), own)


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("options", GAPS)
def test_derivatives_of_alignments(rng, options, normalize, long):
    """In the logarithms of beta and of both costs; for long strings of numbers beyond doubles, as logarithms."""
    X, Z = texts(rng, 5, 20, "ACGN"), texts(rng, 4, 25, "ACGN")
    if long:
        X, Z = [*X, "ACC" * 30], [*Z, "ACC" * 25, "ACCG" * 25]
        options = {"beta": 12.0} | options
    _, given, more = score_and_options(rng, options)
    more = more | {"normalize": normalize, "log": long}
    h = 1e-3
    for lists in ((X,), (X, Z)):
        K, slopes = local_alignment_gram(*lists, derivative=True, **given, **more)
        assert np.array_equal(K, local_alignment_gram(*lists, **given, **more))
        assert slopes.shape == (3, *K.shape)
        for name, slope in zip(("beta", "gap_open", "gap_extend"), slopes, strict=True):

            def value(step, name=name, lists=lists):
                return local_alignment_gram(*lists, **given | {name: given[name] * np.exp(step)}, **more)

            # The error of the differences is a sixteenth of that with steps twice as large, and rounding of values, over h.
            found, coarse = differences(value, h), differences(value, 2 * h)
            tolerance = 3000 * EPS * (1.0 + np.abs(K).max()) / h + np.abs(found - coarse) / 8
            assert np.all(np.abs(slope - found) <= tolerance)


def test_alignments_of_long_strings(rng):
    """Logarithms of numbers far beyond doubles: of a string with itself the best alignment is nearly all of the sum."""
    X = ["".join(rng.choice(list(DNA), n)) for n in (50, 300, 700)]
    logs, slopes = local_alignment_gram(X, beta=20.0, match=1.5, log=True, normalize=False, derivative=True)
    assert np.diag(logs) == pytest.approx([75.0, 450.0, 1050.0], rel=1e-9)
    assert np.diagonal(slopes, axis1=1, axis2=2) == pytest.approx(np.zeros((3, 3)), abs=1e-6)  # the score depends on none
    assert logs[0, 1] >= 5.0
    K = local_alignment_gram(X, beta=20.0, match=1.5)
    assert np.array_equal(np.diag(K), np.ones(3))
    for derivative in (False, True):
        with pytest.raises(ValueError, match="beyond all numbers; normalize it"):
            local_alignment_gram(X, normalize=False, beta=20.0, match=1.5, derivative=derivative)


def test_scores_of_which_the_kernel_is_one(rng):
    for _ in range(20):
        table = rng.standard_normal((4, 4))
        table += table.T + np.diag(rng.uniform(0, 4, size=4))
        least = np.linalg.eigvalsh(np.exp(0.7 * table))[0]
        assert pairs_are_a_kernel(0.7, 1.0, -1.0, table, DNA) == (least >= 0)
        if least >= 0:
            K = local_alignment_gram(texts(rng, 30, 12), beta=0.7, scores=table, alphabet=DNA)
            assert np.linalg.eigvalsh(K)[0] >= -100 * EPS
    assert pairs_are_a_kernel(1.0, 2.0, 2.0)
    assert not pairs_are_a_kernel(1.0, 1.0, 2.0)
    assert np.linalg.eigvalsh(local_alignment_gram(["A", "C"], match=1.0, mismatch=2.0, beta=1.0))[0] < 0


def test_alignments_beyond_doubles(rng):
    """Both kinds of numbers, on both sides of exp(709)."""
    X = [*texts(rng, 5, 45, "AC"), "A" * 60, "AC" * 25]
    for beta in (0.5, 8.0, 25.0):
        logs = beta * local_alignment_gram(X, beta=beta, gap_open=1.5, gap_extend=0.5, log=True, normalize=False)
        for i, j in ((2, 3), (3, 4), (5, 5), (6, 5), (6, 6)):
            expected = reference.log_local_alignments(X[i], X[j], lambda a, b: 1.0 if a == b else -1.0, beta, 1.5, 0.5)
            assert logs[i, j] == pytest.approx(expected, rel=300 * EPS, abs=300 * EPS)
    assert logs.max() > 1400


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


def test_tokens_of_any_kind(rng):
    X = texts(rng, 9, 15)
    words = [[(letter, "word") for letter in text] for text in X]
    numbers = [np.array([DNA.index(letter) * 10**9 for letter in text], dtype=np.int64) for text in X]
    for gram in (spectrum_gram, subsequence_gram, local_alignment_gram):
        expected = gram(X)
        for same in (words, numbers, tuple(map(list, X)), [text.encode() for text in X], np.array(X), map(tuple, X)):
            assert np.array_equal(gram(same), expected)
        assert np.array_equal(gram(X, alphabet="TGCA"), expected)
        assert gram(X, X[:4]) == pytest.approx(expected[:, :4], rel=200 * EPS)
        assert gram(X, list(map(list, X[:4]))) == pytest.approx(expected[:, :4], rel=200 * EPS)
        assert gram([]).shape == (0, 0)
        assert gram(X, []).shape == (9, 0)
    assert spectrum_gram(["éa\U0001f600b", "\ud800a\U0001f600"], length=2)[0, 1] == 1.0


def test_as_sequences():
    X = ["GATTACA", "", ["to", "be"], (1, 2), b"AC"]
    assert as_sequences(X) is X
    rows = as_sequences(np.arange(6).reshape(2, 3))
    assert rows == [[0, 1, 2], [3, 4, 5]]
    assert as_sequences(rows) is rows
    for wrong in ("GATTACA", b"GA", {"A", "C"}, {"A": 1}, 3, None):
        with pytest.raises(TypeError, match="X: expected a list of strings or of sequences of tokens, got"):
            as_sequences(wrong)
    for wrong in (3, None, {"A"}, np.float64(1.0), iter("GA")):
        with pytest.raises(TypeError, match=r"Z\[1\]: expected a string or a sequence of tokens, got"):
            as_sequences(["A", wrong], "Z")


def test_unknown_letters_match_nothing():
    assert spectrum_gram(["NNNN"], ["NNNN"], length=2, alphabet=DNA)[0, 0] == 0.0
    assert spectrum_gram(["ANC"], ["ANC"], length=3, mismatches=1, alphabet=DNA)[0, 0] == 0.0
    assert subsequence_gram(["NNNN"], length=1, alphabet=DNA)[0, 0] == 0.0
    assert local_alignment_gram(["NNNN"], normalize=False, alphabet=DNA)[0, 0] == 1.0


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
        (lambda: local_alignment_gram(["A"], normalize=1), TypeError, "normalize: expected True or False, got 1"),
        (lambda: local_alignment_gram(["A"], log="yes"), TypeError, "log: expected True or False, got 'yes'"),
        (
            lambda: spectrum_gram(["A" * 99], length=30, mismatches=14, alphabet=range(1000)),
            ValueError,
            "spectrum: the counts are too large to be exact",
        ),
        (lambda: subsequence_gram(["A"], decay=0.0), ValueError, "decay: expected a number above 0, up to 1, got 0.0"),
        (lambda: subsequence_gram(["A"], decay=np.nan), ValueError, "decay: expected a number"),
        (lambda: subsequence_gram(["A" * 600], length=250, decay=1.0), ValueError, "beyond all numbers"),
        (lambda: local_alignment_gram(["A"], beta=0.0), ValueError, "beta: expected a positive number, got 0.0"),
        (lambda: local_alignment_gram(["A"], gap_open=-1.0), ValueError, "gap_open: expected a number from 0 on"),
        (lambda: local_alignment_gram(["A"], match=np.inf), ValueError, "match: expected a finite number"),
        (lambda: local_alignment_gram(["A"], match=600.0, beta=1.0), ValueError, "alignment: scores must be finite"),
        (lambda: local_alignment_gram(["A"], scores=np.eye(2)), ValueError, "alphabet: expected the letters"),
        (lambda: local_alignment_gram(["A"], scores=np.eye(2), alphabet=DNA), ValueError, "scores: expected an array of shape"),
        (
            lambda: local_alignment_gram(["A"], scores=[[1, 2], [3, 4]], alphabet="AC"),
            ValueError,
            "scores: expected a symmetric",
        ),
        (
            lambda: local_alignment_gram(["A"], scores={("A", "A"): 1.0}, alphabet="AC"),
            ValueError,
            r"scores: .*, got none for \('A', 'C'\)",
        ),
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
        lambda X: local_alignment_gram(["".join(X)], beta=20.0),
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
