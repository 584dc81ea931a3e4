"""Matrices of the spectrum and the subsequence kernel on strings, and on sequences of any tokens.

The functions take lists of `str`, `bytes` or sequences of hashable tokens (see `as_sequences`), and do not normalize. With
`derivative=True`, derivatives are computed in the same pass.
"""

from __future__ import annotations

from numbers import Real
from typing import cast

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel.structured.sequences import (
    Alphabet,
    Tables,
    alphabet_size,
    as_flag,
    as_sequences,
    encode,
    is_whole,
    numbers_of,
    split,
)

__all__ = [
    "alphabet_size",
    "as_sequences",
    "spectrum_diagonal",
    "spectrum_gram",
    "subsequence_diagonal",
    "subsequence_gram",
]


def spectrum_gram(
    X: object, Z: object = None, *, length: int = 3, mismatches: int = 0, alphabet: Alphabet | int | None = None
) -> Matrix:
    """Compare strings by the words in them: k(s, t) = sum_a c_a(s) c_a(t).

    The sum is over all words a of `length` letters of the alphabet; c_a(s) counts the places in s where there is a word that
    differs from a in `mismatches` letters at most. Positive semidefinite: an inner product of the counts.

    Parameters
    ----------
    X : list of str or of sequences
        Letters are characters, or tokens of any hashable kind.
    Z : list of str or of sequences, optional
        The strings that X is compared with; X by default.
    length : int
        The number of letters of a word, from 1 on; 30 at most with mismatches.
    mismatches : int
        From 0 on, and below `length`.
    alphabet : str, sequence or int, optional
        All letters: words with other letters are not counted. Or their number: all letters are then counted. By default, the
        number of letters in X, two at least (`alphabet_size`). The number only matters with mismatches: k is a polynomial in
        it, and positive semidefinite for strings that have no more distinct letters together.

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)
        Whole numbers, exact.

    Notes
    -----
    Takes O(T + sum_w n_w^2) for T letters in all strings, where n_w is the number of strings with the word w. With m
    mismatches, that for each set of `length` - 2m or more places in a word, whatever the alphabet: words are not enumerated.

    Examples
    --------
    >>> from kernsel.structured.strings import spectrum_gram
    >>> spectrum_gram(["GATTACA", "ATTAC", "GA"], length=3)
    array([[5., 3., 0.],
           [3., 3., 0.],
           [0., 0., 0.]])
    >>> spectrum_gram(["AC"], ["AC", "AG", "GT"], length=2, mismatches=1, alphabet="ACGT")
    array([[7., 4., 2.]])
    """
    return _spectrum(X, Z, False, length, mismatches, alphabet)


def spectrum_diagonal(X: object, *, length: int = 3, mismatches: int = 0, alphabet: Alphabet | int | None = None) -> Vector:
    """Compute k(s, s) of :func:`spectrum_gram` for each string: zero for strings that have no word.

    Parameters
    ----------
    X : list of str or of sequences
    length, mismatches, alphabet
        As for :func:`spectrum_gram`.

    Returns
    -------
    diagonal : ndarray of shape (n,)

    Notes
    -----
    Takes O(T) for T letters in all strings, for each of the sets of places that :func:`spectrum_gram` names.

    Examples
    --------
    >>> from kernsel.structured.strings import spectrum_diagonal
    >>> spectrum_diagonal(["GATTACA", "AAAAAA", "GA"], length=3)
    array([ 5., 16.,  0.])
    """
    return _spectrum(X, None, True, length, mismatches, alphabet)[:, 0]


