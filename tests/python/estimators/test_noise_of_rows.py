"""Noise variances, weights and groups are of the rows: what `fit` does with them, and how cross-validation hands them on."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score

import kernsel as ks
from kernsel.kernels import RBF

import reference
from accuracy import assert_backward

GP = ks.GaussianProcessRegressor
N = 36


@pytest.fixture
def data(rng):
    X, noise = rng.uniform(0, 6, (N, 1)), rng.uniform(0.01, 0.3, N)
    y = np.sin(X[:, 0]) + rng.standard_normal(N) * np.sqrt(noise)
    return X, y, noise, np.arange(N) % 7


def test_noise_at_fit_is_that_of_the_parameter(data):
    X, y, noise, groups = data
    given, told = GP("RBF", noise=noise).fit(X, y, groups), GP("RBF").fit(X, y, groups, noise=noise)
    assert given.kernel_ == told.kernel_
    assert np.array_equal(told.noise_, noise)
    assert np.array_equal(given.predict(X), told.predict(X))
    assert "noise" not in GP(RBF("auto")).fit(X, y, noise=noise).selection_.not_sought
    other = told.fit(X, y).noise_  # it belongs to the rows of one fit, and the next one finds it
    assert np.ndim(other) == 0
    assert other > 0


@pytest.mark.parametrize("how", ["known", "found"])
def test_weights_divide_the_noise(data, how):
    X, y, _, _ = data
    weights = np.arange(N) % 4.0
    options = {"noise": 0.1, "alpha": 0.02} if how == "known" else {"noise": "auto"}
    gp = GP(RBF("auto"), trend="constant", **options).fit(X, y, sample_weight=weights)
    used = np.flatnonzero(weights)
    assert np.array_equal(gp.selection_.rows, used)
    assert np.array_equal(gp.X_train_, X[used])
    alpha = options.get("alpha", 0.0)
    diagonal = (gp.noise_ + alpha) / weights[used] + gp.jitter_
    expected = np.asarray(gp.kernel_(X[used])) + np.diag(diagonal)
    assert_backward(gp.L_ @ gp.L_.T - expected, np.linalg.norm(expected), len(used), np.float64)
    again = ks.evaluate("lml", gp.kernel_, X[used], y[used], noise=diagonal, trend="constant")
    assert gp.criterion_value_ == pytest.approx(again.value, rel=1e-9)
    if how == "found":  # there is no better noise
        slope, error = reference.central_differences(
            lambda t: (
                ks.evaluate(
                    "lml",
                    gp.kernel_,
                    X,
                    y,
                    noise=gp.noise_ * np.exp(t[0]) + gp.jitter_,
                    sample_weight=weights,
                    trend="constant",
                ).value
            ),
            [0.0],
            1e-4,
        )
        assert abs(slope[0]) <= error[0] + 1e-2  # the search ends within a hundredth of the best likelihood


def test_a_weight_is_that_many_measurements(data):
    X, y, _, _ = data
    weights = np.arange(N) % 4
    gp = GP(1.0 * RBF(1.0), optimizer=None, noise=0.1, alpha=0.0, trend="linear")
    one = clone(gp).fit(X, y, sample_weight=weights).predict(X, return_std=True)
    two = clone(gp).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict(X, return_std=True)
    for found, expected in zip(one, two, strict=True):
        assert_backward(found - expected, 1 / 0.1, 2 * N, np.float64)  # times the condition


def test_what_is_refused(data):
    X, y, noise, _ = data
    for gp, given, message in (
        (GP(noise="auto"), {"noise": noise}, "noise: given to fit and as the parameter noise='auto'"),
        (GP(noise=0.1), {"noise": 0.2}, r"noise: given to fit and as the parameter noise=0\.1"),
        (GP(), {"noise": "auto"}, "noise: fit expects variances, got 'auto'"),
        (GP(), {"noise": noise[:5]}, r"noise must be .* \(shape \(5,\) for 36 points\)"),
        (GP(), {"noise": -noise}, "noise: expected finite numbers that are not negative"),
        (GP(), {"sample_weight": -noise}, "sample_weight: expected weights that are not negative"),
        (GP(), {"sample_weight": 0 * noise}, "Sample weights must contain at least one non-zero"),
        (GP(outliers=[3]), {"sample_weight": noise}, r'outliers: expected "auto" or None .* got \[3\]'),
        (GP(hyperparameters="sample"), {"sample_weight": noise}, 'sample_weight: expected None with hyperparameters="sample"'),
        (GP(likelihood="poisson"), {"noise": noise}, "noise: expected None with likelihood='poisson'"),
        (GP(likelihood="poisson"), {"sample_weight": noise}, "sample_weight: expected None with likelihood='poisson'"),
    ):
        with pytest.raises(ValueError, match=message):
            gp.fit(X, y, **given)
    with pytest.raises(ValueError, match="sample_weight: expected None for rows that are read in blocks"):
        GP().fit(ks.row_source(X, y), sample_weight=1.0)
    with pytest.raises(ValueError, match="noise: expected once, got them twice"):
        ks.nested_cv(GP(), X, y, noise=noise, params={"noise": noise})
    with pytest.raises(ValueError, match="params: expected one noise for each of 36 points, got 5"):
        ks.nested_cv(GP(), X, y, noise=noise[:5])


def test_each_fold_has_the_noise_of_its_rows(data):
    X, y, noise, _ = data
    gp, folds = GP(RBF(1.0), optimizer=None), KFold(3)
    expected = [GP(RBF(1.0), optimizer=None, noise=noise[a]).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X)]
    assert ks.nested_cv(gp, X, y, noise=noise, outer=folds).scores["score"].tolist() == expected
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(gp).set_fit_request(noise=True)
        assert cross_val_score(asked, X, y, cv=folds, params={"noise": noise}).tolist() == expected
        assert ks.nested_cv(asked, X, y, noise=noise, outer=folds).scores["score"].tolist() == expected
        search = GridSearchCV(asked, {"trend": [None]}, cv=folds).fit(X, y, noise=noise)
        assert search.best_score_ == pytest.approx(np.mean(expected))
        assert np.array_equal(search.best_estimator_.noise_, noise)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            cross_val_score(gp, X, y, params={"noise": noise}, error_score="raise")


@pytest.mark.parametrize(
    "model",
    [
        ks.KernelRidge(RBF("auto"), alpha="auto", criterion="loo"),
        ks.KernelRidgeCV(RBF(1.0)),
        ks.RidgeRegression(),
        GP(RBF(1.0), noise="auto", criterion="loo"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_groups_and_weights_reach_a_fit_that_asks_for_them(data, model):
    X, y, noise, groups = data
    weights, outer = 1 / noise, GroupKFold(3)
    train = next(iter(outer.split(X, y, groups)))[0]
    alone = clone(model).fit(X[train], y[train], groups=groups[train], sample_weight=weights[train])
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(groups=True, sample_weight=True).set_score_request(sample_weight=False)
        options = {"outer": outer, "groups": groups, "sample_weight": weights, "return_estimator": True}
        found = ks.nested_cv(asked, X, y, **options).estimators[0]
        assert len(np.unique(found.left_out_together_)) == len(np.unique(groups[train]))
        assert np.array_equal(found.predict(X), alone.predict(X))
        asked.set_fit_request(groups=False)  # then only folds know them
        found = ks.nested_cv(asked, X, y, **options).estimators[0]
        assert len(np.unique(found.left_out_together_)) == len(train)
        search = GridSearchCV(asked.set_fit_request(groups=True), {"criterion": ["loo"]}, cv=GroupKFold(3))
        found = ks.nested_cv(search, X, y, **options).estimators[0].best_estimator_
        assert len(np.unique(found.left_out_together_)) == len(np.unique(groups[train]))
