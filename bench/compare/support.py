"""Support vector machines against scikit-learn's LIBSVM at the same gap: regression and its path, classes, one class."""

import time

import numpy as np
from sklearn.svm import SVC, SVR, OneClassSVM

import kernsel as ks
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


def gap_between(kernel, X, y, lower, upper, a, b, total=0.0):
    """Return the objective and the duality gap of a machine whose coefficients have these bounds and this sum."""
    used = np.flatnonzero(a)
    f = kernel.matmul(X, X[used], a[used])
    losses = np.sum(upper * np.maximum(y - f - b, 0) - lower * np.maximum(f + b - y, 0))
    return a @ f / 2 + losses + b * total, a @ f + losses + b * total - a @ y


def coefficients(model, n):
    a = np.zeros(n)
    a[model.support_] = model.dual_coef_[0]
    return a


def machine(name, n, theirs, ours, X, y, lower, upper, total=0.0):
    """Compare the times of `ours(tol)` and of their model, at the gap of theirs."""
    labels = y if y.any() else None
    slow = best(lambda: theirs.fit(X, labels))
    a, b = coefficients(theirs, n), theirs.intercept_[0]
    kernel = ours(1e-3).fit(X, labels).kernel_
    objective, left = gap_between(kernel, X, y, lower, upper, a, b, total)
    tol = max(left / abs(objective), 1e-12)
    found = ours(tol).fit(X, labels)
    fast = best(lambda: ours(tol).fit(X, labels))
    own, own_left = gap_between(kernel, X, y, lower, upper, coefficients(found, n), found.intercept_[0], total)
    assert own_left <= 1.01 * left + 1e-12 * abs(own)
    row(
        f"{name}, n = {n}",
        fast * 1e3,
        times=(slow / fast, ">=", 2),
        gap=own_left / abs(own),
        support_vectors=len(found.support_),
        theirs_ms=slow * 1e3,
        their_gap=left / abs(objective),
        their_support_vectors=len(theirs.support_),
    )


def classes(n, scale, C):
    X, y = data(n)
    labels = np.where(y > 0, 1.0, -1.0)
    gamma = 0.5 / scale**2
    theirs = SVC(gamma=gamma, C=C, cache_size=500)
    lower, upper = np.minimum(C * labels, 0), np.maximum(C * labels, 0)
    machine(f"SVC, C = {C:g}", n, theirs, lambda tol: ks.SVC("rbf", gamma=gamma, C=C, tol=tol), X, labels, lower, upper)


def one_class(n, scale, nu):
    X, _ = data(n)
    gamma = 0.5 / scale**2
    theirs = OneClassSVM(gamma=gamma, nu=nu, cache_size=500)
    zeros = np.zeros(n)
    machine(
        f"OneClassSVM, nu = {nu:g}",
        n,
        theirs,
        lambda tol: ks.OneClassSVM("rbf", gamma=gamma, nu=nu, tol=tol),
        X,
        zeros,
        zeros,
        np.ones(n),
        nu * n,
    )


def compare(quick=False):
    """Print times of fits and of a path, and the duality gaps that they came to."""
    for n in [500] if quick else [1000, 5000, 10000]:
        for C in (1.0, 10.0):
            one_fit(n, 1.0, C, 1e-3)
            classes(n, 1.0, C)
        for nu in (0.05, 0.5):
            one_class(n, 1.0, nu)
    path(500 if quick else 5000, 1.0, 1e-3)
