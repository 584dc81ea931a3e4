"""Criteria with all gradients, likelihoods and leave-one-out errors, against the packages that have them and are installed."""

import warnings
from importlib.util import find_spec

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.kernels import RBF

from bench.report import row
from bench.timing import best, interleaved

VARIANCE, NOISE = 1.5, 0.1


def sklearn_likelihood(X, y, scales):
    kernel = sk.ConstantKernel(VARIANCE) * sk.RBF(scales) + sk.WhiteKernel(NOISE)
    gp = GaussianProcessRegressor(kernel, alpha=1e-300, optimizer=None)
    gp.X_train_, gp.y_train_, gp.kernel_ = X, y, kernel
    return lambda: gp.log_marginal_likelihood(kernel.theta, eval_gradient=True)[0]


def gpy_likelihood(X, y, scales):
    import GPy

    kernel = GPy.kern.RBF(X.shape[1], variance=VARIANCE, lengthscale=scales, ARD=True)
    model = GPy.models.GPRegression(X, y[:, None], kernel, noise_var=NOISE)

    def call():
        model.parameters_changed()
        return float(model.log_likelihood())

    return call


def gpytorch_likelihood(X, y, scales):
    import gpytorch
    import torch

    points, targets = torch.tensor(X), torch.tensor(y)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(points, targets, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1]))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(likelihood).double().train()
    likelihood.double().train()
    model.covar_module.base_kernel.lengthscale = torch.tensor(scales)[None]
    model.covar_module.outputscale = VARIANCE
    likelihood.noise = NOISE
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def call():
        exact = gpytorch.settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False)
        with exact, gpytorch.settings.cholesky_jitter(double_value=0.0):
            model.zero_grad()
            value = objective(model(points), targets)
            value.backward()
        return float(value.detach()) * len(y)

    return call


def compare(sizes, d=10):
    """Print times of a likelihood with its gradient in 12 hyperparameters, and of criteria of kriging in 10."""
    peers = {"scikit-learn": (sklearn_likelihood, "sklearn", 8), "GPy": (gpy_likelihood, "GPy", 2.5)}
    peers["GPyTorch"] = (gpytorch_likelihood, "gpytorch", 5)
    scales = np.linspace(2.0, 4.0, d)
    for n in sizes:
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
        kernel, room = VARIANCE * RBF(scales), ks.criteria.Workspace()

        def ours(kernel=kernel, X=X, y=y, room=room):
            return ks.evaluate("lml", kernel, X, y, noise=NOISE, gradient=True, workspace=room).value

        row(f"\nlikelihood and 12 derivatives, n = {n}", best(ours) * 1e3)
        for name, (make, module, target) in peers.items():
            if find_spec(module) is None:
                print(f"   {name} is not installed")
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = make(X, y, scales)
                assert abs(theirs() - ours()) <= 1e-6 * abs(ours())
                mine, other = interleaved(ours, theirs, seconds=1.0, rounds=2)
            row(f"   {name}", other * 1e3, times=(other / mine, ">=", target))
        if find_spec("pylibkriging") is None:
            print("   pylibkriging is not installed")
        else:
            kriging(n, d)


def kriging(n, d):
    import pylibkriging

    rng = np.random.default_rng(0)
    X, y, scales = rng.uniform(size=(n, d)), rng.standard_normal(n), np.linspace(0.2, 0.4, d)
    given = {"theta": scales[None], "is_theta_estim": False}
    model = pylibkriging.Kriging(y, X, "gauss", "constant", False, "none", "LL", given)
    kernel, room = RBF(scales), ks.criteria.Workspace()
    for name, theirs, target in (
        ("profiled_lml", lambda: model.logLikelihoodFun(scales, True, False), 3.5),
        ("loo", lambda: model.leaveOneOutFun(scales, True), 12),
    ):

        def ours(name=name):
            return ks.evaluate(name, kernel, X, y, trend="constant", gradient=True, workspace=room)

        value, slopes = theirs()[:2]
        ev = ours()
        assert abs(value - ev.value) <= 1e-6 * abs(value)
        assert np.abs(slopes.ravel() - ev.gradient / scales).max() <= 1e-5 * np.abs(slopes).max()
        mine, other = interleaved(ours, theirs, seconds=1.0, rounds=2)
        row(f"   pylibkriging, {name}", other * 1e3, ours=mine * 1e3, times=(other / mine, ">=", target))
