"""The figures of a report: each with what it shows in words and numbers, for those who do not see it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from kernsel.report.choices import Choices
from kernsel.report.drawing import COLORS, draw
from kernsel.report.findings import Findings
from kernsel.report.formats import count, listed, number, percent, short
from kernsel.report.inputs import Input
from kernsel.report.markup import Html, column, say
from kernsel.study import Study

__all__ = ["calibration", "curve", "l_curve", "leverage", "map_of", "quantiles", "slice_of", "truth"]

Vector = NDArray[np.float64]

_MOST = 4000  # points of a figure; of more, some are drawn, and all that are named
_LABEL = 34  # letters of a name at an axis
_NAMED = 6  # points at most


def points_style(n: int) -> dict[str, Any]:
    """Return how n points are drawn: smaller and fainter, the more there are."""
    size, alpha = (4.6, 0.75) if n <= 150 else (3.6, 0.6) if n <= 700 else (2.6, 0.45)
    return {"marker": "o", "linestyle": "none", "markersize": size, "alpha": alpha, "markeredgewidth": 0}


def some_of(n: int, named: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which points are drawn."""
    if n <= _MOST:
        return np.arange(n)
    return np.union1d(np.linspace(0, n - 1, _MOST).round().astype(int), named)


def truth(study: Study, findings: Findings) -> Html:
    """Return predictions of points left out against what was measured."""
    named = findings.outliers[:_NAMED]
    n = len(findings.truth)
    shown = some_of(n, named)
    name = study.target.name

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        both = np.concatenate([findings.truth, findings.predicted])
        low, high = both.min(), both.max()
        room = 0.04 * (high - low) or 1.0
        limits = (low - room, high + room)
        axes.plot(limits, limits, color=COLORS["muted"], linewidth=1, dashes=(4, 3))
        if n <= 250:
            width = special.ndtri(0.975) * findings.std
            axes.errorbar(
                findings.predicted, findings.truth, xerr=width, fmt="none", ecolor=COLORS["blue"], elinewidth=0.7, alpha=0.3
            )
        axes.plot(findings.predicted[shown], findings.truth[shown], color=COLORS["blue"], **points_style(n))
        axes.plot(findings.predicted[named], findings.truth[named], "o", color=COLORS["red"], markersize=4.6, markeredgewidth=0)
        axes.set(xlim=limits, ylim=limits, xlabel=f"{short(name, _LABEL)}, predicted from the other rows", ylabel=short(name, _LABEL))
        _name_rows(axes, study, named, findings.predicted, findings.truth)

    far = f"; rows {listed([count(int(study.kept[i])) for i in named])} are farther off than three standard deviations" if len(named) else ""
    alt = (
        f"{count(n)} points: {name} as measured against its prediction from all other rows. Root mean square error "
        f"{number(findings.rmse)}; {percent(findings.explained)} of the variance explained{far}."
    )
    bars = " Bars are 95 % intervals." if n <= 250 else "" if n <= _MOST else f" {count(len(shown))} of {count(n)} rows are drawn."
    caption = say("Each row as measured, against its prediction from all other rows. On the dashed line they are equal.{}", bars)
    return draw("truth", "Measured against predicted", alt, caption, paint, height=300)


