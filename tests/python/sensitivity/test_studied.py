"""A model's expansion is what the model predicts, or it has none."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, Matern
from kernsel.sensitivity.studied import studied
from kernsel.sensitivity.terms import NoProductError

from accuracy import eps

KERNEL = 2.0 * RBF([0.5, 0.9]) + Matern(0.7, nu=1.5).on([1])
GP = {"alpha": 0.1, "optimizer": None}
MODELS = {
    "process": ks.GaussianProcessRegressor(KERNEL, trend="quadratic", normalize_y=True, **GP),
    "process by landmarks": ks.GaussianProcessRegressor(KERNEL, approximation=ks.Nystrom(10), **GP),
    "process by landmarks, refined": ks.GaussianProcessRegressor(KERNEL, approximation=ks.Nystrom(10, refine=True), **GP),
    "ridge": ks.KernelRidge(KERNEL, alpha=0.1, fit_intercept=True),
    "path": ks.KernelRidgeCV(KERNEL),
    "path by landmarks": ks.KernelRidgeCV(KERNEL, approximation=ks.Nystrom(10)),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 1, (40, 2))
    return X, X[:, 0] + np.sin(5 * X[:, 1]) + 0.1 * rng.standard_normal(40)


@pytest.mark.parametrize("name", MODELS)
def test_expansion(name, data):
    model = MODELS[name].fit(*data)
    of = studied(model, None, 0)
    f = of.expand()
    Z = np.random.default_rng(6).uniform(0, 1, (6, 2))
    values = f.offset + np.prod([f.column(k, one, Z[:, k]).functions for k, one in enumerate(of.inputs)], axis=0) @ f.weights
    np.testing.assert_allclose(values, model.predict(Z), rtol=0, atol=64 * eps(np.float64) * np.abs(f.weights).sum())


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (ks.GaussianProcessRegressor(KERNEL, approximation=ks.Vecchia(5), **GP), "nearest neighbours"),
        (ks.KernelRidge(KERNEL, alpha=0.1, approximation=ks.Vecchia(5)), "approximated"),
        (ks.GaussianProcessRegressor(RBF(1.0), trend=lambda X: X[:, :1], **GP), "trend is a function of its own"),
        (ks.KernelInterpolator(Matern(1.0, nu=0.5)), "f is a KernelInterpolator"),
    ],
)
def test_no_expansion(model, reason, data):
    with pytest.raises(NoProductError, match=reason):
        studied(model.fit(*data), None, 0).expand()
