"""Kernel methods with the choice of the kernel at their heart."""

from kernsel import criteria, features, kernels, plotting, structured, testing
from kernsel._base.config import get_cmake_dir, get_include, get_num_threads, set_num_threads, show_config
from kernsel._base.errors import NotPositiveDefiniteError
from kernsel._solve.evaluate import Evaluation, LeaveOneOutFit, evaluate, loo
from kernsel._solve.gram import gram
from kernsel._solve.path import PathValues, RegularizationPath
from kernsel.estimators.classification import GaussianProcessClassifier
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.interpolator import KernelInterpolator
from kernsel.estimators.kernel_ridge import KernelRidge
from kernsel.estimators.kernel_ridge_cv import KernelRidgeCV
from kernsel.estimators.ridge_regression import RidgeRegression
from kernsel.estimators.support.path import SVRPath
from kernsel.estimators.support.svr import SVR
from kernsel.linalg.cholesky import Cholesky, cholesky
from kernsel.linalg.least_squares import LeastSquaresLOO, leverage, loo_least_squares
from kernsel.linalg.minimum_norm import Interpolant, minimum_norm_interpolant, power_function
from kernsel.saving import load, save
from kernsel.study.nested import NestedFold, NestedResult, nested_cv
from kernsel.study.select import Selected, select

from ._core import version as _version

__version__: str = _version()

__all__ = [
    "SVR",
    "Cholesky",
    "Evaluation",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "Interpolant",
    "KernelInterpolator",
    "KernelRidge",
    "KernelRidgeCV",
    "LeastSquaresLOO",
    "LeaveOneOutFit",
    "NestedFold",
    "NestedResult",
    "NotPositiveDefiniteError",
    "PathValues",
    "RegularizationPath",
    "RidgeRegression",
    "SVRPath",
    "Selected",
    "__version__",
    "cholesky",
    "criteria",
    "evaluate",
    "features",
    "get_cmake_dir",
    "get_include",
    "get_num_threads",
    "gram",
    "kernels",
    "leverage",
    "load",
    "loo",
    "loo_least_squares",
    "minimum_norm_interpolant",
    "nested_cv",
    "plotting",
    "power_function",
    "save",
    "select",
    "set_num_threads",
    "show_config",
    "structured",
    "testing",
]
