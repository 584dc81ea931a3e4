"""Gaussian process classifiers against scikit-learn's: how well they predict, how fast they are fitted.

Both have the same kernel, one length scale and an amplitude, and search from the same start; scikit-learn's is one-vs-rest for
more than two classes.
"""

import time
import warnings
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sk
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import kernsel as ks

from bench.report import row

__all__ = ["compare"]

LOSS = 1.001  # of scikit-learn's, counts as not worse: optimizers end at slightly different points
SHORTFALL = 1e-6  # of the log marginal likelihood, relative


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def digits():
    X, y = load_digits(return_X_y=True)
    kept = np.isin(y, (3, 8))
    return X[kept] / 16, y[kept]


DATA = {"breast cancer": breast_cancer, "iris": iris, "digits, 3 or 8": digits}


def kernel(X):
    """Return an amplitude and a length scale, to be found from the usual distance between points."""
    return sk.ConstantKernel(1.0, (1e-5, 1e5)) * sk.RBF(np.sqrt(2 * X.var(axis=0).sum()), (1e-5, 1e5))


def generated(n, d=5, seed=0):
    """Return points and labels of a smooth latent function, some of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = 3 * np.sin(1.5 * X[:, 0] + X[:, 1]) + 2 * X[:, 2] * X[:, 3] - X[:, 4]
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-f)), 1, 0)


def fitted(model, X, y):
    """Return a fitted model and the seconds that took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of hyperparameters at a bound
        start = time.perf_counter()
        model.fit(X, y)
        return model, time.perf_counter() - start


def folds(make, X, y, splits):
    """Return the log loss over all folds, and the seconds of all fits."""
    probabilities, seconds = np.empty((len(y), len(np.unique(y)))), 0.0
    for train, test in StratifiedKFold(splits, shuffle=True, random_state=0).split(X, y):
        model, took = fitted(make(), X[train], y[train])
        probabilities[test] = model.predict_proba(X[test])
        seconds += took
    assert np.isfinite(probabilities).all()
    assert np.abs(probabilities.sum(axis=1) - 1).max() <= 1e-9
    return log_loss(y, probabilities), seconds


def losses(quick, names=tuple(DATA)):
    splits = 2 if quick else 5
    print(f"\nlog loss by {splits} folds, and the time of all fits")
    for name in names:
        X, y = DATA[name]()
        if quick:
            kept = np.random.default_rng(0).permutation(len(y))[:80]
            X, y = X[kept], y[kept]
        start = kernel(X)
        ours = partial(ks.GaussianProcessClassifier, inference="laplace", random_state=0)
        makes = {
            "kernsel": partial(ours, start),
            "kernsel, probit": partial(ours, start, link="probit"),
            "kernsel, EP, probit": partial(ours, start, inference="ep", link="probit"),
            "kernsel, default kernel": ours,
        }
        if len(np.unique(y)) > 2:
            makes["kernsel, multinomial"] = partial(ours, start, multi_class="multinomial")
        theirs, seconds = folds(partial(GaussianProcessClassifier, start, random_state=0), X, y, splits)
        print(f"{name}, n = {len(y)}, d = {X.shape[1]}")
        row("   scikit-learn", seconds * 1e3, log_loss=theirs)
        for label, make in makes.items():
            loss, seconds = folds(make, X, y, splits)
            row(f"   {label}", seconds * 1e3, log_loss=(loss, "<=", round(LOSS * theirs, 5)) if label == "kernsel" else loss)


def times(quick):
    n = 200 if quick else 1000
    X, y = generated(n)
    start = sk.ConstantKernel(1.0, (1e-5, 1e5)) * sk.RBF(1.0, (1e-5, 1e5))
    make = partial(ks.GaussianProcessClassifier, start, inference="laplace", link="logistic", random_state=0)
    theirs = partial(GaussianProcessClassifier, start, random_state=0)
    fitted(make(), X[:100], y[:100])
    mine, other = np.inf, np.inf
    for _ in range(2):  # in turns, so that a disturbance of the machine hits both
        for _ in range(3):
            ours, seconds = fitted(make(), X, y)
            mine = min(mine, seconds)
        model, seconds = fitted(theirs(), X, y)
        other = min(other, seconds)
    value, reached = ours.log_marginal_likelihood_value_, model.log_marginal_likelihood_value_
    # Both approximate the same: at what we have found, scikit-learn's likelihood is ours.
    same = model.log_marginal_likelihood(ours.kernel_.theta, clone_kernel=False)
    assert abs(same - value) <= 1e-8 * abs(value), f"{same} by scikit-learn, {value} by kernsel"
    ratio = other / mine if quick else (other / mine, ">=", 10)
    row(f"\nfit, n = {n}, d = 5", mine * 1e3, times_sklearn=ratio, seconds_of_sklearn=other)
    row("   log marginal likelihood", ours=value, sklearn=reached, below=((reached - value) / abs(reached), "<=", SHORTFALL))


def compare(quick=False):
    """Print log losses and times of fits."""
    losses(quick)
    times(quick)
