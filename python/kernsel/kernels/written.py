"""Kernels as text: an expression is read, and never run."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np

from kernsel.kernels import priors
from kernsel.kernels.base import Kernel
from kernsel.kernels.hyperparameter import Parameter
from kernsel.kernels.leaf import Leaf
from kernsel.kernels.simple import ConstantKernel

__all__ = ["kernel"]


def kernel(text: str, *, automatic: bool = False, columns: Mapping[str, Sequence[int]] | None = None) -> Kernel:
    """Return the kernel that a text describes, such as ``"2.0 * RBF(1.0) + Linear()"``; no code is run.

    The text is what `repr` of a kernel gives, or what one would write in Python: the names of :mod:`kernsel.kernels` with
    arguments, numbers, lists, "auto" and "fixed", ``+``, ``*``, ``@``, ``**``, ``.on([...])``, ``Parameter`` and priors. A name
    alone stands for the kernel with its defaults: ``"RBF + Linear"``.

    Parameters
    ----------
    text : str
    automatic : bool
        Hyperparameters that the text says nothing of are "auto" instead of their defaults: for data of any scale.
    columns : mapping of str to sequence of int, optional
        What names in ``.on([...])`` stand for. By default names are kept, for points that are a table.

    Returns
    -------
    kernel : Kernel

    Examples
    --------
    >>> from kernsel.kernels import kernel
    >>> kernel("2.0 * RBF(1.0) + Linear()")
    ConstantKernel(constant_value=2.0) * RBF(length_scale=1.0) + Linear(length_scale=1.0)
    >>> kernel("RBF + Linear.on(['speed'])", automatic=True, columns={"speed": [2]})
    RBF(length_scale='auto') + Linear(length_scale='auto').on([2])
    >>> kernel("RBF + Liner")
    Traceback (most recent call last):
        ...
    ValueError: text: there is no kernel 'Liner' (character 7); did you mean Linear?
    """
    if isinstance(text, Kernel):
        return text
    if not isinstance(text, str):
        raise TypeError(f"text: expected a text, got {text!r}")
    return _read(_Reader(text.strip(), {}, automatic, columns))


def kernel_with_arrays(text: str, arrays: Mapping[str, Any]) -> Kernel:
    """Return the kernel of a text in which names may stand for arrays."""
    return _read(_Reader(text.strip(), arrays))


def _read(reader: _Reader) -> Kernel:
    """Return the kernel of the reader's text."""
    text = reader.text
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"text: {text[:60]!r} cannot be read: {getattr(error, 'msg', error)}") from None
    try:
        value = reader.read(tree.body)
    except RecursionError:
        raise ValueError(f"text: {text[:60]!r} is too deeply nested") from None
    if isinstance(value, float | int) and not isinstance(value, bool):
        return ConstantKernel(float(value))
    if not isinstance(value, Kernel):
        raise ValueError(f"text: {text[:60]!r} is not a kernel")
    return value


def _classes() -> dict[str, Any]:
    from kernsel import kernels

    return {
        name: value
        for name in kernels.__all__
        if isinstance(value := getattr(kernels, name), type) and issubclass(value, Kernel) and value is not Kernel
    }


def kernel_argument(text: str, *, columns: Mapping[str, Sequence[int]] | None = None) -> Kernel:
    """Return the kernel of a text that was given as the argument `kernel` of something that has data: these say the rest."""
    try:
        return kernel(text, automatic=True, columns=columns)
    except ValueError as error:
        raise ValueError(str(error).replace("text:", "kernel:", 1)) from None


