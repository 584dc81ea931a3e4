"""Criteria by errors and log densities of points that are left out, one at a time or in groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kernsel import _core
from kernsel._data.folds import folds_of_rows, labels_of_folds
from kernsel._data.together import first_of_equal, numbered
from kernsel._data.trend import require_groups_can_be_left_out
from kernsel.criteria.base import Criterion, Given, Loss

__all__ = ["GroupsOut", "HoldOut", "LeaveOneOut", "groups"]


@dataclass(frozen=True)
class LeaveOneOut(Criterion):
    """The mean of a loss of the leave-one-out residuals r_i and variances v_i; for log densities, the sum.

    The gradient is tr(W dK~) with W = -sym(P g c') - P diag(h) P, where g = l_r / P_ii, h = -(l_r r + l_v v) / P_ii, and l_r
    and l_v are the derivatives of the loss. It takes 2 n^3 operations. The criterion is robust against a wrong model, since it
    measures predictions only; losses without v do not measure the predicted uncertainty.

    Rows of equal inputs are left out together, since an equal row that stays would predict the one that is left out; or groups,
    if some were told. (Objects are not compared.) A group I then has the residuals r_I = P_II^-1 c_I, and v_i are the diagonal
    entries of P_II^-1.

    Parameters
    ----------
    loss : {"squared", "log_density", "crps", "absolute"} or callable
        "squared" is r^2. "log_density" is log N(r; 0, v), of which the sum is maximized. "crps" is the continuous ranked
        probability score of N(0, v) at r, s (z (2 Phi(z) - 1) + 2 phi(z) - pi^(-1/2)) with s^2 = v and z = r / s, which depends
        less on outliers than the log density. "absolute" is (r^2 + d^2)^(1/2), which depends less on outliers than the square.
        A function of arrays r and v returns three arrays: the loss, and its derivatives with respect to r and v.
    smoothing : float
        The ratio of d to the standard deviation of y.
    profiled : bool
        Whether to multiply v by the mean of r^2 / v, the best common factor of kernel and noise.

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
    leaves_points_out: ClassVar[bool] = True

    @property
    def larger_is_better(self) -> bool:  # type: ignore[override]
        """True for log densities."""
        return self.loss == "log_density"

    def core(self, given: Given) -> _core.Criterion:
        """Return the criterion as an object of the C++ core."""
        together = given.left_out_together()
        grouped = () if together is None else (together[0].tolist(), together[1])
        if callable(self.loss):
            return _core.leave_out("", 0.0, self.loss, False, bool(self.profiled), *grouped)
        if self.loss not in ("squared", "log_density", "crps", "absolute"):
            raise ValueError(f'loss: expected "squared", "log_density", "crps", "absolute" or a function, got {self.loss!r}')
        if not isinstance(self.smoothing, Real) or not self.smoothing > 0:
            raise ValueError(f"smoothing: expected a positive number, got {self.smoothing!r}")
        width = float(self.smoothing) * (float(np.std(given.y)) or 1.0)
        return _core.leave_out(self.loss, width, None, self.loss == "log_density", bool(self.profiled), *grouped)

    def of_observations(self, given: Given, *, has_trend: bool) -> _core.Criterion:
        """Return the sum of the log densities of observations that are left out."""
        if self.loss != "log_density" or self.profiled:
            return super().of_observations(given, has_trend=has_trend)
        together = given.left_out_together()
        return _core.left_out_density(True, *(() if together is None else (together[0].tolist(), together[1])))

    @property
    def sees_scale(self) -> bool:
        """True for losses that depend on the variances, unless these are profiled."""
        return not self.profiled and self.loss not in ("squared", "absolute")

    def without_scale(self) -> Criterion | None:
        """Return this criterion for the best factor of the variances, on which losses of the residuals alone do not depend."""
        return replace(self, profiled=True) if self.loss in ("squared", "absolute", "log_density") else None


@dataclass(frozen=True)
class GroupsOut(Criterion):
    """Leave groups out: the mean of squared residuals ("kfold"), or the sum of joint log densities ("kfold_log_density").

    The residuals of a group I are r_I = P_II^-1 c_I, with covariance P_II^-1: k-fold cross-validation without fitting again.
    With gradient it takes n^3 operations for squared residuals, and 2 n^3 for densities. It is meant for data in groups of
    similar points, where the other points of its group would predict a single point that is left out.

    Parameters
    ----------
    folds : int, array-like of shape (n,), splitter, or list of splits
        A number of random groups, the same in each call; a label for each point's group; a splitter of scikit-learn; or a list
        of its splits, pairs of the indices of training and test points. Splits must leave out each point once and keep all
        others, since there is a closed form for that only. Rows of equal inputs are in one group, except by labels; groups that
        were told stay whole, and splitters receive them.
    log_density : bool
        Whether the criterion is the sum of the joint log densities of the groups.

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
    leaves_points_out: ClassVar[bool] = True

    @property
    def larger_is_better(self) -> bool:  # type: ignore[override]
        """True for log densities."""
        return bool(self.log_density)

    def require_trend(self, H: NDArray[np.float64], given: Given) -> None:
        """Raise if the trend cannot be estimated without one of the groups."""
        require_groups_can_be_left_out(H, *groups(self.folds, given))

    def core(self, given: Given) -> _core.Criterion:
        """Return the criterion as an object of the C++ core."""
        labels, count = groups(self.folds, given)
        if self.log_density:
            return _core.joint_log_density(labels.tolist(), count)
        return _core.leave_out("squared", 0.0, None, False, False, labels.tolist(), count)

    def without_scale(self) -> Criterion | None:
        """Return itself for squared residuals, which do not depend on a common factor of kernel and noise."""
        return None if self.log_density else self


@dataclass(frozen=True)
class HoldOut(Criterion):
    """The mean of the squared errors of some points that are predicted from all others: one split into training and test.

    With r_T = P_TT^-1 c_T the residuals of the test points T, it is the mean of r_i^2 over these, in n^3 operations with
    gradient. It varies more between samples than leave-one-out does, for which each point is a test point once; it is for a
    split that the data come with, such as the last year. With weights, squares are multiplied by these, and divided by the mean
    weight of all points.

    Parameters
    ----------
    test : float, array-like of int, or array-like of bool of shape (n,)
        The test points: their indices, a mask, or a share of the points, which are drawn at random, the same in each call. Of
        drawn points, rows of equal inputs stay together, and so do groups that were told.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 0.5, 0.0, 1.0, 0.5])
    >>> held_out = ks.evaluate("holdout", RBF(1.0), X, y, noise=0.1, test=[4, 5]).value
    >>> gp = ks.GaussianProcessRegressor(RBF(1.0), noise=0.1, optimizer=None).fit(X[:4], y[:4])
    >>> bool(np.isclose(held_out, np.mean((y[4:] - gp.predict(X[4:])) ** 2)))
    True
    """

    test: Any = 0.25
    same_for_any_points: ClassVar[bool] = False
    leaves_points_out: ClassVar[bool] = True

    def require_trend(self, H: NDArray[np.float64], given: Given) -> None:
        """Raise if the trend cannot be estimated without the test points."""
        require_groups_can_be_left_out(H, np.where(self.test_points(given), 0, 1), 1)

    def core(self, given: Given) -> _core.Criterion:
        """Return the criterion as an object of the C++ core: training points, which are left out alone, count nothing."""
        test = self.test_points(given)
        weight = test * (len(test) / np.count_nonzero(test))
        labels = np.where(test, 0, np.cumsum(~test))

        def loss(r: NDArray[np.float64], v: NDArray[np.float64]) -> tuple[Any, Any, Any]:
            del v
            return weight * r**2, 2 * weight * r, np.zeros(len(r))

        return _core.leave_out("", 0.0, loss, False, False, labels.tolist(), int(labels.max()) + 1)

    def without_scale(self) -> Criterion | None:
        """Return itself: squared residuals do not depend on a common factor of kernel and noise."""
        return self

    def test_points(self, given: Given) -> NDArray[np.bool_]:
        """Tell for each point that is used whether it is a test point."""
        n = len(given.y)
        test = np.asarray(self.test)
        if test.ndim == 0 and test.dtype.kind == "f" and 0 < test < 1:
            together = given.groups_used if given.groups is not None else first_of_equal(given.X[given.used])
            units, count = (np.arange(len(given.used)), len(given.used)) if together is None else numbered(together)
            drawn = np.random.default_rng(0).permutation(count)[: max(1, round(float(test) * count))]
            found = np.asarray(np.isin(units, drawn))
        else:
            mask = np.zeros(n, dtype=bool)
            if test.shape == (n,) and test.dtype == bool:
                mask = test
            elif test.ndim == 1 and test.dtype.kind in "iu" and test.size and -n <= test.min() and test.max() < n:
                mask[test] = True
            else:
                raise ValueError(
                    f"test: expected a share between 0 and 1, indices of some of {n} points, or a mask of all, "
                    f"got {self.test!r:.200}"
                )
            found = mask[given.used]
        if not found.any() or found.all():
            raise ValueError(
                "test: expected some points to test with and others to learn from, got "
                f"{np.count_nonzero(found)} test points of {len(found)}"
            )
        return found


def groups(folds: Any, given: Given) -> tuple[NDArray[np.intp], int]:
    """Return the index of the group of each point that is used, and the number of groups."""
    folds = folds_of_rows(folds, given.used, len(given.y))  # some points may not be used
    labels = labels_of_folds(folds, given.X[given.used], given.y[given.used], given.groups_used)
    return labels, int(labels.max()) + 1
