"""The search for the hyperparameters of a kernel and a noise variance by any criterion."""

from kernsel._search.choice import choose, explained, generator_of, require_few_if_interrupted
from kernsel._search.core_search import Budget
from kernsel._search.selection import Selection

__all__ = ["Budget", "Selection", "choose", "explained", "generator_of", "require_few_if_interrupted"]
