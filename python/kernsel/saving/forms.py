"""The estimators that have a form on disk, each with the functions that write and read what it has learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from kernsel.estimators.classification import GaussianProcessClassifier
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.interpolator import KernelInterpolator
from kernsel.estimators.kernel_pca import KernelPCA
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.kernel_ridge_cv import KernelRidgeCV
from kernsel.estimators.related_outputs import RelatedOutputsRegressor
from kernsel.estimators.ridge_regression import RidgeRegression
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.estimators.support.huber import KernelHuberRegressor
from kernsel.estimators.support.one_class import OneClassSVM
from kernsel.estimators.support.quantile import KernelQuantileRegressor
from kernsel.estimators.support.svc import SVC
from kernsel.estimators.support.svr import SVR
from kernsel.saving.classifiers import read_classifier, write_classifier
from kernsel.saving.components import read_components, write_components
from kernsel.saving.features import read_features_regression, write_features_regression
from kernsel.saving.fields import Fields, Writing
from kernsel.saving.machines import (
    read_cv,
    read_interpolator,
    read_ridge,
    require_columns,
    write_cv,
    write_interpolator,
    write_ridge,
)
from kernsel.saving.processes import read_process, write_process
from kernsel.saving.related import read_related, write_related
from kernsel.saving.stacks import read_stack, write_stack
from kernsel.saving.support import (
    read_classification,
    read_function,
    read_one_class,
    read_regression,
    write_classification,
    write_function,
    write_regression,
)

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

    @classmethod
    def of_attributes(
        cls,
        estimator: type[BaseEstimator],
        *,
        kernels: Sequence[str] = (),
        numbers: Sequence[str] = (),
        arrays: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Form:
        """Return the form of an estimator that has learnt nothing but these attributes.

        Parameters
        ----------
        estimator : type
        kernels, numbers : sequence of str
            Names of attributes, each a kernel or a finite number.
        arrays : dict of str to tuple of str
            Names of attributes that are arrays of float64, with the name of each of their sizes. A name that comes twice is
            one size; "columns" is that of the columns in the fit. All kernels are of points of so many columns.

        Examples
        --------
        >>> from sklearn.base import BaseEstimator
        >>> from kernsel.saving.forms import Form
        >>> class Nearest(BaseEstimator):
        ...     "Predicts the target of the nearest point."
        >>> Form.of_attributes(Nearest, arrays={"X_": ("points", "columns"), "y_": ("points",)}).estimator.__name__
        'Nearest'
        """
        shapes = dict(arrays or {})

        def write(model: BaseEstimator, to: Writing) -> None:
            for name in kernels:
                to.kernel(name, getattr(model, name))
            for name in numbers:
                to.json[name] = float(getattr(model, name))
            for name in shapes:
                to.array(name, getattr(model, name))

        def read(model: Any, given: Fields) -> None:
            sizes = {"columns": model.n_features_in_}
            for name in (*kernels, *numbers):
                setattr(model, name, given.kernel(name) if name in kernels else given.number(name))
            for name, shape in shapes.items():
                values = given.array(name, *(sizes.get(size) for size in shape))
                sizes.update(zip(shape, values.shape, strict=True))
                setattr(model, name, values)
                for kernel in kernels if shape[-1:] == ("columns",) else ():
                    require_columns(getattr(model, kernel), values)

        return cls(estimator, write, read)


FORMS: dict[str, Form] = {
    form.estimator.__name__: form
    for form in (
        Form(GaussianProcessRegressor, write_process, read_process),
        Form(RelatedOutputsRegressor, write_related, read_related),
        Form(StackedRegressor, write_stack, read_stack),
        Form(KernelRidge, write_ridge, read_ridge),
        Form(KernelRidgeCV, write_cv, read_cv),
        Form(KernelInterpolator, write_interpolator, read_interpolator),
        Form(SVR, write_regression, read_regression),
        Form(SVC, write_classification, read_classification),
        Form(OneClassSVM, write_function, read_one_class),
        Form(KernelHuberRegressor, write_function, read_function),
        Form(KernelQuantileRegressor, write_function, read_function),
        Form(KernelPCA, write_components, read_components),
        Form(RidgeRegression, write_features_regression, read_features_regression),
        Form(GaussianProcessClassifier, write_classifier, read_classifier),
    )
}
