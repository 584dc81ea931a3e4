"""Kernel methods with the choice of the kernel at their heart.

Models, with scikit-learn's manners::

    KernelRidge, KernelRidgeCV      least squares, alpha given or found; RidgeRegression on explicit features
    RegularizationPath              all values of lambda at once
    GaussianProcessRegressor        kriging: noise, trends, any likelihood
    GaussianProcessClassifier       probabilities of classes
    RelatedOutputsRegressor         Gaussian processes that tell something of each other
    StackedRegressor                several Gaussian processes, mixed
    SVR, SVRPath                    support vector regression
    SVC, OneClassSVM                classes, and the region of one class, by the same solver
    KernelHuberRegressor            errors whose large ones count by their size
    KernelQuantileRegressor         the function that a share of the targets is below
    KernelInterpolator              the function of least norm through the data
    KernelPCA                       principal components in the space of a kernel

What they are composed of::

    kernels, structured             of vectors; of strings, bags, sets, graphs and distributions
    likelihoods, criteria           what the data are given the function; what is best
    features                        for linear models
    Nystrom, Vecchia                approximations for many points
    row_source                      rows that do not fit into memory

What is done with them::

    select, nested_cv               choose a kernel; measure how well that choice predicts
    evaluate, loo, gram             a criterion with its gradient; what is left out; the kernel matrix
    save, load                      models on disk
    plotting, sensitivity, design   pictures; which inputs matter; where to observe next
    linalg, testing                 factorizations and least squares; checks of kernels and likelihoods of one's own
    set_num_threads, get_num_threads, show_config, get_include, get_cmake_dir
    NotPositiveDefiniteError        what a factorization raises

help(kernsel.select), help(kernsel.kernels) and so on say more, with examples. The command kernsel does the same for tables in
files.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kernsel._base.config import get_cmake_dir, get_include, get_num_threads, set_num_threads, show_config
from kernsel._base.errors import NotPositiveDefiniteError
from kernsel._base.renamed import TOP_LEVEL, refuse_name_in_module
from kernsel._core import version as _version

if TYPE_CHECKING:  # what is imported when it is first used, for those who read types
    from kernsel import criteria, design, features, kernels, likelihoods, linalg, plotting, sensitivity, structured, testing
    from kernsel._data.rows import row_source
    from kernsel._solve.evaluate import evaluate, loo
    from kernsel._solve.gram import gram
    from kernsel._solve.path import RegularizationPath
    from kernsel.approximations import Nystrom, Vecchia
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
    from kernsel.estimators.support.path import SVRPath
    from kernsel.estimators.support.quantile import KernelQuantileRegressor
    from kernsel.estimators.support.svc import SVC
    from kernsel.estimators.support.svr import SVR
    from kernsel.saving import load, save
    from kernsel.study.nested import nested_cv
    from kernsel.study.select import select

__version__: str = _version()

__all__ = [
    "SVC",
    "SVR",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "KernelHuberRegressor",
    "KernelInterpolator",
    "KernelPCA",
    "KernelQuantileRegressor",
    "KernelRidge",
    "KernelRidgeCV",
    "NotPositiveDefiniteError",
    "Nystrom",
    "OneClassSVM",
    "RegularizationPath",
    "RelatedOutputsRegressor",
    "RidgeRegression",
    "SVRPath",
    "StackedRegressor",
    "Vecchia",
    "__version__",
    "criteria",
    "design",
    "evaluate",
    "features",
    "get_cmake_dir",
    "get_include",
    "get_num_threads",
    "gram",
    "kernels",
    "likelihoods",
    "linalg",
    "load",
    "loo",
    "nested_cv",
    "plotting",
    "row_source",
    "save",
    "select",
    "sensitivity",
    "set_num_threads",
    "show_config",
    "structured",
    "testing",
]

# Names are imported when they are first used: `import kernsel` alone needs neither scikit-learn nor SciPy.
_ROOMS = (
    "approximations",
    "criteria",
    "design",
    "estimators",
    "examples",
    "features",
    "kernels",
    "likelihoods",
    "linalg",
    "plotting",
    "report",
    "saving",
    "sensitivity",
    "structured",
    "study",
    "testing",
)
_MODULES = {
    "row_source": "kernsel._data.rows",
    "evaluate": "kernsel._solve.evaluate",
    "loo": "kernsel._solve.evaluate",
    "gram": "kernsel._solve.gram",
    "RegularizationPath": "kernsel._solve.path",
    "Nystrom": "kernsel.approximations",
    "Vecchia": "kernsel.approximations",
    "GaussianProcessClassifier": "kernsel.estimators.classification",
    "GaussianProcessRegressor": "kernsel.estimators.gaussian_process",
    "KernelInterpolator": "kernsel.estimators.interpolator",
    "KernelPCA": "kernsel.estimators.kernel_pca",
    "KernelRidge": "kernsel.estimators.kernel_ridge",
    "KernelRidgeCV": "kernsel.estimators.kernel_ridge_cv",
    "RelatedOutputsRegressor": "kernsel.estimators.related_outputs",
    "RidgeRegression": "kernsel.estimators.ridge_regression",
    "StackedRegressor": "kernsel.estimators.stacking.regressor",
    "SVRPath": "kernsel.estimators.support.path",
    "SVR": "kernsel.estimators.support.svr",
    "SVC": "kernsel.estimators.support.svc",
    "OneClassSVM": "kernsel.estimators.support.one_class",
    "KernelHuberRegressor": "kernsel.estimators.support.huber",
    "KernelQuantileRegressor": "kernsel.estimators.support.quantile",
    "load": "kernsel.saving",
    "save": "kernsel.saving",
    "nested_cv": "kernsel.study.nested",
    "select": "kernsel.study.select",
}


if not TYPE_CHECKING:  # type checkers see the imports above, and that other names do not exist

    def __getattr__(name: str) -> object:
        if name in _ROOMS:
            return import_module(f"kernsel.{name}")
        if name not in _MODULES:
            refuse_name_in_module("kernsel", name, TOP_LEVEL)
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value  # so that it is found without this function from now on
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
