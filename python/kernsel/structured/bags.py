"""Bags of items, compared by the items that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from kernsel._base.annotations import Matrix, Vector
from kernsel.structured.numbering import Number, Numbering

__all__ = ["Bag", "as_bags", "bag_diagonal", "bag_gram"]

Kind = Literal["product", "jaccard", "tanimoto", "min-max"]
_BLOCK = 1_000_000  # the most numbers in a block of an intermediate result
_ITEMS = Numbering()  # of the items of all bags


class Bag:
    """A bag of items that has been checked; :func:`as_bags` makes them.

    Attributes
    ----------
    numbers : ndarray of int of shape (n_items,)
        The numbers of the distinct items, ascending.
    counts : ndarray of shape (n_items,)
        How often the bag has each item: positive, not necessarily a whole number.
    """

    __slots__ = ("counts", "held", "numbers")

    def __init__(self, held: list[Number], counts: Iterable[float]) -> None:
        numbers = np.array([number.value for number in held], dtype=np.int64)
        order = np.argsort(numbers)
        self.numbers = numbers[order]
        self.counts = np.fromiter(counts, np.float64, len(held))[order]
        self.held = [held[at] for at in order.tolist()]

    def _items(self) -> dict[Hashable, float]:
        return {number.key: float(count) for number, count in zip(self.held, self.counts, strict=True)}

    def __repr__(self) -> str:
        return f"Bag({self._items()!r})"

    # Numbers are valid in one process; copies elsewhere have the items.
    def __getstate__(self) -> dict[str, object]:
        return {"items": [number.key for number in self.held], "counts": self.counts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(_ITEMS.of(state["items"]), state["counts"])  # type: ignore[misc]


def as_bags(X: Iterable[object], name: str = "X") -> list[Bag]:
    """Return a list of checked bags, ready to be compared many times.

    Parameters
    ----------
    X : iterable of bags
        A bag is an iterable of hashable items, of which some may be equal, or a mapping from items to counts: finite numbers,
        not negative, not necessarily whole. Items are the same if they are equal in Python, as 1 and 1.0 are. A bag may be
        empty. A str is refused, because it may be meant as one item; ``list(text)`` is a bag of its characters.
    name : str
        What errors call X.

    Returns
    -------
    bags : list of Bag
        X itself, if it is such a list.

    Examples
    --------
    >>> from kernsel.structured.bags import as_bags
    >>> as_bags([["a", "b", "a"], {"c": 0.5, "d": 0}])
    [Bag({'a': 2.0, 'b': 1.0}), Bag({'c': 0.5})]
    """
    if type(X) is list and set(map(type, X)) <= {Bag}:
        return X
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise TypeError(f"{name}: expected a list of bags, got {X!r}")
    return [bag if type(bag) is Bag else _checked(bag, f"{name}[{i}]") for i, bag in enumerate(X)]


def _checked(bag: object, where: str) -> Bag:
    if isinstance(bag, str | bytes) or not isinstance(bag, Iterable):
        hint = "; list(...) makes a bag of its characters" if isinstance(bag, str | bytes) else ""
        raise TypeError(f"{where}: expected an iterable of items, or a mapping from items to counts, got {bag!r}{hint}")
    counted: Mapping[Hashable, float]
    if isinstance(bag, Mapping):
        for item, count in bag.items():
            if not isinstance(count, Real) or not 0 <= float(count) < np.inf:
                raise ValueError(f"{where}: expected counts that are finite and not negative, got {count!r} of {item!r}")
        counted = {item: float(count) for item, count in bag.items() if count}
    else:
        try:
            counted = Counter(bag.tolist() if isinstance(bag, np.ndarray) else bag)
        except TypeError as error:
            raise TypeError(f"{where}: expected items that are hashable, got {bag!r} ({error})") from None
    for item in counted:
        if item != item:
            raise ValueError(f"{where}: expected items that are equal to themselves, got {item!r}")
    return Bag(_ITEMS.of(counted), counted.values())


def bag_gram(X: Iterable[object], Z: Iterable[object] | None = None, *, kind: Kind = "min-max") -> Matrix:
    """Compare bags of items: K_ij = k(x_i, x_j), or k(x_i, z_j).

    With a_t and b_t the counts of item t in two bags: ::

        product    <a, b> = sum_t a_t b_t
        jaccard    |A n B| / |A u B|, of the sets of items with counts that are not zero
        tanimoto   <a, b> / (<a, a> + <b, b> - <a, b>)
        min-max    sum_t min(a_t, b_t) / sum_t max(a_t, b_t)

    All are positive semidefinite. The last three are the same for sets, where all counts are 0 or 1; of two empty bags they
    are 1, for they are equal.

    Parameters
    ----------
    X : iterable of bags
        See :func:`as_bags`.
    Z : iterable of bags, optional
    kind : {"product", "jaccard", "tanimoto", "min-max"}

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)
        In as many operations as there are pairs of equal items, one of X and one of Z.

    Examples
    --------
    >>> from kernsel.structured.bags import bag_gram
    >>> bag_gram([["a", "b", "a"], ["a", "c"]], [["a", "a"], ["z"]])
    array([[0.66666667, 0.        ],
           [0.33333333, 0.        ]])
    >>> bag_gram([{1, 2, 3}, {2, 3, 4}], kind="jaccard")
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    check_kind(kind)
    bags = as_bags(X)
    n = len(bags)
    counts = _matrix(bags if Z is None else bags + as_bags(Z, "Z"), kind)
    A, B = (counts, counts) if Z is None else (counts[:n], counts[n:])
    overlaps = _shared(A, B) if kind == "min-max" else _products(A, B)
    if kind == "product":
        return overlaps
    unions = np.add.outer(_sizes(A, kind), _sizes(B, kind)) - overlaps
    return np.divide(overlaps, unions, out=np.ones_like(overlaps), where=unions > 0)


