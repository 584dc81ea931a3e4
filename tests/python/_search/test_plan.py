"""What is exact and what is approximated, by the number of points, time and memory."""

from dataclasses import replace

import numpy as np
import pytest

from kernsel._search import checks
from kernsel._search import plan as module
from kernsel._search.checks import checked
from kernsel._search.plan import Plan, plan_for
from kernsel._solve.near import NearPosterior
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Vecchia
from kernsel.criteria import LeaveOneOut, Likelihood
from kernsel.kernels import RBF

from accuracy import eps

TIGHT = 1e3 * 900 * eps(float) / 0.1  # P_ii of 900 points comes from the difference of the noise, 0.1, and a variance


@pytest.fixture
def machine(monkeypatch):
    """A machine of 100 Gflop/s and 8 GiB."""
    monkeypatch.setattr(module, "_rate", lambda: 1e11)
    monkeypatch.setattr(module._core, "available_memory", lambda: 2**33)


def planned(n, wish="auto", criterion=None, searches=True, **more):
    return plan_for(wish, RBF(1.0), criterion or Likelihood(), n, searches=searches, **more)


@pytest.mark.usefixtures("machine")
def test_what_takes_long_is_approximated_and_said():
    assert planned(2000) == Plan()
    assert planned(5000) == Plan(may_grow=True, may_be_exact=True)
    large = planned(10_000)
    assert large.search is not None
    assert large.posterior is not None
    assert large.may_be_exact
    assert "an exact search would take about" in large.reason.lower()
    assert "predictions are exact" in replace(large, posterior=None).said(10_000)
    assert planned(10_000, max_seconds=1e4).search is None
    assert planned(10_000, searches=False).search is None
    assert planned(6000, criterion=LeaveOneOut()).search is not None
    assert planned(6000).search is None
    larger = planned(60_000)
    assert larger.posterior is not None
    assert not larger.may_be_exact
    assert "GiB" in larger.reason
    assert "200 nearest points" in larger.said(60_000)


@pytest.mark.usefixtures("machine")
def test_what_is_asked_for_is_done():
    with pytest.raises(MemoryError, match="60000 points need"):
        planned(60_000, None)
    given = planned(100, Vecchia(5))
    assert given == Plan(Vecchia(5), Vecchia(5))
    assert planned(100, Vecchia(5), searches=False).search is None
    with pytest.raises(ValueError, match='approximation: expected "auto", None or an approximation'):
        planned(5000, "all")


def posterior(n=900, noise=0.1, near=None):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 2))
    y = np.sin(9 * X[:, :1]) + np.sqrt(noise) * rng.standard_normal((n, 1))
    data = RBF(0.2), X, y, np.full(n, noise), "constant"
    return Posterior(*data) if near is None else NearPosterior(*data, near)


@pytest.mark.slow
def test_neighbours_are_compared_with_twice_as_many():
    few = Vecchia(5, 5)
    plan, same, check = checked(Plan(few, few), posterior(near=few))
    assert same.approximation == plan.posterior == few
    assert check.change > 0.1
    assert check.neighbors == 10
    assert check.gain > 0
    plan, grown, less = checked(Plan(few, few, may_grow=True), posterior(near=few))
    assert grown.approximation.predict_neighbors > 5
    assert plan.posterior == grown.approximation
    assert less.change < check.change
    many = grown.approximation.predict_neighbors
    assert f"{many} nearest points ({less.neighbors} would change them by {less.change:.2g} standard" in plan.said(900, less)


def test_all_points_are_seen_where_neighbours_are_too_few(monkeypatch):
    few = Vecchia(5, 5)
    plan, near, check = checked(Plan(few, few, may_grow=True, may_be_exact=True), posterior(near=few))
    assert near.approximation == few
    assert plan.posterior is None
    assert check is None
    densities = iter([np.full(900, -0.1), np.zeros(900)])  # with twice as many, and without
    monkeypatch.setattr(checks, "_densities", lambda *_: next(densities))
    plan, _, check = checked(Plan(few, few, may_grow=True, may_be_exact=True), posterior(near=few))
    assert plan.posterior == few
    assert check.gain == pytest.approx(-0.1)


def test_with_all_neighbours_points_are_left_out_exactly_but_for_the_trend():
    n = 450
    exact, near = posterior(n), posterior(n, near=Vecchia(30, n - 1))
    near.beta = exact.beta  # that of 30 neighbours differs
    rows = np.arange(0, n, 7)
    residuals, variances, _ = exact.leave_one_out()
    found = checks._left_out(near, rows, np.ones(1), n - 1)
    # One of n points changes the constant by some n-th of its residual, and the constant has a variance.
    np.testing.assert_allclose(found[0], residuals[rows], atol=10 * np.sqrt(variances.max()) / n)
    np.testing.assert_allclose(found[1], variances[rows], rtol=10 / n)
