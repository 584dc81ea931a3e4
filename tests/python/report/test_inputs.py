"""The influence of inputs."""

import numpy as np
import pytest
from reference_sensitivity import on_grid
from reference_sensitivity import sobol as by_definition

import kernsel as ks
from kernsel.kernels import RBF, Linear
from kernsel.report.inputs import about_total, influences, inputs_of

from reported import of_model, table_of

pytest.importorskip("matplotlib")


def test_influence_is_that_of_independent_inputs(made):
    found, page = made("plane")
    model = found.model
    X = model.X_train_
    rules = [(x, np.full(len(X), 1 / len(X))) for x in X.T]  # all values of both columns
    *_, first, total, _ = by_definition(on_grid(model.predict, rules), rules)
    shown = {row[0]: row for row in page.table("Share of the variance")}
    for k, name in enumerate(found.names):
        # Sums over 4096 random points have errors of some 2 / 4096^(1/2), and quasi-random ones no larger.
        assert abs(shown[name][1] - first[k]) < 0.03
        assert abs(shown[name][2] - total[k]) < 0.03
        slopes = model.predict_gradient(X)[:, k]
        np.testing.assert_allclose(shown[name][4], slopes.mean(), rtol=1e-5)
    assert shown["north (km)"][5] == "rises everywhere"


def test_influence_sees_through_sums_and_products():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 3))
    y = X[:, 0] * X[:, 1]
    kernel = Linear(1.0).on([0]) * Linear(1.0).on([1]) + 1e-6 * RBF([1.0, 1.0, 0.01])
    table = table_of(X, y, list("abc"))
    found = of_model(ks.GaussianProcessRegressor(kernel, noise=1e-6, optimizer=None).fit(X, y), table)
    shares = {one.input.name: one for one in influences(found, inputs_of(found))}
    # Each of the two decides all with the other: its share is the whole, whatever the length scales of the last part say.
    assert shares["a"].share == pytest.approx(1.0, abs=0.05)
    assert shares["b"].share == pytest.approx(1.0, abs=0.05)
    assert shares["c"].share < 1e-3
    assert max(one.alone for one in shares.values()) < 0.05  # and nothing alone
    assert "what inputs do together is counted with each of them" in about_total(list(shares.values()))


def test_inputs_that_go_together_share_what_they_do():
    rng = np.random.default_rng(1)
    first = rng.uniform(-1, 1, 80)
    for sign in (-1, 1):  # in the rows, both cancel or reinforce each other
        X = np.column_stack([first, sign * first + 0.05 * rng.standard_normal(80)])
        model = ks.GaussianProcessRegressor(Linear(1.0), noise=1e-6, optimizer=None).fit(X, X.sum(axis=1))
        found = of_model(model, table_of(X, first, list("ab")))
        shares = influences(found, inputs_of(found))
        assert [one.share for one in shares] == pytest.approx([0.5, 0.5], abs=0.05)
        assert "They act one by one: together they come to" in about_total(shares)
