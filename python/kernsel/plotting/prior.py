"""Functions that a Gaussian process expects before it has seen any data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import BaseEstimator, clone

from kernsel._base.annotations import Seed
from kernsel.estimators.gaussian_process import GaussianProcessRegressor
from kernsel.kernels.objects import Points
from kernsel.plotting.figures import require_matplotlib
from kernsel.plotting.models import column_names, name_of_target
from kernsel.plotting.posterior import PosteriorDisplay
from kernsel.plotting.predicted import scene_of_columns
from kernsel.plotting.writing import percent, short_number

if TYPE_CHECKING:
    from kernsel.plotting.figures import AxesLike

__all__ = ["PriorDisplay"]


class PriorDisplay(PosteriorDisplay):
    """Draws of a Gaussian process before it is fitted, with its mean and band, along one column.

    They show what a kernel and its hyperparameters stand for: what is far from all draws is what a fit has to be told by many
    data. Parameters and attributes are those of :class:`PosteriorDisplay`.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.linspace(0, 6, 12).reshape(-1, 1)
    >>> process = ks.GaussianProcessRegressor(2.0 * ks.kernels.Matern(1.0, nu=1.5))
    >>> display = ks.plotting.PriorDisplay.from_estimator(process, X, n_samples=5)
    >>> display.samples.shape, bool(np.allclose(display.upper, 1.96 * 2**0.5, atol=0.01))
    ((201, 5), True)
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Points | None = None,
        y: ArrayLike | None = None,
        *,
        columns: Sequence[int | str] | int | str | None = None,
        at: Mapping[int | str, float] | None = None,
        level: float = 0.95,
        noisy: bool = False,
        n_samples: int = 5,
        random_state: Seed = 0,
        output: int = 0,
        target_name: str | None = None,
        units: Mapping[str, str] | None = None,
        ax: AxesLike = None,
        scatter_kwargs: Mapping[str, object] | None = None,
        line_kwargs: Mapping[str, object] | None = None,
    ) -> Self:
        """Draw functions of a Gaussian process with the hyperparameters that it is given; what it has fitted does not matter.

        Parameters
        ----------
        estimator : GaussianProcessRegressor
            With numbers for hyperparameters: those that are "auto" are as they are before there are data.
        X : array-like of shape (n, d)
            Points, over whose range functions are drawn.
        y : array-like of shape (n,), optional
            Targets to compare the draws with, if there is one column.
        columns : int or str, or a sequence of one, optional
            The column; the first by default.
        at : dict of int or str to float, optional
            Values of other columns; their medians by default.
        level : float
            Of the band.
        noisy : bool
            The band is that of observations.
        n_samples : int
        random_state : int, RandomState instance or None
        output : int
            Only 0: before a fit all targets are alike.
        target_name, units, ax, scatter_kwargs, line_kwargs
            As in :meth:`PosteriorDisplay.from_estimator`.

        Returns
        -------
        display : PriorDisplay
        """
        require_matplotlib(f"{cls.__name__}.from_estimator")
        if not isinstance(estimator, GaussianProcessRegressor):
            raise TypeError(f"estimator: expected a GaussianProcessRegressor, got {type(estimator).__name__}")
        if output != 0:
            raise ValueError(f"output: expected 0, since all targets are alike before a fit, got {output!r}")
        if not 0 < level < 1:
            raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")
        if X is None:
            raise ValueError("X: expected points, over whose range functions are drawn, got None")
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or not points.size or not np.isfinite(points).all():
            raise ValueError(f"X: expected finite numbers, one row for each point, got shape {points.shape}")
        names = [str(name) for name in getattr(X, "columns", column_names(None, points.shape[1]))]
        scene = scene_of_columns(points, names, 0 if columns is None else columns, at)
        if len(scene.columns) != 1:
            raise ValueError(f"columns: draws are along one column, got {columns!r}")
        prior, Z = clone(estimator), scene.points()
        mean, std = prior.predict(Z, return_std=True, noisy=noisy)
        half = stats.norm.isf((1 - level) / 2) * std
        others = [k for k in range(points.shape[1]) if k not in scene.columns]
        title = ", ".join(f"{names[k]} = {short_number(scene.center[k])}" for k in others[:3])
        display = cls(
            grid=scene.grid,
            mean=mean,
            lower=mean - half,
            upper=mean + half,
            samples=prior.sample_y(Z, n_samples, random_state, noisy=False) if n_samples else None,
            X=points[:, scene.columns] if y is not None else None,
            y=y,
            on_grid=not others,
            names=[names[k] for k in scene.columns],
            target_name=name_of_target(target_name, y),
            band_name=f"{percent(level)} band",
            mean_name="mean before data",
            title=f"at {title}" + (", ..." if len(others) > 3 else "") if others else "",
        )
        return display.plot(ax, units=units, scatter_kwargs=scatter_kwargs, line_kwargs=line_kwargs)
