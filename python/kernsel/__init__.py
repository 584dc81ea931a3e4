"""Kernel methods with the choice of the kernel at their heart."""

from kernsel import kernels, testing
from kernsel.config import get_cmake_dir, get_include, get_num_threads, set_num_threads, show_config
from kernsel.criteria import Evaluation, LeaveOneOut, evaluate, loo
from kernsel.errors import NotPositiveDefiniteError
from kernsel.factor import Cholesky, cholesky
from kernsel.gram_matrix import gram
from kernsel.regression import KernelRidge

from ._core import version as _version

__version__: str = _version()

__all__ = [
    "Cholesky",
    "Evaluation",
    "KernelRidge",
    "LeaveOneOut",
    "NotPositiveDefiniteError",
    "__version__",
    "cholesky",
    "evaluate",
    "get_cmake_dir",
    "get_include",
    "get_num_threads",
    "gram",
    "kernels",
    "loo",
    "set_num_threads",
    "show_config",
    "testing",
]
