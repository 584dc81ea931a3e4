"""What the estimator's parameters and labels stand for, and what is wrong with them if they stand for nothing."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.gaussian_process import kernels as sk
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from kernsel.estimators.classification.links import Link, link_named
from kernsel.kernels import ConstantKernel, Kernel, Matern
from kernsel.kernels.algebra import as_kernel
from kernsel.kernels.written import kernel_argument

__all__ = ["criterion_of", "kernel_of", "labels_of", "require_parameters", "require_softmax"]


def kernel_of(given: object) -> Kernel:
    """Return what the argument `kernel` stands for."""
    if given is None:
        return ConstantKernel(1.0, "fixed") * as_kernel(sk.RBF(1.0, "fixed"))  # type: ignore[operator]
    if isinstance(given, sk.CompoundKernel):
        raise ValueError("kernel cannot be a CompoundKernel")
    if isinstance(given, str):
        if given == "auto":  # the scale of latent values does not depend on the data
            return ConstantKernel(4.0, (1e-2, 1e4)) * Matern("auto", nu=2.5)
        return kernel_argument(given)
    kernel = None if isinstance(given, Real) else as_kernel(given)
    if kernel is None:
        raise ValueError(f'kernel: expected a kernel of kernsel.kernels, "auto", text or None, got {given!r}')
    return kernel


def require_parameters(estimator: Any) -> Link:
    """Raise for parameters that are not what they should be; return the link."""
    allowed: dict[str, tuple[str, ...]] = {
        "multi_class": ("one_vs_rest", "one_vs_one", "multinomial"),
        "inference": ("laplace", "ep", "mcmc"),
        "criterion": ("auto", "lml", "loo"),
    }
    for name, values in allowed.items():
        if getattr(estimator, name) not in values:
            expected = ", ".join(f'"{value}"' for value in values)
            raise ValueError(f"{name}: expected one of {expected}, got {getattr(estimator, name)!r}")
    optimizers = ("auto", "l-bfgs-b", "fmin_l_bfgs_b")
    if estimator.optimizer is not None and not callable(estimator.optimizer) and estimator.optimizer not in optimizers:
        raise ValueError(f'optimizer: expected "auto", "l-bfgs-b", a function or None, got {estimator.optimizer!r}')
    least = {"n_restarts_optimizer": 0, "max_iter_predict": 1, "n_samples": 4, "n_burn": 0, "n_chains": 1}
    for name, lowest in (least | {"max_evaluations": 1, "verbose": 0}).items():
        value = getattr(estimator, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < lowest:
            raise ValueError(f"{name}: expected a whole number from {lowest} on, got {value!r}")
    seconds: float | None = estimator.max_seconds
    if seconds is not None and (not isinstance(seconds, Real) or isinstance(seconds, bool) or not seconds > 0):
        raise ValueError(f"max_seconds: expected a positive number or None, got {seconds!r}")
    return link_named(estimator.link)


def criterion_of(estimator: Any, classes: int) -> str:
    """Return the criterion that is meant."""
    if estimator.criterion != "auto":
        return str(estimator.criterion)
    softmax = classes > 2 and estimator.multi_class == "multinomial"
    return "loo" if isinstance(estimator.kernel, str) and estimator.kernel == "auto" and not softmax else "lml"


def require_softmax(estimator: Any) -> None:
    """Raise if what goes with several classes and one softmax is not what is asked for."""
    for name, only in (("inference", "laplace"), ("link", "logistic"), ("criterion", "lml")):
        if getattr(estimator, name) not in (only, "auto"):
            raise ValueError(
                f'{name}: multi_class="multinomial" has "{only}" only, got {getattr(estimator, name)!r}; "one_vs_rest" has all'
            )


def labels_of(y: ArrayLike) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
    """Return the classes, sorted, and for each point the number of its class."""
    labels = column_or_1d(y, warn=True)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"y: expected labels that can be compared, got {', '.join(kinds)} together") from None
    check_classification_targets(labels)
    if len(classes) < 2:
        raise ValueError(f"y: expected 2 or more classes, got {len(classes)} class: {classes.tolist()[0]!r} only")
    return classes, codes