def leverage(study: Study, findings: Findings) -> Html:
    """Return errors of points left out against their leverage."""
    named = np.union1d(findings.outliers[:_NAMED], np.argsort(-findings.leverage)[:2])
    n = len(findings.z)
    shown = some_of(n, named)

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        for level in (-3, 3):
            axes.axhline(level, color=COLORS["muted"], linewidth=1, dashes=(4, 3))
        axes.plot(findings.leverage[shown], findings.z[shown], color=COLORS["blue"], **points_style(n))
        far = findings.outliers[:_NAMED]
        axes.plot(findings.leverage[far], findings.z[far], "o", color=COLORS["red"], markersize=4.6, markeredgewidth=0)
        axes.set(xlabel="leverage: weight of a row's own value in its fit", ylabel="error left out, in its std. deviations")
        _name_rows(axes, study, named, findings.leverage, findings.z)

    top = int(np.argmax(findings.leverage))
    alt = (
        f"Errors of {count(n)} points left out, in their standard deviations, against leverage, which is "
        f"{number(float(findings.leverage.mean()), 2)} on average and {number(float(findings.leverage[top]), 2)} at most, in row "
        f"{count(int(study.kept[top]))}. {count(len(findings.outliers))} points are beyond three standard deviations."
    )
    caption = say(
        "Rows to the right decide their own fit: leverage is {} on average. Beyond the dashed lines at ±3 a row is unlike the others.",
        number(float(findings.leverage.mean()), 2),
    )
    return draw("leverage", "Errors and leverage", alt, caption, paint, height=300)


def calibration(findings: Findings) -> Html:
    """Return how many points are within intervals of all sizes, against how many should be."""
    n = len(findings.z)
    nominal = np.linspace(0.02, 0.99, 98)
    observed = findings.within_shares(nominal)
    low, high = (stats.binom.ppf(level, n, nominal) / n for level in (0.025, 0.975))

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.fill_between(100 * nominal, 100 * low, 100 * high, color=COLORS["muted"], alpha=0.18, linewidth=0)
        axes.plot([0, 100], [0, 100], color=COLORS["muted"], linewidth=1, dashes=(4, 3))
        axes.plot(100 * nominal, 100 * observed, color=COLORS["blue"])
        axes.set(xlim=(0, 100), ylim=(0, 100), xlabel="interval, %", ylabel="rows within it, %")

    at = {level: float(findings.within_shares(np.array([level]))[0]) for level in (0.5, 0.8, 0.95)}
    shares = [f"{percent(share)} of the rows in {percent(level)} intervals" for level, share in at.items()]
    outside = (observed < low - 1e-9) | (observed > high + 1e-9)
    inside = "all within" if not outside.any() else f"{percent(float(outside.mean()))} of the curve outside"
    alt = f"Share of rows within leave-one-out intervals against their nominal level: {listed(shares)}; {inside} what chance allows."
    wide = observed.mean() - nominal.mean()
    verdict = (
        "They hold what they promise."
        if not outside.any()
        else "They are too wide: the model knows more than it says."
        if wide > 0.02
        else "They are too narrow: the model is too sure."
        if wide < -0.02
        else "Where the line leaves the band, errors are not Gaussian."
    )
    caption = say("How many rows the intervals that other rows give contain. In the grey band it may be chance. {}", verdict)
    return draw("calibration", "Calibration of intervals", alt, caption, paint)


def quantiles(study: Study, findings: Findings) -> Html:
    """Return errors in units of their standard deviations against those of a normal distribution."""
    n = len(findings.z)
    order = np.argsort(findings.z)
    expected = special.ndtri((np.arange(1, n + 1) - 0.5) / n)
    named = findings.outliers[:_NAMED]
    rank = np.empty(n, dtype=int)
    rank[order] = np.arange(n)
    shown = some_of(n, rank[named])

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        reach = 1.05 * float(np.abs(expected).max()) or 1.0
        axes.plot([-reach, reach], [-reach, reach], color=COLORS["muted"], linewidth=1, dashes=(4, 3))
        axes.plot(expected[shown], findings.z[order][shown], color=COLORS["blue"], **points_style(n))
        axes.plot(expected[rank[named]], findings.z[named], "o", color=COLORS["red"], markersize=4.6, markeredgewidth=0)
        axes.set(xlabel="normal quantile", ylabel="error left out, in its std. deviations")
        _name_rows(axes, study, named, expected[rank], findings.z)

    alt = (
        f"Quantiles of {count(n)} errors of points left out, in their standard deviations, against those of a normal distribution: "
        f"from {number(float(findings.z.min()), 2)} to {number(float(findings.z.max()), 2)}, where "
        f"{number(float(expected[0]), 2)} to {number(float(expected[-1]), 2)} are expected."
    )
    caption = "Are errors as the model takes them to be? On the dashed line they are; ends that bend away are heavy tails."
    return draw("quantiles", "Quantiles of errors", alt, caption, paint)


