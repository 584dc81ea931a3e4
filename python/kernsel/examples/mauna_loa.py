"""Carbon dioxide in the air at Mauna Loa: `python -m kernsel.examples.mauna_loa [plot.png]`.

The kernel is a sum of terms, as in the best known example of Gaussian processes (C. Rasmussen and C. Williams, 2006,
section 5.4.3). The example shows what each term adds to the likelihood, describes the terms in words, and forecasts.
`ks.select(X, y, kernels="search", criterion="reml")` finds the same sum by itself, in some fifteen seconds.
"""

from __future__ import annotations

import sys

import numpy as np

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.examples.data import mauna_loa
from kernsel.examples.drawing import BLUE, ORANGE, figure_of
from kernsel.kernels import RBF, ExpSineSquared, Matern, RationalQuadratic
from kernsel.study.structure import terms_of

__all__ = ["main"]


UNTIL = 1992.0  # the end of the training data; later months are forecast

YEAR = ExpSineSquared("auto", periodicity=1.0, periodicity_bounds="fixed")
CHANGING = YEAR * RBF("auto")  # the amplitude of the yearly pattern has grown over the decades, by about a fifth
KERNELS = {
    "smooth trend": RBF("auto"),
    "  + a pattern of a year": RBF("auto") + YEAR,
    "  + one that changes slowly": RBF("auto") + CHANGING,
    "  + what lasts some months": RBF("auto") + CHANGING + RationalQuadratic("auto"),
    "all that, rougher": Matern("auto", nu=1.5) + CHANGING + Matern("auto", nu=0.5),
}


def main(plot: str | None = None) -> None:
    """Compare sums of kernels, describe the best one in words, and forecast ten years.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw the forecasts into; needs matplotlib.
    """
    time, co2 = mauna_loa()
    X, past = time[:, None], time < UNTIL
    print(f"Means of CO2 in ppm: {past.sum()} months until 1991 to learn from, {(~past).sum()} until 2001 to forecast.\n")
    models = {
        name: ks.select(X[past], co2[past], [kernel], "reml", noise="auto", trend="constant")
        for name, kernel in KERNELS.items()
    }
    print("                              restricted log   leave-one-out")
    print("kernel                            likelihood     error / ppm")
    for name, model in models.items():
        print(f"{name:29s} {model.best.value:14.2f} {rms(model.best_estimator_.loo_residuals_):15.3f}")

    smooth, rough = list(models)[-2:]
    print("\nIn words, times in years and sizes in ppm:")
    print("  " + models[smooth].describe().replace("\n", "\n  "))

    print("\n                         smooth trend                              rougher trend")
    print("year   measured     forecast ± 2 std   error / std          forecast ± 2 std   error / std")
    forecasts = [models[name].predict(X, return_std=True, noisy=True) for name in (smooth, rough)]
    for year in range(int(UNTIL), int(UNTIL) + 10):
        of_year = (time > year) & (time < year + 1)
        line = f"{year}   {co2[of_year].mean():8.2f}"
        for mean, std in forecasts:
            error = (co2 - mean)[of_year].mean()
            line += (
                f"     {mean[of_year].mean():8.2f} ± {2 * std[of_year].mean():4.2f} {error / std[of_year].mean():12.1f}     "
            )
        print(line.rstrip())
    print("error of months / ppm:", "".join(f"{rms((co2 - mean)[~past]):11.2f}{'':32s}" for mean, _ in forecasts).rstrip())

    growth = np.diff([co2[(time > year) & (time < year + 1)].mean() for year in range(1981, 1994)])
    print(f"\nIn 1992 and 1993, CO2 grew by {growth[-2]:.1f} and {growth[-1]:.1f} ppm, after", end=" ")
    print(f"{growth[:-2].mean():.1f} ppm a year in the ten years before: Mount Pinatubo\nhad erupted.", end=" ")
    print("A trend that is smooth by assumption rules that out, though the likelihoods and leave-one-out")
    print("errors of both are alike: these are about the next months, and not about decades.")
    if plot is not None:
        draw(plot, models[smooth].best_estimator_, forecasts)


def rms(values: Vector) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def draw(plot: str, model: ks.GaussianProcessRegressor, forecasts: list[tuple[Vector, Vector]]) -> None:
    """Draw both forecasts, and the yearly pattern in the first and in the last year of the training data."""
    time, co2 = mauna_loa()
    with figure_of(plot, 9.6, 4.2) as figure:
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        recent = time > UNTIL - 4
        left.plot(time[recent], co2[recent], ".", color="0.25", ms=4, label="measured")
        for (mean, std), colour, name in zip(forecasts, (ORANGE, BLUE), ("smooth trend", "rougher trend"), strict=True):
            after = time > UNTIL
            left.plot(time[after], mean[after], color=colour, lw=1, label=f"{name}, ± 2 standard deviations")
            left.fill_between(time[after], (mean - 2 * std)[after], (mean + 2 * std)[after], color=colour, alpha=0.25, lw=0)
        left.set(xlabel="year", ylabel="CO2 / ppm")
        left.legend(frameon=False, loc="upper left")
        (pattern,) = (term for term in terms_of(model.kernel_) if "ExpSineSquared" in str(term))
        month = np.linspace(0, 12, 121)
        for year, style in ((1959, "--"), (1991, "-")):
            of_year = pattern((year + month / 12)[:, None], model.X_train_) @ model.alpha_
            right.plot(month, of_year, style, color=BLUE, label=str(year))
        right.set(xlabel="months since the begin of the year", ylabel="pattern of a year / ppm", xticks=range(0, 13, 3))
        right.legend(frameon=False)


if __name__ == "__main__":
    main(*sys.argv[1:2])
