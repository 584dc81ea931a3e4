"""The classification of strings that contain two boxes: `python -m kernsel.examples.promoters [plot.png]`."""

from __future__ import annotations

import sys

import numpy as np

import kernsel as ks
from kernsel import structured as st
from kernsel.examples.drawing import draw_histograms
from kernsel.kernels import Normalize
from kernsel.structured.data import promoters

__all__ = ["main"]

BOXES = ("TTGACA", "TATAAT")


def box_letters(text: str) -> int:
    """Return the most letters, of twelve, that a string shares with two boxes that are 15 to 19 letters apart."""
    first, second = (
        np.array([sum(a == b for a, b in zip(text[i:], box, strict=False)) for i in range(len(text) - 5)]) for box in BOXES
    )
    return max(int((first[: -6 - gap] + second[6 + gap :]).max()) for gap in range(15, 20))


def main(plot: str | None = None) -> None:
    """Compare kernels of strings, on strings that were not used to fit.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw the probabilities of the test strings into; needs matplotlib.
    """
    n, n_train = 800, 400
    strings, labels = promoters(n, random_state=0)
    train, test = labels[:n_train], labels[n_train:]
    print(f"{n} strings of {len(strings[0])} letters; half of them have boxes that differ a little from {' and '.join(BOXES)}.")
    print(f"{n_train} to learn from, {n - n_train} held out; probabilities are geometric means of those of the true class.\n")

    # Candidates with words of several lengths, with and without a mismatch.
    kernels = [
        Normalize(st.Spectrum([3, 4, 5, 6], mismatches=[0, 1])),
        Normalize(st.Spectrum(4)) + Normalize(st.Spectrum(6, mismatches=1)),
    ]
    chosen = ks.select(strings[:n_train], train, kernels, estimator=ks.GaussianProcessClassifier(criterion="loo"))

    always = round(train.mean())
    print(f"{'':83s}  leave-one-out  held out   right")
    print(f"{'always the same':83s} {'':14s} {0.5:9.1%} {np.mean(test == always):7.1%}")
    for one in chosen.tried:
        model = ks.GaussianProcessClassifier(one.kernel_, optimizer=None).fit(strings[:n_train], train)
        probabilities = model.predict_proba(strings[n_train:])[np.arange(n - n_train), test]
        loo, held_out = np.exp(one.value / n_train), np.exp(np.log(probabilities).mean())
        mark = "  <- chosen" if one is chosen.best else ""
        print(f"{one.kernel_!s:83s} {loo:14.1%} {held_out:9.1%} {np.mean(probabilities > 0.5):7.1%}{mark}")
    letters = np.array([box_letters(text) for text in strings])
    threshold = max(range(13), key=lambda least: np.mean((letters[:n_train] >= least) == train))
    right = np.mean((letters[n_train:] >= threshold) == test)
    print(f"{f'{threshold} letters of the boxes, if somebody tells us these':83s} {'':14s} {'':9s} {right:7.1%}")
    if plot is not None:
        of_promoters = chosen.best_estimator_.predict_proba(strings[n_train:])[:, 1]
        groups = {("promoters" if label else "others"): of_promoters[test == label] for label in (0, 1)}
        draw_histograms(plot, groups, "probability of a promoter, held out")


if __name__ == "__main__":
    main(*sys.argv[1:2])
