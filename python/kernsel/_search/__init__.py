"""The search for the hyperparameters of a kernel and a noise variance by any criterion."""

from kernsel._search.choice import (
    Budget,
    Selection,
    choose,
    explained,
    generator_of,
    require_few_if_interrupted,
)

__all__ = ["Budget", "Selection", "choose", "explained", "generator_of", "require_few_if_interrupted"]
