"""More than two classes: a process for each class or pair of classes, or one latent process for each with a common softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import kernels as sk
from sklearn.utils.parallel import Parallel, delayed

from kernsel._base.annotations import Vector
from kernsel._data.points import blocks
from kernsel._search import generator_of
from kernsel.estimators.classification.binary import BinaryProcess, Settings
from kernsel.estimators.classification.multinomial import Multinomial, class_probabilities, multinomial_laplace
from kernsel.estimators.classification.search import Choice, Outcome, choose_kernel
from kernsel.kernels import Kernel

__all__ = ["KernelsOfProcesses", "MultinomialProcess", "OneAgainstAnother", "OneAgainstRest", "coupled"]

Codes = NDArray[np.intp]


class KernelsOfProcesses(sk.CompoundKernel):  # type: ignore[misc]
    """scikit-learn's CompoundKernel, whose text shows the kernels instead of the logarithms of their hyperparameters."""

    def __repr__(self) -> str:
        return f"CompoundKernel([{', '.join(str(kernel) for kernel in self.kernels)}])"


def _fitted(
    problems: Sequence[tuple[Vector, Vector, Codes | None]],
    settings: Settings,
    n_jobs: int | None,
    make: Callable[..., BinaryProcess],
) -> list[BinaryProcess]:
    """Fit a process to each problem (points, labels and groups), in `n_jobs` threads; raise if one fit is interrupted."""

    def whole(X: Vector, y: Vector, own: Settings) -> BinaryProcess:
        process = make(X, y, own)
        if process.choice_.interrupt is not None:
            raise process.choice_.interrupt
        return process

    seeds: list[int | None] = [None] * len(problems)
    if settings.random_state is not None:
        seeds = generator_of(settings.random_state).integers(2**31 - 1, size=len(problems)).tolist()
    if n_jobs is not None and settings.budget.progress is not None:
        settings = replace(settings, budget=replace(settings.budget, progress=None))
    tasks = (
        delayed(whole)(X, y, replace(settings, random_state=seed, groups=groups))
        for (X, y, groups), seed in zip(problems, seeds, strict=True)
    )
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(tasks))


class OneAgainstRest:
    """A binary process for each class, of its points against all others; the probabilities are normalized."""

    def __init__(self, X: Vector, codes: Codes, classes: int, settings: Settings, n_jobs: int | None) -> None:
        problems = [(X, np.where(codes == c, 1.0, -1.0), settings.groups) for c in range(classes)]
        self.estimators_ = _fitted(problems, settings, n_jobs, BinaryProcess)

    def probability(self, Z: Vector) -> Vector:
        """Return the probabilities of all classes, shape (m, classes)."""
        each = np.column_stack([process.probability(Z) for process in self.estimators_])
        total = each.sum(axis=1, keepdims=True)
        # If all probabilities underflow to zero, all classes get the same probability.
        return np.where(total > 0, each / np.where(total > 0, total, 1.0), 1 / each.shape[1])


class OneAgainstAnother:
    """A binary process for each pair of classes; the probabilities of pairs are coupled to one probability for each class."""

    def __init__(self, X: Vector, codes: Codes, classes: int, settings: Settings, n_jobs: int | None) -> None:
        self.pairs = list(combinations(range(classes), 2))
        self.classes = classes
        problems: list[tuple[Vector, Vector, Codes | None]] = []
        for first, second in self.pairs:
            rows = (codes == first) | (codes == second)
            groups = None if settings.groups is None else settings.groups[rows]
            problems.append((X[rows], np.where(codes[rows] == second, 1.0, -1.0), groups))
        self.estimators_ = _fitted(problems, settings, n_jobs, BinaryProcess)

    def probability(self, Z: Vector) -> Vector:
        """Return the probabilities of all classes, shape (m, classes)."""
        R = np.zeros((len(Z), self.classes, self.classes))
        for (first, second), process in zip(self.pairs, self.estimators_, strict=True):
            R[:, second, first] = process.probability(Z)
            R[:, first, second] = 1 - R[:, second, first]
        return coupled(R)


