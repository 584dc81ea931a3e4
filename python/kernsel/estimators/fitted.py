"""The protocol by which displays, reports and searches query a fitted estimator without knowing its class.

=========================  ===============================================================  ==================================
member                     meaning                                                          asked by
=========================  ===============================================================  ==================================
``shown_data``             the training data, as far as they were kept                      ``PosteriorDisplay``
``prediction``             mean and band at other points                                    ``PosteriorDisplay``
``kernel_and_points``      k and the points x_i of a function sum_i c_i k(., x_i)           ``KernelDisplay``
``sample_y``               samples at points                                                ``PosteriorDisplay``
``left_out``               the prediction of each target from all other points              ``LOODisplay``
``regularization_path``    the path in lambda of the kernel and the data                    ``PathDisplay``, ``LCurveDisplay``
``mean_of_term`` ...       the mean as a sum of terms                                       ``Selected.describe``
``predictive``             the predictive distribution at points, as a mixture              ``kernsel.study``, the command
``left_out_predictive``    that of each training point from all others                      ``kernsel.report``
``strengths``              parameters in which the scale of the kernel would be redundant   ``kernsel.select``
=========================  ===============================================================  ==================================

:class:`FittedModel` defines the members that all estimators share. A display raises an error for an estimator that lacks one
of the other members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Indices, Matrix, Seed, Vector
from kernsel._base.documentation import LinksToItsPage
from kernsel._data.training import for_objects
from kernsel._data.trend import Trend
from kernsel._solve.evaluate import LeaveOneOutFit
from kernsel._solve.path import RegularizationPath
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points

__all__ = [
    "STRENGTHS",
    "FittedModel",
    "HasKernel",
    "HasLeftOut",
    "HasPath",
    "HasPrediction",
    "HasSamples",
    "HasTerms",
    "LeftOut",
    "ModelPath",
    "Prediction",
    "ShownData",
    "TakesGroups",
    "as_array",
    "as_fitted",
    "column",
    "opened_by_kernel",
    "require_fitted",
    "require_training_data",
    "targets_for",
    "weighted",
]

# The names that estimators of several packages use for parameters that balance the data against the norm of the function.
STRENGTHS = ("C", "epsilon", "alpha")


@dataclass(frozen=True)
class ShownData:
    """The training data of a fitted estimator as displays show them, of one target.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    targets : ndarray of shape (n,) or None
        One target in the unit of y, or the labels 0 and 1 of a classifier of two classes. None if they are not known.
    support : ndarray of int
        The indices of the support vectors, if the estimator has any.
    """

    points: Matrix
    targets: Vector | None
    support: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


@dataclass(frozen=True)
class Prediction:
    """Predictions at m points, with their uncertainty if the estimator has one.

    Attributes
    ----------
    mean : ndarray of shape (m,)
        The predictions; for a classifier of two classes, the probability of the second class.
    lower, upper : ndarray of shape (m,) or None
        The band, if the estimator has one.
    spread : ndarray of shape (m,) or None
        The uncertainty of the prediction: a standard deviation, or an error bound.
    band_name, spread_name, mean_name : str
        Names for legends. ``{level}`` stands for the level of the band.
    boundary : float or None
        The value of a decision function at which the decision changes; None for what is no decision function.
    """

    mean: Vector
    lower: Vector | None = None
    upper: Vector | None = None
    spread: Vector | None = None
    band_name: str = ""
    spread_name: str = ""
    mean_name: str = "prediction"
    boundary: float | None = None


@dataclass(frozen=True)
class LeftOut:
    """The leave-one-out predictions at the training points.

    Attributes
    ----------
    y, predictions : ndarray of shape (n,)
        The targets, and the prediction of each from all other points.
    std : ndarray of shape (n,) or None
        The standard deviations of y - predictions. Estimators other than Gaussian processes have no variance; theirs are those
        of the Gaussian process with the same predictions whose scale maximizes the likelihood.
    leverage : ndarray of shape (n,) or None
        The leverages in the fit with all points.
    standardized : ndarray of shape (n,) or None
        Of a predictive distribution F that is not normal, ndtri(F(y)); None stands for (y - predictions) / std.
    groups : ndarray of int of shape (n,) or None
        The number of the group with which each point is left out; None if each is left out alone.
    quantiles : callable or None
        Of predictive distributions that are not normal, a function from k probabilities to quantiles of shape (n, k).
    """

    y: Vector
    predictions: Vector
    std: Vector | None = None
    leverage: Vector | None = None
    standardized: Vector | None = None
    groups: Indices | None = None
    quantiles: Callable[[Vector], Matrix] | None = None

    @property
    def in_groups(self) -> bool:
        """Whether some points are left out together with others."""
        return self.groups is not None and len(np.unique(self.groups)) < len(self.groups)

    @classmethod
    def of_best_scale(cls, y: Vector, fit: LeaveOneOutFit, trend: int, leverage: Vector | None) -> Self:
        """Return a leave-one-out fit whose variances are multiplied by the scale of largest likelihood, y'Py / (n - q).

        q = `trend` is the number of coefficients of the trend.
        """
        scale = float(y @ fit.dual_coef) / max(len(y) - trend, 1)
        return cls(y, fit.means, np.sqrt(max(scale, 0.0) * fit.variances), leverage, groups=fit.groups)


@dataclass(frozen=True)
class ModelPath:
    """A regularization path, and the value of lambda on it that a fitted model uses.

    Attributes
    ----------
    path : RegularizationPath
    alpha : float or None
        The lambda of the model; None if it is zero.
    scale_known : bool
        Whether the kernel and lambda are variances. Otherwise likelihoods are evaluated for their best common scale.
    """

    path: RegularizationPath
    alpha: float | None
    scale_known: bool

    @classmethod
    def of_machine(cls, path: RegularizationPath | list[RegularizationPath], alphas: ArrayLike, output: int) -> Self:
        """Return the path and lambda of one output, for an estimator whose kernel and lambda are not variances.

        The estimator may have one path, one lambda, or one of them for each target.
        """
        one = path[output] if isinstance(path, list) else path
        alpha = float(np.ravel(alphas)[output if np.ndim(alphas) else 0])
        return cls(one, alpha if alpha > 0 else None, scale_known=False)


class TakesGroups:
    """The default of estimators whose `fit` takes groups: metadata routing of scikit-learn hands them to splitters only."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": False}


