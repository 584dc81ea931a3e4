"""Computations for one kernel and one set of data: criteria, regularization paths, posteriors, kernel matrices."""