def subsequence_gram(
    X: object,
    Z: object = None,
    *,
    length: int = 3,
    decay: float = 0.5,
    alphabet: Alphabet | None = None,
    derivative: bool = False,
) -> Tables:
    """Compare strings by their subsequences: k(s, t) = sum_u sum_{i: s[i] = u} sum_{j: t[j] = u} decay^(l(i) + l(j)).

    The sum is over all u of `length` letters, and over all places i in s and j in t, in ascending order and with any gaps,
    whose letters are u; l is the number of letters from the first place to the last one. Positive semidefinite.

    Parameters
    ----------
    X : list of str or of sequences
        Letters are characters, or tokens of any hashable kind.
    Z : list of str or of sequences, optional
        The strings that X is compared with; X by default.
    length : int
        The number of letters of a subsequence, from 1 on.
    decay : float
        Above 0, up to 1. The closer to 0, the less do subsequences with gaps count.
    alphabet : str or sequence, optional
        All letters; others match nothing.
    derivative : bool
        Whether to return dK/dlog decay, too.

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)
    slope : ndarray of the same shape, if wanted

    Notes
    -----
    Takes O(length |s| |t|) for each pair of strings, by a dynamic program. No term of K or of its derivative is negative, so
    that none cancels, and both are exact to rounding. The derivative doubles the time.

    Examples
    --------
    >>> from kernsel.structured.strings import subsequence_gram
    >>> subsequence_gram(["cat", "car", "bat"], length=2, decay=0.5) * 16
    array([[2.25, 1.  , 1.  ],
           [1.  , 2.25, 0.  ],
           [1.  , 0.  , 2.25]])
    """
    return split(_subsequences(X, Z, False, length, decay, alphabet, derivative))


def subsequence_diagonal(
    X: object, *, length: int = 3, decay: float = 0.5, alphabet: Alphabet | None = None, derivative: bool = False
) -> Tables:
    """Compute k(s, s) of :func:`subsequence_gram` for each string: zero for strings shorter than `length`.

    Parameters
    ----------
    X : list of str or of sequences
    length, decay, alphabet, derivative
        As for :func:`subsequence_gram`.

    Returns
    -------
    diagonal : ndarray of shape (n,)
    slope : ndarray of shape (n,), if wanted

    Notes
    -----
    Takes O(length |s|^2) for each string.

    Examples
    --------
    >>> from kernsel.structured.strings import subsequence_diagonal
    >>> subsequence_diagonal(["cat", "a"], length=2, decay=0.5) * 16
    array([2.25, 0.  ])
    """
    return split(_subsequences(X, None, True, length, decay, alphabet, derivative)[:, :, 0])


def _spectrum(X: object, Z: object, diagonal: bool, length: int, mismatches: int, alphabet: Alphabet | int | None) -> Matrix:
    _whole("length", length, 1)
    _whole("mismatches", mismatches, 0)
    if mismatches >= length:
        raise ValueError(f"mismatches: expected fewer than the {length} letters of a word, got {mismatches}")
    if mismatches and length > 30:
        raise ValueError(f"length: expected at most 30 where mismatches are allowed, got {length}")
    X = as_sequences(X)
    if alphabet is None:
        alphabet = alphabet_size(X) if mismatches else 1
    numbers = None if is_whole(alphabet, 1) else numbers_of(alphabet)
    size = int(cast("int", alphabet)) if numbers is None else len(numbers)
    x, z = encode(X, Z, numbers)
    return cast("Matrix", _core.spectrum(x, z, diagonal, int(length), int(mismatches), size)[0])


def _subsequences(
    X: object, Z: object, diagonal: bool, length: int, decay: float, alphabet: Alphabet | None, derivative: bool
) -> Matrix:
    _whole("length", length, 1)
    if not isinstance(decay, Real) or isinstance(decay, bool) or not 0.0 < decay <= 1.0:
        raise ValueError(f"decay: expected a number above 0, up to 1, got {decay!r}")
    x, z = encode(X, Z, None if alphabet is None else numbers_of(alphabet))
    return _finite(_core.subsequences(x, z, diagonal, int(length), float(decay), as_flag("derivative", derivative)))


def _whole(name: str, value: object, least: int) -> None:
    if not is_whole(value, least):
        raise ValueError(f"{name}: expected a whole number from {least} on, got {value!r}")


def _finite(tables: Matrix) -> Matrix:
    if not np.isfinite(tables).all():
        raise ValueError("X: the strings are so long and so alike that the kernel is beyond all numbers; give a smaller decay")
    return tables
