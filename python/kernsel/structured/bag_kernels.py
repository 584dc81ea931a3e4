"""The kernels of bags of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kernsel._base.annotations import Vector
from kernsel.kernels.leaf import Leaf
from kernsel.kernels.object_kernel import ObjectKernel, Table
from kernsel.structured.bags import Bag, Kind, as_bags, bag_diagonal, bag_gram, check_kind

__all__ = ["BagOfItems"]


class BagOfItems(ObjectKernel[Bag], Leaf):
    """Bags and sets of items, compared by what they have in common.

    With a_t and b_t the counts of item t in two bags: ::

        "product"    <a, b> = sum_t a_t b_t
        "jaccard"    |A n B| / |A u B|, of the sets of items with counts that are not zero
        "tanimoto"   <a, b> / (<a, a> + <b, b> - <a, b>)
        "min-max"    sum_t min(a_t, b_t) / sum_t max(a_t, b_t)

    The last three are the same for sets, where all counts are 0 or 1; of two empty bags they are 1.

    Parameters
    ----------
    kind : {"min-max", "tanimoto", "jaccard", "product"}

    Notes
    -----
    Points are sets, lists or other iterables of hashable items, or mappings from items to counts, which are not negative and
    need not be whole. As many operations as there are pairs of equal items, one from each of two bags.

    Examples
    --------
    >>> from kernsel.structured import BagOfItems
    >>> BagOfItems("jaccard")([{1, 2, 3}, {2, 3, 4}, {5}])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """

    _hyper: ClassVar = {}
    _always_shown = ("kind",)

    def __init__(self, kind: Kind = "min-max") -> None:
        self.kind = kind
        self._check()

    def _check(self) -> None:
        super()._check()
        check_kind(self.kind)

    def _encode(self, objects: Sequence[object]) -> list[Bag]:
        return as_bags(objects)

    def _table(self, X: Sequence[Bag], Z: Sequence[Bag] | None, derivative: bool) -> Table:
        del derivative
        return bag_gram(X, Z, kind=self.kind), []

    def _diagonal_of(self, X: Sequence[Bag]) -> Vector:
        return bag_diagonal(X, kind=self.kind)
