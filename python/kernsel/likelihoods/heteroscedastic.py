"""Normal errors whose variance is a function of the points, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Vector
from kernsel.likelihoods.base import Likelihood

__all__ = ["HeteroscedasticGaussian"]


@dataclass(frozen=True, repr=False)
class HeteroscedasticGaussian(Likelihood):
    """Normal errors of the variance exp(h(x)), where h is a Gaussian process of its own with a constant mean.

    Both processes have the posterior of Laplace's approximation, with the expected curvature, in which they are independent.
    The hyperparameters of both kernels are found together. It takes 8 times as long as one process, and is for exact fits only.
    f and h have one row each for a point in the methods of the core; the arrays of the methods here are those of f, then of h.

    Parameters
    ----------
    noise_kernel : Kernel, str or "auto"
        The kernel of h, a constant times a Matern kernel by default. Columns are those of X.

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 4, 80).reshape(-1, 1)
    >>> y = np.sin(X[:, 0]) + np.where(X[:, 0] < 2, 0.05, 0.5) * rng.standard_normal(80)
    >>> gp = ks.GaussianProcessRegressor(likelihood=ks.likelihoods.HeteroscedasticGaussian()).fit(X, y)
    >>> low, high = gp.predict([[1.0], [3.0]], return_std=True)[1]
    >>> bool(low < 0.15 < 0.3 < high)
    True
    """

    noise_kernel: Any = "auto"
    is_of_two: ClassVar[bool] = True

    def __repr__(self) -> str:
        told = self.noise_kernel if not isinstance(self.noise_kernel, str) else repr(self.noise_kernel)
        return "HeteroscedasticGaussian()" if told == "'auto'" else f"HeteroscedasticGaussian(noise_kernel={told})"

    def core(self) -> _core.Likelihood:
        """Return the likelihood as the core has it."""
        return _core.heteroscedastic()

    def log_density(self, y: Any, f: Any, size: Any = None) -> Vector:
        """Return log p(y | f, h) for each observation."""
        del size
        f, h = _halves(f)
        return np.asarray(-0.5 * (h + (np.asarray(y) - f) ** 2 * np.exp(-h) + np.log(2 * np.pi)))

    def derivatives(self, y: Any, f: Any, size: Any = None) -> tuple[Vector, Vector, Vector]:
        """Return the first three derivatives of log p, in f and then in h."""
        del size
        both = self.core().density(np.concatenate([y, y]), np.concatenate(_halves(f)))
        return both[:, 1], both[:, 2], both[:, 3]

    def conditional(self, f: Any, size: Any = None) -> tuple[Vector, Vector]:
        """Return the mean and the variance of y given f and h."""
        del size
        mean, h = _halves(f)
        return mean, np.exp(h)

    def probability(self, y: Any, f: Any, size: Any = None) -> Vector:
        """Return the probability of values up to y given f and h."""
        from scipy.special import ndtr

        del size
        mean, h = _halves(f)
        return np.asarray(ndtr((np.asarray(y) - mean) * np.exp(-0.5 * h)))


def _halves(f: Any) -> tuple[Vector, Vector]:
    both = np.asarray(f, dtype=np.float64)
    if both.ndim != 1 or len(both) % 2:
        raise ValueError(f"f: expected the values of f and then as many of h, got shape {both.shape}")
    return both[: len(both) // 2], both[len(both) // 2 :]
