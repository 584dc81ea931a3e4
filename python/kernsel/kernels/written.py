"""Kernels from text: expressions are parsed, and never run as code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kernsel._base.annotations import Matrix
from kernsel.kernels.algebra import as_kernel
from kernsel.kernels.base import Kernel
from kernsel.kernels.language import Reader

if TYPE_CHECKING:
    from sklearn.gaussian_process import kernels as sk

__all__ = ["KernelLike", "kernel"]

KernelLike: TypeAlias = "Kernel | sk.Kernel | str"  # a kernel, ours or scikit-learn's, or the text of one


def kernel(text: str, *, automatic: bool = False, columns: Mapping[str, Sequence[int]] | None = None) -> Kernel:
    """Return the kernel that a text describes, such as ``"2.0 * RBF(1.0) + Linear()"``; no code is run.

    The text is what `repr` of a kernel gives, or what one would write in Python: the names of :mod:`kernsel.kernels` with
    arguments, numbers, lists, "auto" and "fixed", ``+``, ``*``, ``@``, ``**``, ``.on([...])``, ``Parameter`` and priors. A name
    alone stands for the kernel with its defaults: ``"RBF + Linear"``.

    Parameters
    ----------
    text : str
    automatic : bool
        Hyperparameters that the text does not mention are "auto" instead of their defaults: for data of any scale.
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
    return _read(Reader(text.strip(), {}, automatic, columns))


def kernel_with_arrays(text: str, arrays: Mapping[str, Matrix], others: Mapping[str, type[Kernel]] | None = None) -> Kernel:
    """Return the kernel of a text in which names may stand for arrays, and for `others` than the kernels of this room."""
    return _read(Reader(text.strip(), arrays, others=others))


def _read(reader: Reader) -> Kernel:
    """Return the kernel of the reader's text."""
    result = as_kernel(reader.whole())
    if result is None:
        raise ValueError(f"text: {reader.text[:60]!r} is not a kernel")
    return result
