"""Two classes: one latent process, whose kernel is chosen and whose posterior is approximated or sampled."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kernsel import _core
from kernsel._base.annotations import Indices, Seed, Vector
from kernsel._search import Budget, Selection, generator_of
from kernsel._search.observations import choose_with_likelihood
from kernsel._search.own_optimizer import Optimizer
from kernsel.criteria import Criterion, Likelihood
from kernsel.estimators.classification.labels_out import LabelsOut
from kernsel.estimators.classification.latent import SampledLatent, safe_factor
from kernsel.estimators.classification.links import Link
from kernsel.estimators.classification.sampling import Samples, sample_latent
from kernsel.estimators.classification.search import Choice, remarks_on, require_bounds_for, some_of_each
from kernsel.estimators.observed_process import ObservedProcess, conditioned_on
from kernsel.estimators.process_sampling import Sampling, sample_observed
from kernsel.estimators.sampled_process import SampledProcess
from kernsel.kernels import Kernel
from kernsel.kernels.automatic import Data
from kernsel.likelihoods.observations import Observations

__all__ = ["BinaryProcess", "Settings", "approximated", "observations_of"]

_KEPT = 300  # with more points, an interrupted search returns no result, since the fit would take seconds


@dataclass(frozen=True)
class Settings:
    """The checked parameters of the estimator by which a process is chosen and approximated."""

    kernel: Kernel
    link: Link
    inference: str
    criterion: str
    optimizer: str | Optimizer | None
    n_restarts: int
    n_samples: int
    n_burn: int
    n_chains: int
    names: list[str] | None
    random_state: Seed
    hyperparameters: str = "optimize"
    groups: Indices | None = None
    budget: Budget = field(default_factory=Budget)


def observations_of(signs: Vector, link: Link, inference: str) -> Observations:
    """Return labels, -1 or 1, as observations; if their posterior is to be sampled, by Laplace's approximation."""
    return Observations(link.likelihood(), (signs > 0).astype(np.float64), None, "ep" if inference == "ep" else "laplace")


