"""Saving and loading of posteriors by landmarks."""

from __future__ import annotations

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.landmark_posterior import LandmarkPosterior, Refined
from kernsel._solve.refined_posterior import RefinedPosterior
from kernsel.approximations import PLACEMENTS, Nystrom
from kernsel.kernels import Kernel
from kernsel.saving.fields import Fields, Writing

__all__ = ["read_landmarks", "write_landmarks"]


def write_landmarks(posterior: LandmarkPosterior, to: Writing) -> None:
    """Write the landmarks and the sums over all rows, and the coefficients of refined means."""
    approximation, sums, landmarks = posterior.approximation, posterior.sums, posterior.landmarks
    outputs, q = len(sums.squares), len(posterior.beta)
    columns = len(landmarks) + q
    numbers = to.part("approximation").json
    numbers |= {
        "landmarks": approximation.count,
        "given": approximation.given is not None,
        "placement": approximation.placement,
        "random_state": int(approximation.random_state),
        "bound": bool(approximation.bound),
        "search_rows": approximation.search_rows or 0,
        "refined": isinstance(posterior, RefinedPosterior),
        "rows": sums.rows,
        "log_noise": sums.log_noise,
        "missing": sums.missing,
    }
    to.array("landmarks", landmarks)
    to.array("landmark_moments", np.reshape(sums.moments, (columns, columns)))
    to.array("landmark_products", np.reshape(sums.products, (outputs, columns)).T)
    to.array("landmark_squares", sums.squares)
    to.array("trend_moments", np.reshape(sums.trend, (q, q)))
    if isinstance(posterior, RefinedPosterior):
        to.array("coefficients", posterior.weights)
        numbers |= {"iterations": posterior.solution.iterations, "residual": posterior.solution.residual}


def read_landmarks(
    given: Fields, kernel: Kernel, X: Matrix, y: Matrix, diagonal: Vector, trend: Trend, beta: Matrix
) -> LandmarkPosterior:
    """Return the posterior of data that have been read, of which there may be none but sums over them."""
    landmarks = np.asarray(given.array("landmarks", None, X.shape[1]))
    with given.part("approximation") as numbers:
        count, are_given = numbers.whole("landmarks", 1), numbers.flag("given")
        placement, seed = numbers.text("placement", PLACEMENTS), numbers.whole("random_state")
        bound, rows, search_rows = numbers.flag("bound"), numbers.whole("rows", 1), numbers.whole("search_rows")
        log_noise, missing = numbers.number("log_noise"), numbers.number("missing")
        refined = numbers.has("refined") and numbers.flag("refined")
        iterations = numbers.whole("iterations") if refined else 0
        residual = numbers.number("residual", 0.0) if refined else 0.0
    if not 0 < len(landmarks) <= count or (are_given and len(landmarks) != count):
        raise ValueError(f"landmarks: expected {count}{'' if are_given else ' at most'}, got {len(landmarks)}")
    if len(X) and len(X) != rows:
        raise ValueError(f"points: expected {rows} points or none, got {len(X)}")
    if refined and not len(X):
        raise ValueError("points: expected those at which coefficients are, got none")
    marks = landmarks if are_given else count
    approximation = Nystrom(marks, placement, seed, bound, search_rows or None, refined)  # type: ignore[arg-type]
    outputs, q = y.shape[1], trend_matrix(trend, landmarks, check=False).shape[1]
    columns = len(landmarks) + q
    products = given.array("landmark_products", columns, outputs)
    sums = _core.NystromSums(
        rows,
        given.array("landmark_moments", columns, columns),
        np.ravel(products.T),
        given.array("landmark_squares", outputs),
        given.array("trend_moments", q, q),
        log_noise,
        missing,
    )
    try:
        posterior = LandmarkPosterior.restored(kernel, X, y, diagonal, trend, approximation, landmarks, sums)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"landmark_moments: {error}") from None
    if not refined:
        return posterior
    weights = given.array("coefficients", len(X), outputs)
    return RefinedPosterior.of(posterior, Refined(weights, beta, iterations, residual, len(landmarks)))
