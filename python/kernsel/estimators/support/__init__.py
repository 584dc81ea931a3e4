"""Support vector regression: the model, its path, and the choice of its parameters."""
