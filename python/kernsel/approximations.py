"""Approximations of the kernel matrix, for any number of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Matrix
from kernsel.kernels import Kernel

__all__ = ["Approximation", "Nystrom", "Vecchia", "approximation_given", "require_unrefined"]


@dataclass(frozen=True)
class Vecchia:
    """Nearest neighbours: each point is predicted from a few others instead of from all.

    The density of the targets is a product of densities of one target each, given those before it in some order. Here each is
    given only the nearest `neighbors` of those before it. With K~ on a point and its neighbours = L L' and v = L^-T e, e the
    unit vector of the point, ::

        K~^-1 = sum of v v',    log det K~ = -2 sum of log v_ii

    A point that is left out is predicted from the nearest `neighbors` of all others, and a new point from the nearest
    `predict_neighbors`. Near means near in columns that are divided by the kernel's length scales. All criteria have exact
    gradients. With as many neighbours as there are other points nothing is approximated.

    It takes n m^3 / 3 operations and n m numbers of four bytes, m being the number of neighbours.

    With inducing points K = Q + R, where Q = F F' is what the function's values at `inducing` landmarks Z determine, ::

        F = k(X, Z) L^-T,    k(Z, Z) = L L'

    Q is exact between all points, and only R and the noise are approximated by neighbours: where the function is smooth and
    there is hardly any noise, neighbours see too little, and inducing points help more than more neighbours do. Landmarks are
    chosen among the points by a randomly pivoted Cholesky factorization. With k of them it takes n k (m^2 + 2 k) operations
    more, and 3 n k doubles for the gradient of a likelihood, or 7 n k for that of a criterion that leaves points out.

    Parameters
    ----------
    neighbors : int
        The neighbours by which hyperparameters are chosen. If there is much noise, or if the function is smooth and there is
        hardly any noise, more are needed than otherwise.
    predict_neighbors : int
        The neighbours from which new points are predicted. More than for the choice of hyperparameters, since there they count
        for far more.
    random_state : int
        Determines the order of the points, which of them a search sees, and which are landmarks.
    inducing : int
        The number of inducing points, 0 for none and 2000 at most. Fewer are used if there are fewer points, or if fewer
        determine the function at all others.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X = np.random.default_rng(0).uniform(size=(3000, 2))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> exact, near = (ks.evaluate("loo", RBF(0.3), X, y, noise=0.1, approximation=a).value for a in (None, ks.Vecchia(50)))
    >>> bool(abs(exact - near) < 0.001 * np.var(y))
    True
    """

    neighbors: int = 30
    predict_neighbors: int = 200
    random_state: int = 0
    inducing: int = 0

    def __post_init__(self) -> None:
        for name, least in (("neighbors", 1), ("predict_neighbors", 1), ("random_state", 0), ("inducing", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
                raise ValueError(f"{name}: expected a whole number from {least} on, got {value!r}")
        if max(self.neighbors, self.predict_neighbors) > 500:
            raise ValueError(
                f"neighbors, predict_neighbors: expected at most 500, got {self.neighbors} and {self.predict_neighbors}: "
                "the cost grows with their third power"
            )
        if self.inducing > 2000:
            raise ValueError(
                f"inducing: expected at most 2000, got {self.inducing}: the cost grows with their square; for more accuracy "
                "take more neighbors or predict_neighbors"
            )

    def core(
        self,
        terms: Sequence[int] = (),
        neighbors: int | None = None,
        landmarks: Sequence[float] = (),
        ordered: bool = False,
        features: Sequence[Feature] = (),
    ) -> CoreNumbers:
        """Return the numbers that the core takes.

        Parameters
        ----------
        terms : sequence of int
            The points over which criteria sum; all points if there are none.
        neighbors : int, optional
            In the place of the attribute.
        landmarks : sequence of float
            The coordinates of known landmarks, one after the other; if empty, they are chosen.
        ordered : bool
            Whether the order of the points is that of the rows.
        features : sequence of (column, scale, period)
            The coordinates in which neighbours are near, as the core's `features_of` returns them; if empty, they are read off
            the kernel.
        """
        numbers = int(neighbors or self.neighbors), int(self.random_state), list(terms), int(self.inducing), list(landmarks)
        return *numbers, ordered, list(features)


Feature: TypeAlias = tuple[int, float, float]  # column, scale, period or zero
CoreNumbers: TypeAlias = tuple[int, int, list[int], int, list[float], bool, list[Feature]]


@dataclass(frozen=True, eq=False, repr=False)
class Nystrom:
    """Landmarks: the function is known by its values at m points Z, for any number of points with much noise.

    The kernel matrix is replaced by what the function's values at the landmarks determine. With noise N, ::

        K~ = Q + N,    Q = F F',    F = k(X, Z) L^-T,    k(Z, Z) = L L'

    so that all that n points say is a sum over them: m x m matrices and no n x m matrix are stored. All criteria have exact
    gradients. What landmarks do not see of the function at point i is its missing variance, ::

        e_i = k(x_i, x_i) - q_ii

    Points that are left out are predicted with the variance 1 / P_ii + e_i, P = K~^-1 (with a trend, P without what the trend
    explains), and new points likewise. The log likelihood is a lower bound of the exact one,

        log N(y; H b, Q + N) - 1/2 sum_i e_i / N_i    for each output,

    which more landmarks only raise (Titsias, 2009). The diagonal of k(Z, Z) is multiplied by 1 + 1e-10. With Z = X nothing else
    is approximated.

    It takes 2 n m^2 operations, 4 n m^2 with the gradient of a likelihood, 7 n m^2 with that of squared or absolute errors of
    points that are left out one by one, and 12 n m^2 with that of their densities.

    It is for data with much noise, for many columns, in which points have no near neighbours, and for smooth functions. It is
    dangerous where there is little noise: then m numbers cannot say what n points know, predictions are worse than those of
    neighbours, and densities, where e_i is much larger than the noise, are absurd. :class:`kernsel.Vecchia` is for such data.

    Parameters
    ----------
    landmarks : int or array-like of shape (m, d)
        The number of landmarks, at most 10000, which are chosen among the points or near them; or the landmarks themselves.
        Fewer are used if there are fewer points, or if fewer determine the function at all others.
    placement : {"pivoted", "k-means", "random"}
        How they are chosen: by a randomly pivoted Cholesky factorization, which spreads them over the points and places them
        densely where the function varies fast; as means of clusters, in columns that are divided by the kernel's length scales;
        or as some of the points. Of more than 20 points for each landmark, and of more than 20,000, a random part is seen.
        Landmarks that are given stay where they are.
    random_state : int
        Determines which are chosen.
    bound : bool
        Whether likelihoods are the lower bound. Without it they are those of Q + N, and may reward landmarks that are too few.
    search_rows : int or None
        The most rows by which hyperparameters are chosen, at random; None for all. The fit that follows sees all rows.
    refine : bool
        Only for :class:`kernsel.KernelRidge` and :class:`kernsel.GaussianProcessRegressor`, with points in memory: the function
        is that of the whole kernel matrix, by conjugate gradients whose preconditioner is the approximation. Each takes n^2
        values of the kernel and no memory: some minutes for 100,000 points. More landmarks and more noise make them fewer, some
        twenty where landmarks miss less than the noise. Hyperparameters, variances, likelihoods and points that are left out
        stay those of the landmarks. A prediction takes n values of the kernel instead of m.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(3000, 2))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1] + rng.normal(scale=0.3, size=3000)
    >>> exact, bound = (ks.evaluate("lml", RBF(0.3), X, y, noise=0.1, approximation=a).value for a in (None, ks.Nystrom(50)))
    >>> bool(exact - 1 < bound < exact)
    True
    """

    landmarks: int | ArrayLike = 1000
    placement: Literal["pivoted", "k-means", "random"] = "pivoted"
    random_state: int = 0
    bound: bool = True
    search_rows: int | None = 50000
    refine: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.landmarks, Integral):
            object.__setattr__(self, "landmarks", _given_landmarks(self.landmarks))
        for name, least in (("landmarks", 1), ("random_state", 0), ("search_rows", 1)):
            value = getattr(self, name)
            if isinstance(value, np.ndarray) or (name == "search_rows" and value is None):
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
                raise ValueError(f"{name}: expected a whole number from {least} on, got {value!r}")
        if self.count > 10000:
            raise ValueError(
                f"landmarks: expected at most 10000, got {self.count}: the cost grows with their square; for more accuracy "
                "take kernsel.Vecchia()"
            )
        if self.placement not in PLACEMENTS:
            raise ValueError(f'placement: expected "pivoted", "k-means" or "random", got {self.placement!r}')
        for name in ("bound", "refine"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name}: expected True or False, got {getattr(self, name)!r}")

    @property
    def given(self) -> Matrix | None:
        """The landmarks, shape (m, d), if they are given; read-only."""
        return self.landmarks if isinstance(self.landmarks, np.ndarray) else None

    @property
    def count(self) -> int:
        """The number of landmarks, at most."""
        return len(self.given) if self.given is not None else int(self.landmarks)  # type: ignore[arg-type]

    def core(self) -> CoreLandmarks:
        """Return what the core takes: number, number of the placement, seed, bound, and the coordinates if they are given."""
        coordinates = [] if self.given is None else self.given.ravel().tolist()
        numbers = self.count, PLACEMENTS.index(self.placement), int(self.random_state), bool(self.bound)
        return "landmarks", *numbers, coordinates

    def __repr__(self) -> str:
        given = self.given
        landmarks = f"{self.count}" if given is None else f"<array of shape {given.shape}>"
        rest = (f"{name}={getattr(self, name)!r}" for name in ("placement", "random_state", "bound", "search_rows", "refine"))
        return f"Nystrom(landmarks={landmarks}, {', '.join(rest)})"

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Nystrom) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        _, number, placement, seed, bound, _ = self.core()
        given = self.given
        coordinates = None if given is None else (given.shape, given.tobytes())
        return number, placement, seed, bound, coordinates, self.search_rows, bool(self.refine)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes of a copy, whose landmarks are read-only again."""
        self.__dict__.update(state)
        if self.given is not None:
            self.given.setflags(write=False)


