"""Gaussian process classification: likelihoods of margins, approximations of the posterior, and the estimator."""

from kernsel.classification.classifier import GaussianProcessClassifier

__all__ = ["GaussianProcessClassifier"]
