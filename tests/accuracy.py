"""The policy for tolerances: a few units of rounding, times what the operation may amplify, never a bare number."""

import numpy as np


def eps(dtype):
    return float(np.finfo(dtype).eps)


def assert_ulps(actual, expected, ulps):
    """Elementwise functions: within a number of units in the last place of the expected value."""
    actual = np.asarray(actual)
    expected = np.asarray(expected, dtype=np.longdouble)
    spacing = np.spacing(np.abs(expected).astype(actual.dtype)).astype(np.longdouble)
    error = np.max(np.abs(actual.astype(np.longdouble) - expected) / spacing, initial=0)
    assert error <= ulps, f"{float(error):.2f} ULP, {ulps} allowed"


def assert_backward(residual, scale, n, dtype, slack=4):
    """Factorizations and solves: a residual relative to the norms that produced it, n eps at most."""
    error = np.max(np.abs(residual), initial=0)
    limit = slack * max(n, 4) * eps(dtype) * np.max(scale, initial=0)
    assert error <= limit, f"residual {error:.3g}, {limit:.3g} allowed"


def assert_forward(actual, expected, condition, n, dtype, slack=4):
    """Solutions: the condition number times the backward error, relative to the largest entry."""
    expected = np.asarray(expected)
    error = np.max(np.abs(np.asarray(actual, dtype=float) - expected), initial=0)
    limit = slack * max(n, 4) * eps(dtype) * condition * np.max(np.abs(expected), initial=0)
    assert error <= limit, f"error {error:.3g}, {limit:.3g} allowed at condition {condition:.2g}"


def rounding_of_sums(*sizes, slack=16):
    """Sums over arrays of these absolute terms, however ordered: n eps times the sum, for each."""
    return slack * sum(np.size(size) * eps(float) * float(np.sum(np.abs(size))) for size in sizes)


def of_function_within(gap, diagonal, alpha=1.0):
    """How far a function f + b may be from the one that minimizes losses + alpha |f|^2 / 2, of which its duality gap is `gap`.

    The objective is strongly convex, alpha |f - f*|^2 / 2 <= gap, and a value is at most |f - f*| sqrt(k(x, x)). An intercept
    follows from f at a point that is on its margin, and so is off by as much.
    """
    return 2.0 * np.sqrt(2.0 * gap / alpha * np.max(diagonal))
