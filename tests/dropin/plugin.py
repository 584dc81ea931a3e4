"""Run scikit-learn's own tests with our classes in the place of theirs.

python -m pytest -n 0 -p tests.dropin.plugin --pyargs sklearn.tests.test_kernel_ridge sklearn.gaussian_process.tests.test_gpr \\
    sklearn.gaussian_process.tests.test_gpc sklearn.svm.tests.test_svm

When pytest loads this file, scikit-learn's classes are replaced, wherever they can be imported from, by those of the same name
that kernsel has; theirs cannot be made any more. Tests of a class that kernsel does not have are not run, and it says so. Of a
module that tests other classes, too, only those tests are run that call ours.
"""

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType

import pytest
import sklearn

import kernsel

# Our classes, where theirs live, and the tests of them.
CLASSES = {
    "KernelRidge": ("sklearn.kernel_ridge", "sklearn.tests.test_kernel_ridge"),
    "GaussianProcessRegressor": ("sklearn.gaussian_process", "sklearn.gaussian_process.tests.test_gpr"),
    "GaussianProcessClassifier": ("sklearn.gaussian_process", "sklearn.gaussian_process.tests.test_gpc"),
    "SVR": ("sklearn.svm", "sklearn.svm.tests.test_svm"),
}
SHARED = ("SVR",)  # whose module tests other classes, too
# Tests that ours are not to pass, and why: by module and name, with or without parameters. One that passes is an error, until
# it is taken out of here.
EXCEPTIONS = {
    "sklearn.tests.test_kernel_ridge::test_kernel_ridge_singular_kernel": (
        "a singular matrix is an error that says what to do, not a warning and the solution of another problem"
    ),
    "sklearn.gaussian_process.tests.test_gpr::test_no_fit_default_predict": (
        "the kernel is chosen from the data by default, so that inputs of any scale work; kernel=None is theirs"
    ),
    "sklearn.gaussian_process.tests.test_gpr::test_warning_bounds": (
        "hyperparameters that end at a bound are one report, selection_.at_bounds, not a warning for each"
    ),
    "sklearn.gaussian_process.tests.test_gpr::test_gpr_interpolation_structured": (
        "points are rows of numbers; kernels of strings have no counterpart in the core"
    ),
    "sklearn.gaussian_process.tests.test_gpr::test_gpr_predict_input_not_modified": (
        "a subclass of a kernel of scikit-learn may be any function, so it is refused by name rather than taken for its base"
    ),
    "sklearn.gaussian_process.tests.test_gpc::test_predict_consistent_structured": (
        "points are rows of numbers; kernels of strings have no counterpart in the core"
    ),
    "sklearn.gaussian_process.tests.test_gpc::test_latent_mean_and_variance_works_on_structured_kernels": (
        "points are rows of numbers; kernels of strings have no counterpart in the core"
    ),
    "sklearn.gaussian_process.tests.test_gpc::test_warning_bounds": (
        "hyperparameters that end at a bound are one report, at_bounds_, not a warning for each"
    ),
    "sklearn.svm.tests.test_svm::test_svr_errors": (
        "a function that does not return the kernel matrix of the points is an error in fit, not only in predict"
    ),
    "sklearn.svm.tests.test_svm::test_custom_kernel_not_array_input": (
        "points are rows of numbers; kernels of strings have no counterpart in the core"
    ),
    "sklearn.svm.tests.test_svm::test_svm_with_infinite_C": (
        "it compares predictions to 1e-7, which theirs pass since both take the same steps: ours stop by the duality gap, "
        "which is relative to the objective, and that is not the same for both"
    ),
}
LATEST = (1, 9)  # EXCEPTIONS that name no test are an error from this version of scikit-learn on; older ones have fewer tests

FOLDER = Path(sklearn.__file__).parent
FILES = {FOLDER.parent.joinpath(*module.split(".")).with_suffix(".py").resolve(): name for name, (_, module) in CLASSES.items()}


def forbidden(name):
    def __init__(self, *args, **kwargs):  # noqa: ARG001, N807
        raise AssertionError(f"scikit-learn's own {name} was about to be tested")

    return __init__


def replace():
    """Put our classes where theirs are, and return those that we have, with theirs."""
    replaced = {}
    for name, (home, tests) in CLASSES.items():
        theirs, ours = getattr(import_module(home), name), getattr(kernsel, name, None)
        if ours is None:
            continue
        if tests in sys.modules or ours is theirs or issubclass(ours, theirs):
            raise pytest.UsageError(f"{name}: too late to replace it, or nothing that would replace it")
        for module in [module for key, module in sys.modules.items() if key.partition(".")[0] == "sklearn"]:
            for key in [key for key, value in vars(module).items() if value is theirs]:
                setattr(module, key, ours)
        theirs.__init__ = forbidden(name)
        replaced[name] = (ours, theirs)
    return replaced


REPLACED = replace()
COUNTS = {name: Counter() for name in CLASSES}
REASONS = {}  # of tests that were marked here, by module and name
STALE = []


