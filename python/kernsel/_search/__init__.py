"""Choosing hyperparameters: any criterion, over all that a kernel and a noise leave open."""

from kernsel._search.choice import (
    Budget,
    Selection,
    choose,
    explained,
    generator_of,
    require_few_if_interrupted,
)

__all__ = ["Budget", "Selection", "choose", "explained", "generator_of", "require_few_if_interrupted"]
