"""Tables of kernels and rules of a report."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.report import choices, render
from kernsel.report.inputs import influences, inputs_of
from kernsel.study import study

import tables_made
from accuracy import assert_ulps
from reported import Page

pytest.importorskip("matplotlib")


@pytest.mark.slow
def test_tables_of_kernels_are_those_of_the_study(made):
    found, page = made("cars")
    matrix = page.table("Leave-one-out error of each kernel")
    for row in matrix:
        for criterion, shown in zip(found.lines, row[1:], strict=True):
            assert shown == next(line.loo_rmse for line in found.lines[criterion] if line.kernel == row[0])
    for criterion, lines in found.lines.items():
        rows = page.table(f"By {criterion}, ")
        for row, line in zip(rows, lines, strict=True):
            assert row[0] == line.kernel + line.fitted
            expected = [
                line.value,
                line.loo_rmse,
                line.coverage,
                line.noise**0.5,
                line.parameters,
                line.evaluations,
                line.seconds,
            ]
            np.testing.assert_allclose(row[1:], expected)
    assert page.text.count('<tr class="chosen"><th scope="row"><code><bdi>' + found.lines["reml"][0].kernel) == 1


def test_rules_are_marked_with_their_errors(made):
    found, page = made("cars")
    model = found.model
    rows = {row[0]: row[1:] for row in page.table("What each rule")}
    assert set(rows) == {
        "the model", "leave-one-out", "GCV", "likelihood", "restricted likelihood", "discrepancy", "L-curve corner",
    }  # fmt: skip
    np.testing.assert_allclose(rows["the model"][0], model.noise_ + model.jitter_)
    np.testing.assert_allclose(rows["restricted likelihood"][0], rows["the model"][0], rtol=1e-3)  # it has chosen the model
    for values in rows.values():
        lam, root, rmse, _ = values
        fit = ks.loo(model.kernel_, model.X_train_, model.y_train_, noise=lam, trend="constant")
        np.testing.assert_allclose([root, rmse], [lam**0.5, np.sqrt(np.mean(fit.residuals**2))], rtol=1e-6)
    assert rows["leave-one-out"][2] == min(values[2] for values in rows.values())


@pytest.mark.slow
def test_kernels_that_are_mixed_are_shown_with_their_weights(made):
    found, page = made("stacked")
    rows = page.table("By loo, ")
    for row, line in zip(rows, found.lines["loo"], strict=True):
        if line.problem:
            assert len(row) == 2
        else:
            np.testing.assert_allclose(row[2], line.weight)
            np.testing.assert_allclose(row[3], line.loo_rmse)
    assert all(len(row) in (2, 8) for row in page.table("By reml, "))  # which has no weights
    marked = page.text.count('<tr class="chosen"><th scope="row"><code><bdi>')
    assert marked == len(found.combined)
    assert "mixes, with weights by likelihood and by rows left out" in page.text
    rules = {row[0]: row[1:] for row in page.table("What each rule")}
    np.testing.assert_allclose(rules["the model"][0], found.process.noise_ + found.process.jitter_)


@pytest.mark.slow
def test_many_rows_are_sampled_and_what_is_approximated_is_said(monkeypatch):
    monkeypatch.setattr(choices, "_MANY", 50)
    monkeypatch.setattr(choices, "_SAMPLE", 30)
    found = study(tables_made.made(60), kernels=["RBF"], criteria=["lml"], approximation=ks.Vecchia(10, 20))
    page = Page(render(found, command="kernsel select made.csv --target y"))
    assert "of a random sample of 30 rows" in page.text
    assert "Approximated for 60 points: hyperparameters were chosen by 10 nearest neighbours" in page.text
    sample = choices.choices_of(found)
    assert sample.rows == 30
    assert len(sample.path.eigenvalues) == 29  # but for the constant
    assert_ulps(sample.alpha, found.process.noise_ + found.process.jitter_, 4)
    slopes = {one.input.name: one.slope for one in influences(found, inputs_of(found))}
    assert all(np.isfinite(list(slopes.values())))
    with pytest.raises(ValueError, match="a path takes the eigenvalues of the whole kernel matrix of 60 points"):
        found.process.regularization_path()
