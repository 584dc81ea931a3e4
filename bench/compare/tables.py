"""Predictions for public tables by all defaults, against models of other packages: ``python -m bench.compare tables``.

Five random splits of each table, four fifths to learn from. Errors are relative to the standard deviation of the table's
targets; densities are means of log densities of test rows, in nats, of targets of standard deviation one.
"""

import warnings

import numpy as np
from scipy.stats import norm, rankdata
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import kernsel as ks

from bench.compare.datasets import TABLES, table

__all__ = ["GP_OR_LINEAR", "MODELS", "print_tables", "scores", "splits"]

GP_OR_LINEAR = ("scikit-learn's GP", "ridge")
SPLITS = 5


def splits(n):
    return list(ShuffleSplit(SPLITS, test_size=0.2, random_state=0).split(np.zeros((n, 1))))


def process(X, y):
    """Fit scikit-learn's process as its users do: Matern 5/2, a scale a column, white noise, three starts."""
    d = X.shape[1]
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * Matern(np.ones(d), (1e-2, 1e3), nu=2.5) + WhiteKernel(0.1, (1e-6, 1e1))
    scaled = StandardScaler().fit(X)
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=2, random_state=0)
    model.fit(scaled.transform(X), y)

    def score(Z, truth):
        mean, std = model.predict(scaled.transform(Z), return_std=True)
        errors = truth - mean
        return mean, norm.logpdf(errors, scale=std), np.abs(errors) <= norm.ppf(0.975) * std

    return score


def point(estimator):
    def fit(X, y):
        scale = y.std()
        model = estimator().fit(X, y / scale)
        return lambda Z, truth: (model.predict(Z) * scale, None, None)

    return fit


def machine():
    grid = {"svr__C": np.logspace(-1, 3, 5), "svr__gamma": np.logspace(-3, 0, 4) / 2, "svr__epsilon": [0.01, 0.1, 0.3]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVR()), grid, cv=5)


def selected(X, y):
    model = ks.select(X, y).best_estimator_

    def score(Z, truth):
        found = model.predictive(Z)
        lower, upper = found.quantiles([0.025, 0.975])[:, 0].T
        return found.mean[:, 0], found.log_density(truth[:, None]), (lower <= truth) & (truth <= upper)

    return score


MODELS = {
    "ks.select": selected,
    "scikit-learn's GP": process,
    "boosting": point(lambda: GradientBoostingRegressor(random_state=0)),
    "forest": point(lambda: RandomForestRegressor(random_state=0)),
    "SVR, grid": point(machine),
    "ridge": point(lambda: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13)))),
}


def scores(model, X, y):
    """Return for each split error, density and coverage of 95 % intervals; nan where the model has no densities."""
    y = (y - y.mean()) / y.std()
    rows = []
    for training, tests in splits(len(y)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mean, density, covered = model(X[training], y[training])(X[tests], y[tests])
        known = [np.nan, np.nan] if density is None else [np.mean(density), np.mean(covered)]
        rows.append([np.sqrt(np.mean((y[tests] - mean) ** 2)), *known])
    return np.array(rows)


def print_tables(names=None):
    names = names or TABLES
    print(f"\nmean over {SPLITS} splits: error / sd(y)" + " " * 14 + "".join(f"{name:>19s}" for name in MODELS))
    errors, densities, coverages = [], [], []
    for name in names:
        X, y = table(name)
        found = {model: scores(fit, X, y).mean(axis=0) for model, fit in MODELS.items()}
        errors.append([found[model][0] for model in MODELS])
        densities.append([found[model][1] for model in MODELS])
        coverages.append(found["ks.select"][2])
        cells = "".join(
            f"{e:11.3f}" + (f" {v:7.3f}" if np.isfinite(v) else " " * 8)
            for e, v in zip(*errors[-1:], *densities[-1:], strict=True)
        )
        print(f"{name:14s} n = {len(y):5d}, d = {X.shape[1]:3d} {cells}  covered {coverages[-1]:.3f}", flush=True)
    errors, densities = np.array(errors), np.array(densities)
    ranks = rankdata(errors, axis=1).mean(axis=0)
    print(f"{'mean rank by error':35s}" + "".join(f"{rank:19.2f}" for rank in ranks))
    peers = [list(MODELS).index(name) for name in GP_OR_LINEAR]
    worst = (errors[:, 0] / errors[:, peers].min(axis=1)).max()
    lead = densities[:, 0] - densities[:, peers[0]]
    print(f"error at most {worst:.3f} times that of the best process or linear model of others")
    print(f"density better than scikit-learn's process in {np.sum(lead > 0)} of {len(lead)} tables, at worst {lead.min():+.3f}")
    print(f"95 % intervals cover {np.mean(coverages):.3f} of test rows on average over tables")
