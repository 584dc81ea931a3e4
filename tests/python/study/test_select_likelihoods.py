"""Selections, studies and nested cross-validation with a likelihood."""

import numpy as np
import pandas as pd
import pytest

import kernsel as ks
from kernsel.likelihoods import NegativeBinomial
from kernsel.study import study
from kernsel.study.tables.frames import read_frame
from kernsel.study.tables.read import table_of

rng = np.random.default_rng(0)
X = rng.uniform(0, 6, (70, 1))
EXPOSURE = rng.uniform(0.5, 3.0, 70).round(2)
Y = rng.poisson(EXPOSURE * np.exp(1 + np.sin(2 * X[:, 0])))
FRAME = pd.DataFrame({"x": X[:, 0], "hours": EXPOSURE, "faults": Y})
KERNELS = ["RBF", "Linear"]


def test_kernels_are_compared_by_the_evidence_of_the_likelihood():
    selected = ks.select(X, Y, KERNELS, likelihood="poisson", exposure=EXPOSURE)
    kernels = [one.kernel for one in selected.tried]
    for one in selected.tried:
        alone = ks.GaussianProcessRegressor(one.kernel, trend="constant", likelihood="poisson").fit(X, Y, exposure=EXPOSURE)
        assert one.value == pytest.approx(alone.log_marginal_likelihood_value_, abs=1e-5)
        assert one.log_density == pytest.approx(alone.loo_log_density_.mean(), abs=1e-4)
    worth = [one.value - 0.5 * one.parameters * np.log(70) for one in selected.tried]
    assert worth == sorted(worth, reverse=True)
    assert kernels[0] == selected.best_estimator_.kernel
    assert "observed: Poisson counts of mean exp(f)" in selected.describe()
    assert "density" in str(selected).split("\n")[0]
    assert not selected.remarks
    shapes = ks.select(X, Y, ["RBF"], likelihood=NegativeBinomial(), criterion="loo_log_density", exposure=EXPOSURE)
    assert shapes.best.others["shape"] == pytest.approx(shapes.best_estimator_.likelihood_.shape)


def test_a_table_has_a_column_of_exposures(tmp_path):
    selected = ks.select(FRAME, target="faults", kernels=["RBF"], likelihood="poisson", exposure="hours")
    assert selected.encoding.names == ["x"]
    best = selected.best_estimator_
    np.testing.assert_array_equal(selected.predict(FRAME), best.predict(X, exposure=EXPOSURE))
    np.testing.assert_array_equal(selected.predict(FRAME[["x"]]), best.predict(X))
    ks.save(selected, tmp_path / "a.ksl")
    loaded = ks.load(tmp_path / "a.ksl")
    np.testing.assert_allclose(loaded.predict(FRAME), selected.predict(FRAME), rtol=1e-12)
    assert ks.study.Study.load(tmp_path / "a.ksl").lines["lml"][0].loo_log_density == pytest.approx(selected.best.log_density)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"likelihood": "poisson", "combine": "stack"}, "combine: stacks Gaussian processes with normal noise"),
        ({"likelihood": "poisson", "noise": 0.1}, "noise: with a likelihood, which is all noise there is, expected none"),
        ({"likelihood": "poisson", "criterion": "gcv"}, 'criterion: with a likelihood, expected "lml"'),
        ({"likelihood": "poison"}, "likelihood: expected one of gaussian, student_t"),
        ({"likelihood": "poisson", "trials": EXPOSURE}, "trials: Poisson observations have no trials; they have exposure"),
        ({"exposure": EXPOSURE}, "exposure: normal noise has none; expected a likelihood of counts"),
        ({"likelihood": "poisson", "estimator": ks.KernelRidge()}, "likelihood: is of a Gaussian process"),
    ],
)
def test_what_cannot_be(options, said):
    with pytest.raises(ValueError, match=said):
        ks.select(X, Y, ["RBF"], **options)


def test_stacks_are_of_normal_noise():
    with pytest.raises(
        ValueError, match=r"estimators: expected normal noise, whose mixtures are known, got likelihood='poisson'"
    ):
        ks.StackedRegressor([ks.GaussianProcessRegressor(likelihood="poisson")]).fit(X, Y)


