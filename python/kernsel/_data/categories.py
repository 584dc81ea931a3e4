"""Automatic kernels of points that have categories."""

from __future__ import annotations

from typing import Any

from kernsel._base.frames import column_names, columns_of, declared_levels
from kernsel.kernels import Columns, ConstantKernel, Exchangeable, Kernel

__all__ = ["columns_of_texts", "with_categories"]


def columns_of_texts(X: Any) -> list[str]:
    """Return the columns of a data frame that have texts, or declare levels; none for other points."""
    columns = columns_of(X)
    if columns is None:
        return []
    declared = declared_levels(X)
    return [name for name, values in columns.items() if name in declared or _has_texts(values)]


def _has_texts(values: Any) -> bool:
    return values.dtype.kind == "O" and any(isinstance(value, str) for value in values)


def with_categories(kernel: Kernel, X: Any) -> Kernel:
    """Return an automatic kernel for a data frame: of the columns of numbers, times an exchangeable kernel of each other one.

    For points without texts it is the kernel itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernsel._data.categories import with_categories
    >>> from kernsel.kernels import RBF
    >>> print(with_categories(RBF("auto"), pd.DataFrame({"x": [1.0, 2.0], "colour": ["red", "blue"]})))
    RBF('auto').on(['x']) * Exchangeable('auto').on(['colour'])
    """
    texts = columns_of_texts(X)
    if not texts:
        return kernel
    numbers = [name for name in column_names(X) or () if name not in texts]
    result: Kernel = Columns(kernel, numbers) if numbers else ConstantKernel("auto")
    for name in texts:
        result = result * Exchangeable("auto").on([name])
    return result
