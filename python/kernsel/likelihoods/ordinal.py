"""Classes in an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from kernsel import _core
from kernsel.likelihoods.base import Together
from kernsel.likelihoods.built_in import BuiltIn
from kernsel.likelihoods.parameter import LikelihoodParameter

__all__ = ["Ordinal"]


@dataclass(frozen=True, repr=False)
class Ordinal(BuiltIn):
    """Classes 0, 1, ..., n_classes - 1 in an order: grades, stages.

    They are divided by thresholds t: P(y <= k) = 1 / (1 + exp(f - t_k)), k < n_classes - 1. Parameters are the first threshold
    and the steps between them.

    Parameters
    ----------
    n_classes : int
        At least 2.
    thresholds : sequence of n_classes - 1 increasing floats, or "auto"
    thresholds_bounds : {"auto", "fixed"}

    Examples
    --------
    >>> from kernsel.likelihoods import Ordinal
    >>> Ordinal(n_classes=3, thresholds=(-1.0, 1.0)).probability([0, 1, 2], f=0.0).round(3)
    array([0.269, 0.731, 1.   ])
    """

    n_classes: int = 2
    thresholds: Sequence[float] | Literal["auto"] = "auto"
    thresholds_bounds: Literal["auto", "fixed"] = "auto"

    def __post_init__(self) -> None:
        if isinstance(self.n_classes, bool) or not isinstance(self.n_classes, (int, np.integer)) or self.n_classes < 2:
            raise ValueError(f"n_classes: expected a whole number from 2 on, got {self.n_classes!r}")
        if self.thresholds_bounds not in ("auto", "fixed"):
            raise ValueError(f'thresholds_bounds: expected "auto" or "fixed", got {self.thresholds_bounds!r}')
        if isinstance(self.thresholds, str) and self.thresholds == "auto":
            return
        try:
            numbers = tuple(float(number) for number in self.thresholds)
        except (TypeError, ValueError):
            numbers = ()
        if len(numbers) != self.n_classes - 1 or not np.isfinite(numbers).all() or not (np.diff(numbers) > 0).all():
            raise ValueError(
                f'thresholds: expected {self.n_classes - 1} increasing numbers, one less than classes, or "auto", '
                f"got {self.thresholds!r}"
            )
        object.__setattr__(self, "thresholds", numbers)

    def core_with(self, *numbers: float) -> _core.Likelihood:
        return _core.ordinal(list(numbers))

    def core(self) -> _core.Likelihood:
        """Return the likelihood as the core has it; for "auto" all classes are equally probable where f is 0."""
        if not isinstance(self.thresholds, str):
            return self.core_with(*self.thresholds)
        share = np.arange(1, self.n_classes) / self.n_classes
        return self.core_with(*np.log(share / (1 - share)).tolist())

    def parameters(self, y: ArrayLike | None = None, size: ArrayLike | None = None) -> list[LikelihoodParameter]:  # noqa: ARG002
        """Return the parameters; with observations, as a search for them may begin."""
        core = self.core()
        automatic = isinstance(self.thresholds, str) and y is not None
        found = core.start(Together(y, None, None, None)[0]) if automatic else core.parameters  # type: ignore[arg-type]
        return [LikelihoodParameter(*parameter, fixed=self.thresholds_bounds == "fixed") for parameter in found]

    def with_values(self, values: Sequence[float]) -> Self:
        """Return the same likelihood with another first threshold, and steps of other logarithms."""
        return replace(self, thresholds=tuple(np.cumsum([values[0], *np.exp(values[1:])]).tolist()))