def coupled(R: Vector) -> Vector:
    """Return the probabilities p of classes that agree best with those of pairs (Wu, Lin and Weng 2004).

    They minimize sum_ij (R_ji p_i - R_ij p_j)^2 with sum p = 1, and are positive.

    Parameters
    ----------
    R : ndarray of shape (m, classes, classes)
        R_ij is the probability of class i given that the class is i or j; the diagonal is not used.

    Returns
    -------
    p : ndarray of shape (m, classes)

    Examples
    --------
    >>> import numpy as np
    >>> from kernsel.estimators.classification.several import coupled
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> coupled((p[:, None] / (p[:, None] + p))[None]).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    m, classes, _ = R.shape
    R = np.array(R)
    R[:, np.arange(classes), np.arange(classes)] = 0.0
    Q = -R * np.swapaxes(R, 1, 2)
    Q[:, np.arange(classes), np.arange(classes)] = (R**2).sum(axis=1)
    system = np.zeros((m, classes + 1, classes + 1))
    system[:, :classes, :classes] = Q
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    right = np.zeros((m, classes + 1, 1))
    right[:, classes] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :classes, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


class SoftmaxModel:
    """Labels of several classes with a softmax likelihood, by whose evidence the common kernel of all classes is chosen."""

    def __init__(self, Y: Vector) -> None:
        self.Y = Y

    def some(self, rows: NDArray[np.intp]) -> SoftmaxModel:
        """Return the model of the points with these indices."""
        return SoftmaxModel(self.Y[rows])

    def evaluate(self, K: Vector, mode: Vector | None, gradient: bool) -> Outcome:
        """Return the log evidence for a kernel matrix, its derivative with respect to the matrix, and the mode."""
        found = multinomial_laplace([K], self.Y, start=mode, gradient=gradient)
        return Outcome(found.log_evidence, found.adjoints[0] if found.adjoints else None, found.mode)


class MultinomialProcess:
    """A latent process for each class, all with one kernel and a softmax likelihood, by Laplace's approximation."""

    def __init__(self, X: Vector, codes: Codes, classes: int, settings: Settings) -> None:
        self.X_train_ = X
        self.model = SoftmaxModel(np.eye(classes)[codes])
        self.choice_: Choice = choose_kernel(
            settings.kernel,
            X,
            self.model.Y,
            self.model,
            names=settings.names,
            optimizer=settings.optimizer,
            n_restarts=settings.n_restarts,
            random_state=settings.random_state,
            budget=settings.budget,
        )
        self.kernel_: Kernel = self.choice_.kernel
        self.posterior: Multinomial = multinomial_laplace([np.asarray(self.kernel_(X))], self.model.Y, start=self.choice_.mode)
        self.choice_ = replace(self.choice_, mode=None)
        self.log_marginal_likelihood_value_ = np.float64(self.posterior.log_evidence)

    def log_marginal_likelihood(
        self, theta: Vector, eval_gradient: bool = False, *, clone_kernel: bool = True, warm_start: bool = False
    ) -> np.float64 | tuple[np.float64, Vector]:
        """Return the approximate log evidence for the hyperparameters theta, and its gradient if asked for."""
        kernel = self.kernel_.clone_with_theta(theta)
        if not clone_kernel:
            self.kernel_ = kernel
        try:
            found = self.model.evaluate(
                np.asarray(kernel(self.X_train_)), self.posterior.mode if warm_start else None, eval_gradient
            )
        except np.linalg.LinAlgError:
            return (np.float64(-np.inf), np.zeros(kernel.n_dims)) if eval_gradient else np.float64(-np.inf)
        value = np.float64(found.value)
        return (value, kernel.pullback(self.X_train_, found.adjoint)) if found.adjoint is not None else value

    def _moments(self, Z: Vector) -> Iterator[tuple[slice, Vector, Vector]]:
        """Yield blocks of points with the means, shape (m, classes), and covariances of all latent values."""
        prior = np.asarray(self.kernel_.diag(Z))
        for block in blocks(len(self.X_train_) * self.posterior.mode.shape[1], len(Z)):
            cross = np.asarray(self.kernel_(self.X_train_, Z[block]))
            yield block, *self.posterior.latent([cross], [prior[block]])

    def mean(self, Z: Vector) -> Vector:
        """Return the means of all latent values, shape (m, classes)."""
        return np.asarray(self.kernel_.matmul(Z, self.X_train_, self.posterior.weights))

    def mean_and_variance(self, Z: Vector) -> tuple[Vector, Vector]:
        """Return the means and the variances of all latent values, shape (m, classes)."""
        mean, variance = (np.empty((len(Z), self.posterior.mode.shape[1])) for _ in range(2))
        for block, means, covariances in self._moments(Z):
            mean[block] = means
            variance[block] = np.einsum("mcc->mc", covariances)
        return mean, np.maximum(variance, 0.0)

    def probability(self, Z: Vector) -> Vector:
        """Return the probabilities of all classes, shape (m, classes)."""
        probability = np.empty((len(Z), self.posterior.mode.shape[1]))
        for block, means, covariances in self._moments(Z):
            probability[block] = class_probabilities(means, covariances)
        return probability
