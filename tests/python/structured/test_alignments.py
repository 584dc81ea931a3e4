"""The kernel of local alignments, against the enumeration of all."""

import _thread
import threading
import time

import numpy as np
import pytest

from kernsel.structured.alignments import local_alignment_gram, pairs_are_a_kernel

import reference
from strings_drawn import DNA, check, differences, texts

EPS = np.finfo(float).eps
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


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: local_alignment_gram(["A"], normalize=1), TypeError, "normalize: expected True or False, got 1"),
        (lambda: local_alignment_gram(["A"], log="yes"), TypeError, "log: expected True or False, got 'yes'"),
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
