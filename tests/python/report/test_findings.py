"""Verdicts of a report: honest, in any unit."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.kernels import RBF, Linear
from kernsel.likelihoods import StudentT
from kernsel.report.about_result import headline
from kernsel.report.figures import left_out
from kernsel.report.findings import findings_of
from kernsel.report.inputs import inputs_of

from reported import of_model, table_of

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("unit", [1.0, 1e140, 1e-130])
def test_verdicts_in_any_unit(unit):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (40, 1))
    verdicts = []
    for y in (np.sin(6 * X[:, 0]) + 0.1 * rng.standard_normal(40), rng.standard_normal(40)):
        model = ks.GaussianProcessRegressor(unit**2 * RBF(0.2), noise=0.04 * unit**2, optimizer=None).fit(X, unit * y)
        with np.errstate(all="raise", under="ignore"):
            verdicts.append(findings_of(of_model(model, table_of(X, unit * y, ["x"]))).verdict)
    assert verdicts == ["useful", "useless"]


def test_verdicts_are_honest(made):
    found, page = made("five")
    assert findings_of(found).verdict == "useless"
    assert "Nothing that was tried predicts" in page.text
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(30, 1)), rng.standard_normal(30)
    found = of_model(ks.GaussianProcessRegressor(RBF(0.1), noise=1e-2, optimizer=None).fit(X, y), table_of(X, y, ["x"]))
    assert findings_of(found).verdict == "useless"
    findings = findings_of(found)
    assert "The chosen model does not predict" in headline(found, findings, inputs_of(found))  # the line says otherwise
    worse = replace(found.lines["reml"][0], loo_rmse=9.0)
    assert "Nothing that was tried predicts" in headline(replace(found, lines={"reml": [worse]}), findings, inputs_of(found))
    weak = of_model(
        ks.GaussianProcessRegressor(Linear(1.0), noise=1.0, trend="constant", optimizer=None).fit(X, y + 1.2 * X[:, 0]),
        table_of(X, y + 1.2 * X[:, 0], ["x"]),
    )
    assert findings_of(weak).verdict == "doubtful"
    assert "may be chance" in headline(weak, findings_of(weak), inputs_of(weak))
    found, page = made("constant")
    assert "there is nothing to predict" in page.text
    found, page = made("many")
    assert f"On {found.test['rows']:.0f} rows that were held out" in re.sub("<[^>]*>", "", page.text)
    assert f'<data value="{found.test["rmse"]!r}">' in page.text


def test_intervals_of_a_mixture_are_those_of_its_distribution(made):
    found, page = made("stacked")
    findings = findings_of(found)
    y = found.model.y_train_
    below = sum(w * stats.norm.cdf(one.loo_residuals_ / one.loo_std_) for w, one in found.processes)
    np.testing.assert_allclose(stats.norm.cdf(findings.z), below, atol=1e-12)
    assert findings.within == np.sum(np.abs(below - 0.5) <= 0.475)
    assert findings.log_density == pytest.approx(found.model.loo_log_density_.mean())
    np.testing.assert_allclose(findings.predicted, y - found.model.loo_residuals_)
    shares = {row[0]: row[1] for row in page.table("Rows within leave-one-out intervals")}
    assert shares["95 %"] == findings.within / len(y)


def test_counts_are_judged_by_their_own_distribution(made):
    found, page = made("counts")
    findings = findings_of(found)
    model = found.model
    y = model.y_train_
    left_out = model.left_out_predictive()
    np.testing.assert_array_equal(findings.z, left_out.standardized(y[:, None])[:, 0])
    low, high = left_out.quantiles([0.025, 0.975])[:, 0].T
    assert findings.within == np.sum((low <= y) & (y <= high))
    assert findings.log_density == pytest.approx(model.loo_log_density_.mean())
    assert findings.counts["observed"].sum() == pytest.approx(findings.counts["expected"].sum()) == len(y)
    text = re.sub("<[^>]*>", "", page.text)
    shape = model.likelihood_.shape
    assert f"observed: negative binomial counts of mean m = exp(f) and variance m + m^2 / {shape:.3g}" in text
    assert "Errors are quantile residuals" in text
    assert "How much noise: what other rules would choose" not in text  # rules for squared errors
    assert ["negative_binomial", "shape"] in [row[:2] for row in page.table("Numbers of the kernel")]
    assert "Observed and expected counts" in text


def test_deviations_that_are_infinite_are_not_drawn():
    X = np.linspace(0, 6, 30)[:, None]
    model = ks.GaussianProcessRegressor(RBF(1.0), optimizer=None, likelihood=StudentT(scale=0.1, df=1.9)).fit(
        X, np.sin(X[:, 0])
    )
    found = of_model(model, table_of(X, np.sin(X[:, 0]), ["x"]))
    findings = findings_of(found)
    assert np.isinf(findings.std).all()
    assert findings.within == 30
    drawn = left_out(found, findings, "predictions")
    assert drawn.count("<use") >= 30
    assert "inf" not in drawn


def test_outliers_that_hardly_count_are_seen_to_be_far_off():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 1))
    y = np.sin(8 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    y[[7, 31, 48]] += 9.0, -8.0, 7.0
    found = of_model(ks.GaussianProcessRegressor().fit(X, y), table_of(X, y, ["x"]))
    findings = findings_of(found)
    assert sorted(findings.outliers) == [7, 31, 48]
    assert (np.abs(findings.z[findings.outliers]) > 30).all()
    np.testing.assert_allclose(findings.std[[7, 31, 48]], 0.1, rtol=0.5)
