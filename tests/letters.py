"""A kernel of strings that is slow and obvious: the inner product of the numbers of their letters."""

import numpy as np
import pytest

from kernsel.kernels.leaf import Leaf
from kernsel.kernels.object_kernel import ObjectKernel


class Letters(ObjectKernel, Leaf):
    """1 + decay * sum of products of counts of letters, of the first so many."""

    _hyper = {"decay": "ratio"}  # noqa: RUF012
    _whole = {"length": 1}  # noqa: RUF012
    tables = 0

    def __init__(self, length=4, decay=0.5, decay_bounds=(1e-3, 1e3)):
        self.length = length
        self.decay = decay
        self.decay_bounds = decay_bounds
        self._check()
        self._check_whole()

    def _encode(self, objects):
        for s in objects:
            if not isinstance(s, str):
                raise TypeError(f"X: expected strings, got {s!r}")
        return np.array([[s.count(letter) for letter in "ACGT"] for s in objects], dtype=float).reshape(-1, 4)

    def _table(self, X, Z, derivative):
        type(self).tables += 1
        products = X[:, : self.length] @ (X if Z is None else Z)[:, : self.length].T
        decay = self.number("decay")
        return 1 + decay * products, [decay * products] if derivative else []

    def _diagonal_of(self, X):
        return 1 + self.number("decay") * np.einsum("ik,ik->i", X[:, : self.length], X[:, : self.length])


def features(strings):
    """Return features whose inner product is the kernel."""
    counts = Letters()._encode(strings)
    return np.hstack([np.ones((len(counts), 1)), np.sqrt(0.5) * counts])


@pytest.fixture
def strings(rng):
    return ["".join(rng.choice(list("ACGT"), rng.integers(5, 25))) for _ in range(150)]
