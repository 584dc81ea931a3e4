"""The correlation of a cloud of points, learnt from clouds: `python -m kernsel.examples.clouds [plot.png]`."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import pearsonr

import kernsel as ks
from kernsel.examples.drawing import draw_predictions
from kernsel.kernels import RBF, ConstantKernel, Precomputed
from kernsel.structured.data import gaussian_clouds
from kernsel.structured.sets import as_sets, set_gram

__all__ = ["main"]

Vector = NDArray[np.float64]
LENGTHS = (0.5, 1.0, 2.0, 4.0)


def fitted(K: Vector, rows: NDArray[np.intp], y: Vector) -> ks.GaussianProcessRegressor:
    """Return a Gaussian process on objects, named by rows of their kernel matrix, of the least leave-one-out error."""
    kernel = ConstantKernel("auto") * Precomputed(K)
    model = ks.GaussianProcessRegressor(kernel, noise="auto", trend="constant", criterion="loo")
    model.fit(rows[:, None], y)
    return model


def of_distances(K: Vector) -> Vector:
    """Return exp(-d^2 / m), d being the distances that a kernel makes, here of mean embeddings, and m their median square."""
    squares = np.maximum(np.add.outer(np.diag(K), np.diag(K)) - 2 * K, 0)
    return np.asarray(np.exp(-squares / np.median(squares)))


def main(plot: str | None = None) -> None:
    """Compare kernels between clouds, on clouds that were not used to fit.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw predictions into; needs matplotlib.
    """
    n, n_points = 300, 50
    clouds, y = gaussian_clouds(n, n_points=n_points, random_state=0)
    train, test = np.arange(n // 2), np.arange(n // 2, n)
    centred = as_sets([cloud - cloud.mean(axis=0) for cloud in clouds])

    grams = {}
    for length in LENGTHS:
        K = set_gram(RBF(length), centred, mean=True)
        grams[f"mean embedding, RBF({length:g})"] = K
        grams[f"RBF of the distance of these, RBF({length:g})"] = of_distances(K)
    models = {name: fitted(K, train, y[train]) for name, K in grams.items()}
    predicted = {name: np.asarray(model.predict(test[:, None])) for name, model in models.items()}
    best = min(models, key=lambda name: models[name].criterion_value_)

    def error(guess: ArrayLike) -> str:
        return f"{np.sqrt(np.mean((np.asarray(guess) - y[test]) ** 2)):8.3f}"

    print(f"{n} clouds of {n_points} points in the plane, each from a normal distribution with a correlation of its own,")
    print(
        f"moved to mean zero; {len(train)} to learn the correlation from, {len(test)} held out; errors are root mean squares.\n"
    )
    print("                                          leave-one-out   held out")
    print(f"always the mean                                           {error(np.full(len(test), y[train].mean()))}")
    sample = [pearsonr(*clouds[i].T).statistic for i in test]
    print(f"correlation of the sample, by its formula                 {error(sample)}")
    for name, model in models.items():
        mark = "  <- chosen" if name == best else ""
        print(f"{name:40s}  {np.sqrt(model.criterion_value_):8.3f}      {error(predicted[name])}{mark}")
    print("\nThe kernels do not know what a correlation is; the formula does.")
    if plot is not None:
        draw_predictions(plot, y[test], predicted[best], "correlation")


if __name__ == "__main__":
    main(*sys.argv[1:2])
