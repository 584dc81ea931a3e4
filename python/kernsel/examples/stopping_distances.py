"""The stopping distances of cars of the 1920s: `python -m kernsel.examples.stopping_distances [plot.png]`."""

from __future__ import annotations

import sys

import numpy as np

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.examples.data import cars
from kernsel.examples.drawing import BLUE, ORANGE, axes_of
from kernsel.kernels import RBF, ConstantKernel, HeteroscedasticNoise, Kernel, Linear

__all__ = ["main"]


# Functions of Linear are lines through the origin, and those of its square are parabolas. While a driver reacts, a car goes a
# distance proportional to its speed; the brakes then take its energy, which is proportional to the square of the speed.
KERNELS = {
    "line through the origin": Linear("auto"),
    "any line": Linear("auto") + ConstantKernel("auto"),
    "reaction and brakes": Linear("auto") + Linear("auto") * Linear("auto"),
    "any smooth curve": RBF("auto"),
}
FEET_PER_SECOND = 5280 / 3600  # in a mile per hour
GRAVITY = 32.174  # feet per second squared


def square(X: Vector) -> Vector:
    """Return the squares of speeds, the variance of noise whose standard deviation is proportional to speed."""
    return X[:, 0] ** 2


def best(kernel: Kernel, criterion: str, noise: float | str = "auto") -> ks.GaussianProcessRegressor:
    """Return the Gaussian process with this kernel, and an amplitude for each term, that is best by the criterion."""
    speed, distance = cars()
    selected = ks.select(speed[:, None], distance, [kernel], criterion, noise=noise, trend=None)
    model: ks.GaussianProcessRegressor = selected.best_estimator_
    return model


def interval(model: ks.GaussianProcessRegressor, speed: float) -> str:
    """Return the interval of distances in which 95 % of all cars of a speed stop."""
    mean, std = (float(value[0]) for value in model.predict([[speed]], return_std=True, noisy=True))
    return f"{mean - 1.96 * std:4.0f} to {mean + 1.96 * std:3.0f} ft"


def main(plot: str | None = None) -> None:
    """Compare kernels by three criteria, then noise that is equal for all speeds with noise that grows with speed.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw the fit into; needs matplotlib.
    """
    speed, distance = cars()
    print(f"{len(speed)} cars: speeds from {speed.min():.0f} to {speed.max():.0f} mph, mean {speed.mean():.1f};", end=" ")
    print(f"distances from {distance.min():.0f} to {distance.max():.0f} ft, mean {distance.mean():.2f}.\n")
    print("                           leave-one-out error   GCV error   log likelihood")
    for name, kernel in KERNELS.items():
        loo, gcv, likelihood = (best(kernel, criterion).criterion_value_ for criterion in ("loo", "gcv", "lml"))
        print(f"{name:25s}  {np.sqrt(loo):16.2f} ft  {np.sqrt(gcv):7.2f} ft  {likelihood:15.2f}")

    even = best(KERNELS["reaction and brakes"], "lml")
    growing = best(KERNELS["reaction and brakes"] + HeteroscedasticNoise(square, "auto", "auto"), "lml", noise=0.0)
    value, gain = growing.criterion_value_, growing.criterion_value_ - even.criterion_value_
    print(f"\nWith noise that is proportional to speed, the log likelihood is {value:.2f}, {gain:.2f} more.\n")
    print("95 % of all cars stop within         at 5 mph         at 25 mph   cars inside, predicted from the others")
    for name, model in (("even noise", even), ("growing noise", growing)):
        inside = np.sum(np.abs(model.loo_residuals_) < 1.96 * model.loo_std_)
        print(f"{name:25s}  {interval(model, 5):>18s}  {interval(model, 25):>16s}   {inside} of {len(speed)}")

    trial = np.array([10.0, 20.0])
    reaction, brakes = np.linalg.solve(np.column_stack([trial, trial**2]), growing.predict(trial[:, None]))
    seconds, deceleration = reaction / FEET_PER_SECOND, FEET_PER_SECOND**2 / (2 * brakes) / GRAVITY
    print(f"\ndistance / ft = {reaction:.3f} v + {brakes:.4f} v^2, v in mph:", end=" ")
    print(f"drivers react in {seconds:.2f} s, and brakes decelerate by {deceleration:.2f} g.")
    if plot is not None:
        draw(plot, even, growing)


def draw(plot: str, even: ks.GaussianProcessRegressor, growing: ks.GaussianProcessRegressor) -> None:
    """Draw the cars, and the 95 % intervals of two models."""
    grid = np.linspace(0.5, 27, 200)
    with axes_of(plot, xlabel="speed / mph", ylabel="stopping distance / ft", ylim=(-35, 145), xlim=(0, 27)) as axes:
        mean, std = growing.predict(grid[:, None], return_std=True, noisy=True)
        axes.fill_between(grid, mean - 1.96 * std, mean + 1.96 * std, color=BLUE, alpha=0.2, lw=0)
        axes.plot(grid, mean, color=BLUE, label="reaction and brakes; 95 % of cars if noise grows with speed")
        mean, std = even.predict(grid[:, None], return_std=True, noisy=True)
        axes.plot(grid, mean - 1.96 * std, "--", color=ORANGE, label="95 % of cars if it does not")
        axes.plot(grid, mean + 1.96 * std, "--", color=ORANGE)
        axes.plot(*cars(), "o", color="0.25", ms=4, label="cars")
        axes.legend(loc="upper left", frameon=False)


if __name__ == "__main__":
    main(*sys.argv[1:2])
