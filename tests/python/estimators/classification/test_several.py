"""Several classes: one against the rest, one against another, and one softmax."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.estimators.classification.several import coupled
from kernsel.kernels import RBF

KERNEL = sk.ConstantKernel(1.0) * sk.RBF(1.0)


@pytest.fixture
def three(rng):
    X = rng.uniform(-2, 2, (90, 2))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.6, 0.6])]


def test_one_softmax(three):
    X, y = three
    model = ks.GaussianProcessClassifier(2.0 * RBF(1.0), multi_class="multinomial").fit(X, y)
    assert model.score(X, y) > 0.95
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    value, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert abs(value - model.log_marginal_likelihood_value_) <= 1e-9 * abs(value)
    assert np.all(np.abs(gradient) < 1e-2)
    mean, std = model.latent(X[:5], return_std=True)
    assert mean.shape == std.shape == (5, 3)
    np.testing.assert_allclose(mean, model.latent(X[:5]), atol=1e-10)
    with pytest.raises(ValueError, match='inference: multi_class="multinomial" has "laplace" only'):
        ks.GaussianProcessClassifier(inference="ep", multi_class="multinomial").fit(X, y)


def test_several_processes_in_one_likelihood(three):
    X, y = three
    model = ks.GaussianProcessClassifier(KERNEL, n_jobs=2).fit(X, y)
    theta = model.kernel_.theta
    assert theta.shape == (6,)
    assert str(model.kernel_) == f"CompoundKernel([{', '.join(str(kernel) for kernel in model.kernel_.kernels)}])"
    assert isinstance(model.kernel_, sk.CompoundKernel)
    value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    assert abs(value - model.log_marginal_likelihood_value_) <= 1e-8 * abs(value)
    theirs = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, y)
    np.testing.assert_allclose(model.log_marginal_likelihood([0.3, 0.1]), theirs.log_marginal_likelihood([0.3, 0.1]), rtol=1e-8)
    assert gradient.shape == (6,)
    with pytest.raises(ValueError, match="theta: expected 2 or 6 numbers"):
        model.log_marginal_likelihood(np.zeros(3))


def test_coupled(rng):
    p = rng.dirichlet(np.ones(4), 10)
    np.testing.assert_allclose(coupled(p[:, :, None] / (p[:, :, None] + p[:, None, :])), p, atol=1e-12)
    assert np.all(coupled(rng.uniform(size=(5, 3, 3))) >= 0)
