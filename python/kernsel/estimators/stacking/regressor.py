"""Stacked Gaussian processes: a mixture of their predictions, weighed by evidence and by points that are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import _safe_indexing, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Indices, Matrix, Seed, Vector
from kernsel._data.allowed import whole
from kernsel._data.points import new_points, reading_of
from kernsel.criteria import Likelihood
from kernsel.estimators.draws import draws_of_normal
from kernsel.estimators.fitted import FittedModel, LeftOut, Prediction, TakesGroups, column, require_training_data
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.estimators.observed_distribution import ObservedDistribution
from kernsel.estimators.stacking.mixture import Mixture
from kernsel.estimators.stacking.set_aside import SetAside
from kernsel.estimators.stacking.weights import POINTS, probabilities_of, stacking_weights
from kernsel.kernels.objects import Points

__all__ = ["StackedRegressor"]


class StackedRegressor(TakesGroups, FittedModel, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Several Gaussian processes whose predictions are mixed, with weights chosen by evidence and by stacking.

    The predictive distribution of an observation is the mixture sum_k w_k N(m_k, s_k^2) of those of the processes. The weights
    w_k, from 0 on and of sum 1, maximize the log densities of points that are left out, ::

        sum_i log(sum_k w_k p_k(y_i given all other points)) + sum_k a_k log w_k,

    from the leave-one-out predictions of the fitted processes, without fitting any of them again. Where one process is better
    in one part of the data and another elsewhere, or the data do not decide between them, the mixture predicts better than the
    best one alone. Hyperparameters were chosen for all points, so that the process that predicts the left-out ones best may owe
    that to overfitting, above all if they are few. Therefore the second sum counts process k as the only right one for a_k = 50
    P_k points more, where P_k is the probability that it is expected to have on other data of the same kind and size. On these
    data that is proportional to its evidence (the criterion "evidence"), or to another likelihood divided by the root of n for
    each hyperparameter of the kernel; on others the logarithms would differ, by as much as the log densities of points left out
    vary. Of processes with other criteria, or with several, the sum of these log densities takes the place of the log evidence.
    Processes of a weight below 0.003 are dropped.

    Besides the fits, that takes n^3 operations for each process, and n^3 / 3 and n^2 / 2 numbers for each that is kept.
    ``kernsel.select(..., combine="stack")`` makes one of the kernels that it tries.

    Parameters
    ----------
    estimators : list of GaussianProcessRegressor
        The processes, which are cloned and fitted. They differ in their kernels, as a rule; in anything else, if you like.

    Attributes
    ----------
    estimators_ : list of GaussianProcessRegressor
        The fitted processes that have a weight, in the order of `estimators`.
    weights_ : ndarray of shape (len(estimators_),)
        Their weights.
    kept_ : ndarray of int of shape (len(estimators_),)
        Their places in `estimators`.
    noise_ : float or ndarray of shape (n,)
        The noise variance, the mean of those of the processes by their weights.
    X_train_ : ndarray of shape (n, d)
    y_train_ : ndarray of shape (n,) or (n, n_targets)
        The training points and targets.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 40).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + np.where(X[:, 0] > 3, 0.5, 0.0) + 0.1 * rng.standard_normal(40)
    >>> kernels = ("RBF", "Matern(nu=0.5)", "Linear")
    >>> processes = [ks.GaussianProcessRegressor(kernel, noise="auto", trend="constant") for kernel in kernels]
    >>> model = ks.StackedRegressor(processes).fit(X, y)
    >>> alone = [np.mean(one.left_out_predictive().log_density(y[:, None])) for one in model.estimators_]
    >>> bool(model.loo_log_density_.mean() >= np.median(alone))
    True
    >>> model.predict_quantiles([[1.5]], [0.05, 0.95]).shape
    (1, 2)
    """

    strengths: ClassVar[tuple[str, ...]] = ()

    def __init__(self, estimators: Sequence[GaussianProcessRegressor] | None = None) -> None:
        self.estimators = estimators

    def fit(self, X: Points, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit each process, and find the weights.

        Parameters
        ----------
        X : array-like of shape (n, d); or n objects, for kernels on objects
        y : array-like of shape (n,) or (n, n_targets)
        groups : array-like of shape (n,), optional
            Labels of points that are left out together.

        Returns
        -------
        self : StackedRegressor
        """
        given = self.estimators
        if not isinstance(given, list | tuple) or not given:
            raise ValueError(f"estimators: expected a list of GaussianProcessRegressor, at least one, got {given!r:.200}")
        for one in given:
            if not isinstance(one, GaussianProcessRegressor):
                raise TypeError(f"estimators: expected each to be a GaussianProcessRegressor, got {one!r:.200}")
            if one.likelihood is not None:
                raise ValueError(
                    f"estimators: expected normal noise, whose mixtures are known, got likelihood={one.likelihood!r}"
                )
        fitted = [SetAside.of(clone(one).fit(X, y, groups=groups)) for one in given]
        rows = next((one.rows for one in fitted if one.rows is not None), None)
        if rows is not None:  # all must learn from the same rows, also those that know the noise and need not leave copies out
            some = [None if one is None else _safe_indexing(one, rows) for one in (X, y, groups)]
            pairs = zip(given, fitted, strict=True)
            fitted = [a if a.rows is not None else SetAside.of(_of_rows(one, rows).fit(*some)) for one, a in pairs]
        return self.combine(fitted)

    def combine(self, fitted: Sequence[SetAside]) -> Self:
        """Find the weights of processes that are fitted, one for each of `estimators`, and take up those that have any.

        Parameters
        ----------
        fitted : sequence of SetAside

        Returns
        -------
        self : StackedRegressor
        """
        log_densities = np.column_stack([one.log_density for one in fitted])
        comparable = len({one.measure for one in fitted}) == 1
        likely = [one.log_likelihood if comparable else one.log_density.sum() for one in fitted]
        probabilities = probabilities_of(likely, log_densities)
        weights = stacking_weights(log_densities, points=POINTS * probabilities)
        kept = np.flatnonzero(weights)
        self.restore([fitted[int(k)].taken_up() for k in kept], weights[kept], kept)
        return self

    def restore(self, processes: list[GaussianProcessRegressor], weights: Vector, kept: Indices) -> None:
        """Set all fitted attributes from those of the same names, without an underscore."""
        first = processes[0]
        self.estimators_, self.weights_, self.kept_ = processes, weights, kept
        self.X_train_, self.y_train_ = first.kept_data()
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))

    @property
    def processes(self) -> list[tuple[float, GaussianProcessRegressor]]:
        """The weight of each fitted process and the process, the likeliest first.

        That is by the criterion if it is a likelihood, such as the evidence, and otherwise by the densities of points left out.
        """
        check_is_fitted(self, "estimators_")
        states = [one.state() for one in self.estimators_]
        values = np.array([float(state.criterion_value or np.nan) for state in states])
        if not all(isinstance(state.selection.criterion, Likelihood) for state in states) or not np.isfinite(values).all():
            values = np.array([_log_density_left_out(one).sum() for one in self.estimators_])
        return [(float(self.weights_[k]), self.estimators_[k]) for k in np.argsort(-values, kind="stable")]

    @property
    def noise_(self) -> float | Vector:
        """The noise variance, the mean of those of the processes by their weights; of each point, shape (n,), if one is such.

        A process whose noise is not a number, since its trend alone gives the targets, does not count; nan if all are such.
        """
        check_is_fitted(self, "estimators_")
        noise = np.stack(np.broadcast_arrays(*(np.asarray(one.noise_, dtype=np.float64) for one in self.estimators_)))
        weights = self.weights_.reshape(-1, *[1] * (noise.ndim - 1)) * ~np.isnan(noise)
        with np.errstate(invalid="ignore"):
            mean = np.asarray(np.sum(weights * np.nan_to_num(noise), axis=0) / np.sum(weights, axis=0))
        return mean if mean.ndim else float(mean)

    def predict(self, X: Points, return_std: bool = False, *, noisy: bool = True) -> Matrix | tuple[Matrix, Matrix]:
        """Return the mean of the mixture at points and, on request, its standard deviation.

        Parameters
        ----------
        X : array-like of shape (m, d)
        return_std : bool
            Also return the standard deviation, whose square is sum_k w_k (s_k^2 + (m_k - mean)^2).
        noisy : bool
            Return the standard deviation of a new observation; False: of the function, without its noise.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, n_targets)
        std : ndarray of the same shape
        """
        if return_std:
            found = self.predictive(X, noisy=noisy)
            return self._shaped(found.mean), self._shaped(found.std)
        self._check(X)
        means = np.stack([one.predict(X) for one in self.estimators_])
        return np.asarray(np.tensordot(self.weights_, means, 1))

    def predictive(self, X: Points, *, noisy: bool = True) -> Mixture:
        """Return the predictive distribution at points, a mixture of normal distributions with `weights_`.

        Parameters
        ----------
        X : array-like of shape (m, d)
        noisy : bool
            See `predict`.

        Returns
        -------
        mixture : kernsel.estimators.stacking.mixture.Mixture
        """
        self._check(X)
        return self._mixed([_normal(one.predictive(X, noisy=noisy)) for one in self.estimators_])

    def predict_quantiles(self, X: Points, probabilities: ArrayLike, *, noisy: bool = True) -> NDArray[np.float64]:
        """Return quantiles of the mixture at points, the roots of its distribution function.

        Parameters
        ----------
        X : array-like of shape (m, d)
        probabilities : float or array-like
            Between 0 and 1, both excluded: 0.025 and 0.975 are the ends of 95 % intervals.
        noisy : bool
            See `predict`.

        Returns
        -------
        quantiles : ndarray of shape (m,) or (m, n_targets), followed by the shape of `probabilities`
        """
        quantiles = self.predictive(X, noisy=noisy).quantiles(probabilities)
        return quantiles[:, 0] if self._flat else quantiles

    def log_density(self, X: Points, y: ArrayLike, *, noisy: bool = True) -> Vector:
        """Return the log density of a target at each point, with several outputs that of all together.

        Parameters
        ----------
        X : array-like of shape (m, d)
        y : array-like of shape (m,) or (m, n_targets)
        noisy : bool
            See `predict`.

        Returns
        -------
        log_density : ndarray of shape (m,)
        """
        found = self.predictive(X, noisy=noisy)
        targets = np.asarray(check_array(y, dtype=np.float64, ensure_2d=False, input_name="y"))
        if targets.shape != self._shaped(found.mean).shape:
            raise ValueError(f"y: expected shape {self._shaped(found.mean).shape}, got {targets.shape}")
        return found.log_density(targets.reshape(found.mean.shape))

    def sample_y(self, X: Points, n_samples: int = 1, random_state: Seed = 0, *, noisy: bool = True) -> NDArray[np.float64]:
        """Draw joint samples at points: each of one of the processes, which is drawn by its weight.

        Parameters
        ----------
        X : array-like of shape (m, d)
        n_samples : int
        random_state : int, RandomState instance or None
        noisy : bool
            Whether samples are of new observations, or of the function, as in `predict`.

        Returns
        -------
        samples : ndarray of shape (m, n_samples) or (m, n_targets, n_samples)
        """
        self._check(X)
        if not whole(0).accepts(n_samples):
            raise ValueError(f"n_samples: expected {whole(0).expected}, got {n_samples!r}")
        rng = check_random_state(random_state)
        drawn = rng.choice(len(self.weights_), n_samples, p=self.weights_)
        outputs = () if self._flat else self.y_train_.shape[1:]
        parts = [one.predict(X, return_cov=True, noisy=noisy) for one in self.estimators_]
        samples = np.empty((len(parts[0][0]), *outputs, n_samples))
        for k, (mean, cov) in enumerate(parts):
            count = int(np.sum(drawn == k))
            for output in np.ndindex(outputs):
                samples[:, *output, drawn == k] = draws_of_normal(rng, mean[:, *output], cov[:, :, *output], count)
        return samples

    @property
    def loo_residuals_(self) -> Matrix:
        """The error of the mixture's mean at each point from all others, shape (n,) or (n, n_targets)."""
        return np.asarray(self.y_train_ - self._shaped(self.left_out_predictive().mean))

    @property
    def loo_std_(self) -> Matrix:
        """The standard deviation of the mixture at each point from all others, shape (n,) or (n, n_targets)."""
        return self._shaped(self.left_out_predictive().std)

    @property
    def loo_log_density_(self) -> Vector:
        """The log density of each target in the mixture's prediction from all others, shape (n,)."""
        found = self.left_out_predictive()
        return found.log_density(self.y_train_.reshape(found.mean.shape))

    @property
    def left_out_together_(self) -> Indices:
        """The number of the group with which each point is left out, shape (n,); all different if each is left out alone."""
        check_is_fitted(self, "estimators_")
        return self.estimators_[0].left_out_together_

    @property
    def leverage_(self) -> Vector:
        """The derivative of each fitted value with respect to its own target, for these weights, shape (n,)."""
        check_is_fitted(self, "estimators_")
        return np.asarray(self.weights_ @ np.stack([one.leverage_ for one in self.estimators_]))

    def left_out_predictive(self) -> Mixture:
        """Return the predictive distribution of each training point from all others, with the weights as they are."""
        check_is_fitted(self, "estimators_")
        return self._mixed([_normal(one.left_out_predictive()) for one in self.estimators_])

    def feature_names(self) -> list[str] | None:
        """Return the names of the columns, if X had any."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def kept_data(self) -> tuple[Matrix, Matrix]:
        """Return the training points, and the targets in the unit of y."""
        return self.X_train_, self.y_train_

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return the mean of one output at points, and the band between quantiles of the mixture, see `FittedModel`."""
        if level is None:
            return Prediction(column(self.predict(X), output), mean_name="mean")
        found = self.predictive(X, noisy=noisy)
        ends = found.quantiles([(1 - level) / 2, (1 + level) / 2])[:, output]
        band = f"{{level}} of {'observations' if noisy else 'the function'}"
        mean, std = found.mean[:, output], found.std[:, output]
        return Prediction(mean, ends[:, 0], ends[:, 1], std, band, "standard deviation", "mean")

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the leave-one-out predictions of one output, see :class:`kernsel.estimators.fitted.HasLeftOut`."""
        check_is_fitted(self, "estimators_")
        points, targets = self.kept_data()
        first = next((one for one in self.estimators_ if one.selection_.rows is not None), self.estimators_[0])
        require_training_data(self, first.kernel_, *first.learnt_from(X, y), points, targets)
        found = self.left_out_predictive()
        z = found.standardized(targets.reshape(found.mean.shape))
        y, mean, std, z = (column(values, output) for values in (targets, found.mean, found.std, z))
        return LeftOut(y, mean, std, self.leverage_, z, self.left_out_together_)

    def _check(self, X: Points) -> None:
        """Raise for points with other columns than those of the fit, in the name of this estimator."""
        check_is_fitted(self, "estimators_")
        if reading_of(self.estimators_[0].kernel_) is None:
            new_points(self, self.estimators_[0].kernel_, X, dtype=np.float64)

    def _mixed(self, parts: list[Mixture]) -> Mixture:
        means, stds = (np.concatenate([getattr(part, name) for part in parts]) for name in ("means", "stds"))
        return Mixture(self.weights_, means, stds)

    @property
    def _flat(self) -> bool:
        return self.y_train_.ndim == 1

    def _shaped(self, values: Matrix) -> Matrix:
        return values[:, 0] if self._flat else values


def _normal(found: Mixture | ObservedDistribution) -> Mixture:
    """Return a distribution that is normal, since `fit` refuses processes with a likelihood."""
    assert isinstance(found, Mixture)
    return found


def _log_density_left_out(process: GaussianProcessRegressor) -> Vector:
    """Return the log density of each training point in the prediction from all others, shape (n,)."""
    targets = process.kept_data()[1]
    return process.left_out_predictive().log_density(targets.reshape(len(targets), -1))


def _of_rows(process: GaussianProcessRegressor, rows: Indices) -> GaussianProcessRegressor:
    """Return a process that is not fitted, with the variances of some of the rows."""
    own = {name: np.asarray(v)[rows] for name in ("alpha", "noise") if np.ndim(v := getattr(process, name)) == 1 and len(v) > 1}
    of_rows: GaussianProcessRegressor = clone(process).set_params(**own)
    return of_rows
