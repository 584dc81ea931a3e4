"""Data frames of any kind: of pandas, polars, pyarrow and whatever else narwhals knows."""

from __future__ import annotations

from typing import Any

__all__ = ["column_names", "columns_of", "declared_levels"]


def column_names(X: object) -> list[str] | None:
    """Return the names of the columns of a data frame; None for anything else.

    Examples
    --------
    >>> import pyarrow
    >>> from kernsel._base.frames import column_names
    >>> column_names(pyarrow.table({"depth": [1.0], "rock": ["marl"]})), column_names([[1.0]])
    (['depth', 'rock'], None)
    """
    named = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow's `columns` are the columns themselves
    return None if named is None else [str(name) for name in named]


def columns_of(X: object) -> dict[str, Any] | None:
    """Return the columns of a data frame by name, as arrays of numbers or of objects; None for anything else.

    Examples
    --------
    >>> import polars
    >>> from kernsel._base.frames import columns_of
    >>> columns_of(polars.DataFrame({"depth": [1.0, 2.5], "rock": ["marl", "clay"]}))
    {'depth': array([1. , 2.5]), 'rock': array(['marl', 'clay'], dtype=object)}
    """
    if (frame := _frame_of(X)) is None:
        return None
    columns = {str(column.name): column.to_numpy() for column in frame.iter_columns()}
    return {name: values.astype(object) if values.dtype.kind == "U" else values for name, values in columns.items()}


def declared_levels(X: object) -> dict[str, tuple[list[Any], bool]]:
    """Return the levels of each column of a data frame that declares them, and whether they have an order.

    These are the columns that are a Categorical of pandas or an Enum of polars; a Categorical of polars has the levels that
    were met, and declares none.

    Examples
    --------
    >>> import pandas
    >>> from kernsel._base.frames import declared_levels
    >>> declared_levels(pandas.DataFrame({"size": pandas.Categorical(["big"], ["small", "big"], ordered=True), "x": [1.0]}))
    {'size': (['small', 'big'], True)}
    """
    if (frame := _frame_of(X)) is None:
        return {}
    import narwhals

    declared: dict[str, tuple[list[Any], bool]] = {}
    for column in frame.iter_columns():
        if isinstance(column.dtype, narwhals.Enum):
            declared[str(column.name)] = list(column.dtype.categories), True
        elif isinstance(column.dtype, narwhals.Categorical) and column.implementation.is_pandas_like():
            declared[str(column.name)] = list(column.to_native().cat.categories), False
    return declared


def _frame_of(X: object) -> Any:
    """Return a data frame as narwhals has it; None for anything else."""
    if not hasattr(type(X), "columns"):
        return None
    import narwhals

    try:
        frame = narwhals.from_native(X, eager_only=True, pass_through=True)
    except narwhals.exceptions.DuplicateError as error:
        raise ValueError(f"X: {error}") from None
    return frame if isinstance(frame, narwhals.DataFrame) else None