def pytest_configure(config):
    # What our own tests are held to, theirs need not obey.
    config.addinivalue_line("filterwarnings", "default")


def class_of(item):
    """Return the name of the class that a test is of."""
    if item.path.resolve() not in FILES:
        raise pytest.UsageError(f"{item.path}: this plugin is for {' and '.join(tests for _, tests in CLASSES.values())} only")
    return FILES[item.path.resolve()]


def module_of(item):
    return CLASSES[class_of(item)][1]


def names_of(item):
    """Return by what names EXCEPTIONS may call a test."""
    module = module_of(item)
    return {f"{module}::{item.name}", f"{module}::{getattr(item, 'originalname', item.name)}"}


def parameters_of(item):
    return list(item.callspec.params.values()) if hasattr(item, "callspec") else []


def kind_of(value):
    """Return the class that a parameter is, or is made of; None if it is neither ours nor from where theirs live."""
    kind = value if isinstance(value, type) else type(value)
    known = ["kernsel", *(home for home, _ in CLASSES.values())]
    return kind if any(f"{kind.__module__}.".startswith(f"{home}.") for home in known) else None


def called_by(code):
    """Return all names that a function's code has, with the functions inside of it."""
    inside = (called_by(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inside)


def is_of_ours(item):
    """Tell whether a test is of the class that its module is here for: by its parameters, or by what it calls."""
    name = class_of(item)
    if name not in SHARED:
        return True
    kinds = [kind for kind in map(kind_of, parameters_of(item)) if kind]
    return any(kind.__name__ == name for kind in kinds) if kinds else name in called_by(item.obj.__code__)


def require_ours(item):
    """Raise unless a test finds our class, by its name or in a module that it has, and nowhere theirs."""
    name = class_of(item)
    ours, theirs = REPLACED[name]
    spaces = [vars(item.module), item.obj.__globals__]
    modules = [value for space in spaces for value in space.values() if isinstance(value, ModuleType)]
    spaces += [vars(module) for module in modules if module.__name__.partition(".")[0] == "sklearn"]
    found = [space[name] for space in spaces if name in space]
    others = [value for space in spaces for value in space.values()] + parameters_of(item)
    if not found or any(value is not ours for value in found) or any(v is theirs or type(v) is theirs for v in others):
        raise pytest.UsageError(f"{item.path.stem}::{item.name}: would test scikit-learn's own {ours.__name__}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    absent = [item for item in items if class_of(item) not in REPLACED]
    for item in absent:
        COUNTS[class_of(item)]["not run, since kernsel has no such class"] += 1
    config.hook.pytest_deselected(items=absent)
    others = [item for item in items if class_of(item) in REPLACED and not is_of_ours(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if class_of(item) in REPLACED and is_of_ours(item)]
    called = set()
    for item in items:
        require_ours(item)
        for mark in list(item.iter_markers("xfail")):  # of theirs, which are not strict by their own settings
            item.add_marker(pytest.mark.xfail(*mark.args, **{"strict": False} | mark.kwargs), append=False)
        called |= names_of(item)
        if reasons := [EXCEPTIONS[name] for name in names_of(item) & EXCEPTIONS.keys()]:
            REASONS[module_of(item), item.name] = reasons[0]
            item.add_marker(pytest.mark.xfail(reason=reasons[0], strict=True), append=False)
    if not any("::" in argument for argument in config.args):
        whole = {module_of(item) for item in items}
        STALE.extend(name for name in EXCEPTIONS.keys() - called if name.partition("::")[0] in whole)
    if STALE and tuple(map(int, sklearn.__version__.split(".")[:2])) >= LATEST:
        raise pytest.UsageError(f"EXCEPTIONS: scikit-learn {sklearn.__version__} has no tests {', '.join(sorted(STALE))}")


def pytest_runtest_setup(item):
    require_ours(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):  # noqa: ARG001
    report = yield
    if report.when == "call" or not report.passed:
        excepted = (module_of(item), item.name) in REASONS
        what = "skipped" if report.skipped else report.outcome
        if hasattr(report, "wasxfail"):
            what = "failed" if report.skipped else "passed"
            what += ", as EXCEPTIONS say" if excepted else ", as scikit-learn says it may"
        elif excepted:
            what = f"{report.outcome}, not as EXCEPTIONS say"
        COUNTS[class_of(item)][what] += 1
    return report


def pytest_terminal_summary(terminalreporter):
    terminalreporter.section(f"scikit-learn {sklearn.__version__}'s own tests, with kernsel {kernsel.__version__}'s classes")
    for name, counts in COUNTS.items():
        if counts:
            text = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
            terminalreporter.line(f"{name}: {sum(counts.values())} tests: {text}")
    for (module, name), reason in sorted(REASONS.items()):
        terminalreporter.line(f"  {module}::{name}: {reason}")
    for name in sorted(STALE):
        terminalreporter.line(f"  {name}: not a test of this version of scikit-learn")
