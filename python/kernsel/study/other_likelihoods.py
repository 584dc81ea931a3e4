"""What targets and left-out errors tell of likelihoods other than the normal one that was taken."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from kernsel._base.annotations import Indices
from kernsel.estimators.gaussian_process import GaussianProcessRegressor

__all__ = ["about_counts", "about_heavy_tails"]

_LARGEST_MEAN = 20.0  # above, Poisson counts are nearly normal
_LEAST_DISPERSION = 0.6  # the variance over the mean, which is 1 for Poisson counts of one mean and more for those of several
_MOST = 1000  # points up to which a second fit is made to compare with
_SECONDS = 10.0  # that it may take
_LEAST = 20  # points of which anything is said


def about_counts(y: ArrayLike, *, option: str = 'likelihood="poisson"') -> str:
    """Return a remark for targets that look like counts, otherwise an empty text.

    Counts are whole numbers from 0 on, of four values at least (fewer may be classes), small on average, skewed to the right,
    and with a variance that is not much below the mean, as that of ratings is.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.study.other_likelihoods import about_counts
    >>> print(about_counts(np.random.default_rng(0).poisson(2.0, 50)))
    The targets look like counts, whole numbers from 0 to 7: likelihood="poisson" is for these, \
and likelihood="negative_binomial" if they vary more.
    >>> about_counts(np.random.default_rng(0).normal(size=50))
    ''
    """
    values = np.asarray(y)
    if values.ndim != 1 or len(values) < _LEAST or values.dtype.kind not in "iuf":
        return ""
    values = values.astype(np.float64)
    if not np.isfinite(values).all() or (values < 0).any() or (values != np.round(values)).any():
        return ""
    most, mean = values.max(), values.mean()
    centred = values - mean
    skewed = np.mean(centred**3) > 0
    dispersed = values.var() > _LEAST_DISPERSION * mean
    if len(np.unique(values)) < 4 or mean > _LARGEST_MEAN or not (skewed and dispersed):
        return ""
    other = option.replace("poisson", "negative_binomial")
    return (
        f"The targets look like counts, whole numbers from {values.min():.0f} to {most:.0f}: {option} is for these, and "
        f"{other} if they vary more."
    )


def about_heavy_tails(
    model: Any,
    X: Any,
    y: ArrayLike,
    groups: Indices | None = None,
    *,
    seconds: float = np.inf,
    option: str = 'likelihood="student_t"',
) -> str:
    """Return a remark if left-out errors of a process have heavy tails: whether Student's t predicts left-out points better.

    Up to 1000 points, a process with the same kernel and Student's t is fitted, for ten `seconds` at most, and the mean log
    densities of points that are left out are compared; otherwise the remark only says what could be tried.
    """
    if not isinstance(model, GaussianProcessRegressor) or model.likelihood is not None:
        return ""
    found = model.selection_
    if found.far is None or found.far.count_little:
        return ""
    begin = "Errors of points that are left out have heavier tails than normal noise"
    if len(model.X_train_) > _MOST or found.rows is not None or seconds < 1:
        return f"{begin}: {option} may predict better."
    robust = clone(model).set_params(likelihood="student_t", criterion="lml", noise=None, outliers="auto", optimizer="auto")
    robust.set_params(max_seconds=min(seconds, _SECONDS))
    try:
        robust.fit(X, y, **({} if groups is None else {"groups": groups}))
        with_t, with_normal = (float(np.mean(one.loo_log_density_)) for one in (robust, model))
    except (ValueError, np.linalg.LinAlgError):
        return f"{begin}: {option} may predict better."
    if not np.isfinite(with_t) or with_t <= with_normal:
        return f"{begin}, but {option} predicts them no better: mean log density {with_t:.4g} instead of {with_normal:.4g}."
    df = robust.likelihood_.df
    return (
        f"{begin}: {option} predicts them better, with mean log density {with_t:.4g} instead of {with_normal:.4g} "
        f"({df:.2g} degrees of freedom)."
    )
