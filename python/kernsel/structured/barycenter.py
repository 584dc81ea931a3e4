"""References for transport embeddings: barycenters of distributions, and samples of their points."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Literal

import numpy as np

from kernsel._base.annotations import Matrix
from kernsel.structured.clouds import Cloud, Gaussian, as_clouds
from kernsel.structured.couplings import CloudMaps, Solver, checked_solver, weights_of
from kernsel.structured.gaussians import gaussian_barycenter
from kernsel.structured.line import quantile_edges, quantile_means

__all__ = ["Size", "barycenter", "check_limits", "free_barycenter", "sample"]

Size = int | Literal["auto"]  # the number of points of a reference

_EPS = float(np.finfo(np.float64).eps)
_MOST_ON_A_LINE = 4096  # points of a barycenter on a line; it is exact up to so many


def barycenter(
    X: object, size: Size = "auto", *, max_iter: int = 50, tol: float = 1e-3, solver: Solver = "auto"
) -> Cloud | Gaussian:
    """Return the barycenter of distributions: the one with the least mean squared 2-Wasserstein distance to them.

    For clouds on a line, its quantile function is the mean of theirs; it is exact up to 4096 points. In more dimensions it is a
    cloud of equal weights whose points move, in each iteration, to the mean of their images under the transport maps to the
    clouds, which ends in a local minimum. For Gaussians it is the exact one, which is a Gaussian.

    Parameters
    ----------
    X : sequence of clouds or of Gaussians
    size : int or "auto"
        The number of its points. "auto" is the number that at least half of the clouds have, with equal weights, or the median
        if there is none; on a line, the number that makes it exact.
    max_iter : int
        The greatest number of iterations.
    tol : float
        The iterations stop when points move by less, relative to their standard deviation, in the root mean square.
    solver : {"auto", "pot", "highs"}
        For transport plans that are not assignments: see :class:`TransportEmbedding`.

    Returns
    -------
    center : Cloud or Gaussian

    Examples
    --------
    >>> from kernsel.structured import barycenter
    >>> barycenter([[[0.0, 0.0], [1.0, 0.0]], [[3.0, 4.0], [2.0, 4.0]]]).points
    array([[1., 2.],
           [2., 2.]])
    """
    distributions = as_clouds(X)
    check_limits(size, max_iter, tol)
    solver = checked_solver(solver)
    if isinstance(distributions[0], Gaussian):
        return gaussian_barycenter(distributions)
    return free_barycenter(distributions, size, max_iter, tol, solver)[0]


def free_barycenter(
    clouds: Sequence[Cloud], size: Size, max_iter: int, tol: float, solver: Solver
) -> tuple[Cloud, Matrix | None, int]:
    """Return the barycenter of clouds, the images of its points for each cloud (None on a line), and the number of iterations.

    Parameters
    ----------
    clouds : sequence of Cloud
    size : int or "auto"
    max_iter : int
    tol : float
    solver : {"pot", "highs"}

    Examples
    --------
    >>> free_barycenter([Cloud([[0.0]]), Cloud([[2.0], [4.0]])], "auto", 10, 0.0, "highs")[0].points
    array([[1.],
           [2.]])
    """
    if clouds[0].dimension == 1:
        edges = quantile_edges(clouds, _MOST_ON_A_LINE) if size == "auto" else np.arange(size + 1) / size
        means = np.zeros(len(edges) - 1)
        for cloud in clouds:
            means += quantile_means(cloud.points[:, 0], weights_of(cloud), edges)
        return Cloud((means / len(clouds))[:, None], np.diff(edges)), None, 0
    points = _start(clouds, _size(clouds) if size == "auto" else size)
    step = 0
    while True:
        center = Cloud(points)
        images = CloudMaps(center, solver).images(clouds)
        moved = images.mean(axis=0)
        change = float(np.sum((moved - points) ** 2))
        if step == max_iter or change <= tol**2 * float(np.sum((points - center.mean) ** 2)):
            return center, images, step
        points, step = moved, step + 1


def sample(clouds: Sequence[Cloud], size: Size, rng: np.random.RandomState) -> Cloud:
    """Return distinct points drawn from all clouds, from each cloud with the same probability.

    Parameters
    ----------
    clouds : sequence of Cloud
    size : int or "auto"
    rng : RandomState

    Examples
    --------
    >>> sample([Cloud([[1.0]]), Cloud([[2.0], [3.0]])], 2, np.random.RandomState(0))
    Cloud(2 points of dimension 1, equal weights)
    """
    points = np.concatenate([cloud.points for cloud in clouds])
    probabilities = np.concatenate([cloud.weights for cloud in clouds])
    count = _size(clouds) if size == "auto" else size
    if count > len(points):
        raise ValueError(f"size: expected at most the {len(points)} points of all clouds for a sample, got {size}")
    return Cloud(points[rng.choice(len(points), count, replace=False, p=probabilities / probabilities.sum())])


def check_limits(size: object, max_iter: object, tol: object) -> None:
    """Raise if these arguments of :func:`barycenter` are not allowed.

    Parameters
    ----------
    size, max_iter, tol : object
        As the arguments of :func:`barycenter`.

    Examples
    --------
    >>> check_limits("auto", 0, 0.0)
    """
    if not (isinstance(size, str) and size == "auto"):
        _check_count("size", size, 1, ', or "auto"')
    _check_count("max_iter", max_iter, 0, "")
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 <= float(tol) < np.inf:
        raise ValueError(f"tol: expected a number from 0 on, got {tol!r}")


def _check_count(name: str, value: object, least: int, alternative: str) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{name}: expected a whole number from {least} on{alternative}, got {value!r}")


def _size(clouds: Sequence[Cloud]) -> int:
    """Return the number of points that "auto" stands for."""
    sizes, counts = np.unique([len(cloud) for cloud in clouds if cloud.equal], return_counts=True)
    if 2 * counts.max(initial=0) >= len(clouds):
        return int(sizes[np.argmax(counts)])
    return int(np.median([len(cloud) for cloud in clouds]))


def _start(clouds: Sequence[Cloud], size: int) -> Matrix:
    """Return the points from which the iterations start, shifted such that their mean is the mean of the clouds.

    They are those of the cloud whose mean and covariance are nearest to the averages over all clouds, if it has `size` points
    of equal weights; otherwise points of all clouds, at equal steps of weight along the first principal axis.
    """
    means = np.array([cloud.mean for cloud in clouds])
    covariances = np.array([cloud.covariance for cloud in clouds])
    S = covariances.mean(axis=0)
    deviations = np.sum((means - means.mean(axis=0)) ** 2, axis=1)
    spread = max(float(np.trace(S)), _EPS * float(deviations.mean())) or 1.0  # S is zero for clouds of one point each
    deviations = deviations / spread + np.sum(((covariances - S) / spread) ** 2, axis=(1, 2))
    nearest = clouds[int(np.argmin(deviations))]
    if nearest.equal and len(nearest) == size:
        return np.asarray(nearest.points - nearest.mean + means.mean(axis=0))
    centred = np.concatenate([cloud.points - cloud.mean for cloud in clouds])
    weights = np.concatenate([cloud.weights for cloud in clouds]) / len(clouds)
    coordinates = centred @ np.linalg.eigh(S)[1][:, -1]
    if weights @ coordinates**3 < 0:  # an eigenvector's sign is arbitrary: a positive skewness fixes it
        coordinates = -coordinates
    order = np.argsort(coordinates, kind="stable")
    places = np.searchsorted(np.cumsum(weights[order]), (np.arange(size) + 0.5) / size)
    points = centred[order[np.minimum(places, len(order) - 1)]]
    return np.asarray(points - points.mean(axis=0) + means.mean(axis=0))
