"""Random strings, and comparisons of a kernel of strings with its definition."""

import numpy as np

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
