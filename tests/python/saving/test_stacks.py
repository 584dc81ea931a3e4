"""Stacked processes that were loaded, and files of them that are damaged."""

import re

import numpy as np
import pytest

import kernsel as ks
from kernsel.saving import stacks

import saved
from same import assert_same


def test_all_of_the_mixture_is_there_again(again):
    for name in ("stack", "stack of a table, two outputs"):
        model, Z = saved.model(name), saved.points(name)
        assert len(model.weights_) > 1
        loaded = again(model)
        np.testing.assert_array_equal(loaded.weights_, model.weights_)
        np.testing.assert_array_equal(loaded.kept_, model.kept_)
        if name == "stack":  # the other has noise of each point
            assert_same(model.predict_quantiles(Z, [0.1, 0.9]), loaded.predict_quantiles(Z, [0.1, 0.9]), "quantiles")
        assert_same(model.predict(Z, True, noisy=False), loaded.predict(Z, True, noisy=False), "std")
        assert_same(model.loo_log_density_, loaded.loo_log_density_, "left out")
        assert [one.get_params()["criterion"] for one in loaded.estimators] == [one.criterion for one in model.estimators]


@pytest.mark.parametrize(
    ("weights", "kept", "message"),
    [
        ([0.5, 0.3, 0.3], [0, 1, 2], "weights: expected numbers of sum 1, got 1.1"),
        ([0.5, 0.5, 0.0], [0, 1, 2], "weights: expected numbers from "),
        ([0.5, 0.25, 0.25], [1, 1, 2], "kept: expected increasing places of estimators"),
        ([0.5, 0.25, 0.25], [0, 1, 9], "kept: expected increasing places of estimators"),
        ([1.0], [0], "weights: expected an array of shape (3)"),
    ],
)
def test_weights_that_are_none(tmp_path, monkeypatch, weights, kept, message):
    def written(model, to):
        stacks.write_stack(model, to)
        to.array("weights", np.array(weights))
        to.array("kept", np.array(kept))

    form = ks.saving.FORMS["StackedRegressor"]
    monkeypatch.setitem(ks.saving.FORMS, "StackedRegressor", type(form)(form.estimator, written, form.read))
    ks.save(saved.model("stack"), tmp_path / "a.ksl")
    with pytest.raises(ValueError, match=re.escape(message)):
        ks.load(tmp_path / "a.ksl")


def test_processes_of_other_points_are_no_stack(tmp_path):
    model = ks.StackedRegressor(saved.model("stack").estimators)
    other = ks.GaussianProcessRegressor("RBF", noise="auto").fit(saved.X + 1, saved.y)
    model.restore([saved.model("stack").estimators_[0], other], np.array([0.5, 0.5]), np.array([0, 1]))
    ks.save(model, tmp_path / "a.ksl")
    with pytest.raises(ValueError, match="processes: expected all of them to be of the same points and targets"):
        ks.load(tmp_path / "a.ksl")