PLACEMENTS = ("pivoted", "k-means", "random")  # in the order of the core
CoreLandmarks: TypeAlias = tuple[Literal["landmarks"], int, int, int, bool, list[float]]


def _given_landmarks(value: ArrayLike) -> Matrix:
    """Return landmarks that are given, copied and read-only, shape (m, d)."""
    try:
        landmarks = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        landmarks = np.empty(0)
    if landmarks.ndim != 2 or landmarks.size == 0:
        said = repr(value) if landmarks.ndim < 2 else f"shape {landmarks.shape}"
        raise ValueError(f"landmarks: expected a whole number from 1 on, or landmarks of shape (m, d), got {said}")
    if not np.isfinite(landmarks).all():
        row, column = np.argwhere(~np.isfinite(landmarks))[0]
        raise ValueError(f"landmarks: expected finite coordinates, got {landmarks[row, column]} in row {row}, column {column}")
    landmarks.setflags(write=False)
    return landmarks


Approximation: TypeAlias = Vecchia | Nystrom


def approximation_given(
    value: object, kernel: Kernel, columns: int | None = None, *, may_refine: bool = False
) -> Approximation | None:
    """Return the approximation that an argument stands for; raise if it is none, or if kernel or points do not allow it.

    Parameters
    ----------
    value : object
    kernel : Kernel
    columns : int, optional
        Those of the points, which landmarks that are given must have, too.
    may_refine : bool
        Whether what it is for can iterate to what the whole kernel matrix gives.
    """
    if value is None:
        return None
    if not isinstance(value, (Vecchia, Nystrom)):
        raise TypeError(
            f"approximation: expected None or an approximation, kernsel.Vecchia() or kernsel.Nystrom(), got {value!r}"
        )
    _require_columns(value, kernel)
    if isinstance(value, Nystrom) and not may_refine:
        require_unrefined(value)
    if isinstance(value, Nystrom) and value.given is not None and columns not in (None, value.given.shape[1]):
        raise ValueError(f"landmarks: expected {columns} columns, as X has, got shape {value.given.shape}")
    return value


def require_unrefined(approximation: Nystrom) -> None:
    """Raise if an approximation is to be refined, for what cannot do that."""
    if approximation.refine:
        raise ValueError(
            "refine: expected False here; only KernelRidge and GaussianProcessRegressor, with points in memory, iterate to the "
            "exact fit"
        )


def _require_columns(approximation: Approximation, kernel: Kernel) -> None:
    """Raise if the points of a kernel are objects, which have neither nearest neighbours nor landmarks in columns."""
    if kernel.for_objects():
        raise ValueError(
            f"approximation: {type(approximation).__name__} needs points that are rows of numbers, and this kernel is for "
            "objects; expected None, or features of the objects as columns"
        )


Wish: TypeAlias = Approximation | Literal["auto"] | None