class FittedModel(LinksToItsPage):
    """The members that displays use of every fitted estimator.

    A subclass overrides `kept_data` if it stores its training data, and `prediction` if its predictions have a band.
    """

    n_features_in_: int

    strengths: ClassVar[tuple[str, ...]] = STRENGTHS
    """The names of the parameters that balance the data against the norm of the function. Where there is one, the scale of the
    kernel is redundant; where there is none, the scale of the kernel is a variance, which has to be chosen as well."""

    # Every estimator has it; the options by which some return the uncertainty as well are their own.
    predict: Callable[..., NDArray[np.generic] | tuple[NDArray[np.generic], NDArray[np.generic]]]

    def kept_data(self) -> tuple[Matrix, ArrayLike | None]:
        """Return the training points, and the targets in the unit of y, or None if the targets are not stored.

        Raises
        ------
        ValueError
            If the points are not stored.
        """
        raise ValueError(f"X: a {type(self).__name__} keeps no points; give those that it was fitted to")

    def shown_data(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ShownData:
        """Return the training data of one target.

        Parameters
        ----------
        X, y : array-like, optional
            The training data, where the estimator does not store them.
        output : int
            The index of the target, if there are several.

        Returns
        -------
        data : ShownData
        """
        if X is None:
            kept, targets = self.kept_data()
            points = np.asarray(kept, dtype=np.float64)
            targets = targets if y is None else y
        else:
            points, targets = as_array(X).astype(np.float64, copy=False), y
            if points.ndim != 2 or points.shape[1] != self.n_features_in_:
                raise ValueError(f"X: expected {self.n_features_in_} columns, as in the fit, got shape {points.shape}")
        return ShownData(points, None if targets is None else column(targets, output, len(points)))

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return the predictions at points, with a band if the estimator has one.

        Parameters
        ----------
        X : array-like of shape (m, d)
        level : float, optional
            The level of the band, such as 0.95; None returns the mean alone, which is faster.
        noisy : bool
            For a Gaussian process: the band is that of observations instead of the function.
        output : int
            The index of the target, if there are several.

        Returns
        -------
        prediction : Prediction
        """
        del level, noisy
        return Prediction(column(self.predict(X), output))


@runtime_checkable
class HasPrediction(Protocol):
    """A fitted estimator whose predictions can be shown, see :class:`FittedModel`."""

    def shown_data(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ShownData:
        """Return the training data of one target."""

    def prediction(self, X: Points, *, level: float | None = None, noisy: bool = False, output: int = 0) -> Prediction:
        """Return the predictions of one target at points, with a band of this level if the estimator has one."""


@runtime_checkable
class HasSamples(Protocol):
    """A fitted estimator that can draw samples of the function."""

    def sample_y(self, X: Points, n_samples: int = 1, random_state: Seed = 0, *, noisy: bool | None = None) -> Matrix:
        """Return samples at points, of the function if `noisy` is False, shape (m, n_samples) or (m, n_targets, n_samples)."""


@runtime_checkable
class HasKernel(Protocol):
    """A fitted estimator whose function is sum_i c_i k(., x_i)."""

    def kernel_and_points(self) -> tuple[Kernel | str, Matrix]:
        """Return k, "precomputed" if a kernel matrix was given, and the points x_i, shape (n, d)."""


@runtime_checkable
class HasTerms(Protocol):
    """A fitted estimator whose mean is a sum of terms: one for each term of its kernel, and a trend."""

    kernel_: Kernel
    trend: Trend
    beta_: Matrix
    noise_: float | Vector
    X_train_: Matrix
    y_train_: Matrix

    def feature_names(self) -> list[str] | None:
        """Return the names of the columns, if X had any."""

    def mean_of_term(self, term: Kernel) -> Matrix:
        """Return the part of the mean at the training points that is due to a term of the kernel, in the unit of `y_train_`."""

    def mean_of_trend(self) -> Matrix:
        """Return the part of the mean at the training points that is due to the trend, in the unit of `y_train_`."""


@runtime_checkable
class HasLeftOut(Protocol):
    """A fitted estimator that can predict each training target from all other points."""

    def left_out(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> LeftOut:
        """Return the leave-one-out predictions of one target.

        Parameters
        ----------
        X, y : array-like, optional
            The training data, where the estimator does not store them.
        output : int
            The index of the target, if there are several.

        Returns
        -------
        left_out : LeftOut
        """


@runtime_checkable
class HasPath(Protocol):
    """A fitted estimator with a regularization path: its own, or one computed from its kernel and its training data."""

    def regularization_path(self, X: Points | None = None, y: ArrayLike | None = None, output: int = 0) -> ModelPath:
        """Return the path; if each target has its own, that of one target.

        Parameters
        ----------
        X, y : array-like, optional
            The training data, where the estimator does not store them.
        output : int
            The index of the target, if there are several.

        Returns
        -------
        path : ModelPath
        """


def opened_by_kernel(estimator: object) -> dict[str, object]:
    """Return the parameters that say explicitly what the estimator looks for because its kernel is "auto" or text.

    With them, it looks for the same with a kernel that is an object. An estimator tells them by a method of this name.

    Examples
    --------
    >>> import kernsel as ks
    >>> from kernsel.estimators.fitted import opened_by_kernel
    >>> opened_by_kernel(ks.SVR("RBF", epsilon=0.5)), opened_by_kernel(ks.SVR("rbf"))
    ({'C': 'auto'}, {})
    """
    own = getattr(estimator, "opened_by_kernel", None)
    return {} if own is None else own()


def require_fitted(model: BaseEstimator) -> None:
    """Raise NotFittedError for a model that is not fitted, also for one that can predict from its prior."""
    names = ("kernel_", "coef_", "classes_", "estimators_")
    check_is_fitted(model, next((name for name in names if hasattr(model, name)), names[0]))


def require_training_data(
    model: object,
    kernel: Kernel | str,
    X: Points | None,
    y: ArrayLike | None,
    points: NDArray[np.floating],
    targets: Vector | None = None,
) -> None:
    """Raise if X or y differ from the training points and targets that a model stores."""
    if X is not None and not for_objects(kernel):
        given = as_array(X)
        if given.shape != points.shape or not np.array_equal(given.astype(points.dtype), points):
            raise ValueError(f"X: expected the points that this {type(model).__name__} was fitted to, or None")
    if y is not None and targets is not None:
        values = np.asarray(y, dtype=np.float64).reshape(len(np.asarray(y)), -1)
        kept = targets.reshape(len(targets), -1)
        size = np.abs(kept).max(initial=0.0)
        if values.shape != kept.shape or (np.abs(values - kept) > 1e-9 * size).any():
            raise ValueError(f"y: expected the targets that this {type(model).__name__} was fitted to, or None")


def targets_for(model: object, y: ArrayLike | None, n: int) -> NDArray[np.generic]:
    """Return y as an array, for an estimator that does not store its n targets; raise if y is missing."""
    if y is None:
        raise ValueError(f"y: a {type(model).__name__} keeps no targets; give those that it was fitted to")
    targets = np.asarray(y)
    if targets.ndim not in (1, 2) or len(targets) != n:
        raise ValueError(f"y: expected one target for each of {n} points, got shape {targets.shape}")
    return targets


def weighted(model: object) -> ValueError:
    """Return the error for targets that do not belong to the fitted model, or to a fit with weights."""
    return ValueError(
        f"y: not what this {type(model).__name__} was fitted to, or it was fitted with weights, which it does not keep: for a "
        "fit with weights, use from_predictions or a path"
    )


def as_fitted(model: object, Z: Matrix) -> Points:
    """Return points as a table if the model was fitted to one, because scikit-learn warns of points without names then."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return Z
    try:
        from pandas import DataFrame
    except ImportError:  # the table was of another package: the warning remains
        return Z
    table: Points = DataFrame(Z, columns=names)
    return table


def as_array(X: Points) -> NDArray[np.generic]:
    """Return points, which may be a sparse matrix, as an array."""
    return np.asarray(X.toarray() if isinstance(X, sparse.spmatrix | sparse.sparray) else X)


def column(values: ArrayLike, output: int | None, n: int | None = None, name: str = "y") -> Vector:
    """Return one number for each point; if there are several targets, the numbers of the target `output`."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2:
        if output is None or not -array.shape[1] <= output < array.shape[1]:
            raise ValueError(f"output: expected the number of one of {array.shape[1]} targets, got {output!r}")
        array = array[:, output]
    if array.ndim != 1 or not len(array) or not np.isfinite(array).all() or (n is not None and len(array) != n):
        expected = "finite numbers" if n is None else f"{n} finite numbers"
        raise ValueError(f"{name}: expected {expected}, one for each point, got shape {np.shape(values)}")
    return array
