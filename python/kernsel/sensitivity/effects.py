"""Main effects: the mean of a function over all inputs but one, along this one, with its posterior uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Literal

import numpy as np
from scipy import linalg

from kernsel._base.annotations import Matrix, Vector
from kernsel._base.blas import with_one_blas_thread
from kernsel._data.allowed import one_of, require, whole
from kernsel._solve.posterior import Posterior
from kernsel.sensitivity.expansion import Expansion
from kernsel.sensitivity.inputs import Input, Inputs, quantiles
from kernsel.sensitivity.sampled import sobol_points
from kernsel.sensitivity.studied import Studied, studied
from kernsel.sensitivity.terms import NoProductError

__all__ = ["MainEffects", "main_effects"]

_TAIL = 0.005  # probability on both sides of the values of a normal input
_ALLOWED = {
    "n_points": whole(2),
    "n_samples": whole(16),
    "output": whole(0),
    "method": one_of("auto", "exact", "sampled"),
}


@dataclass(frozen=True)
class MainEffects:
    """The mean of a function along each input.

    Attributes
    ----------
    names : list of str
        Of the inputs.
    grid : ndarray of shape (d, m)
        Values of each input.
    mean : ndarray of shape (d, m)
        E[f | x_j] at these values.
    std : ndarray of shape (d, m) or None
        The posterior standard deviation of E[f | x_j]; of Gaussian processes with a product kernel.
    overall : float
        E f.
    method : {"exact", "sampled"}
    """

    names: list[str]
    grid: Matrix
    mean: Matrix
    std: Matrix | None
    overall: float
    method: Literal["exact", "sampled"]


def main_effects(
    f: object,
    inputs: Inputs | None = None,
    *,
    n_points: int = 51,
    method: Literal["auto", "exact", "sampled"] = "auto",
    n_samples: int = 1024,
    random_state: int = 0,
    output: int = 0,
) -> MainEffects:
    """Return E[f | x_j] along each input x_j, the other inputs being averaged over, with its posterior uncertainty.

    The mean of a process averages to a process. With g and I the integrals of the kernels of all other columns over one of
    their arguments and over both ::

        E[f | x_j = t]        = b(t)' c + h(t)' beta,         b_i(t) = k_j(t, x_ij) prod_{k != j} g_k(x_ik)
        Var(E[f | x_j = t])   = prod_{k != j} I_k - b' K~^-1 b + r' (H' K~^-1 H)^-1 r,    r = h - H' K~^-1 b

    and sums over the terms of the kernel. This takes O(n^2 m d) for n training points. Kernels are those of :func:`sobol`; for
    other models and functions, means are sums over quasi-random points, d m `n_samples` predictions, and there is no `std`.

    Parameters
    ----------
    f : fitted regressor, or callable
    inputs : sequence or dict of Uniform, Normal or (lower, upper), optional
        As in :func:`sobol`.
    n_points : int
        The number m of values along each input.
    method : {"auto", "exact", "sampled"}
    n_samples : int
        The least number of points of a quasi-random sum.
    random_state : int
    output : int

    Returns
    -------
    effects : MainEffects

    Examples
    --------
    >>> import numpy as np, kernsel as ks
    >>> X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    >>> gp = ks.GaussianProcessRegressor("RBF").fit(X, X[:, 0] + X[:, 1] ** 2)
    >>> found = ks.sensitivity.main_effects(gp, [(-1, 1), (-1, 1)], n_points=3)
    >>> found.mean[0].round(2)  # x + E z^2 for z from -1 to 1
    array([-0.67,  0.33,  1.33])
    """
    options = {"n_points": n_points, "method": method, "n_samples": n_samples, "output": output}
    require(SimpleNamespace(**options), _ALLOWED)
    of = studied(f, inputs, output)
    grid = np.array([_values(one, n_points) for one in of.inputs])
    if method != "sampled":
        try:
            return _exact(of, grid)
        except NoProductError as error:
            if method == "exact":
                raise ValueError(f'method: "exact" is not to be had, {error}; take "auto" or "sampled"') from None
    points = quantiles(of.inputs, sobol_points(n_samples, len(grid), np.random.default_rng(random_state)))
    mean = np.empty(grid.shape)
    for j, values in enumerate(grid):
        moved = np.tile(points, (n_points, 1))
        moved[:, j] = np.repeat(values, len(points))
        mean[j] = of.values(moved).reshape(n_points, -1).mean(axis=1)
    return MainEffects(of.names, grid, mean, None, float(of.values(points).mean()), "sampled")


def _values(one: Input, count: int) -> Vector:
    low, high = one.quantile([0.0, 1.0] if one.span()[2] == np.inf else [_TAIL, 1 - _TAIL])
    return np.linspace(low, high, count)


@with_one_blas_thread
def _exact(of: Studied, grid: Matrix) -> MainEffects:
    f = of.expand()
    means = np.array([f.column(k, one).means for k, one in enumerate(of.inputs)])
    exact = of.process is not None and type(of.process.posterior_) is Posterior
    curves, deviations = [], []
    for j, values in enumerate(grid):
        averaged = f.column(j, of.inputs[j], values).functions * np.prod(np.delete(means, j, axis=0), axis=0)
        curves.append(f.offset + averaged @ f.weights)
        if exact:
            deviations.append(_deviation(of, f, averaged, j))
    overall = f.offset + float(f.weights @ np.prod(means, axis=0))
    return MainEffects(of.names, grid, np.array(curves), np.array(deviations) if exact else None, overall, "exact")


def _deviation(of: Studied, f: Expansion, averaged: Matrix, j: int) -> Vector:
    """Return the posterior standard deviation of the average at values of column j, from its functions there, (m, N)."""
    assert of.process is not None
    posterior: Posterior = of.process.posterior_
    n, count = len(f.points), len(f.terms)
    amplitudes = [term.amplitude for term in f.terms]
    others = [k for k in range(len(of.inputs)) if k != j]
    prior = sum(a * _prior(f, t, others, of.inputs) for t, a in enumerate(amplitudes))
    b = sum(a * averaged[:, t * n : (t + 1) * n].T for t, a in enumerate(amplitudes))
    h = averaged[:, count * n :].T
    L = posterior.lower()
    V = linalg.solve_triangular(L, b, lower=True)
    variance = prior - np.sum(V**2, axis=0)
    if len(h):
        W = linalg.solve_triangular(L, posterior.H, lower=True)
        R = np.linalg.qr(W, mode="r")
        variance += np.sum(linalg.solve_triangular(R, h - W.T @ V, trans="T") ** 2, axis=0)
    unit = float(of.process.scale_[of.output] * of.process._y_train_std[of.output] ** 2)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0) * unit))


def _prior(f: Expansion, t: int, others: Sequence[int], inputs: Sequence[Input]) -> float:
    """Return the variance of the average of the kernel of a term, which is one between equal points, over other columns."""
    return float(np.prod([f.mean_of_kernel(t, k, inputs[k]) for k in others]))