def bag_diagonal(X: Iterable[object], kind: Kind = "min-max") -> Vector:
    """Return the diagonal of :func:`bag_gram`.

    Parameters
    ----------
    X : iterable of bags
    kind : {"product", "jaccard", "tanimoto", "min-max"}

    Returns
    -------
    diagonal : ndarray of shape (n,)
        Ones, except for "product".

    Examples
    --------
    >>> from kernsel.structured.bags import bag_diagonal
    >>> bag_diagonal([["a", "b", "a"], []], kind="product")
    array([5., 0.])
    """
    check_kind(kind)
    bags = as_bags(X)
    return _sizes(_matrix(bags, kind), kind) if kind == "product" else np.ones(len(bags))


def check_kind(kind: object) -> None:
    """Raise if `kind` is not the name of a comparison of counts."""
    if kind not in get_args(Kind):
        raise ValueError(f"kind: expected one of {', '.join(map(repr, get_args(Kind)))}, got {kind!r}")


def _matrix(bags: list[Bag], kind: Kind) -> sparse.csr_array:
    """Return the counts of items, a row for each bag and a column for each item, columns ascending in the items' numbers."""
    ends = np.cumsum([0, *[len(bag.numbers) for bag in bags]])
    numbers = np.concatenate([bag.numbers for bag in bags]) if bags else np.zeros(0, dtype=np.int64)
    items, columns = np.unique(numbers, return_inverse=True)
    counts = np.concatenate([bag.counts for bag in bags]) if bags and kind != "jaccard" else np.ones(len(numbers))
    return sparse.csr_array((counts, columns, ends), shape=(len(bags), len(items)))


def _products(A: sparse.csr_array, B: sparse.csr_array) -> Matrix:
    """Return sum_t a_t b_t; symmetric to the last bit if A is B, since all sums are in the order of the columns."""
    items = B.T.tocsr()  # (p, m): the bags of each item
    K = np.empty((A.shape[0], B.shape[0]))
    step = max(1, _BLOCK // max(B.shape[0], 1))
    for begin in range(0, len(K), step):
        K[begin : begin + step] = (A[begin : begin + step] @ items).toarray()
    return K


def _shared(A: sparse.csr_array, B: sparse.csr_array) -> Matrix:
    """Return sum_t min(a_t, b_t), by a loop over pairs of an entry of A and a bag of B that has its item."""
    items = B.T.tocsr()
    n, m = A.shape[0], items.shape[1]
    bags = np.diff(items.indptr).astype(np.int64)[A.indices]  # for each entry of A, the number of bags of B with its item
    pairs = np.concatenate([[0], np.cumsum(bags)])[A.indptr]
    K = np.empty((n, m))
    begin = 0
    while begin < n:
        end = int(np.searchsorted(pairs, pairs[begin] + _BLOCK, side="right")) - 1
        end = max(begin + 1, min(end, begin + _BLOCK // max(m, 1), n))
        entries = slice(A.indptr[begin], A.indptr[end])
        lengths = bags[entries]
        starts = items.indptr[A.indices[entries]] - (np.cumsum(lengths) - lengths)
        places = np.arange(lengths.sum()) + np.repeat(starts, lengths)
        rows = np.repeat(np.arange(end - begin), np.diff(A.indptr[begin : end + 1]))
        least = np.minimum(np.repeat(A.data[entries], lengths), items.data[places])
        at = np.repeat(rows * m, lengths) + items.indices[places]
        K[begin:end] = np.bincount(at, weights=least, minlength=(end - begin) * m).reshape(end - begin, m)
        begin = end
    return K


def _sizes(A: sparse.csr_array, kind: Kind) -> Vector:
    """Return for each row sum_t a_t^2, or sum_t a_t for "min-max"."""
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    sizes = np.bincount(rows, weights=A.data if kind == "min-max" else A.data**2, minlength=A.shape[0])
    return np.asarray(sizes, dtype=np.float64)
