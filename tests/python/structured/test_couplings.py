"""Optimal transport between clouds: against brute force, linear programs of all pairs, closed forms."""

import importlib.util
import itertools

import numpy as np
import pytest
from scipy import linalg, stats
from scipy.optimize import linprog

from kernsel.structured import Gaussian, TransportEmbedding, transport_map, wasserstein_distance
from kernsel.structured.clouds import as_clouds
from kernsel.structured.line import quantile_means

from reference import transport_plan

EPS = np.finfo(float).eps
SOLVERS = ["highs", "pot"]


def squares(x, y):
    return np.sum((x[:, None] - y) ** 2, axis=2)


def random_weights(rng, n):
    w = rng.uniform(0.1, 1.0, n)
    return w / w.sum()


def positive(rng, d):
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return (Q * rng.uniform(0.2, 3.0, d)) @ Q.T


@pytest.mark.parametrize("d", [2, 3, 20])
def test_assignments_are_the_best_of_all(d, rng):
    x, y = rng.standard_normal((6, d)), 3.0 + rng.standard_normal((6, d)) * np.linspace(0.01, 5.0, d)
    best = min(itertools.permutations(range(6)), key=lambda p: np.sum((x - y[list(p)]) ** 2))
    assert np.array_equal(transport_map(x, [y])[0], y[list(best)])
    distance = np.sqrt(np.mean(np.sum((x - y[list(best)]) ** 2, axis=1)))
    assert wasserstein_distance(x, y) == pytest.approx(distance, rel=8 * EPS)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "m", "equal"), [(12, 12, False), (15, 9, True), (9, 15, False), (1, 7, False), (7, 1, True)])
