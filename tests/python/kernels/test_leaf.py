"""Every kernel: values, gradients, the diagonal, precision, against slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import pairwise

import kernsel as ks
from kernsel.kernels import (
    RBF,
    ArcCosine,
    Brownian,
    Linear,
    Matern,
    Normalize,
    RationalQuadratic,
    SpectralMixture,
)

import reference as ref
from accuracy import eps
from leaves import INDEFINITE, LEAVES, PLAIN, D, points, values


def theta_of(name, h):
    return np.concatenate([h[: PLAIN.get(name, 0)], np.log(h[PLAIN.get(name, 0) :])])


@pytest.mark.core
@pytest.mark.filterwarnings("ignore:Sigmoid is not positive")
@given(
    st.sampled_from(list(LEAVES)), st.sampled_from([1, 9, 40]), st.sampled_from([np.float64, np.float32]), st.integers(0, 99)
)
def test_values(name, n, dtype, seed):
    _, make, twin = LEAVES[name]
    h = values(name, seed)
    k, X, Z = make(h), points(n, seed, dtype), points(7, seed + 1, dtype)
    expected, cross = ref.gram(twin(h), X), ref.gram(twin(h), X, Z)
    factors = D if name.startswith("product") else 1  # each of which adds its own rounding
    limit = 64 * factors * eps(dtype) * max(np.abs(expected).max(), np.abs(cross).max(), 1)
    K = ks.gram(k, X)
    assert np.abs(K - expected).max() <= limit
    assert (K == K.T).all()
    assert np.array_equal(k.diag(X), np.diag(K))
    assert np.abs(ks.gram(k, X, Z) - cross).max() <= limit
    assert np.abs(k.matmul(X, Z, np.eye(7, dtype=dtype)) - cross).max() <= limit


@pytest.mark.core
@pytest.mark.filterwarnings("ignore:Sigmoid is not positive")
@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.parametrize("n", [20, 130])
def test_gradients(name, n, rng):
    _, make, _ = LEAVES[name]
    X = points(n, 1)
    X[-2:] = X[:2]  # distance zero, off the diagonal
    W = rng.standard_normal((n, n))
    k = make(values(name, 1))
    assert k.theta == pytest.approx(theta_of(name, values(name, 1)), abs=4 * eps(float))
    assert k.n_dims == LEAVES[name][0] == len(k.bounds)
    again = k.clone_with_theta(k.theta + 0.1)
    assert again.theta == pytest.approx(k.theta + 0.1)
    expected, error = ref.central_differences(lambda t: np.vdot(W, k.clone_with_theta(t)(X)), k.theta, step=1e-4)
    rounding = eps(float) * np.linalg.norm(W) * np.linalg.norm(k(X)) * 4 / 1e-4
    assert (np.abs(k.pullback(X, W) - expected) <= error + rounding).all()


@pytest.mark.core
@pytest.mark.filterwarnings("ignore:Sigmoid is not positive")
@pytest.mark.parametrize(("name", "cross", "n"), pairwise(LEAVES, [False, True], [20, 130]))
def test_gradients_in_the_points(name, cross, n, rng):
    X, W = points(n, 1), rng.standard_normal((n, n))
    Z = points(n, 2) if cross else None
    k = LEAVES[name][1](values(name, 1))
    direction = rng.standard_normal(X.shape)
    expected, error = ref.central_differences(lambda t: np.vdot(W, k(X + t[0] * direction, Z)), [0.0], step=1e-4)
    gradient = k.pullback(X, W, Z, wrt="X")
    rounding = eps(float) * np.linalg.norm(W) * np.linalg.norm(k(X)) * 16 / 1e-4
    # Differences across a kink are as wrong as the step is long, and there are more kinks the more points there are.
    rough = any(word in name for word in ("brownian", "1/2", "0.8", "exponential", "wendland 0", "arc-cosine 0"))
    kinks = (1e-4 * n + 9 * error[0] * (n > 100)) if rough else 0.0
    assert gradient.shape == X.shape
    assert abs(np.vdot(gradient, direction) - expected[0]) <= error[0] + rounding + kinks
    single = k.pullback(X.astype(np.float32), W.astype(np.float32), None if Z is None else Z.astype(np.float32), wrt="X")
    assert single.dtype == np.float32
    assert np.abs(single - gradient).max() <= 2e-3 * max(np.abs(gradient).max(), 1.0)


@pytest.mark.core
@pytest.mark.filterwarnings("ignore:Sigmoid is not positive")
@pytest.mark.parametrize("name", [name for name in LEAVES if name not in INDEFINITE])
def test_positive_semidefinite(name, rng):
    for seed in range(3):
        X = points(60, seed)
        K = LEAVES[name][1](values(name, seed))(X)
        assert np.linalg.eigvalsh(K).min() >= -60 * eps(float) * np.abs(K).max() * 60
    del rng


@pytest.mark.core
def test_exact_leaves(rng):
    """Brownian motion and the diagonal of stationary kernels have no rounding at all."""
    X = rng.standard_normal((50, 1))
    expected = np.where(X * X.T > 0, np.minimum(np.abs(X), np.abs(X.T)), 0.0)
    assert np.array_equal(Brownian()(X), expected)
    for k in (
        Matern(0.3, nu=0.8),
        Matern(0.3, nu=7.1, product=True),
        SpectralMixture([1.0], [0.3], [0.7]),
        Normalize(Linear()),
    ):
        assert (k.diag(1e3 * X) == 1).all()
    assert ArcCosine(0).diag(X).tolist() == [1.0] * 50


@pytest.mark.core
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(1.0, (2.0, 1.0)), "length_scale_bounds: the lower bound is above the upper one"),
        (lambda: RBF(1.0, (0.0, 1.0)), "length_scale_bounds: expected positive"),
        (lambda: RBF(1.0, "free"), 'length_scale_bounds: expected two numbers, "fixed" or "auto"'),
        (lambda: RBF(1.0, (1.0, 2.0, 3.0)), "length_scale_bounds: expected a lower and an upper bound"),
    ],
)
def test_what_would_not_be_a_kernel(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.core
def test_fixed_hyperparameters_are_not_in_theta(rng):
    k = RBF([1.0, 2.0], "fixed") + RationalQuadratic(1.5, 0.5, alpha_bounds="fixed")
    X, W = rng.standard_normal((20, 2)), rng.standard_normal((20, 20))
    assert k.theta == pytest.approx([np.log(1.5)])
    free = RBF([1.0, 2.0]) + RationalQuadratic(1.5, 0.5)
    assert k.pullback(X, W) == pytest.approx(free.pullback(X, W)[3:])
    moved = k.clone_with_theta([0.0])
    assert moved == RBF([1.0, 2.0], "fixed") + RationalQuadratic(1.0, 0.5, alpha_bounds="fixed")
