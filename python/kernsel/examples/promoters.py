"""Strings that have two boxes somewhere, told from others: `python -m kernsel.examples.promoters [plot.png]`."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

import kernsel as ks
from kernsel.examples.drawing import draw_histograms
from kernsel.kernels import ConstantKernel, Precomputed
from kernsel.structured.bags import bag_gram
from kernsel.structured.data import promoters

__all__ = ["main"]

Vector = NDArray[np.float64]
BOXES = ("TTGACA", "TATAAT")


def normalized(K: Vector) -> Vector:
    """Return K_ij / (K_ii K_jj)^(1/2)."""
    return np.asarray(K / np.sqrt(np.outer(np.diag(K), np.diag(K))))


def grams(strings: list[str]) -> dict[str, Vector]:
    """Return what is compared: kernel matrices of all strings, by their names."""
    found = {}
    for length in (3, 4, 5, 6):
        words = [[text[i : i + length] for i in range(len(text) - length + 1)] for text in strings]
        found[f"spectrum, words of {length} letters"] = normalized(bag_gram(words, kind="product"))
    return found


def fitted(K: Vector, rows: NDArray[np.intp], labels: NDArray[np.intp]) -> ks.GaussianProcessClassifier:
    """Return a classifier of objects, named by rows of their kernel matrix, of the best leave-one-out probabilities."""
    model = ks.GaussianProcessClassifier(ConstantKernel("auto") * Precomputed(K), criterion="loo")
    model.fit(rows[:, None], labels)
    return model


def box_letters(text: str) -> int:
    """Return how many letters of the two boxes, of twelve, can be found at once, 15 to 19 letters apart."""
    first, second = (
        np.array([sum(a == b for a, b in zip(text[i:], box, strict=False)) for i in range(len(text) - 5)]) for box in BOXES
    )
    return max(int((first[: -6 - gap] + second[6 + gap :]).max()) for gap in range(15, 20))


def main(plot: str | None = None) -> None:
    """Compare kernels between strings, on strings that were not used to fit.

    Parameters
    ----------
    plot : str, optional
        The name of a file to draw the probabilities of strings that are held out into; needs matplotlib.
    """
    n = 800
    strings, labels = promoters(n, random_state=0)
    train, test = np.arange(n // 2), np.arange(n // 2, n)
    models = {name: fitted(K, train, labels[train]) for name, K in grams(strings).items()}
    scores = {name: float(model.loo_log_probability_.mean()) for name, model in models.items()}
    best = max(scores, key=lambda name: scores[name])
    print(f"{n} strings of {len(strings[0])} letters; half of them have boxes that differ a little from {' and '.join(BOXES)}.")
    print(f"{len(train)} to learn from, {len(test)} held out; probabilities are geometric means of those of the true class.\n")
    print("                                        leave-one-out      held out    right")
    always = round(labels[train].mean())
    print(f"always the same                                               {0.5:6.1%}   {np.mean(labels[test] == always):6.1%}")
    probabilities = {}
    for name, model in models.items():
        probabilities[name] = model.predict_proba(test[:, None])[:, 1]
        truth = np.where(labels[test], probabilities[name], 1 - probabilities[name])
        mark = "  <- chosen" if name == best else ""
        shown = f"{np.exp(scores[name]):6.1%}        {np.exp(np.log(truth).mean()):6.1%}   {np.mean(truth > 0.5):6.1%}"
        print(f"{name:46s}  {shown}{mark}")
    letters = np.array([box_letters(text) for text in strings])
    enough = max(range(13), key=lambda least: np.mean((letters[train] >= least) == labels[train]))
    right = np.mean((letters[test] >= enough) == labels[test])
    print(f"{f'{enough} letters of the boxes, if somebody tells us these':69s}  {right:6.1%}")
    if plot is not None:
        groups = {("promoters" if which else "others"): probabilities[best][labels[test] == which] for which in (0, 1)}
        draw_histograms(plot, groups, "probability of a promoter")


if __name__ == "__main__":
    main(*sys.argv[1:2])
