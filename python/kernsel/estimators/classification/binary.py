"""Two classes: one latent process, whose kernel is chosen and whose posterior is approximated or sampled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernsel._base.annotations import Indices, Seed, Vector
from kernsel._search import Budget, generator_of
from kernsel._search.own_optimizer import Optimizer
from kernsel.estimators.classification.expectation_propagation import ExpectationPropagation, expectation_propagation
from kernsel.estimators.classification.laplace import Laplace, laplace
from kernsel.estimators.classification.latent import GaussianLatent, SampledLatent, safe_factor
from kernsel.estimators.classification.links import Link
from kernsel.estimators.classification.sampling import Samples, sample_latent
from kernsel.estimators.classification.search import Choice, Outcome, choose_kernel
from kernsel.kernels import Kernel

__all__ = ["BinaryModel", "BinaryProcess", "Settings"]

# The start of an iteration for a posterior: the posterior for a similar kernel matrix, or latent values.
Start = Laplace | ExpectationPropagation | Vector


@dataclass(frozen=True)
class Settings:
    """The checked parameters of the estimator by which a process is chosen and approximated."""

    kernel: Kernel
    link: Link
    inference: str
    criterion: str
    optimizer: str | Optimizer | None
    n_restarts: int
    max_iterations: int
    n_samples: int
    n_burn: int
    n_chains: int
    names: list[str] | None
    random_state: Seed
    groups: Indices | None = None
    budget: Budget = field(default_factory=Budget)


class BinaryModel:
    """Labels of two classes with a link, an approximation and a criterion, by which a kernel is chosen.

    `groups` has the number of the group with which each point is left out; None if each is left out alone.
    """

    def __init__(
        self, y: Vector, link: Link, inference: str, criterion: str, max_iterations: int, groups: Indices | None = None
    ) -> None:
        self.y = y
        self.link = link
        self.inference = inference
        self.criterion = criterion
        self.max_iterations = max_iterations
        self.groups = groups
        self.rows_of_groups = None if groups is None else [np.flatnonzero(groups == number) for number in np.unique(groups)]
        self.space: Vector | None = None

    def some(self, rows: NDArray[np.intp]) -> BinaryModel:
        """Return the model of the points with these indices."""
        groups = None if self.groups is None else self.groups[rows]
        return BinaryModel(self.y[rows], self.link, self.inference, self.criterion, self.max_iterations, groups)

    def carried(self, state: Start, cross: Vector) -> Start | None:
        """Return latent values at all points to start from, by the posterior at some of them; None if there are only sites."""
        return None if self.inference == "ep" or isinstance(state, np.ndarray) else cross @ state.weights

    def posterior(
        self, K: Vector, start: Start | None = None, *, tolerance: float = 1e-8, quiet: bool = False
    ) -> Laplace | ExpectationPropagation:
        """Return the approximate posterior for a kernel matrix; Laplace's approximation if the posterior is to be sampled."""
        if self.inference == "ep":
            sites = None if isinstance(start, np.ndarray) else start
            return expectation_propagation(
                K, self.y, self.link, start=sites, space=self.space, tolerance=tolerance, quiet=quiet
            )
        return laplace(K, self.y, self.link, start=start, max_iterations=self.max_iterations, space=self.space)

    def evaluate(self, K: Vector, state: Start | None, gradient: bool) -> Outcome[Start]:
        """Return the criterion for a kernel matrix, its derivative with respect to the matrix, and the posterior."""
        if self.space is None:
            self.space = np.empty_like(K)
        # Leave-one-out probabilities need sites of a smaller tolerance than the evidence, which is stationary in the sites.
        posterior = self.posterior(K, state, tolerance=1e-5 if self.criterion == "lml" else 1e-8, quiet=True)
        adjoint = None
        if self.criterion == "lml":
            value = posterior.log_evidence
            if gradient:
                adjoint = posterior.evidence_adjoint()
        else:
            value = float(posterior.loo_log_probability(self.rows_of_groups).sum())
            if gradient and self.rows_of_groups is None:
                adjoint = posterior.loo_adjoint()
            elif gradient and self.rows_of_groups is not None:
                assert isinstance(posterior, Laplace)  # as `fit` requires
                adjoint = posterior.groups_adjoint(self.rows_of_groups)
        posterior.forget()
        return Outcome(value, adjoint, posterior)


