"""Criteria: how well a kernel, a noise and a trend fit data.

Throughout, K~ = k(X, X) + N, N = diag(noise), P = K~^-1, or with a trend H of q columns, P = K~^-1 - K~^-1 H (H'K~^-1 H)^-1
H'K~^-1; c = P y. In a fit without point i its residual is r_i = c_i / P_ii, and the variance of that v_i = 1 / P_ii: no fit
is ever repeated.

Which one? Likelihoods are sharpest if the model is right. Leave-one-out criteria ask for predictions only, forgive a wrong
model more, and vary more between samples. GCV is the cheapest of these for a path of lambda. Criteria of squared or
absolute errors do not see a common factor of kernel and noise: fix it, or choose it by another.

A criterion is given by name (``CRITERIA``), or as an object of one of these classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel import _core
from kernsel._core import Workspace
from kernsel._data.trend import require_groups_can_be_left_out, require_leverage_below_one
from kernsel.kernels import Kernel

__all__ = [
    "CRITERIA",
    "Criterion",
    "GeneralizedCrossValidation",
    "GroupsOut",
    "LeaveOneOut",
    "Likelihood",
    "Posterior",
    "UnbiasedRisk",
    "Workspace",
]

Loss = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[Any, Any, Any]]
Slopes = NDArray[np.float64] | None


@dataclass(frozen=True)
class Given:
    """What a criterion may ask of the data: all points, and which of them count."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    used: NDArray[np.intp]


class Criterion(ABC):
    """A criterion, for :func:`kernsel.evaluate`."""

    larger_is_better: ClassVar[bool] = False
    divides: ClassVar[bool] = False  # by the diagonal of P, which must not be zero
    adds_prior: ClassVar[bool] = False  # of the hyperparameters
    same_for_any_points: ClassVar[bool] = True  # is it defined for a subset of the points, too?

    @property
    def sees_scale(self) -> bool:
        """Tell whether it changes if kernel and noise are multiplied by a number."""
        return self.without_scale() is not self

    def without_scale(self) -> Criterion | None:
        """Return the criterion that does not change if kernel and noise are multiplied by a number, this one at its best.

        None if there is no such criterion.
        """
        return None

    def require_trend(self, H: NDArray[np.float64], given: Given) -> None:
        """Raise if the trend cannot be estimated without what is left out."""
        del given
        if self.divides:
            require_leverage_below_one(H)

    @abstractmethod
    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""

    def with_prior(self, kernel: Kernel, value: float, gradient: Slopes) -> tuple[float, Slopes]:
        """Add what depends on the hyperparameters alone."""
        del kernel
        return value, gradient


@dataclass(frozen=True)
class Likelihood(Criterion):
    """The log likelihood of a Gaussian process, -1/2 y'c - 1/2 log det K~ - n/2 log 2 pi, the sum over outputs.

    Gradient: W = (c c' - K~^-1) / 2. n^3 operations. The right one if the kernel is; too sure of itself if it is not.

    Parameters
    ----------
    restricted : bool
        Of the n - q contrasts that the trend does not touch: -1/2 y'c - 1/2 log det K~ - 1/2 log det H'K~^-1 H + 1/2 log
        det H'H - (n-q)/2 log 2 pi, the same for any basis of the trend. Better with noise and with trends: the plain one
        takes the coefficients of the trend for known.
    scale : {"known", "shared", "each"}
        "shared" takes the best common factor of kernel and noise, y'c / n (n - q if restricted), out: then they matter up to a
        factor only. "each" takes one out for each output. Meaningless where the noise is known in absolute terms.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> ev = ks.evaluate(ks.criteria.Likelihood(scale="shared"), RBF(1.0), X, y, noise=0.1)
    >>> round(ev.value, 4), round(ev.scale, 4)
    (-2.8149, 0.4531)
    """

    restricted: bool = False
    scale: Literal["known", "shared", "each"] = "known"
    larger_is_better: ClassVar[bool] = True

    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""
        del given
        if self.scale not in ("known", "shared", "each"):
            raise ValueError(f'scale: expected "known", "shared" or "each", got {self.scale!r}')
        return _core.likelihood(bool(self.restricted), self.scale)

    def without_scale(self) -> Criterion | None:
        """Return the likelihood with the best common factor of kernel and noise."""
        return replace(self, scale="shared") if self.scale == "known" else self


