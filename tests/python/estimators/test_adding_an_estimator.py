"""An estimator is added as HACKING.md says: in three files, after which it is shown, selected with, scored and saved."""

import filecmp
import re
import shutil
from pathlib import Path

import pytest

import kernsel as ks

import children

NEW = "estimators/kernel_smoother.py"
MODULE = '''
"""The kernel smoother: a local mean of the targets."""

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, RegressorMixin

from kernsel._data.kernel import kernel_of
from kernsel._data.points import new_points
from kernsel._data.training import training_set
from kernsel.estimators.fitted import FittedModel, LeftOut

__all__ = ["KernelSmoother"]


class KernelSmoother(FittedModel, RegressorMixin, BaseEstimator):
    """f(z) = sum_i k(z, x_i) y_i / sum_i k(z, x_i), of Nadaraya and Watson.

    A factor of all length scales of the kernel is chosen by the mean squared error at points that are left out.
    """

    def __init__(self, kernel="RBF", *, criterion="loo"):
        self.kernel = kernel
        self.criterion = criterion

    def fit(self, X, y):
        given = training_set(self, kernel_of(self.kernel), X, y, multi_output=False).resolved()
        kernel, self.X_ = given.kernel_and_points()
        self.y_ = np.asarray(given.y, dtype=np.float64)

        def scaled(log_factor):
            return kernel.clone_with_theta(kernel.theta + log_factor)

        found = minimize_scalar(lambda log_factor: self._error(scaled(log_factor)), bounds=(-4.0, 2.0), method="bounded")
        self.kernel_ = scaled(found.x)
        self.criterion_value_ = self._error(self.kernel_)
        return self

    def _error(self, kernel):
        return float(np.mean((self.y_ - self._left_out(kernel)) ** 2))

    def _left_out(self, kernel):
        K = np.array(kernel(self.X_))
        np.fill_diagonal(K, 0.0)
        return (K @ self.y_ + 1e-300 * self.y_.mean()) / (K.sum(axis=1) + 1e-300)

    def predict(self, X):
        K = np.asarray(self.kernel_(new_points(self, self.kernel_, X, dtype=np.float64), self.X_))
        return K @ self.y_ / K.sum(axis=1)

    def kept_data(self):
        return self.X_, self.y_

    def left_out(self, X=None, y=None, output=0):
        return LeftOut(self.y_, self._left_out(self.kernel_))
'''
# Each file, a line of it, and what is written before that line.
EDITS = {
    "__init__.py": [
        (
            "    from kernsel.estimators.ridge_regression",
            "    from kernsel.estimators.kernel_smoother import KernelSmoother\n",
        ),
        ('    "NotPositiveDefiniteError",\n', '    "KernelSmoother",\n'),
        ('    "RidgeRegression": ', '    "KernelSmoother": "kernsel.estimators.kernel_smoother",\n'),
    ],
    "saving/forms.py": [
        (
            "from kernsel.estimators.ridge_regression",
            "from kernsel.estimators.kernel_smoother import KernelSmoother\n",
        ),
        (
            "        Form(GaussianProcessClassifier,",
            """        Form.of_attributes(
            KernelSmoother,
            kernels=("kernel_",),
            numbers=("criterion_value_",),
            arrays={"X_": ("points", "columns"), "y_": ("points",)},
        ),
""",
        ),
    ],
}

