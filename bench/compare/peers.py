"""Fits of other packages, in the same conditions: starts and bounds that follow the data, five starts.

Each returns a ``Fit``. Columns reach everyone in their units, except GPy, whose optimizer knows no bounds and no units: it gets
them divided by their ranges, and searches logarithms, which finds higher likelihoods than its defaults do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

__all__ = ["LONGEST", "PEERS", "SHORTEST", "Fit", "Peer"]

SHORTEST, LONGEST = 1e-2, 1e4  # bounds of length scales, in ranges: peers with shorter ones find lower likelihoods
JITTER = 1e-10  # on kernels of targets of variance 1, where a package must have some


@dataclass(frozen=True)
class Fit:
    """A fit: how it predicts, what it found."""

    predict: Callable
    length_scale: np.ndarray
    ratio: float  # of the noise, or of the jitter, to the kernel's variance


@dataclass(frozen=True)
class Peer:
    """Another package, or ours: how it is fitted, and to what."""

    fit: Callable  # X, y, noisy -> Fit
    product: bool  # of kernels of a column each? Or of the distance
    module: str | None = None
    largest: float = np.inf  # number of points that it is asked to fit: more take minutes
    seconds: float = 0.0  # for how long a fit is repeated, to be timed

    @property
    def installed(self):
        return self.module is None or find_spec(self.module) is not None


def pylibkriging(X, y, noisy, starts=1):
    import pylibkriging

    method = "BFGS" if starts == 1 else f"BFGS{starts}"
    noise = {"noise": "nugget"} if noisy else {}
    model = pylibkriging.Kriging(y, X, "matern5_2", regmodel="constant", optim=method, objective="LL", **noise)
    ratio = model.nugget() / model.sigma2() if noisy else 0.0
    return Fit(lambda Z: model.predict(Z, False, False, False)[0].ravel(), model.theta().ravel(), float(ratio))


def scikit_learn(X, y, noisy):
    ranges = np.ptp(X, axis=0)
    matern = sk.Matern(ranges, nu=2.5, length_scale_bounds=np.outer(ranges, [SHORTEST, LONGEST]))
    kernel = sk.ConstantKernel(1.0, (1e-3, 1e6)) * matern
    if noisy:
        kernel = kernel + sk.WhiteKernel(1e-2, (1e-6, 1.0))
    model = GaussianProcessRegressor(kernel, alpha=JITTER, normalize_y=True, n_restarts_optimizer=4, random_state=0).fit(X, y)
    found = model.kernel_.k1 if noisy else model.kernel_
    noise = model.kernel_.k2.noise_level if noisy else JITTER
    return Fit(model.predict, np.asarray(found.k2.length_scale), noise / found.k1.constant_value)


def gpy(X, y, noisy):
    import GPy

    ranges, mean, deviation = np.ptp(X, axis=0), y.mean(), y.std()
    kernel = GPy.kern.Matern52(X.shape[1], variance=1.0, lengthscale=np.ones(X.shape[1]), ARD=True)
    kernel.constrain(GPy.constraints.Exponent(), warning=False)
    noise = 1e-2 if noisy else JITTER
    model = GPy.models.GPRegression(X / ranges, ((y - mean) / deviation)[:, None], kernel, noise_var=noise)
    if noisy:
        model.likelihood.constrain(GPy.constraints.Exponent(), warning=False)
    else:
        model.likelihood.variance.fix(noise, warning=False)
    before = np.random.get_state()  # noqa: NPY002  (GPy draws its starts from there)
    np.random.seed(0)  # noqa: NPY002
    model.optimize_restarts(5, verbose=False, robust=True)
    np.random.set_state(before)  # noqa: NPY002

    def predict(Z):
        return model.predict(Z / ranges)[0].ravel() * deviation + mean

    ratio = model.likelihood.variance.values[0] / kernel.variance.values[0]
    return Fit(predict, kernel.lengthscale.values * ranges, float(ratio))


PEERS = {
    "pylibkriging": Peer(pylibkriging, True, "pylibkriging", seconds=0.2),
    "pylibkriging, 5 starts": Peer(lambda X, y, noisy: pylibkriging(X, y, noisy, 5), True, "pylibkriging"),
    "scikit-learn": Peer(scikit_learn, False, largest=200),
    "GPy": Peer(gpy, False, "GPy", largest=200),
}
