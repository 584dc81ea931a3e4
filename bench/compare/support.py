"""Support vector regression against scikit-learn's, which is LIBSVM: one fit, and a path of C, at the same duality gap."""

import time

import numpy as np
from sklearn.svm import SVR

from kernsel.estimators.support.svr import SupportVectors
from kernsel.kernels import RBF

from bench.compare.functions import FUNCTIONS
from bench.report import row
from bench.timing import best

__all__ = ["compare"]

EPSILON = 0.1  # of a target whose standard deviation is one
CS = np.logspace(-1, 2, 20)


def data(n):
    f = FUNCTIONS["friedman"]
    X = f.uniform(n, 0)
    y = f(X)
    y = (y - y.mean()) / y.std()
    return X, y + 0.2 * np.random.default_rng(0).standard_normal(n)


def gap(kernel, X, y, C, a, b):
    """Return the objective and the duality gap of coefficients, computed from scratch."""
    used = np.flatnonzero(a)
    f = kernel.matmul(X, X[used], a[used])
    loss = C * np.maximum(np.abs(y - f - b) - EPSILON, 0).sum()
    norm = a @ f
    return norm / 2 + loss, norm + loss - a @ y + EPSILON * np.abs(a).sum()


def theirs(X, y, C, scale, tol):
    model = SVR(kernel="rbf", gamma=0.5 / scale**2, C=C, epsilon=EPSILON, tol=tol, cache_size=500)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    a = np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    return seconds, a, model.intercept_[0]


def one_fit(n, scale, C, tol):
    X, y = data(n)
    kernel = RBF(scale)
    slow, a, b = theirs(X, y, C, scale, tol)
    objective, left = gap(kernel, X, y, C, a, b)
    found = SupportVectors(kernel, X).solve(y, C, EPSILON, tol=left / objective)
    fast = best(lambda: SupportVectors(kernel, X).solve(y, C, EPSILON, tol=left / objective))
    own, own_left = gap(kernel, X, y, C, found.a, found.intercept)
    assert own_left <= 1.01 * left
    row(
        f"SVR, n = {n}, C = {C:g}",
        fast * 1e3,
        times=(slow / fast, ">=", 2),
        gap=own_left / own,
        support_vectors=np.count_nonzero(found.a),
        theirs_ms=slow * 1e3,
        their_gap=left / objective,
        their_support_vectors=np.count_nonzero(a),
        objective_of_theirs=own / objective,
    )


def path(n, scale, tol):
    X, y = data(n)
    kernel = RBF(scale)
    slow, gaps = 0.0, []
    for C in CS:
        seconds, a, b = theirs(X, y, C, scale, tol)
        objective, left = gap(kernel, X, y, C, a, b)
        slow += seconds
        gaps.append(left / objective)
    start = time.perf_counter()
    solver, found = SupportVectors(kernel, X), None
    solutions = []
    for C, left in zip(CS, gaps, strict=True):
        found = solver.solve(y, C, EPSILON, start=None if found is None else found.a, tol=left)
        solutions.append(found)
    fast = time.perf_counter() - start
    for C, one, left in zip(CS, solutions, gaps, strict=True):
        own, own_left = gap(kernel, X, y, C, one.a, one.intercept)
        assert own_left <= 1.01 * left * own
    row(f"path of {len(CS)} values of C, n = {n}", fast * 1e3, times=(slow / fast, ">=", 5), theirs_ms=slow * 1e3)


def compare(quick=False):
    """Print times of fits and of a path, and the duality gaps that they came to."""
    for n in [500] if quick else [1000, 5000, 10000]:
        for C in (1.0, 10.0):
            one_fit(n, 1.0, C, 1e-3)
    path(500 if quick else 5000, 1.0, 1e-3)
