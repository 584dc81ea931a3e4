"""The kernel of ordered trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from kernsel._base.annotations import Vector
from kernsel.kernels.hyperparameter import Bounds, Parameter, numbers
from kernsel.kernels.leaf import Leaf
from kernsel.kernels.object_kernel import ObjectKernel, Table
from kernsel.structured.trees import Fragments, Tree, as_trees, check_fragments, tree_diagonal, tree_gram

__all__ = ["TreeKernel"]


class TreeKernel(ObjectKernel[Tree], Leaf):
    """Ordered labelled trees, such as the parse trees of sentences, compared by the fragments that they share.

    k(S, T) = sum_f decay^|f| c_f(S) c_f(T), over the fragments f with |f| nodes that have children; c_f counts where in a tree
    there is f. Fragments have all children of a node, in their order, or none. ``Normalize(TreeKernel())`` does not depend on
    the sizes of trees.

    Parameters
    ----------
    decay : float, "auto" or Parameter
        Above 0, up to 1. The closer to 0, the less do large fragments count; at 1, one fragment of many trees outweighs all
        others.
    decay_bounds : pair of floats, "fixed" or "auto"
    fragments : {"subset-trees", "subtrees"}
        "subset-trees" are cut off at any nodes (Collins and Duffy, 2002), "subtrees" go down to the leaves (Vishwanathan and
        Smola, 2003).

    Notes
    -----
    Points are texts in brackets, such as ``"(S (NP she) (VP runs))"``, or sequences of a label and the children, such as
    ``("S", ("NP", "she"), ("VP", "runs"))``. As many operations as there are pairs of different subtrees whose roots have equal
    labels, and whose children have.

    Examples
    --------
    >>> from kernsel.structured import TreeKernel
    >>> TreeKernel(0.5)(["(S (NP she) (VP runs))", "(S (NP he) (VP runs))"])
    array([[2.125, 1.25 ],
           [1.25 , 2.125]])
    """

    _hyper: ClassVar = {"decay": "share"}

    def __init__(
        self,
        decay: float | str | Parameter = 0.5,
        decay_bounds: Bounds = "auto",
        fragments: Fragments = "subset-trees",
    ) -> None:
        self.decay = decay
        self.decay_bounds = decay_bounds
        self.fragments = fragments
        self._check()

    def _check(self) -> None:
        super()._check()
        check_fragments(self.fragments)
        bounds = self.bounds_of("decay")
        if not isinstance(bounds, str) and np.max(bounds) > 1:
            raise ValueError(f"decay_bounds: expected numbers above 0, up to 1, got {bounds!r}")

    def _check_value(self, name: str, value: object) -> None:
        super()._check_value(name, value)
        if not isinstance(value, str) and float(numbers(value, name)) > 1:
            raise ValueError(f"decay: expected a number above 0, up to 1, got {value!r}")

    def _encode(self, objects: Sequence[object]) -> list[Tree]:
        return as_trees(objects)

    def _table(self, X: Sequence[Tree], Z: Sequence[Tree] | None, derivative: bool) -> Table:
        values, slope = tree_gram(X, Z, decay=self._decay(), fragments=self.fragments, derivative=True)
        return values, [slope] if derivative else []

    def _diagonal_of(self, X: Sequence[Tree]) -> Vector:
        return tree_diagonal(X, decay=self._decay(), fragments=self.fragments)

    def _decay(self) -> float:
        return min(self.number("decay"), 1.0)  # exp(log(1)) need not be 1