def test_plans_are_those_of_the_program_of_all_arcs(n, m, equal, solver, rng):
    x, y = rng.standard_normal((n, 2)), rng.standard_normal((m, 2)) * [4.0, 0.3] + 2.0
    a, b = (np.full(n, 1 / n), np.full(m, 1 / m)) if equal else (random_weights(rng, n), random_weights(rng, m))
    C = squares(x, y)
    P = transport_plan(a, b, x, y)
    # Both are exact to 1e-9 of the largest cost, and the optimum is one vertex for points in general position.
    assert transport_map((x, a), [(y, b)], solver=solver)[0] == pytest.approx((P @ y) / a[:, None], rel=1e-9, abs=1e-9)
    distance = wasserstein_distance((x, a), (y, b), solver=solver)
    assert distance**2 == pytest.approx(np.vdot(P, C), rel=1e-9)
    assert wasserstein_distance((y, b), (x, a), solver=solver) == pytest.approx(distance, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_larger_plans_have_a_certificate(solver, rng):
    """The distance is that of the dual, whose multipliers are found by the program of all arcs in NumPy's terms."""
    n, m = 60, 45
    x, y, a, b = rng.standard_normal((n, 2)), rng.uniform(size=(m, 2)) ** 2, random_weights(rng, n), random_weights(rng, m)
    C = squares(x, y)
    found = linprog(
        -np.concatenate([a, b]),
        A_ub=np.vstack([np.hstack([np.repeat(np.eye(n), m, axis=0), np.tile(np.eye(m), (n, 1))])]),
        b_ub=C.ravel(),
        bounds=(None, None),
        method="highs",
    )
    assert found.success
    assert wasserstein_distance((x, a), (y, b), solver=solver) ** 2 == pytest.approx(-found.fun, rel=1e-6)


def test_multiples_are_assignments_of_copies(rng):
    x, y = rng.standard_normal((8, 3)), rng.standard_normal((16, 3))
    P = transport_plan(np.full(8, 1 / 8), np.full(16, 1 / 16), x, y)
    assert transport_map(x, [y])[0] == pytest.approx(8 * P @ y, abs=1e-9)
    assert transport_map(y, [x])[0] == pytest.approx(16 * P.T @ x, abs=1e-9)
    assert wasserstein_distance(x, y) ** 2 == pytest.approx(np.vdot(P, squares(x, y)), rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_gradients_of_convex_functions_are_optimal(d, weighted, solver, rng):
    """x -> A x + b with A positive definite is the optimal map of any distribution, whatever the order of the points."""
    x, A, b = rng.standard_normal((40, d)), positive(rng, d), 10 * rng.standard_normal(d)
    w = random_weights(rng, 40) if weighted else None
    order = rng.permutation(40)
    image = x @ A + b
    other = (image[order], None if w is None else w[order])
    assert transport_map((x, w), [other], solver=solver)[0] == pytest.approx(image, abs=1e-9)
    expected = np.sqrt(np.average(np.sum((x - image) ** 2, axis=1), weights=w))
    assert wasserstein_distance((x, w), other, solver=solver) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_any_unit_and_origin(weighted, rng):
    x, y = rng.standard_normal((12, 2)), rng.standard_normal((12, 2)) + 1.0
    w = random_weights(rng, 12) if weighted else None
    T = transport_map((x, w), [(y, w)])[0]
    for unit in (1e-150, 1e150):
        assert transport_map((x * unit, w), [(y * unit, w)])[0] == pytest.approx(T * unit, rel=1e-9, abs=1e-9 * unit)
    far = transport_map((x + 1e6, w), [(y - 1e6, w)])[0]
    assert far + 1e6 == pytest.approx(T, abs=1e-9)
    other_units = transport_map((x * [1.0, 1e-9], w), [(y * [1e9, 1.0], w)])[0]  # both matched by a diagonal map
    one = transport_map((x, w), [(y, w)])[0]
    assert np.isfinite(other_units).all()
    assert one == pytest.approx(T, abs=0)


def test_one_dimension_against_closed_form(rng):
    """The quantile function of points with weights, by brute force on a fine grid of probabilities that are exact."""
    n, m = 12, 8
    x, y = rng.standard_normal((n, 1)), rng.standard_normal((m, 1))
    a, b = rng.multinomial(64, np.full(n, 1 / n)) / 64, rng.multinomial(64, np.full(m, 1 / m)) / 64

    def quantiles(points, weights):
        order = np.argsort(points[:, 0])
        return np.repeat(points[order, 0], np.round(64 * weights[order]).astype(int))

    q, r = quantiles(x, a), quantiles(y, b)
    assert wasserstein_distance((x, a), (y, b)) == pytest.approx(np.sqrt(np.mean((q - r) ** 2)), rel=1e-14)
    P = transport_plan(a, b, x, y)
    keep = a > 0
    assert transport_map((x, a), [(y, b)])[0] == pytest.approx((P @ y)[keep] / a[keep, None], abs=1e-9)
    assert quantile_means(y[:, 0], b, np.arange(17) / 16) == pytest.approx(r.reshape(16, 4).mean(axis=1), rel=1e-14)


def test_normal_distributions_on_a_line(rng):
    """Quantiles of N(m, s^2) are m + s z, so that W^2 = (m - n)^2 + (s - r)^2; its points here are means of cells."""
    edges = stats.norm.ppf(np.arange(401) / 400)
    z = 400 * np.diff(-stats.norm.pdf(edges))[:, None]
    a, b = 1.0 + 2.0 * z, -3.0 + 0.5 * z[rng.permutation(400)]
    within = np.mean(z**2)  # 1, but for the spread inside the cells
    assert wasserstein_distance(a, b) == pytest.approx(np.sqrt(16.0 + within * 2.25), rel=1e-13)
    assert wasserstein_distance(a, b) == pytest.approx(wasserstein_distance(Gaussian(1, 4), Gaussian(-3, 0.25)), rel=1e-3)


def test_clouds_of_gaussians_are_close_to_them(rng):
    S, R = positive(rng, 2), positive(rng, 2)
    z = rng.standard_normal((2, 400, 2))
    x, y = z[0] @ linalg.sqrtm(S).real, z[1] @ linalg.sqrtm(R).real + [2.0, 0.0]
    exact = wasserstein_distance(Gaussian([0, 0], S), Gaussian([2, 0], R))
    # Each sample is within some n^(-1/2) log n of its distribution, in the mean square.
    assert abs(wasserstein_distance(x, y) - exact) < 2 * np.sqrt(np.trace(S + R) * np.log(400) / 400)


def test_a_point_of_hardly_any_weight(rng):
    """It may be lost in rounding, and goes somewhere sensible all the same."""
    x, y = rng.standard_normal((6, 2)), rng.standard_normal((5, 2))
    a, b = np.array([0.2, 0.3, 0.1, 0.2, 0.2, 0.0]), random_weights(rng, 5)
    a[5] = 1e-18
    for solver in SOLVERS:
        T = transport_map((x, a), [(y, b)], solver=solver)[0]
        assert (np.abs(T) <= np.abs(y).max() * (1 + 1e-12)).all()
        assert T[:5] == pytest.approx(transport_map((x[:5], a[:5]), [(y, b)], solver=solver)[0], abs=1e-8)
    line = transport_map((x[:, :1], a), [(y[:, :1], b)])[0]
    assert np.isfinite(line).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_points(solver, rng):
    one = np.zeros((4, 2))
    w = random_weights(rng, 4)
    for first, second in ((one, one), ((one, w), one[:3]), (one, (one + 3.0, w))):
        a, b = as_clouds([first, second])
        expected = np.linalg.norm(a.mean - b.mean)
        assert wasserstein_distance(a, b, solver=solver) == pytest.approx(expected, rel=1e-12)
        assert transport_map(a, [b], solver=solver)[0] == pytest.approx(np.tile(b.mean, (4, 1)), rel=1e-12)
    on_a_line = np.linspace(0, 1, 5)[:, None] * [1.0, 2.0]
    assert transport_map(on_a_line, [3 * on_a_line[::-1]])[0] == pytest.approx(3 * on_a_line, abs=1e-14)


def test_without_the_extra(monkeypatch, rng):
    X = [rng.standard_normal((5, 2)), rng.standard_normal((4, 2))]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert TransportEmbedding(X[0]).fit_transform(X).shape == (2, 10)
    with pytest.raises(ImportError, match=r"pip install 'kernsel\[structured\]'$"):
        TransportEmbedding(solver="pot").fit(X)
