"""Laplace's approximation for several classes with a softmax likelihood, which has a latent function for each class."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from sklearn.exceptions import ConvergenceWarning

from kernsel._base.annotations import Vector
from kernsel.estimators.classification.softmax import class_probabilities
from kernsel.linalg.cholesky import Cholesky, cholesky

__all__ = ["Multinomial", "class_probabilities", "multinomial_laplace"]

MAX_ITERATIONS = 200
CONVERGED = 1e-20  # squared Newton decrement (squared distance to the mode in standard deviations) at convergence
STALLED = 1e-8  # a squared decrement below this that falls by less than a factor of 4 is rounding error
FLAT = 0.25  # the largest slope at the end of a step, relative to that at its beginning


@dataclass(frozen=True)
class Multinomial:
    """The result of :func:`multinomial_laplace`.

    Attributes
    ----------
    mode : ndarray of shape (n, classes)
        The latent values f of highest posterior density.
    weights : ndarray of shape (n, classes)
        The weights a = Y - softmax(f), with f_c = K_c a_c.
    log_evidence : float
        The approximate log evidence, log Z, of all labels.
    adjoints : list of ndarray of shape (n, n), or None
        The symmetric derivatives d log Z / dK_c for each kernel given, one if all classes share a kernel.
    iterations : int
        The number of iterations of Newton's method, each with a factorization for each class.
    objective : list of float
        log p(Y | f) - a'f / 2 at each iteration, which never falls.
    converged : bool
        Whether the mode was found.
    """

    mode: Vector
    weights: Vector
    log_evidence: float
    adjoints: list[Vector] | None
    iterations: int
    objective: list[float]
    converged: bool
    _state: LatentState = field(repr=False)

    def latent(self, cross: Sequence[Vector], own: Sequence[Vector]) -> tuple[Vector, Vector]:
        """Return means and covariances of the latent values at m points, in O(classes n^2) for each point.

        The memory is O(classes n m), so that many points should be given in blocks.

        Parameters
        ----------
        cross : list of ndarray of shape (n, m)
            k_c(X, Z) for each class, or one that all classes share.
        own : list of ndarray of shape (m,)
            k_c(z, z) for each class, or one that all classes share.

        Returns
        -------
        mean : ndarray of shape (m, classes)
        covariance : ndarray of shape (m, classes, classes)
        """
        classes = self.mode.shape[1]
        blocks, variances = _for_each_class(cross, classes, "cross"), _for_each_class(own, classes, "own")
        mean = np.stack([k.T @ a for k, a in zip(blocks, self.weights.T, strict=True)], axis=1)
        covariance, inner = _quadratic(self._state, blocks)
        variance = np.stack(variances, axis=1) - inner
        np.einsum("mcc->mc", covariance)[...] += np.maximum(variance, 0.0)
        return mean, covariance


class LatentState:
    """The factorizations that Newton's method needs at latent values f, where -log p has the curvature W = D - P P'.

    D is diagonal with all probabilities p, and P stacks diag(p_c). With B_c = I + D_c^1/2 K_c D_c^1/2 and
    E_c = D_c^1/2 B_c^-1 D_c^1/2 = (K_c + D_c^-1)^-1 ::

        (K + W^-1)^-1 = E - E R (sum_c E_c)^-1 R'E,    det(I + K W) = det(sum_c E_c) prod_c det B_c

    where R stacks identities. Classes are coupled only by the n x n matrix sum_c E_c.
    """

    def __init__(self, kernels: Sequence[Vector], f: Vector) -> None:
        self.p = special.softmax(f, axis=1)
        self.roots = np.sqrt(self.p)
        self.factors: list[Cholesky] = []
        total = np.zeros((len(f), len(f)))
        for K, root in zip(kernels, self.roots.T, strict=True):
            B = root[:, None] * K
            B *= root
            B.flat[:: len(B) + 1] += 1.0
            self.factors.append(cholesky(B))
            total += self.block(len(self.factors) - 1)
        self.total = cholesky(total)

    def half_log_determinant(self) -> float:
        """Return log det(I + K W) / 2."""
        return 0.5 * (self.total.logdet() + sum(factor.logdet() for factor in self.factors))

    def block(self, c: int) -> Vector:
        """Return the matrix E_c, shape (n, n)."""
        E, root = np.asarray(self.factors[c].inverse()), self.roots[:, c]
        E *= root
        E *= root[:, None]
        return E

    def apply(self, c: int, x: Vector) -> Vector:
        """Return E_c x by a triangular solve; products with an explicit E_c lose accuracy for large amplitudes."""
        root = self.roots[:, c] if x.ndim == 1 else self.roots[:, c, None]
        return np.asarray(root * self.factors[c].solve(root * x))

    def solve(self, x: Vector) -> Vector:
        """Return (K + W^-1)^-1 x for x of shape (n, classes)."""
        Ex = np.stack([self.apply(c, x[:, c]) for c in range(x.shape[1])], axis=1)
        t = self.total.solve(Ex.sum(axis=1))
        return Ex - np.stack([self.apply(c, t) for c in range(x.shape[1])], axis=1)

    def backward(self, kernels: Sequence[Vector], x: Vector) -> Vector:
        """Return (I + W K)^-1 x = x - (K + W^-1)^-1 K x."""
        return x - self.solve(_times(kernels, x))


def _times(kernels: Sequence[Vector], a: Vector) -> Vector:
    """Return the columns K_c a_c, shape (n, classes)."""
    if all(K is kernels[0] for K in kernels):
        return np.asarray(kernels[0] @ a)
    return np.stack([K @ column for K, column in zip(kernels, a.T, strict=True)], axis=1)


def _quadratic(state: LatentState, blocks: Sequence[Vector]) -> tuple[Vector, Vector]:
    """Return k_c'E_c (sum E)^-1 E_d k_d, shape (m, C, C), and k_c'E_c k_c, (m, C), for the m columns k_c of each block."""
    m, classes = blocks[0].shape[1], len(blocks)
    inner = np.empty((m, classes))
    V = np.empty((classes, *blocks[0].shape))
    for c, k in enumerate(blocks):
        half = state.factors[c].solve_lower(state.roots[:, c, None] * k)
        inner[:, c] = np.einsum("im,im->m", half, half)
        V[c] = state.total.solve_lower(state.apply(c, k))
    coupling = np.empty((m, classes, classes))
    for c in range(classes):
        for d in range(c + 1):
            coupling[:, c, d] = coupling[:, d, c] = np.einsum("im,im->m", V[c], V[d])
    return coupling, inner


class _Posterior:
    """The concave log posterior of latent values f = K a up to a constant: y'f - sum_i log sum_c exp(f_ic) - a'f / 2."""

    def __init__(self, kernels: Sequence[Vector], Y: Vector) -> None:
        self.kernels, self.Y = kernels, Y

    def value(self, a: Vector, f: Vector) -> float:
        return float(np.sum(f * (self.Y - 0.5 * a)) - special.logsumexp(f, axis=1).sum())

    def along(self, a: Vector, f: Vector, da: Vector, df: Vector, slope: float) -> float:
        """Return the step t for which a + t da has a slope much smaller than the given slope at t = 0.

        Where the slope is positive, the concave function is larger than at t = 0.
        """
        before = self.value(a, f)
        if slope <= 1e-9 * (1.0 + abs(before)):
            return 1.0  # the increase is below rounding error, where full Newton steps converge
        low, high, step = 0.0, np.inf, 1.0
        for _ in range(60):
            there = f + step * df
            left = float(np.sum(df * (self.Y - special.softmax(there, axis=1) - a - step * da)))
            if abs(left) <= FLAT * slope and (left >= 0 or self.value(a + step * da, there) >= before):
                return step
            if left > 0:
                low = step
            else:
                high = step
            step = 2.0 * step if high == np.inf else 0.5 * (low + high)
        return low


def multinomial_laplace(
    kernels: Sequence[ArrayLike], Y: ArrayLike, start: ArrayLike | None = None, gradient: bool = False
) -> Multinomial:
    """Approximate the posterior of a softmax classifier by a Gaussian at its mode, and its evidence.

    The likelihood is p(Y | f) = prod_i exp(f_i,y_i) / sum_c exp(f_ic), and the prior is independent Gaussian processes f_c of
    covariance K_c. The evidence is log Z = log p(Y | f^) - f^'K^-1 f^ / 2 - log det(I + K W) / 2 at the mode f^, where W is the
    curvature of -log p. Newton's method finds the mode by steps that never lower the posterior density, from any start and for
    any amplitude, in O(classes n^3) for each iteration and for the gradient.

    Parameters
    ----------
    kernels : list of array-like of shape (n, n)
        The kernel matrices K_c, positive semidefinite, one for each class; or a single one that all classes share.
    Y : array-like of shape (n, classes)
        One in the column of each point's class, zero elsewhere.
    start : array-like of shape (n, classes), optional
        Latent values to start near, such as the mode for similar kernels. By default, and if zero has a higher density, the
        iteration starts from zero.
    gradient : bool
        Whether to compute the adjoints.

    Returns
    -------
    approximation : Multinomial

    Warns
    -----
    ConvergenceWarning
        If the mode is not found in 200 iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.classification.multinomial import class_probabilities, multinomial_laplace
    >>> from kernsel.kernels import RBF
    >>> X, Y, k = np.array([[0.0], [1.0], [2.0]]), np.eye(3), 4.0 * RBF(0.5)
    >>> found = multinomial_laplace([k(X)], Y)
    >>> mean, covariance = found.latent([k(X, X[:1])], [k.diag(X[:1])])
    >>> class_probabilities(mean, covariance).round(2)
    array([[0.58, 0.22, 0.2 ]])
    """
    targets, matrices = _checked(kernels, Y)
    posterior = _Posterior(matrices, targets)
    a = np.zeros_like(targets)
    f = np.zeros_like(targets)
    if start is not None:
        a, f = _near(posterior, np.asarray(start, dtype=np.float64))
    values: list[float] = []
    before, converged, state = np.inf, False, LatentState(matrices, f)
    for iteration in range(MAX_ITERATIONS):
        if iteration:
            state = LatentState(matrices, f)
        values.append(posterior.value(a, f))
        residual = targets - state.p - a  # K^-1 times the gradient with respect to a
        da = state.backward(matrices, residual)
        df = _times(matrices, da)
        decrement = float(np.sum(residual * df))
        converged = decrement <= CONVERGED or (before < STALLED and decrement > 0.25 * before)
        if converged:
            break
        before = decrement
        a = a + posterior.along(a, f, da, df, decrement) * da
        f = _times(matrices, a)
    else:
        warnings.warn(
            f"Newton's method has not converged in {MAX_ITERATIONS} iterations: the square of the distance to the mode is "
            f"{before:.3g} posterior standard deviations",
            ConvergenceWarning,
            stacklevel=2,
        )
        state = LatentState(matrices, f)
    evidence = posterior.value(a, f) - state.half_log_determinant()
    adjoints = _adjoints(matrices, a, state, len(kernels) == 1) if gradient else None
    return Multinomial(f, a, evidence, adjoints, len(values), values, converged, state)


def _near(posterior: _Posterior, start: Vector) -> tuple[Vector, Vector]:
    """Return the weights and latent values after a full Newton step from `start`, or zeros if these have a higher density."""
    kernels, Y = posterior.kernels, posterior.Y
    if start.shape != Y.shape or not np.isfinite(start).all():
        raise ValueError(f"start: expected finite numbers of shape {Y.shape}, got shape {start.shape}")
    zero = np.zeros_like(Y)
    state = LatentState(kernels, start)
    curved = state.p * (start - np.sum(state.p * start, axis=1, keepdims=True))  # W f
    a = state.backward(kernels, curved + Y - state.p)
    f = _times(kernels, a)
    return (a, f) if posterior.value(a, f) >= posterior.value(zero, zero) else (zero, zero)


def _adjoints(kernels: Sequence[Vector], a: Vector, state: LatentState, shared: bool) -> list[Vector]:
    """Return d log Z / dK_c, the sum of two terms.

    For a fixed mode it is a_c a_c' / 2 - [(K + W^-1)^-1]_cc / 2. The mode f = K (Y - p) changes by (I + K W)^-1 dK a, which
    adds sym(w_c a_c') with w = (I + W K)^-1 s, where s is the derivative of log Z with respect to f.
    """
    classes = a.shape[1]
    coupling, inner = _quadratic(state, kernels)
    posterior = coupling  # the covariance of each point's latent values
    prior = np.stack([np.diag(K) for K in kernels], axis=1)
    np.einsum("icc->ic", posterior)[...] += np.maximum(prior - inner, 0.0)
    p = state.p
    along = np.einsum("icd,id->ic", posterior, p)
    own = np.einsum("icc->ic", posterior)
    # -1/2 tr(S dW/df_c) at each point is -p_c traces_c / 2, where W = diag(p) - p p' and dp_d/df_c = p_d (delta_dc - p_c).
    traces = own - np.sum(p * own, axis=1, keepdims=True) - 2 * (along - np.sum(p * along, axis=1, keepdims=True))
    w = state.backward(kernels, -0.5 * p * traces)
    adjoints: list[Vector] = []
    for c in range(classes):
        E = state.block(c)
        V = state.total.solve_lower(E)
        adjoint = 0.5 * (V.T @ V - E)
        adjoint += np.outer(0.5 * a[:, c] + w[:, c], a[:, c])
        if shared and adjoints:
            adjoints[0] += adjoint
        else:
            adjoints.append(adjoint)
    return [0.5 * (adjoint + adjoint.T) for adjoint in adjoints]


def _for_each_class(arrays: Sequence[ArrayLike], classes: int, name: str) -> list[Vector]:
    """Return one array for each class, the same one if all share it."""
    if len(arrays) not in (1, classes):
        raise ValueError(f"{name}: expected one for each of {classes} classes, or one that all share, got {len(arrays)}")
    found = [np.asarray(array, dtype=np.float64) for array in arrays]
    return found * classes if len(found) == 1 else found


def _checked(kernels: Sequence[ArrayLike], Y: ArrayLike) -> tuple[Vector, list[Vector]]:
    targets = np.asarray(Y, dtype=np.float64)
    if targets.ndim != 2 or targets.shape[1] < 2 or not len(targets):
        raise ValueError(f"Y: expected shape (n, at least 2 classes), got {targets.shape}")
    if not (((targets == 0) | (targets == 1)).all() and (targets.sum(axis=1) == 1).all()):
        raise ValueError("Y: expected a one in each row and zeros otherwise")
    n, classes = targets.shape
    matrices = _for_each_class(kernels, classes, "kernels")
    for K in matrices:
        if K.shape != (n, n) or not np.isfinite(K).all():
            raise ValueError(f"kernels: expected matrices of finite numbers, of shape {(n, n)}, got shape {K.shape}")
    return targets, matrices
