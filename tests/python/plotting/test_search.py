"""Searches: the kernels that were tried, and where starts led."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.plotting import (
    LOODisplay,
    SearchDisplay,
)


def test_kernels_that_were_tried(found, data):
    display = SearchDisplay.from_estimator(found)
    values = [one.value for one in found.tried]
    assert sorted(display.names)[1:] == ["Matern(nu=1.5)", "Precomputed([[1, 0, 0], [0, 1, 0], [0, 0, 1]])", "RBF"]
    np.testing.assert_allclose(display.best_.get_offsets()[0], [values[0], 0.0])
    shown = {tuple(point) for point in np.asarray(display.scatter_.get_offsets()).round(12)}
    assert (round(values[1], 12), 1.0) in shown
    said = [text.get_text() for text in display.texts_]
    assert any(text.startswith("not fitted: precomputed") for text in said)
    assert said[1] == f"{values[0]:.6g}"
    assert "mean squared leave-one-out error, smaller is better" in display.ax_.get_xlabel().replace("\n", " ")
    assert "2 more were tried" in SearchDisplay.from_estimator(found, max_rows=2).ax_.get_xlabel().replace("\n", " ")
    assert LOODisplay.from_estimator(found).residuals_ == pytest.approx(found.best_estimator_.loo_residuals_)
    support = ks.SVR(RBF("auto"), C="auto", epsilon=0.1).fit(*data)
    display = SearchDisplay.from_estimator(support)
    assert display.values.tolist() == [one.value for one in support.selection_.table]
    assert display.best_.get_offsets()[0, 0] == pytest.approx(support.criterion_value_)


def test_where_starts_led(table):
    model = table[2]
    display = SearchDisplay.from_estimator(model)
    starts = model.selection_.of_starts
    np.testing.assert_allclose(display.values, starts)
    assert display.names[display.order_[0]] == f"start {np.nanargmax(starts) + 1}"
    assert np.allclose(display.best_.get_offsets(), [[starts.max(), 0.0]])
    assert display.values[display.order_].tolist() == sorted(starts, reverse=True)
    far = SearchDisplay(names="abcd", values=[0.0, -1.0, -2.0, -1e6]).plot()
    assert far.ax_.get_xlim()[0] > -20  # the others can be told apart
    assert far.texts_[-1].get_text() == "\N{MINUS SIGN}1e+06"
    with pytest.raises(ValueError, match="values: expected one for each of 1 names"):
        SearchDisplay(names=["a"], values=[1.0, 2.0])
