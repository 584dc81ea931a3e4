"""Stacking: several Gaussian processes, weighted by how well the mixture of their predictions fits points left out."""
