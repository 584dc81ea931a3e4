"""The posterior by landmarks whose means are iterated to those of the whole kernel matrix."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend
from kernsel._solve.landmark_posterior import LandmarkPosterior, Refined
from kernsel.approximations import Nystrom
from kernsel.kernels import Kernel

__all__ = ["RefinedPosterior"]


class _State(TypedDict):
    """The contents of a pickled posterior."""

    by_landmarks: dict[str, object]
    solution: Refined


class RefinedPosterior(LandmarkPosterior):
    """A Gaussian process whose means are those of the whole kernel matrix, and all else is by landmarks.

    With the coefficients c and beta of K~ c + H beta = y and H'c = 0, found by conjugate gradients, ::

        mean(z) = k(z, X) c + h(z) beta

    in O(n) for each point. Variances, points that are left out and likelihoods are those of :class:`LandmarkPosterior`, since
    they would take the inverse of the whole kernel matrix. If points are added or removed, the iteration begins anew.

    Attributes
    ----------
    solution : Refined
    """

    def __init__(self, kernel: Kernel, X: Matrix, y: Matrix, noise: Vector, trend: Trend, approximation: Nystrom) -> None:
        super().__init__(kernel, X, y, noise, trend, approximation)
        self._set_solution(self.refined())

    @classmethod
    def of(cls, posterior: LandmarkPosterior, solution: Refined | None = None) -> RefinedPosterior:
        """Return a posterior by landmarks with its means refined, or with a solution that is known."""
        made = cls.__new__(cls)
        made.__dict__.update(posterior.__dict__)
        made._set_solution(posterior.refined() if solution is None else solution)
        return made

    def _set_solution(self, solution: Refined) -> None:
        self.solution, self.beta = solution, solution.beta
        no_factor = np.zeros((0, 0))
        data = self.kernel.build(), self.X, self.y, self.noise, self.trend, self.H.shape[1]
        self._of_all = _core.Posterior.restore(*data, solution.weights, solution.beta, no_factor)

    def __getstate__(self) -> _State:  # type: ignore[override]
        return {"by_landmarks": dict(super().__getstate__()), "solution": self.solution}

    def __setstate__(self, state: _State) -> None:  # type: ignore[override]
        super().__setstate__(state["by_landmarks"])  # type: ignore[arg-type]
        self._set_solution(state["solution"])

    @property
    def weights(self) -> Matrix:  # type: ignore[override]
        """The coefficients c, shape (n, outputs)."""
        return self.solution.weights

    def mean(self, Z: Matrix) -> Matrix:
        """Return the mean at points Z, shape (m, outputs)."""
        self._require_trend_of_others()
        return self._of_all.mean(Z)

    def mean_and_variance(self, Z: Matrix) -> tuple[Matrix, Vector]:
        """Return the mean at points Z, shape (m, outputs), and the variance by landmarks, (m,)."""
        return self.mean(Z), self.variance(Z)

    def mean_gradient(self, Z: Matrix) -> Matrix:
        """Return the derivatives of the mean with respect to the points Z, shape (m, d, outputs)."""
        self._require_trend_of_others()
        return self._of_all.mean_gradient(Z).reshape(*Z.shape, -1)

    def centres(self) -> tuple[Matrix, Matrix]:
        """Return the points and their coefficients in the mean, shape (m, outputs)."""
        return self.X, self.weights

    def _changed(self) -> None:
        self._set_solution(self.refined())
