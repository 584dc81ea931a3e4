"""The L-curve: its marks are where they are by solving for them."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.plotting import (
    LCurveDisplay,
)

from plotted import ROUGH, gram, ridge_at


def test_the_marks_of_the_l_curve(data):
    X, y = data
    model = ks.KernelRidgeCV(ROUGH, sigma=0.4).fit(X, y)
    display = LCurveDisplay.from_estimator(model, target_name="force", units={"force": "N"})
    assert set(display.choices_) == {"loo", "gcv", "profiled_lml", "discrepancy"}
    assert "the L-curve has no corner" in display.problems_["lcurve"]
    x, z = display.line_.get_data()
    for rule, alpha in display.choices_.items():
        c = ridge_at(X, y, alpha)
        residual, norm = alpha * np.linalg.norm(c), np.sqrt(c @ gram(X) @ c)
        np.testing.assert_allclose(np.ravel(display.marks_[rule].get_data()), [residual, norm], rtol=1e-6)
        assert np.interp(np.log(residual), np.log(x), np.log(z)) == pytest.approx(np.log(norm), abs=0.01)
    assert np.ptp(display.marks_["model"].get_xdata()) == 0
    assert display.decades_.get_xdata()[0] < display.decades_.get_xdata()[-1]
    assert "(N)" in display.ax_.get_xlabel()
    assert "force" in display.ax_.get_xlabel()
    assert display.marks_["discrepancy"].get_xdata()[0] == pytest.approx(30**0.5 * 0.4, rel=1e-6)
