"""Training points that are added to a fitted Gaussian process, and removed from it, with its hyperparameters as they are."""

from __future__ import annotations

from numbers import Integral
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from kernsel._data.mean import mean_at
from kernsel._data.noise import variances
from kernsel._data.points import new_points
from kernsel.estimators.guarded import changes
from kernsel.estimators.process_data import require_function
from kernsel.estimators.process_functionals import ProcessFunctionals
from kernsel.kernels.objects import Points

__all__ = ["ProcessUpdates"]


class ProcessUpdates(ProcessFunctionals):
    """A Gaussian process that predicts, and whose training points may change."""

    def _set_fitted(self) -> None:
        """Set the attributes that follow from the factorization."""
        raise NotImplementedError

    def _evaluate_criterion(self) -> None:
        """Evaluate `criterion_value_` before the data change: the attribute is the value for the data of `fit`."""
        raise NotImplementedError

    @changes
    def update(self, X: Points, y: ArrayLike, *, noise: float | ArrayLike | None = None) -> Self:
        """Add training points without choosing hyperparameters again, in O(n^2) for each.

        Other threads may predict during the update: each result belongs to the process either before or after it.

        Parameters
        ----------
        X : array-like of shape (m, d)
        y : array-like of shape (m,) or (m, n_targets)
        noise : float or array-like of shape (m,), optional
            The noise variances of the new points, to which `jitter_` and, if it is one number, `alpha` are added. Required if
            the noise of the earlier points is not the same for all of them.

        Returns
        -------
        self : GaussianProcessRegressor

        Raises
        ------
        ValueError, NotPositiveDefiniteError
            If the points do not fit the model, or its kernel matrix is then not positive definite. The model is unchanged.
        """
        check_is_fitted(self, "kernel_")
        self._require_no_draws("update")
        self._require_values_only("update")
        self._require_normal_noise(
            "update", "what stands for all observations changes with one of them: fit again, with optimizer=None"
        )
        Z = np.asarray(new_points(self, self.kernel_, X, keep=True, dtype=np.float64))
        posterior = self.posterior_
        outputs = posterior.y.shape[1]
        values = np.asarray(check_array(y, dtype=np.float64, ensure_2d=False, input_name="y"))
        if values.shape != (len(Z), outputs) and not (outputs == 1 and values.shape == (len(Z),)):
            raise ValueError(f"y: expected shape {(len(Z), outputs) if outputs > 1 else (len(Z),)}, got {values.shape}")
        values = values.reshape(len(Z), outputs) - mean_at(self.mean, Z, outputs)
        values = (values - self._y_train_mean) / self._y_train_std
        if noise is None:
            if np.ptp(self.noise_) > 0 or np.ptp(self._alpha_known) > 0:
                raise ValueError("noise: give the variances for the new points, since those of the others differ")
            given = np.full(len(Z), np.ravel(self.noise_)[0])
        else:
            given = np.broadcast_to(variances("noise", noise, len(Z)), (len(Z),))
        alpha = self._alpha_known if np.ndim(self._alpha_known) == 0 else np.zeros(len(Z))
        if noise is None and np.ndim(self._alpha_known):
            alpha = np.full(len(Z), self._alpha_known[0])
        if not (given + alpha).any():
            y_all = np.vstack([posterior.y, values])
            require_function(lambda: self.kernel_, np.vstack([posterior.X, Z]), y_all, posterior.noise - self.jitter_)
        self._evaluate_criterion()
        posterior.append(Z, values, given + alpha + self.jitter_)
        if self._groups is not None:  # each new point is a group of its own
            self._groups = np.append(self._groups, self._groups.max() + 1 + np.arange(len(Z)))
        if np.ndim(self.noise_) or (given != self.noise_).any():
            self.noise_ = np.append(np.broadcast_to(self.noise_, (len(posterior.X) - len(Z),)), given)
        if np.ndim(self._alpha_known):
            self._alpha_known = np.append(self._alpha_known, alpha)
        self._set_fitted()
        return self

    @changes
    def downdate(self, i: int) -> Self:
        """Remove training point i without choosing hyperparameters again, in O(n^2).

        Parameters
        ----------
        i : int
            Negative numbers count from the end.

        Returns
        -------
        self : GaussianProcessRegressor
        """
        check_is_fitted(self, "kernel_")
        self._require_no_draws("downdate")
        self._require_values_only("downdate")
        self._require_normal_noise(
            "downdate", "what stands for all observations changes with one of them: fit again, with optimizer=None"
        )
        n = len(self.posterior_.X)
        if not isinstance(i, Integral) or isinstance(i, bool) or not -n <= i < n:
            raise IndexError(f"i: expected a number from {-n} to {n - 1}, got {i!r}")
        if n <= max(self.posterior_.H.shape[1], 1):
            raise ValueError("i: without this point too few would be left")
        self._evaluate_criterion()
        self.posterior_.remove(int(i))
        if self._groups is not None:
            self._groups = np.delete(self._groups, int(i))
        if np.ndim(self.noise_):
            self.noise_ = np.delete(self.noise_, int(i))
        if np.ndim(self._alpha_known):
            self._alpha_known = np.delete(self._alpha_known, int(i))
        others = self.outliers_[self.outliers_ != i % n]
        self.outliers_ = others - (others > i % n)
        self._set_fitted()
        return self
