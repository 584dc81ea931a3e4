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
