"""Checks and interpretation of the classifier's parameters and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from kernsel._data.allowed import function, number, one_of, whole
from kernsel.kernels import RBF, ConstantKernel, Matern

__all__ = [
    "ALLOWED",
    "AUTO",
    "NONE",
    "criterion_of",
    "labels_of",
    "require_leaving_groups_out",
    "require_sampling",
    "require_softmax",
]


# The default amplitude is a number, since the scale of latent values does not depend on the data.
AUTO = ConstantKernel(4.0, (1e-2, 1e4)) * Matern("auto", nu=2.5)
NONE = ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")  # scikit-learn's default
ALLOWED = {
    "multi_class": one_of("one_vs_rest", "one_vs_one", "multinomial").said('one of "one_vs_rest", "one_vs_one", "multinomial"'),
    "inference": one_of("laplace", "ep", "mcmc").said('one of "laplace", "ep", "mcmc"'),
    "hyperparameters": one_of("optimize", "sample"),
    "criterion": one_of("auto", "lml", "loo").said('one of "auto", "lml", "loo"'),
    "optimizer": (function("auto", "l-bfgs-b", "fmin_l_bfgs_b") | None).said('"auto", "l-bfgs-b", a function or None'),
    "n_restarts_optimizer": whole(0),
    "max_iter_predict": whole(1),
    "n_samples": whole(4),
    "n_burn": whole(0),
    "n_chains": whole(1),
    "max_evaluations": whole(1),
    "verbose": whole(0),
    "max_seconds": number("positive", infinite=True) | None,
}


def criterion_of(estimator: Any, classes: int) -> str:
    """Return the criterion, "lml" or "loo", that the parameter `criterion` stands for with this number of classes."""
    if estimator.criterion != "auto":
        return str(estimator.criterion)
    softmax = classes > 2 and estimator.multi_class == "multinomial"
    return "loo" if isinstance(estimator.kernel, str) and estimator.kernel == "auto" and not softmax else "lml"


def require_softmax(estimator: Any) -> None:
    """Raise if a parameter has a value that ``multi_class="multinomial"`` does not support."""
    for name, only in (("inference", "laplace"), ("link", "logistic"), ("criterion", "lml")):
        if getattr(estimator, name) not in (only, "auto"):
            raise ValueError(
                f'{name}: multi_class="multinomial" has "{only}" only, got {getattr(estimator, name)!r}; "one_vs_rest" has all'
            )


def require_sampling(estimator: Any) -> None:
    """Raise if a parameter has a value that draws of hyperparameters do not go with."""
    if estimator.inference != "mcmc":
        raise ValueError(f'inference: expected "mcmc" with hyperparameters="sample", got {estimator.inference!r}')
    if estimator.optimizer is None:
        raise ValueError('optimizer: expected "auto" with hyperparameters="sample", whose draws begin where a search ends')


def require_leaving_groups_out(estimator: Any, classes: int) -> None:
    """Raise if groups of points cannot be left out with these parameters."""
    if classes > 2 and estimator.multi_class == "multinomial":
        raise ValueError('groups: multi_class="multinomial" leaves nothing out; "one_vs_rest" leaves groups out')


def labels_of(y: ArrayLike) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
    """Return the sorted classes, and the index of the class of each point."""
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