@dataclass(frozen=True)
class Posterior(Likelihood):
    """The likelihood times the priors of the kernel's hyperparameters: its maximum is the maximum a posteriori ("map").

    The priors are densities of the hyperparameters themselves, see :mod:`kernsel.kernels.priors`. Steadier than the
    likelihood with few points; but the place of a maximum depends on what the density is of.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF, Parameter
    >>> from kernsel.kernels.priors import LogNormal
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> k = RBF(Parameter(1.0, prior=LogNormal(0.0, 1.0)))
    >>> lml, best = (ks.evaluate(name, k, X, y, noise=0.1).value for name in ("lml", "map"))
    >>> round(best - lml, 4)
    -0.9189
    """

    adds_prior: ClassVar[bool] = True

    def with_prior(self, kernel: Kernel, value: float, gradient: Slopes) -> tuple[float, Slopes]:
        """Add the log densities of the priors."""
        prior, slopes = kernel.log_prior()
        return value + prior, None if gradient is None else gradient + slopes


@dataclass(frozen=True)
class LeaveOneOut(Criterion):
    """The mean of a loss of the leave-one-out residuals r_i and variances v_i; for log densities, the sum.

    Gradient: with l_r and l_v the derivatives of the loss, W = -sym(P g c') - P diag(h) P, g = l_r / P_ii,
    h = -(l_r r + l_v v) / P_ii. 2 n^3 operations. Robust against a wrong model, since it only asks for predictions; blind to
    how sure they are, if the loss is.

    Parameters
    ----------
    loss : {"squared", "log_density", "crps", "absolute"} or callable
        r^2; log N(r; 0, v), the sum, larger is better; the continuous ranked probability score of N(0, v) at r, s (z (2
        Phi(z) - 1) + 2 phi(z) - pi^(-1/2)), s^2 = v, z = r / s, less moved by outliers than the log density; (r^2 +
        d^2)^(1/2), less moved by them than the square. A function of arrays r and v returns three arrays: the loss, and its
        derivatives in r and in v.
    smoothing : float
        d is this times the standard deviation of y.
    profiled : bool
        Multiply v by the mean of r^2 / v: the best common factor of kernel and noise.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> round(ks.evaluate("loo", RBF(1.0), X, y, noise=0.1).value, 4)
    0.3087
    >>> fourth = ks.criteria.LeaveOneOut(lambda r, v: (r**4, 4 * r**3, 0 * v))
    >>> round(ks.evaluate(fourth, RBF(1.0), X, y, noise=0.1).value, 4)
    0.1424
    """

    loss: Literal["squared", "log_density", "crps", "absolute"] | Loss = "squared"
    smoothing: float = 0.1
    profiled: bool = False
    divides: ClassVar[bool] = True

    @property
    def larger_is_better(self) -> bool:  # type: ignore[override]
        """True for log densities."""
        return self.loss == "log_density"

    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""
        if callable(self.loss):
            return _core.leave_out("", 0.0, self.loss, False, bool(self.profiled))
        if self.loss not in ("squared", "log_density", "crps", "absolute"):
            raise ValueError(f'loss: expected "squared", "log_density", "crps", "absolute" or a function, got {self.loss!r}')
        if not isinstance(self.smoothing, Real) or not self.smoothing > 0:
            raise ValueError(f"smoothing: expected a positive number, got {self.smoothing!r}")
        width = float(self.smoothing) * (float(np.std(given.y)) or 1.0)
        return _core.leave_out(self.loss, width, None, self.loss == "log_density", bool(self.profiled))

    @property
    def sees_scale(self) -> bool:
        """True for losses of the variances."""
        return not self.profiled and self.loss not in ("squared", "absolute")

    def without_scale(self) -> Criterion | None:
        """Return the same with the best factor of the variances: losses of the residuals alone do not see any."""
        return replace(self, profiled=True) if self.loss in ("squared", "absolute", "log_density") else None


