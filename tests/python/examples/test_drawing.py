"""Pictures of the examples."""

import numpy as np
import pytest

from kernsel.examples.drawing import draw_histograms, draw_predictions


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    draw_predictions(str(tmp_path / "predictions.png"), np.array([1.0, 2.0]), np.array([1.5, 1.8]), "size")
    draw_histograms(str(tmp_path / "histograms.svg"), {"some": np.array([0.1, 0.2]), "others": np.array([0.9])}, "probability")
    assert (tmp_path / "predictions.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "histograms.svg").read_text()
