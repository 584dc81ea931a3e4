"""The draws that a Gaussian process was fitted by, and their diagnostics."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from kernsel._base.annotations import Matrix
from kernsel.estimators.sampled_process import Drawn, SampledProcess

__all__ = ["ProcessDraws"]


class ProcessDraws:
    """What a Gaussian process knows of the draws from which it predicts."""

    _sampled: SampledProcess | None = None  # None unless something was drawn

    def _drawn(self, name: str) -> Drawn:
        check_is_fitted(self, "kernel_")
        if self._sampled is None:
            raise AttributeError(f'{name}: nothing was drawn; expected hyperparameters="sample" or inference="mcmc"')
        return self._sampled.drawn

    def _require_no_draws(self, name: str) -> None:
        if self._sampled is not None:
            raise ValueError(f"{name}: draws are of the posterior given all points; fit again with the others")

    @property
    def draws_(self) -> dict[str, Matrix]:
        """The draws of each hyperparameter by its name, shape (chains, draws); empty if only the latent values were drawn."""
        return self._drawn("draws_").values

    @property
    def r_hat_(self) -> dict[str, Any]:
        """The rank-normalized split R-hat of each hyperparameter, and of the latent values ("f"), shape (n,), if drawn."""
        drawn = self._drawn("r_hat_")
        return drawn.r_hat | ({} if drawn.latent_r_hat is None else {"f": drawn.latent_r_hat})

    @property
    def effective_sample_size_(self) -> dict[str, Any]:
        """The number of independent draws whose mean is as accurate, for the same names as `r_hat_`."""
        drawn = self._drawn("effective_sample_size_")
        latent = drawn.latent_effective_sample_size
        return drawn.effective_sample_size | ({} if latent is None else {"f": latent})

    def to_arviz(self) -> Any:
        """Return the draws of hyperparameters as an ``arviz.InferenceData``, whose group "posterior" has them by name.

        Names with an index, such as "length_scale[0]", stay as they are.

        Raises
        ------
        ImportError
            If ArviZ is not installed.
        """
        draws = self.draws_
        try:
            import arviz
        except ImportError as error:
            raise ImportError("to_arviz: expected the package arviz; pip install arviz, or take draws_") from error
        return arviz.from_dict(posterior=dict(draws))