@dataclass(frozen=True)
class GeneralizedCrossValidation(Criterion):
    """Generalized cross-validation, n c'Uc / tr(U P)^2, U the noise divided by its mean; n c'c / tr(P)^2 if all have the same.

    Leave-one-out with the leverage of all points put at its mean: the same under rotations of y, and defined by dof alone;
    residuals count in units of their noise. Gradient: W = -sym(P g c') - P G P, with g = 2 n U c / t^2, G = -2 n c'Uc / t^3 U,
    t = tr U P. 2 n^3 operations. Chooses lambda well from about n = 50 on; with correlated noise it takes
    noise for signal. Needs noise: without it there is nothing to cross-validate.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> round(ks.evaluate("gcv", RBF(1.0), X, y, noise=0.1).value, 4)
    0.385
    """

    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""
        del given
        return _core.generalized_cross_validation()

    def without_scale(self) -> Criterion | None:
        """Return itself: it does not see a common factor of kernel and noise."""
        return self


@dataclass(frozen=True)
class UnbiasedRisk(Criterion):
    """An unbiased estimate of sum_i (f(x_i) - fit_i)^2, |N c|^2 + 2 tr(S A) - tr S, A = I - N P, S = diag(sigma^2).

    Also known as Mallows' C_p, UPRE or SURE. Gradient: g = 2 N^2 c, G = -2 S N. 2 n^3 operations. Better than
    cross-validation where the noise is known, and misled where it is not what `sigma` says.

    Parameters
    ----------
    sigma : float or array-like of shape (n,)
        The standard deviation of the noise, which need not be that of the model.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.5])
    >>> round(ks.evaluate("risk", RBF(1.0), X, y, noise=0.1, sigma=0.3).value, 4)
    0.2133
    """

    sigma: float | ArrayLike | None = None

    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""
        if self.sigma is None:
            raise ValueError("sigma: the unbiased risk needs the standard deviation of the noise")
        n = len(given.y)
        values = np.asarray(self.sigma, dtype=np.float64)
        if values.shape not in ((), (n,)) or not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(
                f"sigma: expected a number that is not negative, or one for each of {n} points, got {self.sigma!r}"
            )
        return _core.unbiased_risk((np.broadcast_to(values, (n,))[given.used] ** 2).tolist())

    def without_scale(self) -> Criterion | None:
        """Return itself: it does not see a common factor of kernel and noise."""
        return self


@dataclass(frozen=True)
class GroupsOut(Criterion):
    """Leave groups out: the mean of squared residuals ("kfold"), or the sum of joint log densities ("kfold_log_density").

    For a group I, r_I = P_II^-1 c_I with covariance P_II^-1: k-fold cross-validation without a single refit. n^3 operations for
    squares, whose W has rank 2k; 2 n^3 for densities. Right where points come in groups that resemble each other: leaving out
    one point of a group then proves little.

    Parameters
    ----------
    folds : int, array-like of shape (n,), or splitter
        A number of groups of consecutive points, the label of each point's group, or scikit-learn's splitter, whose test sets
        must not overlap and cover all points.
    log_density : bool

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 0.5, 0.0, 1.0, 0.5])
    >>> round(ks.evaluate("kfold", RBF(1.0), X, y, noise=0.1, folds=[0, 0, 1, 1, 2, 2]).value, 4)
    0.3754
    """

    folds: Any = 5
    log_density: bool = False
    same_for_any_points: ClassVar[bool] = False

    @property
    def larger_is_better(self) -> bool:  # type: ignore[override]
        """True for log densities."""
        return bool(self.log_density)

    def require_trend(self, H: NDArray[np.float64], given: Given) -> None:
        """Raise if the trend cannot be estimated without one of the groups."""
        require_groups_can_be_left_out(H, *groups(self.folds, given))

    def core(self, given: Given) -> _core.Criterion:
        """Return the same for the C++ core."""
        labels, count = groups(self.folds, given)
        if self.log_density:
            return _core.joint_log_density(labels.tolist(), count)
        return _core.leave_out("squared", 0.0, None, False, False, labels.tolist(), count)

    def without_scale(self) -> Criterion | None:
        """Return itself for squares, which do not see a common factor of kernel and noise."""
        return None if self.log_density else self


