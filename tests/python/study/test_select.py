"""select: the table, what cannot be fitted, and what its search finds."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import kernel_ridge
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.criteria import GroupsOut, LeaveOneOut, UnbiasedRisk
from kernsel.kernels import (
    RBF,
    ConstantKernel,
    FunctionKernel,
    HeteroscedasticNoise,
    Linear,
    Matern,
)
from kernsel.kernels.amplitudes import with_amplitudes
from kernsel.study import structure
from kernsel.study.structure import terms_of


@pytest.fixture
def data(rng):
    X = np.linspace(0, 6, 40).reshape(-1, 1)
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)


CRITERIA = ["lml", "reml", "loo", "loo_log_density", "gcv", "kfold", LeaveOneOut("crps"), UnbiasedRisk(0.1), GroupsOut(4, True)]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_table(data, criterion):
    X, y = data
    kernels = [RBF("auto"), "Matern(nu=0.5)", sk.RationalQuadratic(1.0), RBF("auto") + Linear("auto")]
    found = ks.select(X, y, kernels, criterion)
    values = [one.value for one in found.tried]
    assert len(values) == 4
    larger = found.criterion.larger_is_better
    if found.criterion.leaves_points_out:  # the simplest of those within a standard error of the best left-out density is first
        densities = {one.log_density: one for one in found.tried}
        close = [one for one in found.tried if one.as_good]
        assert densities[max(densities)] in close
        assert found.best.parameters == min(one.parameters for one in close)
        rest = [one.log_density for one in found.tried[1:]]
        assert rest == sorted(rest, reverse=True)
    else:
        assert values == sorted(values, reverse=larger)
        allowed = 1.0 if larger else 0.01 * abs(values[0])
        assert [one.as_good for one in found.tried] == [abs(value - values[0]) <= allowed for value in values]
    for one in found.tried:
        noise = one.noise_ + one.jitter_
        again = ks.evaluate(criterion, one.kernel_, X, y, noise=noise, trend="constant")
        # The noise may be as small as rounding beside a large amplitude: n eps times the condition.
        condition = float(np.mean(one.kernel_.diag(X))) * 40 / noise
        assert one.value == pytest.approx(again.value, rel=1e-7 + 40 * np.finfo(float).eps * condition)
        assert one.seconds > 0
        assert one.problem == ""
    assert found.best is found.tried[0]
    assert found.best_kernel_ is found.best_estimator_.kernel_
    assert np.array_equal(found.predict(X), found.best_estimator_.predict(X))
    mean, std = found.predict(X, return_std=True)
    assert mean.shape == std.shape == (40,)
    text = str(found)
    assert max(map(len, text.splitlines())) <= 100
    shown = criterion if isinstance(criterion, str) else type(criterion).__name__
    shown = "loo_crps" if shown == "LeaveOneOut" else shown
    assert f"{'larger' if larger else 'smaller'} values of {shown} are better" in text.splitlines()[-2:]
    assert (text.splitlines()[-1] == "~ about as good as the best") == any(one.as_good for one in found.tried[1:])
    alone = ks.GaussianProcessRegressor(with_amplitudes(RBF("auto")), criterion=criterion, noise="auto", trend="constant").fit(
        X, y
    )
    assert alone.criterion_value_ in values


def test_defaults_and_forms_of_kernels(data):
    X, y = data
    usual = ks.select(X, y)
    assert len(usual.tried) == 7
    assert isinstance(usual.best_estimator_, ks.StackedRegressor)
    assert isinstance(usual.criterion, ks.criteria.Evidence)
    for one in (RBF("auto"), sk.RBF(1.0)):
        assert len(ks.select(X, y, one).tried) == 1
    assert len(ks.select(X, y, (k for k in (RBF("auto"), "Linear"))).tried) == 2
    assert ks.select(X.tolist(), y.tolist(), [RBF("auto")]).best.value == ks.select(X, y, [RBF("auto")]).best.value
    two = ks.select(X, np.column_stack([y, 2 * y]), [RBF("auto")], "reml")
    assert two.predict(X).shape == (40, 2)
    assert ks.select(X, y, [RBF("auto")], noise=0.01, trend=None).best.noise_ == 0.01
    vector = ks.select(X, y, [RBF("auto")], noise=np.full(40, 0.01))
    assert vector.score(X, y) == vector.best_estimator_.score(X, y) > 0.9
    assert "   vector" in str(vector)
    assert vector.describe().endswith("noise that differs from point to point")


def failing(*_):
    raise RuntimeError("it does not work. Sorry")


def interrupting(*_):
    raise KeyboardInterrupt


def test_what_cannot_be_fitted_is_a_line(data, capsys):
    X, y = data
    kernels = [
        RBF([1.0, 2.0]),
        RBF("auto").on([3]),
        RBF("auto").on(["age"]),
        FunctionKernel(failing),
        HeteroscedasticNoise(np.ones(3)),
        RBF("auto"),
    ]
    found = ks.select(X, y, kernels, "reml", verbose=1)
    assert [one.kernel_ is None for one in found.tried] == [False] + [True] * 5
    assert found.tried[4].problem == "it does not work"
    assert all(np.isnan(one.value) and one.parameters == 0 for one in found.tried[1:])
    lines = str(found).splitlines()
    assert len(lines) == 8
    assert max(map(len, lines)) <= 100
    assert "columns: there is no column 3" in lines[3]
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 6
    assert max(map(len, printed)) <= 100
    assert printed[-1].startswith(f"{found.best.value:12.6g}")
    with pytest.raises(ValueError, match=r"kernels: none of them could be fitted: .*one length scale.*; .*it does not work"):
        ks.select(X, y, [kernels[0], kernels[3]])


@pytest.mark.parametrize("ends", [0, 1, 2])
def test_interrupted(data, ends):
    X, y = data
    kernels = [RBF("auto"), Matern("auto")]
    kernels.insert(ends, FunctionKernel(interrupting))
    if ends == 0:
        with pytest.raises(KeyboardInterrupt):
            ks.select(X, y, kernels)
        return
    found = ks.select(X, y, kernels)
    assert isinstance(found.interrupt, KeyboardInterrupt)
    assert len(found.tried) == ends
    assert str(found).endswith("interrupted: not all was tried")


def test_interrupted_in_the_middle_of_a_search(monkeypatch):
    y = noisy(2 * x + np.sin(2 * np.pi * x / 1.5), 0.2, 0)
    tried = []
    grow = structure.larger_structures

    def interrupted(*arguments):
        tried.append(arguments)
        if len(tried) == 2:
            raise KeyboardInterrupt  # between two fits
        return grow(*arguments)

    monkeypatch.setattr("kernsel.study.select.larger_structures", interrupted)
    found = ks.select(X1, y, "search", "reml", max_structures=200)
    assert isinstance(found.interrupt, KeyboardInterrupt)
    assert len(found.tried) > 6
    assert found.best.value == max(one.value for one in found.tried if one.parameters <= found.best.parameters)


def test_progress_is_told_of_each_kernel_before_it_is_tried():
    X = np.linspace(0, 6, 30).reshape(-1, 1)
    told = []
    selected = ks.select(X, np.sin(X[:, 0]), ["RBF(1.0)", Matern("auto", nu=2.5)], "lml", progress=told.append)
    assert [str(kernel) for kernel in told] == ["'auto' * RBF(1)", "'auto' * Matern('auto', nu=2.5)"]
    assert {str(one.kernel) for one in selected.tried} == set(map(str, told))


def test_time(rng):
    X, y = rng.uniform(size=(700, 2)), rng.standard_normal(700)
    found = ks.select(X, y, "search", "reml", max_seconds=0.1)
    assert sum(one.seconds for one in found.tried) < 3.0  # a fit is ended at its next evaluation
    assert str(found).endswith("the time was over before all was tried")
    cut = [one for one in found.tried if one.ended == "seconds"]
    if cut:
        assert "* before the search was at its end" in str(found)
    assert len(ks.select(X[:50], y[:50], max_seconds=0).tried) == 1
    assert ks.select(X[:50], y[:50], max_seconds=1e6).ended == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernels": "seach"}, "kernels: expected kernels, \"search\" or None, got 'seach'; texts go in a list"),
        ({"kernels": []}, "kernels: expected at least one"),
        ({"kernels": 3}, 'kernels: expected kernels, "search" or None, got 3'),
        ({"kernels": [3.0]}, "kernels: expected kernels or their texts, got 3.0"),
        ({"kernels": [None]}, "kernels: expected kernels or their texts, got None"),
        ({"kernels": [RBF]}, "kernels: expected kernels or their texts, got <class"),
        ({"kernels": ["RBFF"]}, "there is no kernel 'RBFF'.*did you mean RBF"),
        ({"criterion": "lmll"}, "criterion: expected one of lml"),
        ({"criterion": LeaveOneOut}, "criterion: expected one of lml"),
        ({"criterion": "risk"}, "sigma: the unbiased risk needs"),
        ({"noise": -1.0}, "^noise: expected finite numbers that are not negative, got -1.0"),
        ({"noise": "much"}, "^noise: expected numbers"),
        ({"trend": "cubic"}, "^trend: expected None"),
        ({"random_state": "x"}, "^random_state: expected"),
        ({"max_seconds": -1}, "max_seconds: expected a number from 0 on or None, got -1"),
        ({"max_seconds": np.nan}, "max_seconds: expected"),
        ({"max_seconds": "1"}, "max_seconds: expected"),
        ({"max_structures": 0}, "max_structures: expected a whole number from 1 on, got 0"),
        ({"max_structures": 2.5}, "max_structures: expected a whole number"),
        ({"y": np.full(40, np.nan)}, "y contains NaN"),
        ({"y": ["a"] * 40}, "string|expected numbers"),
        ({"y": np.array([["a", "b"]] * 40)}, "y: expected numbers"),
        ({"y": np.zeros(3)}, "inconsistent"),
        ({"X": np.zeros(40)}, "1D array"),
        ({"X": np.full((40, 1), np.inf)}, "infinity"),
        ({"X": np.zeros((0, 1)), "y": []}, "0 sample"),
    ],
)
def test_bad_input(data, change, message):
    arguments = {"X": data[0], "y": data[1]} | change
    with pytest.raises((ValueError, TypeError), match=message):
        ks.select(arguments.pop("X"), arguments.pop("y"), **arguments)


X1 = np.linspace(0, 10, 120).reshape(-1, 1)
x = X1[:, 0]


def noisy(y, size, seed):
    return y + size * np.random.default_rng(seed).standard_normal(len(y))


def kinds(kernel):
    """Return the kernels of each term, without amplitudes, as a sorted list of sorted names."""
    return sorted(
        sorted(str(part).split("(")[0] + str(part).partition(").on")[2] for part in term) for term in structure._terms(kernel)
    )


@pytest.mark.parametrize(("criterion", "seed"), [("lml", 0), ("reml", 1)])
def test_a_trend_and_a_period(criterion, seed):
    found = ks.select(X1, noisy(2 * x + np.sin(2 * np.pi * x / 1.5), 0.2, seed), "search", criterion)
    assert kinds(found.best_kernel_) == [["ExpSineSquared"], ["Linear"]]
    first, second, third = found.describe().splitlines()
    assert first == "a linear trend, of size 5.82" or first == "a linear trend, of size 5.83"
    assert second.startswith("a pattern of period 1.")
    assert float(second.split()[4].rstrip(",")) == pytest.approx(1.5, abs=0.02)
    assert float(third.removeprefix("noise of standard deviation ")) == pytest.approx(0.2, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "seed"), [("lml", 0), ("reml", 1)])
def test_a_period_that_changes_upon_a_curve(criterion, seed):
    y = 3 * np.sin(x / 3) + np.sin(2 * np.pi * x) * np.exp(-(((x - 3) / 3) ** 2))
    found = ks.select(X1, noisy(y, 0.1, seed), "search", criterion)
    assert kinds(found.best_kernel_) == [["ExpSineSquared", "RBF"], ["RBF"]]
    first, second, _ = found.describe().splitlines()
    assert first.startswith("a smooth function that changes over ")
    assert second.startswith("a pattern of period ")
    assert " that changes smoothly over " in second
    assert float(second.split()[4]) == pytest.approx(1.0, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_parts_of_single_columns(seed):
    X = np.random.default_rng(seed).uniform(size=(100, 4))
    y = noisy(np.sin(6 * X[:, 0]) + 4 * (X[:, 2] - 0.5) ** 2, 0.05, seed)
    frame = pd.DataFrame(X, columns=["age", "dose", "weight", "height"])
    found = ks.select(frame, y, "search", "reml")
    assert kinds(found.best_kernel_) == [["RBF([0])"], ["RBF([2])"]]
    first, second, _ = found.describe().splitlines()
    assert first.startswith("a smooth function that changes over 0.")
    assert " in age, of size " in first
    assert " in weight, of size " in second
    # Nothing of the other columns is left in the predictions.
    other = frame.assign(dose=0.0, height=1.0)
    assert np.array_equal(found.predict(frame), found.predict(other))


@pytest.mark.parametrize(("criterion", "seed"), [("lml", 0), ("reml", 1), ("reml", 2)])
def test_pure_noise(criterion, seed):
    y = noisy(np.zeros(120), 3.0, seed)
    found = ks.select(X1, y, "search", criterion)
    assert isinstance(found.best_kernel_, ConstantKernel)
    assert found.best.parameters == 0
    assert found.describe() == f"nothing but noise of standard deviation {np.sqrt(found.best.noise_):.3g}"
    # The likelihood of independent noise around a constant, at its maximum.
    expected = np.var(y) if criterion == "lml" else np.var(y, ddof=1)
    assert found.best.noise_ == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("value", [0.0, 7.0])
@pytest.mark.parametrize("criterion", ["reml", "loo"])
def test_constant_targets(value, criterion):
    found = ks.select(X1, np.full(120, value), "search", criterion)
    assert len(found.tried) == 1
    assert found.describe() == "the trend alone gives y: there is nothing to choose a kernel by"
    assert found.predict([[100.0]]) == pytest.approx([value])
    assert ks.select(X1, np.full(120, value)).predict([[100.0]]) == pytest.approx([value])


@pytest.mark.parametrize("criterion", ["reml", "loo"])
def test_the_best_is_the_one_that_pays(criterion):
    y = noisy(2 * x + np.sin(2 * np.pi * x / 1.5), 0.2, 0)
    most = 25 if criterion == "reml" else 12
    found = ks.select(X1, y, "search", criterion, max_structures=most)
    assert len(found.tried) == most
    assert found.ended == f"{most} structures were tried, not all there are"
    texts = [repr(one.kernel) for one in found.tried]
    assert len(set(texts)) == most
    if criterion == "reml":
        worth = [one.value - 0.5 * one.parameters * np.log(120) for one in found.tried]
    else:
        worth = [-one.value * (1 + 0.02 * one.parameters) for one in found.tried]
    assert worth == sorted(worth, reverse=True)
    assert [one.value for one in found.tried] != sorted((one.value for one in found.tried), reverse=criterion == "reml")
    again = ks.select(X1, y, "search", criterion, max_structures=9, random_state=4)
    other = ks.select(X1, y, "search", criterion, max_structures=9, random_state=4)
    assert [(one.value, repr(one.kernel_)) for one in again.tried] == [(one.value, repr(one.kernel_)) for one in other.tried]
    assert len(ks.select(X1, y, "search", criterion, max_structures=1).tried) == 1
    assert max(map(len, str(found).splitlines())) <= 100


def test_sizes_are_those_of_the_parts_of_the_prediction():
    y = noisy(2 * x + np.sin(2 * np.pi * x / 1.5), 0.2, 3)
    found = ks.select(X1, y, [ConstantKernel("auto") * (RBF("auto") + ConstantKernel("auto") * Linear("auto")), "RBF"], "reml")
    model = found.best_estimator_
    parts = [term(X1) @ model.alpha_ for term in terms_of(model.kernel_)]
    assert sum(parts) + model.beta_[0] == pytest.approx(model.predict(X1), rel=1e-6)
    for part in parts:
        if np.std(part) > 0.01:
            assert f"of size {np.std(part):.3g}" in found.describe()


def test_the_trend_is_part_of_the_description():
    t = np.linspace(0, 10, 60)[:, None]
    y = 3 * t[:, 0] + np.sin(4 * t[:, 0])
    sel = ks.select(t, y, kernels=[RBF("auto")], criterion="reml", trend="linear")
    first = sel.describe().split("\n")[0]
    size = re.fullmatch("a linear trend beside the kernel, of size (.*)", first)[1]
    assert float(size) == pytest.approx(8.8, rel=0.05)  # 3 times the standard deviation of t
    constant = ks.select(t, y, kernels=[RBF("auto")], criterion="reml")
    assert "beside" not in constant.describe()


@pytest.mark.parametrize(
    ("by_text", "told"),
    [
        (ks.KernelRidge("auto"), ks.KernelRidge(alpha="auto")),
        (ks.SVR("RBF"), ks.SVR(C="auto", epsilon="auto")),
        (ks.GaussianProcessRegressor(), ks.GaussianProcessRegressor(RBF(), noise="auto", trend="constant")),
    ],
)
def test_what_a_text_leaves_open_is_open_for_all_kernels(data, by_text, told):
    X, y = data
    kernels = [RBF("auto"), Matern("auto", nu=1.5)]
    found, expected = (ks.select(X, y, kernels, estimator=estimator) for estimator in (by_text, told))
    assert [one.value for one in found.tried] == [one.value for one in expected.tried]
    assert np.array_equal(found.predict(X), expected.predict(X))


def test_names_of_columns_stay(rng, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rng.uniform(0, 6, (40, 2)), columns=["dose", "age"])
    y = np.sin(frame["dose"]) + 0.5 * frame["age"]
    model = ks.GaussianProcessRegressor("RBF.on(['dose']) + Linear.on(['age'])", noise=1e-4).fit(frame, y)
    ks.save(model, tmp_path / "a.ksl")
    for one in (model, ks.load(tmp_path / "a.ksl")):
        assert re.fullmatch(r".*RBF.*on\(\['dose'\]\) \+ .*Linear.*on\(\['age'\]\)", str(one.kernel_))
        np.testing.assert_allclose(one.predict(frame), y, atol=0.01)
        assert np.array_equal(one.kernel_(frame), one.kernel_(frame.to_numpy()))
        with pytest.raises(ValueError, match="feature names"):
            one.predict(frame.rename(columns={"age": "size"}))
    sel = ks.select(frame, y, kernels=["(RBF + Linear).on(['dose']) + Linear.on(['age'])"], criterion="lml")
    assert "in dose" in sel.describe()
    assert "in age" in sel.describe()
    table = {"dose": frame["dose"], "age": frame["age"], "y": y}
    sel = ks.select(table, target="y", kernels=["RBF.on(['dose']) + Linear.on(['age'])"], criterion="lml")
    assert ".on(['dose'])" in str(sel)


def test_groups_and_blocks_of_time_are_left_out_together(rng):
    day = np.datetime64("2020-01-01") + rng.permutation(50)
    X = rng.uniform(0, 6, (50, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(50)
    kernels, groups = ["RBF", "Matern"], rng.permutation(50) % 7
    by_groups = ks.select(X, y, kernels, "loo", groups=groups)
    alone = ks.GaussianProcessRegressor(by_groups.tried[0].kernel, criterion="loo", noise="auto", trend="constant")
    assert by_groups.best.value == alone.fit(X, y, groups=groups).criterion_value_
    blocks = np.argsort(np.argsort(day)) // 5
    by_time = ks.select(X, y, kernels, "loo", time=day)
    assert by_time.best.value == ks.select(X, y, kernels, "loo", groups=blocks).best.value
    ridge = ks.select(X, y, kernels, estimator=ks.KernelRidge(alpha="auto"), time=day)
    assert len(np.unique(ridge.best_estimator_.fit(X, y).alpha_)) == 1
    for how, error, message in (
        ({"groups": groups, "time": day}, ValueError, "groups, time: expected one of them"),
        ({"time": day[:5]}, ValueError, "time: expected one for each of 50 points"),
        ({"groups": groups[:5]}, ValueError, "groups: expected one label for each of 50 points"),
        ({"groups": groups, "estimator": kernel_ridge.KernelRidge()}, TypeError, "does not leave groups out"),
    ):
        with pytest.raises(error, match=message):
            ks.select(X, y, kernels, **how)
    classes = ks.select(X, y > 0, kernels, estimator=ks.GaussianProcessClassifier(criterion="loo"), groups=groups)
    alone = ks.GaussianProcessClassifier(classes.tried[0].kernel, criterion="loo").fit(X, y > 0, groups=groups)
    assert classes.best.value == alone.criterion_value_


def test_a_kernel_without_a_value_has_a_problem(rng, monkeypatch):
    X, y = rng.uniform(size=(20, 1)), rng.standard_normal(20)
    fit = ks.GaussianProcessRegressor.fit

    def without_value(self, *data, **options):
        fit(self, *data, **options)
        if "Linear" in str(self.kernel):
            self.criterion_value_ = np.nan
        return self

    monkeypatch.setattr(ks.GaussianProcessRegressor, "fit", without_value)
    for combine in (None, "stack"):
        selected = ks.select(X, y, ["RBF", "Matern", "Linear"], "lml", combine=combine)
        assert [one.problem.split(":")[0] for one in selected.tried if np.isnan(one.value)] == [
            "the criterion has no value at the end of the search"
        ]
        assert "the criterion has no value" in str(selected)
    constant = ks.select(X, np.ones(20), ["RBF"])  # the trend alone gives y: that is no problem
    assert constant.best.problem == ""


def test_copied_rows_are_learnt_from_once(rng):
    X = rng.uniform(0, 6, (60, 1))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(60)
    y[7] = 9.0
    table = pd.DataFrame({"x": X[:, 0], "y": y})
    for criterion in ("evidence", "loo"):
        once = ks.select(X, y, ["RBF", "Matern"], criterion)
        for rows in (np.tile(np.arange(60), 2), np.append(np.arange(60), [7, 3, 8, 3])):
            framed = ks.select(table.iloc[rows], target="y", kernels=["RBF", "Matern"], criterion=criterion)
            copied = ks.select(X[rows], y[rows], ["RBF", "Matern"], criterion)
            for found in (copied, framed):
                assert [str(one.kernel_) for one in found.tried] == [str(one.kernel_) for one in once.tried]
                assert [one.noise_ for one in found.tried] == [one.noise_ for one in once.tried]
                assert [one.outliers_ for one in found.tried] == [(7,), (7,)]
                assert found.remarks == [
                    f"{len(rows) - 60} rows are copies of others: each is learnt from once.",
                    *once.remarks,
                ]
                assert found.remarks[0] in " ".join(str(found).split())
    assert ks.select(X, y, ["RBF"], "loo").remarks[:-1] == []


@pytest.mark.parametrize("multi", [False, True])
def test_classifiers_say_that_rows_are_repeated(rng, multi, tmp_path):
    X = rng.uniform(0, 6, (30, 1))
    X[25:] = X[:5]
    labels = np.digitize(X[:, 0], [2.0, 4.0] if multi else [3.0])
    selected = ks.select(X, labels, ["RBF"], estimator=ks.GaussianProcessClassifier(criterion="loo"))
    assert selected.remarks[0].startswith("5 of 30 rows have the inputs of an earlier one, and its target: each row counts as")
    ks.save(selected.best_estimator_, tmp_path / "classifier.ksl")
    loaded = ks.load(tmp_path / "classifier.ksl").selection_
    assert (loaded[0] if multi else loaded).remarks == selected.remarks


def test_kernels_are_compared_by_the_same_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 1))
    y = np.sin(8 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    y[[7, 31, 48]] += 9.0, -8.0, 7.0
    kernels = [RBF("auto"), Matern("auto", nu=2.5), Matern("auto", nu=1.5)]
    selected = ks.select(X, y, kernels)
    assert [one.outliers_ for one in selected.tried] == [(7, 31, 48)] * 3
    assert "3 rows are outliers, 7 (+" in str(selected)
    assert [one.outliers_.tolist() for one in selected.best_estimator_.estimators_] == [[7, 31, 48]] * 3

    # Where a kernel does not find one of them, it is fitted again without those that the others find.
    import kernsel.estimators.process_fit as module

    find = module.find_outliers
    calls = []

    def some_missed(*arguments):
        calls.append(arguments)
        rows = find(*arguments)
        return rows if len(calls) > 1 else rows[:0]

    monkeypatch.setattr(module, "find_outliers", some_missed)
    again = ks.select(X, y, kernels)
    assert [(str(one.kernel_), one.value, one.outliers_) for one in again.tried] == [
        (str(one.kernel_), one.value, one.outliers_) for one in selected.tried
    ]
    assert "outlier" not in str(ks.select(X, np.sin(8 * X[:, 0]) + 0.1 * rng.standard_normal(60), kernels))


def test_outliers_in_a_frame_are_its_rows_and_hardly_change_a_mixture():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=60)
    y = np.sin(8 * x) + 0.1 * rng.standard_normal(60)
    y[[7, 31, 48]] += 9.0, -8.0, 7.0
    y[3] = np.nan
    selected = ks.select({"x": x, "y": y}, target="y", kernels=["RBF", "Matern(nu=2.5)"], combine="stack")
    assert "rows are outliers, 7 (+" in str(selected)
    z = np.linspace(0.05, 0.95, 50)
    assert np.abs(selected.predict({"x": z}) - np.sin(8 * z)).max() < 0.2


def test_what_is_approximated_is_said():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 2))
    y = np.sin(6 * X[:, 0]) + 0.2 * rng.standard_normal(150)
    kernels = ["RBF", "Matern"]
    exact, same, near = (
        ks.select(X, y, kernels, approximation=how) for how in (None, ks.Vecchia(200, 200), ks.Vecchia(10, 20))
    )
    # the evidence is integrated where the search is exact
    np.testing.assert_allclose(same.predict(X), exact.predict(X), atol=0.02 * np.ptp(y))
    assert not same.remarks
    assert "Approximated for 150 points: hyperparameters were chosen by 10 nearest neighbours" in near.remarks[0]
    assert "Approximated for 150 points" in str(near)
    of_machines = ks.select(X, y, kernels, estimator=ks.KernelRidge(alpha="auto"), approximation=ks.Vecchia(10, 20))
    assert of_machines.best_estimator_.approximation_[1:] == of_machines.remarks[0][1:]
    with pytest.raises(TypeError, match="a SVR is exact"):
        ks.select(X, y, kernels, estimator=ks.SVR(C="auto"), approximation=ks.Vecchia())
