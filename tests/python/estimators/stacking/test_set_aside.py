"""Processes that are set aside are the same when they are taken up."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel import structured as st
from kernsel.estimators.stacking.set_aside import SetAside


@pytest.mark.parametrize("objects", [False, True])
def test_taken_up_it_is_what_it_was(rng, objects):
    if objects:
        X = ["".join(rng.choice(list("ab"), 8)) for _ in range(20)]
        kernel, y = st.Spectrum(2), np.array([x.count("ab") for x in X]) + 0.1 * rng.normal(size=20)
    else:
        X, kernel = rng.uniform(0, 4, (20, 2)), "RBF"
        y = np.column_stack([np.sin(X[:, 0]), X[:, 1] + 0.1 * rng.normal(size=20)])
    process = ks.GaussianProcessRegressor(kernel, noise="auto", trend="constant", normalize_y=True).fit(X, y)
    aside = SetAside.of(process)
    again = aside.taken_up()
    assert "posterior_" not in vars(aside._process)
    assert hasattr(process, "posterior_")
    for mine, other in zip(again.predict(X[:3], return_std=True), process.predict(X[:3], return_std=True), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert again.selection_ is process.selection_
    assert again.get_params() == process.get_params()
    np.testing.assert_array_equal(again.loo_residuals_, process.loo_residuals_)
    each = stats.norm.logpdf(process.loo_residuals_, 0, process.loo_std_)
    np.testing.assert_allclose(aside.log_density, each.reshape(20, -1).sum(axis=1), rtol=1e-10)


def test_likelihoods_are_charged_for_hyperparameters_and_the_evidence_is_not(rng):
    X = rng.uniform(0, 4, (30, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=30)
    for criterion, charged in (("reml", 0.5 * np.log(30)), ("evidence", 0.0)):
        process = ks.GaussianProcessRegressor("RBF", criterion=criterion, noise="auto", trend="constant").fit(X, y)
        expected = process.criterion_value_ - charged * process.kernel_.n_dims
        assert SetAside.of(process).log_likelihood == pytest.approx(expected, rel=1e-12)
    known = ks.GaussianProcessRegressor("RBF", criterion="reml", noise=0.01, optimizer=None).fit(X, y)
    assert SetAside.of(known).log_likelihood == pytest.approx(known.criterion_value_, rel=1e-12)


def test_one_point_cannot_be_left_out():
    process = ks.GaussianProcessRegressor("RBF", optimizer=None, noise=0.1).fit([[0.0]], [1.0])
    with pytest.raises(ValueError, match=r"X: expected at least two points, .* got n_samples = 1"):
        SetAside.of(process)
