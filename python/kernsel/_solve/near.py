"""The posterior of a Gaussian process in which each new point is predicted from its nearest neighbours."""

from __future__ import annotations

from functools import cached_property
from typing import TypedDict

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.evaluate import left_out_in_groups
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Vecchia
from kernsel.criteria import Workspace
from kernsel.criteria.base import Criterion
from kernsel.kernels import Kernel

__all__ = ["NearPosterior"]

_LEFT_OUT = 100  # neighbours of points that are left out, all n of which are predicted


class _State(TypedDict):
    """The contents of a pickled posterior."""

    kernel: Kernel
    X: Vector
    y: Vector
    noise: Vector
    trend: Trend
    approximation: Vecchia
    coefficients: Vector
    triangle: list[float]
    landmarks: list[float]


class NearPosterior(Posterior):
    """A Gaussian process conditioned on data, of which each prediction sees the nearest points; see :class:`kernsel.Vecchia`.

    Attributes
    ----------
    approximation : Vecchia
    """

    exact = False

    def __init__(self, kernel: Kernel, X: Vector, y: Vector, noise: Vector, trend: Trend, approximation: Vecchia) -> None:
        self._take(kernel, X, y, noise, trend, approximation)
        self._near = _core.VecchiaPosterior.condition(
            kernel.build(), X, y, noise, trend, self.H.shape[1], approximation.core(), approximation.predict_neighbors
        )
        self.beta = self._near.beta

    def _take(self, kernel: Kernel, X: Vector, y: Vector, noise: Vector, trend: Trend, approximation: Vecchia) -> None:
        self.kernel, self.trend, self.approximation = kernel, trend, approximation
        self.X, self.y, self.noise = X, y, noise
        self.H = trend_matrix(trend, X, check=False)

    def __getstate__(self) -> _State:  # type: ignore[override]
        return {
            "kernel": self.kernel,
            "X": self.X,
            "y": self.y,
            "noise": self.noise,
            "trend": self.trend,
            "approximation": self.approximation,
            "coefficients": self.coefficients,
            "triangle": self.triangle,
            "landmarks": self._known_landmarks(),
        }

    @classmethod
    def restored(
        cls,
        kernel: Kernel,
        X: Vector,
        y: Vector,
        noise: Vector,
        trend: Trend,
        approximation: Vecchia,
        coefficients: Vector,
        triangle: Vector,
        landmarks: Vector,
    ) -> NearPosterior:
        """Return the posterior that has these attributes, the triangle as a matrix."""
        made = cls.__new__(cls)
        columns = np.ravel(triangle, order="F").tolist()
        made.__setstate__(
            {
                "kernel": kernel,
                "X": X,
                "y": y,
                "noise": noise,
                "trend": trend,
                "approximation": approximation,
                "coefficients": coefficients,
                "triangle": columns,
                "landmarks": np.ravel(landmarks).tolist(),
            }
        )
        return made

    @property
    def triangle(self) -> list[float]:
        """The upper triangle R of D = [F H], by columns: D'PD + I = R'R, the identity being that of F."""
        return self._near.triangle

    @property
    def coefficients(self) -> Vector:
        """The coefficients of inducing points, and then of the trend, shape (columns, outputs)."""
        return self._near.coefficients

    @property
    def landmarks(self) -> Vector:
        """The landmarks of the inducing points, shape (k, d); none without inducing points."""
        return self._near.landmarks

    def _known_landmarks(self) -> list[float]:
        """Return the coordinates of the landmarks, one after the other."""
        return np.ravel(self.landmarks).tolist()

    def __setstate__(self, state: _State) -> None:  # type: ignore[override]
        approximation = state["approximation"]
        self._take(state["kernel"], state["X"], state["y"], state["noise"], state["trend"], approximation)
        self._near = _core.VecchiaPosterior.restore(
            self.kernel.build(),
            self.X,
            self.y,
            self.noise,
            self.trend,
            self.H.shape[1],
            approximation.core(landmarks=state["landmarks"]),
            approximation.predict_neighbors,
            state["coefficients"],
            state["triangle"],
        )
        self.beta = self._near.beta

    def arguments(self) -> dict[str, object]:
        """Return the arguments from which an equal posterior can be made."""
        return super().arguments() | {"approximation": self.approximation}

    def with_approximation(self, approximation: Vecchia) -> NearPosterior:
        """Return a posterior of the same data by another approximation."""
        return NearPosterior(self.kernel, self.X, self.y, self.noise, self.trend, approximation)

    def exact_of_some(self, rows: Indices) -> Posterior:
        """Return an exact posterior that is conditioned on some of the points."""
        return Posterior(self.kernel, self.X[rows], self.y[rows], self.noise[rows], self.trend)

    def _at(self) -> _core.AnyPosterior:
        return self._near

    def mean_and_variance(self, Z: Vector) -> tuple[Vector, Vector]:
        """Return the mean at points Z, shape (m, outputs), and the variance, (m,), from the same neighbours."""
        self._require_trend_of_others()
        return self._near.predict(Z)

    def lower(self) -> Vector:
        """Raise: there is no Cholesky factor of the whole kernel matrix."""
        raise AttributeError("an approximation by neighbours has no Cholesky factor of the whole kernel matrix")

    @cached_property
    def weights(self) -> Vector:  # type: ignore[override]
        """The coefficients c = P (y - H beta), shape (n, outputs), for the approximation's P; computed on first access."""
        found = self._evaluated(_core.unbiased_risk([1.0]))["dual_coef"]
        assert found is not None
        return found

    @cached_property
    def _of_likelihood(self) -> _core.Evaluation:
        return self._evaluated(_core.likelihood(False, "known"))

    def _evaluated(self, criterion: _core.Criterion, neighbors: int | None = None) -> _core.Evaluation:
        return _core.evaluate(
            criterion,
            self.kernel.build(),
            self.X,
            self.y,
            self.noise,
            self.H,
            None,
            False,
            Workspace(),
            self.approximation.core(neighbors=neighbors, landmarks=self._known_landmarks()),
        )

    def leave_one_out(self, groups: Indices | None = None) -> tuple[Vector, Vector, Vector]:
        """Return the leave-one-out residuals, shape (n, outputs), their variances, (n,), and the leverages, (n,).

        Points are predicted from as many of the others as predictions see, but from 100 at most. The leverage 1 - N_i P_ii is
        that of these predictions: 1 / P_ii is the variance of a point that is left out alone.
        """
        alone = self._left_out(np.zeros(0, dtype=np.intp), 0)
        leverages = 1 - (self.noise + np.asarray(self.kernel.build().noise(self.X))) / alone[1]
        together = self.given(groups).left_out_together()
        return *(alone if together is None else self._left_out(*together)), leverages

    def _left_out(self, groups: Indices, count: int) -> tuple[Vector, Vector]:
        neighbors = min(self.approximation.predict_neighbors, _LEFT_OUT)
        return left_out_in_groups(lambda criterion: self._evaluated(criterion, neighbors), groups, count)

    def squares(self) -> Vector:
        """Return y'c of each output."""
        return self._of_likelihood["squares"]

    def log_dets(self) -> tuple[float, float]:
        """Return the logarithms of the determinants of K~, and of H'PH over that of H'H."""
        return self._of_likelihood["log_det"], self._of_likelihood["log_det_trend"]

    def value_of(self, criterion: Criterion, groups: Indices | None = None) -> float:
        """Return the value of a criterion for this kernel and noise, in n m^3 / 3 operations for m neighbours."""
        found = self._evaluated(self.core_of(criterion, groups))
        return float(criterion.with_prior(self.kernel, found["value"], None)[0])

    def append(self, X: Vector, y: Vector, noise: Vector) -> None:
        """Add points in O(m^3) for each, m being the number of neighbours. If one of them cannot be added, none is."""
        self._require_trend_of_others()
        self._near.append(X, y, noise)
        self._changed(np.vstack([self.X, X]), np.vstack([self.y, y]), np.append(self.noise, noise))

    def remove(self, i: int) -> None:
        """Remove point i; the trend is estimated anew at the next prediction."""
        i %= len(self.X)
        self._near.remove(i)
        self._changed(np.delete(self.X, i, axis=0), np.delete(self.y, i, axis=0), np.delete(self.noise, i))

    def _changed(self, X: Vector, y: Vector, noise: Vector) -> None:
        self.X, self.y, self.noise = X, y, noise
        self.H = trend_matrix(self.trend, X, check=False)
        self.beta = self._near.beta
        for name in ("weights", "_of_likelihood"):
            self.__dict__.pop(name, None)
