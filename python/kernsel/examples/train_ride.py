"""The speed of a train from three instruments: `python -m kernsel.examples.train_ride [plot.png]`.

A speedometer is read now and then: values of the speed. An accelerometer is read often, and shakes: its slopes. The times at
which the train passes kilometre posts tell average speeds between them, nearly without error. The ride is made up, so that the
truth is known.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.examples.drawing import BLUE, GREEN, GREY, ORANGE, figure_of

__all__ = ["acceleration", "distance", "main", "measured", "speed"]

SECONDS = 600.0
# Changes of the speed: by how much (m/s), when (s), and how slowly (s).
CHANGES = [
    (26.0, 40.0, 12.0),
    (-15.0, 150.0, 7.0),
    (10.0, 215.0, 9.0),
    (17.0, 320.0, 16.0),
    (-20.0, 430.0, 10.0),
    (-18.0, 555.0, 9.0),
]


def speed(t: Vector) -> Vector:
    """Return the speed at times, in metres per second."""
    return np.asarray(sum(by / (1 + np.exp(-(t - at) / slowly)) for by, at, slowly in CHANGES))


def acceleration(t: Vector) -> Vector:
    """Return the derivative of the speed."""
    return np.asarray(sum(by / (4 * slowly * np.cosh((t - at) / (2 * slowly)) ** 2) for by, at, slowly in CHANGES))


def distance(t: Vector) -> Vector:
    """Return the integral of the speed, in metres."""
    return np.asarray(sum(by * slowly * np.logaddexp(0.0, (t - at) / slowly) for by, at, slowly in CHANGES))


def measured(seed: int = 0) -> dict[str, Any]:
    """Return arguments of `GaussianProcessRegressor.fit` with what the instruments show, by the name of each argument."""
    rng = np.random.default_rng(seed)
    read, shaken = np.linspace(0, SECONDS, 13), np.linspace(2.5, SECONDS - 2.5, 120)
    fine = np.linspace(0, SECONDS, 60_001)
    posts = np.interp(np.arange(1000.0, distance(fine)[-1], 1000.0), distance(fine), fine)
    seen = posts + 0.1 * rng.standard_normal(len(posts))  # by a watch
    means = 1000.0 / np.diff(seen)
    return {
        "X": read[:, None],
        "y": speed(read) + rng.standard_normal(len(read)),
        "slopes": (shaken[:, None], acceleration(shaken)[:, None] + 0.1 * rng.standard_normal((len(shaken), 1))),
        "averages": (seen[:-1, None], seen[1:, None], means),
    }


def main(plot: str | None = None) -> None:
    """Fit the speed to some instruments and to all; print how far off speed, acceleration and the whole way are.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw speed and acceleration into; needs matplotlib.
    """
    given = measured()
    values = {name: given[name] for name in ("X", "y")}
    both = {name: {"slopes": given["slopes"], "averages": given["averages"]}[name] for name in ("slopes", "averages")}
    t = np.linspace(0, SECONDS, 601)
    whole = float(distance(t)[-1] - distance(t)[0])
    fits: dict[str, Any] = {}
    print("The speed of a train over ten minutes, with what it was found from.\n")
    print("                                          speed / (m/s)      acceleration / (m/s^2)            way / m")
    print("instruments                              error      said         error       said        error      said")
    for name, data in (
        ("speedometer", values),
        ("speedometer, accelerometer", {**values, "slopes": both["slopes"]}),
        ("speedometer, kilometre posts", {**values, "averages": both["averages"]}),
        ("all three", {**values, **both}),
    ):
        model = ks.GaussianProcessRegressor("Matern(nu=2.5)").fit(**data)
        fits[name] = model
        mean, std = model.predict(t[:, None], return_std=True, noisy=False)
        slope, of_slope = (each[:, 0] for each in model.predict_slopes(t[:, None], return_std=True))
        way, of_way = (SECONDS * each[0] for each in model.predict_averages([[0.0]], [[SECONDS]], return_std=True))
        errors = rms(mean - speed(t)), rms(std), rms(slope - acceleration(t)), rms(of_slope)
        print(
            f"{name:36s} {errors[0]:9.2f} {errors[1]:9.2f} {errors[2]:13.3f} {errors[3]:10.3f} "
            f"{abs(way - whole):12.1f} {of_way:9.1f}"
        )
    best = fits["all three"]
    print("\nError: root mean square over the ride. Said: the model's own standard deviation of it.")
    print(
        f"Noise that was found: speedometer {best.noise_**0.5:.2f} m/s (truly 1), accelerometer "
        f"{best.slope_noise_[0] ** 0.5:.3f} m/s^2 (truly 0.1)."
    )
    if plot is not None:
        draw(plot, fits, given, t)


def rms(values: Vector) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def draw(plot: str, fits: dict[str, Any], given: dict[str, Any], t: Vector) -> None:
    """Draw the speed and the acceleration, with what was measured of each, by one instrument and by all."""
    with figure_of(plot, 9.6, 6.4) as figure:
        above, below = figure.subplots(2, 1, sharex=True)
        for name, colour in (("speedometer", ORANGE), ("all three", BLUE)):
            mean, std = fits[name].predict(t[:, None], return_std=True, noisy=False)
            slope, of_slope = (each[:, 0] for each in fits[name].predict_slopes(t[:, None], return_std=True))
            for axes, middle, half in ((above, mean, 2 * std), (below, slope, 2 * of_slope)):
                axes.fill_between(t, middle - half, middle + half, color=colour, alpha=0.25, linewidth=0)
                axes.plot(t, middle, color=colour, label=name)
        for axes, truth in ((above, speed(t)), (below, acceleration(t))):
            axes.plot(t, truth, "--", color="black", linewidth=1, label="truth")
        above.plot(given["X"][:, 0], given["y"], "o", color=GREY, label="read from the speedometer")
        begin, end, means = (np.ravel(part) for part in given["averages"])
        above.hlines(means, begin, end, color=GREEN, linewidth=3, label="averages between posts")
        below.plot(*(np.ravel(part) for part in given["slopes"]), ".", color=GREY, label="read from the accelerometer")
        above.set(ylabel="speed / (m/s)")
        below.set(xlabel="time / s", ylabel="acceleration / (m/s²)")
        for axes in (above, below):
            axes.legend(frameon=False, fontsize=8)


if __name__ == "__main__":
    main(*sys.argv[1:2])