class BinaryProcess:
    """A fitted latent process for two classes.

    Attributes
    ----------
    kernel_ : Kernel
    X_train_ : ndarray of shape (n, d)
    y_train_ : ndarray of shape (n,)
        The labels, -1 or 1.
    choice_ : Choice
        The report of the search.
    latent_ : GaussianLatent or SampledLatent
    samples_ : Samples or None
    log_marginal_likelihood_value_ : float
    """

    def __init__(self, X: Vector, y: Vector, settings: Settings) -> None:
        self.link = settings.link
        self.X_train_ = X
        self.y_train_ = y
        self.model = BinaryModel(
            y, settings.link, settings.inference, settings.criterion, settings.max_iterations, settings.groups
        )
        self.choice_: Choice = choose_kernel(
            settings.kernel,
            X,
            y,
            self.model,
            names=settings.names,
            optimizer=settings.optimizer,
            n_restarts=settings.n_restarts,
            random_state=settings.random_state,
            budget=settings.budget,
        )
        self.kernel_: Kernel = self.choice_.kernel
        found = self.choice_.state
        posterior: Laplace | ExpectationPropagation
        if self.choice_.solved and isinstance(found, Laplace):
            posterior = found
        else:  # the search may stop at a larger tolerance, or at another kernel
            start = found if isinstance(found, Laplace | ExpectationPropagation) else None
            posterior = self.model.posterior(np.asarray(self.kernel_(X)), start)
        self.choice_ = replace(self.choice_, state=None)
        self.model.space = None
        self.mode = posterior.mean
        self.log_marginal_likelihood_value_ = np.float64(posterior.log_evidence)
        self.samples_: Samples | None = None
        self.latent_: GaussianLatent | SampledLatent
        if settings.inference == "mcmc":
            if self.choice_.interrupt is not None:  # sampling would take as long again
                raise self.choice_.interrupt
            K = np.asarray(self.kernel_(X))
            factor = safe_factor(K)
            # Sites of expectation propagation are closer to the posterior than Laplace's: chains mix several times as fast.
            closer = expectation_propagation(K, y, settings.link, start=posterior, quiet=True)
            self.samples_ = sample_latent(
                factor.lower(),
                y,
                settings.link,
                n_samples=settings.n_samples,
                n_burn=settings.n_burn,
                n_chains=settings.n_chains,
                rng=generator_of(0 if settings.random_state is None else settings.random_state),
                sites=(closer.precision, closer.shift),
            )
            self.latent_ = SampledLatent(self.kernel_, X, factor, self.samples_.f)
        else:
            self.latent_ = GaussianLatent(self.kernel_, X, posterior.weights, posterior.root, posterior.factor)

    def log_marginal_likelihood(
        self, theta: Vector, eval_gradient: bool = False, *, clone_kernel: bool = True, warm_start: bool = False
    ) -> np.float64 | tuple[np.float64, Vector]:
        """Return the approximate log evidence for the hyperparameters theta, and its gradient if asked for.

        If the kernel matrix is not positive semidefinite, these are minus infinity and zeros.
        """
        kernel = self.kernel_.clone_with_theta(theta)
        if not clone_kernel:
            self.kernel_ = kernel
        start = self.mode if warm_start and self.model.inference != "ep" else None
        try:
            posterior = self.model.posterior(np.asarray(kernel(self.X_train_)), start)
        except np.linalg.LinAlgError:
            return (np.float64(-np.inf), np.zeros(kernel.n_dims)) if eval_gradient else np.float64(-np.inf)
        if warm_start:
            self.mode = posterior.mean
        value = np.float64(posterior.log_evidence)
        if not eval_gradient:
            return value
        adjoint = posterior.evidence_adjoint()
        return value, kernel.pullback(self.X_train_, adjoint)

    def loo_log_probability(self) -> Vector:
        """Return the log probability of each label, predicted from all other points or groups; shape (n,)."""
        K = np.asarray(self.kernel_(self.X_train_))
        posterior = self.model.posterior(K, None if self.model.inference == "ep" else self.mode)
        return posterior.loo_log_probability(self.model.rows_of_groups)

    def mean(self, Z: Vector) -> Vector:
        """Return the mean of the latent process at points Z, shape (m,)."""
        return self.latent_.mean(Z)

    def mean_and_variance(self, Z: Vector) -> tuple[Vector, Vector]:
        """Return the mean and the variance of the latent process at points Z, shape (m,)."""
        return self.latent_.mean(Z), self.latent_.variance(Z)

    def probability(self, Z: Vector) -> Vector:
        """Return the probability of the label 1 at points Z, shape (m,)."""
        return self.latent_.probability(Z, self.link)
