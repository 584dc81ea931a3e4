"""Gaussian processes by dense formulas, and what displays have drawn of them."""

import numpy as np

from kernsel.kernels import Matern

LENGTH, NOISE = 1.5, 0.05
ROUGH = Matern(LENGTH, nu=0.5)  # well conditioned: other ways of computing give the same digits


def gram(X, Z=None):
    return np.exp(-np.abs(X[:, 0][:, None] - (X if Z is None else Z)[:, 0]) / LENGTH)


def ridge_at(X, y, alpha):
    """Return the coefficients of kernel ridge regression, by solving for them."""
    return np.linalg.solve(gram(X) + alpha * np.eye(len(y)), y)


def refitted(X, y, alpha):
    """Return leave-one-out means and variances of a process, by fitting n times."""
    means, variances = np.empty(len(y)), np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        K, k = gram(X[rest]) + alpha * np.eye(len(rest)), gram(X[rest], X[[i]])[:, 0]
        means[i] = k @ np.linalg.solve(K, y[rest])
        variances[i] = 1 + alpha - k @ np.linalg.solve(K, k)
    return means, variances


def offsets(display):
    points = np.vstack([np.asarray(s.get_offsets()) for s in (display.scatter_, display.outlier_scatter_)])
    return points[np.lexsort(points.T[::-1])]


def sorted_rows(*columns):
    points = np.column_stack(columns)
    return points[np.lexsort(points.T[::-1])]
