"""Derivatives of criteria in the coordinates of the points, with the whole kernel matrix and with neighbours."""

import numpy as np
import pytest

import kernsel as ks
from kernsel._data.trend import trend_matrix
from kernsel.kernels import RBF, DotProduct, ExpSineSquared, Matern, Transform, WhiteKernel

import reference as ref
from criterion_cases import PLAIN, data, options

N = 7
KERNELS = [
    1.3 * RBF([0.7, 1.1]) + 0.2 * Matern(1.4, nu=2.5),
    DotProduct(0.8) * RBF(1.5) + ExpSineSquared(1.2, 2.3).on([0]),
    2.0 * Transform(Matern(0.9, nu=1.5), [[1.0, -0.4]]) + WhiteKernel(0.1) * DotProduct(0.7) + Matern(1.2, nu=0.8).on([1]),
]


EXACT = [(name, None) for name in PLAIN]
NEAR = [(name, ks.Vecchia(4)) for name in PLAIN]


@pytest.mark.parametrize(("name", "near"), EXACT + NEAR)
def test_every_coordinate(name, near):
    case = PLAIN.index(name)
    kernel, outputs = KERNELS[case % len(KERNELS)], case % 2 * 2
    X, y, noise = (values[:N] for values in data(outputs))
    chosen = {key: value[:N] if key == "folds" else value for key, value in options(name).items()}
    chosen = {"test": [2, 5]} if name == "holdout" else chosen
    H = trend_matrix("linear", X) if case % 3 and name != "kfold_log_density" else None
    given = {"noise": noise, "trend": H, "approximation": near, "sample_weight": np.linspace(0, 2, N), **chosen}
    if name in ("gcv", "risk", "kfold_log_density"):
        given["sample_weight"] = None
    found = ks.evaluate(name, kernel, X, y, points=True, **given)
    assert found.gradient is None
    expected, error = ref.central_differences(
        lambda x: ks.evaluate(name, kernel, x.reshape(X.shape), y, **given).value, X.ravel(), 1e-5
    )
    assert (np.abs(found.points_gradient.ravel() - expected) <= error + 1e-7 * np.abs(expected).max()).all()
    assert np.abs(expected).max() > 100 * error.max()


def test_sets_of_several_tiles_and_any_number_of_threads(threads, rng):
    X = rng.standard_normal((130, 2))
    y, k = np.sin(X[:, 0]), RBF([1.0, 2.0]) * DotProduct(1.0)
    found = []
    for count in (1, 2):
        threads(count)
        for near in (None, ks.Vecchia(129)):
            ev = ks.evaluate("loo_log_density", k, X, y, noise=0.1, gradient=True, points=True, approximation=near)
            alone = ks.evaluate("loo_log_density", k, X, y, noise=0.1, gradient=True, approximation=near)
            assert np.array_equal(ev.gradient, alone.gradient)
            found.append(ev.points_gradient)
    assert np.array_equal(found[0], found[2])
    assert np.array_equal(found[1], found[3])
    # Their difference is of rounding errors, which the condition of the matrices amplifies: below 1e5.
    assert np.abs(found[0] - found[1]).max() <= 1e5 * 130 * np.finfo(float).eps * np.abs(found[0]).max()


def test_kernels_without_derivatives_in_points():
    X, y, _ = data(0)
    with pytest.raises(ValueError, match="gradient in the points"):
        ks.evaluate("lml", "precomputed", RBF(1.0)(X), y, noise=0.1, points=True)
    with pytest.raises(ValueError, match="points: expected a kernel of rows of numbers"):
        ks.evaluate("lml", ks.structured.Spectrum(1), ["one", "two", "three"], [1.0, 2.0, 0.5], noise=0.1, points=True)