def _name_rows(axes: Any, study: Study, which: NDArray[np.intp], x: Vector, y: Vector) -> None:
    """Write the numbers of rows beside points, away from the nearer side."""
    low, high = axes.get_xlim()
    for i in which:
        left = x[i] > 0.5 * (low + high)
        axes.annotate(
            f"row {int(study.kept[i])}",
            (x[i], y[i]),
            xytext=(-5 if left else 5, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=8,
        )


_MARKS = {
    "loo": ("blue", "o"),
    "gcv": ("red", "s"),
    "reml": ("green", "^"),
    "lml": ("green", "^"),
    "discrepancy": ("purple", "D"),
    "lcurve": ("sky", "P"),
}


def curve(choices: Choices, target: str) -> Html:
    """Return what rules look at, for all lambda, and where each is best."""
    found = [choice for choice in choices.choices if np.isfinite(choice.alpha)]
    curves = choices.curves

    def paint(figure: Any) -> None:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        likelihood = getattr(curves, choices.likelihood)
        lines = {"loo": np.sqrt(curves.loo), "gcv": np.sqrt(curves.gcv)}
        for rule, values in lines.items():
            upper.plot(curves.alphas, values, color=COLORS[_MARKS[rule][0]], linestyle="--" if rule == "gcv" else "-")
        lower.plot(curves.alphas, likelihood, color=COLORS["green"])
        least = min(float(values.min()) for values in lines.values())
        most = float(lines["loo"].max())
        if most > 8 * least:
            upper.set_yscale("log")
        upper.set_ylim(least - 0.06 * (most - least) if most <= 8 * least else 0.8 * least, 1.06 * most)
        best = float(likelihood.max())
        drop = max(best - float(np.median(likelihood)), 2.0)
        lower.set_ylim(best - 1.5 * drop, best + 0.15 * drop)
        for axes in (upper, lower):
            axes.set_xscale("log")
            axes.set_xlim(curves.alphas[0], curves.alphas[-1])
        for choice in found:
            if choice.rule == "model":
                for axes in (upper, lower):
                    axes.axvline(choice.alpha, color=COLORS["ink"], linewidth=1, linestyle=":")
                upper.plot([], [], color=COLORS["ink"], linewidth=1, linestyle=":", label="the model")
                continue
            color, marker = _MARKS[choice.rule]
            on_likelihood = choice.rule in ("reml", "lml")
            axes = lower if on_likelihood else upper
            values = choices.path.at(choice.alpha)
            height = float(getattr(values, choices.likelihood)[0]) if on_likelihood else float(np.sqrt(getattr(values, "gcv" if choice.rule == "gcv" else "loo")[0]))
            axes.plot([choice.alpha], [height], marker, color=COLORS[color], markersize=7, label=choice.title, linestyle="none", clip_on=True, zorder=3)
            if choice.alpha > curves.alphas[-1] or choice.alpha < curves.alphas[0]:
                continue
        upper.set_ylabel("leave-one-out, GCV error")
        lower.set_ylabel("log likelihood")
        lower.set_xlabel("λ, variance of the noise")
        handles = [h for axes in (upper, lower) for h in axes.get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)

    said = [f"{choice.title} chooses {number(choice.alpha)}, with error {number(choice.rmse)}" for choice in found]
    alt = f"Leave-one-out error, GCV and likelihood for all values of lambda: {'; '.join(said)}."
    caption = say(
        "The kernel as it was chosen, and every value of the noise variance λ: what each rule looks at, and its choice. Errors are "
        "those of {}.",
        column(target),
    )
    return draw("curve", "Selection curve", alt, caption, paint, height=330)


def l_curve(choices: Choices) -> Html:
    """Return the size of the function against what it leaves of the data, for all lambda."""
    curves = choices.curves
    found = [choice for choice in choices.choices if np.isfinite(choice.alpha)]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.plot(curves.residual_norm, curves.seminorm, color=COLORS["muted"])
        axes.set(xscale="log", yscale="log", xlabel="norm of the residual, |y − f|", ylabel="norm of the function, |f|")
        limits = axes.get_xlim(), axes.get_ylim()
        for choice in found:
            values = choices.path.at(choice.alpha)
            at = values.residual_norm, values.seminorm
            if choice.rule == "model":
                axes.plot(*at, "o", color=COLORS["ink"], markerfacecolor="none", markersize=11, label="the model", linestyle="none")
            else:
                color, marker = _MARKS[choice.rule]
                axes.plot(*at, marker, color=COLORS[color], markersize=6.5, label=choice.title, linestyle="none")
        axes.set(xlim=limits[0], ylim=limits[1])
        figure.legend(loc="outside lower center", ncols=3)

    corner = next((choice for choice in choices.choices if choice.rule == "lcurve"), None)
    where = f"its corner is at lambda = {number(corner.alpha)}" if corner and np.isfinite(corner.alpha) else "it has no corner"
    alt = (
        f"The L-curve: norm of the function, from {number(float(curves.seminorm.min()))} to {number(float(curves.seminorm.max()))}, against "
        f"norm of the residual, from {number(float(curves.residual_norm.min()))} to {number(float(curves.residual_norm.max()))}; {where}."
    )
    caption = "How large the function is against what it leaves of the data. A corner, where it has one, is where smoothing begins to cost."
    return draw("lcurve", "L-curve", alt, caption, paint, height=330)


def slice_of(study: Study, name: str, one: Input, at: Vector, *, alone: bool) -> Html:
    """Return the prediction along one input, the others at a row that is given."""
    model, target = study.model, study.target.name
    others = "" if alone else ", the other inputs at their medians"
    discrete = one.kind in ("category", "boolean")
    X = model.X_train_
    if discrete:
        points, labels = levels_of(one, at)
        x = np.arange(len(points), dtype=np.float64)
    else:
        place = one.places[0]
        low, high = float(X[:, place].min()), float(X[:, place].max())
        reach = 0.04 * (high - low) if alone else 0.0
        x = np.linspace(low - reach, high + reach, 200 if alone else 80)
        points = np.repeat(at[None, :], len(x), axis=0)
        points[:, place] = x
        labels = []
    mean, std = model.predict(points, return_std=True)
    half = special.ndtri(0.975) * std
    wide = special.ndtri(0.975) * model.predict(points, return_std=True, noisy=True)[1]
    shown = some_of(len(X), np.zeros(0, dtype=np.intp))

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        if discrete:
            axes.errorbar(x, mean, yerr=half, fmt="o", color=COLORS["blue"], markersize=5, elinewidth=1.4, capsize=3)
            axes.set_xticks(x, [short(label, 14) for label in labels], rotation=30 if len(x) > 4 else 0, ha="right" if len(x) > 4 else "center")
            axes.set_xlim(-0.5, len(x) - 0.5)
        else:
            if alone:
                axes.fill_between(x, mean - wide, mean + wide, color=COLORS["blue"], alpha=0.12, linewidth=0, label="95 % of rows")
            axes.fill_between(x, mean - half, mean + half, color=COLORS["blue"], alpha=0.25, linewidth=0, label="95 % of the function")
            axes.plot(x, mean, color=COLORS["blue"], label="prediction")
            if alone:
                axes.plot(X[shown, one.places[0]], model.y_train_[shown], color=COLORS["ink"], label="rows", **points_style(len(X)))
                figure.legend(loc="outside lower center", ncols=4 if alone else 3)
            else:
                low, high = axes.get_ylim()
                ticks = X[some_of(min(len(X), 300), np.zeros(0, dtype=np.intp)), one.places[0]]
                axes.plot(ticks, np.full(len(ticks), low), "|", color=COLORS["muted"], markersize=6, alpha=0.5, clip_on=False)
                axes.set_ylim(low, high)
            axes.margins(x=0.01)
        axes.set(xlabel=short(one.name, _LABEL), ylabel=short(target, _LABEL))

    best = int(np.argmax(mean))
    span = f"from {number(float(mean.min()))} to {number(float(mean.max()))}"
    where = f"{labels[best]}" if discrete else number(float(x[best]))
    alt = f"Predicted {target} by {one.name}{others}: {span}, largest at {where}; 95 % band of half width {number(float(np.median(half)), 2)} typically."
    caption = (
        say("Prediction by {}, with bands that hold 95 % of the function and of new rows.", column(one.name))
        if alone
        else say("By {}: {}.", column(one.name), span)
    )
    return draw(name, f"Fit by {short(one.name)}", alt, caption, paint, height=270 if alone else 200)


def levels_of(one: Input, at: Vector) -> tuple[Vector, list[str]]:
    """Return a row for each level of a category or a boolean, and what they are called."""
    if one.kind == "boolean":
        points = np.repeat(at[None, :], 2, axis=0)
        points[:, one.places[0]] = (0.0, 1.0)
        return points, list(one.levels) if len(one.levels) == 2 else ["0", "1"]
    extra = len(one.levels) - len(one.places)  # a first level that has no column of its own
    points = np.repeat(at[None, :], len(one.levels), axis=0)
    points[:, one.places] = np.eye(len(one.levels))[:, extra:]
    return points, list(one.levels)


def map_of(study: Study, inputs: list[Input], *, of_std: bool) -> Html:
    """Return the prediction over a plane of two inputs, or its standard deviation."""
    model, target = study.model, study.target.name
    X = model.X_train_
    first, second = inputs[0].places[0], inputs[1].places[0]
    sides = [np.linspace(X[:, i].min(), X[:, i].max(), 60) for i in (first, second)]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    points = np.empty_like(grid)
    points[:, [first, second]] = grid
    mean, std = model.predict(points, return_std=True)
    values = (std if of_std else mean).reshape(len(sides[1]), len(sides[0]))
    shown = some_of(len(X), np.zeros(0, dtype=np.intp))

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.grid(visible=False)
        contours = axes.contourf(*sides, values, levels=14, cmap="cividis" if not of_std else "Purples")
        axes.plot(X[shown, first], X[shown, second], "o", color="white", markersize=3.2, markeredgewidth=0.6, markeredgecolor="black")
        axes.set(xlabel=short(inputs[0].name, _LABEL), ylabel=short(inputs[1].name, _LABEL))
        bar = figure.colorbar(contours, ax=axes, pad=0.02)
        bar.set_label(f"{short(target, 24)}, standard deviation" if of_std else short(target, _LABEL))
        bar.outline.set_visible(False)

    best = int(np.argmax(values))
    top = f"largest at {inputs[0].name} = {number(float(grid[best, 0]))}, {inputs[1].name} = {number(float(grid[best, 1]))}"
    what = f"Standard deviation of the predicted {target}" if of_std else f"Predicted {target}"
    alt = f"{what} over {inputs[0].name} and {inputs[1].name}: from {number(float(values.min()))} to {number(float(values.max()))}, {top}."
    caption = (
        "How sure it is of the function there, as a standard deviation. Circles are the rows."
        if of_std
        else say("Prediction over {} and {}. Circles are the rows.", column(inputs[0].name), column(inputs[1].name))
    )
    return draw("doubt" if of_std else "fit", "Doubt" if of_std else "Fit", alt, caption, paint, height=270)
