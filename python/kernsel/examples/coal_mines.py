"""Explosions in coal mines, counted by years: `python -m kernsel.examples.coal_mines [plot.png]`.

The count of a year has a Poisson distribution, whose rate is exp(f) for a Gaussian process f. The example compares that with a
constant rate, with normal noise and with counts that vary more, gives the rate with a band, and tells when it fell.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.examples.data import coal
from kernsel.examples.drawing import BLUE, GREY, ORANGE, axes_of

__all__ = ["main"]


MODELS = {
    "normal noise": ks.GaussianProcessRegressor(),
    "Poisson": ks.GaussianProcessRegressor(likelihood="poisson"),
    "Poisson, jagged rate": ks.GaussianProcessRegressor("Matern(nu=0.5)", likelihood="poisson"),
    "negative binomial": ks.GaussianProcessRegressor(likelihood="negative_binomial"),
}
SHOWN = "Poisson"
BAND = np.array([0.05, 0.95])


def main(plot: str | None = None) -> None:
    """Compare models of the counts, print the rate with a band, and when it fell.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw the counts and the rate into; needs matplotlib.
    """
    year, count = coal()
    X, n = year[:, None], len(year)
    print(f"{n} years with {count.sum():.0f} explosions; {np.sum(count == 0)} years without any, at most {count.max():.0f}.\n")
    print("                           log probability of each year   years below, in and above")
    print("                           given all others, their sum    the band of 90 % or more")
    others = (count.sum() - count) / (n - 1)
    limits = stats.poisson.ppf(BAND, count.mean())
    print_model("constant rate", stats.poisson.logpmf(count, others), count, np.tile(limits, (n, 1)))
    fitted = {}
    for name, model in MODELS.items():
        gp = fitted[name] = model.fit(X, count)
        print_model(name, gp.loo_log_density_, count, gp.predict_quantiles(X, BAND))
    excess = 1 / fitted["negative binomial"].likelihood_.shape
    print(f"\nThe variance of a negative binomial count is mean + {excess:.4f} mean^2: nearly that of Poisson's.")

    gp = fitted[SHOWN]
    print("\nyear   rate, and its band of 90 %   counts of 90 % or more   years without")
    for start in range(1855, 1963, 15):
        Z = np.array([[float(start)]])
        rate, (lower, upper) = rate_of(gp, Z)
        least, most = gp.predict_quantiles(Z, BAND)[0]
        none = np.exp(gp.log_density(Z, [0.0])[0])
        print(f"{start}  {rate[0]:5.2f}   {lower[0]:5.2f} to {upper[0]:4.2f} {least:18.0f} to {most:.0f} {100 * none:19.0f} %")

    early, late = 1880.0, 1900.0
    mean, cov = gp.predict_latent([[early], [late]], return_cov=True)
    fall, spread = mean[0] - mean[1], np.sqrt(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
    halved = stats.norm.sf((np.log(2) - fall) / spread)
    print(f"\nFrom {early:.0f} to {late:.0f} the rate fell to {np.exp(-fall):.2f} of what it was:", end=" ")
    print(f"to less than a half with probability {halved:.3f}.")
    if plot is not None:
        draw(plot, gp)


def print_model(name: str, log_probability: Vector, count: Vector, band: Vector) -> None:
    """Print what a model says of the years."""
    below, above = np.sum(count < band[:, 0]), np.sum(count > band[:, 1])
    print(f"{name:24s} {log_probability.sum():18.2f} {below:20d} {len(count) - below - above:6d} {above:6d}")


def rate_of(gp: ks.GaussianProcessRegressor, Z: Vector) -> tuple[Vector, Vector]:
    """Return the median of the rate at points, and the quantiles of its band."""
    mean, std = gp.predict_latent(Z, return_std=True)
    return np.exp(mean), np.exp(mean + std * stats.norm.ppf(BAND)[:, None])


def draw(plot: str, gp: ks.GaussianProcessRegressor) -> None:
    """Draw the counts, the rate with its band, and within which limits 90 % of counts or more are."""
    year, count = coal()
    grid = np.linspace(year[0], year[-1], 300)
    with axes_of(plot, 7.2, 4.2, xlabel="year", ylabel="explosions in a year", xlim=(1849, 1964), ylim=(-0.15, 8)) as axes:
        rate, (lower, upper) = rate_of(gp, grid[:, None])
        limits = gp.predict_quantiles(grid[:, None], BAND)
        axes.plot(grid, limits, color=ORANGE, lw=1, label=["90 % of counts or more are within", None])
        axes.fill_between(grid, lower, upper, color=BLUE, alpha=0.25, lw=0)
        axes.plot(grid, rate, color=BLUE, label="rate, with its band of 90 %")
        axes.plot(year, count, "o", color=GREY, ms=3, label="counts")
        axes.legend(loc="upper right", frameon=False)


if __name__ == "__main__":
    main(*sys.argv[1:2])
