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


def losses(quick):
    print(f"\nlog loss by {2 if quick else 5} folds, and the time of all fits")
    for name, load in DATA.items():
        X, y = load()
        if quick:
            kept = np.random.default_rng(0).permutation(len(y))[:100]
            X, y = X[kept], y[kept]
        ours = partial(ks.GaussianProcessClassifier, random_state=0)
        start = kernel(X)
        makes = {
            "scikit-learn": partial(GaussianProcessClassifier, start, random_state=0),
            "kernsel, Laplace": partial(ours, start, inference="laplace"),
            "kernsel, Laplace, probit": partial(ours, start, inference="laplace", link="probit"),
            "kernsel, EP, probit": partial(ours, start, inference="ep", link="probit"),
            "kernsel, Laplace, kernel of its own": partial(ours, inference="laplace"),
        }
        if len(np.unique(y)) > 2:
            makes["kernsel, multinomial"] = partial(ours, start, inference="laplace", multi_class="multinomial")
        print(f"{name}, n = {len(y)}, d = {X.shape[1]}")
        theirs = np.nan
        for label, make in makes.items():
            loss, seconds = folds(make, X, y, 2 if quick else 5)
            if label == "scikit-learn":
                theirs = loss
                row(f"   {label}", seconds * 1e3, log_loss=loss)
            else:
                target = label == "kernsel, Laplace"
                row(f"   {label}", seconds * 1e3, log_loss=(loss, "<=", round(LOSS * theirs, 5)) if target else loss)


def times(n):
    X, y = generated(n)
    start = sk.ConstantKernel(1.0, (1e-5, 1e5)) * sk.RBF(1.0, (1e-5, 1e5))
    make = partial(ks.GaussianProcessClassifier, start, inference="laplace", link="logistic", random_state=0)
    fitted(make(), X[:100], y[:100])
    runs = [fitted(make(), X, y) for _ in range(3)]
    ours, mine = runs[0][0], min(seconds for _, seconds in runs)
    model, theirs = fitted(GaussianProcessClassifier(start, random_state=0), X, y)
    value, other = ours.log_marginal_likelihood_value_, model.log_marginal_likelihood_value_
    # Both approximate the same: at what we have found, scikit-learn's likelihood is ours.
    same = model.log_marginal_likelihood(ours.kernel_.theta, clone_kernel=False)
    assert abs(same - value) <= 1e-6 * abs(value), f"{same} by scikit-learn, {value} by kernsel"
    row(f"\nfit, n = {n}, d = 5", mine * 1e3, times_sklearn=(theirs / mine, ">=", 10), seconds_of_sklearn=theirs)
    row("   log marginal likelihood", ours=value, sklearn=other, below=((other - value) / abs(other), "<=", SHORTFALL))


def compare(quick=False):
    """Print log losses and times of fits."""
    losses(quick)
    times(200 if quick else 1000)
