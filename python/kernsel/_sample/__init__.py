"""Markov chains: samplers of densities and of latent values, and what tells whether their draws can be trusted."""
