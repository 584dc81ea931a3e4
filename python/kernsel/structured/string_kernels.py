"""Kernels of strings, and of sequences of any tokens."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, TypedDict

import numpy as np

from kernsel._base.annotations import Vector
from kernsel._base.errors import NotPositiveSemidefiniteWarning
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Bounds, Parameter, numbers
from kernsel.kernels.leaf import Leaf, value_of
from kernsel.kernels.object_kernel import ObjectKernel, Table
from kernsel.structured.alignments import Scores, local_alignment_gram, pairs_are_a_kernel
from kernsel.structured.sequences import Alphabet, alphabet_size, as_sequences, is_whole, numbers_of
from kernsel.structured.strings import spectrum_diagonal, spectrum_gram, subsequence_diagonal, subsequence_gram

__all__ = ["LocalAlignment", "Spectrum", "Subsequence"]

Tokens = Sequence[Hashable]  # a string, or a sequence of tokens of any kind


class SpectrumOptions(TypedDict):
    """The arguments of :func:`spectrum_gram`."""

    length: int
    mismatches: int
    alphabet: Alphabet | int | None


class SubsequenceOptions(TypedDict):
    """The arguments of :func:`subsequence_gram`."""

    length: int
    decay: float
    alphabet: Alphabet | None


class StringKernel(ObjectKernel[Tokens], Leaf):
    """The base class of kernels of strings, which checks the letters of strings."""

    alphabet: Any  # for each kernel, some of: a sequence of letters, their number, or None

    def _check(self) -> None:
        super()._check()
        if self._letters_are_named():
            numbers_of(self.alphabet)

    def _letters_are_named(self) -> bool:
        """Tell whether the alphabet lists its letters, and is not just their number."""
        return self.alphabet is not None and not is_whole(self.alphabet, 1)

    def _encode(self, objects: Sequence[object]) -> list[Tokens]:
        sequences = as_sequences(objects)
        if self._letters_are_named():
            letters = numbers_of(self.alphabet)
            for i, sequence in enumerate(sequences):
                unknown = next((token for token in sequence if token not in letters), None)
                if unknown is not None:
                    raise ValueError(f"X[{i}]: expected letters of the alphabet {self.alphabet!r}, got {unknown!r}")
        return sequences

    def _read_with(self) -> tuple[object, ...]:
        return (self.alphabet,)


class Spectrum(StringKernel):
    """The spectrum kernel: strings compared by the words of p letters in them.

    k(s, t) = sum_a c_a(s) c_a(t), the sum over all words a of `length` letters; c_a(s) counts the places in s with a word that
    differs from a in `mismatches` letters at most. ``Normalize(Spectrum(3))`` does not depend on the lengths of strings.

    Parameters
    ----------
    length : int, or list of int for :func:`kernsel.select` to choose from
        The number of letters of a word; 30 at most with mismatches.
    mismatches : int, or list of int to choose from
        Below `length`.
    alphabet : str, sequence of tokens, int or None
        All letters, of which others are an error; or their number, which only matters with mismatches. None stands for the
        number of letters in the training strings.

    Notes
    -----
    Points are strings, or sequences of hashable tokens. O(T) for T letters in all to find the words, once for each set of
    `length` - 2 `mismatches` or more places in a word, and O(1) for each word that a pair of strings has in common. Strings
    without a word have k(s, s) = 0, which :class:`~kernsel.kernels.Normalize` cannot divide by.

    Examples
    --------
    >>> from kernsel.structured import Spectrum
    >>> Spectrum(2)(["GATTA", "ATTA", "TTTT"])
    array([[4., 3., 3.],
           [3., 3., 3.],
           [3., 3., 9.]])
    """

    _hyper: ClassVar = {}
    _whole: ClassVar = {"length": 1, "mismatches": 0}
    _learnt: int | None = None  # the number of letters of the training strings

    def __init__(
        self, length: int | Sequence[int] = 3, mismatches: int | Sequence[int] = 0, alphabet: Alphabet | int | None = None
    ) -> None:
        self.length = length
        self.mismatches = mismatches
        self.alphabet = alphabet
        self._check()
        self._check_whole()

    def _check_whole(self) -> None:
        super()._check_whole()
        if min(self.choices_of("mismatches")) >= max(self.choices_of("length")):
            raise ValueError(
                f"mismatches: expected fewer than the letters of a word, got {self.mismatches!r} of {self.length!r}"
            )

    def alternatives(self) -> list[Kernel]:
        return [one for one in super().alternatives() if isinstance(one, Spectrum) and one._mismatches_fit()]

    def _mismatches_fit(self) -> bool:
        options = self._options()
        return options["mismatches"] < options["length"]

    def _learn(self, X: Sequence[Tokens]) -> int | None:
        """Return the number of letters of the training strings, if values of the kernel depend on it."""
        if not self.mismatches or self._letters_are_named():
            return None
        size = alphabet_size(X)
        if self.alphabet is not None and size > max(self.alphabet, 2):
            raise ValueError(f"alphabet: expected at least {size}, as many letters as the strings have, got {self.alphabet!r}")
        return size

    def _options(self) -> SpectrumOptions:
        alphabet = self._learnt if self.alphabet is None else self.alphabet
        return {"length": self.choices_of("length")[0], "mismatches": self.choices_of("mismatches")[0], "alphabet": alphabet}

    def _table(self, X: Sequence[Tokens], Z: Sequence[Tokens] | None, derivative: bool) -> Table:
        del derivative
        return spectrum_gram(X, Z, **self._options()), []

    def _diagonal_of(self, X: Sequence[Tokens]) -> Vector:
        return spectrum_diagonal(X, **self._options())


class Subsequence(StringKernel):
    """The gap-weighted subsequence kernel: strings compared by the subsequences of p letters in them.

    k(s, t) = sum_u sum_i sum_j decay^(l(i) + l(j)), the sums over all words u of `length` letters and over all places i in s
    and j in t that spell u, in ascending order and with any gaps; l is the number of letters from the first place to the last.

    Parameters
    ----------
    length : int, or list of int for :func:`kernsel.select` to choose from
    decay : float, "auto" or Parameter
        Above 0, up to 1: a hyperparameter, with exact derivatives. The closer to 0, the less do subsequences with gaps count.
    decay_bounds : pair of floats, "fixed" or "auto"
        "auto" is from 0.01 to 1.
    alphabet : str, sequence of tokens or None
        All letters; others are an error.

    Notes
    -----
    O(length |s| |t|) for each pair of strings, twice that with the derivative, by a dynamic program for eight pairs at a time.
    Strings shorter than `length` have k(s, s) = 0, which :class:`~kernsel.kernels.Normalize` cannot divide by.

    Examples
    --------
    >>> from kernsel.structured import Subsequence
    >>> Subsequence(2, decay=0.5)(["cat", "car", "bat"]) * 16
    array([[2.25, 1.  , 1.  ],
           [1.  , 2.25, 0.  ],
           [1.  , 0.  , 2.25]])
    """

    _hyper: ClassVar = {"decay": "share"}
    _whole: ClassVar = {"length": 1}

    def __init__(
        self,
        length: int | Sequence[int] = 3,
        decay: float | str | Parameter = 0.5,
        decay_bounds: Bounds = "auto",
        alphabet: Alphabet | None = None,
    ) -> None:
        self.length = length
        self.decay = decay
        self.decay_bounds = decay_bounds
        self.alphabet = alphabet
        self._check()
        self._check_whole()

    def _check(self) -> None:
        super()._check()
        bounds = self.bounds_of("decay")
        if not isinstance(bounds, str) and np.max(bounds) > 1:
            raise ValueError(f"decay_bounds: expected numbers above 0, up to 1, got {bounds!r}")

    def _check_value(self, name: str, value: object) -> None:
        super()._check_value(name, value)
        if not isinstance(value, str) and float(numbers(value, name)) > 1:
            raise ValueError(f"decay: expected a number above 0, up to 1, got {value!r}")

    def _options(self) -> SubsequenceOptions:
        return {"length": self.choices_of("length")[0], "decay": min(self.number("decay"), 1.0), "alphabet": self.alphabet}

    def _table(self, X: Sequence[Tokens], Z: Sequence[Tokens] | None, derivative: bool) -> Table:
        if not derivative:
            return np.asarray(subsequence_gram(X, Z, **self._options())), []
        values, slope = subsequence_gram(X, Z, **self._options(), derivative=True)
        return values, [slope]

    def _diagonal_of(self, X: Sequence[Tokens]) -> Vector:
        return np.asarray(subsequence_diagonal(X, **self._options()))


class LocalAlignment(StringKernel):
    """The local alignment kernel: strings compared by all their local alignments, weighted by the exponential of their scores.

    k(s, t) = 1 + sum_a exp(beta score(a)). A local alignment pairs some letters of s with letters of t, in ascending order;
    its score is the sum of those of the pairs, less, for g letters between two pairs in either string, gap_open + (g - 1)
    gap_extend (Vert, Saigo and Akutsu, 2004). Divided by (k(s, s) k(t, t))^(1/2), since k itself is soon beyond all numbers.

    **It is not positive semidefinite for all parameters**: always so if the matrix exp(beta score) of the letters is, as it is
    for `match` >= `mismatch`, but not for all tables of scores and all beta. Fits may then end with an error that says so.

    Parameters
    ----------
    beta : float, "auto" or Parameter
        For large beta, only the best alignment counts.
    gap_open, gap_extend : float, "auto" or Parameter
        Costs of a gap, from 0 on. Like beta, they are hyperparameters with exact derivatives.
    beta_bounds, gap_open_bounds, gap_extend_bounds : pair of floats, "fixed" or "auto"
    match, mismatch : float
        The scores of equal and of different letters, if there is no table.
    scores : dict of pairs of letters to float, or array-like of shape (letters, letters), optional
        Symmetric: for all pairs of letters, or a matrix whose rows and columns are in the order of the alphabet.
    alphabet : str or sequence of tokens, optional
        All letters; others are an error. Needed with `scores`.

    Warns
    -----
    NotPositiveSemidefiniteWarning
        When it is constructed with scores and a beta for which the matrix of the letters is not positive semidefinite.

    Notes
    -----
    O(|s| |t|) for each pair of strings, some four times that with the derivatives.

    Examples
    --------
    >>> from kernsel.structured import LocalAlignment
    >>> LocalAlignment(1.0)(["GATTACA", "GATACA", "CCC"]).round(3)
    array([[1.   , 0.535, 0.041],
           [0.535, 1.   , 0.068],
           [0.041, 0.068, 1.   ]])
    """

    _hyper: ClassVar = {"beta": "ratio", "gap_open": "ratio", "gap_extend": "ratio"}
    _may_be_zero = ("gap_open", "gap_extend")

    def __init__(
        self,
        beta: float | str | Parameter = 0.5,
        gap_open: float | str | Parameter = 1.0,
        gap_extend: float | str | Parameter = 1.0,
        match: float = 1.0,
        mismatch: float = -1.0,
        scores: Scores | None = None,
        alphabet: Alphabet | None = None,
        beta_bounds: Bounds = (0.01, 10.0),
        gap_open_bounds: Bounds = (0.01, 100.0),
        gap_extend_bounds: Bounds = (0.01, 100.0),
    ) -> None:
        self.beta = beta
        self.gap_open = gap_open
        self.gap_extend = gap_extend
        self.match = match
        self.mismatch = mismatch
        self.scores = scores
        self.alphabet = alphabet
        self.beta_bounds = beta_bounds
        self.gap_open_bounds = gap_open_bounds
        self.gap_extend_bounds = gap_extend_bounds
        self._check()
        if isinstance(value_of(beta), str) or pairs_are_a_kernel(self.number("beta"), match, mismatch, scores, alphabet):
            return
        warnings.warn(
            f"LocalAlignment is not positive semidefinite for these scores and beta={self.number('beta'):g}: its matrices "
            "need not have a Cholesky factor",
            NotPositiveSemidefiniteWarning,
            stacklevel=2,
        )

    def _check(self) -> None:
        super()._check()
        stand_ins = {name: 1.0 for name in self._hyper if isinstance(value_of(getattr(self, name)), str)}  # for "auto"
        local_alignment_gram([], **self._options(**stand_ins), normalize=True)

    def _options(self, **replaced: float) -> dict[str, Any]:
        options: dict[str, Any] = {name: replaced[name] if name in replaced else self.number(name) for name in self._hyper}
        return options | {name: getattr(self, name) for name in ("match", "mismatch", "scores", "alphabet")}

    def _table(self, X: Sequence[Tokens], Z: Sequence[Tokens] | None, derivative: bool) -> Table:
        if not derivative:
            return np.asarray(local_alignment_gram(X, Z, **self._options())), []
        values, slopes = local_alignment_gram(X, Z, **self._options(), derivative=True)
        names = [h.name for h, _ in self.own()]  # a cost of 0 is no hyperparameter
        return values, [slope for name, slope in zip(self._hyper, slopes, strict=True) if name in names]

    def _diagonal_of(self, X: Sequence[Tokens]) -> Vector:
        return np.ones(len(X))
