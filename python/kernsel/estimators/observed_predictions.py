"""Predictions of a Gaussian process for observations of a likelihood, and quantiles and densities for those of any."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Seed, Vector
from kernsel._data.points import new_points
from kernsel.estimators.guarded import reads
from kernsel.estimators.observed_process import ObservedProcess
from kernsel.estimators.process_draws import ProcessDraws
from kernsel.estimators.stacking.mixture import Mixture
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points
from kernsel.likelihoods.observations import sizes_of

__all__ = ["ObservedPredictions"]


class ObservedPredictions(ProcessDraws):
    """What a Gaussian process predicts of observations whose likelihood may be any.

    Attributes
    ----------
    likelihood_ : Likelihood
        The likelihood with the parameters that were found; only where one was given.
    """

    kernel_: Kernel
    _observed: ObservedProcess | None = None  # None for normal noise

    def _new_points(self, X: Points) -> Matrix:
        return np.asarray(new_points(self, self.kernel_, X, dtype=np.float64, ensure_2d=True))

    def _sizes(self, n: int, **given: ArrayLike | None) -> Vector | None:
        """Return the sizes of observations, which are for likelihoods only."""
        if self._observed is None:
            self._require_no_sizes(given)
            return None
        return sizes_of(self._observed.likelihood, dict(given), n)

    def _require_no_sizes(self, given: Any) -> None:
        for name, values in given.items():
            if values is not None:
                raise ValueError(
                    f'{name}: normal noise has none; expected a likelihood of counts, such as likelihood="poisson"'
                )

    def _of_observations(self, X: Points, return_std: bool, noisy: bool | None, sizes: dict[str, Any]) -> Any:
        """Return the mean of observations, or of the latent function transformed (`noisy` False), and the deviation."""
        assert self._observed is not None
        Z = self._new_points(X)
        counts = self._sizes(len(Z), **sizes)
        if self._sampled is not None:
            expected, spread = self._sampled.observed(Z, counts, noisy)
            return (expected, np.sqrt(spread)) if return_std else expected
        expected, spread = self._observed.predict(Z, counts)
        if not return_std:
            return expected
        if noisy is False:
            mean, variance = self._observed.latent(Z)
            spread = self._observed.spread_of_mean(mean, variance, counts)
        return expected, np.sqrt(spread)

    def predict_latent(self, X: Points, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the mean of the latent function f at points and, on request, its standard deviation or covariance.

        With normal noise, that is what ``predict(X, noisy=False)`` returns.

        Parameters
        ----------
        X : array-like of shape (m, d)
        return_std, return_cov : bool

        Returns
        -------
        mean : ndarray of shape (m,)
        std : ndarray of shape (m,)
        cov : ndarray of shape (m, m)

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 3, 30).reshape(-1, 1)
        >>> counts = np.random.default_rng(0).poisson(np.exp(1 + np.sin(2 * X[:, 0])))
        >>> gp = ks.GaussianProcessRegressor(likelihood="poisson").fit(X, counts)
        >>> mean, std = gp.predict_latent([[0.8]], return_std=True)
        >>> bool(abs(mean[0] - 2) < 3 * std[0])
        True
        """
        if self._observed is None:
            return self.predict(X, return_std, return_cov, noisy=False)  # type: ignore[attr-defined]
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        check_is_fitted(self, "kernel_")
        Z = self._new_points(X)
        if self._sampled is not None:
            mean, variance = self._sampled.latent(Z)
            if return_cov:
                return mean, self._sampled.covariance(Z)
            return (mean, np.sqrt(variance)) if return_std else mean
        if return_cov:
            return self._observed.latent_jointly(Z)
        mean, variance = self._observed.latent(Z)
        return (mean, np.sqrt(variance)) if return_std else mean

    @reads
    def predict_quantiles(
        self,
        X: Points,
        levels: ArrayLike,
        *,
        exposure: ArrayLike | None = None,
        trials: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Return quantiles of new observations at points.

        The quantile of level q is the least value up to which the predictive probability is at least q.

        Parameters
        ----------
        X : array-like of shape (m, d)
        levels : array-like of shape (k,)
            Between 0 and 1, both excluded.
        exposure, trials : float or array-like of shape (m,), optional
            Those of the new observations, as in `fit`; one by default.

        Returns
        -------
        quantiles : ndarray of shape (m, k)

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 3, 30).reshape(-1, 1)
        >>> counts = np.random.default_rng(0).poisson(np.exp(1 + np.sin(2 * X[:, 0])))
        >>> gp = ks.GaussianProcessRegressor(likelihood="poisson").fit(X, counts)
        >>> low, high = gp.predict_quantiles([[0.8]], [0.05, 0.95])[0]
        >>> bool(low < 7 < high), bool(low == round(low))
        (True, True)
        """
        check_is_fitted(self, "kernel_")
        wanted = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        if wanted.ndim != 1 or not ((wanted > 0) & (wanted < 1)).all():
            raise ValueError(f"levels: expected numbers between 0 and 1, both excluded, got {levels!r}")
        if self._observed is None:
            self._require_no_sizes({"exposure": exposure, "trials": trials})
            if self._sampled is not None:
                return np.asarray(self._mixture(X, noisy=True).quantiles(wanted)[:, 0])
            mean, std = self.predict(X, return_std=True, noisy=True)  # type: ignore[attr-defined]
            if mean.ndim != 1:
                raise ValueError(f"predict_quantiles: expected a process of one target, got {mean.shape[1]}")
            return np.asarray(mean[:, None] + std[:, None] * stats.norm.ppf(wanted))
        Z = self._new_points(X)
        process = self._observed if self._sampled is None else self._sampled
        return process.quantiles(Z, wanted, self._sizes(len(Z), exposure=exposure, trials=trials))

    @reads
    def log_density(
        self, X: Points, y: ArrayLike, *, exposure: ArrayLike | None = None, trials: ArrayLike | None = None
    ) -> Vector:
        """Return the log density, or log probability, of each of some new observations by itself.

        Parameters
        ----------
        X : array-like of shape (m, d)
        y : array-like of shape (m,)
        exposure, trials : float or array-like of shape (m,), optional

        Returns
        -------
        log_density : ndarray of shape (m,)
        """
        check_is_fitted(self, "kernel_")
        values = np.asarray(y, dtype=np.float64)
        if self._observed is None:
            self._require_no_sizes({"exposure": exposure, "trials": trials})
            if self._sampled is not None:
                mixture = self._mixture(X, noisy=True)
                if values.shape != mixture.means.shape[1:2]:
                    raise ValueError(f"y: expected shape {mixture.means.shape[1:2]}, got {values.shape}")
                return mixture.log_density(values[:, None])
            mean, std = self.predict(X, return_std=True, noisy=True)  # type: ignore[attr-defined]
            if values.shape != mean.shape:
                raise ValueError(f"y: expected shape {mean.shape}, got {values.shape}")
            return np.asarray(stats.norm.logpdf(values, mean, std))
        Z = self._new_points(X)
        if values.shape != (len(Z),):
            raise ValueError(f"y: expected shape {(len(Z),)}, got {values.shape}")
        sizes = self._sizes(len(Z), exposure=exposure, trials=trials)
        if self._sampled is not None:
            self._observed.likelihood.check(values, sizes)
            return self._sampled.log_densities(Z, values, sizes)
        return self._observed.log_densities(Z, values, sizes)

    def _mixture(self, X: Points, *, noisy: bool | None) -> Mixture:
        """Return the predictive distribution over draws of hyperparameters, with normal noise or of the function."""
        assert self._sampled is not None
        known = self._known_noise() if noisy else 0.0
        return self._sampled.mixture(self._new_points(X), noisy=noisy is not False, known=known)

    def _known_noise(self) -> float:
        """Return the noise variance of new observations that was not found, in the unit of the targets."""
        raise NotImplementedError

    def _draw_observations(self, X: Points, count: int, seed: Seed, noisy: bool | None, sizes: dict[str, Any]) -> Matrix:
        assert self._observed is not None
        rng = check_random_state(seed)
        Z = self._new_points(X)
        if self._sampled is not None:
            return self._sampled.draw(rng, Z, count, self._sizes(len(Z), **sizes), noisy=noisy is not False)
        return self._observed.draws(rng, Z, count, noisy is not False, self._sizes(len(Z), **sizes))

    @property
    @reads
    def loo_log_density_(self) -> Vector:
        """The log density of each training observation given all others, shape (n,); groups as in `loo_residuals_`."""
        check_is_fitted(self, "kernel_")
        if self._observed is None:
            residuals, std = self.loo_residuals_, self.loo_std_  # type: ignore[attr-defined]
            return np.asarray(stats.norm.logpdf(residuals, 0.0, std))
        return self._observed.left_out(self._groups)[2]  # type: ignore[attr-defined]
