"""Saving and loading of kernel principal components."""

from __future__ import annotations

import numpy as np

from kernsel.estimators.kernel_pca import KernelPCA
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.machines import read_kernel, require_columns, write_kernel

__all__ = ["read_components", "write_components"]


def write_components(model: KernelPCA, to: Writing) -> None:
    """Write the points, the eigenvalues and eigenvectors, and the map back."""
    write_kernel(model.kernel_, to, for_cpp=False)
    to.array("points", model.X_fit_)
    to.array("means", model.means_)
    for name in ("eigenvalues_", "eigenvectors_", "explained_variance_ratio_"):
        to.array(name, getattr(model, name))
    if hasattr(model, "dual_coef_"):
        back = to.part("map_back")
        back.kernel("kernel", model.kernel_back_)
        back.array("coordinates", model.X_transformed_fit_)
        back.array("coefficients", model.dual_coef_)


def read_components(model: KernelPCA, given: Fields) -> None:
    """Read the points, the eigenvalues and eigenvectors, and the map back."""
    model.kernel_ = read_kernel(given)
    model.X_fit_ = given.array("points", None, model.n_features_in_)
    n = len(model.X_fit_)
    if isinstance(model.kernel_, str):
        if n != model.n_features_in_:
            raise ValueError(f"points: expected a square kernel matrix, got shape {model.X_fit_.shape}")
    else:
        require_columns(model.kernel_, model.X_fit_)
    model.means_ = given.array("means", n)
    model.eigenvalues_ = given.array("eigenvalues_", None, least=0.0)
    count = len(model.eigenvalues_)
    if (np.diff(model.eigenvalues_) > 0).any():
        raise ValueError("eigenvalues_: expected numbers in descending order")
    model.eigenvectors_ = given.array("eigenvectors_", n, count)
    model.explained_variance_ratio_ = given.array("explained_variance_ratio_", count)
    if given.has("map_back"):
        with given.part("map_back") as back:
            model.kernel_back_ = back.kernel("kernel")
            model.X_transformed_fit_ = back.array("coordinates", n, count)
            model.dual_coef_ = back.array("coefficients", n, model.n_features_in_)
            require_columns(model.kernel_back_, model.X_transformed_fit_)
