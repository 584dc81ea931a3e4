"""Two moons that overlap, and the probability of each: `python -m kernsel.examples.boundary [plot.png]`."""

from __future__ import annotations

import sys

import numpy as np
from scipy.special import logsumexp
from sklearn.datasets import make_moons
from sklearn.gaussian_process import GaussianProcessClassifier as TheirClassifier
from sklearn.gaussian_process import kernels as theirs

import kernsel as ks
from kernsel._base.annotations import Vector
from kernsel.examples.drawing import axes_of

__all__ = ["main"]


NOISE = 0.3


def true_probability(X: Vector) -> Vector:
    """Return the true probability of the second moon at points; the moons are half circles with normal noise."""
    angle = np.linspace(0, np.pi, 400)
    arcs = np.column_stack([np.cos(angle), np.sin(angle)]), np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])
    squares = (((X[:, None] - arc) ** 2).sum(axis=2) for arc in arcs)
    first, second = (logsumexp(-square / (2 * NOISE**2), axis=1) for square in squares)
    return np.asarray(1 / (1 + np.exp(first - second)))


def main(plot: str | None = None) -> None:
    """Compare the probabilities of classifiers on test points, with each other and with the true ones.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw probabilities and points into; needs matplotlib.
    """
    X, y = make_moons(200, noise=NOISE, random_state=1)
    Z, z = make_moons(3000, noise=NOISE, random_state=2)
    rbf = ks.kernels.ConstantKernel(1.0) * ks.kernels.RBF(1.0)
    models = {
        "scikit-learn, RBF": TheirClassifier(theirs.ConstantKernel(1.0) * theirs.RBF(1.0)),
        "the same kernel here": ks.GaussianProcessClassifier(rbf),
        "the default here": ks.GaussianProcessClassifier(),
        "expectation propagation": ks.GaussianProcessClassifier(inference="ep"),
    }
    print(f"{len(y)} points to learn from, {len(z)} others; half of each in each moon, noise {NOISE:g}. Probabilities are")
    print("geometric means of those of the true class; leave-one-out ones are known without other points.\n")
    print("                          probability                     right     off the true probability")
    print("                          leave-one-out   other points              (root mean square)")
    truth = true_probability(Z)

    def line(name: str, probability: Vector, loo: str = "") -> None:
        of_class = np.exp(np.mean(np.log(np.where(z == 1, probability, 1 - probability))))
        error = np.sqrt(np.mean((probability - truth) ** 2))
        print(f"{name:25s} {loo:>11s}     {of_class:10.1%}     {np.mean((probability > 0.5) == z):9.1%}   {error:12.3f}")

    for name, model in models.items():
        model.fit(X, y)
        has_loo = hasattr(model, "loo_log_probability_")
        loo = f"{np.exp(model.loo_log_probability_.mean()):.1%}" if has_loo else ""
        line(name, model.predict_proba(Z)[:, 1], loo)
    line("the best possible", truth)
    chosen = models["expectation propagation"]
    print(f"\nKernel of the last model: {chosen.kernel_}.")
    if plot is not None:
        draw(plot, X, y, chosen)


def draw(plot: str, X: Vector, y: Vector, model: ks.GaussianProcessClassifier) -> None:
    """Draw probabilities as colours, the points, and the line on which both classes are equally probable."""
    x1, x2 = np.meshgrid(np.linspace(-2, 3, 101), np.linspace(-1.6, 2.1, 75))
    grid = np.column_stack([x1.ravel(), x2.ravel()])
    with axes_of(plot, 7.2, 4.6, xlabel="first coordinate", ylabel="second coordinate", aspect="equal") as axes:
        probability = model.predict_proba(grid)[:, 1].reshape(x1.shape)
        colours = axes.contourf(x1, x2, probability, np.linspace(0, 1, 11), cmap="PuOr_r", alpha=0.7)
        axes.contour(x1, x2, probability, [0.5], colors="black", linewidths=2)
        axes.contour(x1, x2, true_probability(grid).reshape(x1.shape), [0.5], colors="black", linestyles="--")
        for label, colour, mark in ((0, "#40246b", "o"), (1, "#8a3f00", "^")):
            axes.plot(*X[y == label].T, mark, color=colour, mec="white", mew=0.7, ms=6)
        axes.figure.colorbar(colours, label="probability of the second moon (triangles)")
        axes.set_title("line: boundary found; dashed: the best one", fontsize="medium")


if __name__ == "__main__":
    main(*sys.argv[1:2])
