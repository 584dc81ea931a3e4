"""The posterior of a Gaussian process that is known by its values at landmarks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernsel import _core
from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.evaluate import left_out_in_groups
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Nystrom
from kernsel.kernels import Kernel

__all__ = ["LandmarkPosterior", "Refined"]


_TOLERANCE = 1e-8  # of the residual, relative to the targets without their trend
_MOST_ITERATIONS = 300


@dataclass(frozen=True)
class Refined:
    """The coefficients c and beta of the whole kernel matrix, K~ c + H beta = y and H'c = 0, to some residual.

    Attributes
    ----------
    weights : ndarray of shape (n, outputs)
    beta : ndarray of shape (q, outputs)
    iterations : int
        Of conjugate gradients; each takes a product with the kernel matrix.
    residual : float
        |y - H beta - K~ c| / |y - H beta|, the largest of the outputs.
    landmarks : int
        Of the preconditioner.
    """

    weights: Matrix
    beta: Matrix
    iterations: int
    residual: float
    landmarks: int

    @property
    def converged(self) -> bool:
        """Whether the residual is small; rounding errors may leave some more than what was asked for."""
        return self.residual <= 100 * _TOLERANCE

    def warn(self, regularization: str) -> None:
        """Warn if the residual is not small, naming what may be larger besides the number of landmarks."""
        if not self.converged:
            warnings.warn(f"{self} Take more landmarks, or a larger {regularization}.", ConvergenceWarning, stacklevel=5)

    def __str__(self) -> str:
        return (
            f"coefficients of the whole kernel matrix were found by conjugate gradients with {self.landmarks} landmarks, in "
            f"{self.iterations} iterations to a relative residual of {self.residual:.1g}."
        )


class _State(TypedDict):
    """The contents of a pickled posterior."""

    kernel: Kernel
    X: Matrix
    y: Matrix
    noise: Vector
    trend: Trend
    approximation: Nystrom
    landmarks: Matrix
    sums: _core.NystromSums


class LandmarkPosterior(Posterior):
    """A Gaussian process conditioned on data, of which landmarks see all that predictions know; see :class:`kernsel.Nystrom`.

    With the landmarks U, K_UU = L L', the features f(z) = L^-1 k(U, z), the functions h of the trend, d = (f, h) and
    D'N^-1 D + diag(1, ..., 1, 0, ..., 0) = R R' ::

        mean(z) = d(z)'w,    w = R'^-1 R^-1 D'N^-1 y
        var(z) = k(z, z) - |f(z)|^2 + |R^-1 d(z)|^2

    All noise variances have to be positive. A posterior of rows that were never in memory, :meth:`of_sums`, has kept none of
    them: `X`, `y`, `noise` and `H` are then empty, and what takes rows raises ValueError.

    Attributes
    ----------
    approximation : Nystrom
    """

    exact = False

    def __init__(self, kernel: Kernel, X: Matrix, y: Matrix, noise: Vector, trend: Trend, approximation: Nystrom) -> None:
        self._take(kernel, X, y, noise, trend, approximation, trend_matrix(trend, X, check=False))
        count = self.H.shape[1]
        self._of_landmarks = _core.NystromPosterior.condition(kernel.build(), X, y, noise, trend, count, approximation.core())
        self.beta = self._of_landmarks.beta

    @classmethod
    def of_sums(
        cls, kernel: Kernel, trend: Trend, approximation: Nystrom, landmarks: Matrix, sums: _core.NystromSums
    ) -> LandmarkPosterior:
        """Return the posterior of rows of which only sums for some landmarks, shape (m, d), are known."""
        none, outputs = np.zeros((0, landmarks.shape[1])), np.zeros((0, len(sums.squares)))
        return cls.restored(kernel, none, outputs, np.zeros(0), trend, approximation, landmarks, sums)

    @classmethod
    def restored(
        cls,
        kernel: Kernel,
        X: Matrix,
        y: Matrix,
        noise: Vector,
        trend: Trend,
        approximation: Nystrom,
        landmarks: Matrix,
        sums: _core.NystromSums,
    ) -> LandmarkPosterior:
        """Return the posterior that has these attributes, to the same bits; without rows if X has none."""
        made = cls.__new__(cls)
        made.__setstate__(
            {
                "kernel": kernel,
                "X": X,
                "y": y,
                "noise": noise,
                "trend": trend,
                "approximation": approximation,
                "landmarks": landmarks,
                "sums": sums,
            }
        )
        return made

    def _take(
        self, kernel: Kernel, X: Matrix, y: Matrix, noise: Vector, trend: Trend, approximation: Nystrom, H: Matrix
    ) -> None:
        self.kernel, self.trend, self.approximation = kernel, trend, approximation
        self.X, self.y, self.noise, self.H = X, y, noise, H

    def __getstate__(self) -> _State:  # type: ignore[override]
        return {
            "kernel": self.kernel,
            "X": self.X,
            "y": self.y,
            "noise": self.noise,
            "trend": self.trend,
            "approximation": self.approximation,
            "landmarks": self.landmarks,
            "sums": self.sums,
        }

    def __setstate__(self, state: _State) -> None:  # type: ignore[override]
        X, trend, landmarks = state["X"], state["trend"], state["landmarks"]
        H = trend_matrix(trend, X if len(X) else landmarks, check=False)[: len(X)]
        self._take(state["kernel"], X, state["y"], state["noise"], trend, state["approximation"], H)
        count, known = H.shape[1], replace(self.approximation, landmarks=landmarks).core()
        self._of_landmarks = _core.NystromPosterior.restore(
            self.kernel.build(), X, self.y, self.noise, trend, count, known, state["sums"]
        )
        self.beta = self._of_landmarks.beta

    @property
    def landmarks(self) -> Matrix:
        """The landmarks, shape (m, d)."""
        return self._of_landmarks.landmarks

    @property
    def sums(self) -> _core.NystromSums:
        """The sums over all rows, from which everything else follows."""
        return self._of_landmarks.sums

    @property
    def keeps_rows(self) -> bool:
        """Whether the rows are kept, and not only sums over them."""
        return len(self.X) > 0

    @property
    def n_rows(self) -> int:
        """The number of rows that it was conditioned on, also if they are not kept."""
        return self.sums.rows

    @property
    def missing(self) -> float:
        """What landmarks do not see of the function, in units of the noise: the mean of e_i / N_i. It should not exceed 1."""
        sums = self.sums
        return sums.missing / sums.rows

    def arguments(self) -> dict[str, object]:
        """Return the arguments from which an equal posterior can be made."""
        return super().arguments() | {"approximation": self.approximation}

    def with_approximation(self, approximation: Nystrom) -> LandmarkPosterior:
        """Return a posterior of the same data by another approximation."""
        self._require_rows()
        return LandmarkPosterior(self.kernel, self.X, self.y, self.noise, self.trend, approximation)

    def path_approximation(self) -> Nystrom | None:
        """Return the approximation of a regularization path with the same landmarks; None if it has no rows to read."""
        return Nystrom(self.landmarks, bound=self.approximation.bound) if self.keeps_rows else None

    def _at(self) -> _core.AnyPosterior:
        return self._of_landmarks

    def mean_and_variance(self, Z: Matrix) -> tuple[Matrix, Vector]:
        """Return the mean at points Z, shape (m, outputs), and the variance, (m,), from the same kernel values."""
        self._require_trend_of_others()
        return self._of_landmarks.predict(Z)

    def centres(self) -> tuple[Matrix, Matrix]:
        """Return the landmarks, and their coefficients in the mean, shape (m, outputs)."""
        return self.landmarks, self._of_landmarks.landmark_weights

    def lower(self) -> Matrix:
        """Raise: there is no Cholesky factor of the whole kernel matrix."""
        raise AttributeError("an approximation by landmarks has no Cholesky factor of the whole kernel matrix")

    @cached_property
    def weights(self) -> Matrix:  # type: ignore[override]
        """The coefficients c = P (y - H beta), shape (n, outputs), for the approximation's P; computed on first access."""
        self._require_rows()
        return self._of_landmarks.weights

    def leave_one_out(self, groups: Indices | None = None) -> tuple[Matrix, Vector, Vector]:
        """Return the leave-one-out residuals, shape (n, outputs), their variances, (n,), and the leverages, (n,).

        The landmarks are held. Equal rows are left out together, or the points of each group if there are groups.
        """
        self._require_rows()
        alone = self._of_landmarks.leave_one_out()
        together = self.given(groups).left_out_together()
        return alone if together is None else (*left_out_in_groups(self._of_landmarks.value, *together), alone[2])

    def refined(self) -> Refined:
        """Return the coefficients of the whole kernel matrix, by conjugate gradients with this approximation in n^2 each."""
        self._require_rows()
        known = replace(self.approximation, landmarks=self.landmarks).core()
        weights, beta, iterations, residual = _core.solve_by_conjugate_gradients(
            self.kernel.build(),
            self.X,
            self.y,
            self.noise,
            self.trend,
            self.H.shape[1],
            known,
            _TOLERANCE,
            _MOST_ITERATIONS,
        )
        return Refined(weights, beta, iterations, residual, len(self.landmarks))

    def squares(self) -> Vector:
        """Return y'c of each output."""
        return np.asarray(self._of_landmarks.squares)

    def log_dets(self) -> tuple[float, float]:
        """Return the logarithms of the determinants of K~, and of H'PH over that of H'H."""
        return self._of_landmarks.log_det, self._of_landmarks.log_det_trend

    def log_likelihood(self, scale: Vector, *, restricted: bool = False) -> float:
        """Return the log likelihood, summed over outputs, or its lower bound if the approximation says so."""
        m, sums = len(self._of_landmarks.squares), self.sums
        value = self._log_density(sums.rows, scale, restricted=restricted)
        return value - 0.5 * m * sums.missing if self.approximation.bound else value

    def append(self, X: Matrix, y: Matrix, noise: Vector) -> None:
        """Add points to the sums, O(m^2) for each and m^3. If one of them cannot be added, none is."""
        self._require_trend_of_others()
        self._of_landmarks.append(X, y, noise)
        if self.keeps_rows:
            self._keep(np.vstack([self.X, X]), np.vstack([self.y, y]), np.append(self.noise, noise))
        self._changed()

    def remove(self, i: int) -> None:
        """Subtract point i from the sums, O(m^3). Landmarks stay where they are."""
        self._require_rows()
        i %= len(self.X)
        self._of_landmarks.remove(i)
        self._keep(np.delete(self.X, i, axis=0), np.delete(self.y, i, axis=0), np.delete(self.noise, i))
        self._changed()

    def _keep(self, X: Matrix, y: Matrix, noise: Vector) -> None:
        self.X, self.y, self.noise = X, y, noise
        self.H = trend_matrix(self.trend, X, check=False)

    def _changed(self) -> None:
        self.beta = self._of_landmarks.beta
        self.__dict__.pop("weights", None)

    def _require_rows(self) -> None:
        if not self.keeps_rows:
            raise ValueError("posterior: it was made of sums over rows and has kept none of them, which this needs")
