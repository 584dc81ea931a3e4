"""Boiling points of small molecules from their graphs: `python -m kernsel.examples.molecules [plot.png]`."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold

import kernsel as ks
from kernsel.examples.drawing import draw_predictions
from kernsel.kernels import ConstantKernel, Precomputed
from kernsel.structured.data import molecules
from kernsel.structured.graphs import as_graphs, graph_gram

__all__ = ["main"]

Vector = NDArray[np.float64]
DEPTHS = range(5)


def fitted(K: Vector, rows: NDArray[np.intp], y: Vector) -> ks.GaussianProcessRegressor:
    """Return a Gaussian process on objects, named by rows of their kernel matrix, of the least leave-one-out error."""
    kernel = ConstantKernel("auto") * Precomputed(K)
    model = ks.GaussianProcessRegressor(kernel, noise="auto", trend="constant", criterion="loo")
    model.fit(rows[:, None], y)
    return model


def main(plot: str | None = None) -> None:
    """Predict each molecule from four fifths of the others, with the depth that leave-one-out chooses among these.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw predictions into; needs matplotlib.
    """
    data = molecules()
    graphs, y, n = as_graphs(data.graphs), data.boiling_points, len(data.names)
    grams = [graph_gram(graphs, depth=depth) for depth in DEPTHS]
    elements = sorted({label for _, labels in data.graphs for label in labels})
    counts = np.array([[labels.count(element) for element in elements] for _, labels in data.graphs])

    by_mean, by_counts, chosen = np.empty(n), np.empty(n), np.empty(n)
    by_depth, errors_within = np.empty((len(DEPTHS), n)), np.zeros(len(DEPTHS))
    picked = []
    folds = list(KFold(5, shuffle=True, random_state=0).split(y))
    for train, test in folds:
        by_mean[test] = y[train].mean()
        by_counts[test] = RidgeCV(np.logspace(-3, 3, 13)).fit(counts[train], y[train]).predict(counts[test])
        models = [fitted(K, train, y[train]) for K in grams]
        errors = np.array([model.criterion_value_ for model in models])
        errors_within += errors / len(folds)
        by_depth[:, test] = [model.predict(test[:, None]) for model in models]
        picked.append(int(np.argmin(errors)))
        chosen[test] = by_depth[picked[-1], test]

    def error(predicted: ArrayLike) -> str:
        return f"{np.sqrt(np.mean((np.asarray(predicted) - y) ** 2)):8.1f}"

    print(f"{n} molecules, boiling points from {y.min():.0f} to {y.max():.0f} degrees Celsius; errors are root mean squares.")
    print("Each molecule is held out once, with a fifth of all; depth, amplitude and noise are chosen without it.\n")
    print("                                    leave-one-out   held out")
    print(f"always the mean                                     {error(by_mean)}")
    print(f"ridge on counts of {len(elements)} elements                      {error(by_counts)}")
    for depth, predicted in zip(DEPTHS, by_depth, strict=True):
        print(f"Weisfeiler-Lehman, depth {depth}              {np.sqrt(errors_within[depth]):8.1f}    {error(predicted)}")
    print(f"depth chosen by leave-one-out                       {error(chosen)}   (chosen: {', '.join(map(str, picked))})\n")
    worst = np.argsort(-np.abs(chosen - y))[:4]
    print("Furthest off: " + "; ".join(f"{data.names[i]} {chosen[i]:.0f} instead of {y[i]:.0f}" for i in worst) + ".")
    if plot is not None:
        draw_predictions(plot, y, chosen, "boiling point / °C")


if __name__ == "__main__":
    main(*sys.argv[1:2])
