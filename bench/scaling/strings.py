"""Print how fast kernels on strings are: ``python -m bench.scaling.strings``."""

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


def spectrum():
    X = random_strings(1000, 300)
    row("spectrum of 1000 strings of 300 letters, words of 4")
    for mismatches in (0, 1, 2):
        seconds = best(lambda m=mismatches: spectrum_gram(X, length=4, mismatches=m), seconds=2.0)
        row(f"   {mismatches} mismatches", seconds * 1e3, seconds=(seconds, "<=", 2.0) if mismatches == 1 else seconds)


def subsequences():
    X = random_strings(300, 200)
    pairs = len(X) * (len(X) + 1) / 2
    s, t = (np.array(list(text)) for text in X[:2])
    K = subsequence_gram(X[:2], length=3, decay=0.5)
    assert abs(K[0, 1] / subsequences_by_rows(s, t, 3, 0.5) - 1.0) <= 1e-12
    ours, slopes, numpys = interleaved(
        lambda: subsequence_gram(X, length=3, decay=0.5),
        lambda: subsequence_gram(X, length=3, decay=0.5, derivative=True),
        lambda: subsequences_by_rows(s, t, 3, 0.5),
        seconds=3.0,
    )
    row("gaps, 300 strings of 200 letters", ours * 1e3, times_NumPy=(numpys * pairs / ours, ">=", 20))
    row("   with the derivative", slopes * 1e3, of_the_values=slopes / ours)


def alignments():
    X = random_strings(100, 200)
    ours, slopes = interleaved(lambda: local_alignment_gram(X), lambda: local_alignment_gram(X, derivative=True), seconds=2.0)
    row("alignments, 100 strings of 200", ours * 1e3)
    row("   with three derivatives", slopes * 1e3, of_the_values=slopes / ours)


def main():
    ks.show_config()
    spectrum()
    subsequences()
    alignments()


if __name__ == "__main__":
    main()
