"""The parameters of models in files, and those that cannot be written."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import kernsel as ks
from kernsel.kernels import RBF, FunctionKernel, Precomputed, Sum, Transform
from kernsel.saving import fields

import saved


def names(folder):
    return [path.name for path in folder.iterdir()]


def cubed(X, Z):
    return np.asarray((X @ Z.T + 1) ** 3)


UNWRITABLE = {
    "a kernel of Python": (lambda: ks.KernelRidge(FunctionKernel(cubed)), "kernel: .*cubed"),
    "a function of two points": (lambda: ks.KernelRidge(lambda x, z: float(x @ z)), "kernel: "),
    "a kernel with a map": (lambda: ks.KernelRidge(Transform(RBF(1.0), np.sin)), "kernel: Transform"),
    "scikit-learn's cosine": (lambda: ks.KernelRidge("cosine"), "kernel: FunctionKernel"),
    "a trend": (lambda: ks.GaussianProcessRegressor(trend=lambda X: np.ones((len(X), 1))), "trend: "),
    "a loss": (lambda: ks.GaussianProcessRegressor(criterion=lambda r, v: (r**4, 4 * r**3, 0 * v)), "criterion: "),
    "an optimizer": (lambda: ks.GaussianProcessRegressor(RBF(1.0, "fixed"), optimizer=print), "optimizer: "),
    "a generator": (lambda: ks.GaussianProcessRegressor(random_state=np.random.RandomState(0)), "random_state: "),
    "a splitter": (lambda: ks.SVR(folds=KFold(2)), "folds: "),
    "a transformer": (lambda: ks.RidgeRegression(StandardScaler()), "features: StandardScaler"),
}


@pytest.mark.parametrize("what", UNWRITABLE)
def test_what_cannot_be_written_is_named(what, tmp_path):
    make, named = UNWRITABLE[what]
    model = make().fit(saved.X, saved.y)
    with pytest.raises(TypeError, match=named + ".*use pickle or joblib"):
        ks.save(model, tmp_path / "a.ksl")
    assert names(tmp_path) == []


def test_kernels_that_are_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(fields, "LONGEST_KERNEL", 10_000)
    many = RBF(1.0)
    for _ in range(1500):
        many = Sum(many, RBF(1.0, "fixed"))
    for kernel in (many, FunctionKernel(cubed)):
        with pytest.raises(TypeError, match=r"parameters\.kernel: .*use pickle or joblib"):
            ks.save(ks.KernelRidge(kernel).fit(saved.X, saved.y), tmp_path / "a.ksl")


def test_matrices_in_kernels(again):
    K = saved.K
    model = ks.KernelRidge(2.0 * Precomputed(K) + Precomputed(K @ K).on([0]), alpha=0.1).fit(np.arange(40.0)[:, None], saved.y)
    loaded = again(model)
    assert loaded.kernel_ == model.kernel_
    np.testing.assert_allclose(loaded.predict([[3.0]]), model.predict([[3.0]]))
