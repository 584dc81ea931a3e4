"""The hyperparameters of related outputs for which the observations are the most probable."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from kernsel._base.annotations import Matrix, Vector
from kernsel._data.trend import Trend, trend_matrix
from kernsel._search.choice import choose
from kernsel._search.core_search import Budget
from kernsel._solve.related import log_likelihood
from kernsel._solve.related_kernel import RelatedKernel, without_amplitude
from kernsel.criteria import Likelihood
from kernsel.kernels import ConstantKernel, Coregion, Kernel, Sum
from kernsel.kernels.automatic import Data

__all__ = ["RelatedSelection", "choose_related", "first_guess"]

_LEAST_NOISE = 1e-8  # of the variance of an output, which stands for none: Kronecker's product needs some
_OF_NOISE = 0.1  # the share of noise in the variance of an output at the start
_FEW = 8  # rows with all outputs, from which on they tell where the search starts
_FIRST = 25  # iterations from each start, the best of which is continued
_PRECISION = 1e-8  # of the log likelihood, relative to its size, at which iterations end
_SHORTER = 0.4  # than the length scales of the other starts
_BEHIND = 5.0  # of the correlations of outputs at the start: as if as many rows told that there is none


@dataclass(frozen=True)
class RelatedSelection:
    """The result of a search.

    Attributes
    ----------
    related : RelatedKernel
    value : float
        The log marginal likelihood.
    n_evaluations : int
    of_starts : ndarray
        The value that the first iterations reached from each start.
    ended : {"converged", "evaluations", "seconds", "as given"}
    """

    related: RelatedKernel
    value: float
    n_evaluations: int
    of_starts: Vector
    ended: str


def first_guess(
    terms: Sequence[Kernel], X: Matrix, Y: Matrix, trend: Trend, rank: int, noise: Vector | None, names: list[str] | None
) -> RelatedKernel:
    """Return a covariance that follows from the data alone, with bounds; outputs have to be of variance one.

    Loadings are those of the eigenvectors of the outputs' correlations, which differ from term to term.

    Parameters
    ----------
    terms : sequence of Kernel
        Kernels of points; what is "auto" is set from the data.
    X : ndarray of shape (n, d)
    Y : ndarray of shape (n, m)
        nan where an output was not observed.
    trend : None, str or callable
    rank : int
        Of the covariances of outputs.
    noise : ndarray of shape (m,) or None
        Noise variances, if they are known.
    names : list of str or None
        The names of the columns.
    """
    m = Y.shape[1]
    values, vectors = np.linalg.eigh(_correlations(X, Y, trend))
    values, vectors = values[::-1], vectors[:, ::-1]
    data = Data(X, np.nan_to_num(Y), None, names)
    resolved = tuple(term.resolve(data).on_points(X)[0] for term in terms)
    coregions = []
    for place in range(len(terms)):
        chosen = (np.arange(rank) + place) % m  # equal terms with equal loadings would stay equal
        W = vectors[:, chosen] * np.sqrt(np.maximum(values[chosen], 0.1) / len(terms))
        kappa = np.maximum(1.0 / len(terms) - np.sum(W**2, axis=1), 0.1 / len(terms))
        coregions.append(Coregion(rank, W, kappa, (-30.0, 30.0), (1e-6, 1e3)))
    if noise is None:
        of_noise = Coregion(0, np.zeros((m, 0)), np.full(m, _OF_NOISE), "fixed", (_LEAST_NOISE, 10.0))
    else:
        of_noise = Coregion(0, np.zeros((m, 0)), np.maximum(noise, _LEAST_NOISE), "fixed", "fixed")
    return RelatedKernel(resolved, tuple(coregions), of_noise, X.shape[1])


def choose_related(
    first: RelatedKernel, X: Matrix, Y: Matrix, trend: Trend, budget: Budget, restarts: int, rng: np.random.RandomState
) -> RelatedSelection:
    """Return the hyperparameters of the largest likelihood that L-BFGS-B finds from several starts.

    The starts are the first guess; that with the kernel and the noise for which independent outputs are the most probable; the
    same with shorter length scales; and some random ones.

    Parameters
    ----------
    first : RelatedKernel
        Of outputs of variance one, with bounds.
    X, Y, trend
        As of :func:`kernsel._solve.related.log_likelihood`.
    budget : Budget
    restarts : int
        The number of random starts.
    rng : RandomState
    """
    until = time.perf_counter() + budget.seconds
    bounds = first.whole().bounds
    starts = [first.whole().theta]
    independent = _as_if_independent(first, X, Y, trend)
    if independent is not None:
        starts.insert(0, independent.whole().theta)
    starts.append(starts[0] + np.log(_SHORTER) * _are_lengths(first))  # functions may change faster than they seem to
    starts += [starts[0] + rng.uniform(-1.0, 1.0, len(bounds)) for _ in range(restarts)]
    best, evaluations, ended = (-np.inf, starts[0]), 0, "converged"
    reached = []

    def objective(theta: Vector) -> tuple[float, Vector]:
        nonlocal best, evaluations
        if evaluations >= budget.evaluations or (evaluations and time.perf_counter() > until):
            raise StopIteration
        evaluations += 1
        try:
            value, gradient = log_likelihood(first.at(theta), X, Y, trend)
        except np.linalg.LinAlgError:
            return np.inf, np.zeros(len(theta))
        if value > best[0]:
            best = (value, theta.copy())
        return -value, -gradient

    def descend(start: Vector, iterations: int) -> float:
        options = {"maxiter": iterations, "ftol": _PRECISION}
        clipped = np.clip(start, bounds[:, 0], bounds[:, 1])
        found = optimize.minimize(objective, clipped, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return -float(found.fun)

    try:
        for start in starts:
            reached.append(descend(start, _FIRST))
        descend(best[1], budget.evaluations)
    except StopIteration:
        ended = "evaluations" if evaluations >= budget.evaluations else "seconds"
    return RelatedSelection(first.at(best[1]), best[0], evaluations, np.array(reached), ended)


def _as_if_independent(first: RelatedKernel, X: Matrix, Y: Matrix, trend: Trend) -> RelatedKernel | None:
    """Return the first guess with the kernel and the noise of independent outputs, which one search of the core finds.

    It sees the rows with all outputs; without enough of these, those of the output that was observed most often.
    """
    observed = ~np.isnan(Y)
    complete = observed.all(axis=1)
    outputs = slice(None) if complete.sum() >= _FEW else [int(observed.sum(axis=0).argmax())]
    rows = complete if complete.sum() >= _FEW else observed[:, outputs].all(axis=1)
    each: Kernel = ConstantKernel("auto") * first.terms[0]
    for term in first.terms[1:]:
        each = Sum(each, ConstantKernel("auto") * term)
    try:
        found = choose(Likelihood(), each, X[rows], Y[rows][:, outputs], finds_noise=True, trend=trend)
    except (ValueError, np.linalg.LinAlgError):  # too few rows for the trend, or nothing is left to explain
        return None
    if not np.isfinite(found.value):
        return None
    operands = found.kernel.operands() if isinstance(found.kernel, Sum) else [found.kernel]
    terms = tuple(without_amplitude(term) for term in operands)
    amplitude = float(found.kernel.diag(X[rows][:1])[0])
    share = float(np.clip(found.noise / max(found.noise + amplitude, 1e-300), 1e-4, 0.9))
    noise = first.noise
    if not isinstance(noise.kappa_bounds, str):
        noise = noise.replaced(kappa=np.full(Y.shape[1], share))
    return RelatedKernel(terms, first.coregions, noise, first.columns)


def _are_lengths(related: RelatedKernel) -> Vector:
    """Return one for each hyperparameter that is a length scale, and zero for others."""
    free = [h for h in related.whole().hyperparameters if not h.fixed]
    return np.array([float("length_scale" in h.name) for h in free for _ in range(h.n_elements)])


def _correlations(X: Matrix, Y: Matrix, trend: Trend) -> Matrix:
    """Return the correlations of outputs over the rows in which both were observed, drawn towards none if these are few."""
    H, residuals = trend_matrix(trend, X, check=False), Y.copy()
    observed = ~np.isnan(Y)
    for k in range(Y.shape[1] if H.shape[1] else 0):
        rows = observed[:, k]
        residuals[rows, k] -= H[rows] @ np.linalg.lstsq(H[rows], Y[rows, k], rcond=None)[0]
    filled = np.where(observed, residuals, 0.0)
    both = observed.T.astype(np.float64) @ observed
    products = filled.T @ filled
    squares = [filled[:, [k]].T ** 2 @ observed for k in range(Y.shape[1])]  # of k, over the rows that have each other one
    sizes = np.sqrt(np.vstack(squares) * np.vstack(squares).T)
    correlations = np.divide(products, sizes, out=np.zeros_like(products), where=sizes > 0) * both / (both + _BEHIND)
    np.fill_diagonal(correlations, 1.0)
    return np.asarray(correlations)
