"""Related outputs conditioned on data: by Kronecker's product where all are observed everywhere, and stacked otherwise."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._base.memory import require_memory_of_points
from kernsel._data.points import blocks
from kernsel._data.trend import Trend, trend_matrix
from kernsel._solve.evaluate import evaluate
from kernsel._solve.kronecker import Kronecker
from kernsel._solve.posterior import Posterior
from kernsel._solve.related_kernel import RelatedKernel, covariance_of, stacked_points, stacked_trend
from kernsel.criteria import Likelihood
from kernsel.kernels.hyperparameter import numbers

__all__ = ["KroneckerPosterior", "RelatedPosterior", "StackedPosterior", "conditioned", "log_likelihood", "require_memory_for"]


class RelatedPosterior(Protocol):
    """What is known of the outputs at any points; n points and m outputs are known."""

    @property
    def log_likelihood(self) -> float:
        """The log marginal likelihood."""

    @property
    def beta(self) -> Matrix:
        """The coefficients of the trend, (q, m)."""

    def mean(self, Z: Matrix) -> Matrix:
        """Return the means at k points, (k, m)."""

    def variances(self, Z: Matrix) -> Matrix:
        """Return the variances of the functions, (k, m)."""

    def covariance(self, Z: Matrix) -> Matrix:
        """Return the joint covariance of all outputs at all points, (k, m, k, m)."""

    def left_out(self) -> tuple[Matrix, Matrix]:
        """Return the error of the prediction of each observed number from all others, and its variance, (n, m)."""


def require_memory_for(related: RelatedKernel, Y: Matrix) -> None:
    """Raise before anything is done if the matrices of a likelihood do not fit into memory."""
    if is_complete(related, Y):
        require_memory_of_points(len(Y), 5)  # the kernel matrix, its eigenvectors, and those of its derivative
    else:
        require_memory_of_points(int((~np.isnan(Y)).sum()), 0.5)


def is_complete(related: RelatedKernel, Y: Matrix) -> bool:
    """Tell whether the covariance is one Kronecker product: there is one term, and no output is missing anywhere."""
    return len(related.terms) == 1 and not np.isnan(Y).any()


@with_one_blas_thread
def log_likelihood(related: RelatedKernel, X: Matrix, Y: Matrix, trend: Trend) -> tuple[float, Vector]:
    """Return the log marginal likelihood, and its gradient in `theta` of ``related.whole()``.

    Parameters
    ----------
    related : RelatedKernel
    X : ndarray of shape (n, d)
    Y : ndarray of shape (n, m)
        nan where an output was not observed.
    trend : None, str or callable
        With coefficients for each output, which are those of the largest likelihood.
    """
    H = trend_matrix(trend, X)
    if not is_complete(related, Y):
        points, rows, outputs = stacked_points(X, ~np.isnan(Y))
        of_stacked = stacked_trend(H, rows, outputs, Y.shape[1]) if H.shape[1] else None
        found = evaluate(Likelihood(), related.whole(), points, Y[rows, outputs], trend=of_stacked, gradient=True)
        assert found.gradient is not None
        return found.value, found.gradient
    term, coregion = related.terms[0], related.coregions[0]
    core = term.build()
    at = Kronecker(np.asarray(core.gram(X, None)), covariance_of(coregion), related.variances, Y, H)
    adjoints = at.adjoints()
    W = numbers(coregion.W, "W", positive=False)
    gradient = np.concatenate(
        [
            core.pullback(X, adjoints.of_kernel),
            (2 * adjoints.of_outputs @ W).ravel(),
            np.diag(adjoints.of_outputs) * coregion.numbers("kappa"),
            [0.0],  # of the fixed factor of the noise
            adjoints.of_noise * related.variances,
        ]
    )
    return at.log_likelihood, related.whole().in_theta(gradient)


def conditioned(related: RelatedKernel, X: Matrix, Y: Matrix, trend: Trend) -> RelatedPosterior:
    """Return the posterior of related outputs; Y is nan where one was not observed."""
    return (KroneckerPosterior if is_complete(related, Y) else StackedPosterior)(related, X, Y, trend)


class KroneckerPosterior:
    """Outputs that are observed at the same points, see :mod:`kernsel._solve.kronecker`."""

    def __init__(self, related: RelatedKernel, X: Matrix, Y: Matrix, trend: Trend) -> None:
        self._kernel, self._X, self._trend = related.terms[0], X, trend
        K, H = np.asarray(self._kernel(X)), trend_matrix(trend, X)
        self._found = Kronecker(K, covariance_of(related.coregions[0]), related.variances, Y, H)

    @property
    def log_likelihood(self) -> float:
        """The log marginal likelihood."""
        return self._found.log_likelihood

    @property
    def beta(self) -> Matrix:
        """The coefficients of the trend, (q, m)."""
        return self._found.beta

    def mean(self, Z: Matrix) -> Matrix:
        """Return the means at k points, (k, m), computed for blocks of points."""
        parts = [Z[rows] for rows in blocks(len(self._X), len(Z))]
        found = [self._found.mean(np.asarray(self._kernel(part, self._X)), self._h(part)) for part in parts]
        return np.vstack(found)

    def variances(self, Z: Matrix) -> Matrix:
        """Return the variances of the functions, (k, m)."""
        found = []
        for part in (Z[rows] for rows in blocks(len(self._X), len(Z))):
            cross, variance = np.asarray(self._kernel(part, self._X)), np.asarray(self._kernel.diag(part))
            found.append(self._found.variances(cross, variance, self._h(part)))
        return np.vstack(found)

    def covariance(self, Z: Matrix) -> Matrix:
        """Return the joint covariance of all outputs at all points, (k, m, k, m)."""
        cross, among = np.asarray(self._kernel(Z, self._X)), np.asarray(self._kernel(Z))
        return self._found.covariance(cross, among, self._h(Z))

    def left_out(self) -> tuple[Matrix, Matrix]:
        """Return the error of the prediction of each number from all others, and its variance, (n, m)."""
        return self._found.left_out()

    def _h(self, Z: Matrix) -> Matrix:
        return trend_matrix(self._trend, Z, check=False)


class StackedPosterior:
    """Outputs of which some are missing, as one process of points (x, i): with N observed numbers, in O(N^3)."""

    def __init__(self, related: RelatedKernel, X: Matrix, Y: Matrix, trend: Trend) -> None:
        points, rows, outputs = stacked_points(X, ~np.isnan(Y))
        self._observed, self._m = ~np.isnan(Y), Y.shape[1]
        of_stacked = None if trend is None else StackedTrend(trend, self._m)
        self._posterior = Posterior(related.signal(), points, Y[rows, outputs][:, None], related.variances[outputs], of_stacked)

    @property
    def log_likelihood(self) -> float:
        """The log marginal likelihood."""
        return self._posterior.log_likelihood(np.ones(1), restricted=False)

    @property
    def beta(self) -> Matrix:
        """The coefficients of the trend, (q, m)."""
        return np.asarray(self._posterior.beta.reshape(self._m, -1).T)

    def mean(self, Z: Matrix) -> Matrix:
        """Return the means at k points, (k, m)."""
        return self._posterior.mean(self._everywhere(Z)).reshape(len(Z), self._m)

    def variances(self, Z: Matrix) -> Matrix:
        """Return the variances of the functions, (k, m)."""
        return self._posterior.variance(self._everywhere(Z)).reshape(len(Z), self._m)

    def covariance(self, Z: Matrix) -> Matrix:
        """Return the joint covariance of all outputs at all points, (k, m, k, m)."""
        return self._posterior.covariance(self._everywhere(Z)).reshape(len(Z), self._m, len(Z), self._m)

    def left_out(self) -> tuple[Matrix, Matrix]:
        """Return the error of the prediction of each observed number from all others, and its variance, (n, m)."""
        errors, of_each, _ = self._posterior.leave_one_out(np.arange(self._posterior.n_rows))  # equal points, too
        residuals, variances = np.full(self._observed.shape, np.nan), np.full(self._observed.shape, np.nan)
        residuals[self._observed], variances[self._observed] = errors[:, 0], of_each
        return residuals, variances

    def _everywhere(self, Z: Matrix) -> Matrix:
        return stacked_points(Z, np.ones((len(Z), self._m), dtype=bool))[0]


class StackedTrend:
    """A trend with coefficients for each output, as a function of points (x, i)."""

    def __init__(self, trend: Trend, m: int) -> None:
        self.trend = trend
        self.m = m

    def __call__(self, points: Matrix) -> Matrix:
        """Return the functions at points, (N, q m)."""
        H = trend_matrix(self.trend, points[:, :-1], check=False)
        return stacked_trend(H, np.arange(len(points)), points[:, -1].astype(np.intp), self.m)
