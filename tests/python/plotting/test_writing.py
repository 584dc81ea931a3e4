"""Text that can be read."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text
from pairs import pairwise

from kernsel.plotting import (
    KernelDisplay,
    LCurveDisplay,
    LOODisplay,
    PathDisplay,
    PosteriorDisplay,
    SearchDisplay,
    styles,
)

DRAWN = {
    "path": lambda m: PathDisplay.from_estimator(m["process"], units={"y": "kg/m²"}),
    "lcurve": lambda m: LCurveDisplay.from_estimator(m["process"], target_name="a target of a long name"),
    "predictions": lambda m: LOODisplay.from_estimator(m["process"], target_name="a target of a long name", units={"y": "m"}),
    "residuals": lambda m: LOODisplay.from_estimator(m["process"], kind="residuals", labels=[f"site {i}" for i in range(30)]),
    "crowd": lambda m: LOODisplay.from_predictions(
        np.r_[np.zeros(60), np.full(6, 9.0)],
        np.r_[np.linspace(-1, 1, 60), np.full(6, 0.01)],
        kind="residuals",
        labels=[f"a long name {i}" for i in range(66)],
        most_names=9,
    ),
    "leverage": lambda m: LOODisplay.from_estimator(m["process"], kind="leverage"),
    "qq": lambda m: LOODisplay.from_estimator(m["process"], kind="qq"),
    "calibration": lambda m: LOODisplay.from_estimator(m["process"], kind="calibration"),
    "line": lambda m: PosteriorDisplay.from_estimator(m["table"], n_samples=2),
    "plane": lambda m: PosteriorDisplay.from_estimator(m["table"], columns=[0, 1]),
    "kernel": lambda m: KernelDisplay.from_estimator(m["table"]),
    "search": lambda m: SearchDisplay.from_estimator(m["found"]),
}


@pytest.mark.parametrize(("name", "style", "width"), pairwise(DRAWN, ["default", "dark_background"], [3.6, 8.0]))
def test_no_text_covers_another(name, style, width, process, table, found, monkeypatch):
    written = []
    draw = Text.draw

    def noted(text, renderer, *args, **kwargs):
        if text.get_visible() and text.get_text().strip():
            written.append((text.get_text(), text.get_window_extent(renderer)))
        return draw(text, renderer, *args, **kwargs)

    with plt.style.context(style), plt.rc_context({"figure.figsize": (width, 3.4 if width < 5 else 5.0)}):
        display = DRAWN[name]({"process": process, "table": table[2], "found": found})
        foreground = mpl.rcParams["text.color"]
        monkeypatch.setattr(Text, "draw", noted)
        display.figure_.canvas.draw()
    assert len(written) > 4
    whole = display.figure_.bbox
    for i, (text, box) in enumerate(written):
        assert whole.x0 - 1 < box.x0, text
        assert box.x1 < whole.x1 + 1, text
        assert whole.y0 - 1 < box.y0, text
        assert box.y1 < whole.y1 + 1, text
        for other, beside in written[:i]:
            assert not box.padded(-0.5).overlaps(beside), f"{text!r} covers {other!r}"
    legend = getattr(display, "legend_", None)
    if legend is not None:
        assert not any(legend.get_window_extent().overlaps(ax.bbox) for ax in display.figure_.axes)
        assert mpl.colors.same_color(legend.get_texts()[0].get_color(), foreground)
    assert styles.foreground() == mpl.rcParams["text.color"]
