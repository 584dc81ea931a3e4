"""The influence of inputs."""

from itertools import permutations

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, Linear
from kernsel.report.inputs import about_total, influences, inputs_of

from reported import of_model, table_of

pytest.importorskip("matplotlib")


def test_influence_is_the_mean_over_all_exchanges(made):
    found, page = made("plane")
    model = found.model
    X = model.X_train_
    mean = model.predict(X)
    shown = {row[0]: row for row in page.table("Share of the variance")}
    for k, name in enumerate(found.names):
        exchanged = np.repeat(X[:, None], len(X), axis=1)
        exchanged[:, :, k] = X[:, k]
        changed = model.predict(exchanged.reshape(-1, 2)).reshape(len(X), -1)
        every = (
            0.5 * np.mean([(changed[i, j] - mean[i]) ** 2 for i, j in permutations(range(len(X)), 2)]) / np.var(mean, ddof=1)
        )
        assert abs(shown[name][1] - every) < 0.1 * every  # of a part of all exchanges
        slopes = model.predict_gradient(X)[:, k]
        np.testing.assert_allclose(shown[name][3], slopes.mean(), rtol=1e-5)
    assert shown["north (km)"][4] == "rises everywhere"
    five_points, _ = made("five")
    assert influences(five_points, inputs_of(five_points))[0].share == pytest.approx(1.0)  # all exchanges: the variance itself


def test_influence_sees_through_sums_and_products():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 3))
    y = X[:, 0] * X[:, 1]
    kernel = Linear(1.0).on([0]) * Linear(1.0).on([1]) + 1e-6 * RBF([1.0, 1.0, 0.01])
    table = table_of(X, y, list("abc"))
    found = of_model(ks.GaussianProcessRegressor(kernel, noise=1e-6, optimizer=None).fit(X, y), table)
    shares = {one.input.name: one.share for one in influences(found, inputs_of(found))}
    # Each of the two decides all with the other: its share is the whole, whatever the length scales of the last part say.
    assert shares["a"] == pytest.approx(1.0, abs=0.15)
    assert shares["b"] == pytest.approx(1.0, abs=0.15)
    assert shares["c"] < 1e-3


def test_no_share_is_more_than_all_and_the_total_is_explained():
    rng = np.random.default_rng(1)
    first = rng.uniform(-1, 1, 80)
    for sign, total in ((-1, "200 %: inputs that act together, or against"), (1, " %: inputs go together here")):
        X = np.column_stack([first, sign * first + 0.05 * rng.standard_normal(80)])
        model = ks.GaussianProcessRegressor(Linear(1.0), noise=1e-6, optimizer=None).fit(X, X.sum(axis=1))
        found = of_model(model, table_of(X, first, list("ab")))
        shares = influences(found, inputs_of(found))
        assert [one.share for one in shares] == ([1.0, 1.0] if sign < 0 else [pytest.approx(0.25, abs=0.1)] * 2)
        assert total in about_total(shares)
