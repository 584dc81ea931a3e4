"""Rows and groups that are left out together: every criterion against fits without them, and data that are copied."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GroupKFold

import kernsel as ks
from kernsel.criteria import HoldOut, LeaveOneOut
from kernsel.criteria.base import Given
from kernsel.kernels import RBF, Matern

import reference as ref
from accuracy import assert_forward

N = 16
NAMES = ("loo", "loo_log_density", "profiled_loo_log_density", "loo_crps", "loo_absolute")


@pytest.fixture
def repeated(rng):
    """Return data of which some rows are copies, and others have only their inputs in common."""
    X = rng.uniform(-1, 1, (N, 2))
    X[[5, 9]], X[11] = X[2], X[7]
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(N)
    y[5] = y[2]
    return X, y, rng.uniform(0.05, 0.3, N)


def refitted(K, noise, H, y, labels):
    """Return the residuals and variances of points, each predicted by a fit without all points that have its label."""
    r, v = np.empty(len(y)), np.empty(len(y))
    for label in np.unique(labels):
        out = np.flatnonzero(labels == label)
        mean, covariance = ref.predict_without(K, noise, H, y[:, None], out)
        r[out], v[out] = y[out] - mean[:, 0], np.diag(covariance)
    return r, v


def value_of(name, r, v, w, y):
    s = np.sqrt(v)
    z = r / s
    if name == "loo":
        return np.average(r**2, weights=w)
    if name == "loo_absolute":
        return np.average(np.hypot(r, 0.1 * np.std(y)), weights=w)
    if name == "loo_crps":
        return np.average(
            s * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - np.pi**-0.5),
            weights=w,
        )
    scale = np.average(r**2 / v, weights=w) if name.startswith("profiled") else 1.0
    return np.sum(w * stats.norm.logpdf(r, 0.0, np.sqrt(scale * v)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_out_together_by_refitting(name, trend, told, weighted, repeated, rng):
    X, y, noise = repeated
    k = 1.3 * RBF([0.7, 1.1])
    groups = rng.permutation(N) % 5 if told else None
    labels = groups if told else np.unique(X, axis=0, return_inverse=True)[1].ravel()
    w = rng.uniform(0.5, 2.0, N) if weighted else np.ones(N)
    H = np.column_stack([np.ones(N), X]) if trend else np.zeros((N, 0))
    expected = value_of(name, *refitted(k(X), noise / w, H, y, labels), w, y)
    how = {"trend": trend, "sample_weight": w if weighted else None, "groups": groups}
    found = ks.evaluate(name, k, X, y, noise=noise, gradient=True, **how)
    assert found.value == pytest.approx(expected, rel=1e-9)
    slopes, error = ref.central_differences(
        lambda t: ks.evaluate(name, k.clone_with_theta(t), X, y, noise=noise, **how).value, k.theta, 1e-4
    )
    assert found.gradient == pytest.approx(slopes, abs=10 * error.max() + 1e-7 * np.abs(slopes).max())


def test_residuals_of_equal_rows_and_groups(repeated, rng):
    X, y, noise = repeated
    k, H = Matern(0.8, nu=1.5), np.ones((N, 1))
    for groups in (None, rng.integers(0, 4, N)):
        labels = np.unique(X, axis=0, return_inverse=True)[1].ravel() if groups is None else groups
        r, v = refitted(k(X), noise, H, y, labels)
        fit = ks.loo(k, X, np.column_stack([y, -y]), noise=noise, trend="constant", groups=groups)
        assert fit.residuals[:, 0] == pytest.approx(r, rel=1e-9)
        assert fit.residuals[:, 1] == pytest.approx(-r, rel=1e-9)
        assert fit.variances == pytest.approx(v, rel=1e-9)
        assert np.array_equal(fit.groups[:, None] == fit.groups, labels[:, None] == labels)


@pytest.mark.parametrize("name", ["loo", "loo_absolute", "kfold"])
@pytest.mark.parametrize("noise", [1e-3, 0.1])
def test_doubled_data_have_the_same_error(name, noise, rng):
    """With twice the noise, each pair of copies says as much as the row did, so that all predictions are the same."""
    X = rng.uniform(-1, 1, (20, 2))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(20)
    once = ks.evaluate(name, RBF(0.8), X, y, noise=noise, trend="constant").value
    twice = ks.evaluate(name, RBF(0.8), np.vstack([X, X]), np.tile(y, 2), noise=2 * noise, trend="constant").value
    assert twice == pytest.approx(once, rel=1e-9)


def test_folds_keep_equal_rows_and_groups_whole(repeated):
    X, y, noise = repeated
    k, H = RBF(0.8), np.zeros((N, 0))
    groups = np.repeat(np.arange(4), 4)
    for folds in (2, GroupKFold(2)):
        value = ks.evaluate("kfold", k, X, y, noise=noise, groups=groups, folds=folds).value
        possible = [np.mean(refitted(k(X), noise, H, y, np.isin(groups, pair))[0] ** 2) for pair in ([0, 1], [0, 2], [0, 3])]
        assert min(abs(value - one) for one in possible) < 1e-9 * value
    # As many folds as there are distinct rows.
    r, _ = refitted(k(X), noise, H, y, np.unique(X, axis=0, return_inverse=True)[1].ravel())
    assert ks.evaluate("kfold", k, X, y, noise=noise, folds=N).value == pytest.approx(np.mean(r**2), rel=1e-9)


def test_copies_without_noise():
    X = np.vstack([np.linspace(0, 3, 15)[:, None]] * 2)
    y = np.sin(X[:, 0])
    once = ks.GaussianProcessRegressor(RBF("auto"), criterion="loo", noise=0.0).fit(X[:15], y[:15])
    twice = ks.GaussianProcessRegressor(RBF("auto"), criterion="loo", noise=0.0).fit(X, y)
    assert twice.kernel_.theta == pytest.approx(once.kernel_.theta, rel=1e-3)


@pytest.mark.parametrize("criterion", ["lml", "reml"])
def test_likelihoods_say_that_rows_are_copied(criterion, rng):
    X = rng.uniform(0, 6, (30, 1))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(30)
    gp = ks.GaussianProcessRegressor(RBF("auto"), criterion=criterion, noise=0.1)  # a noise that is found takes copies once
    gp.fit(np.vstack([X, X[:4]]), np.append(y, y[:4]))
    assert gp.selection_.remarks == [
        "4 of 34 rows have the inputs of an earlier one, and its target: a likelihood takes copies for independent "
        "measurements, and the noise it finds may be too small."
    ]
    assert gp.selection_.remarks[0] in str(gp.selection_)
    gp.fit(np.vstack([X, X[:4]]), np.append(y, y[:4] + 0.1))  # measured twice: that tells the noise
    assert gp.selection_.remarks == []


def test_what_cannot_be_left_out_is_refused(repeated):
    X, y, noise = repeated
    for how, message in (
        ({"criterion": "gcv", "groups": np.arange(N) % 2}, "groups: GeneralizedCrossValidation cannot leave them out"),
        ({"criterion": "loo", "groups": np.zeros(N)}, "groups: expected two at least"),
        ({"criterion": "loo", "groups": [1, 2]}, "groups: expected one label for each of 16 points"),
        ({"criterion": "loo", "trend": (np.arange(N) < 4.0)[:, None], "groups": np.arange(N) // 4}, "the group of points 0, 1"),
    ):
        with pytest.raises(ValueError, match=message):
            ks.evaluate(how.pop("criterion"), RBF(), X, y, noise=noise, **how)
    with pytest.raises(ValueError, match="X: all rows are equal"):
        ks.evaluate(LeaveOneOut(), RBF(), np.ones((4, 1)), np.arange(4.0), noise=0.1)


def test_points_that_are_held_out(rng):
    X = rng.uniform(0, 5, (24, 1))
    X[20] = X[3]
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(24)
    k, mask = RBF(0.7), np.arange(24) >= 18
    values = [ks.evaluate("holdout", k, X, y, noise=0.1, test=test).value for test in (mask, np.arange(18, 24), range(-6, 0))]
    assert values[0] == values[1] == values[2]
    drawn = HoldOut(0.25).test_points(Given(X, y, np.arange(24)))
    assert drawn.sum() in (6, 7)
    assert drawn[20] == drawn[3]  # equal rows stay together
    gp = ks.GaussianProcessRegressor("RBF", criterion=HoldOut(mask)).fit(X, y)
    refit = ks.GaussianProcessRegressor(gp.kernel_, noise=gp.noise_, optimizer=None, trend="constant").fit(X[:18], y[:18])
    # As far as the condition of the matrix of the kernel and the noise amplifies rounding.
    condition = np.linalg.cond(gp.kernel_(X) + gp.noise_ * np.eye(24))
    errors = (y[18:] - refit.predict(X[18:])) ** 2
    assert_forward(gp.criterion_value_, np.mean(errors), condition, 24, float)
    for bad, said in (
        (1.5, "expected a share between 0 and 1, indices"),
        ([30], "expected a share between 0 and 1, indices of some of 24 points"),
        (np.ones(24, dtype=bool), "got 24 test points of 24"),
    ):
        with pytest.raises(ValueError, match=f"^test: .*{said}"):
            ks.evaluate("holdout", k, X, y, noise=0.1, test=bad)
