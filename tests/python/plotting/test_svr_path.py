"""The path of support vector regression: its scores as they are computed, and the best pair."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.plotting import SVRPathDisplay

from plotted import ROUGH


def test_scores_and_the_best_pair(data):
    path = ks.SVRPath(*data, ROUGH, Cs=[0.1, 1.0, 10.0], epsilons=[0.05, 0.3])
    for options in ({}, {"criterion": "kfold", "scoring": "squared", "folds": 3}):
        display = SVRPathDisplay.from_path(path, **options, units={"y": "N"})
        scores = path.scores(**options)
        for j in range(2):
            np.testing.assert_array_equal(display.lines_[j].get_data(), [path.Cs, scores[:, j]])
            np.testing.assert_array_equal(display.support_lines_[j].get_ydata(), path.n_support[:, j] / 30)
        assert display.best_ == path.best(**options)
        assert display.mark_.get_xdata()[0] == display.best_[0]
        assert display.mark_.get_ydata()[0] == scores.min()
    assert display.ax_.get_ylabel().replace("\n", " ") == "mean squared error of y (N²), left out in folds"
    assert [text.get_text() for text in display.legend_.get_texts()][:2] == ["ε = 0.3", "ε = 0.05"]
    with pytest.raises(ValueError, match=r"^criterion: expected one of kfold, loo, got 'gcv'"):
        SVRPathDisplay.from_path(path, criterion="gcv")
    with pytest.raises(TypeError, match=r"^path: expected a kernsel.SVRPath, got SVR"):
        SVRPathDisplay.from_path(ks.SVR(ROUGH))
