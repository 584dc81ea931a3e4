"""Predictions of a Gaussian process: mean and uncertainty, derivatives, samples; before it is fitted, those of the prior."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.gaussian_process import GaussianProcessRegressor as GaussianProcess
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Seed, Vector
from kernsel._data.allowed import require, whole
from kernsel._data.mean import mean_at
from kernsel._data.noise import variances
from kernsel._data.points import in_parts, new_points, reading_of, validated
from kernsel._data.rows import is_of_dask
from kernsel._data.training import for_objects, objects_as_numbers
from kernsel._solve.evaluate import evaluate
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel._solve.posterior import Posterior
from kernsel.criteria import Likelihood
from kernsel.estimators.as_sklearn import as_process
from kernsel.estimators.draws import draws_of_normal
from kernsel.estimators.fitted_process import FittedProcess
from kernsel.estimators.guarded import reads
from kernsel.estimators.lazy_predictions import lazily
from kernsel.estimators.process_data import of_observations
from kernsel.kernels import Functionals, Kernel
from kernsel.kernels.objects import Points

__all__ = ["N_TARGETS", "ProcessPredictions"]

N_TARGETS = (whole(1) | None).said("a whole number from 1 on, or None")


class ProcessPredictions(FittedProcess):
    """A Gaussian process that predicts."""

    alpha: object
    noise: object
    n_targets: int | None
    log_marginal_likelihood_value_: float
    _restricted: bool  # whether the criterion is a restricted likelihood
    _own_scales: bool  # whether each output has a scale of its own

    def _prior_kernel(self, X: object = None) -> Kernel:
        """Return the kernel that the parameter `kernel` stands for, for points X."""
        raise NotImplementedError

    @reads
    def predict(
        self,
        X: Points,
        return_std: bool = False,
        return_cov: bool = False,
        *,
        noisy: bool | None = None,
        exposure: ArrayLike | None = None,
        trials: ArrayLike | None = None,
    ) -> Vector | tuple[Vector, Vector]:
        """Return the posterior mean at points and, on request, its standard deviation or covariance; before `fit`, the prior's.

        Points are processed in blocks, so that memory does not grow with their number, except with `return_cov`.

        Parameters
        ----------
        X : array-like of shape (m, d), or a collection of Dask, for which arrays of Dask are returned
        return_std : bool
            Also return the standard deviation, in O(n^2) for each point.
        return_cov : bool
            Also return the joint covariance of the points.
        noisy : bool, optional
            Whether the standard deviation or covariance is that of new observations, or that of the function. None includes the
            noise that was *found* (``noise="auto"``, or a kernel given by text), and not what was given as `noise` or `alpha`:
            as in scikit-learn, where a WhiteKernel counts and `alpha` does not. True adds `noise_` and `alpha`, which must be
            one number each; False adds neither. The noise of a WhiteKernel is always included. With a likelihood, the
            predictions are of observations, and for False the deviation is that of their expectation given the function.
        exposure, trials : float or array-like of shape (m,), optional
            For likelihoods of counts: those of the new observations, as in `fit`; one by default.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, n_targets)
        std : ndarray of the same shape
        cov : ndarray of shape (m, m) or (m, m, n_targets)
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        fitted = hasattr(self, "posterior_")
        sizes = {"exposure": exposure, "trials": trials}
        if fitted and self._observed is not None:
            if return_cov:
                raise ValueError(
                    "return_cov: predict_latent() has the covariance of the latent function; sample_y() draws observations"
                )
            found: Vector | tuple[Vector, Vector] = self._of_observations(X, return_std, noisy, sizes)
            return found
        self._require_no_sizes(sizes)
        if is_of_dask(X):
            check_is_fitted(self, "posterior_")
            if return_cov:
                raise ValueError("return_cov: expected False for a collection of Dask, whose points are in many places")
            function = partial(_mean_and_std, return_std=return_std, noisy=noisy)
            lazy: Vector = lazily(self, X, function, 0 if self._flat else len(self.scale_), 2 if return_std else 1)
            return lazy
        if fitted and not return_cov and (parts := in_parts(self.kernel_, X)) is not None:
            return _stacked([self.predict(part, return_std, noisy=noisy) for part in parts])
        if not fitted:
            kernel = self._prior_kernel(X)
            kernel, Z = objects_as_numbers(self, kernel, X) if for_objects(kernel, X) else (kernel, self._points(X))
            kernel = kernel.for_data(Z)
            require(self, {"n_targets": N_TARGETS})
            m = 1 if self.n_targets is None else self.n_targets
            mean = mean_at(self.mean, Z, m)
            factor, flat = np.ones(m), m == 1
            extra = self._given_noise() if noisy else 0.0
        else:
            if self._sampled is not None:
                drawn: Vector | tuple[Vector, Vector] = self._of_draws(X, return_std, return_cov, noisy)
                return drawn
            Z = np.asarray(new_points(self, self.kernel_, X, dtype=np.float64, ensure_2d=True))
            if return_std:
                mean, variance = self.posterior_.mean_and_variance(Z)
            else:
                mean = self.posterior_.mean(Z)
            mean = mean * self._y_train_std + self._y_train_mean
            if self.mean is not None:
                mean = mean + mean_at(self.mean, Z, mean.shape[1])
            factor, flat = self.scale_ * self._y_train_std**2, self._flat
            extra = self._noise_of_prediction(noisy)
        least = self.jitter_ if fitted else 0.0
        if flat:
            mean = mean[:, 0]
        if not (return_std or return_cov):
            return mean
        if return_std:
            if not fitted:
                variance = np.asarray(kernel.diag(Z))
            std = np.sqrt(np.multiply.outer(np.maximum(variance, least) + extra, factor))
            return mean, std[:, 0] if flat else std
        cov = self.posterior_.covariance(Z) if fitted else np.asarray(kernel(Z))
        np.fill_diagonal(cov, np.maximum(np.diag(cov), least) + extra)
        covariance = np.multiply.outer(cov, factor)
        return mean, covariance[:, :, 0] if flat else covariance

    def _of_draws(self, X: Points, return_std: bool, return_cov: bool, noisy: bool | None) -> Any:
        """Return the mean of observations with normal noise, their deviation or covariance, over draws of hyperparameters."""
        assert self._sampled is not None
        if not return_cov:
            mixture = self._mixture(X, noisy=noisy)
            return (mixture.mean[:, 0], mixture.std[:, 0]) if return_std else mixture.mean[:, 0]
        Z = self._new_points(X)
        mixture = self._sampled.mixture(Z, noisy=noisy is not False, known=self._known_noise() if noisy else 0.0)
        covariance = self._sampled.covariance(Z)
        np.fill_diagonal(covariance, mixture.std[:, 0] ** 2)
        return mixture.mean[:, 0], covariance

    def _known_noise(self) -> float:
        return of_observations(0.0 if self._finds_noise else self.noise_, self._alpha_known)

    @property
    def _finds_noise(self) -> bool:
        return not np.isnan(self.selection_.noise)

    def _noise_of_prediction(self, noisy: bool | None) -> float:
        """Return the variance that predictions add to that of the function, see the parameter `noisy` of `predict`."""
        if noisy is None:
            found = self.selection_.noise * self.selection_.scale
            return 0.0 if np.isnan(found) else found
        return of_observations(self.noise_, self._alpha_known) if noisy else 0.0

    def _given_noise(self) -> float:
        """Return the noise variance of an observation of the prior."""
        noise = 0.0 if self.noise is None or isinstance(self.noise, str) else self._numbers("noise", None)
        alpha = 0.0 if isinstance(self.alpha, str) else self._numbers("alpha", None)
        return of_observations(noise, alpha)

    def to_sklearn(self) -> GaussianProcess:
        """Return this process as a fitted one of scikit-learn, which converters to ONNX know, too.

        Returns
        -------
        process : sklearn.gaussian_process.GaussianProcessRegressor
            With the same means to rounding, and the same standard deviations if there is no trend: scikit-learn takes the
            coefficient of a constant trend for known, and leaves out the term r'(H'K~^-1 H)^-1 r of the variance.

        Raises
        ------
        ValueError
            If it is not exact, has a likelihood, draws, a known mean or another trend than a constant, which scikit-learn does
            not have.
        TypeError
            If it does not have the kernel, see :func:`kernsel.kernels.to_sklearn`.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
        >>> gp = ks.GaussianProcessRegressor("RBF", trend=None).fit(X, np.sin(X[:, 0]) + 0.1 * np.cos(50 * X[:, 0]))
        >>> bool(np.allclose(gp.to_sklearn().predict(X, return_std=True), gp.predict(X, return_std=True)))
        True
        """
        check_is_fitted(self, "posterior_")
        posterior = self.posterior_
        self._require_values_only("to_sklearn")
        if type(posterior) is not Posterior or self._observed is not None or self._sampled is not None:
            raise ValueError("to_sklearn: expected an exact process with normal noise and without draws, approximation=None")
        if self.mean is not None:
            raise ValueError("mean: scikit-learn has no known mean; fit y without it, and add it to predictions")
        if not (posterior.trend is None or (isinstance(posterior.trend, str) and posterior.trend == "constant")):
            raise ValueError(f'trend: scikit-learn has a constant one or none, got {posterior.trend!r}; fit trend="constant"')
        unit, factor = self._y_train_std, self.scale_ * self._y_train_std**2
        coefficients, constant = posterior.weights * unit, posterior.beta.sum(axis=0) * unit + self._y_train_mean
        noise = self._noise_of_prediction(None)
        return as_process(
            self,
            posterior.kernel,
            posterior.X,
            self._shaped(coefficients),
            constant[0] if self._flat else constant,
            factor=factor,
            noise=noise,
            alpha=np.maximum(posterior.noise - noise, 0.0),
            lower=posterior.lower(),
        )

    @reads
    def predict_gradient(
        self, X: Points, return_std: bool = False, *, noisy: bool | None = None
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the derivatives of the mean with respect to the points and, on request, those of the standard deviation.

        With a likelihood, both are those of the latent function, as of `predict_latent`.

        Parameters
        ----------
        X : array-like of shape (m, d)
        return_std : bool
            Also return d std / dx = (d var / dx) / (2 std), which is set to zero where the standard deviation is zero.
        noisy : bool, optional
            Whether std is that of new observations, or that of the function, as in `predict`.

        Returns
        -------
        mean_gradient : ndarray of shape (m, d) or (m, d, n_targets)
        std_gradient : ndarray of the same shape

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
        >>> gp = ks.GaussianProcessRegressor(noise=0.0).fit(X, np.sin(X[:, 0]))
        >>> bool(abs(gp.predict_gradient([[1.0]])[0, 0] - np.cos(1.0)) < 0.05)
        True
        """
        check_is_fitted(self, "kernel_")
        if reading_of(self.kernel_) is not None:
            raise ValueError(f"X: there are no derivatives in points that are objects, which {self.kernel_} is of")
        if self.mean is not None:
            raise ValueError("mean: its derivatives are not known; fit y without it, and add them to this gradient")
        Z = np.asarray(validated(self, X, dtype=np.float64, reset=False))
        if self._sampled is not None:
            of_mean, of_variance = self._sampled.gradients(Z)
            if not return_std:
                return of_mean
            normal = self._observed is None
            std = self.predict(Z, return_std=True, noisy=noisy)[1] if normal else np.sqrt(self._sampled.latent(Z)[1])
            return of_mean, of_variance / (2 * np.where(std > 0, std, np.inf)[:, None])
        if self._observed is not None:
            of_mean, of_variance = self._observed.latent_gradients(Z)
            std = np.sqrt(self._observed.latent(Z)[1])[:, None]
            return (of_mean, of_variance / (2 * np.where(std > 0, std, np.inf))) if return_std else of_mean
        slopes = self.posterior_.mean_gradient(Z) * self._y_train_std
        if not return_std:
            return slopes[..., 0] if self._flat else slopes
        factor = np.sqrt(self.scale_) * self._y_train_std
        std = np.sqrt(np.maximum(self.posterior_.variance(Z), self.jitter_) + self._noise_of_prediction(noisy))
        half = self.posterior_.variance_gradient(Z) / (2 * np.where(std > 0, std, np.inf)[:, None])
        of_std = np.multiply.outer(half, factor)
        return (slopes[..., 0], of_std[..., 0]) if self._flat else (slopes, of_std)

    @reads
    def sample_y(
        self,
        X: Points,
        n_samples: int = 1,
        random_state: Seed = 0,
        *,
        noisy: bool | None = None,
        exposure: ArrayLike | None = None,
        trials: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Draw joint samples of the process at points, in O(m^3) beyond `predict`; before `fit`, samples of the prior.

        Parameters
        ----------
        X : array-like of shape (m, d)
        n_samples : int
        random_state : int, RandomState instance or None
        noisy : bool, optional
            Whether samples are of new observations, or of the function, as in `predict`: None includes noise that was found.
            With a likelihood, None is of observations.
        exposure, trials : float or array-like of shape (m,), optional
            For likelihoods of counts, as in `predict`.

        Returns
        -------
        samples : ndarray of shape (m, n_samples) or (m, n_targets, n_samples)
        """
        if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 0:
            raise ValueError(f"n_samples: expected a whole number from 0 on, got {n_samples!r}")
        sizes = {"exposure": exposure, "trials": trials}
        if self._observed is not None:
            return self._draw_observations(X, int(n_samples), random_state, noisy, sizes)
        self._require_no_sizes(sizes)
        rng = check_random_state(random_state)
        if self._sampled is not None:
            known = self._known_noise() if noisy else 0.0
            return self._sampled.draw(rng, self._new_points(X), int(n_samples), None, noisy=noisy is not False, known=known)
        mean, cov = self.predict(X, return_cov=True, noisy=noisy)
        if mean.ndim == 1:
            return draws_of_normal(rng, mean, cov, int(n_samples))
        outputs = [draws_of_normal(rng, mean[:, k], cov[..., k], int(n_samples))[:, None] for k in range(mean.shape[1])]
        return np.hstack(outputs)

    @reads
    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> np.float64 | tuple[np.float64, Vector]:
        """Return the log marginal likelihood of the data, summed over outputs.

        Parameters
        ----------
        theta : array-like of shape (n_dims,), optional
            Hyperparameters in the order and transformation of `kernel_.theta`; by default those that were chosen. The noise is
            not changed.
        eval_gradient : bool
            Also return the derivatives with respect to theta.
        clone_kernel : bool
            False sets the hyperparameters of `kernel_` to theta.

        Returns
        -------
        value : float
            Minus infinity if the kernel matrix for theta is not positive definite.
        gradient : ndarray of shape (n_dims,)
        """
        check_is_fitted(self, "kernel_")
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return np.float64(self.log_marginal_likelihood_value_)
        kernel = self.kernel_.clone_with_theta(np.asarray(theta, dtype=np.float64))
        if not clone_kernel:
            self.kernel_ = kernel
        posterior = self.posterior_
        if self._observed is not None:
            value: np.float64 | tuple[np.float64, Vector]
            value = self._observed.evidence_at(kernel, self.jitter_ + float(self._alpha_known), eval_gradient)
            return value
        try:
            found = evaluate(
                Likelihood(restricted=self._restricted, scale="each" if self._own_scales else "known"),
                Functionals(kernel) if isinstance(posterior, FunctionalPosterior) else kernel,
                posterior.X,
                posterior.y,
                noise=posterior.noise,
                trend=posterior.H if posterior.H.shape[1] else None,
                gradient=eval_gradient,
            )
        except np.linalg.LinAlgError:
            return (np.float64(-np.inf), np.zeros(kernel.n_dims)) if eval_gradient else np.float64(-np.inf)
        return np.float64(found.value) if found.gradient is None else (np.float64(found.value), found.gradient)

    @property
    @reads
    def L_(self) -> NDArray[np.float64]:  # noqa: N802
        """The lower Cholesky factor of the kernel matrix with noise, `alpha` and jitter on its diagonal, shape (n, n)."""
        check_is_fitted(self, "kernel_")
        return self.posterior_.lower()

    def _points(self, X: Points) -> Vector:
        """Return points for predictions of the prior, which may have any number of columns."""
        return np.asarray(check_array(X, dtype=np.float64))

    def _numbers(self, name: str, n: int | None) -> Vector:
        return variances(name, getattr(self, name), n)


def _stacked(parts: list[Vector | tuple[Vector, Vector]]) -> Vector | tuple[Vector, Vector]:
    """Concatenate the predictions, or pairs of mean and standard deviation, for consecutive parts of the points."""
    if isinstance(parts[0], tuple):
        means, spreads = zip(*parts, strict=True)
        return np.concatenate(means), np.concatenate(spreads)
    return np.concatenate(parts)


def _mean_and_std(model: ProcessPredictions, points: Any, return_std: bool, noisy: bool | None) -> Any:
    return model.predict(points, return_std, noisy=noisy)
