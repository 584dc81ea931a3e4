"""The arguments of models: kernels, points, targets, weights, noise, trends and folds, checked and converted."""