class _Reader:
    def __init__(
        self,
        text: str,
        arrays: Mapping[str, Any],
        automatic: bool = False,
        columns: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self.text = text
        self.arrays = arrays
        self.automatic = automatic
        self.columns = columns
        self.names = _classes()
        self.others: dict[str, Any] = {"Parameter": Parameter} | {name: getattr(priors, name) for name in priors.__all__[:-1]}

    def problem(self, node: ast.expr, what: str, hint: str = "") -> ValueError:
        return ValueError(f"text: {what} (character {node.col_offset + 1}){hint}")

    def read(self, node: ast.expr) -> Any:
        """Return a kernel, a number, a text, a list of them, or a parameter."""
        match node:
            case ast.Constant(value=value) if isinstance(value, int | float | str | bool) or value is None:
                return value
            case ast.List(elts=items) | ast.Tuple(elts=items):
                values = [self.read(item) for item in items]
                return tuple(values) if isinstance(node, ast.Tuple) else values
            case ast.Name(id="inf"):
                return np.inf
            case ast.Name(id=name) if name in self.arrays:
                return self.arrays[name]
            case ast.Name(id=name):
                return self.call(node, self.known(node, name), [], {})
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self.signed(node, self.read(operand))
            case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.MatMult() | ast.Pow() as operator, right=right):
                return self.combine(node, operator, self.read(left), self.read(right))
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="inf")], keywords=[]):
                return np.inf
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                return self.call(node, self.known(node, name), [self.read(a) for a in args], self.named(node, keywords))
            case ast.Call(func=ast.Attribute(value=inner, attr="on"), args=[columns], keywords=[]):
                base = self.read(inner)
                if not isinstance(base, Kernel):
                    raise self.problem(node, ".on() is for kernels")
                return self.call(node, base.on, [self.indices(node, self.read(columns))], {})
            case _:
                part = ast.get_source_segment(self.text, node) or ""
                raise self.problem(node, f"{part[:40]!r} is not part of the language of kernels")

    def named(self, node: ast.expr, keywords: list[ast.keyword]) -> dict[str, Any]:
        if any(keyword.arg is None for keyword in keywords):
            raise self.problem(node, "** is not part of the language of kernels")
        return {str(keyword.arg): self.read(keyword.value) for keyword in keywords}

    def known(self, node: ast.expr, name: str) -> Any:
        known = self.names | self.others
        if name in known:
            return known[name]
        by_lower = {each.lower(): each for each in known}
        close = get_close_matches(name.lower(), by_lower, 1, 0.6)
        hint = f"did you mean {by_lower[close[0]]}?" if close else f"there are {', '.join(sorted(self.names))}"
        raise self.problem(node, f"there is no kernel {name!r}", f"; {hint}")

    def call(self, node: ast.expr, what: Any, args: list[Any], named: dict[str, Any]) -> Any:
        try:
            signature(what).bind(*args, **named)
        except TypeError as error:
            raise self.problem(
                node, f"{what.__name__}: {error}; its arguments are {', '.join(signature(what).parameters) or 'none'}"
            ) from None
        if self.automatic and isinstance(what, type) and issubclass(what, Leaf):
            given = signature(what).bind(*args, **named).arguments
            left = [name for name in what._hyper if name not in given and name not in what._may_be_none]
            named = named | dict.fromkeys(left, "auto")
        return what(*args, **named)

    def indices(self, node: ast.expr, columns: Any) -> Any:
        """Return the numbers of columns that are given by name."""
        if self.columns is None or not isinstance(columns, list | tuple):
            return columns
        numbers: list[Any] = []
        for column in columns:
            if isinstance(column, str) and column not in self.columns:
                close = get_close_matches(column, self.columns, 1, 0.6)
                hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(self.columns)}"
                raise self.problem(node, f"there is no column {column!r}", f"; {hint}")
            numbers += self.columns[column] if isinstance(column, str) else [column]
        return numbers

    def signed(self, node: ast.UnaryOp, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.problem(node, "a sign is for numbers")
        return -value if isinstance(node.op, ast.USub) else value

    def combine(self, node: ast.BinOp, operator: ast.operator, left: Any, right: Any) -> Any:
        a_kernel = isinstance(left, Kernel) or isinstance(right, Kernel)
        if not a_kernel or any(
            isinstance(value, bool) or not isinstance(value, Kernel | int | float) for value in (left, right)
        ):
            raise self.problem(node, "an operation is for kernels, and for kernels and numbers")
        if isinstance(operator, ast.Add):
            return left + right
        if isinstance(operator, ast.Mult):
            return left * right
        if isinstance(operator, ast.MatMult):
            if not (isinstance(left, Kernel) and isinstance(right, Kernel)):
                raise self.problem(node, "@ is for two kernels")
            return left @ right
        if not isinstance(left, Kernel) or isinstance(right, Kernel):
            raise self.problem(node, "** is for a kernel and a number")
        return left**right
