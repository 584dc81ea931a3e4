"""An emulator of a piston in raw physical units: `python -m kernsel.examples.piston [plot.png]`.

The emulated function is the cycle time of a piston in a cylinder, with seven inputs (E. Ben-Ari and D. Steinberg, 2007, and
often used since to test emulators). In their units, the inputs differ by a factor of 10^7; nothing is scaled by hand.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import norm
from sklearn.base import clone

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.examples.drawing import BLUE, ORANGE, figure_of
from kernsel.kernels import ConstantKernel, Matern

__all__ = ["INPUTS", "cycle_time", "main"]


INPUTS = {
    "piston weight": ("kg", 30.0, 60.0),
    "piston surface": ("m^2", 0.005, 0.020),
    "initial gas volume": ("m^3", 0.002, 0.010),
    "spring coefficient": ("N/m", 1000.0, 5000.0),
    "atmospheric pressure": ("Pa", 90000.0, 110000.0),
    "ambient temperature": ("K", 290.0, 296.0),
    "filling temperature": ("K", 340.0, 360.0),
}


def cycle_time(X: Vector) -> Vector:
    """Return the time of a cycle in seconds.

    Parameters
    ----------
    X : ndarray of shape (n, 7)
        The inputs, in the order of `INPUTS`.

    Returns
    -------
    time : ndarray of shape (n,)
    """
    weight, surface, volume, spring, pressure, ambient, filling = X.T
    work = pressure * volume / filling * ambient
    force = pressure * surface + 19.62 * weight - spring * volume / surface
    at_rest = surface / (2 * spring) * (np.sqrt(force**2 + 4 * spring * work) - force)
    return np.asarray(2 * np.pi * np.sqrt(weight / (spring + surface**2 * work / at_rest**2)))


def sample(n: int, seed: int) -> Vector:
    """Return a Latin hypercube sample of the inputs, shape (n, 7): each range has one point in each of n equal parts."""
    _, low, high = zip(*INPUTS.values(), strict=True)
    rng = np.random.default_rng(seed)
    slices = rng.permuted(np.tile(np.arange(n), (7, 1)), axis=1).T
    return np.asarray(low + (slices + rng.random((n, 7))) / n * np.subtract(high, low))


KERNEL = ConstantKernel("auto") * Matern("auto", nu=2.5, product=True)  # a length scale for each input
MODELS = {
    "product of Matern": ks.GaussianProcessRegressor(KERNEL, trend="constant", noise=0.0),
    "Matern of the distance": ks.GaussianProcessRegressor(
        ConstantKernel("auto") * Matern("auto", nu=2.5), trend="constant", noise=0.0
    ),
    "product, by leave-one-out": ks.GaussianProcessRegressor(KERNEL, trend="constant", noise=0.0, criterion="loo_log_density"),
}


def rms(values: Vector) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def inside(scaled: Vector, level: float) -> float:
    """Return the share of errors, divided by their standard deviations, within intervals of a given level."""
    return float(np.mean(np.abs(scaled) < norm.ppf(0.5 + level / 2)))


def main(plot: str | None = None) -> None:
    """Fit the function to some runs; print the effects of its inputs, and the coverage of the intervals.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw effects and calibration into; needs matplotlib.
    """
    n, designs = 100, 10
    Z = sample(1000, seed=1000)
    truth = cycle_time(Z)
    model = clone(MODELS["product of Matern"]).fit(sample(n, seed=0), cycle_time(sample(n, seed=0)))
    lengths, slopes = np.asarray(model.kernel_.k2.length_scale), model.predict_gradient(Z)
    effects = {}
    print(f"The time of a cycle of a piston, learnt from {n} runs; from {truth.min():.2f} to {truth.max():.2f} s elsewhere.\n")
    print("                                                                             effect / s")
    print("input                  unit         from         to   length scale        found        true")
    for k, (name, (unit, low, high)) in enumerate(INPUTS.items()):
        step = 1e-4 * (high - low) * np.eye(7)[k]
        true = rms(cycle_time(Z + step) - cycle_time(Z - step)) / 2e-4
        effects[name] = rms(slopes[:, k]) * (high - low)
        print(f"{name:22s} {unit:4s} {low:12g} {high:10g} {lengths[k]:14.4g} {effects[name]:12.4f} {true:11.4f}")
    print("The effect is the slope times the range, root mean square: small where the length scale is long for the range.\n")

    print(f"Errors and intervals, over {designs} designs of {n} runs each:")
    print("                                    leave-one-out                   other runs")
    print("kernel                        error / s   in 50 %   in 95 %   error / s   in 50 %   in 95 % intervals")
    scaled: dict[str, dict[str, Vector]] = {}
    for name, template in MODELS.items():
        errors: dict[str, list[tuple[Vector, Vector]]] = {"leave-one-out": [], "other runs": []}
        for seed in range(designs):
            X = sample(n, seed)
            model = clone(template).fit(X, cycle_time(X))
            mean, std = model.predict(Z, return_std=True, noisy=False)
            errors["leave-one-out"].append((model.loo_residuals_, model.loo_std_))
            errors["other runs"].append((truth - mean, std))
        scaled[name], line = {}, f"{name:27s}"
        for runs, pairs in errors.items():
            residuals, std = np.hstack(pairs)
            scaled[name][runs] = z = residuals / std
            line += f" {rms(residuals):11.5f} {inside(z, 0.5):9.1%} {inside(z, 0.95):9.1%}"
        print(line)
    print("What was made small to choose a kernel is too good to be true: the leave-one-out error of the last.")
    if plot is not None:
        draw(plot, effects, scaled["product of Matern"])


def draw(plot: str, effects: dict[str, float], scaled: dict[str, Vector]) -> None:
    """Draw the effects of the inputs, and the coverage of intervals against their levels."""
    with figure_of(plot, 9.6, 4.2) as figure:
        left, right = figure.subplots(1, 2)
        left.barh(list(effects)[::-1], list(effects.values())[::-1], color=BLUE)
        left.set(xlabel="effect on the cycle time / s")
        levels = np.linspace(0.01, 0.99, 99)
        right.plot([0, 100], [0, 100], color="0.7", label="as it should be")
        for (name, values), colour, style in zip(scaled.items(), (ORANGE, BLUE), ("--", "-"), strict=True):
            right.plot(100 * levels, [100 * inside(values, level) for level in levels], style, color=colour, label=name)
        right.set(xlabel="stated probability of an interval / %", ylabel="values inside / %", aspect="equal")
        right.legend(frameon=False)


if __name__ == "__main__":
    main(*sys.argv[1:2])
