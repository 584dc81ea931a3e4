"""Criteria by landmarks of rows in blocks: those of all rows at once, which the slow twin has judged."""

import numpy as np
import pytest

import kernsel as ks
from kernsel import _core
from kernsel._data.rows import row_source
from kernsel._solve.passes import FAN_IN, Tree, total
from kernsel.criteria import LeaveOneOut
from kernsel.kernels import RBF, Matern, WhiteKernel

from accuracy import eps

NAMES = ["lml", "profiled_lml", "reml", "profiled_reml", "map", "loo", "loo_log_density", "profiled_loo_log_density"]
NAMES += ["loo_crps", "loo_absolute", "gcv", "risk"]
KERNEL = 1.3 * RBF([0.7, 1.1]) + 0.4 * Matern(0.8, nu=2.5) + WhiteKernel(0.2)
N, NOISE = 90, 0.15


def given(outputs=0):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (N, 2))
    y = np.sin(2 * X[:, :1]) + X[:, 1:] ** 2 + 0.3 * rng.standard_normal((N, outputs or 1))
    weights = rng.uniform(0.5, 2.0, N)
    weights[[4, 50]] = 0.0
    return X, y if outputs else y[:, 0], weights


def options(name):
    return {"sigma": 0.3} if name == "risk" else {"smoothing": 0.2} if name == "loo_absolute" else {}


def same(found, expected, what):
    """Sums in another order: rounding of n terms, which a solution with B amplifies by its condition, at most 1e4 here."""
    slack = 1e4 * N * eps(float)
    np.testing.assert_allclose(found, expected, rtol=slack, atol=slack * (1 + np.abs(expected).max(initial=0.0)), err_msg=what)


@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize("name", NAMES)
def test_criteria_and_gradients_are_those_of_all_rows_at_once(name, trend):
    for outputs, bound in ((0, True), (2, False)):
        X, y, weights = given(outputs)
        if name == "loo_absolute":  # whose unit is the standard deviation of the targets
            X, y, weights = (values[weights > 0] for values in (X, y, weights))
        near = ks.Nystrom(np.array(X[:70:5]), bound=bound)
        more = {"noise": NOISE, "trend": trend, "gradient": True, "approximation": near, **options(name)}
        whole = ks.evaluate(name, KERNEL, X, y, sample_weight=weights, **more)
        parts = ks.evaluate(name, KERNEL, row_source(X, y, sample_weight=weights, block=13), None, **more)
        same(parts.value, whole.value, name)
        same(parts.gradient, whole.gradient, name)
        same(parts.noise_gradient, whole.noise_gradient, name)
        same(parts.beta.ravel(), whole.beta.ravel(), name)
        assert parts.scale == pytest.approx(whole.scale, rel=1e4 * N * eps(float))
        assert parts.larger_is_better == whole.larger_is_better


def test_noise_of_rows_and_a_loss_that_is_a_function():
    X, y, weights = given()

    def loss(r, v):
        return r**4 / v, 4 * r**3 / v, -(r**4) / v**2

    near, rows = ks.Nystrom(np.array(X[:40:4])), weights + 0.1
    whole = ks.evaluate(LeaveOneOut(loss), KERNEL, X, y, noise=rows, gradient=True, approximation=near)
    source = row_source(X, y, noise=rows, block=40)
    parts = ks.evaluate(LeaveOneOut(loss), KERNEL, source, None, gradient=True, approximation=near)
    same(parts.value, whole.value, "value")
    same(parts.gradient, whole.gradient, "gradient")
    same(parts.noise_gradient, whole.noise_gradient.sum(), "noise")


def test_landmarks_and_hyperparameters_that_are_chosen_come_from_the_rows():
    X, y, _ = given()
    more = {"noise": NOISE, "approximation": ks.Nystrom(12)}
    parts, whole = (ks.evaluate("lml", "RBF", *rows, **more) for rows in ((row_source(X, y, block=31), None), (X, y)))
    same(parts.value, whole.value, "value")


def test_refuses_what_blocks_do_not_know():
    X, y, _ = given()
    source, near = row_source(X, y, block=31), ks.Nystrom(5)
    for what, more in (
        ("approximation: expected kernsel.Nystrom", {"approximation": None}),
        ("groups: expected None", {"approximation": near, "groups": np.zeros(N)}),
        ("points: expected False", {"approximation": near, "points": True}),
    ):
        with pytest.raises(ValueError, match=what):
            ks.evaluate("lml", KERNEL, source, None, noise=NOISE, **more)
    with pytest.raises(ValueError, match="leaves out groups"):
        ks.evaluate("kfold", KERNEL, source, None, noise=NOISE, approximation=near)


def test_a_criterion_is_not_applied_to_less_than_it_depends_on():
    names = ["c", "precision", "noise", "weights", "residual", "variance"]
    fit = dict.fromkeys(names) | {"squares": [1.0], "trend": 0, "log_det": 0.0, "log_det_trend": 0.0, "missing": 0.0}
    for core in (_core.generalized_cross_validation(), _core.leave_out("squared", 0.0, None, False, False)):
        with pytest.raises(ValueError, match="fit: expected all"):
            _core.apply(core, 5, fit)
    with pytest.raises(ValueError, match="c: expected one row for each point"):
        _core.apply(_core.generalized_cross_validation(), 5, fit | {"c": np.zeros((4, 1))})
    assert _core.apply(_core.likelihood(False, "known"), 5, fit)["value"] == pytest.approx(-0.5 - 2.5 * np.log(2 * np.pi))


class Words:
    def __init__(self, said=""):
        self.said = said

    def add(self, other):
        self.said = f"({self.said}{other.said})"


@pytest.mark.parametrize("count", [1, FAN_IN - 1, FAN_IN, FAN_IN + 1, FAN_IN**2 + 3, 2 * FAN_IN**2 + FAN_IN])
def test_a_tree_has_the_same_order_one_by_one_and_all_at_once(count):
    tree, parts = Tree(), [Words(f"{k} ") for k in range(count)]
    for part in parts:
        tree.add(part)
    while len(parts) > 1:
        parts = [total(parts[first : first + FAN_IN]) for first in range(0, len(parts), FAN_IN)]
    assert tree.result().said == parts[0].said
