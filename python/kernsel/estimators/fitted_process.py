"""The members of a Gaussian process that displays and descriptions use: it stores its training data."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Indices, Vector
from kernsel._data.folds import number_of_points
from kernsel._data.mean import Mean, mean_at
from kernsel._search import Selection
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel._solve.landmark_posterior import LandmarkPosterior
from kernsel._solve.near import NearPosterior
from kernsel._solve.path import RegularizationPath
from kernsel._solve.posterior import Posterior
from kernsel.criteria import LeaveOneOut
from kernsel.estimators.fitted import FittedModel, LeftOut, ModelPath, Prediction, column, require_training_data
from kernsel.estimators.guarded import reads
from kernsel.estimators.observed_distribution import ObservedDistribution
from kernsel.estimators.observed_predictions import ObservedPredictions
from kernsel.estimators.sampled_distribution import SampledDistribution
from kernsel.estimators.stacking.mixture import Mixture
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = ["FittedProcess"]

_MANY = 5000  # points at which a part of the mean is computed, in O(n) for each
_SAMPLE = 1500  # points of a process that stands for one of very many


class FittedProcess(ObservedPredictions, FittedModel):
    """A Gaussian process conditioned on data: y = offset + factor times the targets of its posterior."""

    mean: Mean
    kernel_: Kernel
    posterior_: Posterior
    X_train_: Vector
    y_train_: Vector
    jitter_: float
    noise_: float | Vector
    _alpha_known: Vector
    outliers_: Indices
    selection_: Selection
    scale_: Vector
    _y_train_mean: Vector
    _y_train_std: Vector
    log_marginal_likelihood_value_: float
    _restricted: bool
    _groups: Indices | None  # the groups that `fit` was told
    _flat: bool  # whether there is one output, and results have one dimension

    def _shaped(self, values: Vector) -> Vector:
        return values[:, 0] if self._flat else values

    @cached_property
    def alpha_(self) -> Vector:
        """The coefficients c, shape (n,) or (n, n_targets). Approximations compute them on first access."""
        check_is_fitted(self, "kernel_")
        return self._shaped(self.posterior_.weights)

    @property
    @reads
    def loo_residuals_(self) -> Vector:
        """The error of the prediction of each point from all others, c_i / P_ii, shape (n,) or (n, n_targets).

        Equal rows are left out together, P_II^-1 c_I; or groups, if `fit` was told any.
        """
        check_is_fitted(self, "kernel_")
        self._require_trend_without_each()
        return self._shaped(self._left_out()[0] * self._y_train_std)

    @property
    @reads
    def loo_std_(self) -> Vector:
        """The standard deviation of each leave-one-out residual, P_ii^(-1/2), shape (n,) or (n, n_targets)."""
        check_is_fitted(self, "kernel_")
        self._require_trend_without_each()
        std = np.multiply.outer(np.sqrt(self._left_out()[1]), np.sqrt(self.scale_) * self._y_train_std)
        return self._shaped(std)

    def _require_trend_without_each(self) -> None:
        LeaveOneOut().require_trend(self.posterior_.H, self.posterior_.given(self._groups))

    @property
    @reads
    def left_out_together_(self) -> Indices:
        """The number of the group with which each point is left out, shape (n,); all different if each is left out alone."""
        check_is_fitted(self, "kernel_")
        together = self.posterior_.given(self._groups).left_out_together()
        n = len(self.X_train_)  # rows of slopes and averages come after them
        return np.arange(n) if together is None else together[0][:n]

    @reads
    def loo_std_of_ordinary(self) -> Vector:
        """Return `loo_std_` without the variances that outliers have of their own: these rows are then seen to be far off."""
        std = np.asarray(self.loo_std_).copy()
        posterior, rows = self.posterior_, self.outliers_
        if len(rows):
            each = np.broadcast_to(self.noise_ + self._alpha_known, (len(posterior.X),))[rows]
            own = np.multiply.outer(posterior.noise[rows] - each - self.jitter_, self.scale_ * self._y_train_std**2)
            std[rows] = np.sqrt(np.maximum(std[rows] ** 2 - self._shaped(own), 0.0))
        return std

    @property
    @reads
    def fidelity_(self) -> float:
        """How well the process fits, the term -1/2 y'c of the log marginal likelihood, summed over outputs.

        With the normalized targets y and the coefficients c = K~^-1 (y - H beta), divided by `scale_`. The log marginal
        likelihood is ``fidelity_ + complexity_`` and a constant, -n/2 log(2 pi) for each output; n - q in place of n for a
        restricted likelihood with q functions of the trend.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
        >>> gp = ks.GaussianProcessRegressor("RBF", noise=0.01).fit(X, np.sin(X[:, 0]))
        >>> constant = -12 / 2 * np.log(2 * np.pi)
        >>> bool(np.isclose(gp.fidelity_ + gp.complexity_ + constant, gp.log_marginal_likelihood_value_))
        True
        """
        check_is_fitted(self, "kernel_")
        if self._observed is not None:
            raise AttributeError(
                f"fidelity_, complexity_: {type(self._observed.likelihood).__name__} observations are not normal; "
                "log_marginal_likelihood_value_ is for any likelihood"
            )
        return -0.5 * float(np.sum(self.posterior_.squares() / self.scale_))

    @property
    @reads
    def complexity_(self) -> float:
        """How much the process can fit, the term -1/2 log det K~ of the log marginal likelihood, summed over outputs.

        The smaller, the more functions the process has; see `fidelity_`. K~ is multiplied by `scale_`; a restricted likelihood
        also has -1/2 log det H'K~^-1 H, relative to H'H. Where K~ is approximated, the term is the approximation's.
        """
        check_is_fitted(self, "kernel_")
        fidelity = self.fidelity_
        freedom = self.posterior_.n_rows - (self.posterior_.H.shape[1] if self._restricted else 0)
        constant = -0.5 * freedom * len(self.scale_) * float(np.log(2 * np.pi))
        return float(self.log_marginal_likelihood_value_) - fidelity - constant

    @property
    @reads
    def leverage_(self) -> Vector:
        """The derivative of each fitted value with respect to its own target, 1 - N_i P_ii with the noise N, shape (n,)."""
        check_is_fitted(self, "kernel_")
        return self._left_out()[2]

    def _left_out(self) -> tuple[Vector, Vector, Vector]:
        """Return the residual, its variance and the leverage of each point, computed once."""
        if not hasattr(self, "_points_left_out"):
            self._points_left_out = self.posterior_.leave_one_out(self._groups)
            if self._observed is not None:
                mean, variance, _ = self._observed.left_out(self._groups)
                residuals = (self._observed.observations.y - mean)[:, None]
                self._points_left_out = residuals, variance, self._points_left_out[2][: len(mean)]
        return self._points_left_out

    def predictive(
        self, X: Points, *, noisy: bool = True, exposure: ArrayLike | None = None, trials: ArrayLike | None = None
    ) -> Mixture | ObservedDistribution:
        """Return the predictive distribution at points, which gives quantiles and log densities.

        Parameters
        ----------
        X : array-like of shape (m, d)
        noisy : bool
            Whether it is that of new observations, or of the function.
        exposure, trials : float or array-like of shape (m,), optional
            Those of the observations, as in `predict`.

        Returns
        -------
        distribution : kernsel.estimators.stacking.mixture.Mixture
            A mixture of one normal distribution for each point and output; for observations of a likelihood, an object with the
            same members.
        """
        sizes = self._sizes(number_of_points(X), exposure=exposure, trials=trials)
        if self._sampled is not None and self._observed is None:
            return self._mixture(X, noisy=noisy)
        if self._observed is not None:
            if not noisy:
                raise ValueError("noisy: expected True with a likelihood; predict_latent() is of the function")
            if self._sampled is not None:
                return SampledDistribution.at(self._sampled, self._new_points(X), sizes)
            return self._observed.distribution(self._new_points(X), sizes)
        mean, std = self.predict(X, return_std=True, noisy=noisy)
        return self._normal(np.asarray(mean), np.asarray(std))

    @reads
    def left_out_predictive(self) -> Mixture | ObservedDistribution:
        """Return the predictive distribution of each training point from all others.

        Returns
        -------
        distribution : kernsel.estimators.stacking.mixture.Mixture
            See :meth:`predictive`.
        """
        if self._observed is not None:
            return self._observed.left_out_distribution(self._groups)
        return self._normal(self.kept_data()[1] - self.loo_residuals_, self.loo_std_)

    def _require_normal_noise(self, name: str, instead: str) -> None:
        if self._observed is not None:
            raise ValueError(f"{name}: {type(self._observed.likelihood).__name__} observations are not normal; {instead}")

    def _require_values_only(self, name: str) -> None:
        if isinstance(self.posterior_, FunctionalPosterior):
            raise ValueError(
                f"{name}: expected a fit to values; this one has slopes or averages: fit again, with optimizer=None"
            )

    def _normal(self, mean: Vector, std: Vector) -> Mixture:
        return Mixture(np.ones(1), *(values.reshape(1, len(values), -1) for values in (mean, std)))

    def kernel_and_points(self) -> tuple[Kernel, Vector]:
        """Return the kernel and the training points."""
        return self.kernel_, self.X_train_

    def kept_data(self) -> tuple[Vector, Vector]:
        """Return the training points, and the targets in the unit of y."""
        y = self.y_train_ * self._y_train_std + self._y_train_mean
        if self.mean is not None:
            y = y + self._shaped(mean_at(self.mean, self.X_train_, len(self.scale_)))
        return self.X_train_, np.asarray(y)

    def learnt_from(self, X: Points | None, y: ArrayLike | None) -> tuple[Points | None, ArrayLike | None]:
        """Return points and targets without the rows that `fit` has found to be copies, if they have these."""
        rows = self.selection_.rows
        if rows is None or not len(rows):
            return X, y
        X, y = (v if v is None or number_of_points(v) <= max(len(rows), rows[-1]) else _safe_indexing(v, rows) for v in (X, y))
        return X, y

    def mean_of_term(self, term: Kernel) -> Vector:
        """Return the part of the mean at the training points that is due to a term of the kernel, in the unit of `y_train_`.

        Of many points at a sample of them; of predictions from neighbours, which have no coefficients of all points, those of
        an exact process conditioned on the sample.
        """
        n = len(self.X_train_)
        if isinstance(self.posterior_, FunctionalPosterior):
            return self._shaped(self.posterior_.mean_of_term(term))
        if isinstance(self.posterior_, NearPosterior):
            sample = self.posterior_.exact_of_some(np.random.default_rng(0).permutation(n)[:_SAMPLE])
            return np.asarray(term.matmul(sample.X, sample.X, self._shaped(sample.weights)))
        some = np.arange(n) if n <= _MANY else np.random.default_rng(0).choice(n, _MANY, replace=False)
        points, coefficients = (self.posterior_ if self._observed is None else self._observed).centres()
        return np.asarray(term.matmul(self.X_train_[some], points, self._shaped(coefficients)))

    def mean_of_trend(self) -> Vector:
        """Return the part of the mean at the training points that is due to the trend, in the unit of `y_train_`."""
        values = self._shaped(self.posterior_.H @ self.posterior_.beta)
        if isinstance(self.posterior_, FunctionalPosterior):
            return values[: self.posterior_.n_values]
        return values if self._observed is None else self._observed.of_function(values)

    @reads
    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return the mean of one output at points, and the band of the function or of observations, see `FittedModel`."""
        if level is None:
            return Prediction(column(self.predict(X), output), mean_name="mean")
        if self._sampled is not None:
            mean, std = (np.asarray(values, dtype=np.float64) for values in self.predict(X, return_std=True, noisy=noisy))
            tails = np.array([(1 - level) / 2, (1 + level) / 2])
            ends = self.predict_quantiles(X, tails) if noisy else self._mixture(X, noisy=False).quantiles(tails)[:, 0]
            if self._observed is not None and not noisy:
                ends = np.column_stack([self._observed.likelihood.conditional(f)[0] for f in ends.T])
            of_what = "observations" if noisy else "the function" if self._observed is None else "the mean"
            lower, upper = ends.min(axis=1), ends.max(axis=1)
            return Prediction(mean, lower, upper, std, f"{{level}} of {of_what}", "standard deviation", "mean")
        if self._observed is not None:
            mean, std = (np.asarray(values, dtype=np.float64) for values in self.predict(X, return_std=True, noisy=noisy))
            lower, upper = self._observed.band(self._new_points(X), level, noisy)
            band = f"{{level}} of {'observations' if noisy else 'the mean'}"
            return Prediction(mean, lower, upper, std, band, "standard deviation", "mean")
        mean, std = (column(values, output) for values in self.predict(X, return_std=True, noisy=noisy))
        half = float(stats.norm.isf((1 - level) / 2)) * std
        band = f"{{level}} of {'observations' if noisy else 'the function'}"
        return Prediction(mean, mean - half, mean + half, std, band, "standard deviation", "mean")

    @reads
    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the leave-one-out predictions of one output, see :class:`kernsel.estimators.fitted.HasLeftOut`."""
        points, all_targets = self.kept_data()
        require_training_data(self, self.kernel_, *self.learnt_from(X, y), points, all_targets)
        targets = column(all_targets, output)
        residuals = column(self.loo_residuals_, output)
        together = self.left_out_together_
        if self._observed is None:
            return LeftOut(targets, targets - residuals, column(self.loo_std_, output), self.leverage_, groups=together)
        std = self.loo_std_ if np.isfinite(self.loo_std_).all() else None  # of Student's t with 2 degrees of freedom or less
        found = self._observed.left_out_distribution(self._groups)
        z = found.standardized(targets[:, None])[:, 0]
        return LeftOut(targets, targets - residuals, std, self.leverage_, z, together, lambda p: found.quantiles(p)[:, 0])

    @reads
    def regularization_path(
        self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0, *, rows: Indices | None = None
    ) -> ModelPath:
        """Return the regularization path of the kernel without noise, see :class:`kernsel.estimators.fitted.HasPath`.

        If the noise differs from point to point, the weights of the path are inversely proportional to it. It takes all
        eigenvalues of the kernel matrix; `rows` are the training points that it is of, if these are too many for that. That of
        a process by landmarks has the same ones, see :class:`kernsel.RegularizationPath`, unless there are `rows`.

        Raises
        ------
        ValueError
            If the kernel matrix is approximated by neighbours, or by landmarks and no training points were kept, or the kernel
            then has a noise of its own, and no `rows` are given.
        """
        del output  # all outputs share one path
        self._require_normal_noise("regularization_path", "a path is of squared errors")
        self._require_values_only("regularization_path")
        posterior = self.posterior_
        points, targets = self.kept_data()
        require_training_data(self, self.kernel_, *self.learnt_from(X, y), points, targets)
        n = len(points)
        near = posterior.path_approximation() if rows is None and isinstance(posterior, LandmarkPosterior) else None
        if rows is None and near is None and not posterior.exact:
            raise ValueError(
                f"approximation: a path takes the eigenvalues of the whole kernel matrix of {posterior.n_rows} points, which "
                f"this {type(self).__name__} approximates; expected a fit to some of them"
            )
        of = np.arange(n) if rows is None else rows
        noises = np.asarray(self.kernel_.build().noise(posterior.X[of]) + posterior.noise[of])
        # Outliers have variances of their own.
        mean = float(np.mean(np.delete(noises, np.flatnonzero(np.isin(of, self.outliers_)))))
        has_noise = mean > 2 * self.jitter_
        # The path of one target is in the unit of y; that of several targets is in the normalized units of the fit.
        unit = float(self._y_train_std[0]) if posterior.y.shape[1] == 1 else 1.0
        matrix = None if near is not None else np.asarray(self.kernel_(posterior.X[of], posterior.X[of])) * unit**2
        level = mean * unit**2
        equal = bool(np.ptp(noises) <= 1e-12 * mean)
        path = RegularizationPath(
            unit**2 * posterior.kernel if matrix is None else (matrix + matrix.T) / 2,
            posterior.y[of] * unit,
            X=posterior.X[of],
            trend=posterior.H[of] if posterior.H.shape[1] else None,
            sigma=level**0.5 if has_noise else None,
            sample_weight=None if equal else mean / noises,
            groups=self.left_out_together_[of],
            approximation=near,
        )
        return ModelPath(path, level if level > 0 else None, scale_known=True)
