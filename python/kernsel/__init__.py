"""Kernel methods with the choice of the kernel at their heart."""

from kernsel import criteria, features, kernels, plotting, structured, testing
from kernsel.classification import GaussianProcessClassifier
from kernsel.config import get_cmake_dir, get_include, get_num_threads, set_num_threads, show_config
from kernsel.errors import NotPositiveDefiniteError
from kernsel.evaluation import Evaluation, LeaveOneOutFit, evaluate, loo
from kernsel.factor import Cholesky, cholesky
from kernsel.gaussian_process import GaussianProcessRegressor
from kernsel.gram_matrix import gram
from kernsel.interpolation import Interpolant, minimum_norm_interpolant, power_function
from kernsel.interpolator import KernelInterpolator
from kernsel.kernel_ridge import KernelRidge
from kernsel.kernel_ridge_cv import KernelRidgeCV
from kernsel.least_squares import LeastSquaresLOO, leverage, loo_least_squares
from kernsel.nested import NestedFold, NestedResult, nested_cv
from kernsel.path import PathValues, RegularizationPath
from kernsel.ridge_regression import RidgeRegression
from kernsel.saving import load, save
from kernsel.selector import Selected, select
from kernsel.support import SVR
from kernsel.support_path import SVRPath

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
