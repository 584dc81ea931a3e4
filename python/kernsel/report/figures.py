"""The figures of a report, each with a description in words and numbers for readers who do not see it."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.plotting import LCurveDisplay, LOODisplay, PathDisplay, PosteriorDisplay, RootogramDisplay
from kernsel.plotting.loo import Kind
from kernsel.plotting.many import DRAWN, MANY
from kernsel.report.choices import Choices
from kernsel.report.drawing import COLORS, draw
from kernsel.report.findings import Findings
from kernsel.report.formats import count, date, listed, number, percent, short
from kernsel.report.inputs import Input
from kernsel.report.markup import Html, column, say
from kernsel.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["TICKS", "curve", "l_curve", "left_out", "line_of", "map_of", "rootogram", "slices_of"]

TICKS = 200  # the most rows that are drawn as ticks
_LABEL = 30  # letters of a name at an axis
_BARS = 120  # the most intervals that are drawn; more would hide each other


def left_out(study: Study, findings: Findings, kind: Kind) -> Html:
    """Return a figure of leave-one-out predictions, of one of the kinds of :class:`kernsel.plotting.LOODisplay`."""
    crowded = len(study.kept) > _BARS
    display = LOODisplay(
        y=findings.truth,
        predictions=findings.predicted,
        std=findings.std if np.isfinite(findings.std).all() else None,
        leverage=findings.leverage,
        standardized=findings.z,
        labels=[f"row {row}" for row in study.kept],
        others=study.others if study.others != "the others" else "all other points",
        quantiles=findings.quantiles,
    )

    def paint(figure: Figure) -> None:
        display.plot(figure.subplots(), kind=kind, target_name=short(study.target.name, _LABEL))
        if kind == "predictions" and crowded:
            for artist in (*display.intervals_, display.legend_):
                artist.remove()
        if kind == "leverage" and 2 * findings.leverage.mean() > 1 and display.legend_ is not None:
            # Leverages are at most 1, and the line at twice their mean is beyond: so its legend is removed.
            display.legend_.remove()
            display.ax_.set_xlim(right=1.02)

    title, alt, caption = {
        "predictions": _predictions,
        "leverage": _leverage,
        "qq": _quantiles,
        "calibration": _calibration,
    }[kind](study, findings)
    return draw(f"left-out-{kind}", title, alt, caption, paint, height=290)


def rootogram(study: Study, findings: Findings) -> Html:
    """Return a figure of observed and expected frequencies of counts."""
    assert findings.counts is not None
    display = RootogramDisplay(**findings.counts)
    observed, expected = display.observed, display.expected

    def paint(figure: Figure) -> None:
        display.plot(figure.subplots(), target_name=short(study.target.name, _LABEL))

    some = [
        f"{count(int(observed[k]))} rows of {k}, where {number(float(expected[k]))} are expected"
        for k in range(3)[: len(observed)]
    ]
    far = int(np.sum(np.abs(np.sqrt(observed) - np.sqrt(expected)) > 1))
    alt = f"Frequencies of counts: {listed(some)}. Of {len(observed)} bars, {far} end farther from zero than chance has it."
    caption = (
        "How often each count was found, hanging from how often it was to be expected, as roots. Bars that end above zero are "
        "of counts that are rarer than expected, below of more frequent ones; shaded is where chance leaves 95 % of the ends."
    )
    return draw("rootogram", "Observed and expected counts", alt, caption, paint, height=290)


def _rows(study: Study, indices: Indices) -> str:
    """Return the numbers of at most five rows, as the file has them."""
    rows = [count(int(study.kept[i])) for i in indices[:5]]
    return f"row{'s' if len(rows) > 1 else ''} {listed(rows)}"


def _predictions(study: Study, findings: Findings) -> tuple[str, str, str]:
    n, name = len(findings.truth), study.target.name
    outliers = f" Farthest off: {_rows(study, findings.outliers)}." if len(findings.outliers) else ""
    mark = "; bars are 95 % intervals" if n <= _BARS else "; the darker, the more rows" if n > MANY else ""
    return (
        "Predicted against measured",
        f"{count(n)} points: {name} predicted from all other rows, against {name} as measured. Root mean square error "
        f"{number(findings.rmse)}, {percent(findings.explained)} of the variance explained; {percent(findings.within / n)} of "
        f"the 95 % intervals hold what was measured.{outliers}",
        say("Each row predicted from all others, against what was measured{}. On the line both are equal.", mark),
    )


def _leverage(study: Study, findings: Findings) -> tuple[str, str, str]:
    mean, top = float(findings.leverage.mean()), int(np.argmax(findings.leverage))
    return (
        "Errors and leverage",
        f"Errors of rows left out, in their standard deviations, from {number(float(findings.z.min()), 2)} to "
        f"{number(float(findings.z.max()), 2)}, against leverage: {number(mean, 2)} on average, and at most "
        f"{number(float(findings.leverage[top]), 2)}, of row {count(int(study.kept[top]))}.",
        say(
            "Leverage is the weight of a row's own value in its fit: {} on average, {} at most, of row {}. Rows far to the "
            "right decide by themselves what is predicted there.",
            number(mean, 2),
            number(float(findings.leverage[top]), 2),
            count(int(study.kept[top])),
        ),
    )


def _quantiles(study: Study, findings: Findings) -> tuple[str, str, str]:
    del study
    n = len(findings.z)
    end = float(special.ndtri((n - 0.5) / n))
    return (
        "Quantiles of errors",
        f"Quantiles of the {count(n)} errors of rows left out, in their standard deviations, against those of a normal "
        f"distribution: from {number(float(findings.z.min()), 2)} to {number(float(findings.z.max()), 2)}, where "
        f"{number(-end, 2)} to {number(end, 2)} are expected.",
        "Are errors distributed as the model has it? On the line they are; ends that bend away from it are heavy tails.",
    )


def _calibration(study: Study, findings: Findings) -> tuple[str, str, str]:
    del study
    levels = np.array([0.5, 0.8, 0.95])
    shares = [
        f"{percent(float(share))} of the rows are in {percent(float(level))} intervals"
        for level, share in zip(levels, findings.within_shares(levels), strict=True)
    ]
    return (
        "Calibration of intervals",
        f"Share of rows within leave-one-out intervals, against their level: {listed(shares)}.",
        say("How many rows are in the intervals that the others give. {}", findings.calibration),
    )


def curve(study: Study, choices: Choices) -> Html:
    """Return a figure of the criteria for all lambda, with the choice of each rule."""

    def paint(figure: Figure) -> None:
        display = PathDisplay(path=choices.path, alpha=choices.alpha, rules=list(choices.rules), scale_known=True)
        display.plot(figure.subplots(2, 1, sharex=True, height_ratios=(3, 2)), target_name=short(study.target.name, 20))

    made = [choice for choice in (choices.model, *choices.rules.values()) if choice is not None and not choice.problem]
    phrases = [f"{one.title} has λ = {number(one.alpha)}, with error {number(one.rmse)}" for one in made]
    alt = f"Leave-one-out error, GCV, residual and likelihoods for all values of lambda: {'; '.join(phrases)}."
    caption = say(
        "The chosen kernel with every variance λ of the noise: what each rule looks at, and its choice. Errors are of {}.",
        column(study.target.name),
    )
    return draw("selection-curve", "Selection curve", alt, caption, paint, height=390)


def l_curve(study: Study, choices: Choices) -> Html:
    """Return a figure of the norm of the function against the norm of the residual, for all lambda."""

    def paint(figure: Figure) -> None:
        display = LCurveDisplay(path=choices.path, alpha=choices.alpha, rules=list(choices.rules), scale_known=True)
        display.plot(figure.subplots(), target_name=short(study.target.name, 20))

    corner = choices.rules.get("lcurve")
    where = "it has no corner" if corner is None or corner.problem else f"its corner is at λ = {number(corner.alpha)}"
    path = choices.path
    residuals, sizes = path.residual_norm, path.seminorm
    alt = (
        f"The L-curve: norm of the function, up to {number(float(sizes.max()))}, against norm of the residual, up to "
        f"{number(float(residuals.max()))}; {where}."
    )
    caption = (
        "The L-curve: how large the function is, against what it leaves of the data. At a corner, smoothing begins to cost."
    )
    return draw("l-curve", "L-curve", alt, caption, paint, height=390)


def line_of(study: Study, one: Input) -> Html:
    """Return a figure of the fit of a study with one input."""
    model, target = study.model, study.target.name
    X = model.X_train_
    low, high = float(X.min()), float(X.max())
    margin = 0.04 * (high - low)
    x = np.linspace(low - margin, high + margin, 240)
    function = model.prediction(x[:, None], level=0.95, noisy=False)
    rows = model.prediction(x[:, None], level=0.95, noisy=True)
    mean = function.mean
    assert rows.lower is not None
    assert rows.upper is not None
    display = PosteriorDisplay(
        grid=(x,),
        mean=mean,
        lower=function.lower,
        upper=function.upper,
        X=X,
        y=model.y_train_,
        names=[short(one.name, _LABEL)],
        target_name=short(target, _LABEL),
        band_name=function.band_name.format(level="95 %"),
    )

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.fill_between(x, rows.lower, rows.upper, color=COLORS["blue"], alpha=0.12, linewidth=0)
        display.plot(axes)
        _with_dates(axes, one)

    top, middle = int(np.argmax(mean)), len(x) // 2
    alt = (
        f"{target} over {one.name}: predicted {number(float(mean[0]))} at {one.shown(x[0])}, {number(float(mean[middle]))} at "
        f"{one.shown(x[middle])}, {number(float(mean[-1]))} at {one.shown(x[-1])}, largest, {number(float(mean[top]))}, at "
        f"{one.shown(x[top])}. New rows are from {number(float(rows.lower[middle]))} to "
        f"{number(float(rows.upper[middle]))} in the middle."
    )
    caption = say("Prediction of {}. The lighter band holds 95 % of new rows.", column(target))
    return draw("fit", f"Fit over {short(one.name)}", alt, caption, paint, height=270)


def map_of(study: Study, inputs: list[Input], *, of_std: bool) -> Html:
    """Return a map of the prediction over two inputs, or of its standard deviation."""
    model, target = study.model, study.target.name
    X = model.X_train_
    sides = [np.linspace(side.min(), side.max(), 60) for side in X.T]
    points = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    values = np.asarray(model.predict(points, return_std=True, noisy=False)[int(of_std)])
    what = f"standard deviation of {target}" if of_std else target
    display = PosteriorDisplay(
        grid=sides,
        mean=values.reshape(len(sides[1]), len(sides[0])),
        X=X,
        names=[short(one.name, _LABEL) for one in inputs],
        target_name=f"standard deviation of {short(target, 20)}" if of_std else short(target, _LABEL),
    )

    def paint(figure: Figure) -> None:
        display.plot(figure.subplots())
        for contours in display.contours_:
            contours.set_edgecolor("face")  # without edges, browsers leave gaps between areas

    dots = "the rows" if len(X) <= MANY else f"{count(DRAWN)} of the rows"
    top = int(np.argmax(values))
    where = listed([f"{one.name} = {one.shown(v)}" for one, v in zip(inputs, points[top], strict=True)])
    alt = (
        f"Map of the {what if of_std else f'predicted {what}'} over {inputs[0].name} and {inputs[1].name}: from "
        f"{number(float(values.min()))} to {number(float(values.max()))}, largest at {where}."
    )
    caption = (
        say("How unsure it is of the function, as a standard deviation; least near the rows. Dots are {}.", dots)
        if of_std
        else say("Prediction of {}. Dots are {}.", column(target), dots)
    )
    name = "doubt" if of_std else "fit"
    return draw(name, "Uncertainty" if of_std else "Fit", alt, caption, paint, height=270)


@dataclass(frozen=True)
class _Slice:
    """The prediction along one input."""

    input: Input
    x: Vector  # places on the axis
    mean: Vector
    lower: Vector  # the 95 % band of the function
    upper: Vector
    labels: list[str]  # of a category, the names of the levels


def slices_of(study: Study, inputs: list[Input], at: Vector, *, small: bool) -> list[Html]:
    """Return figures of the prediction along each of some inputs, the others as in the row `at`, all on the same scale."""
    slices = []
    for one in inputs:
        points, x, labels = _along(one, at, study.model.X_train_)
        found = study.model.prediction(points, level=0.95, noisy=False)
        assert found.lower is not None
        assert found.upper is not None
        slices.append(_Slice(one, x, found.mean, found.lower, found.upper, labels))
    low, high = min(s.lower.min() for s in slices), max(s.upper.max() for s in slices)
    margin = 0.05 * (high - low) or 1.0
    limits = (float(low - margin), float(high + margin))
    return [_slice(study, f"slice-{i}", one, limits, small) for i, one in enumerate(slices)]


def _slice(study: Study, name: str, of: _Slice, limits: tuple[float, float], small: bool) -> Html:
    one, target = of.input, study.target.name

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        if of.labels:
            ends = np.maximum([of.mean - of.lower, of.upper - of.mean], 0.0)
            axes.errorbar(of.x, of.mean, yerr=ends, fmt="o", color=COLORS["blue"], markersize=5, elinewidth=1.4, capsize=3)
            slanted = len(of.labels) > 3 or max(map(len, of.labels)) > 10
            rotation = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
            axes.set_xticks(of.x, [short(label, 16) for label in of.labels], **rotation)
            axes.set_xlim(-0.5, len(of.x) - 0.5)
        else:
            axes.fill_between(of.x, of.lower, of.upper, color=COLORS["blue"], alpha=0.25, linewidth=0)
            axes.plot(of.x, of.mean, color=COLORS["blue"])
            values = study.model.X_train_[:, one.places[0]]
            ticks = values[np.linspace(0, len(values) - 1, min(len(values), TICKS)).round().astype(int)]
            style = {"color": COLORS["muted"], "markersize": 5, "alpha": 0.5, "linestyle": "none", "markeredgewidth": 0.7}
            axes.plot(ticks, np.full(len(ticks), 0.025), marker="|", transform=axes.get_xaxis_transform(), **style)
            axes.margins(x=0.01)
            axes.locator_params(axis="x", nbins=5)
            _with_dates(axes, one)
        axes.set(xlabel=short(one.name, _LABEL), ylabel=short(target, _LABEL), ylim=limits)

    least, top = int(np.argmin(of.mean)), int(np.argmax(of.mean))
    names = of.labels or [one.shown(v) for v in of.x]
    variation = float(np.ptp(of.mean) / np.abs(of.mean).max()) if of.mean.any() else 1.0
    digits = 3 if variation > 0.02 else min(2 - floor(log10(max(variation, 1e-6))), 8)  # enough for the ends to differ
    ends = f"from {number(of.mean[least], digits)} at {names[least]} to {number(of.mean[top], digits)} at {names[top]}"
    half = number(np.median(of.upper - of.lower) / 2, 2)
    alt = f"{target} as predicted along {one.name}, all other inputs at their middle: {ends}, ±{half}."
    size: dict[str, float] = {"width": 260, "height": 185} if small else {"height": 220}
    return draw(name, f"Prediction along {short(one.name)}", alt, say("{}: {}", column(one.name), ends), paint, **size)


def _with_dates(axes: Axes, one: Input) -> None:
    """Label an axis of days with dates."""
    if one.kind == "date":
        axes.locator_params(axis="x", nbins=4)
        axes.xaxis.set_major_formatter(lambda day, _: date(day))


def _along(one: Input, at: Vector, X: Matrix) -> tuple[Matrix, Vector, list[str]]:
    """Return rows along an input, their places on an axis, and their names if they are levels."""
    if one.kind not in ("category", "boolean"):
        values = X[:, one.places[0]]
        x = np.linspace(values.min(), values.max(), 80)
        points = np.repeat(at[None, :], len(x), axis=0)
        points[:, one.places[0]] = x
        return points, x, []
    codes = np.unique(X[:, one.places], axis=0)
    codes = codes[(codes == codes.round()).all(axis=1)]  # without means of levels, which stand for missing values
    codes = codes[np.lexsort(codes.T)]
    points = np.repeat(at[None, :], len(codes), axis=0)
    points[:, one.places] = codes
    return points, np.arange(len(codes), dtype=np.float64), [one.level_of(code) for code in codes]
