"""Kernel methods with the choice of the kernel at their heart.

Models, with scikit-learn's manners: :class:`KernelRidge`, :class:`KernelRidgeCV`, :class:`GaussianProcessRegressor`,
:class:`GaussianProcessClassifier`, :class:`StackedRegressor`, :class:`SVR`, :class:`KernelInterpolator`,
:class:`RidgeRegression`; what they are composed of: :mod:`kernels`, :mod:`structured`, :mod:`likelihoods`, :mod:`criteria`,
:mod:`features`; and what is done with them: :func:`select`, :func:`nested_cv`, :mod:`design`, :mod:`sensitivity`,
:mod:`plotting`, :func:`save`, :func:`load`.
"""

from typing import NoReturn

from kernsel import criteria, design, features, kernels, likelihoods, linalg, plotting, sensitivity, structured, testing
from kernsel._base.config import get_cmake_dir, get_include, get_num_threads, set_num_threads, show_config
from kernsel._base.errors import NotPositiveDefiniteError
from kernsel._base.renamed import TOP_LEVEL, refuse_name_in_module
from kernsel._core import version as _version
from kernsel._data.rows import row_source
from kernsel._solve.evaluate import evaluate, loo
from kernsel._solve.gram import gram
from kernsel._solve.path import RegularizationPath
from kernsel.approximations import Nystrom, Vecchia
from kernsel.estimators.classification import GaussianProcessClassifier
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.interpolator import KernelInterpolator
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.kernel_ridge_cv import KernelRidgeCV
from kernsel.estimators.ridge_regression import RidgeRegression
from kernsel.estimators.stacking.regressor import StackedRegressor
from kernsel.estimators.support.path import SVRPath
from kernsel.estimators.support.svr import SVR
from kernsel.saving import load, save
from kernsel.study.nested import nested_cv
from kernsel.study.select import select

__version__: str = _version()

__all__ = [
    "SVR",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "KernelInterpolator",
    "KernelRidge",
    "KernelRidgeCV",
    "NotPositiveDefiniteError",
    "Nystrom",
    "RegularizationPath",
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


def __getattr__(name: str) -> NoReturn:
    refuse_name_in_module("kernsel", name, TOP_LEVEL)
