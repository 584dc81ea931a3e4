"""Nested cross-validation as a picture: the scores of its folds, and how optimistic the inner ones are."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.plotting import NestedDisplay

from plotted import ROUGH


def test_a_search_has_scores_of_the_same_kind(data):
    result = ks.nested_cv(ks.KernelRidge(ROUGH), *data, param_grid={"alpha": [0.01, 1.0]}, inner=2, outer=3)
    display = NestedDisplay.from_result(result)
    np.testing.assert_array_equal(display.outer_.get_data(), [[1, 2, 3], result.scores["score"]])
    np.testing.assert_array_equal(display.inner_.get_ydata(), result.inner_scores)
    assert display.inner_.axes is display.outer_.axes
    assert display.optimism_ == result.inner_scores.mean() - result.mean["score"]
    assert display.mean_.get_ydata()[0] == result.mean["score"]
    box = display.band_.get_extents().transformed(display.ax_.transData.inverted())
    assert (box.y1 - box.y0) / 2 == pytest.approx(result.std["score"])


def test_a_criterion_is_of_another_kind(data):
    result = ks.nested_cv(ks.KernelRidge(ROUGH, alpha="auto"), *data, outer=2, scoring=["r2", "neg_mean_absolute_error"])
    display = NestedDisplay.from_result(result, score="neg_mean_absolute_error")
    assert display.inner_.axes is display.axes_[1]
    assert np.isnan(display.optimism_)
    np.testing.assert_array_equal(display.outer_.get_ydata(), result.scores["neg_mean_absolute_error"])
    nothing = NestedDisplay.from_result(ks.nested_cv(ks.KernelRidge(ROUGH, alpha=0.1), *data, outer=2))
    assert (nothing.inner_, len(nothing.axes_)) == (None, 1)
    with pytest.raises(ValueError, match=r"^score: expected one of r2, neg_mean_absolute_error, got 'mse'"):
        NestedDisplay.from_result(result, score="mse")
    with pytest.raises(TypeError, match=r"^result: expected what kernsel.nested_cv returns, got dict"):
        NestedDisplay.from_result({})
