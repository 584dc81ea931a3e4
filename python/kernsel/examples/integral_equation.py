"""Masses under the ground from noisy gravity above it: `python -m kernsel.examples.integral_equation [plot.png]`.

A line of masses f(t) at the depth d causes at the place s on the ground, with the gravitational constant G, the gravity ::

    b(s) = integral of G d (d^2 + (s - t)^2)^(-3/2) f(t) dt,

which is a Fredholm equation of the first kind. Different masses may have almost the same gravity, so that least squares fits
the noise with absurd masses. Therefore the norm of f is penalized, |A x - b|^2 + lambda |x|^2, and the example compares rules
that choose lambda.
"""

from __future__ import annotations

import sys

import numpy as np

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.examples.drawing import BLUE, GREEN, ORANGE, figure_of

__all__ = ["main"]


LENGTH, DEPTH = 100.0, 25.0  # metres
GRAVITATION = 6.674e-11 * 1e3 * 1e8  # microgal, per tonne and square metre
NOISE = 1.0  # microgal, the noise of a good instrument in the field
RULES: dict[str, tuple[str, dict[str, float]]] = {
    "discrepancy": ("discrepancy", {}),
    "discrepancy, tau = 1.1": ("discrepancy", {"tau": 1.1}),
    "unbiased risk": ("risk", {}),
    "L-curve": ("lcurve", {}),
    "quasi-optimality": ("quasi-optimality", {}),
    "GCV": ("gcv", {}),
    "leave-one-out": ("loo", {}),
    "likelihood": ("profiled_lml", {}),
}


def masses(t: Vector) -> Vector:
    """Return the true masses, in tonnes per metre."""
    return np.asarray(100 * np.sin(np.pi * t / LENGTH) + 50 * np.sin(2 * np.pi * t / LENGTH))


def blurring(s: Vector, t: Vector) -> Vector:
    """Return the matrix of the integral equation by the midpoint rule, microgal per tonne and metre."""
    return np.asarray(GRAVITATION * DEPTH * (DEPTH**2 + np.subtract.outer(s, t) ** 2) ** -1.5 * LENGTH / len(t))


def midpoints(n: int) -> Vector:
    """Return the midpoints of n parts of the line, in metres."""
    return np.asarray(LENGTH * (np.arange(n) + 0.5) / n)


def measured(s: Vector, seed: int) -> Vector:
    """Return gravity in microgal at points on the ground, computed on a much finer grid than A, with noise."""
    fine = midpoints(2000)
    return np.asarray(blurring(s, fine) @ masses(fine) + NOISE * np.random.default_rng(seed).standard_normal(len(s)))


def solution(A: Vector, path: ks.RegularizationPath, alpha: float) -> Vector:
    """Return the minimizer of |A x - b|^2 + alpha |x|^2, from the coefficients of the kernel matrix A A'."""
    return np.asarray(A.T @ path.dual_coef(alpha))


def error(x: Vector) -> float:
    """Return the root mean squared error of masses, in tonnes per metre."""
    return float(np.sqrt(np.mean((x - masses(midpoints(len(x)))) ** 2)))


def main(plot: str | None = None) -> None:
    """Compare the choices of rules, in detail for one measurement, and by the errors for others.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw masses and errors into; needs matplotlib.
    """
    n, draws = 64, 30
    t = midpoints(n)
    A = blurring(t, t)
    errors: dict[str, list[float]] = {name: [] for name in RULES}
    for seed in range(draws, -1, -1):  # the measurement that is shown in detail comes last
        b = measured(t, seed)
        path = ks.RegularizationPath.from_features(A, b, sigma=NOISE)
        chosen = {name: path.best(rule, **options) for name, (rule, options) in RULES.items()}
        least = min(error(solution(A, path, alpha)) for alpha in path.alphas)
        for name, alpha in chosen.items():
            errors[name].append(error(solution(A, path, alpha)) / least)

    print(f"Masses up to {masses(t).max():.0f} t/m, {DEPTH:.0f} m under {n} points on {LENGTH:.0f} m;", end=" ")
    print(f"gravity up to {b.max():.0f} microgal, noise {NOISE:g}.")
    unregularized = error(np.asarray(np.linalg.lstsq(A, b)[0]))
    print(f"Least squares alone is {unregularized:.0e} t/m off, the best lambda there is {least:.2f} t/m.\n")
    print(f"                                          residual       degrees     error     error over the best, {draws} others")
    print("rule                          lambda    over noise    of freedom     t/m       median    9 of 10 below")
    for name, alpha in chosen.items():
        values = path.at([alpha])
        residual = values.residual_norm[0] / (n**0.5 * NOISE)
        others = errors[name][:-1]
        print(
            f"{name:24s} {alpha:11.3g} {residual:13.3f} {values.effective_dof[0]:13.1f} {errors[name][-1] * least:7.2f}"
            f"   {np.median(others):10.2f} {np.quantile(others, 0.9):12.2f}"
        )
    print("\nThe first three know the noise. The likelihood takes masses for white noise, which they are not.")
    if plot is not None:
        draw(plot, A, path, chosen)


def draw(plot: str, A: Vector, path: ks.RegularizationPath, chosen: dict[str, float]) -> None:
    """Draw the masses, and their errors for all lambda."""
    t = midpoints(A.shape[1])
    with figure_of(plot, 9.6, 4.2) as figure:
        left, right = figure.subplots(1, 2)
        left.plot(t, masses(t), color="0.25", lw=3, alpha=0.5, label="true")
        for name, colour, style in (("L-curve", ORANGE, "--"), ("GCV", GREEN, "-."), ("discrepancy, tau = 1.1", BLUE, "-")):
            left.plot(t, solution(A, path, chosen[name]), style, color=colour, label=name)
        left.set(xlabel="position / m", ylabel="mass / (t/m)")
        left.legend(frameon=False)
        alphas = np.geomspace(1e-6, 1, 200)
        right.loglog(alphas, [error(solution(A, path, alpha)) for alpha in alphas], color="0.6")
        for (name, alpha), mark in zip(chosen.items(), "o^s*DvPX", strict=True):
            knows_noise = RULES[name][0] in ("discrepancy", "risk")
            right.loglog(alpha, error(solution(A, path, alpha)), mark, label=name, ms=8, color=BLUE if knows_noise else ORANGE)
        right.set(xlabel="lambda / (microgal m/t)²", ylabel="error of masses / (t/m)", ylim=(5, 200))
        right.legend(frameon=False, title="blue: the noise is known", alignment="left")


if __name__ == "__main__":
    main(*sys.argv[1:2])
