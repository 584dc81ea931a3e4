"""Kernels as texts that name the columns of a table: parsed for the input, and written for the output."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernsel._data.kernel import kernel_of_text
from kernsel.kernels import Columns, ConstantKernel, Exp, Kernel, PolynomialOf, Power, Product, Sum
from kernsel.study.tables import Table

__all__ = ["kernel_of", "label", "named", "with_names"]


def kernel_of(kernel: Kernel | str, table: Table) -> Kernel:
    """Return the kernel of a text, which may name columns of the table; a kernel is returned as it is."""
    if not isinstance(kernel, str):
        return kernel
    columns: dict[str, list[int]] = {name: [k] for k, name in enumerate(table.names)}
    for column in table.columns:
        if column.kind == "category":
            columns[column.name] = [k for k, name in enumerate(table.names) if name.startswith(f"{column.name}=")]
    return kernel_of_text(kernel, columns=columns)


def label(kernel: Kernel, names: Sequence[str]) -> str:
    """Return a kernel as a user would write it: without "auto" arguments, and with names of columns for indices."""
    if isinstance(kernel, ConstantKernel):
        return "noise alone"
    text = str(kernel).replace("'auto' * ", "")
    text = re.sub(r"(, )?(\w+=)?'auto'", "", text).replace("(, ", "(").replace("()", "")
    depth = [text[: k + 1].count("(") - text[: k + 1].count(")") for k in range(len(text))]
    if text.startswith("(") and depth.index(0) == len(text) - 1:
        text = text[1:-1]

    return with_names(text, names)


def named(kernel: Kernel, names: Sequence[str]) -> Kernel:
    """Return a kernel that names the columns that it has by their indices, and that finds them in points without names, too.

    Examples
    --------
    >>> from kernsel.kernels import RBF, Linear
    >>> from kernsel.study.texts import named
    >>> named(RBF(1.0).on([0, 2]) + Linear(1.0), ["speed", "kind=old", "kind=new"])
    RBF(length_scale=1.0).on(['speed', 'kind=new']) + Linear(length_scale=1.0)
    """
    if isinstance(kernel, Columns) and all(isinstance(place, int) for place in kernel.places()):
        places = kernel.indices()
        here = [names[place] for place in places]
        return kernel.replaced(columns=here, kernel=named(kernel.kernel, here), _found=(here, places))
    if isinstance(kernel, Sum | Product | Power | Exp | PolynomialOf):
        return kernel.map_parts(lambda part: named(part, names))
    return kernel


def with_names(text: str, names: Sequence[str]) -> str:
    """Return the text of a kernel with names of columns for indices; that of a category for all of its 0/1 columns.

    Examples
    --------
    >>> from kernsel.study.texts import with_names
    >>> with_names("RBF(1).on([0]) * Exchangeable(0.5).on([1, 2])", ["speed", "kind=old", "kind=new"])
    "RBF(1).on(['speed']) * Exchangeable(0.5).on(['kind'])"
    """

    def named(match: re.Match[str]) -> str:
        chosen = [names[int(number)] for number in match[1].split(", ")]
        return f"on({list(dict.fromkeys(_of_category(name, chosen, names) for name in chosen))})"

    return re.sub(r"on\(\[([\d, ]+)\]\)", named, text)


def _of_category(name: str, chosen: Sequence[str], names: Sequence[str]) -> str:
    """Return the name of a category if several 0/1 columns, of which this is one, stand for it and all are chosen."""
    category, sign, _ = name.partition("=")
    every = {one for one in names if sign and one.startswith(f"{category}=")}
    return category if len(every) > 1 and every <= set(chosen) else name
