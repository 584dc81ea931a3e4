"""Probabilities of classes from normal latent values, against a product rule of quadrature."""

import numpy as np
import pytest
from scipy import special

from kernsel.estimators.classification.multinomial import class_probabilities


def product_rule(mean, covariance, nodes, width):
    """Return the averaged softmax by a product trapezoidal rule over standard normal values."""
    classes = len(mean)
    x = np.linspace(-width, width, nodes)
    w = np.exp(-0.5 * x**2)
    w /= w.sum()
    e, Q = np.linalg.eigh(covariance)
    root = Q * np.sqrt(np.maximum(e, 0))
    grids = np.meshgrid(*[x] * (classes - 1), indexing="ij")
    z = np.stack([grid.ravel() for grid in grids], axis=1)
    mass = np.prod(np.meshgrid(*[w] * (classes - 1), indexing="ij"), axis=0).ravel()
    return mass @ special.softmax(mean + z @ root[:, 1:].T, axis=1)


@pytest.mark.parametrize(("classes", "nodes"), [(2, 2000), (3, 400), (4, 100)])
@pytest.mark.parametrize("size", [0.5, 2.0, 8.0])
def test_probabilities_against_a_product_rule(classes, nodes, size, rng):
    for _ in range(3):
        mean = size * rng.standard_normal(classes)
        A = size * rng.standard_normal((classes, classes)) / np.sqrt(classes)
        centre = np.eye(classes) - 1 / classes
        covariance = A @ A.T
        expected = product_rule(mean, centre @ covariance @ centre, nodes, 8.0)
        found = class_probabilities(mean[None], covariance[None])
        assert found[0] == pytest.approx(expected, abs=1e-3)
        assert found.sum() == pytest.approx(1, abs=1e-14)


def test_probabilities_of_many_classes_and_points(rng):
    mean = rng.standard_normal((120, 10))
    A = rng.standard_normal((120, 10, 10))
    covariance = A @ np.swapaxes(A, 1, 2)
    found = class_probabilities(mean, covariance)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-14)
    assert class_probabilities(mean[-1:], covariance[-1:])[0] == pytest.approx(found[-1], abs=1e-12)
    # What all classes have in common says nothing.
    moved = class_probabilities(mean + 5, covariance + 1e3)
    assert moved == pytest.approx(found, abs=2e-3)  # another choice of principal directions, where rounding makes it
    for i in range(0, 120, 30):
        draws = rng.multivariate_normal(mean[i], covariance[i], 40_000)
        p = special.softmax(draws, axis=1)
        assert np.abs(p.mean(axis=0) - found[i]).max() <= 1e-3 + 4.5 * p.std(axis=0).max() / 200
    certain = class_probabilities(mean, np.zeros((120, 10, 10)))
    assert certain == pytest.approx(special.softmax(mean, axis=1), abs=1e-13)
