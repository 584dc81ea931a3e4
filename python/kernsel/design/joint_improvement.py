"""The expected improvement of several points together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, special
from sklearn.utils import check_random_state

from kernsel._base.annotations import Matrix, Seed
from kernsel._data.allowed import whole
from kernsel.design.acquisition import best_of
from kernsel.design.first_points import sobol
from kernsel.design.surrogate import Surrogate
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["JointExpectedImprovement"]


class JointExpectedImprovement:
    """The expected improvement of the best of q points, E max(max_i f(x_i) - best, 0), if y is maximized.

    With f = mean + L z, where L L' is the joint covariance of the q points and z are `samples` quasi-random normal vectors that
    stay the same, this is a mean over z, and has derivatives through L. O((n + q) n q + q samples) for each batch.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to one output with normal noise, not approximated.
    q : int
        The number of points, 1 to 8.
    maximize : bool
        Whether large values of y are good, or small ones.
    best : float, optional
        The value of y to improve upon; by default the best of the posterior means at the data.
    samples : int
    random_state : int, RandomState instance or None
        Of the normal vectors.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0]])
    >>> gp = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), alpha=1e-8, optimizer=None).fit(X, np.sin(X[:, 0]))
    >>> joint = ks.design.JointExpectedImprovement(gp, 2, maximize=True)
    >>> bool(joint([[1.6], [1.9]]) > ks.design.ExpectedImprovement(gp, maximize=True)([[1.6]])[0])
    True
    """

    def __init__(
        self,
        model: GaussianProcessRegressor,
        q: int,
        *,
        maximize: bool = False,
        best: float | None = None,
        samples: int = 1024,
        random_state: Seed = 0,
    ) -> None:
        for name, value in (("q", q), ("samples", samples)):
            if not whole(1).accepts(value):
                raise ValueError(f"{name}: expected {whole(1).expected}, got {value!r}")
        self.surrogate = Surrogate(model, maximize)
        self._q = int(q)
        self._best = best_of(self.surrogate, best)
        uniform = sobol(self._q, int(samples), check_random_state(random_state))
        half = 2.0**-33  # Sobol' points are multiples of 2^-32 at most, and may be zero
        self._normal = special.ndtri(np.clip(uniform, half, 1 - half))  # (samples, q)

    def __call__(self, X: ArrayLike) -> float:
        """Return the value of a batch X of shape (q, d)."""
        return self.value_and_gradient(X)[0]

    def value_and_gradient(self, X: ArrayLike) -> tuple[float, Matrix]:
        """Return the value of a batch X of shape (q, d), and its derivatives in the points, (q, d)."""
        Z = self.surrogate.points(X)
        if len(Z) != self._q:
            raise ValueError(f"X: expected {self._q} points, one for each of q, got {len(Z)}")
        joint = self.surrogate.covariance_with(Z)
        lower = _root(joint.at(Z))
        f = self.surrogate.mean(Z) + self._normal @ lower.T
        winner = f.argmax(axis=1)
        gain = f.max(axis=1) - self._best
        gains = gain > 0
        share = 1 / len(f)
        value = float(gain[gains].sum() * share)
        in_mean = share * np.bincount(winner[gains], minlength=self._q)
        in_lower = np.zeros_like(lower)
        np.add.at(in_lower, winner[gains], share * self._normal[gains])
        W = _pull_root(lower, np.tril(in_lower))
        # The covariance is symmetric: a point moves in its row and in its column.
        return value, in_mean[:, None] * self.surrogate.mean_gradient(Z) + joint.pull(Z, 2 * W)


def _root(S: Matrix) -> Matrix:
    """Return the Cholesky factor of a covariance matrix, to which as little is added as that takes."""
    S = (S + S.T) / 2
    size = float(np.max(np.diag(S), initial=0.0)) or np.finfo(float).tiny
    for power in range(-14, 0, 2):
        try:
            return np.asarray(np.linalg.cholesky(S + 10.0**power * size * np.eye(len(S))))
        except np.linalg.LinAlgError:
            continue
    return np.asarray(np.sqrt(size) * np.eye(len(S)))


def _pull_root(lower: Matrix, in_lower: Matrix) -> Matrix:
    """Return the symmetric derivatives in S = L L' from those in its Cholesky factor L."""
    P = np.tril(lower.T @ in_lower)
    P[np.diag_indices_from(P)] /= 2
    left = linalg.solve_triangular(lower, P + P.T, lower=True, trans="T")
    return np.asarray(0.5 * linalg.solve_triangular(lower, left.T, lower=True, trans="T"))
