"""Leave-one-out predictions and paths of fitted kernel ridge regressions, which store their points but not their targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel._data.kernel import matrix_of_indices
from kernsel._data.together import learnt_once
from kernsel._solve.evaluate import loo
from kernsel._solve.path import RegularizationPath
from kernsel.estimators.fitted import FittedModel, LeftOut, ModelPath, column, require_training_data, targets_for, weighted
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["FittedMachine"]

_IGNORED = 1e8  # the factor of an outlier's noise, with which it does not count


class FittedMachine(FittedModel):
    """A function f(z) = k(z, X) c + b that was fitted with a regularization alpha."""

    kernel_: Kernel | str
    X_fit_: Matrix
    dual_coef_: Matrix
    intercept_: float | Vector
    alpha_: float | Vector
    left_out_together_: Indices
    fit_intercept: bool | None
    alpha_scale: Literal["none", "n"]
    sigma: float | None
    outliers_: Indices = np.zeros(0, dtype=np.intp)  # rows that were left out
    copies_: Indices = np.zeros(0, dtype=np.intp)  # rows that are copies of others, which were left out, too

    @property
    def has_intercept(self) -> bool:
        """Whether a constant is added to the function."""
        return bool(self.fit_intercept)

    def kernel_and_points(self) -> tuple[Kernel | str, Matrix]:
        """Return the kernel and the training points, or the kernel matrix if that was given."""
        return self.kernel_, np.asarray(self.X_fit_, dtype=np.float64)

    def kept_data(self) -> tuple[Matrix, None]:
        """Return the training points; targets are not stored."""
        return self.kernel_and_points()[1], None

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the leave-one-out predictions of one target; y must be given.

        See :class:`kernsel.estimators.fitted.HasLeftOut`.
        """
        targets = self._unweighted_targets(X, y)
        kernel, points = self.kernel_and_points()
        n = len(targets)
        if isinstance(kernel, str):
            kernel, points = matrix_of_indices(points)
        alpha = float(np.ravel(self.alpha_)[output if np.ndim(self.alpha_) else 0])
        target = column(targets, output)
        noises = np.full(n, alpha * self._unit_of_alpha())
        noises[self.outliers_] *= _IGNORED
        constant, groups = "constant" if self.has_intercept else None, self._groups()
        kept = np.setdiff1d(np.arange(n), self.copies_)
        told = None if groups is None else groups[kept]
        fit = loo(kernel, points[kept], target[kept], noise=noises[kept], trend=constant, groups=told)
        left_out = LeftOut.of_best_scale(target[kept], fit, int(self.has_intercept), fit.leverage)
        return self._with_copies(left_out, targets, kept)

    def _with_copies(self, left_out: LeftOut, targets: Vector, kept: Indices | None = None) -> LeftOut:
        """Return the left-out predictions of all rows from those of the rows that were `kept`; by default all were."""
        once = learnt_once(np.asarray(self.X_fit_), targets, self._groups()) if len(self.copies_) else None
        if once is None:
            return left_out
        # A copy is left out with the row that it is a copy of.
        place = once.of if kept is None else np.searchsorted(kept, once.of)
        values: dict[str, Any] = {name: None if (v := getattr(left_out, name)) is None else v[place] for name in vars(left_out)}
        return replace(left_out, **values)

    def regularization_path(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ModelPath:
        """Return `path_`; if alpha was given, compute the path for y. See :class:`kernsel.estimators.fitted.HasPath`."""
        path = getattr(self, "path_", None)
        if path is None:
            targets = self._unweighted_targets(X, y)
            kernel, points = self.kernel_and_points()
            kept = np.setdiff1d(np.arange(len(targets)), np.append(self.outliers_, self.copies_))
            K = points[np.ix_(kept, kept)] if isinstance(kernel, str) else np.asarray(kernel(points[kept]))
            groups = self._groups()
            path = RegularizationPath(
                (K + K.T) / 2,
                targets[kept],
                sigma=self.sigma,
                trend=np.ones((len(kept), 1)) if self.has_intercept else None,
                alpha_scale=self.alpha_scale,
                groups=None if groups is None else groups[kept],
            )
        return ModelPath.of_machine(path, self.alpha_, output)

    def _groups(self) -> Indices | None:
        """Return the groups that are left out together; None if there is one only, without which nothing is left."""
        return self.left_out_together_ if self.left_out_together_.any() else None

    def _unit_of_alpha(self) -> float:
        """Return the number that alpha is multiplied by in a fit without weights, see the parameter `alpha_scale`."""
        return len(self.X_fit_) - len(self.outliers_) - len(self.copies_) if self.alpha_scale == "n" else 1.0

    def _unweighted_targets(self, X: Points | None, y: ArrayLike | None) -> Vector:
        """Return y as targets; raise unless y - f(X) = alpha c, which holds for the targets of a fit without weights."""
        require_training_data(self, self.kernel_, X, None, self.X_fit_)
        targets = np.asarray(targets_for(self, y, len(self.X_fit_)), dtype=np.float64)
        c = np.asarray(self.dual_coef_, dtype=np.float64)
        if c.shape != targets.shape:
            raise ValueError(f"y: expected shape {c.shape}, as in the fit, got {targets.shape}")
        kernel, points = self.kernel_and_points()
        fitted = np.asarray(points @ c if isinstance(kernel, str) else kernel.matmul(points, points, c))
        error = targets - fitted - self.intercept_ - np.asarray(self.alpha_) * self._unit_of_alpha() * c
        error[self.outliers_] = error[self.copies_] = 0.0
        precision = float(np.finfo(self.dual_coef_.dtype).eps)
        size = float(np.linalg.norm(targets) + np.linalg.norm(fitted))
        if np.linalg.norm(error) > 1e3 * precision**0.5 * max(size, 1e-300) * 1e-2:
            raise weighted(self)
        return targets
