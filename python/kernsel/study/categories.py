"""Kernels of tables with categories, which are tried beside those of all columns."""

from __future__ import annotations

import numpy as np

from kernsel.kernels import RBF, CorrelatedLevels, Exchangeable, Kernel, Matern
from kernsel.study.tables import Table

__all__ = ["kernels_of_categories"]

_FEW_ROWS = 10  # for each level of a category, below which its correlations with the others are not learned one by one


def kernels_of_categories(table: Table) -> list[Kernel]:
    """Return kernels that tell categories from numbers, for a table that has categories.

    Each category is a factor: with one correlation for all of its levels (exchangeable), or, if it has three levels and enough
    rows of each, with learned correlations of rank one. Kernels of all columns see distances between 0/1 columns instead.

    Parameters
    ----------
    table : Table
        In whose X categories are 0/1 columns.

    Examples
    --------
    >>> from kernsel.study.categories import kernels_of_categories
    >>> from kernsel.study.encoded import encoded
    >>> given = {"x": [1.0, 2.0, 4.0, 5.0], "c": ["a", "b", "a", "b"], "y": [0.0, 3.0, 1.0, 2.0]}
    >>> table, _ = encoded(given, "y", classes=False)
    >>> print(kernels_of_categories(table)[0])
    RBF('auto').on([0]) * Exchangeable('auto').on([1])
    """
    X = table.X
    places = {
        column.name: [k for k, name in enumerate(table.names) if name.startswith(f"{column.name}=")]
        for column in table.columns
        if column.kind == "category"
    }
    if not places:
        return []
    others = [k for k in range(len(table.names)) if not any(k in of for of in places.values())]
    alike: dict[str, Kernel] = {name: Exchangeable("auto").on(of) for name, of in places.items()}
    correlated: dict[str, Kernel] = {}
    for name, of in places.items():
        counts = X[:, of].sum(axis=0)
        one_each = np.isin(X[:, of], (0.0, 1.0)).all() and (X[:, of].sum(axis=1) == 1).all()
        if len(of) > 2 and one_each and counts.min() >= _FEW_ROWS:
            correlated[name] = CorrelatedLevels(1).on(of)
    of_numbers = [RBF("auto").on(others), Matern("auto", nu=2.5).on(others)] if others else [None]
    ways: list[dict[str, Kernel]] = [alike, alike | correlated] if correlated else [alike]
    return [_product(one, of_categories) for of_categories in ways for one in of_numbers]


def _product(of_numbers: Kernel | None, of_categories: dict[str, Kernel]) -> Kernel:
    """Return the product of the kernels of some columns."""
    result = of_numbers
    for kernel in of_categories.values():
        result = kernel if result is None else result * kernel
    assert result is not None
    return result
