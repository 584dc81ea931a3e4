"""Related outputs beside GPy's coregionalization, and with Kronecker's product beside without: ``bench.compare related``.

The likelihood, its derivatives and predictions are asserted to be those of GPy, at the same hyperparameters.
"""

import time
import warnings
from importlib.util import find_spec

import numpy as np

import kernsel as ks
from kernsel._solve.related import StackedPosterior, conditioned, log_likelihood
from kernsel._solve.related_kernel import RelatedKernel
from kernsel.kernels import RBF, Coregion

from bench.report import row
from bench.timing import interleaved

__all__ = ["compare"]

JITTER = 1e-8  # which GPy adds to the diagonal
OUTPUTS, RANK, LENGTH = 3, 2, 1.3


def made(n, m=OUTPUTS, seed=0):
    """Return points and outputs, and a covariance of these."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 6, (n, 1))
    f, g = np.sin(X[:, 0]), 0.3 * np.cos(X[:, 0])
    Y = np.column_stack([f, f + g, -f] * (m // 3 + 1))[:, :m] + 0.1 * rng.standard_normal((n, m))
    coregion = Coregion(RANK, rng.standard_normal((m, RANK)), rng.uniform(0.1, 1.0, m))
    noise = Coregion(0, np.zeros((m, 0)), rng.uniform(0.01, 0.1, m), "fixed")
    return X, Y, RelatedKernel((RBF(LENGTH),), (coregion,), noise, 1)


def of_gpy(X, Y, related):
    """Return GPy's model with the same hyperparameters, and its derivatives in our order."""
    import GPy

    coregion, observed = related.coregions[0], ~np.isnan(Y)
    kernel = GPy.util.multioutput.ICM(1, OUTPUTS, GPy.kern.RBF(1, lengthscale=LENGTH), RANK, coregion.W, coregion.kappa)
    of_x, of_outputs = kernel.parts
    of_x.variance.constrain_fixed(1.0)
    points, targets = zip(*((X[rows], Y[rows, k : k + 1]) for k, rows in enumerate(observed.T)), strict=True)
    model = GPy.models.GPCoregionalizedRegression(list(points), list(targets), kernel=kernel)
    noises = [model.likelihood.likelihoods_list[k].variance for k in range(OUTPUTS)]
    for noise, value in zip(noises, related.variances, strict=True):
        noise[:] = value
    model.parameters_changed()
    slopes = [of_x.lengthscale.gradient * LENGTH, of_outputs.W.gradient.ravel(), of_outputs.kappa.gradient * coregion.kappa]
    return model, np.concatenate([*slopes, [float(n.gradient[0]) * float(n[0]) for n in noises]])


def beside_gpy(n):
    for name in ("whole", "gaps"):
        X, Y, related = made(n)
        if name == "gaps":
            Y[n // 5 : 4 * n // 5, 0] = np.nan
        model, slopes = of_gpy(X, Y, related)
        value, gradient = log_likelihood(related, X, Y, None)
        limit = 10 * n * OUTPUTS * JITTER / related.variances.min()
        assert abs(value - float(model.log_likelihood())) <= limit * max(abs(value), 1.0)
        assert np.abs(gradient - slopes).max() <= limit * np.abs(gradient).max()
        Z, posterior = np.linspace(0, 6, 9)[:, None], conditioned(related, X, Y, None)
        for k in range(OUTPUTS):
            mean, variance = model.predict_noiseless(np.column_stack([Z, np.full(len(Z), k)]))
            assert np.abs(mean[:, 0] - posterior.mean(Z)[:, k]).max() <= limit
            assert np.abs(variance[:, 0] - posterior.variances(Z)[:, k]).max() <= limit
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.optimize_restarts(3, verbose=False, robust=True)
        theirs = time.process_time() - start
        start = time.process_time()
        ours = ks.RelatedOutputsRegressor(RBF("auto"), trend=None, rank=RANK).fit(X, Y)
        mine = time.process_time() - start
        found = ours.log_marginal_likelihood_value_
        row(f"fit, {name}, n = {n}", cpu_seconds=mine, times_GPy=theirs / mine, above_GPy=found - float(model.log_likelihood()))


def compare(quick):
    """Print fits beside GPy's, if it is installed, and what Kronecker's product saves."""
    print("\nrelated outputs; above_GPy: the log likelihood that was found, less GPy's of three restarts")
    if find_spec("GPy"):
        beside_gpy(25 if quick else 60)
    for n, m in ((100, 3),) if quick else ((200, 3), (200, 10), (800, 3)):
        X, Y, related = made(n, m)
        whole = StackedPosterior(related, X, Y, None).log_likelihood
        assert abs(log_likelihood(related, X, Y, None)[0] - whole) <= 1e-9 * abs(whole)
        gap = Y.copy()
        gap[0, 0] = np.nan  # one number is not observed, so that the matrix is none of Kronecker's
        calls = (lambda y=y, X=X, r=related: log_likelihood(r, X, y, None) for y in (Y, gap))
        product, stacked = interleaved(*calls, seconds=1.0)
        row(f"likelihood, derivatives, n = {n}, m = {m}", product * 1e3, times_stacked=stacked / product)