USE = """
    import importlib.machinery, sys
    sys.meta_path.insert(0, importlib.machinery.PathFinder)  # before the finder of an editable installation
    import pathlib, struct, tempfile
    import numpy as np, kernsel as ks
    from kernsel.kernels import RBF, Matern

    rng = np.random.default_rng(1)
    X = rng.uniform(0, 6, (40, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)
    model = ks.KernelSmoother().fit(X, y)
    assert model.score(X, y) > 0.8

    # Selected with: the smallest error of points left out, each by a fit to the others.
    found = ks.select(X, y, [RBF("auto"), Matern("auto", nu=0.5)], estimator=ks.KernelSmoother())
    assert type(found.best_estimator_) is ks.KernelSmoother and len(found.tried) == 2
    values = [one.value for one in found.tried]
    assert values == sorted(values) and values[0] == found.best_estimator_.criterion_value_
    errors = []
    for i in range(40):
        k = np.delete(np.asarray(found.best_kernel_(X[i:i + 1], X))[0], i)
        errors.append(y[i] - k @ np.delete(y, i) / k.sum())
    assert abs(np.mean(np.square(errors)) - values[0]) < 1e-12
    assert "smaller values of loo are better" in str(found)

    # Scored by folds.
    nested = ks.nested_cv(ks.KernelSmoother(), X, y, outer=4, random_state=0)
    assert str(nested).startswith("Nested cross-validation, selection inside by KernelSmoother, criterion=loo")
    assert len(nested.folds) == 4 and nested.predictions.shape == (40,) and nested.mean["score"] > 0.5
    assert all(fold.inner_score > 0 and "kernel_" in fold.chosen for fold in nested.folds)

    # Saved, and read again with a check of each field.
    path = pathlib.Path(tempfile.mkdtemp(), "smoother.ksl")
    ks.save(model, path, notes="of a test")
    again = ks.load(path)
    assert type(again) is ks.KernelSmoother and again.get_params() == model.get_params()
    assert np.array_equal(again.predict(X), model.predict(X)) and again.criterion_value_ == model.criterion_value_
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    for old, new in ((b'"shape":[40]', b'"shape":[20]'), (b'criterion_value_', b'criterion_valuE_'), (b'F64', b'I64')):
        header = raw[8:8 + length].replace(b'", "', b'","').replace(b'": ', b'":')
        assert old in header, header
        damaged = header.replace(old, new)
        path.write_bytes(struct.pack("<Q", len(damaged)) + damaged + raw[8 + length:])
        try:
            ks.load(path)
        except ValueError as error:
            assert str(error).startswith(str(path))
        else:
            raise AssertionError(new)

    # Shown.
    try:
        import matplotlib
    except ImportError:
        pass
    else:
        matplotlib.use("Agg")
        from kernsel.plotting import LOODisplay, PosteriorDisplay, SearchDisplay
        one = ks.KernelSmoother().fit(X[:, :1], y)
        assert np.array_equal(PosteriorDisplay.from_estimator(one).y, y)
        left_out = LOODisplay.from_estimator(one).residuals_
        assert abs(np.mean(left_out**2) - one.criterion_value_) < 1e-12
        SearchDisplay.from_estimator(found)
    print(ks.__file__)
"""


@pytest.fixture
def tree(tmp_path):
    """Return a copy of the package with the new estimator in it."""
    package = tmp_path / "kernsel"
    shutil.copytree(Path(ks.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "lib", "include"))
    core = Path(ks._core.__file__)
    shutil.copy(core, package / core.name)
    (package / NEW).write_text(MODULE.lstrip())
    for name, changes in EDITS.items():
        text = (package / name).read_text()
        for line, more in changes:
            assert text.count(line) == 1, f"{name}: {line}"
            text = text.replace(line, more + line)
        (package / name).write_text(text)
    return tmp_path


def sources(package):
    return {path.relative_to(package).as_posix() for path in package.rglob("*.py")}


def test_hacking_names_the_files_that_were_edited(root, tree):
    package, copied = Path(ks.__file__).parent, tree / "kernsel"
    old = sorted(sources(package))
    _, changed, missing = filecmp.cmpfiles(package, copied, old, shallow=False)
    added = sources(copied) - set(old)
    assert not missing
    assert sorted([*changed, *added]) == sorted([*EDITS, NEW])
    assert len(changed) + len(added) <= 3
    row = re.search(r"^\| an estimator \|(.*)\|$", (root / "cpp" / "HACKING.md").read_text(), re.M)[1]
    for name in EDITS:
        assert f"`{name}`" in row


def test_a_new_estimator_works_as_the_others(tree):
    where = children.run(USE, PYTHONPATH=str(tree), PYTHONDONTWRITEBYTECODE="1")
    assert where.strip() == str(tree / "kernsel" / "__init__.py")
