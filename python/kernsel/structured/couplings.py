"""Optimal transport between clouds of points: plans of the least mean squared distance, and their barycentric projections."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from math import lcm
from typing import Literal, cast

import numpy as np
from scipy.optimize import linear_sum_assignment, linprog
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.structured.clouds import Cloud, Distribution, Gaussian, as_clouds, as_distribution
from kernsel.structured.line import cumulated_weights, quantile_means
from kernsel.structured.threads import on_threads

__all__ = ["CloudMaps", "Solver", "checked_solver", "transport_map", "weights_of"]

Plan = tuple[Indices, Indices, Vector]  # a sparse matrix: rows, columns and masses of the entries that are not zero
Solver = Literal["auto", "pot", "highs"]

_EPS = float(np.finfo(np.float64).eps)
_MOST_COLUMNS = 16  # of points whose distances are summed column by column; beyond, matrix products are faster


def transport_map(reference: Distribution, X: object, *, solver: Solver = "auto") -> Matrix:
    """Return the images T(x_i) of the points of a reference under optimal transport to one or several clouds.

    The plan P from the reference (x_i, a_i) to a cloud (y_j, b_j) has the least mean squared distance. T(x_i) = sum_j P_ij y_j
    / a_i is its barycentric projection, which is the transport map if both have the same number of points, of equal weights.

    Parameters
    ----------
    reference : Cloud, array-like of shape (m, d), or tuple (points, weights)
    X : sequence of clouds
        Each is a `Cloud`, points of shape (n, d), or a tuple (points, weights).
    solver : {"auto", "pot", "highs"}
        For transport plans that are not assignments: see :class:`TransportEmbedding`.

    Returns
    -------
    images : ndarray of shape (N, m, d)

    Examples
    --------
    >>> from kernsel.structured import transport_map
    >>> transport_map([[0.0, 0.0], [1.0, 0.0]], [[[3.0, 1.0], [2.0, 1.0]]])
    array([[[2., 1.],
            [3., 1.]]])
    """
    start = as_distribution(reference, "reference")
    if isinstance(start, Gaussian):
        raise TypeError(f"reference: expected a Cloud, got {start!r:.80}")
    return CloudMaps(start, checked_solver(solver)).images(as_clouds(X, "X", start.dimension, kind=Cloud))


def checked_solver(solver: object) -> Solver:
    """Return the solver, with "auto" resolved; raise if there is none of this name, or it is not installed.

    Parameters
    ----------
    solver : {"auto", "pot", "highs"}

    Examples
    --------
    >>> checked_solver("highs")
    'highs'
    """
    if solver not in ("auto", "pot", "highs"):
        raise ValueError(f'solver: expected "auto", "pot" or "highs", got {solver!r}')
    if solver == "highs":
        return "highs"
    if importlib.util.find_spec("ot") is not None:
        return "pot"
    if solver == "pot":
        raise ImportError("solver: 'pot' needs the package POT: pip install 'kernsel[structured]'")
    return "highs"


class CloudMaps:
    """Optimal transport from one cloud, the reference, to others, and the rows that embed it.

    Parameters
    ----------
    reference : Cloud
    solver : {"pot", "highs"}
    """

    def __init__(self, reference: Cloud, solver: Solver) -> None:
        self.reference = reference
        self.solver = solver
        self.roots = np.sqrt(reference.weights)[:, None]
        if reference.dimension == 1:
            self.order = np.argsort(reference.points[:, 0], kind="stable")
            self.edges = np.append(0.0, cumulated_weights(weights_of(reference), self.order))
        else:
            self.whitened, self.colour = _whitened(_scaled(reference), reference.weights)

    def images(self, clouds: Sequence[Cloud]) -> Matrix:
        """Return the images of the points of the reference for each cloud, shape (N, m, d)."""
        images = np.empty((len(clouds), *self.reference.points.shape))

        def find(i: int) -> None:
            images[i] = self.image(clouds[i])[0]

        on_threads(find, len(clouds))
        return images

    def image(self, cloud: Cloud) -> tuple[Matrix, float]:
        """Return the images of the points, shape (m, d), and the mean squared distance of where mass goes from these."""
        if self.reference.dimension == 1:
            image = np.empty((len(self.reference), 1))
            image[self.order, 0] = quantile_means(cloud.points[:, 0], weights_of(cloud), self.edges)
            return image, 0.0  # on a line the spread is not computed, because nothing uses it
        C = self.costs(cloud)
        if self.reference.equal and cloud.equal and len(self.reference) == len(cloud):
            return cloud.points[linear_sum_assignment(C)[1]], 0.0
        rows, columns, mass = _plan(self.reference, cloud, C, self.solver)
        # Points of the reference with so little weight that the plan has no mass for them go to the nearest point.
        if len(lost := np.setdiff1d(np.arange(len(C)), rows)):
            rows = np.append(rows, lost)
            columns = np.append(columns, C[lost].argmin(axis=1))
            mass = np.append(mass, np.full(len(lost), 1e-150))
        centred = cloud.points - cloud.mean
        P = csr_array((mass, (rows, columns)), shape=C.shape)
        image = (P @ centred) / np.bincount(rows, mass)[:, None]
        spread = float(mass @ np.sum((centred[columns] - image[rows]) ** 2, axis=1))
        return np.asarray(image + cloud.mean), spread

    def costs(self, cloud: Cloud) -> Matrix:
        """Return a matrix of costs, shape (m, n), with the same optimal plan as the squared distances, which is found faster.

        x'y = (B x)'(B^-T y) for any B, so that |B x - B^-T y|^2 differs from -2 x'y by a function of x and a function of y,
        neither of which changes the optimal plan. With B'B the optimal map between Gaussians that have the covariances of the
        two clouds, B x and B^-T y have the same covariance, and nearby points are almost the optimal plan.
        """
        y = _scaled(cloud) @ self.colour
        S = (y * cloud.weights[:, None]).T @ y
        if cloud.dimension > _MOST_COLUMNS:
            ratio = max(float(np.trace(S)), _EPS) ** 0.25
            return _squares(self.whitened * ratio, y / ratio)
        values, vectors = np.linalg.eigh(S)
        values = np.maximum(values, 1e-6 * max(values[-1], _EPS)) ** 0.25
        return _squares((self.whitened @ vectors) * values, (y @ vectors) / values)

    def rows_of(self, images: Matrix) -> Matrix:
        """Return the rows of clouds, from the images of the points for each."""
        return np.asarray(((self.reference.points - images) * self.roots).reshape(len(images), -1))

    def rows(self, clouds: Sequence[Cloud]) -> Matrix:
        """Return the rows of clouds."""
        return self.rows_of(self.images(clouds))

    def distribution(self, row: Vector) -> Cloud:
        """Return the cloud that a row embeds."""
        shift = row.reshape(self.reference.points.shape) / self.roots
        return Cloud(self.reference.points - shift, self.reference.weights)


def weights_of(cloud: Cloud) -> Vector | None:
    """Return the weights of a cloud; None if they are equal.

    Parameters
    ----------
    cloud : Cloud

    Examples
    --------
    >>> weights_of(Cloud([[0.0], [1.0]], [0.25, 0.75]))
    array([0.25, 0.75])
    """
    return None if cloud.equal else cloud.weights


def _scaled(cloud: Cloud) -> Matrix:
    """Return the points, centred and scaled to a largest coordinate of about 1, which changes no optimal plan."""
    centred = cloud.points - cloud.mean
    largest = float(np.abs(centred).max())
    return np.asarray(np.ldexp(centred, -int(np.frexp(largest)[1])))  # a power of two: nothing is rounded


def _whitened(x: Matrix, weights: Vector) -> tuple[Matrix, Matrix]:
    """Return x S^(-1/2) and S^(1/2), where S is the covariance of x, or for many columns its trace times the identity."""
    d = x.shape[1]
    S = (x * weights[:, None]).T @ x
    if d > _MOST_COLUMNS:
        size = max(float(np.trace(S)), _EPS) ** 0.5
        return x / size, np.eye(d) * size
    values, vectors = np.linalg.eigh(S)
    roots = np.sqrt(np.maximum(values, 1e-6 * max(values[-1], _EPS)))
    return (x @ vectors) / roots @ vectors.T, (vectors * roots) @ vectors.T


def _squares(x: Matrix, y: Matrix) -> Matrix:
    """Return the matrix of all |x_i - y_j|^2."""
    if x.shape[1] <= _MOST_COLUMNS:
        return np.asarray(cdist(x, y, "sqeuclidean"))
    C = x @ (-2 * y.T)
    C += np.sum(x**2, axis=1)[:, None]
    C += np.sum(y**2, axis=1)
    return np.asarray(np.maximum(C, 0.0, out=C))


def _plan(a: Cloud, b: Cloud, C: Matrix, solver: Solver) -> Plan:
    """Return the optimal plan between clouds."""
    n, m = C.shape
    count = lcm(n, m)
    if a.equal and b.equal and count <= 2 * max(n, m):
        # Each point is split into several of less weight, `count` in each cloud, and the plan is an assignment of these.
        C = np.repeat(np.repeat(C, count // n, axis=0), count // m, axis=1)
        columns = linear_sum_assignment(C)[1]
        return np.arange(count) // (count // n), columns // (count // m), np.full(count, 1 / count)
    return (_by_network_simplex if solver == "pot" else _by_linear_program)(a.weights, b.weights, C)


def _by_network_simplex(a: Vector, b: Vector, C: Matrix) -> Plan:
    pot = importlib.import_module("ot")
    P, log = pot.emd(a, b, C, numItermax=100_000_000, log=True)
    if log["warning"] is not None:
        raise RuntimeError(f"solver: POT found no optimal plan: {log['warning']}")
    rows, columns = np.nonzero(P)
    return rows, columns, P[rows, columns]


def _by_linear_program(a: Vector, b: Vector, C: Matrix) -> Plan:
    n, m = C.shape
    rows, columns = (index.ravel() for index in np.indices((n, m)))
    places = (np.concatenate([rows, n + columns]), np.tile(np.arange(n * m), 2))
    scale = max(n, m)  # brings masses and costs near one, to which the solver's tolerances are relative
    solution = linprog(
        C.ravel() / max(float(C.max()), np.finfo(np.float64).tiny),
        A_eq=csr_array((np.ones(2 * n * m), places), shape=(n + m, n * m)),
        b_eq=scale * np.concatenate([a, b]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if not solution.success:
        raise RuntimeError(f"solver: the linear program of a transport plan was not solved: {solution.message}")
    positive = solution.x > 0
    return rows[positive], columns[positive], cast("Vector", solution.x[positive] / scale)
