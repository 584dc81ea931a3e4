"""The state of a fitted Gaussian process, from which an equal one can be made."""

from __future__ import annotations

from dataclasses import dataclass

from kernsel._base.annotations import Indices, Vector
from kernsel._search import Selection
from kernsel._solve.posterior import Posterior
from kernsel.estimators.observed_process import ObservedProcess
from kernsel.estimators.sampled_process import SampledProcess
from kernsel.kernels import Kernel

__all__ = ["ProcessState"]


@dataclass(frozen=True)
class ProcessState:
    """The state of a fitted process. All fitted attributes follow from it and from the constructor parameters.

    Attributes
    ----------
    posterior : Posterior
    kernel : Kernel
        The attribute `kernel_`, which differs from the posterior's kernel after
        ``log_marginal_likelihood(theta, clone_kernel=False)``.
    selection : Selection
    criterion_value : float or None
        The attribute `criterion_value_`; None if it is evaluated on first access.
    noise : float or ndarray of shape (n,)
        The attribute `noise_`.
    alpha : ndarray of shape () or (n,)
        The numbers that the parameter `alpha` adds to the diagonal of the kernel matrix.
    jitter : float
        The attribute `jitter_`.
    outliers : ndarray of int
        The attribute `outliers_`.
    offset, factor : ndarray of shape (n_targets,)
        y = offset + factor t, where t are the targets of the posterior.
    one_output : bool
        Whether predictions are arrays of one dimension.
    restricted : bool
        Whether the criterion is a restricted likelihood.
    groups : ndarray of int of shape (n,) or None
        The groups that `fit` was told.
    observed : ObservedProcess or None
        The observations, if their likelihood is not the normal one: the posterior is then that of the latent function.
    sampled : SampledProcess or None
        The draws from which predictions are made, if there are any.
    """

    posterior: Posterior
    kernel: Kernel
    selection: Selection
    criterion_value: float | None
    noise: float | Vector
    alpha: Vector
    jitter: float
    outliers: Indices
    offset: Vector
    factor: Vector
    one_output: bool
    restricted: bool
    groups: Indices | None = None
    observed: ObservedProcess | None = None
    sampled: SampledProcess | None = None
