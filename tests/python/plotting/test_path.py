"""The path of regularization: its curves are what refits say."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.plotting import (
    LCurveDisplay,
    PathDisplay,
    writing,
)

from plotted import NOISE, ROUGH, gram, refitted, ridge_at


def test_the_curves_of_the_path(data, process):
    X, y = data
    display = PathDisplay.from_estimator(process, *data, target_name="force", units={"force": "N"})
    K, n = gram(X), len(y)
    best = display.choices_
    assert list(best) == ["loo", "gcv", "lml", "discrepancy"]

    def likelihood(alpha):
        return stats.multivariate_normal.logpdf(y, cov=K + alpha * np.eye(n)) / n

    for at in (100, 120, 150):
        alpha = display.lines_["loo"].get_xdata()[at]
        c = ridge_at(X, y, alpha)
        trace = np.trace(np.linalg.inv(K + alpha * np.eye(n)))
        means, _ = refitted(X, y, alpha)
        assert display.lines_["loo"].get_ydata()[at] == pytest.approx(np.sqrt(np.mean((y - means) ** 2)), rel=1e-6)
        assert display.lines_["gcv"].get_ydata()[at] == pytest.approx(np.sqrt(n) * np.linalg.norm(c) / trace, rel=1e-6)
        assert display.lines_["residual"].get_ydata()[at] == pytest.approx(alpha * np.sqrt(np.mean(c**2)), rel=1e-6)
        below = likelihood(alpha) - likelihood(best["lml"])
        assert display.lines_["lml"].get_ydata()[at] == pytest.approx(below, abs=1e-8)
    assert display.marks_["model"][0].get_xdata()[0] == pytest.approx(NOISE)
    assert display.marks_["discrepancy"].get_ydata()[0] == pytest.approx(NOISE**0.5)
    for tick, label in zip(display.dof_axis_.get_xticks(), display.dof_axis_.get_xticklabels(), strict=True):
        freedom = np.trace(np.linalg.solve(K + tick * np.eye(n), K))
        assert freedom == pytest.approx(float(label.get_text()), rel=0.02)
    said = [text.get_text() for text in display.legend_.get_texts()]
    assert f"leave-one-out: {writing.short_number(best['loo'])}" in said
    assert "of the model: 0.05" in said
    assert display.ax_.get_ylabel() == "error of force (N)"


def test_where_a_rule_finds_nothing(data):
    X, y = data
    display = PathDisplay(path=ks.RegularizationPath(ROUGH, y, X=X, sigma=100.0)).plot()
    assert "the noise explains all of y" in display.problems_["discrepancy"]
    assert "discrepancy: none" in [text.get_text() for text in display.legend_.get_texts()]
    assert "discrepancy" not in display.marks_
    with pytest.raises(ValueError, match="sigma"):
        PathDisplay(path=ks.RegularizationPath(ROUGH, y, X=X), rules=["discrepancy"])
    with pytest.raises(ValueError, match=r"rules: expected some of lml, .*, got 'best'"):
        LCurveDisplay(path=ks.RegularizationPath(ROUGH, y, X=X), rules=["best"])
