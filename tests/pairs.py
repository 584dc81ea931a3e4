"""Samples of the combinations of parameters, where trying all of them would try the same two halves again and again."""

from itertools import combinations


def pairwise(*lists):
    """Return combinations of one value from each list, in which any two values of two lists meet at least once.

    Each combination begins with two values that have not met, and takes from each other list what meets most values for the
    first time: the first such value after that of the combination before, so that all are tried about as often.
    """
    lists = [list(values) for values in lists]
    axes = range(len(lists))
    waiting = {  # in order, as sets are not
        ((p, i), (q, j)): None for p, q in combinations(axes, 2) for i in range(len(lists[p])) for j in range(len(lists[q]))
    }
    rows, last = [], dict.fromkeys(axes, -1)
    while waiting:
        row = dict(next(iter(waiting)))
        for axis in axes:
            if axis not in row:
                size = len(lists[axis])
                after = [(last[axis] + 1 + step) % size for step in range(size)]
                row[axis] = max(after, key=lambda i: sum(_pair((axis, i), known) in waiting for known in row.items()))
        for one, other in combinations(row.items(), 2):
            waiting.pop(_pair(one, other), None)
        rows.append(tuple(lists[axis][row[axis]] for axis in axes))
        last = row
    return rows


def _pair(one, other):
    return tuple(sorted((one, other)))
