"""What a model is given: points, targets, weights, trends, folds, tables."""
