"""The table of the estimators that can be saved, with the functions that write and read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sklearn.base import BaseEstimator

from kernsel.estimators.classification import GaussianProcessClassifier
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.interpolator import KernelInterpolator
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.kernel_ridge_cv import KernelRidgeCV
from kernsel.estimators.ridge_regression import RidgeRegression
from kernsel.estimators.support.svr import SVR
from kernsel.saving.classifiers import read_classifier, write_classifier
from kernsel.saving.features import read_features_regression, write_features_regression
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.machines import (
    read_cv,
    read_interpolator,
    read_ridge,
    read_support,
    write_cv,
    write_interpolator,
    write_ridge,
    write_support,
)
from kernsel.saving.processes import read_process, write_process

__all__ = ["FORMS", "Form"]


@dataclass(frozen=True)
class Form:
    """The functions that write the result of a fit, and read it into a new estimator.

    Attributes
    ----------
    estimator : type
    write : callable
        write(model, writing) writes the fitted attributes.
    read : callable
        read(model, fields) sets the fitted attributes of a model whose parameters and columns are set.
    """

    estimator: type[BaseEstimator]
    write: Callable[[BaseEstimator, Writing], None]
    read: Callable[[BaseEstimator, Fields], None]


FORMS: dict[str, Form] = {
    form.estimator.__name__: form
    for form in (
        Form(GaussianProcessRegressor, write_process, read_process),
        Form(KernelRidge, write_ridge, read_ridge),
        Form(KernelRidgeCV, write_cv, read_cv),
        Form(KernelInterpolator, write_interpolator, read_interpolator),
        Form(SVR, write_support, read_support),
        Form(RidgeRegression, write_features_regression, read_features_regression),
        Form(GaussianProcessClassifier, write_classifier, read_classifier),
    )
}
