"""Tables of random numbers."""

import numpy as np

from kernsel.study.tables import Column, Table


def made(n=40, seed=0, columns=("a", "b")):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 6, (n, len(columns)))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)
    described = [Column(name, "number") for name in columns]
    kept = np.arange(2, 2 * n + 2, 2)
    return Table("made.csv", 2 * n, X, y, list(columns), described, Column("y", "number"), ["Said before."], kept)