# Each name with its class, and the arguments that make it what it is.
_NAMED: dict[str, tuple[type[Criterion], dict[str, Any]]] = {
    "lml": (Likelihood, {"restricted": False, "scale": "known"}),
    "profiled_lml": (Likelihood, {"restricted": False}),
    "reml": (Likelihood, {"restricted": True, "scale": "known"}),
    "profiled_reml": (Likelihood, {"restricted": True}),
    "map": (Posterior, {"restricted": False, "scale": "known"}),
    "loo": (LeaveOneOut, {"loss": "squared", "profiled": False}),
    "loo_log_density": (LeaveOneOut, {"loss": "log_density", "profiled": False}),
    "profiled_loo_log_density": (LeaveOneOut, {"loss": "log_density", "profiled": True}),
    "loo_crps": (LeaveOneOut, {"loss": "crps", "profiled": False}),
    "loo_absolute": (LeaveOneOut, {"loss": "absolute", "profiled": False}),
    "gcv": (GeneralizedCrossValidation, {}),
    "risk": (UnbiasedRisk, {}),
    "kfold": (GroupsOut, {"log_density": False}),
    "kfold_log_density": (GroupsOut, {"log_density": True}),
}
CRITERIA = tuple(_NAMED)


def criterion_named(criterion: str | Criterion | Loss, options: dict[str, Any]) -> Criterion:
    """Return the criterion of that name and with these options, or of that loss."""
    if isinstance(criterion, str) and criterion in _NAMED:
        kind, fixed = _NAMED[criterion]
        if options:
            open_to = [name for name in signature(kind).parameters if name not in fixed]
            for name in options:
                if name not in open_to:
                    raise TypeError(f"{criterion}: has no option {name!r}; it has {', '.join(open_to) or 'none'}")
        if criterion.startswith("profiled") and kind is Likelihood:
            options = {"scale": "shared"} | options
        return kind(**fixed, **options)
    if options:
        raise TypeError(f"{', '.join(options)}: options are for criteria given by name")
    if isinstance(criterion, Criterion):
        return criterion
    if callable(criterion) and not isinstance(criterion, type):
        return LeaveOneOut(criterion)
    raise ValueError(f"criterion: expected one of {', '.join(CRITERIA)}, a Criterion or a function, got {criterion!r}")


def groups(folds: Any, given: Given) -> tuple[NDArray[np.intp], int]:
    """Return the number of the group of each point that is used, and how many there are."""
    n, used = len(given.used), given.used
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        if not 2 <= folds <= n:
            raise ValueError(f"folds: expected a number from 2 to {n}, the number of points, got {folds!r}")
        return np.arange(n) * int(folds) // n, int(folds)
    if hasattr(folds, "get_n_splits"):
        labels = np.full(n, -1)
        for group, (_, left_out) in enumerate(folds.split(given.X[used], given.y[used])):
            if (labels[left_out] >= 0).any():
                raise ValueError("folds: a point is left out twice; expected a splitter whose test sets do not overlap")
            labels[left_out] = group
        if (labels < 0).any():
            raise ValueError("folds: a point is never left out; expected a splitter whose test sets cover all points")
    else:
        labels = np.asarray(folds)
        if labels.shape != (len(given.y),):
            raise ValueError(
                f"folds: expected a number, a splitter, or one label for each of {len(given.y)} points, got {folds!r}"
            )
        labels = labels[used]
    values, numbers = np.unique(labels, return_inverse=True)
    if len(values) < 2:
        raise ValueError("folds: expected two groups at least: one of them must be left to learn from")
    return numbers.astype(np.intp), len(values)