def approximated(kernel: Kernel, X: Vector, observations: Observations) -> ObservedProcess:
    """Return the approximate posterior of the latent process for a kernel without "auto" parameters."""
    given = Selection(kernel=kernel, noise=np.nan, jitter=0.0, criterion=Likelihood(), value=np.nan)
    return conditioned_on(given, X, observations, 0.0, None, None).process


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
    process_ : ObservedProcess
        The latent process given the labels, by a normal approximation.
    sampled_ : SampledLatent, SampledProcess or None
        The same by draws of the latent values, or of these together with the hyperparameters.
    samples_ : Samples or None
        The draws of the latent values alone.
    log_marginal_likelihood_value_ : float
        That of the normal approximation; nan if the posterior was sampled, from which it does not follow.
    """

    def __init__(self, X: Vector, y: Vector, settings: Settings) -> None:
        self.link = settings.link
        self.criterion = settings.criterion
        self.groups = settings.groups
        self.X_train_ = X
        self.y_train_ = y
        observations = observations_of(y, settings.link, settings.inference)
        self.choice_ = _chosen(X, observations, settings)
        self.kernel_: Kernel = self.choice_.kernel
        self.process_ = approximated(self.kernel_, X, observations)
        self.log_marginal_likelihood_value_ = np.float64(np.nan if settings.inference == "mcmc" else self.process_.value)
        self.samples_: Samples | None = None
        self.sampled_: SampledLatent | SampledProcess | None = None
        if settings.inference == "mcmc":
            if self.choice_.interrupt is not None:  # sampling would take as long again
                raise self.choice_.interrupt
            self._sample_all(settings) if settings.hyperparameters == "sample" else self._sample(settings)

    def _sample_all(self, settings: Settings) -> None:
        """Draw from the posterior of the hyperparameters and the latent values together."""
        observations = observations_of(self.y_train_, self.link, "ep")
        found = Selection(self.kernel_, np.nan, 0.0, Likelihood(), np.nan, likelihood=observations.likelihood)
        how = Sampling(
            hyperparameters=True,
            latent=True,
            n_draws=None,
            rng=generator_of(0 if settings.random_state is None else settings.random_state),
            shrinkage="auto",
            names=settings.names,
            chains=settings.n_chains,
            each=settings.n_samples,
            burn=settings.n_burn,
        )
        start = approximated(self.kernel_, self.X_train_, observations)
        self.sampled_ = sample_observed(
            settings.kernel, self.X_train_, observations, found, start, noise=0.0, trend=None, how=how
        )

    def of_chains(self, name: str) -> Vector:
        """Return the effective sample size, or R-hat, of each latent value."""
        if isinstance(self.sampled_, SampledProcess):
            return np.asarray(getattr(self.sampled_.drawn, f"latent_{name}"))
        return np.asarray(getattr(self.samples_, name))

    def _sample(self, settings: Settings) -> None:
        """Draw from the posterior of the latent values."""
        factor = safe_factor(np.asarray(self.kernel_(self.X_train_)))
        # Sites of expectation propagation are closer to the posterior than Laplace's: chains mix several times as fast.
        sites = approximated(self.kernel_, self.X_train_, observations_of(self.y_train_, self.link, "ep")).posterior
        self.samples_ = sample_latent(
            factor.lower(),
            self.y_train_,
            self.link,
            n_samples=settings.n_samples,
            n_burn=settings.n_burn,
            n_chains=settings.n_chains,
            rng=generator_of(0 if settings.random_state is None else settings.random_state),
            sites=(1.0 / sites.noise, sites.y[:, 0] / sites.noise),
        )
        self.sampled_ = SampledLatent(self.kernel_, self.X_train_, factor, self.samples_.f)

    _last: _core.Observed | None = None  # the last inference for other hyperparameters

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_last"}

    def log_marginal_likelihood(
        self, theta: Vector, eval_gradient: bool = False, *, clone_kernel: bool = True, warm_start: bool = False
    ) -> np.float64 | tuple[np.float64, Vector]:
        """Return the approximate log evidence for the hyperparameters theta, and its gradient if asked for.

        If the kernel matrix is not positive semidefinite, these are minus infinity and zeros.
        """
        kernel = self.kernel_.clone_with_theta(theta)
        if not clone_kernel:
            self.kernel_ = kernel
        if self._last is None or not warm_start:
            self._last = self.process_.observations.core()
        found: np.float64 | tuple[np.float64, Vector] = self.process_.evidence_at(kernel, 0.0, eval_gradient, self._last)
        return found

    def loo_log_probability(self) -> Vector:
        """Return the log probability of each label, predicted from all other points or groups; shape (n,)."""
        # Equal rows are independent labels, and are not left out together.
        return self.process_.left_out(np.arange(len(self.X_train_)) if self.groups is None else self.groups)[2]

    def mean(self, Z: Vector) -> Vector:
        """Return the mean of the latent process at points Z, shape (m,)."""
        if isinstance(self.sampled_, SampledProcess):
            return self.sampled_.latent(Z)[0]
        return self.process_.posterior.mean(Z)[:, 0] if self.sampled_ is None else self.sampled_.mean(Z)

    def mean_and_variance(self, Z: Vector) -> tuple[Vector, Vector]:
        """Return the mean and the variance of the latent process at points Z, shape (m,)."""
        if isinstance(self.sampled_, SampledProcess):
            return self.sampled_.latent(Z)
        return self.process_.latent(Z) if self.sampled_ is None else (self.sampled_.mean(Z), self.sampled_.variance(Z))

    def probability(self, Z: Vector) -> Vector:
        """Return the probability of the label 1 at points Z, shape (m,)."""
        if isinstance(self.sampled_, SampledProcess):
            return self.sampled_.observed(Z, None, None)[0]
        if self.sampled_ is not None:
            return self.sampled_.probability(Z, self.link)
        return self.link.probability(*self.process_.latent(Z))


def _chosen(X: Vector, observations: Observations, settings: Settings) -> Choice:
    """Find the hyperparameters for which the criterion is largest."""
    remarks = remarks_on(X, observations.y, settings.groups)
    resolved = settings.kernel.resolve(Data(X, observations.rough, None, settings.names)).on_points(X)[0]
    if settings.optimizer is None or not resolved.n_dims:
        return Choice(resolved, remarks=remarks)
    require_bounds_for(settings.n_restarts, resolved.bounds)
    criterion: Criterion = Likelihood() if settings.criterion == "lml" else LabelsOut(settings.groups)
    seed = 0 if settings.random_state is None else settings.random_state
    selection, _ = choose_with_likelihood(
        criterion,
        settings.kernel,
        X,
        observations,
        jitter=0.0,
        names=settings.names,
        optimizer="l-bfgs-b" if settings.optimizer == "fmin_l_bfgs_b" else settings.optimizer,
        n_restarts=settings.n_restarts,
        random_state=settings.random_state,
        budget=settings.budget,
        subset=partial(some_of_each, observations.y, rng=generator_of(seed)),
    )
    if selection.interrupt is not None and len(X) > _KEPT:
        raise selection.interrupt
    return Choice(
        kernel=selection.kernel,
        n_evaluations=selection.n_evaluations,
        n_evaluations_subset=selection.n_evaluations_subset,
        of_starts=selection.of_starts,
        at_bounds=selection.at_bounds,
        ended=selection.ended,
        seconds=selection.seconds,
        interrupt=selection.interrupt,
        remarks=remarks,
    )
