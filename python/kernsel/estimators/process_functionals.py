"""Slopes and averages that a Gaussian process predicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.points import new_points
from kernsel._solve.functional_posterior import FunctionalPosterior
from kernsel.estimators.guarded import reads
from kernsel.estimators.process_predictions import ProcessPredictions
from kernsel.kernels import Columns, Functionals, HeteroscedasticNoise, Kernel, Product, Sum, WhiteKernel
from kernsel.kernels.amplitudes import has_noise
from kernsel.kernels.functionals import columns_of
from kernsel.kernels.objects import Points

__all__ = ["ProcessFunctionals"]


class ProcessFunctionals(ProcessPredictions):
    """A Gaussian process that predicts, also its partial derivatives and its averages over boxes."""

    @reads
    def predict_slopes(
        self, X: Points, columns: Sequence[int] | None = None, *, return_std: bool = False, return_cov: bool = False
    ) -> Vector | tuple[Vector, Vector]:
        """Return the mean of the partial derivatives of the function and, on request, their standard deviation or covariance.

        The derivative of a Gaussian process is one, too, known from values as well as from slopes. `predict_gradient` returns
        the same mean, and the derivative of the standard deviation.

        Parameters
        ----------
        X : array-like of shape (m, d)
        columns : sequence of int, optional
            The columns along which derivatives are taken, all by default.
        return_std : bool
            Also return the standard deviations, in O(n^2) for each derivative.
        return_cov : bool
            Also return the joint covariance of all derivatives.

        Returns
        -------
        mean : ndarray of shape (m, len(columns))
        std : ndarray of the same shape
        cov : ndarray of shape (m, len(columns), m, len(columns))

        Raises
        ------
        ValueError
            If the process has several outputs, is approximated or of a likelihood; or its kernel has no derivatives, see
            :class:`kernsel.kernels.Functionals`.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
        >>> gp = ks.GaussianProcessRegressor("RBF", noise=0.0).fit(X, np.sin(X[:, 0]))
        >>> mean, std = gp.predict_slopes([[1.0]], return_std=True)
        >>> bool(abs(mean[0, 0] - np.cos(1.0)) < 0.01 and std[0, 0] < 0.01)
        True
        """
        check_is_fitted(self, "kernel_")
        Z = np.asarray(new_points(self, self.kernel_, X, dtype=np.float64))
        chosen = columns_of(columns, Z.shape[1])
        shape = (len(Z), len(chosen))
        found = self._predicted(Functionals.slopes(Z, [int(j) for j in chosen]), 0.0, return_std, return_cov)
        if not isinstance(found, tuple):
            return found.reshape(shape)
        return found[0].reshape(shape), found[1].reshape(shape + shape if return_cov else shape)

    @reads
    def predict_averages(
        self, lower: ArrayLike, upper: ArrayLike, *, return_std: bool = False, return_cov: bool = False
    ) -> Vector | tuple[Vector, Vector]:
        """Return the mean of the averages of the function over boxes and, on request, their standard deviation or covariance.

        In closed form, for kernels that have one, see :class:`kernsel.kernels.Functionals`. The integral over a box is the
        average times the volume.

        Parameters
        ----------
        lower, upper : array-like of shape (m, d)
            The ends of the boxes; a column in which they are equal is fixed at that number.
        return_std : bool
            Also return the standard deviations, in O(n^2) for each box.
        return_cov : bool
            Also return the joint covariance.

        Returns
        -------
        mean : ndarray of shape (m,)
        std : ndarray of shape (m,)
        cov : ndarray of shape (m, m)

        Raises
        ------
        ValueError
            As by `predict_slopes`.

        Examples
        --------
        >>> import numpy as np, kernsel as ks
        >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
        >>> gp = ks.GaussianProcessRegressor("RBF", noise=0.0).fit(X, np.sin(X[:, 0]))
        >>> mean, std = gp.predict_averages([[0.0]], [[np.pi]], return_std=True)
        >>> bool(abs(mean[0] - 2 / np.pi) < 0.001 and std[0] < 0.001)
        True
        """
        check_is_fitted(self, "kernel_")
        low, high = (np.asarray(new_points(self, self.kernel_, ends, dtype=np.float64)) for ends in (lower, upper))
        return self._predicted(Functionals.averages(low, high), float(self._y_train_mean[0]), return_std, return_cov)

    def _predicted(self, rows: Matrix, offset: float, return_std: bool, return_cov: bool) -> Vector | tuple[Vector, Vector]:
        """Return the mean of functionals with their deviation or covariance, in the unit of y."""
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        posterior, unit = self._functional_posterior(), float(self._y_train_std[0])
        mean = offset + unit * posterior.mean_of(rows)[:, 0]
        scale = unit**2 * float(self.scale_[0])
        if return_cov:
            return mean, scale * posterior.covariance_of(rows)
        return (mean, np.sqrt(scale * np.maximum(posterior.variance_of(rows), 0.0))) if return_std else mean

    def _functional_posterior(self) -> FunctionalPosterior:
        """Return the posterior that predicts functionals; that of a fit to values is made when it is first asked for."""
        posterior = self.posterior_
        if isinstance(posterior, FunctionalPosterior):
            return posterior
        if self._observed is not None or self._sampled is not None or not posterior.exact or posterior.y.shape[1] > 1:
            raise ValueError(
                "slopes and averages are predicted by processes of one output with normal noise, without an approximation and "
                "draws of hyperparameters; predict_gradient has the slopes of others"
            )
        kept: tuple[object, FunctionalPosterior] | None = self.__dict__.get("_of_functionals")
        if kept is None or kept[0] is not posterior.y:
            kernel = _without_noise(posterior.kernel)
            noise = posterior.noise + posterior.kernel.build().noise(posterior.X)
            nothing = np.full(posterior.X.shape[1], np.nan), float("nan")
            if callable(posterior.trend):
                raise ValueError('trend: expected "constant", "linear", "quadratic" or None for slopes and averages')
            made = FunctionalPosterior(
                kernel, Functionals.values(posterior.X), posterior.y, noise, posterior.trend, len(posterior.y), nothing
            )
            kept = self.__dict__["_of_functionals"] = (posterior.y, made)
        return kept[1]


def _without_noise(kernel: Kernel) -> Kernel:
    """Return the terms of a kernel that are no noise."""
    if not has_noise(kernel):
        return kernel
    if isinstance(kernel, Columns):
        return kernel.moved_to(_without_noise(kernel.kernel))
    terms = [_without_noise(term) for term in kernel.operands() if not _is_noise(term)] if isinstance(kernel, Sum) else []
    if not terms:
        raise ValueError(f"kernel: {kernel} has a noise that cannot be told from the function; expected it as a term of a sum")
    total = terms[0]
    for term in terms[1:]:
        total = Sum(total, term)
    return total


def _is_noise(term: Kernel) -> bool:
    """Tell whether a term is zero between different points."""
    if isinstance(term, Product):
        return any(_is_noise(factor) for factor in term.operands())
    if isinstance(term, Columns):
        return _is_noise(term.kernel)
    return isinstance(term, WhiteKernel | HeteroscedasticNoise)
