"""Gaussian process regression of several outputs that are related."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Seed, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._data.allowed import is_auto, number, require, whole
from kernsel._data.kernel import kernel_of
from kernsel._data.points import new_points
from kernsel._data.training import require_squares, training_set
from kernsel._data.trend import Trend, require_trend_of_objects
from kernsel._search.core_search import Budget
from kernsel._search.related_search import RelatedSelection, choose_related, first_guess
from kernsel._solve.related import RelatedPosterior, conditioned, log_likelihood, require_memory_for
from kernsel._solve.related_kernel import covariance_of, terms_of
from kernsel.estimators.draws import draws_of_normal
from kernsel.estimators.fitted import FittedModel, LeftOut, Prediction, ShownData, column
from kernsel.kernels import Matern
from kernsel.kernels.objects import Points
from kernsel.kernels.written import KernelLike

__all__ = ["RelatedOutputsRegressor"]

_AUTO = Matern("auto", nu=2.5, product=True)
_ALLOWED = {
    "rank": (whole(1) | "auto").said('a whole number from 1 on, or "auto"'),
    "n_restarts_optimizer": whole(0),
    "max_evaluations": whole(1),
    "max_seconds": number("positive", infinite=True) | None,
}


class RelatedOutputsRegressor(FittedModel, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian process regression of several outputs that tell something of each other (coregionalization, co-kriging).

    The model is the linear model of coregionalization: output i at a point x is y_i(x) = h(x) beta_i + f_i(x) + noise, with
    Cov(f_i(x), f_j(z)) = sum_q B_q[i, j] k_q(x, z), B_q = W_q W_q' + diag(kappa_q), with a term q for each term of the kernel,
    and noise of variance d_i. Outputs may be missing anywhere (nan in y): what was observed of others then helps.
    :class:`GaussianProcessRegressor` has independent outputs, of one covariance.

    With one term, and all outputs observed everywhere, an evaluation of the likelihood with its gradient takes O(n^3 + m^3)
    operations for n points and m outputs, since the covariance is a Kronecker product; otherwise O(N^3) for N observed numbers.

    Parameters
    ----------
    kernel : Kernel, "auto" or str
        The kernel of points. "auto" is ``Matern("auto", nu=2.5, product=True)``. Each term of a sum has a B_q of its own, which
        has the place of an amplitude. :class:`kernsel.kernels.Coregion` is the kernel B of an output's number, to compose other
        models with.
    rank : int or "auto"
        The number of columns of W_q: of processes that outputs share. "auto" is 1 for two outputs, and 2 for more.
    noise : float, array-like of shape (n_targets,), or "auto"
        The noise variances d_i; "auto" finds one for each output.
    trend : {"constant", "linear", "quadratic"}, callable or None
        The functions h, with coefficients for each output.
    optimizer : "auto" or None
        "auto" finds the hyperparameters of the largest likelihood by L-BFGS-B. None leaves those of the first guess, which
        follows from the data.
    n_restarts_optimizer : int
        The number of random starts, besides three that are derived from the data.
    random_state : int, RandomState instance or None
        Determines the random starts.
    max_evaluations : int
    max_seconds : float or None
        After which the search ends with what it has found.

    Attributes
    ----------
    kernel_ : Kernel
        The covariance of points (x, i), whose last column is the number of the output, noise included.
    output_covariance_ : ndarray of shape (n_targets, n_targets)
        The sum of the B_q.
    output_correlation_ : ndarray of shape (n_targets, n_targets)
    noise_ : ndarray of shape (n_targets,)
    beta_ : ndarray of shape (q, n_targets)
        The coefficients of the trend.
    log_marginal_likelihood_value_ : float
    loo_residuals_, loo_std_ : ndarray of shape (n, n_targets)
        The error of the prediction of each observed number from all others, those of the same row included, and its standard
        deviation.
    n_evaluations_ : int
    X_train_ : ndarray of shape (n, d)
    y_train_ : ndarray of shape (n, n_targets)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    One output is known at few points, and another one, which is like it, at many:

    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 25).reshape(-1, 1)
    >>> y = np.column_stack([np.sin(X[:, 0]), 2 * np.sin(X[:, 0]) + 0.1 * X[:, 0]])
    >>> y[4:22, 1] = np.nan
    >>> model = ks.RelatedOutputsRegressor("RBF").fit(X, y)
    >>> bool(abs(model.predict([[3.0]])[0, 1] - (2 * np.sin(3.0) + 0.3)) < 0.2)
    True
    >>> bool(model.output_correlation_[0, 1] > 0.9)
    True
    """

    def __init__(
        self,
        kernel: KernelLike = "auto",
        *,
        rank: int | Literal["auto"] = "auto",
        noise: float | ArrayLike | Literal["auto"] = "auto",
        trend: Trend = "constant",
        optimizer: Literal["auto"] | None = "auto",
        n_restarts_optimizer: int = 0,
        random_state: Seed = None,
        max_evaluations: int = 1000,
        max_seconds: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.rank = rank
        self.noise = noise
        self.trend = trend
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.random_state = random_state
        self.max_evaluations = max_evaluations
        self.max_seconds = max_seconds

    @with_one_blas_thread
    def fit(self, X: Points, y: ArrayLike) -> Self:
        """Find the hyperparameters and condition the processes on the data.

        Parameters
        ----------
        X : array-like of shape (n, d), or a data frame
        y : array-like of shape (n, n_targets)
            nan where an output was not observed; each output has to be observed twice at least.

        Returns
        -------
        self : RelatedOutputsRegressor
        """
        require(self, _ALLOWED)
        if self.optimizer is not None and not is_auto(self.optimizer):
            raise ValueError(f'optimizer: expected "auto" or None, got {self.optimizer!r}')
        Y = _outputs(y)
        given = training_set(self, kernel_of(self.kernel, auto=_AUTO, points=X), X, np.nan_to_num(Y)).in_double()
        kernel, points = given.kernel_and_points()
        if kernel.reading() is not None:
            require_trend_of_objects(self.trend)
        noise = self._known_noise(Y.shape[1])
        some = ~np.isnan(Y).all(axis=1)
        points, Y = points[some], Y[some]
        self.X_train_, self.y_train_ = points.copy(), Y
        # The search is in units of each output, so that bounds and starts suit all of them.
        units = np.array([_spread(column[~np.isnan(column)]) for column in Y.T])
        in_units = Y / units
        known = None if noise is None else noise / units**2
        first = first_guess(terms_of(kernel), points, in_units, self.trend, self._rank(Y.shape[1]), known, self._names())
        require_memory_for(first, Y)
        if self.optimizer is None:
            value = log_likelihood(first, points, in_units, self.trend)[0]
            found = RelatedSelection(first, value, 1, np.zeros(0), "as given")
        else:
            budget = Budget(self.max_evaluations, np.inf if self.max_seconds is None else self.max_seconds)
            rng = check_random_state(0 if self.random_state is None else self.random_state)
            found = choose_related(first, points, in_units, self.trend, budget, self.n_restarts_optimizer, rng)
        self.restore(replace(found, related=found.related.multiplied(units)))
        return self

    def restore(self, selection: RelatedSelection) -> None:
        """Set what follows from the hyperparameters, the training points and the targets, which were set before."""
        self.selection_ = selection
        self.n_evaluations_ = selection.n_evaluations
        related = self._related = selection.related
        self.__dict__.pop("posterior_", None)
        self.kernel_ = related.whole()
        self.noise_ = related.variances
        self.output_covariance_ = np.sum([covariance_of(one) for one in related.coregions], axis=0)
        size = np.sqrt(np.diag(self.output_covariance_))
        self.output_correlation_ = self.output_covariance_ / np.multiply.outer(size, size)
        self.beta_ = self.posterior_.beta
        self.log_marginal_likelihood_value_ = self.posterior_.log_likelihood

    @cached_property
    def posterior_(self) -> RelatedPosterior:
        """The processes conditioned on the data."""
        return conditioned(self._related, self.X_train_, self.y_train_, self.trend)

    def predict(
        self, X: Points, return_std: bool = False, return_cov: bool = False, *, noisy: bool | None = None
    ) -> Matrix | tuple[Matrix, Matrix]:
        """Return the posterior means at points and, on request, their standard deviations or joint covariance.

        Parameters
        ----------
        X : array-like of shape (k, d)
        return_std, return_cov : bool
            At most one of them.
        noisy : bool, optional
            Whether the deviations are those of new observations, or of the functions. None includes noise that was found, and
            not what was given.

        Returns
        -------
        mean : ndarray of shape (k, n_targets)
        std : ndarray of shape (k, n_targets)
        cov : ndarray of shape (k, n_targets, k, n_targets)
            ``cov[a, i, b, j]`` is the covariance of output i at point a with output j at point b.
        """
        if return_std and return_cov:
            raise ValueError("return_std, return_cov: expected one of them at most")
        check_is_fitted(self, "kernel_")
        Z = np.asarray(new_points(self, self._related.terms[0], X, dtype=np.float64))
        mean = self.posterior_.mean(Z)
        if not (return_std or return_cov):
            return mean
        extra = self.noise_ if noisy or (noisy is None and is_auto(self.noise)) else np.zeros(len(self.noise_))
        if return_std:
            return mean, np.sqrt(np.maximum(self.posterior_.variances(Z), 0.0) + extra)
        covariance = self.posterior_.covariance(Z)
        for output, variance in enumerate(extra):
            covariance[np.arange(len(Z)), output, np.arange(len(Z)), output] += variance
        return mean, covariance

    def sample_y(self, X: Points, n_samples: int = 1, random_state: Seed = 0, *, noisy: bool | None = None) -> Matrix:
        """Draw joint samples of all outputs at points, in O((k m)^3), shape (k, n_targets, n_samples).

        Parameters
        ----------
        X : array-like of shape (k, d)
        n_samples : int
        random_state : int, RandomState instance or None
        noisy : bool, optional
            Of new observations, or of the functions, as in `predict`.
        """
        if not isinstance(n_samples, int | np.integer) or isinstance(n_samples, bool) or n_samples < 0:
            raise ValueError(f"n_samples: expected a whole number from 0 on, got {n_samples!r}")
        mean, covariance = self.predict(X, return_cov=True, noisy=noisy)
        size = mean.size
        drawn = draws_of_normal(check_random_state(random_state), mean.ravel(), covariance.reshape(size, size), int(n_samples))
        return np.asarray(drawn.reshape(*mean.shape, int(n_samples)))

    def score(self, X: Points, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2, averaged over outputs, each over the rows in which it was observed."""
        Y, mean = _outputs(y, 1), np.asarray(self.predict(X))
        if Y.shape != mean.shape:
            raise ValueError(f"y: expected shape {mean.shape}, got {Y.shape}")
        weights = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        seen = ~np.isnan(Y)
        return float(np.mean([r2_score(Y[s, k], mean[s, k], sample_weight=weights[s]) for k, s in enumerate(seen.T)]))

    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False
    ) -> float | tuple[float, Vector]:
        """Return the log marginal likelihood of the observations, and on request its derivatives.

        Parameters
        ----------
        theta : array-like of shape (n_dims,), optional
            The hyperparameters of `kernel_`, noise included, in the order of ``kernel_.theta``; by default those that were
            chosen.
        eval_gradient : bool
        """
        check_is_fitted(self, "kernel_")
        at = self.kernel_.theta if theta is None else np.asarray(theta, dtype=np.float64)
        value, gradient = log_likelihood(self._related.at(at), self.X_train_, self.y_train_, self.trend)
        return (value, gradient) if eval_gradient else value

    @property
    def loo_residuals_(self) -> Matrix:
        """The error of the prediction of each observed number from all others, (n, n_targets); nan where there is none."""
        check_is_fitted(self, "kernel_")
        return self.posterior_.left_out()[0]

    @property
    def loo_std_(self) -> Matrix:
        """The standard deviation of each leave-one-out residual, (n, n_targets)."""
        check_is_fitted(self, "kernel_")
        return np.sqrt(self.posterior_.left_out()[1])

    def kept_data(self) -> tuple[Matrix, ArrayLike | None]:
        """Return the training points and targets."""
        return self.X_train_, self.y_train_

    def shown_data(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ShownData:
        """Return the rows in which one output was observed, see :class:`kernsel.estimators.fitted.FittedModel`."""
        points = self.X_train_ if X is None else np.asarray(X, dtype=np.float64)
        targets = (self.y_train_ if y is None else np.asarray(y, dtype=np.float64))[:, output]
        return ShownData(points[~np.isnan(targets)], targets[~np.isnan(targets)])

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return the mean of one output at points, and the band of the function or of observations, see `FittedModel`."""
        if level is None:
            return Prediction(column(self.predict(X), output), mean_name="mean")
        mean, std = (column(values, output) for values in self.predict(X, return_std=True, noisy=noisy))
        from scipy.stats import norm

        half = float(norm.ppf((1 + level) / 2)) * std
        of_what = "observations" if noisy else "the function"
        return Prediction(mean, mean - half, mean + half, std, f"{{level}} band of {of_what}", "std", "mean")

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the prediction of each observed number of one output from all others."""
        del X, y
        seen = ~np.isnan(self.y_train_[:, output])
        targets = self.y_train_[seen, output]
        return LeftOut(targets, targets - self.loo_residuals_[seen, output], self.loo_std_[seen, output])

    def _rank(self, m: int) -> int:
        return min(2, m - 1) if is_auto(self.rank) else int(self.rank)

    def _known_noise(self, m: int) -> Vector | None:
        """Return the known noise variance of each output, or None if they are to be found."""
        if is_auto(self.noise):
            return None
        try:
            noise = np.broadcast_to(np.asarray(self.noise, dtype=np.float64), (m,))
        except (TypeError, ValueError):
            noise = np.full(m, np.nan)
        if not np.isfinite(noise).all() or (noise < 0).any():
            raise ValueError(f'noise: expected "auto", a variance, or one for each of {m} outputs, got {self.noise!r}')
        return noise

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags


def _outputs(y: ArrayLike, least: int = 2) -> Matrix:
    """Return the targets with a column for each output, nan where one is missing, and at least so many observed."""
    Y = np.asarray(check_array(y, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y", ensure_2d=False))
    if Y.ndim != 2 or Y.shape[1] < 2:
        raise ValueError(
            f"y: expected two outputs at least, shape (n, n_targets), got {Y.shape}; GaussianProcessRegressor has one"
        )
    counts = (~np.isnan(Y)).sum(axis=0)
    if (counts < least).any():
        output = int(counts.argmin())
        raise ValueError(f"y: output {output} is observed {counts[output]} times; expected {least} at least, or leave it out")
    require_squares(np.nan_to_num(Y))
    return Y


def _spread(values: Vector) -> float:
    """Return the standard deviation of values; their size if they are all equal, and one if they are zero."""
    spread = float(values.std())
    return spread if spread > 1e-12 * float(np.abs(values).max()) else float(np.abs(values).max()) or 1.0
