"""The value and all derivatives of a criterion for a given kernel, noise and trend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernsel import _core
from kernsel._base.annotations import Matrix, Vector
from kernsel._data.kernel import kernel_and_points, kernel_of
from kernsel._data.noise import point_weights, variances
from kernsel._data.rows import is_of_rows, row_source
from kernsel._data.together import checked_groups
from kernsel._data.trend import Trend, require_trend_of_objects, trend_matrix
from kernsel._solve.by_blocks import evaluate_by_blocks, kernel_and_landmarks, passes_over
from kernsel._solve.by_parts import ByParts, evaluate_by_parts
from kernsel._solve.found_by_blocks import ByBlocks
from kernsel._solve.left_out_derivatives import left_out_derivatives
from kernsel.approximations import Approximation, Nystrom, Vecchia, approximation_given
from kernsel.criteria import Criterion, LeaveOneOut, Workspace
from kernsel.criteria.base import Given, Loss
from kernsel.criteria.names import criterion_named, name_of
from kernsel.kernels import Kernel
from kernsel.kernels.objects import Points
from kernsel.kernels.written import KernelLike
from kernsel.likelihoods import Likelihood
from kernsel.likelihoods.named import likelihood_of
from kernsel.likelihoods.observations import Observations, sizes_of

__all__ = ["Evaluation", "LeaveOneOutFit", "evaluate", "left_out_in_groups", "loo", "require_takes_groups"]


@dataclass(frozen=True)
class Evaluation:
    """The result of :func:`evaluate`.

    Attributes
    ----------
    value : float
        The value of the criterion.
    gradient : ndarray of shape (p,) or None
        The derivatives with respect to the kernel's `theta`.
    noise_gradient : float, ndarray of shape (n,) or None
        The derivative with respect to the noise variance (not its logarithm): one number if one variance was given for all
        points, otherwise one for each point.
    likelihood_gradient : ndarray or None
        The derivatives with respect to the parameters of the likelihood, or to their logarithms where these are searched for.
    points_gradient : ndarray of shape (n, d) or None
        The derivatives with respect to the coordinates of the points; None unless `points` asked for them.
    landmarks_gradient : ndarray of shape (m, d) or None
        Those with respect to the coordinates of the landmarks, which `workspace.landmarks()` returns; None unless `points`
        asked for them and there are landmarks.
    beta : ndarray of shape (q,) or (q, m)
        The coefficients of the trend, by generalized least squares.
    scale : float
        The factor of the kernel and the noise that was profiled out; 1 otherwise.
    effective_dof : float
        The effective degrees of freedom, sum_i (1 - N_i P_ii) with the noise variances N_i; nan if the criterion does not need
        the diagonal of P.
    dual_coef : ndarray of shape (n,) or (n, m), or None
        The coefficients c = P y = K~^-1 (y - H beta); None if an approximation does not need them for the criterion.
    larger_is_better : bool
        Whether the criterion is to be maximized.
    approximation : str
        Where parts of space were computed independently, a sentence on how many rows may have nearer neighbours than those that
        were found; otherwise empty.
    """

    value: float
    gradient: NDArray[np.float64] | None
    noise_gradient: float | Vector | None
    points_gradient: Matrix | None
    landmarks_gradient: Matrix | None
    beta: NDArray[np.float64]
    scale: float
    effective_dof: float
    dual_coef: NDArray[np.float64] | None
    larger_is_better: bool
    approximation: str = ""
    likelihood_gradient: Vector | None = None


def evaluate(
    criterion: str | Criterion | Loss,
    kernel: KernelLike,
    X: Points,
    y: ArrayLike | None = None,
    *,
    noise: float | ArrayLike = 0.0,
    trend: Trend = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    gradient: bool = False,
    points: bool = False,
    workspace: Workspace | None = None,
    approximation: Approximation | None = None,
    likelihood: str | Likelihood | None = None,
    inference: Literal["auto", "laplace", "ep"] = "auto",
    exposure: ArrayLike | None = None,
    trials: ArrayLike | None = None,
    **options: Any,
) -> Evaluation:
    """Evaluate a criterion for a kernel, a noise and a trend, with its gradient in hyperparameters, noise and points.

    Parameters
    ----------
    criterion : str, Criterion or callable
        "lml", "profiled_lml", "reml", "profiled_reml", "map", "loo", "loo_log_density", "profiled_loo_log_density", "loo_crps",
        "loo_absolute", "gcv", "risk", "kfold", "kfold_log_density" or "holdout"; :mod:`kernsel.criteria` defines them and says
        when to use which. A function is the loss of a leave-one-out criterion, see :class:`kernsel.criteria.LeaveOneOut`.
        "evidence" is not for given hyperparameters.
    kernel : Kernel or str
        A kernel of kernsel or scikit-learn, or the text of one; "precomputed" if X is the kernel matrix. Its "auto" parameters
        are set from the data.
    X : array-like of shape (n, d) or (n, n); or n objects, for a kernel on objects
        With an approximation also a collection of Dask, like y, whose partitions are read where they are. With
        :class:`kernsel.Nystrom` its rows are left out one by one, also where they are equal, or in up to a hundred groups or
        folds; a number of folds is one by the values of rows, so that equal ones are left out together. The derivative in the
        noise is that in one variance for all.
    y : array-like of shape (n,) or (n, m)
        All outputs share kernel, noise and trend. Log densities are summed over outputs, and other criteria averaged.
    noise : float or array-like of shape (n,)
        Noise variances, not negative. White parts of the kernel count as noise as well.
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
        Its coefficients are estimated by generalized least squares, and estimated again for each point that is left out.
    sample_weight : array-like of shape (n,), optional
        Not negative. The noise of a point is divided by its weight, and losses are weighted. Points of weight 0 are left out.
    groups : array-like of shape (n,), optional
        A label for each point: leave-one-out criteria leave out all points of a group together, and folds keep groups whole. By
        default equal rows are left out together. Likelihoods and "risk", which leave nothing out, do not depend on groups.
    gradient : bool
        Whether to compute the derivatives in the hyperparameters and in the noise.
    points : bool
        Whether to compute the derivatives in the coordinates of the points, for a kernel that has them. Columns of the trend
        are held: what they change with the points is not included. So are neighbours, and numbers that "auto" stands for.
    workspace : kernsel.criteria.Workspace, optional
        Memory to reuse in several evaluations of the same size. With an approximation also the neighbours, which are chosen
        anew if the points or the proportions of the length scales differ, or the landmarks, if the points do.
    approximation : kernsel.Vecchia or kernsel.Nystrom, optional
        For many points: neighbours, or landmarks, instead of the whole kernel matrix.
    likelihood : str or Likelihood, optional
        The likelihood of observations y, see :mod:`kernsel.likelihoods`; normal by default. The criterion is then "lml", the
        approximate log marginal likelihood, in which the coefficients of a trend have a flat prior, or "loo_log_density", the
        sum of the log densities of observations that are left out; `noise` is that of the latent function, and weights multiply
        log densities. Both have exact gradients, also in the parameters of the likelihood.
    inference : {"auto", "laplace", "ep"}
        How the posterior of the latent function is approximated: by Laplace's method, or by expectation propagation, which
        "auto" is for densities with a kink.
    exposure, trials : float or array-like of shape (n,), optional
        For likelihoods of counts.
    **options
        Arguments of the criterion, if it is given by name: ``folds=10``, ``sigma=0.1``, ...

    Returns
    -------
    evaluation : Evaluation

    Notes
    -----
    A likelihood takes n^3 / 3 operations, and n^3 with its gradient; criteria that need the diagonal of P take twice as many.
    The memory is half of an n x n matrix, for any number of hyperparameters; derivatives in the points take a whole one more.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X = np.linspace(0, 6, 25).reshape(-1, 1)
    >>> ev = ks.evaluate("lml", RBF(1.0), X, np.sin(X[:, 0]), noise=0.01, gradient=True)
    >>> round(ev.value, 3), ev.gradient.round(3), round(ev.noise_gradient, 1)
    (13.645, array([12.449]), -813.9)
    """
    if is_of_rows(X):
        if points:
            raise ValueError("points: expected False for rows that are read in blocks, of which no gradient is kept")
        if likelihood is not None:
            raise ValueError("likelihood: expected None for rows that are read in blocks, whose noise is normal")
        return _of_rows(criterion, kernel, X, y, noise, trend, sample_weight, groups, gradient, approximation, options)
    ours, coordinates, targets, known, weights = _problem(kernel, X, y, noise, trend, sample_weight)
    if points and ours.reading() is not None:
        raise ValueError("points: expected a kernel of rows of numbers; objects have no coordinates in which to differentiate")
    n = len(coordinates)
    used = np.arange(n) if weights is None else np.flatnonzero(weights)
    divided = weights is not None and likelihood is None  # weights multiply log densities, or divide the noise
    each = weights[used] if divided and weights is not None else 1.0
    diagonal = np.broadcast_to(known, (n,))[used] / each
    H = trend_matrix(trend, coordinates, used)
    chosen = criterion_named(criterion, options)
    if chosen.integrates:
        raise ValueError(
            f'criterion: expected one that has a value for given hyperparameters, such as "reml", got "{name_of(chosen)}", an '
            "integral over all of them: it is the criterion_value_ of an estimator that searches with it"
        )
    near = approximation_given(approximation, ours, coordinates.shape[1])
    given = Given(coordinates, targets, used, checked_groups(groups, n))
    require_takes_groups(chosen, given.groups)
    chosen.require_trend(H, given)
    observed = None
    if likelihood is not None:
        of = likelihood_of(likelihood)
        sizes = sizes_of(of, {"exposure": exposure, "trials": trials}, n)
        if targets.ndim != 1:
            raise ValueError(f"y: {type(of).__name__} observations are one for each point, got shape {targets.shape}")
        some = None if sizes is None else sizes[used]
        of.check(targets[used], some)
        observed = Observations(of.with_units_of(targets[used]), targets[used], some, inference).core()
    elif exposure is not None or trials is not None:
        raise ValueError("exposure, trials: normal noise has none; expected a likelihood of counts")
    result = _core.evaluate(
        chosen.core(given) if observed is None else chosen.of_observations(given, has_trend=H.shape[1] > 0),
        ours.build(),
        coordinates[used],
        targets[used],
        diagonal,
        H,
        None if weights is None else weights[used],
        gradient,
        workspace or Workspace(),
        None if near is None else near.core(),
        points,
        observed,
    )
    slopes = noise_slopes = None
    if gradient:
        slopes = ours.in_theta(result["gradient"])
        in_noise = np.zeros(n)
        in_noise[used] = result["noise_gradient"] / each
        noise_slopes = float(in_noise.sum()) if np.ndim(noise) == 0 else in_noise
    points_gradient = None
    if result["points_gradient"] is not None:
        points_gradient = np.zeros(coordinates.shape)
        points_gradient[used] = result["points_gradient"]
    value, slopes = chosen.with_prior(ours, result["value"], slopes)
    dual_coef = None
    if result["dual_coef"] is not None:
        dual_coef = np.zeros_like(targets)
        dual_coef[used] = result["dual_coef"]
    return Evaluation(
        float(value),
        slopes,
        noise_slopes,
        points_gradient,
        result["landmarks_gradient"],
        result["beta"],
        result["scale"],
        result["effective_dof"],
        dual_coef,
        chosen.larger_is_better,
        likelihood_gradient=result["likelihood_gradient"],
    )


def _of_rows(
    criterion: str | Criterion | Loss,
    kernel: KernelLike,
    X: Any,
    y: Any,
    noise: Any,
    trend: Trend,
    sample_weight: Any,
    groups: object,
    gradient: bool,
    approximation: object,
    options: dict[str, Any],
) -> Evaluation:
    """Evaluate a criterion for rows that are read in blocks, whose noise gradient is that in a variance of all rows."""
    if not isinstance(approximation, Nystrom | Vecchia):
        raise ValueError(
            "approximation: expected kernsel.Nystrom() or kernsel.Vecchia() for rows that are read in blocks, such as a "
            f"collection of Dask, got {approximation!r}"
        )
    chosen = criterion_named(criterion, options)
    require_takes_groups(chosen, groups)
    if groups is not None and isinstance(approximation, Vecchia):
        raise ValueError("groups: expected None for rows that are read in blocks with kernsel.Vecchia()")
    own = np.ndim(noise) == 0 and not is_of_rows(noise)
    source = row_source(X, y, noise=None if own else noise, sample_weight=sample_weight)
    added = float(variances("noise", noise, 1)) if own else 0.0
    approximation_given(approximation, kernel_of(kernel), columns=source.n_columns)
    found: ByBlocks | ByParts
    with passes_over(source) as passes:
        if isinstance(approximation, Nystrom):
            ours, landmarks = kernel_and_landmarks(passes, kernel_of(kernel), approximation)
            found = evaluate_by_blocks(
                chosen,
                ours,
                landmarks,
                passes,
                noise=added,
                trend=trend,
                bound=approximation.bound,
                gradient=gradient,
                groups=groups,
            )
        else:
            found = evaluate_by_parts(
                chosen, kernel_of(kernel), passes, approximation, noise=added, trend=trend, gradient=gradient
            )
            ours = found.kernel
    slopes = None if found.gradient is None else ours.in_theta(found.gradient)
    value, slopes = chosen.with_prior(ours, found.value, slopes)
    beta = found.beta[:, 0] if source.n_outputs == 1 and getattr(y, "ndim", 1) == 1 else found.beta
    return Evaluation(
        float(value),
        slopes,
        found.noise_gradient,
        None,
        None,
        beta,
        found.scale,
        found.effective_dof if isinstance(found, ByBlocks) else float("nan"),
        None,
        chosen.larger_is_better,
        found.said if isinstance(found, ByParts) else "",
    )


@dataclass(frozen=True)
class LeaveOneOutFit:
    """The result of :func:`loo`: predictions of each point from all others, but those that are left out together with it.

    Attributes
    ----------
    residuals : ndarray of shape (n,) or (n, m)
        y_i - mean_i.
    means : ndarray of shape (n,) or (n, m)
        The predictions mean_i of y_i.
    variances : ndarray of shape (n,)
        The predictive variances of y_i, noise included.
    leverage : ndarray of shape (n,)
        1 - N_i P_ii with the noise variances N_i: the derivative of the fitted value at point i in the fit with all points,
        with respect to y_i.
    groups : ndarray of int of shape (n,)
        The number of the group with which each point is left out; all different if each is left out alone.
    dual_coef : ndarray of shape (n,) or (n, m)
        The coefficients c = P y of the fit with all points.
    residuals_gradient : ndarray of shape (n, p) or (n, m, p), or None
        If asked for, d residuals / d theta: the derivatives in the hyperparameters of the kernel, on the scale of its `theta`.
    variances_gradient : ndarray of shape (n, p), or None
        If asked for, d variances / d theta.
    """

    residuals: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    leverage: NDArray[np.float64]
    groups: NDArray[np.intp]
    dual_coef: NDArray[np.float64]
    residuals_gradient: NDArray[np.float64] | None = None
    variances_gradient: NDArray[np.float64] | None = None


def loo(
    kernel: KernelLike,
    X: Points,
    y: ArrayLike,
    *,
    noise: float | ArrayLike = 0.0,
    trend: Trend = None,
    groups: ArrayLike | None = None,
    approximation: Approximation | None = None,
    gradient: bool = False,
) -> LeaveOneOutFit:
    """Return leave-one-out residuals, means and variances, and the leverages, of all points from one factorization.

    With P and c = P y as in :mod:`kernsel.criteria`, the residual is c_i / P_ii and the variance 1 / P_ii. Equal rows are left
    out together, or groups if they are given: those of a group I are P_II^-1 c_I and the diagonal of P_II^-1.

    Parameters
    ----------
    kernel : Kernel or str
        A kernel of kernsel or scikit-learn, or the text of one; "precomputed" if X is the kernel matrix. Its "auto" parameters
        are set from the data.
    X : array-like of shape (n, d) or (n, n); or n objects, for a kernel on objects
    y : array-like of shape (n,) or (n, m)
    noise : float or array-like of shape (n,)
        Noise variances, not negative.
    trend : None, "constant", "linear", "quadratic", array-like of shape (n, q), or callable
        Its coefficients are estimated again for each point that is left out.
    groups : array-like of shape (n,), optional
        A label for each point: all points of a group are left out together. By default equal rows are.
    approximation : kernsel.Vecchia or kernsel.Nystrom, optional
        For many points: each is predicted from its nearest neighbours among those that are not left out with it, or by the
        function's values at landmarks.
    gradient : bool
        Also compute the derivatives of each residual and each variance in the hyperparameters of the kernel, of which any loss
        of points that are left out can be differentiated: O(n^2 p) operations for each point. (The gradients of the criteria
        of :func:`kernsel.evaluate` take O(n^3 + n^2 p) in all.) A noise to differentiate in is that of a WhiteKernel.

    Returns
    -------
    fit : LeaveOneOutFit

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> from kernsel.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.0])
    >>> ks.loo(RBF(1.0), X, y, noise=0.1).means.round(3)
    array([0.695, 0.   , 0.695])

    The slope of the mean squared residual:

    >>> fit = ks.loo(RBF(1.0), X, y, noise=0.1, gradient=True)
    >>> (2 * fit.residuals @ fit.residuals_gradient / 3).round(4)
    array([0.8448])
    >>> ks.evaluate("loo", RBF(1.0), X, y, noise=0.1, gradient=True).gradient.round(4)
    array([0.8448])
    """
    ours, points, targets, known, _ = _problem(kernel, X, y, noise, trend, None)
    H = trend_matrix(trend, points)
    n = len(points)
    given = Given(points, targets, np.arange(n), checked_groups(groups, n))
    LeaveOneOut().require_trend(H, given)
    core, diagonal = ours.build(), np.atleast_1d(known)

    near = approximation_given(approximation, ours, points.shape[1])
    if gradient and near is not None:
        raise ValueError(f"gradient: expected False with an approximation, got {near!r}; kernsel.evaluate has gradients by it")
    workspace, how = Workspace(), None if near is None else near.core()

    def evaluated(criterion: _core.Criterion) -> _core.Evaluation:
        return _core.evaluate(criterion, core, points, targets, diagonal, H, None, False, workspace, how)

    fit = evaluated(_core.unbiased_risk([1.0]))  # for which all coefficients and the diagonal of P are computed
    precision, dual_coef = fit["precision"], fit["dual_coef"]
    assert dual_coef is not None
    together = given.left_out_together()
    residuals, own = dual_coef / (precision if targets.ndim == 1 else precision[:, None]), 1 / precision
    leverage = 1 - fit["noise"] * precision
    if near is not None:  # points left out have variances that P does not know, or are predicted from other neighbours
        residuals, own = left_out_in_groups(evaluated, np.zeros(0, dtype=np.intp), 0)
    if isinstance(near, Vecchia):
        leverage = 1 - fit["noise"] / own
    if together is not None:
        residuals, own = left_out_in_groups(evaluated, *together)
    residuals = residuals.reshape(targets.shape)
    numbers = np.arange(n) if together is None else together[0]
    in_residuals = in_variances = None
    if gradient:
        columns = targets.reshape(n, -1)
        in_residuals, in_variances = left_out_derivatives(
            ours, points, columns, diagonal, H, None if together is None else numbers
        )
        in_residuals = in_residuals.reshape(*targets.shape, ours.n_dims)
    return LeaveOneOutFit(residuals, targets - residuals, own, leverage, numbers, dual_coef, in_residuals, in_variances)


def left_out_in_groups(
    evaluated: Callable[[_core.Criterion], object], groups: NDArray[np.intp], count: int
) -> tuple[Matrix, Vector]:
    """Return the residuals, shape (n, outputs), and the variances, (n,), of points that are left out in groups.

    The core hands them to the loss of a criterion, which is evaluated by `evaluated`.
    """
    seen: list[tuple[Vector, Vector]] = []

    def loss(residuals: Vector, variances: Vector) -> tuple[Vector, Vector, Vector]:
        seen.append((residuals.copy(), variances.copy()))
        return residuals**2, 2 * residuals, np.zeros_like(variances)

    evaluated(_core.leave_out("", 0.0, loss, False, False, groups.tolist(), count))
    return np.column_stack([residuals for residuals, _ in seen]), seen[0][1]


def require_takes_groups(criterion: Criterion | type[Criterion], groups: object) -> None:
    """Raise if groups were told, and the criterion predicts points without leaving any out."""
    if groups is not None and not criterion.takes_groups:
        raise ValueError(
            f'groups: {getattr(criterion, "__name__", type(criterion).__name__)} cannot leave them out; "loo" and "kfold" can'
        )


def _problem(
    kernel: KernelLike, X: Points, y: ArrayLike | None, noise: float | ArrayLike, trend: Trend, sample_weight: ArrayLike | None
) -> tuple[Kernel, Matrix, Matrix, Vector, Vector | None]:
    """Return the kernel, the points, the targets, the noise variances (one, or one for each point), and the weights."""
    targets = np.asarray(y, dtype=np.float64)
    weights = point_weights(sample_weight, targets)
    ours, points, _ = kernel_and_points(kernel, X, y=targets, weights=weights)
    if ours.reading() is not None:
        require_trend_of_objects(trend)
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(f"X: expected shape (n, d), got {points.shape}")
    if targets.ndim not in (1, 2) or len(targets) != len(points):
        raise ValueError(f"y: expected one row for each of {len(points)} points, got shape {targets.shape}")
    if isinstance(noise, str):
        raise TypeError(f'noise: expected numbers, got {noise!r}; estimators find the noise if it is "auto"')
    return ours, points, targets, variances("noise", noise, len(points)), weights
