"""One problem, solved once: factorizations, criteria, paths in lambda, posteriors, least squares."""
