"""Whether two values are the same, attribute by attribute."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import CompoundKernel

from kernsel.kernels import Kernel

# Solutions from a factorization that is made again; a condition number of some 1e4 is in them after updates of a factor.
TOLERANCE = {"rtol": 1e-7, "atol": 1e-9}


def assert_same(a, b, where, left_out=()):
    """Two values are the same: numbers to rounding, all else exactly, attributes one by one."""
    if isinstance(a, Kernel | CompoundKernel):
        assert a == b, where
    elif sparse.issparse(a):
        assert type(a) is type(b), where
        assert_same(a.toarray(), b.toarray(), where)
    elif isinstance(a, np.ndarray | np.generic) and np.asarray(a).dtype.kind in "fc":
        assert type(a) is type(b), where
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        np.testing.assert_allclose(b, a, err_msg=where, **TOLERANCE)
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        np.testing.assert_array_equal(b, a, err_msg=where)
    elif isinstance(a, float):
        assert type(a) is type(b), where
        assert b == pytest.approx(a, rel=1e-7, abs=1e-9, nan_ok=True), where
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}[{i}]")
    elif isinstance(a, str | int | bool | type(None)):
        assert type(a) is type(b), where
        assert a == b, where
    elif type(a).__module__.startswith("kernsel") and hasattr(a, "__dict__"):
        assert type(a) is type(b), where
        for name in vars(a):
            if not name.startswith("_") and name not in left_out:
                assert_same(getattr(a, name), getattr(b, name), f"{where}.{name}")
