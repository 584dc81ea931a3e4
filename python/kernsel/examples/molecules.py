"""Boiling points of small molecules from their graphs: `python -m kernsel.examples.molecules [plot.png]`."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold

import kernsel as ks
from kernsel import structured as st
from kernsel.examples.drawing import draw_predictions
from kernsel.structured.data import molecules

__all__ = ["main"]


def main(plot: str | None = None) -> None:
    """Choose a kernel by leave-one-out on all molecules, and then in each fold of a cross-validation to predict the others.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw predictions into; needs matplotlib.
    """
    data = molecules()
    graphs, y, n = data.graphs, data.boiling_points, len(data.names)
    elements = sorted({label for _, labels in graphs for label in labels})
    counts = np.array([[labels.count(element) for element in elements] for _, labels in graphs])

    # Candidates of several depths of neighbourhoods, and several comparisons of their counts.
    kernels = [
        st.WeisfeilerLehman(range(5)),
        st.WeisfeilerLehman(range(5), kind="min-max"),
        st.WeisfeilerLehman([1, 2]) + st.WeisfeilerLehman([1, 2], kind="min-max"),
    ]
    chosen = ks.select(graphs, y, kernels, criterion="loo")
    print(f"{n} molecules, boiling points from {y.min():.0f} to {y.max():.0f} degrees Celsius; errors are root mean squares.\n")
    print(f"{'':83s}  leave-one-out")
    for one in chosen.tried:
        print(f"{one.kernel_!s:83s} {np.sqrt(one.value):14.1f}")

    # The least of many errors is too optimistic, so that the choice is repeated without each fifth of the molecules.
    by_mean, by_counts, predicted = np.empty(n), np.empty(n), np.empty(n)
    for train, test in KFold(5, shuffle=True, random_state=0).split(y):
        by_mean[test] = y[train].mean()
        by_counts[test] = RidgeCV(np.logspace(-3, 3, 13)).fit(counts[train], y[train]).predict(counts[test])
        fold = ks.select([graphs[i] for i in train], y[train], kernels, criterion="loo")
        predicted[test] = fold.predict([graphs[i] for i in test])

    def error(prediction: ArrayLike) -> str:
        return f"{np.sqrt(np.mean((np.asarray(prediction) - y) ** 2)):14.1f}"

    print(f"\n{'':83s}       held out")
    print(f"{'always the mean':83s} {error(by_mean)}")
    print(f"{f'ridge on counts of {len(elements)} elements':83s} {error(by_counts)}")
    print(f"{'the kernel that leave-one-out chooses without them':83s} {error(predicted)}")
    worst = np.argsort(-np.abs(predicted - y))[:4]
    print("\nFurthest off: " + "; ".join(f"{data.names[i]} {predicted[i]:.0f} instead of {y[i]:.0f}" for i in worst) + ".")
    if plot is not None:
        draw_predictions(plot, y, predicted, "boiling point / °C")


if __name__ == "__main__":
    main(*sys.argv[1:2])
