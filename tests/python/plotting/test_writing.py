"""Text that can be read."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text
from pairs import pairwise

from kernsel.plotting import (
    BiasVarianceDisplay,
    BoundaryDisplay,
    FeatureSpaceDisplay,
    KernelDisplay,
    LCurveDisplay,
    LOODisplay,
    PathDisplay,
    PosteriorDisplay,
    SearchDisplay,
    ValidationDisplay,
    styles,
)
from kernsel.plotting.writing import legend_below

PARAMETER = {"param_name": "kernel__length_scale", "values": [0.01, 0.1, 1.0, 10.0]}

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
    "validation": lambda m: ValidationDisplay(
        **PARAMETER, train=np.outer([0.1, 0.2, 0.4, 0.6], [0.9, 1.1]), validation=np.outer([0.9, 0.3, 0.5, 0.7], [0.8, 1.2])
    ).plot(units={"kernel__length_scale": "m"}),
    "names": lambda m: ValidationDisplay(
        param_name="kernel", values=[f"Matern({i}.125, nu=0.5)" for i in range(5)], train=np.ones(5), validation=np.ones(5)
    ).plot(),
    "fits": lambda m: BiasVarianceDisplay(**PARAMETER, **FITS).plot(kind="fits"),
    "classes": lambda m: BoundaryDisplay(
        grid=[np.arange(3.0)] * 2, probabilities=np.ones((3, 3, 4)) / 4, classes=["one", "two", "three", "many more"]
    ).plot(),
    "features": lambda m: FeatureSpaceDisplay(coordinates=np.eye(9, 2), shares=[0.61234, 0.1], y=np.arange(9) * 0.3).plot(),
}
FITS = {"predictions": np.random.default_rng(0).normal(size=(4, 6, 9)), "target": np.zeros(9), "x": np.arange(9)}


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


def test_overlays_keep_their_legends(process):
    first = PosteriorDisplay.from_estimator(process, line_kwargs={"label": "one"})
    texts = [text.get_text() for text in first.legend_.get_texts()]
    again = PosteriorDisplay.from_estimator(process, ax=first.ax_, line_kwargs={"label": "other", "color": styles.VERMILION})
    assert texts[0] == "one"
    assert "data" in texts
    # The data are the same, and are there once; bands have the colours of their lines.
    both = [text.get_text() for text in again.legend_.get_texts()]
    assert both == [*texts, "other", texts[1]]
    assert first.ax_.get_legend() is again.legend_
    colors = [again.legend_.legend_handles[at].get_facecolor()[:3] for at in (1, -1)]
    assert [mpl.colors.to_hex(color).upper() for color in colors] == [styles.BLUE, styles.VERMILION]
    third = LCurveDisplay.from_estimator(process)
    title = third.legend_.get_title().get_text()
    assert title
    assert LCurveDisplay.from_estimator(process, ax=third.ax_).legend_.get_title().get_text() == title
    (line,) = third.ax_.plot([1.0], [1.0], label="mine")
    joined = legend_below(third.ax_, [line], "another title", grow=False)
    assert joined.get_texts()[-1].get_text() == "mine"
    assert not joined.get_title().get_text()
