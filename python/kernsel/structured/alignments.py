"""Local alignments of strings, and of sequences of any tokens."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel._base.annotations import Matrix
from kernsel.structured.sequences import Alphabet, Tables, as_flag, as_sequences, encode, numbers_of, split

__all__ = ["Scores", "local_alignment_gram", "pairs_are_a_kernel"]

Scores = Mapping[tuple[Hashable, Hashable], float] | ArrayLike


def local_alignment_gram(
    X: object,
    Z: object = None,
    *,
    beta: float = 0.5,
    gap_open: float = 1.0,
    gap_extend: float = 1.0,
    match: float = 1.0,
    mismatch: float = -1.0,
    scores: Scores | None = None,
    alphabet: Alphabet | None = None,
    normalize: bool = True,
    log: bool = False,
    derivative: bool = False,
) -> Tables:
    """Compare strings by all their local alignments: k(s, t) = 1 + sum_a exp(beta score(a)).

    A local alignment pairs some letters of s with letters of t, in ascending order; its score is the sum of those of the pairs,
    less, for g letters between two pairs in either string, gap_open + (g - 1) gap_extend (Vert, Saigo and Akutsu, 2004).

    It is positive semidefinite only for scores for which the matrix exp(beta score) of the letters is: always so for `match` >=
    `mismatch`, but not for all tables, such as those usual for proteins, and all beta. Its logarithm is not positive
    semidefinite in general. Look at the eigenvalues.

    Parameters
    ----------
    X : list of str or of sequences
        Letters are characters, or tokens of any hashable kind.
    Z : list of str or of sequences, optional
        The strings that X is compared with; X by default.
    beta : float
        Positive. For large beta, only the best alignment counts.
    gap_open, gap_extend : float
        From 0 on, or infinite for no gaps.
    match, mismatch : float
        The scores, if there is no table.
    scores : dict or array-like of shape (letters, letters), optional
        Scores of pairs of letters, symmetric: of all pairs in the alphabet, in either order or both; or a matrix in its order.
    alphabet : str or sequence, optional
        All letters; needed with `scores`. Other letters are not paired.
    normalize : bool
        Whether to divide by sqrt(k(s, s) k(t, t)), with logarithms of all three. Without it, strings that are so long and alike
        that k overflows are an error.
    log : bool
        Whether to return log(k) / beta instead: the score of the best alignment, if beta is large.
    derivative : bool
        Whether to return the derivatives in log beta, log gap_open and log gap_extend, too.

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)
    slopes : ndarray of shape (3, n, n) or (3, n, m), if wanted
        The last two are zero where a cost is zero or infinite.

    Notes
    -----
    Takes O(|s| |t|) for each pair of strings, with derivatives some four times as long. Sums that overflow are computed again
    with an exponent stored beside each number: some ten times slower, and as exact.

    Examples
    --------
    >>> from kernsel.structured.alignments import local_alignment_gram
    >>> local_alignment_gram(["A", "C"], beta=1.0, normalize=False).round(3)
    array([[3.718, 1.368],
           [1.368, 3.718]])
    """
    options = {"beta": beta, "gap_open": gap_open, "gap_extend": gap_extend, "match": match, "mismatch": mismatch}
    X = as_sequences(X)
    Z = None if Z is None else as_sequences(Z, "Z")
    tables = _log_alignments(X, Z, False, options, scores, alphabet, derivative)
    if as_flag("normalize", normalize):
        if Z is None:
            rows = cols = np.diagonal(tables, axis1=1, axis2=2)
        else:
            rows, cols = (_log_alignments(A, None, True, options, scores, alphabet, derivative)[:, :, 0] for A in (X, Z))
        tables = tables - 0.5 * (rows[:, :, None] + cols[:, None, :])
    return _of_logarithms(tables, beta, log)


def pairs_are_a_kernel(
    beta: float, match: float, mismatch: float, scores: Scores | None = None, alphabet: Alphabet | None = None
) -> bool:
    """Tell whether the matrix exp(beta score) of all letters is positive semidefinite, which suffices for the kernel.

    Parameters
    ----------
    beta, match, mismatch, scores, alphabet
        As for :func:`local_alignment_gram`.

    Examples
    --------
    >>> pairs_are_a_kernel(1.0, 1.0, -1.0), pairs_are_a_kernel(1.0, 0.0, 2.0)
    (True, False)
    """
    if scores is None:
        return match >= mismatch
    values = np.linalg.eigvalsh(np.exp(beta * _table(scores, None if alphabet is None else numbers_of(alphabet))))
    return bool(values[0] >= -len(values) * np.finfo(np.float64).eps * values[-1])


def _log_alignments(
    X: object,
    Z: object,
    diagonal: bool,
    options: dict[str, float],
    scores: Scores | None,
    alphabet: Alphabet | None,
    derivative: bool,
) -> Matrix:
    """Return log k, shape (1, n, m), or log k and its derivatives, shape (4, n, m)."""
    _check(**options)
    numbers = None if alphabet is None else numbers_of(alphabet)
    x, z = encode(X, Z, numbers)
    table = None if scores is None else _table(scores, numbers)
    floats = {name: float(value) for name, value in options.items()}
    return _core.log_alignments(x, z, diagonal, scores=table, derivative=as_flag("derivative", derivative), **floats)


def _of_logarithms(tables: Matrix, beta: float, log: bool) -> Tables:
    """Return k, or log(k) / beta if `log`, from log k; with the derivatives, if there are any."""
    if as_flag("log", log):
        tables = tables / beta
        tables[1:2] -= tables[:1]
        return split(tables)
    with np.errstate(over="ignore", invalid="ignore"):
        tables[0] = np.exp(tables[0])
        tables[1:] *= tables[0]
    if not np.isfinite(tables).all():
        raise ValueError("X: the strings are so long and so alike that the kernel is beyond all numbers; normalize it")
    return split(tables)


def _check(beta: float, gap_open: float, gap_extend: float, match: float, mismatch: float) -> None:
    if not isinstance(beta, Real) or isinstance(beta, bool) or not 0.0 < beta < np.inf:
        raise ValueError(f"beta: expected a positive number, got {beta!r}")
    for name, value in (("gap_open", gap_open), ("gap_extend", gap_extend)):
        if not isinstance(value, Real) or isinstance(value, bool) or not value >= 0.0:
            raise ValueError(f"{name}: expected a number from 0 on, got {value!r}")
    for name, value in (("match", match), ("mismatch", mismatch)):
        if not isinstance(value, Real) or isinstance(value, bool) or not np.isfinite(value):
            raise ValueError(f"{name}: expected a finite number, got {value!r}")


def _table(scores: Scores, numbers: dict[Hashable, int] | None) -> Matrix:
    """Return the scores of all pairs of letters as a matrix; raise if one is missing."""
    if numbers is None:
        raise ValueError("alphabet: expected the letters that the scores are for, got None")
    if isinstance(scores, Mapping):
        missing = [(a, b) for a in numbers for b in numbers if (a, b) not in scores and (b, a) not in scores]
        if missing:
            raise ValueError(f"scores: expected a score for each pair of letters, got none for {missing[0]!r}")
        scores = [[scores[(a, b) if (a, b) in scores else (b, a)] for b in numbers] for a in numbers]
    table = np.asarray(scores, dtype=np.float64)
    shape = len(numbers), len(numbers)
    if table.shape != shape:
        raise ValueError(f"scores: expected an array of shape {shape}, a row for each letter, got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("scores: expected finite numbers")
    if not np.array_equal(table, table.T):
        raise ValueError("scores: expected a symmetric matrix")
    return table
