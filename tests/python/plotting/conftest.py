"""Models that displays draw, and figures that are closed."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import kernsel as ks
from kernsel.kernels import RBF, Linear, Matern, Precomputed

from plotted import NOISE, ROUGH

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_stay_open():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(3)
    X = np.sort(rng.uniform(0, 6, 30)).reshape(-1, 1)
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(30)
    y[11] += 3.0
    return X, y


@pytest.fixture(scope="session")
def process(data):
    return ks.GaussianProcessRegressor(ROUGH, noise=NOISE, optimizer=None).fit(*data)


@pytest.fixture(scope="session")
def table():
    """Three columns with names, and a process that has chosen."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    X = pandas.DataFrame(rng.uniform(0, 1, (40, 3)), columns=["depth", "age", "slope"])
    y = pandas.Series(np.sin(5 * X["age"]) + 0.2 * X["depth"] + 0.1 * rng.standard_normal(40), name="yield")
    return X, y, ks.GaussianProcessRegressor(noise="auto").fit(X, y)


@pytest.fixture(scope="session")
def found(data):
    X, y = data
    bad = Precomputed(np.eye(3))
    return ks.select(X, y, kernels=[RBF("auto"), Linear("auto"), bad, Matern("auto", nu=1.5)], criterion="loo")
