"""What an argument `kernel` stands for, wherever there is one: in estimators, features and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sk

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.errors import ArgumentError
from kernsel.kernels import Kernel
from kernsel.kernels.algebra import as_kernel
from kernsel.kernels.automatic import Data
from kernsel.kernels.given import Precomputed
from kernsel.kernels.objects import Points
from kernsel.kernels.pairwise import NAMES
from kernsel.kernels.written import kernel

__all__ = [
    "kernel_and_points",
    "kernel_of",
    "kernel_of_text",
    "kernel_or_name",
    "matrix_of_indices",
    "require_square",
]

Function = Callable[..., Any]  # a kernel as a function, in one of several conventions


def kernel_of(value: object, *, auto: Kernel | None = None, none: Kernel | None = None, name: str = "kernel") -> Kernel:
    """Return the kernel that an argument stands for: a kernel of kernsel or of scikit-learn, or the text of one.

    What a text does not mention is "auto", and then set from the data.

    Parameters
    ----------
    value : object
        The argument.
    auto, none : Kernel, optional
        What "auto" and None stand for. Without them, they stand for nothing.
    name : str
        Of the argument, for errors.

    Examples
    --------
    >>> from kernsel._data.kernel import kernel_of
    >>> kernel_of("2.0 * RBF + Linear")
    ConstantKernel(constant_value=2.0) * RBF(length_scale='auto') + Linear(length_scale='auto')
    """
    found = _read(value, auto, none)
    if found is not None:
        return found
    if isinstance(value, str) and value == "precomputed":
        raise ArgumentError(
            'kernel: "precomputed" says nothing of k(x, x) at other points, which are needed here; '
            "kernsel.kernels.Precomputed is a kernel of a matrix whose points are numbers of rows"
        )
    raise _not_understood(value, auto, none, name=name)


def kernel_or_name(value: object, *, auto: Kernel, function: Callable[[Function], Kernel]) -> Kernel | str:
    """Return the kernel that the argument of a kernel machine stands for, or a name: what else scikit-learn's take.

    None and "auto" are the same. A name is "precomputed", for points that are rows of a kernel matrix, or one of
    :data:`kernsel.kernels.pairwise.NAMES`, of which the number of columns says what it stands for.

    Parameters
    ----------
    value : object
    auto : Kernel
    function : callable
        Returns the kernel of a function.
    """
    if isinstance(value, str) and (value == "precomputed" or value in NAMES):
        return value
    if (found := _read(value, auto, auto)) is not None:
        return found
    if callable(value) and not isinstance(value, type):
        return function(value)
    raise _not_understood(value, auto, auto, "its name or text", '"precomputed"', "a function")


def kernel_and_points(
    value: object, X: Points, Z: Points | None = None, *, y: Matrix | None = None, weights: Vector | None = None
) -> tuple[Kernel, Matrix, Matrix | None]:
    """Return the kernel of an argument and points as numbers, for a function that is no estimator.

    What is "auto" in the kernel is set from the data, as in estimators.

    Parameters
    ----------
    value : object
        The argument `kernel`; "precomputed" if X is the kernel matrix, of which there are no other points.
    X, Z : array-like of shape (n, d) or (n, n), or n objects
    y : ndarray of shape (n,) or (n, m), optional
    weights : ndarray of shape (n,), optional
    """
    if isinstance(value, str) and value == "precomputed" and Z is None:
        return *matrix_of_indices(np.asarray(X, dtype=np.float64)), None
    kernel, points, others = kernel_of(value).ready(X, Z)
    if _is_automatic(kernel):
        kernel = kernel.resolve(Data(np.asarray(points, dtype=np.float64), y, weights))
    return kernel, np.asarray(points), others


def _is_automatic(kernel: Kernel) -> bool:
    """Tell whether some hyperparameter is "auto"."""
    return any(isinstance(getattr(value, "value", value), str) for _, value in kernel.own())


def matrix_of_indices(K: Matrix) -> tuple[Kernel, Matrix]:
    """Return a kernel matrix as a kernel, and its points: the numbers of its rows."""
    require_square(K)
    return Precomputed((K + K.T) / 2), np.arange(len(K), dtype=np.float64)[:, None]


def require_square(K: Matrix) -> None:
    """Raise if points are no square kernel matrix."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"X: expected a square kernel matrix, since kernel='precomputed', got shape {K.shape}")


def kernel_of_text(text: str, *, columns: Mapping[str, Sequence[int]] | None = None) -> Kernel:
    """Return the kernel of a text that was given as `kernel`: what it does not mention is set from the data.

    Parameters
    ----------
    text : str
    columns : mapping of str to sequence of int, optional
        What names of columns stand for.
    """
    try:
        return kernel(text, automatic=True, columns=columns)
    except ValueError as error:
        raise ValueError(str(error).replace("text:", "kernel:", 1)) from None


def _read(value: object, auto: Kernel | None, none: Kernel | None) -> Kernel | None:
    """Return the kernel that all understand; None if it is none."""
    if value is None:
        return none
    if isinstance(value, str):
        if value == "auto":
            return auto
        return None if value == "precomputed" else kernel_of_text(value)
    if isinstance(value, sk.CompoundKernel):
        raise ArgumentError("kernel cannot be a CompoundKernel, which is a list of kernels: take one of its `kernels`")
    return None if isinstance(value, Real) else as_kernel(value)


def _not_understood(value: object, auto: Kernel | None, none: Kernel | None, *more: str, name: str = "kernel") -> ArgumentError:
    """Return the error that says what is."""
    expected = ["a kernel of kernsel.kernels", *([] if more else ["text"]), *more]
    expected += ['"auto"'] * (auto is not None) + ["None"] * (none is not None)
    return ArgumentError(f"{name}: expected {', '.join(expected[:-1])} or {expected[-1]}, got {value!r}")
