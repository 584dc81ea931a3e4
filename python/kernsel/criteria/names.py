"""Criteria by name: the lists of names, the criterion that a name stands for, and errors for unknown names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import signature
from typing import Any

from kernsel._base.renamed import refuse_criterion
from kernsel.criteria.base import Criterion, Loss
from kernsel.criteria.leave_out import LeaveOneOut
from kernsel.criteria.table import TABLE

__all__ = [
    "along_path",
    "criterion_named",
    "direction",
    "label_of",
    "listing",
    "name_of",
    "needs",
    "offered",
    "require_name",
    "require_sigma",
    "searched",
    "with_free_scale",
]


def searched() -> tuple[str, ...]:
    """Return the names of the criteria that can choose kernels."""
    return tuple(name for name, row in TABLE.items() if row.for_search)


def along_path() -> tuple[str, ...]:
    """Return the names of the criteria that can choose lambda along a regularization path, which are called its rules."""
    return tuple(name for name, row in TABLE.items() if row.for_path)


def offered() -> tuple[str, ...]:
    """Return the names of the criteria that the command line offers."""
    return tuple(name for name, row in TABLE.items() if row.for_tables)


def criterion_named(criterion: str | Criterion | Loss, options: Mapping[str, Any]) -> Criterion:
    """Return the criterion of a name with these options, or the leave-one-out criterion of a loss function."""
    row = TABLE.get(criterion) if isinstance(criterion, str) else None
    if row is not None and row.kind is not None:
        for name in options:
            open_to = [one for one in _parameters(row.kind) if one not in row.fixed]
            if name not in open_to:
                raise TypeError(f"{criterion}: has no option {name!r}; it has {', '.join(open_to) or 'none'}")
        return row.kind(**row.fixed, **(dict(row.defaults) | dict(options)))
    refuse_criterion("criterion", criterion)
    if options:
        raise TypeError(f"{', '.join(options)}: options are for criteria given by name")
    if isinstance(criterion, Criterion):
        return criterion
    if callable(criterion) and not isinstance(criterion, type):
        return LeaveOneOut(criterion)
    raise ValueError(f"criterion: expected one of {', '.join(searched())}, a Criterion or a function, got {criterion!r}")


@cache
def _parameters(kind: Callable[..., Criterion]) -> tuple[str, ...]:
    return tuple(signature(kind).parameters)


def name_of(criterion: Criterion) -> str:
    """Return the name of a criterion, or of its class if it has none."""
    for name in searched():
        if repr(criterion_named(name, {})) == repr(criterion):
            return name
    return type(criterion).__name__


def label_of(criterion: str | Criterion) -> str:
    """Return a label for the values of a criterion, for axes and tables; its name if the table has no row for it."""
    name = name_of(criterion) if isinstance(criterion, Criterion) else criterion
    return TABLE[name].label if name in TABLE else name


def direction(name: str) -> str:
    """Return whether "larger" or "smaller" values of a criterion are better."""
    return "larger" if TABLE[name].larger_is_better else "smaller"


def needs(criterion: object, what: str) -> bool:
    """Tell whether this is the name of a criterion that needs an argument such as "sigma"."""
    return isinstance(criterion, str) and criterion in TABLE and what in TABLE[criterion].needs


def with_free_scale(name: str) -> str:
    """Return the rule of a path for models whose kernel has no scale: a likelihood is replaced by its profiled form.

    Examples
    --------
    >>> with_free_scale("reml"), with_free_scale("gcv"), with_free_scale("lcurve")
    ('profiled_reml', 'gcv', 'lcurve')
    """
    if not TABLE[name].for_search:
        return name
    criterion = criterion_named(name, {})
    free = criterion.without_scale() if criterion.sees_scale else None
    return name if free is None else name_of(free)


def require_name(
    name: object, names: Iterable[str], *, argument: str = "criterion", how_many: str = "one", or_else: str = ""
) -> None:
    """Raise ValueError unless `name` is one of the names."""
    expected = tuple(dict.fromkeys(names))
    if isinstance(name, str) and name in expected:
        return
    refuse_criterion(argument, name)
    raise ValueError(f"{argument}: expected {how_many} of {', '.join(expected)}{or_else}, got {name!r}")


def require_sigma(criterion: object, sigma: float | None, *, called: str = "criterion") -> None:
    """Raise ValueError if this is the name of a criterion that needs the standard deviation of the noise, which is None."""
    if sigma is None and needs(criterion, "sigma"):
        raise ValueError(f'sigma: the {called} "{criterion}" needs the standard deviation of the noise, got None')


def listing() -> str:
    """Return all names with their formulas, one line for each."""
    width = max(map(len, TABLE))
    return "\n".join(f"    {name:{width}s}  {row.formula}" for name, row in TABLE.items())
