"""Kernel methods with the choice of the kernel at their heart.

Models, with scikit-learn's manners
    :class:`KernelRidge`, :class:`KernelRidgeCV`, :class:`RidgeRegression` and :class:`RegularizationPath`: least squares.
    :class:`GaussianProcessRegressor`, :class:`GaussianProcessClassifier`: kriging, and probabilities.
    :class:`StackedRegressor`: several kernels mixed; :class:`SVR`, :class:`SVRPath`; :class:`KernelInterpolator`.
What they are composed of
    :mod:`kernsel.kernels`, :mod:`kernsel.structured` (strings, bags, sets, graphs, clouds of points),
    :mod:`kernsel.likelihoods`, :mod:`kernsel.criteria`, :mod:`kernsel.features`; :class:`Nystrom` and :class:`Vecchia` for many
    points; :func:`row_source` for rows that do not fit into memory.
The choice of a kernel
    :func:`select`, :func:`nested_cv`; :func:`evaluate`: one criterion with its gradient; :func:`loo`.
What is done with a model
    :func:`save`, :func:`load`, :mod:`kernsel.plotting`, :mod:`kernsel.sensitivity` (which inputs matter),
    :mod:`kernsel.design` (where to observe next).
Below them
    :mod:`kernsel.linalg`, :func:`gram`, and the error :class:`NotPositiveDefiniteError`; :mod:`kernsel.testing` checks a kernel
    or a likelihood of one's own. Threads and the build: :func:`set_num_threads`, :func:`get_num_threads`, :func:`show_config`,
    :func:`get_include`, :func:`get_cmake_dir`.

``help(kernsel.select)`` and the like say more, each with an example. The command ``kernsel`` does the same for tables in files.
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
    "KernelRidge": "kernsel.estimators.kernel_ridge",
    "KernelRidgeCV": "kernsel.estimators.kernel_ridge_cv",
    "RidgeRegression": "kernsel.estimators.ridge_regression",
    "StackedRegressor": "kernsel.estimators.stacking.regressor",
    "SVRPath": "kernsel.estimators.support.path",
    "SVR": "kernsel.estimators.support.svr",
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
