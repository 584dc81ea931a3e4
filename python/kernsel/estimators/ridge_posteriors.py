"""Kernel ridge regression of many points: its function is the mean of a Gaussian process, perhaps approximated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.training import TrainingSet
from kernsel._search.checks import Check, checked
from kernsel._search.plan import Plan
from kernsel._solve.conditioned import conditioned
from kernsel._solve.landmark_posterior import LandmarkPosterior, Refined
from kernsel._solve.posterior import Posterior
from kernsel.approximations import Approximation, Nystrom
from kernsel.estimators.fitted import LeftOut, column
from kernsel.kernels import Kernel

__all__ = ["RidgePosteriors"]


@dataclass(frozen=True)
class RidgePosteriors:
    """The functions of kernel ridge regression as posterior means with the noise alpha / w, one for each different alpha.

    Attributes
    ----------
    rows : ndarray of int
        The training points that the posteriors have, which are those of positive weight.
    targets : list of ndarray of int
        The targets of each posterior.
    posteriors : list of Posterior
    strengths : list of float
        The noise variance alpha of a point of weight one, for each posterior.
    one_output : bool
        Whether values are arrays of one dimension.
    dtype : dtype
        The precision of the points and of what is returned.
    solutions : list of Refined
        The coefficients of the whole kernel matrix for each posterior, if these are no longer its own.
    """

    rows: Indices
    targets: list[Indices]
    posteriors: list[Posterior]
    strengths: list[float]
    one_output: bool
    dtype: np.dtype[Any]
    solutions: list[Refined] = field(default_factory=list)

    @classmethod
    def conditioned(
        cls, given: TrainingSet, strengths: Vector, *, intercept: bool, approximation: Approximation | None
    ) -> RidgePosteriors:
        """Return the posteriors for data with a kernel that is resolved, and the strength of regularization of each target."""
        assert isinstance(given.kernel, Kernel)
        rows = np.arange(len(given.y))[given.used]
        X, y = (np.ascontiguousarray(values[rows], dtype=np.float64) for values in (given.X, given.targets))
        weights = np.ones(len(rows)) if given.weights is None else given.weights[rows]
        trend = "constant" if intercept else None
        targets, posteriors = [], []
        different = np.unique(strengths).tolist()
        for strength in different:
            mine = np.flatnonzero(strengths == strength)
            data = given.kernel, X, np.ascontiguousarray(y[:, mine]), strength / weights, trend
            targets.append(mine)
            posteriors.append(conditioned(*data, approximation))
        return cls(rows, targets, posteriors, different, given.y.ndim == 1, given.y.dtype)

    def checked(self, plan: Plan) -> tuple[Plan, RidgePosteriors, Check | None]:
        """Return the plan and posteriors with enough neighbours, and the largest change that twice as many would bring.

        If the plan says that predictions are to see all points, the posteriors are still those of neighbours.
        """
        found = [checked(plan, posterior, self.scales(k)) for k, posterior in enumerate(self.posteriors)]
        checks = [check for _, _, check in found if check is not None]
        exactly = [plan for plan, _, _ in found if plan.posterior is None]
        if exactly:
            return exactly[0], self, None
        most = max((plan for plan, _, _ in found), key=lambda plan: getattr(plan.posterior, "predict_neighbors", 0))
        posteriors = [posterior for _, posterior, _ in found]
        return most, replace(self, posteriors=posteriors), max(checks, key=lambda check: check.change, default=None)

    @property
    def approximated(self) -> bool:
        """Whether predictions see the nearest points only, or landmarks."""
        return not self.posteriors[0].exact

    @property
    def outputs(self) -> int:
        """The number of targets."""
        return sum(map(len, self.targets))

    def refined(self) -> RidgePosteriors:
        """Return them with the coefficients of the whole kernel matrix, found by iteration from those by landmarks."""
        solutions = [posterior.refined() for posterior in self.posteriors if isinstance(posterior, LandmarkPosterior)]
        return replace(self, solutions=solutions)

    @property
    def _functions(self) -> Sequence[Posterior | Refined]:
        return self.solutions or self.posteriors

    def scales(self, number: int) -> Vector:
        """Return the factors of kernel and noise for which the targets of a posterior are the most probable, y'Py / (n - q)."""
        n, q = self.posteriors[number].H.shape
        found = self.posteriors[number].squares() / max(n - q, 1)
        return np.where(found > 0, found, 1.0)

    def mean(self, Z: Matrix) -> Vector:
        """Return the function at points, shape (m,) or (m, outputs)."""
        return self._shaped([posterior.mean(Z) for posterior in self.posteriors])

    def intercepts(self) -> Vector:
        """Return the constant of each target; zeros without intercept."""
        of_each = [
            own.beta if len(own.beta) else np.zeros((1, len(mine)))
            for own, mine in zip(self._functions, self.targets, strict=True)
        ]
        return np.atleast_1d(self._shaped(of_each)[0])

    def coefficients(self, n: int) -> Vector:
        """Return the coefficients at n training points, shape (n,) or (n, outputs); zeros at those of weight zero."""
        of_rows = self._shaped([own.weights for own in self._functions])
        found = np.zeros((n, *of_rows.shape[1:]), dtype=self.dtype)
        found[self.rows] = of_rows
        return found

    def has_targets(self, y: Vector) -> bool:
        """Tell whether the posteriors are of these targets, at the rows that they have."""
        own = self._joined([posterior.y for posterior in self.posteriors])
        given = np.reshape(y, (len(y), -1))
        return given.shape[1] == self.outputs and bool(np.allclose(given[self.rows], own, rtol=1e-6, atol=0))

    def of_target(self, output: int) -> Posterior:
        """Return the posterior of a target."""
        return self.posteriors[self._number(output)]

    def weights(self, output: int) -> Vector | None:
        """Return the weights of the rows in the posterior of a target; None if all are one."""
        number = self._number(output)
        weights = self.strengths[number] / self.posteriors[number].noise
        return None if (weights == 1).all() else weights

    def path_approximation(self, output: int) -> Nystrom | None:
        """Return the approximation of the regularization path of a target; None if there is none with its landmarks."""
        posterior = self.of_target(output)
        return posterior.path_approximation() if isinstance(posterior, LandmarkPosterior) else None

    def _number(self, output: int) -> int:
        """Return the number of the posterior of a target."""
        return next(k for k, mine in enumerate(self.targets) if output % self.outputs in mine)

    def left_out(self, X: Matrix, y: Vector, groups: Indices | None, output: int) -> LeftOut:
        """Return the leave-one-out predictions of one target at all training points X; those of weight zero are left out."""
        output %= self.outputs
        number = self._number(output)
        place = int(np.flatnonzero(self.targets[number] == output)[0])
        posterior, target = self.posteriors[number], column(y, output)
        residuals, variances, leverages = np.empty(len(X)), np.empty(len(X)), np.zeros(len(X))
        of_rows, variances[self.rows], leverages[self.rows] = posterior.leave_one_out(
            None if groups is None else groups[self.rows]
        )
        residuals[self.rows] = of_rows[:, place]
        others = np.setdiff1d(np.arange(len(X)), self.rows)
        if len(others):
            mean, variance = posterior.mean_and_variance(np.asarray(X[others], dtype=np.float64))
            residuals[others] = target[others] - mean[:, place]
            variances[others] = variance + self.strengths[number]
        std = np.sqrt(self.scales(number)[place] * variances)
        return LeftOut(target, target - residuals, std, leverages, groups=groups)

    def _joined(self, parts: list[Matrix]) -> Matrix:
        joined = np.empty((len(parts[0]), self.outputs))
        for mine, part in zip(self.targets, parts, strict=True):
            joined[:, mine] = part
        return joined

    def _shaped(self, parts: list[Matrix]) -> Vector:
        joined = self._joined(parts).astype(self.dtype, copy=False)
        return joined[:, 0] if self.one_output else joined
