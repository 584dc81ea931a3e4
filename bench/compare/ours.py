"""Fits of kernsel, as its peers are called."""

import numpy as np

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, Matern

from bench.compare.peers import Fit, Peer

__all__ = ["CONTROLS", "DEFAULTS", "OURS", "choose_alpha", "fit"]


def fit(X, y, noisy, product=True, longest=None, shrinkage=None):
    """Fit a Matern kernel. With noise, the fits are compared by their likelihood, which is then all that is maximized.

    By default length scales are also expected to be alike, where the data do not say otherwise.
    """
    scales = {}
    if longest is not None:
        ranges = np.ptp(X, axis=0)
        scales = {"length_scale": ranges / 2, "length_scale_bounds": np.outer(ranges, [1e-2, longest])}
    kernel = ConstantKernel("auto") * Matern(**{"length_scale": "auto", "nu": 2.5, "product": product} | scales)
    noise = "auto" if noisy else 0.0
    model = ks.GaussianProcessRegressor(
        kernel,
        trend="constant",
        noise=noise,
        criterion="lml",
        random_state=0,
        shrinkage=shrinkage if noisy else "auto",
    ).fit(X, y)
    found = model.kernel_
    ratio = model.noise_ / found.k1.constant_value if noisy else 0.0
    return Fit(model.predict, np.broadcast_to(found.k2.length_scale, X.shape[1]), float(ratio))


def choose_alpha(X, y, length_scale, alphas):
    return ks.KernelRidgeCV(RBF(length_scale), alphas=alphas, criterion="loo").fit(X, y)


OURS = {
    "kernsel": Peer(fit, True, seconds=0.2),
    "kernsel, of the distance": Peer(lambda X, y, noisy: fit(X, y, noisy, product=False), False, seconds=0.2),
}
# What differs from pylibkriging is how far a length scale may go: it stops at ten ranges of a column.
CONTROLS = {"kernsel, 10 ranges at most": Peer(lambda X, y, noisy: fit(X, y, noisy, longest=10.0), True)}
# Only with noise: without, it is what the others are, too.
DEFAULTS = {"kernsel, scales alike": Peer(lambda X, y, noisy: fit(X, y, noisy, shrinkage="auto"), True, seconds=0.2)}
