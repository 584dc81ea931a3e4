"""Interpretation of the argument `kernel` of estimators, features and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.errors import ArgumentError
from kernsel._data.categories import with_categories
from kernsel.kernels import Kernel
from kernsel.kernels.algebra import as_kernel
from kernsel.kernels.automatic import Data
from kernsel.kernels.convert import is_of_sklearn
from kernsel.kernels.given import Precomputed
from kernsel.kernels.objects import Points
from kernsel.kernels.pairwise import NAMES
from kernsel.kernels.written import kernel

__all__ = [
    "kernel_and_points",
    "kernel_of",
    "kernel_of_text",
    "kernel_or_name",
    "leaves_open",
    "matrix_of_indices",
    "require_square",
]

Function = Callable[..., Any]  # a kernel that is a Python function, in one of several calling conventions


def kernel_of(
    value: object, *, auto: Kernel | None = None, none: Kernel | None = None, name: str = "kernel", points: object = None
) -> Kernel:
    """Return the kernel that an argument stands for: a kernel of kernsel or of scikit-learn, or the text of one.

    Hyperparameters that a text does not mention are "auto", to be set from the data.

    Parameters
    ----------
    value : object
        The argument.
    auto, none : Kernel, optional
        The kernels that "auto" and None stand for. By default, "auto" and None are errors.
    name : str
        The name of the argument, for errors.
    points : object
        The points, for which "auto" has kernels of their columns of categories, if they are a data frame.

    Returns
    -------
    kernel : Kernel

    Examples
    --------
    >>> from kernsel._data.kernel import kernel_of
    >>> kernel_of("2.0 * RBF + Linear")
    ConstantKernel(constant_value=2.0) * RBF(length_scale='auto') + Linear(length_scale='auto')
    """
    found = _read(value, auto, none)
    if found is not None:
        return with_categories(found, points) if isinstance(value, str) and value == "auto" else found
    if isinstance(value, str) and value == "precomputed":
        raise ArgumentError(
            'kernel: "precomputed" says nothing of k(x, x) at other points, which are needed here; '
            "kernsel.kernels.Precomputed is a kernel of a matrix whose points are numbers of rows"
        )
    raise _not_understood(value, auto, none, name=name)


def kernel_or_name(value: object, *, auto: Kernel, function: Callable[[Function], Kernel]) -> Kernel | str:
    """Return the kernel that the argument of a kernel machine stands for, or one of scikit-learn's names for kernels.

    A name is "precomputed", for points that are rows of a kernel matrix, or one of
    :data:`kernsel.kernels.pairwise.NAMES`, whose kernel depends on the number of columns of X.

    Parameters
    ----------
    value : object
        The argument.
    auto : Kernel
        The kernel that None and "auto" stand for.
    function : callable
        Converts a kernel that is a Python function to a Kernel.

    Returns
    -------
    kernel : Kernel or str
    """
    if isinstance(value, str) and (value == "precomputed" or value in NAMES):
        return value
    if (found := _read(value, auto, auto)) is not None:
        return found
    if callable(value) and not isinstance(value, type):
        return function(value)
    raise _not_understood(value, auto, auto, "its name or text", '"precomputed"', "a function")


def leaves_open(value: object) -> bool:
    """Tell whether an argument `kernel` leaves to the data what it does not mention: it is "auto", or the text of a kernel.

    scikit-learn's names for kernels, which are in lower case, and "precomputed" leave nothing open, and objects only what they
    say.

    Examples
    --------
    >>> from kernsel._data.kernel import leaves_open
    >>> [leaves_open(value) for value in ("auto", "RBF + Linear", "rbf", None)]
    [True, True, False, False]
    """
    return isinstance(value, str) and value != "precomputed" and value not in NAMES


def kernel_and_points(
    value: object, X: Points, Z: Points | None = None, *, y: Matrix | None = None, weights: Vector | None = None
) -> tuple[Kernel, ArrayLike, Matrix | None]:
    """Return the kernel that an argument stands for, and the points as numbers, for functions that are not estimators.

    The "auto" parameters of the kernel are set from the data, as in estimators.

    Parameters
    ----------
    value : object
        The argument `kernel`; "precomputed" if X is the kernel matrix, in which case there is no Z.
    X, Z : array-like of shape (n, d) or (n, n), or n objects
    y : ndarray of shape (n,) or (n, m), optional
    weights : ndarray of shape (n,), optional

    Returns
    -------
    kernel : Kernel
    X, Z : ndarray, or None without Z
        The points as arrays of numbers.
    """
    if isinstance(value, str) and value == "precomputed" and Z is None:
        return *matrix_of_indices(np.asarray(X, dtype=np.float64)), None
    kernel, points, others = kernel_of(value).ready(X, Z)
    if kernel.is_automatic():
        kernel = kernel.resolve(Data(np.asarray(points, dtype=np.float64), y, weights))
    return kernel, points, others


def matrix_of_indices(K: Matrix) -> tuple[Kernel, Matrix]:
    """Return a kernel whose values are the entries of a matrix, and its points, which are the indices of the rows."""
    require_square(K)
    return Precomputed((K + K.T) / 2), np.arange(len(K), dtype=np.float64)[:, None]


def require_square(K: Matrix) -> None:
    """Raise if X, given as a precomputed kernel matrix, is not square."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"X: expected a square kernel matrix, since kernel='precomputed', got shape {K.shape}")


def kernel_of_text(text: str, *, columns: Mapping[str, Sequence[int]] | None = None) -> Kernel:
    """Return the kernel of a text that was given as `kernel`; hyperparameters that it does not mention are "auto".

    Parameters
    ----------
    text : str
    columns : mapping of str to sequence of int, optional
        The indices of the columns that each name in the text stands for.

    Returns
    -------
    kernel : Kernel
    """
    try:
        return kernel(text, automatic=True, columns=columns)
    except ValueError as error:
        raise ValueError(str(error).replace("text:", "kernel:", 1)) from None


def _read(value: object, auto: Kernel | None, none: Kernel | None) -> Kernel | None:
    """Return the kernel for a value that all estimators accept; None for any other value."""
    if value is None:
        return none
    if isinstance(value, str):
        if value == "auto":
            return auto
        return None if value == "precomputed" else kernel_of_text(value)
    if is_of_sklearn(value, "CompoundKernel"):
        raise ArgumentError("kernel cannot be a CompoundKernel, which is a list of kernels: take one of its `kernels`")
    return None if isinstance(value, Real) else as_kernel(value)


def _not_understood(value: object, auto: Kernel | None, none: Kernel | None, *more: str, name: str = "kernel") -> ArgumentError:
    """Return the error for a value that is not a kernel, with the accepted kinds of values."""
    expected = ["a kernel of kernsel.kernels", *([] if more else ["text"]), *more]
    expected += ['"auto"'] * (auto is not None) + ["None"] * (none is not None)
    return ArgumentError(f"{name}: expected {', '.join(expected[:-1])} or {expected[-1]}, got {value!r}")
