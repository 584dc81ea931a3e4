"""Fitted functions as Gaussian processes of scikit-learn, for programs that know these, such as converters to ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process import GaussianProcessRegressor

from kernsel._base.annotations import Vector
from kernsel.kernels import Kernel, WhiteKernel, to_sklearn
from kernsel.kernels.objects import are_numbers

__all__ = ["as_process"]


def as_process(
    model: Any,
    kernel: Kernel | str,
    X: Vector,
    coefficients: Vector,
    constant: ArrayLike,
    *,
    factor: Vector | None = None,
    noise: float = 0.0,
    alpha: float | Vector = 0.0,
    lower: Vector | None = None,
) -> GaussianProcessRegressor:
    """Return a fitted process of scikit-learn whose mean is b + k(z, X) c.

    Parameters
    ----------
    model : estimator
        The fitted model, whose columns the process has.
    kernel : Kernel
    X : ndarray of shape (n, d)
    coefficients : ndarray of shape (n,) or (n, n_targets)
        c.
    constant : float or array-like of shape (n_targets,)
        b.
    factor : ndarray of shape (n_targets,), optional
        What variances are multiplied by; one by default.
    noise : float
        The variance of a white kernel that is part of the predicted one.
    alpha : float or ndarray of shape (n,)
        What is on the diagonal of the kernel matrix and not in the kernel.
    lower : ndarray of shape (n, n), optional
        The Cholesky factor, without which the process has no standard deviations.
    """
    if isinstance(kernel, str) or kernel.reading() is not None or not are_numbers(X):
        raise ValueError("kernel: scikit-learn's processes are of vectors; the points of this model are something else")
    counterpart = to_sklearn(kernel + WhiteKernel(noise, "fixed") if noise else kernel)
    process = GaussianProcessRegressor(counterpart, alpha=alpha, optimizer=None)
    process.kernel_, process.X_train_ = counterpart, X
    process.n_features_in_ = X.shape[1]
    if hasattr(model, "feature_names_in_"):
        process.feature_names_in_ = model.feature_names_in_
    root = np.ones(1) if factor is None else np.sqrt(factor)
    process.alpha_ = coefficients / (root if coefficients.ndim > 1 else root[0])
    process._y_train_std = np.broadcast_to(root, coefficients.shape[1:] or 1).copy()
    process._y_train_mean = np.broadcast_to(constant, coefficients.shape[1:] or 1).astype(np.float64)
    if lower is not None:
        process.L_ = lower
    return process
