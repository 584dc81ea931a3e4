"""Choosing hyperparameters: any criterion, over all that a kernel and a noise leave open."""

from kernsel.selection.choice import Selection, choose, explained
from kernsel.selection.task import Budget

__all__ = ["Budget", "Selection", "choose", "explained"]
