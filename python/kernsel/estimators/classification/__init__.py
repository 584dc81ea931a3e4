"""Gaussian process classification: likelihoods of labels, posteriors of latent values, and the estimator."""

from kernsel.estimators.classification.classifier import GaussianProcessClassifier

__all__ = ["GaussianProcessClassifier"]
