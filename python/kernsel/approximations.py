"""Approximations of the kernel matrix, for any number of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeAlias

from kernsel.kernels import Kernel

__all__ = ["Approximation", "Vecchia", "approximation_given"]


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

    def core(self, terms: Sequence[int] = (), neighbors: int | None = None, landmarks: Sequence[float] = ()) -> CoreNumbers:
        """Return the numbers that the core takes.

        Parameters
        ----------
        terms : sequence of int
            The points over which criteria sum; all points if there are none.
        neighbors : int, optional
            In the place of the attribute.
        landmarks : sequence of float
            The coordinates of known landmarks, one after the other; if empty, they are chosen.
        """
        return int(neighbors or self.neighbors), int(self.random_state), list(terms), int(self.inducing), list(landmarks)


CoreNumbers: TypeAlias = tuple[int, int, list[int], int, list[float]]
Approximation: TypeAlias = Vecchia


def approximation_given(value: object, kernel: Kernel) -> Approximation | None:
    """Return the approximation that an argument stands for; raise if it is none, or if the kernel does not allow it."""
    if value is None:
        return None
    if not isinstance(value, Vecchia):
        raise TypeError(f"approximation: expected None or an approximation such as kernsel.Vecchia(), got {value!r}")
    require_columns(kernel)
    return value


def require_columns(kernel: Kernel) -> None:
    """Raise if the points of a kernel are objects, which have no nearest neighbours in columns."""
    if kernel.reading() is not None or kernel.for_objects():
        raise ValueError(
            "approximation: Vecchia needs points that are rows of numbers, and this kernel is for objects; expected None, or "
            "features of the objects as columns"
        )


Wish: TypeAlias = Approximation | Literal["auto"] | None
