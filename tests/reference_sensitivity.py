"""Sobol' indices and main effects by their definitions: sums over all points of a grid, and nothing clever."""

from itertools import pairwise, permutations

import numpy as np


def gauss(lower, upper, breaks=(), order=40):
    """Nodes and weights of the mean over an interval, divided where the function has kinks."""
    edges = np.unique([lower, upper, *(b for b in breaks if lower < b < upper)])
    x, w = np.polynomial.legendre.leggauss(order)
    nodes = np.concatenate([(b - a) / 2 * (x + 1) + a for a, b in pairwise(edges)])
    weights = np.concatenate([(b - a) / 2 * w for a, b in pairwise(edges)])
    return nodes, weights / (upper - lower)


def gauss_hermite(mean, std, order=60):
    """Nodes and weights of the mean over a normal distribution."""
    x, w = np.polynomial.hermite_e.hermegauss(order)
    return mean + std * x, w / w.sum()


def on_grid(f, rules):
    """Values of f at all points of a grid, one axis for each input."""
    mesh = np.meshgrid(*(nodes for nodes, _ in rules), indexing="ij")
    return f(np.column_stack([axis.ravel() for axis in mesh])).reshape(mesh[0].shape)


def conditional_mean(values, rules, kept):
    """E[f | inputs in kept], as an array with axes of length one in the place of the others."""
    for axis, (_, weights) in enumerate(rules):
        if axis not in kept:
            shape = [1] * values.ndim
            shape[axis] = -1
            values = np.sum(values * weights.reshape(shape), axis=axis, keepdims=True)
    return values


def explained(values, rules, kept):
    """Var E[f | inputs in kept]."""
    curve = conditional_mean(values, rules, kept) - conditional_mean(values, rules, ())
    return float(conditional_mean(np.broadcast_to(curve, values.shape) ** 2, rules, ()).ravel()[0])


def sobol(values, rules):
    """Mean, variance, first-order and total indices, and those of pairs."""
    d = values.ndim
    inputs = range(d)
    variance = explained(values, rules, inputs)
    first = np.array([explained(values, rules, [j]) for j in inputs])
    total = np.array([variance - explained(values, rules, [k for k in inputs if k != j]) for j in inputs])
    second = np.zeros((d, d))
    for i, j in permutations(inputs, 2):
        second[i, j] = explained(values, rules, [i, j]) - first[i] - first[j]
    mean = float(conditional_mean(values, rules, ()).ravel()[0])
    return mean, variance, first / variance, total / variance, second / variance
