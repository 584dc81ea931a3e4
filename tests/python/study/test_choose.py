"""Studies: what was tried on a table, compared with the same done by hand."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.kernels import RBF, Matern
from kernsel.study import plain, scores, study
from kernsel.study.tables import Column, Table

from tables_made import made


def test_lines_are_those_of_select_and_their_scores_those_of_models_refitted(table, found):
    assert list(found.lines) == ["lml", "loo"]
    assert found.better == {"lml": "larger", "loo": "smaller"}
    kernels = [RBF("auto"), Matern("auto", nu=2.5)]
    for name, lines in found.lines.items():
        selected = ks.select(table.X, table.y, kernels, name, random_state=1)
        assert [line.fitted for line in lines] == [str(one.kernel_) for one in selected.tried]
        assert [line.value for line in lines] == [one.value for one in selected.tried]
        for line, one in zip(lines, selected.tried, strict=True):
            # Each point left out in turn, with the hyperparameters as they are.
            errors, std = [], []
            for i in range(len(table.y)):
                rest = np.arange(len(table.y)) != i
                model = ks.GaussianProcessRegressor(
                    one.kernel_, noise=one.noise_, alpha=one.jitter_, optimizer=None, trend="constant"
                )
                model.fit(table.X[rest], table.y[rest])
                mean, spread = model.predict(table.X[[i]], return_std=True, noisy=True)
                errors.append(table.y[i] - mean[0])
                std.append(spread[0])
            errors, std = np.array(errors), np.array(std)
            condition = np.linalg.cond(one.kernel_(table.X) + one.noise_ * np.eye(len(table.y)))
            tolerance = 10 * condition * np.finfo(float).eps
            assert tolerance < 0.01
            assert line.loo_rmse == pytest.approx(np.sqrt(np.mean(errors**2)), rel=tolerance)
            density = np.mean(stats.norm.logpdf(errors, 0, std))
            assert line.loo_log_density == pytest.approx(density, abs=tolerance)
            assert line.coverage == np.mean(np.abs(errors) < stats.norm.ppf(0.975) * std)
    assert found.criterion == "lml"
    assert str(found.model.kernel_) == found.lines["lml"][0].fitted
    assert [line.kernel for line in found.lines["lml"]] == ["RBF", "Matern(nu=2.5)"]
    np.testing.assert_array_equal(found.kept, table.kept)
    assert found.test == {}
    assert found.ended == ""


def test_rows_that_are_not_learnt_from_test_the_model():
    table = made(60)
    one = study(table, kernels=["RBF"], criteria=["reml"], test=0.25, seed=3)
    assert len(one.model.y_train_) == 45
    assert one.test["rows"] == 15
    left = ~np.isin(table.kept, one.kept)
    np.testing.assert_array_equal(one.model.X_train_, table.X[~left])
    errors = table.y[left] - one.model.predict(table.X[left])
    assert one.test["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert one.test["rmse_of_mean"] == pytest.approx(np.sqrt(np.mean((table.y[left] - table.y[~left].mean()) ** 2)))
    two = study(table, kernels=["RBF"], criteria=["reml"], rows=20, seed=3)
    assert (len(two.model.y_train_), two.test["rows"]) == (20, 40)
    assert two.remarks[0] == "Said before."
    assert "random sample of 20 rows out of 60" in two.remarks[1]
    again = study(table, kernels=["RBF"], criteria=["reml"], rows=20, seed=3)
    other = study(table, kernels=["RBF"], criteria=["reml"], rows=20, seed=4)
    np.testing.assert_array_equal(two.kept, again.kept)
    assert not np.array_equal(two.kept, other.kept)


def test_at_most_ten_thousand_rows_test_it():
    one = study(made(12_000), kernels=["RBF"], criteria=["lml"], rows=10)
    assert one.test["rows"] == 10_000


def test_one_model_comes_out_of_any_budget(table):
    began = time.perf_counter()
    one = study(table, criteria=["lml", "loo", "gcv"], budget=1e-6)
    assert time.perf_counter() - began < 5
    assert [len(lines) for lines in one.lines.values()] == [1]
    assert one.ended == "the time was over before all was tried"
    whole = study(table, criteria=["lml"], budget=1e6)
    assert (len(whole.lines["lml"]), whole.ended) == (7, "")


def test_an_interruption_keeps_what_there_is(table):
    told = []

    def interrupt(at):
        def progress(criterion, kernel):
            told.append((criterion, kernel))
            if len(told) == at:
                raise KeyboardInterrupt

        return progress

    one = study(table, kernels=["RBF", "Matern"], criteria=["lml", "loo"], progress=interrupt(4))
    assert told == [("lml", "RBF"), ("lml", "Matern(nu=1.5)"), ("loo", "RBF"), ("loo", "Matern(nu=1.5)")]
    assert [len(lines) for lines in one.lines.values()] == [2, 1]
    assert one.ended == "interrupted: not all was tried"
    told.clear()
    with pytest.raises(KeyboardInterrupt):
        study(table, progress=interrupt(1))


def test_a_kernel_that_fails_is_a_line_and_a_criterion_that_fails_a_remark(table):
    one = study(table, kernels=["RBF([1.0, 2.0, 3.0])", "RBF"], criteria=["lml"])
    assert [bool(line.problem) for line in one.lines["lml"]] == [False, True]
    assert "one for each column of X" in one.lines["lml"][1].problem
    assert np.isnan(one.lines["lml"][1].value)
    # No line can be drawn through the other rows if one alone has this input.
    alone = replace(table, X=np.column_stack([table.X[:, 0], np.arange(40) == 7]))
    one = study(alone, kernels=["RBF"], criteria=["lml", "loo"], trend="linear")
    assert list(one.lines) == ["lml"]
    assert np.isnan(one.lines["lml"][0].loo_rmse)
    assert one.remarks[-1].startswith("By loo nothing could be chosen: trend: ")
    with pytest.raises(ValueError, match=r"criterion: there is no 'lm'; did you mean lml\?"):
        study(table, criteria=["lm"])
    with pytest.raises(ValueError, match="criteria: expected one at least"):
        study(table, criteria=[])


def test_kernels_are_combined_by_the_first_criterion():
    rng = np.random.default_rng(6)
    table = made(90)
    y = np.where(table.X[:, 0] > 3, 1.0, np.sin(4 * table.X[:, 0])) + 0.1 * rng.standard_normal(90)
    options = {"criteria": ["loo", "lml"], "test": 0.2, "seed": 1}
    found, alone = (study(replace(table, y=y), combine=combine, **options) for combine in ("stack", None))
    assert isinstance(found.model, ks.StackedRegressor)
    assert len(found.combined) == len(found.processes) > 1
    densities = [one.loo_log_density for one in found.combined]
    assert densities == sorted(densities, reverse=True)
    assert [one.weight for one in found.combined] == pytest.approx([weight for weight, _ in found.processes])
    assert found.line is found.combined[0]
    assert found.line.fitted == str(found.process.kernel_)
    assert found.noise == found.model.noise_
    assert found.order("loo").startswith("In the order of the mean log density of rows left out, but for the first")
    assert found.order("lml") == ""
    assert np.isnan([one.weight for one in found.lines["lml"]]).all()
    assert not alone.is_stacked
    assert alone.combined == []
    for name, lines in alone.lines.items():
        assert [(one.kernel, one.value) for one in found.lines[name]] == [(one.kernel, one.value) for one in lines]
    tests = ~np.isin(table.kept, found.kept)
    assert found.test["rmse"] == pytest.approx(np.sqrt(np.mean((y[tests] - found.model.predict(table.X[tests])) ** 2)))
    low, high = found.model.predict_quantiles(table.X[tests], [0.025, 0.975]).T
    assert found.test["coverage"] == np.mean((low <= y[tests]) & (y[tests] <= high))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"y": None}, {}, "table: expected one with a target"),
        ({"y": np.ones(40)}, {}, "all values of 'y' are 1; there is nothing to predict"),
        ({}, {"rows": 2}, "rows: expected 3 at least, got 2"),
        ({}, {"test": 1.0}, "test: expected a share"),
        ({}, {"test": 0.97}, "made.csv: 1 row to learn from; at least 3 are needed"),
        ({}, {"kernels": ["RBF.on(['c'])"]}, r"kernel: there is no column 'c' .*there are a, b"),
    ],
)
def test_what_cannot_be_studied_is_said(table, change, options, message):
    with pytest.raises(ValueError, match=message):
        study(replace(table, **change), **options)


def test_scores_and_plain_values():
    assert scores(np.array([1.0, -3.0]), np.array([1.0, 1.0])) == pytest.approx(
        (np.sqrt(5.0), np.mean(stats.norm.logpdf([1.0, 3.0])), 0.5)
    )
    values = {"a": np.array([1.5, np.nan]), "b": [np.int64(2), np.inf], "c": None, "d": Column("x", "number")}
    said = json.loads(json.dumps(plain(values), allow_nan=False))
    assert said["a"] == [1.5, None]
    assert said["b"] == [2, None]
    assert said["d"]["least"] is None


def doubled(table, y=None):
    """Return a table concatenated with itself, or with other targets."""
    again = np.append(table.kept, table.kept + 1)
    return replace(table, X=np.vstack([table.X] * 2), y=np.append(table.y, table.y if y is None else y), kept=again)


def test_copied_rows_are_learnt_from_once(table, found):
    one = study(doubled(table), kernels=[RBF("auto"), "Matern(nu=2.5)"], criteria=["lml", "loo"], seed=1)
    assert "40 rows are copies of others: each is learnt from once." in one.remarks
    np.testing.assert_array_equal(one.kept, table.kept)
    assert [line.fitted for line in one.lines["lml"]] == [line.fitted for line in found.lines["lml"]]
    assert [line.loo_rmse for line in one.lines["loo"]] == [line.loo_rmse for line in found.lines["loo"]]
    assert one.others == "the others"


def test_repeated_measurements_are_all_learnt_from_and_left_out_together(table, rng):
    other = table.y + 0.1 * rng.standard_normal(40)
    one = study(doubled(table, other), kernels=["RBF"], criteria=["loo", "gcv", "reml"], seed=1)
    assert "40 rows have the inputs of an earlier one: rows with equal inputs are left out together." in one.remarks
    assert len(one.model.y_train_) == 80
    assert one.others == "those of other inputs"
    assert one.lines["loo"][0].value == pytest.approx(one.lines["loo"][0].loo_rmse ** 2)
    for lines in one.lines.values():
        assert 0.05 < np.sqrt(lines[0].noise) < 0.2
    # Few values of the target that repeat by chance, for inputs of few values: these are measurements, too.
    coarse = replace(table, X=np.round(table.X / 3), y=(table.y > -5).astype(float))
    coarse.y[:4] = 0.0
    assert len(study(coarse, kernels=["RBF"], criteria=["reml"]).model.y_train_) == 40


def test_groups_are_left_out_in_every_line_and_as_test_rows(table):
    groups = np.arange(40) // 5
    grouped = replace(table, groups=groups, grouped_by="groups of 'patient'")
    one = study(grouped, kernels=["RBF"], criteria=["reml", "loo"], seed=1)
    for lines in one.lines.values():
        line = lines[0]
        kernel = ks.select(
            table.X, table.y, ["RBF"], "reml" if lines is one.lines["reml"] else "loo", random_state=1, groups=groups
        )
        model = kernel.best_estimator_
        assert line.fitted == str(model.kernel_)
        assert line.loo_rmse == pytest.approx(np.sqrt(np.mean(model.loo_residuals_**2)), rel=1e-6)
    assert one.others == "the other groups of 'patient'"
    tested = study(grouped, kernels=["RBF"], criteria=["reml"], test=0.2, seed=1)
    left = ~np.isin(table.kept, tested.kept)
    assert tested.test["rows"] == left.sum() == 10
    assert len(set(groups[left])) == 2
    some = study(grouped, kernels=["RBF"], criteria=["reml"], rows=12, seed=1)
    learnt = np.isin(table.kept, some.kept)
    assert some.test["rows"] == 40 - 5 * len(set(groups[learnt]))  # rows of groups that were learnt from test nothing
    with pytest.raises(ValueError, match="one group only"):
        study(grouped, kernels=["RBF"], criteria=["reml"], rows=4, seed=1)


def test_test_rows_equal_no_row_that_was_learnt_from(table):
    one = study(doubled(table, table.y + 1.0), kernels=["RBF"], criteria=["reml"], test=0.25, seed=1)
    twice = doubled(table)
    left = ~np.isin(np.arange(80), np.flatnonzero(np.isin(twice.kept, one.kept)))
    assert left.sum() == one.test["rows"] == 20
    assert not np.isin(twice.X[left, 0], twice.X[~left, 0]).any()


def test_outliers_are_remarked_on_by_their_rows_in_the_file():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 1))
    y = np.sin(8 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    y[[7, 31, 48]] += 9.0, -8.0, 7.0

    def studied(rows):
        columns, target = [Column("x", "number")], Column("y", "number")
        table = Table("made", 200, X[rows], y[rows], ["x"], columns, target, [], rows + 101)
        return study(table, kernels=["RBF", "Matern(nu=2.5)"], criteria=["lml"])

    found = studied(np.arange(60))
    remark = found.remarks[-1]
    assert remark.startswith("3 rows are outliers, 108 (+")
    assert "132 (-" in remark
    alone = studied(np.setdiff1d(np.arange(60), [7, 31, 48]))
    assert "outlier" not in " ".join(alone.remarks)
    for line, expected in zip(found.lines["lml"], alone.lines["lml"], strict=True):
        assert (line.loo_rmse, line.coverage) == pytest.approx((expected.loo_rmse, expected.coverage))
