"""Ordered labelled trees, such as the parse trees of sentences, compared by the fragments that they share."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from numbers import Real
from typing import Literal, TypeAlias, cast, get_args

import numpy as np

from kernsel._base.annotations import Indices, Matrix, Vector
from kernsel.structured.numbering import Number, Numbering

__all__ = ["Fragments", "Tree", "as_trees", "check_decay", "check_fragments", "tree_diagonal", "tree_gram"]

Fragments = Literal["subset-trees", "subtrees"]
Node: TypeAlias = tuple[Hashable, int]  # a label, and the number of children

_SUBTREES = Numbering()  # of all trees: by the label of the root, and the numbers of the subtrees of its children
_MOST = 1500  # different subtrees that are compared at once
_MOST_OF_DIAGONAL = 200  # of which only those in the same tree are used

_EXAMPLE = "'(S (NP she) (VP runs))', or ('S', ('NP', 'she'), ('VP', 'runs'))"


class Tree:
    """An ordered labelled tree that has been checked; :func:`as_trees` makes them.

    Attributes
    ----------
    nodes : list of pairs (label, number of children)
        Children before their parents, and in their order.
    subtrees : dict of Number to int
        How often the tree has each subtree that is more than a leaf: a node with all that is below it.
    """

    __slots__ = ("nodes", "subtrees")

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.subtrees: dict[Number, int] = {}
        open_subtrees: list[Number] = []  # whose parents are yet to come
        for label, arity in nodes:
            children = tuple(open_subtrees[len(open_subtrees) - arity :])
            del open_subtrees[len(open_subtrees) - arity :]
            (number,) = _SUBTREES.of([(label, children)])
            open_subtrees.append(number)
            if arity:
                self.subtrees[number] = self.subtrees.get(number, 0) + 1

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"Tree({len(self)} nodes)"

    def __reduce__(self) -> tuple[object, ...]:
        return Tree, (self.nodes,)


def as_trees(X: Iterable[object], name: str = "X") -> list[Tree]:
    """Return a list of checked trees, ready to be compared many times.

    Parameters
    ----------
    X : iterable of trees
        A tree is a text in brackets, as of a treebank, in which white space separates labels; or a sequence (a tuple or a list)
        of a label and the children, which are such sequences, or labels of leaves. Labels are hashable.
    name : str
        What errors call X.

    Returns
    -------
    trees : list of Tree
        X itself, if it is such a list.

    Examples
    --------
    >>> from kernsel.structured.trees import as_trees
    >>> as_trees(["(S (NP she) (VP runs))", ("S", ("NP", "he"), ("VP", "runs"))])
    [Tree(5 nodes), Tree(5 nodes)]
    """
    if type(X) is list and set(map(type, X)) <= {Tree}:
        return X
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise TypeError(f"{name}: expected a list of trees, got {X!r}")
    return [one if type(one) is Tree else Tree(_nodes(one, f"{name}[{i}]")) for i, one in enumerate(X)]


def _nodes(tree: object, where: str) -> list[Node]:
    """Return the nodes of a tree, children before their parents; without recursion, since trees may be deep."""
    if isinstance(tree, str):
        tree = _of_text(tree, where)
    if not isinstance(tree, tuple | list):
        raise TypeError(f"{where}: expected a tree, such as {_EXAMPLE}, got {tree!r}")
    nodes: list[Node] = []  # in the opposite order: parents first, the last child first
    left: list[object] = [tree]
    while left:
        node = left.pop()
        label, children = (node[0], node[1:]) if isinstance(node, tuple | list) and len(node) else (node, ())
        if isinstance(label, tuple | list):
            raise ValueError(f"{where}: expected a label before the children of a node, got {node!r:.60}")
        try:
            hash(label)
        except TypeError:
            raise TypeError(f"{where}: expected labels that are hashable, got {label!r}") from None
        if label is None or label != label:  # as nan is
            raise ValueError(f"{where}: expected a label for each node, got {label}")
        nodes.append((label, len(children)))
        left.extend(children)
    return nodes[::-1]


def _of_text(text: str, where: str) -> object:
    """Return the lists that a text in brackets stands for."""
    top: list[object] = []
    inside = [top]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            inside.append([])
        elif token == ")" and len(inside) > 1 and inside[-1]:
            inside[-2].append(inside.pop())
        elif token == ")":
            break
        else:
            inside[-1].append(token)
    else:
        if len(inside) == len(top) == 1 and isinstance(top[0], list):
            return top[0]
    raise ValueError(f"{where}: expected a tree, such as {_EXAMPLE}, with a label after each bracket, got {text!r}")


def tree_gram(
    X: Iterable[object],
    Z: Iterable[object] | None = None,
    *,
    decay: float = 0.5,
    fragments: Fragments = "subset-trees",
    derivative: bool = False,
) -> Matrix | tuple[Matrix, Matrix]:
    """Compare trees by the fragments that they share: K(S, T) = sum_f decay^|f| c_f(S) c_f(T).

    c_f counts where in a tree there is the fragment f, and |f| is the number of its nodes with children. Fragments have all
    children of a node, in their order, or none: "subset-trees" are cut off at any nodes (Collins and Duffy, 2002), "subtrees"
    go down to the leaves (Vishwanathan and Smola, 2003). All have one node with children at least. Positive semidefinite.

    Parameters
    ----------
    X : iterable of trees
        As of :func:`as_trees`.
    Z : iterable of trees, optional
    decay : float
        Above 0, up to 1. The closer to 0, the less do large fragments count.
    fragments : {"subset-trees", "subtrees"}
    derivative : bool
        Whether to return dK/dlog decay, too.

    Returns
    -------
    K : ndarray of shape (n, n) or (n, m)
    slope : ndarray of the same shape, if wanted

    Notes
    -----
    Takes as many operations as there are pairs of nodes with equal labels and equal labels of children, one from each tree.
    Subtrees that are equal, of any trees, are compared once. With D(u, v) the sum over fragments with the roots u and v: ::

        D(u, v) = decay prod_i (1 + D(u_i, v_i)),  without the 1 for subtrees, over the children u_i and v_i

    Examples
    --------
    >>> from kernsel.structured.trees import tree_gram
    >>> tree_gram(["(S (NP she) (VP runs))", "(S (NP he) (VP runs))"], decay=1.0)
    array([[6., 3.],
           [3., 6.]])
    >>> tree_gram(["(S (NP she) (VP runs))", "(S (NP he) (VP runs))"], decay=1.0, fragments="subtrees")
    array([[3., 1.],
           [1., 3.]])
    """
    trees = as_trees(X)
    others = trees if Z is None else as_trees(Z, "Z")
    check_decay(decay)
    check_fragments(fragments)
    values, slopes = (np.zeros((len(trees), len(others))) for _ in range(2))
    for rows in _blocks(trees, _MOST):
        x = _Subtrees(trees[rows])
        for columns in _blocks(others, _MOST):
            if Z is None and columns.start > rows.start:
                break
            values[rows, columns], slopes[rows, columns] = _compared(x, _Subtrees(others[columns]), float(decay), fragments)
    if Z is None:  # equal to the last bit on both sides of the diagonal
        for table in (values, slopes):
            table[:] = np.tril(table) + np.tril(table, -1).T
    return (_finite(values), slopes) if derivative else _finite(values)


def tree_diagonal(X: Iterable[object], *, decay: float = 0.5, fragments: Fragments = "subset-trees") -> Vector:
    """Return the diagonal of :func:`tree_gram`: zero for trees that are one leaf.

    Parameters
    ----------
    X : iterable of trees
    decay : float
    fragments : {"subset-trees", "subtrees"}

    Returns
    -------
    diagonal : ndarray of shape (n,)

    Examples
    --------
    >>> from kernsel.structured.trees import tree_diagonal
    >>> tree_diagonal(["(S (NP she) (VP runs))", "(NP she)"], decay=1.0)
    array([6., 1.])
    """
    trees = as_trees(X)
    check_decay(decay)
    check_fragments(fragments)
    diagonal = np.zeros(len(trees))
    for rows in _blocks(trees, _MOST_OF_DIAGONAL):
        own = _Subtrees(trees[rows])
        diagonal[rows] = np.diag(_compared(own, own, float(decay), fragments)[0])
    return _finite(diagonal)


def check_decay(decay: object) -> None:
    """Raise unless `decay` is above 0, and 1 at most."""
    if isinstance(decay, bool) or not isinstance(decay, Real) or not 0 < float(decay) <= 1:
        raise ValueError(f"decay: expected a number above 0, up to 1, got {decay!r}")


def check_fragments(fragments: object) -> None:
    """Raise unless `fragments` names a kind of fragments."""
    if fragments not in get_args(Fragments):
        raise ValueError(f'fragments: expected "subset-trees" or "subtrees", got {fragments!r}')


def _finite(values: Matrix) -> Matrix:
    if not np.isfinite(values).all():
        raise ValueError("X: the trees are so large and so alike that the kernel is beyond all numbers; give a smaller decay")
    return values


def _blocks(trees: list[Tree], most: int) -> Iterator[slice]:
    """Yield slices of a list of trees, each of one tree, or with at most so many different subtrees."""
    begin = 0
    held: set[Number] = set()
    for i, tree in enumerate(trees):
        if held and len(held | tree.subtrees.keys()) > most:
            yield slice(begin, i)
            begin, held = i, set()
        held |= tree.subtrees.keys()
    if begin < len(trees):
        yield slice(begin, len(trees))


class _Subtrees:
    """The different subtrees of some trees.

    Attributes
    ----------
    counts : ndarray of shape (trees, subtrees)
    groups : list of pairs (production, ndarray of int of shape (m, children + 1))
        Subtrees with equal labels of the root and its children, and of equal height, with their children; the least height
        first. A leaf has the place behind the last subtree.
    """

    def __init__(self, trees: list[Tree]) -> None:
        # A subtree has a larger number than those within it.
        numbers = sorted({number for tree in trees for number in tree.subtrees}, key=lambda number: number.value)
        place = {number: at for at, number in enumerate(numbers)}
        self.counts = np.zeros((len(trees), len(numbers)))
        for i, tree in enumerate(trees):
            for number, count in tree.subtrees.items():
                self.counts[i, place[number]] = count
        heights = {len(numbers): 0}
        groups: dict[tuple[int, Hashable], list[list[int]]] = {}
        for at, number in enumerate(numbers):
            label, children = cast("tuple[Hashable, tuple[Number, ...]]", number.key)
            places = [place.get(child, len(numbers)) for child in children]
            heights[at] = 1 + max(heights[below] for below in places)
            production = (label, *(cast("tuple[Hashable, ...]", child.key)[0] for child in children))
            groups.setdefault((heights[at], production), []).append([at, *places])
        self.groups: list[tuple[Hashable, Indices]] = [
            (production, np.array(groups[height, production])) for height, production in sorted(groups, key=lambda key: key[0])
        ]


def _compared(x: _Subtrees, z: _Subtrees, decay: float, fragments: Fragments) -> tuple[Matrix, Matrix]:
    """Return the values of the kernel for all pairs of trees, and their derivatives in log decay."""
    cut = 1.0 if fragments == "subset-trees" else 0.0
    shape = x.counts.shape[1] + 1, z.counts.shape[1] + 1
    D, slope = np.zeros(shape), np.zeros(shape)
    D[-1, -1] = 1.0 - cut  # two leaves, which go on to the same nothing
    others: dict[Hashable, list[Indices]] = {}
    for production, members in z.groups:
        others.setdefault(production, []).append(members)
    of_z = {production: np.vstack(members) for production, members in others.items()}
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are not finite are an error afterwards
        for production, members in x.groups:
            if production not in of_z:
                continue
            theirs = of_z[production]
            value = np.full((len(members), len(theirs)), decay)
            change = value.copy()
            for child in range(1, members.shape[1]):
                pairs = np.ix_(members[:, child], theirs[:, child])
                factor = cut + D[pairs]
                change *= factor
                change += value * slope[pairs]
                value *= factor
            roots = np.ix_(members[:, 0], theirs[:, 0])
            D[roots], slope[roots] = value, change
        return tuple(x.counts @ table[:-1, :-1] @ z.counts.T for table in (D, slope))  # type: ignore[return-value]
