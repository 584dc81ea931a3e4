"""Saving and loading of the draws that a Gaussian process predicts from."""

from __future__ import annotations

import numpy as np

from kernsel._base.annotations import Matrix
from kernsel._base.memory import require_memory
from kernsel._data.trend import Trend
from kernsel._sample.diagnostics import effective_sample_size, r_hat
from kernsel._solve.posterior import Posterior
from kernsel.estimators.sampled_process import Drawn, Member, SampledProcess
from kernsel.likelihoods import Likelihood
from kernsel.saving.fields import Fields, Writing

__all__ = ["read_sampled", "write_sampled"]

_MOST_MEMBERS = 100_000


def write_sampled(sampled: SampledProcess, to: Writing, *, with_likelihood: bool = True) -> None:
    """Write the draws, and what each process was conditioned on: factorizations are computed again when it is loaded.

    Parameters
    ----------
    sampled : SampledProcess
    to : Writing
    with_likelihood : bool
        False if all have one that is known when they are loaded.
    """
    drawn = sampled.drawn
    to.json["names"] = list(drawn.values)
    if drawn.values:
        to.array("draws", np.stack(list(drawn.values.values()), axis=2))
    if drawn.latent_r_hat is not None and drawn.latent_effective_sample_size is not None:
        to.array("latent_r_hat", drawn.latent_r_hat)
        to.array("latent_effective_sample_size", drawn.latent_effective_sample_size)
    to.values(sampled, "offset", "factor")
    for member, part in zip(sampled.members, to.parts("members", len(sampled.members)), strict=True):
        part.kernel("kernel", member.posterior.kernel)
        part.array("targets", member.posterior.y)
        part.array("diagonal", member.posterior.noise)
        part.values(member, "noise", "jitter")
        if with_likelihood:
            part.values(member, "likelihood")


def read_sampled(given: Fields, X: Matrix, trend: Trend, likelihood: Likelihood | None = None) -> SampledProcess:
    """Read draws, and condition a process for each.

    Parameters
    ----------
    given : Fields
    X : ndarray of shape (n, d)
        The training points.
    trend : Trend
    likelihood : Likelihood, optional
        That of all processes, if none was written with them.
    """
    with given:
        n = len(X)
        names = given.texts("names")
        if len(set(names)) != len(names):
            raise ValueError(f"{given.prefix}names: expected different ones, got {names!r:.200}")
        values = given.array("draws", None, None, len(names)) if names else np.zeros((1, 4, 0))
        if names and (values.shape[0] < 1 or values.shape[1] < 4):
            raise ValueError(f"{given.prefix}draws: expected chains of 4 draws at least, got shape {values.shape}")
        columns = [np.ascontiguousarray(values[..., k]) for k in range(len(names))]
        hats, sizes = r_hat(values).tolist(), effective_sample_size(values).tolist()
        latent_hat = latent_size = None
        if given.has("latent_r_hat"):
            latent_hat = given.array("latent_r_hat", n, finite=False)
            latent_size = given.array("latent_effective_sample_size", n)
        drawn = Drawn(
            dict(zip(names, columns, strict=True)),
            dict(zip(names, hats, strict=True)),
            dict(zip(names, sizes, strict=True)),
            latent_hat,
            latent_size,
        )
        offset, factor = given.number("offset"), given.number("factor", np.finfo(np.float64).tiny)
        parts = given.parts("members", _MOST_MEMBERS)
        if not parts:
            raise ValueError(f"{given.prefix}members: expected one at least")
        require_memory(4 * n * (n + 1) * len(parts), f"{len(parts)} draws of {n} points need")
        members = tuple(_read_member(part, X, trend, likelihood) for part in parts)
        if len({member.likelihood is None for member in members}) > 1:
            raise ValueError(f"{given.prefix}members: expected all with a likelihood, or none")
        return SampledProcess(members, drawn, offset, factor)


def _read_member(given: Fields, X: Matrix, trend: Trend, known: Likelihood | None) -> Member:
    with given:
        n = len(X)
        kernel = given.kernel("kernel")
        targets = given.array("targets", n, None)
        if not targets.size:
            raise ValueError(f"{given.prefix}targets: expected columns, got shape {targets.shape}")
        diagonal = given.array("diagonal", n, least=0.0)
        likelihood = given.value("likelihood") if known is None else known
        if likelihood is not None and not isinstance(likelihood, Likelihood):
            raise ValueError(f"{given.prefix}likelihood: expected a likelihood, got {likelihood!r:.60}")
        noise, jitter = given.number("noise", 0.0), given.number("jitter", 0.0)
        return Member(Posterior(kernel, X, targets, diagonal, trend), noise, jitter, likelihood)
