"""Strings and sequences of tokens, and the alphabets of which they are."""

import numpy as np
import pytest

from kernsel.structured.alignments import local_alignment_gram
from kernsel.structured.sequences import alphabet_size, as_sequences
from kernsel.structured.strings import spectrum_diagonal, spectrum_gram, subsequence_gram

import reference
from strings_drawn import DNA, texts

EPS = np.finfo(float).eps


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