def test_studies_test_and_remark():
    table = table_of(read_frame(FRAME), "faults", exposure="hours")
    found = study(table, kernels=KERNELS, likelihood="poisson", criteria=["lml"], test=0.3, seed=1)
    tests = np.setdiff1d(np.arange(70), found.kept - 1)
    density = found.model.log_density(X[tests], Y[tests], exposure=EXPOSURE[tests]).mean()
    assert found.test["log_density"] == pytest.approx(density)
    low, high = found.model.predict_quantiles(X[tests], [0.025, 0.975], exposure=EXPOSURE[tests]).T
    assert found.test["coverage"] == np.mean((low <= Y[tests]) & (Y[tests] <= high))
    line = found.lines["lml"][0]
    left_out = found.model.left_out_predictive().quantiles([0.025, 0.975])[:, 0].T
    assert line.coverage == np.mean((left_out[0] <= found.model.y_train_) & (found.model.y_train_ <= left_out[1]))
    assert line.loo_rmse == pytest.approx(np.sqrt(np.mean(found.model.loo_residuals_**2)))
    with pytest.raises(
        ValueError, match="exposure: normal noise has none; expected a likelihood of counts, such as --likelihood"
    ):
        study(table, kernels=["RBF"])
    usual = study(table_of(read_frame(FRAME), "faults"), kernels=["RBF"], criteria=["lml"])
    assert any("--likelihood poisson is for these" in remark for remark in usual.remarks)


def test_equal_counts_are_no_copies():
    frame = pd.concat([FRAME.round({"x": 1})[["x", "faults"]]] * 2)
    found = study(table_of(read_frame(frame), "faults"), kernels=["RBF"], likelihood="poisson", criteria=["lml"])
    assert len(found.kept) == 140
    assert any("have the inputs of an earlier one: rows with equal inputs are left out together" in r for r in found.remarks)


def test_many_points_are_approximated():
    near = ks.select(X, Y, ["RBF"], likelihood="poisson", exposure=EXPOSURE, approximation=ks.Vecchia(10, 20))
    assert any(remark.startswith("Approximated for 70 points") for remark in near.remarks)
    assert "observed: Poisson counts" in near.describe()
    exact = ks.select(X, Y, ["RBF"], likelihood="poisson", exposure=EXPOSURE, approximation=None)
    assert near.best.log_density == pytest.approx(exact.best.log_density, abs=0.05)  # neighbours see nearly all


def test_nested_folds_are_scored_by_log_density():
    model = ks.GaussianProcessRegressor("RBF", likelihood="poisson")
    found = ks.nested_cv(model, X, Y, outer=3, params={"exposure": EXPOSURE})
    for fold in found.folds:
        train = np.setdiff1d(np.arange(70), fold.test)
        alone = ks.GaussianProcessRegressor("RBF", likelihood="poisson").fit(X[train], Y[train], exposure=EXPOSURE[train])
        density = alone.log_density(X[fold.test], Y[fold.test], exposure=EXPOSURE[fold.test]).mean()
        assert fold.scores["log_density"] == pytest.approx(density)
        np.testing.assert_allclose(found.predictions[fold.test], alone.predict(X[fold.test], exposure=EXPOSURE[fold.test]))
    normal = ks.nested_cv(ks.GaussianProcessRegressor("RBF"), X, Y, outer=3, scoring=["log_density", "r2"])
    test = normal.folds[0].test
    alone = ks.GaussianProcessRegressor("RBF").fit(np.delete(X, test, axis=0), np.delete(Y, test))
    assert normal.scores["log_density"][0] == pytest.approx(alone.log_density(X[test], Y[test]).mean())
    with pytest.raises(ValueError, match=r'scoring: with exposure, .* expected "log_density"'):
        ks.nested_cv(model, X, Y, outer=3, params={"exposure": EXPOSURE}, scoring="r2")
    with pytest.raises(TypeError, match='scoring: "log_density" is for Gaussian process regression, got KernelRidge'):
        ks.nested_cv(ks.KernelRidge(alpha="auto"), X, Y, outer=3, scoring="log_density")
