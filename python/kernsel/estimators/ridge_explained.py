"""What a kernel ridge regression tells of its fit: left-out residuals, leverages, degrees of freedom, the function's norm."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._base.memory import require_memory
from kernsel._data.kernel import matrix_of_indices
from kernsel._data.together import first_of_equal
from kernsel._data.training import TrainingSet
from kernsel._solve.evaluate import loo
from kernsel.estimators.fitted_machine import FittedMachine
from kernsel.estimators.ridge_posteriors import RidgePosteriors

__all__ = ["EXPLAINED", "RidgeExplained"]

EXPLAINED = ("_trained_on", "_each_left_out")  # the attributes in which it is kept, of one fit

_IGNORED = 1e12  # the noise, in units of the kernel's diagonal and alpha, with which a point hardly counts


class RidgeExplained(FittedMachine):
    """A kernel ridge regression that explains its fit.

    Nothing of it is computed in `fit`. The first access to `loo_residuals_`, `leverage_` or `effective_dof_` factorizes the
    kernel matrix once more, since the fit keeps no n^2 numbers.
    """

    _trained_on: TrainingSet  # the data of the last fit, without the rows that were read in blocks

    @property
    def approximate_posteriors(self) -> RidgePosteriors | None:
        """The posteriors by which f is approximated; None if it is computed from the coefficients of all points."""
        return None

    @property
    def loo_residuals_(self) -> Vector:
        """y_i less its prediction by the fit to all other points with the same alpha, shape (n,) or (n, n_targets).

        With A = K + alpha diag(1 / w), P = A^-1, less what the intercept takes, and the coefficients c = P y, it is c_i / P_ii.
        Equal rows, or groups that were told, are left out together: P_II^-1 c_I. Points of weight zero, which are in no fit,
        are predicted by all points but those that they are left out with; a copy is predicted as its original is.
        """
        return self._as_targets(self._each_left_out[0])

    @property
    def leverage_(self) -> Vector:
        """The derivative of each fitted value in its own target, 1 - alpha / w_i P_ii, zero for points of weight zero.

        Shape (n,), or (n, n_targets) if `alpha_` is an array.
        """
        leverages = self._each_left_out[1]
        return leverages if np.ndim(self.alpha_) else leverages[:, 0]

    @property
    def effective_dof_(self) -> float | Vector:
        """The sum of the leverages, which is the trace of the matrix from targets to fitted values; the intercept counts."""
        total = self._each_left_out[1].sum(axis=0)
        return total if np.ndim(self.alpha_) else float(total[0])

    @property
    def norm_(self) -> float | Vector:
        """The norm |f - b| of the function in the space of the kernel, (c'Kc)^1/2; one for each target if there are several."""
        check_is_fitted(self)
        if self.approximate_posteriors is not None:
            raise AttributeError(
                "norm_: the function of an approximation is no sum of k(., x_i), of which this is the norm; expected a fit "
                "with approximation=None"
            )
        kernel, points = self.kernel_and_points()
        c = np.asarray(self.dual_coef_, dtype=np.float64)
        fitted = np.asarray(points @ c if isinstance(kernel, str) else kernel.matmul(points, points, c))
        squares = np.sqrt(np.maximum(np.sum(c * fitted, axis=0), 0.0))
        return squares if c.ndim == 2 else float(squares)

    def _unit(self, given: TrainingSet) -> float:
        """Return the number that alpha is multiplied by, see the parameter `alpha_scale`."""
        raise NotImplementedError

    def _given(self, name: str) -> TrainingSet:
        """Return the data of the fit; raise if they were not kept."""
        check_is_fitted(self)
        for attribute in ("_trained_on", "_path_of"):
            if attribute in self.__dict__:
                kept = self.__dict__[attribute]
                return kept if isinstance(kept, TrainingSet) else kept[0]
        raise AttributeError(
            f"{name}: needs targets and weights, which a {type(self).__name__} does not keep of rows that are read in "
            "blocks or seen by landmarks of a path"
        )

    @cached_property
    def _each_left_out(self) -> tuple[Matrix, Matrix]:
        """The left-out residuals, shape (n, n_targets), and the leverages, (n, n_targets) or (n, 1) if alpha is one number."""
        given = self._given("loo_residuals_, leverage_, effective_dof_")
        y = np.asarray(given.targets, dtype=np.float64)
        alphas = np.broadcast_to(np.asarray(self.alpha_, dtype=np.float64) * self._unit(given), y.shape[1])
        if (posteriors := self.approximate_posteriors) is not None:
            groups = self._groups()
            found = [posteriors.left_out(self.X_fit_, given.y, groups, k) for k in range(y.shape[1])]
            residuals = np.column_stack([one.y - one.predictions for one in found])
            leverages = np.column_stack([np.asarray(one.leverage) for one in found])
        else:
            require_memory(4 * len(y) * (len(y) + 1), f"leave-one-out of {len(y)} points needs")
            residuals, leverages = np.zeros(y.shape), np.zeros(y.shape)
            for alpha in np.unique(alphas):
                mine = np.flatnonzero(alphas == alpha)
                residuals[:, mine], leverages[:, mine] = self._left_out_of(given, y[:, mine], float(alpha))
        self._copy_residuals(residuals, y)
        return residuals, leverages if np.ndim(self.alpha_) else leverages[:, :1]

    def _left_out_of(self, given: TrainingSet, y: Matrix, strength: float) -> tuple[Matrix, Matrix]:
        """Return the left-out residuals for one regularization, and the leverages as a column; zeros for copies."""
        kernel, points = self.kernel_and_points()
        if isinstance(kernel, str):
            kernel, points = matrix_of_indices(points)
        n = len(y)
        weights = np.ones(n) if given.weights is None else given.weights
        ignored = _IGNORED * (strength + float(np.mean(kernel.diag(points))))
        noise = np.full(n, ignored)
        noise[weights > 0] = strength / weights[weights > 0]
        kept, groups = np.setdiff1d(np.arange(n), self.copies_), self._groups()
        told = None if groups is None else groups[kept]
        trend = "constant" if self.has_intercept else None
        fit = loo(kernel, points[kept], y[kept], noise=noise[kept], trend=trend, groups=told)
        residuals, leverages = np.zeros(y.shape), np.zeros((n, 1))
        residuals[kept], leverages[kept, 0] = fit.residuals, fit.leverage
        leverages[weights == 0] = 0.0
        return residuals, leverages

    def _copy_residuals(self, residuals: Matrix, y: Matrix) -> None:
        """Give each copy the residual of the row that it is a copy of."""
        if not len(self.copies_):
            return
        rows: Indices = np.append(np.setdiff1d(np.arange(len(y)), self.copies_), self.copies_)
        first = first_of_equal(np.column_stack([np.asarray(self.X_fit_, dtype=np.float64), y])[rows])
        assert first is not None
        residuals[self.copies_] = residuals[rows[first[-len(self.copies_) :]]]

    def _as_targets(self, values: Matrix) -> Vector:
        """Return values in the shape of the targets."""
        return values[:, 0] if self._given("loo_residuals_").y.ndim == 1 else values
