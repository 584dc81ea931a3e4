"""Print how fast kernels on strings are: ``python -m bench.scaling.strings``."""

from collections import Counter

import numpy as np

import kernsel as ks
from kernsel.structured.alignments import local_alignment_gram
from kernsel.structured.strings import spectrum_gram, subsequence_gram

from bench.report import row
from bench.timing import best, interleaved

DNA = np.array(list("ACGT"))


def random_strings(count, length):
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(DNA, length)) for _ in range(count)]


def subsequences_by_rows(s, t, length, decay):
    """Compute the kernel of two strings by NumPy: each recurrence is a loop along one string, of vectors along the other."""
    same = (s[:, None] == t).astype(float)
    ends = same * decay**2
    for _ in range(length - 1):
        sums = np.zeros((len(s) + 1, len(t) + 1))
        for i in range(len(s)):
            sums[i + 1, 1:] = decay * sums[i, 1:] + ends[i]
        columns = np.ascontiguousarray(sums.T)
        for j in range(len(t)):
            columns[j + 1] += decay * columns[j]
        ends = same * columns.T[:-1, :-1] * decay**2
    return ends.sum()


def words_by_counting(s, t, length):
    """Compute the kernel of two strings by counting their words with one mismatch at most, one by one."""
    words = [["".join(text[i : i + length]) for i in range(len(text) - length + 1)] for text in (s, t)]
    near = [Counter(a for word in own for a in neighbours(word)) for own in words]
    return sum(near[0][word] * near[1][word] for word in near[0])


def neighbours(word):
    """Return the words that differ from one in one letter at most."""
    return {word} | {word[:i] + letter + word[i + 1 :] for i in range(len(word)) for letter in DNA}


def spectrum(count=1000, mismatches=(1,), seconds=2.0):
    X = random_strings(count, 300)
    assert spectrum_gram(X[:2], length=4, mismatches=1, alphabet="ACGT")[0, 1] == words_by_counting(*X[:2], 4)
    row(f"\nspectrum, {count} strings of 300, p = 4")
    for allowed in mismatches:
        ours = best(lambda m=allowed: spectrum_gram(X, length=4, mismatches=m), seconds)
        row(f"   {allowed} mismatches", ours * 1e3, seconds=(ours, "<=", 2.0) if allowed == 1 else ours)


def subsequences(count=300, seconds=3.0):
    X = random_strings(count, 200)
    pairs = len(X) * (len(X) + 1) / 2
    s, t = (np.array(list(text)) for text in X[:2])
    K = subsequence_gram(X[:2], length=3, decay=0.5)
    assert abs(K[0, 1] / subsequences_by_rows(s, t, 3, 0.5) - 1.0) <= 1e-12
    ours, slopes, numpys = interleaved(
        lambda: subsequence_gram(X, length=3, decay=0.5),
        lambda: subsequence_gram(X, length=3, decay=0.5, derivative=True),
        lambda: subsequences_by_rows(s, t, 3, 0.5),
        seconds=seconds,
    )
    row(f"gaps, {count} strings of 200, p = 3", ours * 1e3, times_NumPy=(numpys * pairs / ours, ">=", 20))
    row("   with the derivative", slopes * 1e3, of_the_values=slopes / ours)


def alignments():
    X = random_strings(100, 200)
    ours, slopes = interleaved(lambda: local_alignment_gram(X), lambda: local_alignment_gram(X, derivative=True), seconds=2.0)
    row("alignments, 100 strings of 200", ours * 1e3)
    row("   with three derivatives", slopes * 1e3, of_the_values=slopes / ours)


def main():
    ks.show_config()
    spectrum(mismatches=(0, 1, 2))
    subsequences()
    alignments()


if __name__ == "__main__":
    main()
