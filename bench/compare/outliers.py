"""Gross errors among the targets of public tables: ``python -m bench.compare outliers``.

5 % of the targets to learn from are off by two to ten standard deviations. Errors for rows to test, which are as they were, are
divided by that of a fit to the clean targets; so is the error of a fit to the rows that are right, which nobody knows: what the
others lose may be more than a tenth.
"""

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import kernsel as ks

from bench.compare.datasets import TABLES, table
from bench.compare.tables import splits
from bench.report import row

__all__ = ["compare", "spoilt"]

SHARE = 0.05
CLOSE = 1.1  # as many times the clean error at most, by Student's t

MODELS = {
    "normal noise": lambda: ks.GaussianProcessRegressor(outliers=None),
    'outliers="auto"': ks.GaussianProcessRegressor,
    "Student's t": lambda: ks.GaussianProcessRegressor(likelihood="student_t", inference="laplace"),
}


def spoilt(y, rng):
    """Return targets of which 5 % are off by two to ten standard deviations."""
    y = y.copy()
    rows = rng.choice(len(y), max(1, round(SHARE * len(y))), replace=False)
    y[rows] += y.std() * rng.uniform(2, 10, len(rows)) * rng.choice([-1, 1], len(rows))
    return y


def error(make, X, y, tests, truth):
    """Return the root mean square error, and the seconds of the fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        model = make().fit(X, y)
        seconds = time.perf_counter() - start
    return np.sqrt(np.mean((model.predict(tests) - truth) ** 2)), seconds


def compare(names=None, most=5):
    """Print for each table the clean error, and by how much each model's is larger: means over splits."""
    print(f"\nclean error / sd(y), and how many times that with {100 * SHARE:.0f} % of targets wrong; seconds of a fit")
    worst, missed = 0.0, 0
    for name in names or TABLES:
        X, y = table(name)
        y = (y - y.mean()) / y.std()
        clean, informed = [], []
        errors, seconds = {label: [] for label in MODELS}, {label: [] for label in MODELS}
        for split, (training, tests) in enumerate(splits(len(y))[:most]):
            wrong = spoilt(y[training], np.random.default_rng(split))
            clean.append(error(MODELS["normal noise"], X[training], y[training], X[tests], y[tests])[0])
            right = training[wrong == y[training]]
            informed.append(error(MODELS["normal noise"], X[right], y[right], X[tests], y[tests])[0])
            for label, make in MODELS.items():
                found, took = error(make, X[training], wrong, X[tests], y[tests])
                errors[label].append(found)
                seconds[label].append(took)
        ratios = {label: float(np.mean(errors[label]) / np.mean(clean)) for label in MODELS}
        worst, missed = max(worst, ratios["Student's t"]), missed + (ratios["Student's t"] > CLOSE)
        figures = {
            f"{label} ({np.mean(seconds[label]):.2g} s)": (ratio, "<=", CLOSE) if label == "Student's t" else ratio
            for label, ratio in ratios.items()
        }
        figures["right rows alone"] = float(np.mean(informed) / np.mean(clean))
        row(f"{name}, n = {len(y)}, d = {X.shape[1]}", clean=float(np.mean(clean)), **figures)
    row("worst by Student's t", times=(worst, "<=", CLOSE), missed=missed)
