"""Folds left out of rows in blocks: those of all rows at once, whose values and gradients have tests of their own."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

import kernsel as ks
from kernsel._data.rows import row_source
from kernsel._solve.fold_stage import folds_by_values
from kernsel._solve.landmark_stage import _held
from kernsel.criteria import GroupsOut
from kernsel.kernels import RBF, Matern, WhiteKernel

from accuracy import eps

KERNEL = 1.3 * RBF([0.7, 1.1]) + 0.4 * Matern(0.8, nu=2.5) + WhiteKernel(0.2)
N, NOISE = 90, 0.15
LABELS = np.arange(N) % 4
CASES = [("kfold", "folds"), ("loo", "groups"), ("loo_log_density", "groups"), ("profiled_loo_log_density", "groups")]
CASES += [("loo_crps", "groups"), ("loo_absolute", "groups"), ("kfold_log_density", "folds")]


def given():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (N, 2))
    y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2]) + 0.3 * rng.standard_normal((N, 2))
    weights = rng.uniform(0.5, 2.0, N)
    weights[[4, 50]] = 0.0
    return X, y, weights


def same(found, expected, what):
    """Sums less those of a fold, and solutions with them: rounding of n terms, amplified by a condition of 1e4 at most."""
    slack = 1e4 * N * eps(float)
    np.testing.assert_allclose(found, expected, rtol=slack, atol=slack * (1 + np.abs(expected).max(initial=0.0)), err_msg=what)


@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize(("name", "argument"), CASES)
def test_values_and_gradients_are_those_of_all_rows_at_once(name, argument, trend):
    X, y, weights = given()
    if name == "loo_absolute":  # whose unit is the standard deviation of the targets
        weights = weights + 0.1
    more = {"noise": NOISE, "trend": trend, "gradient": True, "approximation": ks.Nystrom(np.array(X[:70:5]))}
    more[argument] = LABELS
    whole = ks.evaluate(name, KERNEL, X, y, sample_weight=weights, **more)
    parts = ks.evaluate(name, KERNEL, row_source(X, y, sample_weight=weights, block=13), None, **more)
    same(parts.value, whole.value, name)
    same(parts.gradient, whole.gradient, name)
    same(parts.noise_gradient, whole.noise_gradient, name)
    same(parts.beta.ravel(), whole.beta.ravel(), name)
    assert not _held  # what was solved is released


def test_joint_densities_of_folds_that_are_larger_than_a_tile():
    """Two ways: by the matrix of a fold, which tile kernels of 512 columns solve with in parts, and by sums over its rows."""
    rng = np.random.default_rng(0)
    X, labels = rng.uniform(-1, 1, (1060, 2)), np.arange(1060) % 2
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(1060)
    more = {"noise": NOISE, "folds": labels, "approximation": ks.Nystrom(np.array(X[:8])), "gradient": True}
    whole = ks.evaluate("kfold_log_density", KERNEL, X, y, **more)
    parts = ks.evaluate("kfold_log_density", KERNEL, row_source(X, y, block=400), None, **more)
    slack = 1e4 * len(X) * eps(float)
    assert parts.value == pytest.approx(whole.value, rel=slack)
    np.testing.assert_allclose(parts.gradient, whole.gradient, rtol=0, atol=slack * np.abs(whole.gradient).max())


def test_folds_by_values_and_by_splitters():
    X, y, _ = given()
    X[60:] = X[:30]  # equal rows are in one fold
    more = {"noise": NOISE, "approximation": ks.Nystrom(np.array(X[:40:4]))}
    source = row_source(X, y, block=40)
    folds = folds_by_values(X, 5)
    whole = ks.evaluate("kfold", KERNEL, X, y, folds=folds, **more)
    same(ks.evaluate("kfold", KERNEL, source, None, folds=5, **more).value, whole.value, "number")
    kept = ks.evaluate("kfold", KERNEL, X, y, folds=LABELS // 2, **more)
    same(ks.evaluate("kfold", KERNEL, source, None, folds=2, groups=LABELS // 2, **more).value, kept.value, "groups")
    rows = np.arange(N) * 3 // N
    contiguous = ks.evaluate("kfold", KERNEL, X, y, folds=rows, **more)
    same(ks.evaluate("kfold", KERNEL, source, None, folds=KFold(3), **more).value, contiguous.value, "splitter")


def test_a_search_on_all_rows_by_folds():
    X, y, _ = given()
    y = np.sin(6 * X[:, 0]) + 0.3 * y[:, 1]
    source, near = row_source(X, y, block=40), ks.Nystrom(np.array(X[::2]), search_rows=None)
    model = ks.KernelRidge(RBF(1.0), alpha="auto", criterion="kfold", approximation=near).fit(source, None)
    best = model.criterion_value_
    for factor in (0.5, 2.0):  # no minimum nearby is lower
        more = {"noise": factor * model.alpha_, "trend": "constant", "approximation": near}
        assert best <= ks.evaluate("kfold", model.kernel_, source, None, **more).value


def test_refuses_what_folds_of_blocks_cannot_be():
    X, y, _ = given()
    source, more = row_source(X, y, block=31), {"noise": NOISE, "approximation": ks.Nystrom(5)}
    for criterion, groups, what in (
        (GroupsOut(1), None, "folds: expected a number from 2 to 100"),
        (GroupsOut(np.zeros(N)), None, "folds: expected two groups at least"),
        ("loo", np.zeros(N), "groups: 1 of them"),
        ("loo", np.arange(10), "groups: expected one label for each of 90 rows"),
        ("gcv", LABELS, "groups: .* cannot leave them out"),
    ):
        with pytest.raises(ValueError, match=what):
            ks.evaluate(
                criterion, KERNEL, source, None, groups=groups, **more, **({"sigma": 0.3} if criterion == "risk" else {})
            )
    only = (LABELS == 0)[:, None].astype(float)
    X = np.hstack([X, only])
    with pytest.raises(ValueError, match="without it the trend is not determined"):
        ks.evaluate("kfold", KERNEL, row_source(X[:, 1:], y, block=31), None, folds=LABELS, trend=lambda X: X[:, 1:], **more)
