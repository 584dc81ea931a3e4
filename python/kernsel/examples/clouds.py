"""The correlation of a cloud of points, learnt from clouds: `python -m kernsel.examples.clouds [plot.png]`."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import pearsonr

import kernsel as ks
from kernsel import structured as st
from kernsel.examples.drawing import draw_predictions
from kernsel.kernels import RBF, Polynomial
from kernsel.structured.data import gaussian_clouds

__all__ = ["main"]


def main(plot: str | None = None) -> None:
    """Compare kernels of clouds, on clouds that were not used to fit.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw predictions into; needs matplotlib.
    """
    n, n_points, n_train = 300, 50, 150
    clouds, y = gaussian_clouds(n, n_points=n_points, random_state=0)
    train, test = y[:n_train], y[n_train:]
    centred = [cloud - cloud.mean(axis=0) for cloud in clouds]  # the mean of a cloud is independent of its correlation
    print(f"{n} clouds of {n_points} points in the plane, each from a normal distribution with a correlation of its own,")
    print(
        f"moved to mean zero; {n_train} to learn the correlation from, {n - n_train} held out; errors are root mean squares.\n"
    )

    # Squared exponentials of three distances between distributions. The hyperparameters of the kernels of points are fixed, so
    # that these are evaluated once; with "auto", they would be selected, too, in about a minute.
    kernels = [
        RBF("auto") @ st.LinearizedTransport(),
        RBF("auto") @ st.SlicedWasserstein(),
        *(RBF("auto") @ st.MeanEmbedding(RBF(length, "fixed")) for length in (0.5, 1.0, 2.0, 4.0)),
        RBF("auto") @ st.MeanEmbedding(Polynomial(2, offset_bounds="fixed", length_scale_bounds="fixed")),
    ]
    chosen = ks.select(centred[:n_train], train, kernels, criterion="loo")

    def error(prediction: ArrayLike) -> str:
        return f"{np.sqrt(np.mean((np.asarray(prediction) - test) ** 2)):9.3f}"

    print(f"{'':57s}  leave-one-out  held out")
    print(f"{'always the mean':57s} {'':14s} {error(np.full(len(test), train.mean()))}")
    of_samples = [pearsonr(*cloud.T).statistic for cloud in clouds[n_train:]]
    print(f"{'correlation of the sample, by its formula':57s} {'':14s} {error(of_samples)}")
    for one in chosen.tried:
        model = ks.GaussianProcessRegressor(one.kernel_, noise=one.noise_, trend="constant", optimizer=None)
        predicted = model.fit(centred[:n_train], train).predict(centred[n_train:])
        mark = "  <- chosen" if one is chosen.best else ""
        print(f"{one.kernel_!s:57s} {np.sqrt(one.value):14.3f} {error(predicted)}{mark}")
    print("\nThe kernels do not know what a correlation is; the formula does.")
    if plot is not None:
        draw_predictions(plot, test, chosen.predict(centred[n_train:]), "correlation")


if __name__ == "__main__":
    main(*sys.argv[1:2])
