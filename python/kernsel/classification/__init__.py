"""Gaussian process classification: likelihoods of labels, and what they say of latent values."""
