"""Saving and loading of support vector machines."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernsel._base.annotations import Matrix
from kernsel._data.training import dense
from kernsel.estimators.support.machine import FunctionMachine, SupportMachine
from kernsel.estimators.support.one_class import OneClassSVM
from kernsel.estimators.support.svc import SVC
from kernsel.estimators.support.svr import SVR
from kernsel.saving.classifiers import read_classes, write_classes
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.machines import read_kernel, require_columns, write_kernel
from kernsel.saving.selections import read_support_selection, write_support_selection

__all__ = [
    "read_classification",
    "read_function",
    "read_one_class",
    "read_regression",
    "write_classification",
    "write_function",
    "write_regression",
]

Sparse: TypeAlias = sparse.csr_matrix | sparse.csr_array

_SPARSE: dict[str, type[Sparse]] = {kind.__name__: kind for kind in (sparse.csr_matrix, sparse.csr_array)}


def write_function(model: FunctionMachine, to: Writing) -> None:
    """Write the support vectors and their coefficients."""
    _write_vectors(model, dense(model.dual_coef_).T, to)
    to.array("offset", model.intercept_)
    to.values(model, "objective_", "duality_gap_", "n_iter_")


def read_function(model: FunctionMachine, given: Fields) -> None:
    """Read the support vectors and their coefficients."""
    coefficients, kind = _read_vectors(model, given, 1)
    model.dual_coef_ = _of_kind(kind, coefficients.T)
    model.intercept_ = given.array("offset", 1)
    model.n_support_ = np.array([len(model.support_)], dtype=np.int32)
    model.objective_ = given.number("objective_", finite=False)
    model.duality_gap_ = given.number("duality_gap_", finite=False)
    model.n_iter_ = given.whole("n_iter_")


def write_regression(model: SVR, to: Writing) -> None:
    """Write the function, and how C and epsilon were chosen."""
    write_function(model, to)
    to.values(model, "C_", "epsilon_")
    if hasattr(model, "selection_"):
        write_support_selection(model.selection_, to.part("selection"))


def read_regression(model: SVR, given: Fields) -> None:
    """Read the function, and how C and epsilon were chosen."""
    read_function(model, given)
    model.C_ = given.number("C_", 0.0, finite=False)
    model.epsilon_ = given.number("epsilon_", 0.0)
    if given.has("selection"):
        model.selection_ = read_support_selection(given.part("selection"))
        model.criterion_value_ = model.selection_.value


def read_one_class(model: OneClassSVM, given: Fields) -> None:
    """Read the function."""
    read_function(model, given)
    model.offset_ = -float(model.intercept_[0])


def write_classification(model: SVC, to: Writing) -> None:
    """Write the support vectors, their coefficients in the function of each pair of classes, and the classes."""
    write_classes(model.classes_, to)
    _write_vectors(model, model.of_pairs(), to)
    to.array("offset", model.intercept_)
    to.array("n_support", model.n_support_)
    for name in ("class_weight_", "objective_", "duality_gap_", "n_iter_"):
        to.array(name, getattr(model, name))


def read_classification(model: SVC, given: Fields) -> None:
    """Read the support vectors, their coefficients in the function of each pair of classes, and the classes."""
    model.classes_ = read_classes(given)
    count = len(model.classes_)
    pairs = count * (count - 1) // 2
    own = given.array("n_support", count, dtype=np.int64, least=0.0)
    coefficients, kind = _read_vectors(model, given, pairs, of_classes=own)
    model.n_support_ = own.astype(np.int32)
    model.dual_coef_ = _of_kind(kind, model.by_classes(coefficients))
    model.intercept_ = given.array("offset", pairs)
    model.class_weight_ = given.array("class_weight_", count, least=0.0)
    model.objective_ = given.array("objective_", pairs, finite=False)
    model.duality_gap_ = given.array("duality_gap_", pairs, finite=False)
    model.n_iter_ = given.array("n_iter_", pairs, dtype=np.int64, least=0.0)


def _write_vectors(model: SupportMachine, coefficients: Matrix, to: Writing) -> None:
    vectors = model.support_vectors_
    is_sparse = sparse.issparse(vectors)
    write_kernel(model.kernel_, to, for_cpp=not is_sparse and not isinstance(model, SVC | OneClassSVM))
    to.json["sparse"] = type(model.dual_coef_).__name__ if sparse.issparse(model.dual_coef_) else None
    if is_sparse:
        for name in ("data", "indices", "indptr"):
            to.array(f"points.{name}", getattr(vectors, name))
    else:
        to.array("points", vectors)
    to.array("coefficients", coefficients)
    to.array("support", model.support_)
    to.values(model, "fit_status_", "shape_fit_")


def _read_vectors(
    model: SupportMachine, given: Fields, outputs: int, of_classes: NDArray[np.int64] | None = None
) -> tuple[Matrix, str | None]:
    """Read the support vectors; return their coefficients, shape (n_SV, outputs), and the kind of sparse matrix they were in.

    With the numbers of support vectors of each class, those of one class follow those of another.
    """
    kind = given.take("sparse")
    if kind is not None and kind not in _SPARSE:
        raise ValueError(f"sparse: expected null or one of {', '.join(_SPARSE)}, got {kind!r:.60}")
    shape = given.value("shape_fit_")
    if not isinstance(shape, list) or len(shape) != 2 or not all(type(size) is int and 0 < size < 2**63 for size in shape):
        raise ValueError(f"shape_fit_: expected two whole numbers, got {shape!r:.60}")
    model.shape_fit_ = tuple(shape)
    support = given.array("support", None, dtype=np.int64, least=0.0)
    count, d = len(support), model.n_features_in_
    sizes = np.array([count]) if of_classes is None else of_classes
    if sizes.max(initial=0) > count or sizes.sum() != count:
        raise ValueError(f"n_support: expected numbers with the sum {count}, got {sizes[:5]}")
    each = np.split(support, np.cumsum(sizes)[:-1])
    if any((np.diff(part) <= 0).any() for part in each) or len(np.unique(support)) < count or (support >= shape[0]).any():
        raise ValueError(f"support: expected numbers of points, below {shape[0]} and each larger than the one before")
    coefficients = given.array("coefficients", count, outputs)
    model.kernel_ = read_kernel(given)
    if isinstance(model.kernel_, str):
        if shape != [d, d]:
            raise ValueError(f"shape_fit_: expected a square kernel matrix of {d} columns, got {shape}")
        model.support_vectors_ = given.array("points", 0, 0)
    elif kind is None:
        model.support_vectors_ = given.array("points", count, d)
        require_columns(model.kernel_, model.support_vectors_)
    else:  # the kernel is not tried on a point, since a dense row may not fit into memory
        model.support_vectors_ = _sparse_points(given, kind, (count, d))
    model.support_ = support.astype(np.int32)
    model.fit_status_ = given.whole("fit_status_")
    return coefficients, kind


def _of_kind(kind: str | None, coefficients: Matrix) -> Any:
    """Return coefficients as the kind of matrix that they were in."""
    return coefficients if kind is None else _SPARSE[kind](coefficients)


def _sparse_points(given: Fields, kind: str, shape: tuple[int, int]) -> Sparse:
    """Return the sparse matrix of the support vectors; raise if its parts are inconsistent."""
    data = given.array("points.data", None)
    indices = given.array("points.indices", len(data), dtype=np.int64, least=0.0)
    indptr = given.array("points.indptr", shape[0] + 1, dtype=np.int64, least=0.0)
    matrix = _SPARSE[kind]((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix
