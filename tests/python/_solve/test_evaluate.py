"""Evaluating criteria and leave-one-out: points of any number, memory that is used again, and what is refused."""

import numpy as np
import pytest
from pairs import pairwise

import kernsel as ks
from kernsel._data.trend import trend_matrix
from kernsel.kernels import (
    RBF,
    WhiteKernel,
)

import reference as ref
from accuracy import eps
from criterion_cases import KERNELS, PLAIN, TRENDS, N, data, split


@pytest.mark.core
@pytest.mark.parametrize(("name", "trend", "n"), pairwise(PLAIN, [None, "linear"], [119, 130, 260]))
def test_more_points_than_a_tile(name, trend, n, threads, rng):
    X = rng.standard_normal((n, 3))
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.1 * rng.standard_normal((n, 2))
    k = 1.5 * RBF([1.0, 2.0, 3.0]) + WhiteKernel(0.05)
    extra = {"kfold": {"folds": 7}, "kfold_log_density": {"folds": 7}, "risk": {"sigma": 0.2}}.get(name, {}) | {"trend": trend}
    results = []
    for count in (1, 2):
        threads(count)
        results.append(ks.evaluate(name, k, X, y, noise=0.1, gradient=True, **extra))
    one, two = results
    assert (one.value, one.noise_gradient) == (two.value, two.noise_gradient)
    assert np.array_equal(one.gradient, two.gradient)
    direction = np.ones(k.n_dims)
    expected, error = ref.central_differences(
        lambda t: ks.evaluate(name, k.clone_with_theta(k.theta + t[0] * direction), X, y, noise=0.1, **extra).value, [0.0], 1e-4
    )
    assert abs(one.gradient @ direction - expected[0]) <= error[0] + 1e-8 * max(abs(one.value), 1.0)


@pytest.mark.parametrize("trend", TRENDS)
def test_loo_of_every_point(trend):
    for outputs in (0, 2):
        X, y, noise = data(outputs)
        k = KERNELS["matern and noise"]
        K, own = split(k, X)
        H = trend_matrix(trend, X)
        left = ks.loo(k, X, y, noise=noise, trend=trend)
        for i in range(N):
            mean, covariance = ref.predict_without(K, own + noise, H, y, np.array([i]))
            assert left.means[i] == pytest.approx(mean[0], rel=1e-8)
            assert left.variances[i] == pytest.approx(covariance[0, 0], rel=1e-9)
        assert left.residuals == pytest.approx(y - left.means)
        assert left.leverage == pytest.approx(np.diag(ref.smoother(K, own + noise, H)))


@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize("groups", [None, np.arange(N) % 4], ids=["alone", "groups"])
def test_derivatives_of_every_point_that_is_left_out(trend, groups):
    for outputs in (0, 2):
        X, y, noise = data(outputs)
        X[3] = X[1]  # left out together, unless there are groups
        k, options = KERNELS["matern and noise"], {"noise": noise, "trend": trend, "groups": groups}
        left = ks.loo(k, X, y, gradient=True, **options)
        assert left.residuals_gradient.shape == (*y.shape, k.n_dims)
        slopes = np.column_stack([left.residuals_gradient.reshape(-1, k.n_dims).T, left.variances_gradient.T])
        moved = {
            (p, h): ks.loo(k.clone_with_theta(k.theta + h * np.eye(k.n_dims)[p]), X, y, **options)
            for p in range(k.n_dims)
            for h in (-2e-4, -1e-4, 1e-4, 2e-4)
        }
        for p in range(k.n_dims):
            at = {h: np.append(np.ravel(fit.residuals), fit.variances) for (q, h), fit in moved.items() if q == p}
            narrow, wide = (at[1e-4] - at[-1e-4]) / 2e-4, (at[2e-4] - at[-2e-4]) / 4e-4
            rounding = 1e4 * N * eps(np.float64) * np.linalg.cond(np.asarray(k(X)) + np.diag(noise)) * np.abs(at[1e-4]).max()
            assert (np.abs(slopes[p] - (4 * narrow - wide) / 3) <= np.abs(narrow - wide) + rounding).all()
        if outputs == 0:  # the criterion is a function of these
            total = ks.evaluate("loo", k, X, y, gradient=True, **options).gradient
            assert 2 * left.residuals @ left.residuals_gradient / N == pytest.approx(total, rel=1e-8)
    with pytest.raises(ValueError, match="gradient: expected False with an approximation, got Vecchia"):
        ks.loo(k, X, y, noise=noise, approximation=ks.Vecchia(5), gradient=True)


def test_a_workspace_is_used_again(rng):
    room = ks.criteria.Workspace()
    for n in (50, 200, 30):
        X, y = rng.standard_normal((n, 2)), rng.standard_normal(n)
        again = ks.evaluate("loo", RBF(), X, y, noise=0.1, gradient=True, workspace=room)
        fresh = ks.evaluate("loo", RBF(), X, y, noise=0.1, gradient=True)
        assert again.value == fresh.value
        assert np.array_equal(again.gradient, fresh.gradient)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: ks.evaluate("aic", RBF(), X, y), "criterion: expected one of lml, profiled_lml"),
        (lambda X, y: ks.evaluate("lml", 2.0, X, y), r"kernel: expected a kernel of kernsel\.kernels"),
        (lambda X, y: ks.evaluate("lml", RBF(), X, y[:3]), "y: expected one row for each of 14 points"),
        (lambda X, y: ks.evaluate("lml", RBF(), X[0], y), r"X: expected shape \(n, d\)"),
        (lambda X, y: ks.evaluate("lml", RBF(), X, y, noise="auto"), "noise: expected numbers, got 'auto'; estimators find"),
        (lambda X, y: ks.evaluate("lml", RBF, X, y), r"kernel: expected a kernel, got the class RBF; write RBF\(...\)"),
        (lambda X, y: ks.evaluate("lml", RBF(), X, y, noise=-1.0), "noise: expected finite numbers that are not negative"),
        (
            lambda X, y: ks.evaluate("lml", RBF(), X, y, noise=[1.0, 2.0]),
            "noise must be a scalar or an array with same",
        ),
        (lambda X, y: ks.evaluate("lml", RBF(), X, y * np.nan, noise=1.0), "y: contains NaN or infinity"),
        (lambda X, y: ks.evaluate("risk", RBF(), X, y, noise=1.0), "sigma: the unbiased risk needs"),
        (lambda X, y: ks.evaluate("risk", RBF(), X, y, noise=1.0, sigma=-1.0), "sigma: expected a number that is not negative"),
        (lambda X, y: ks.evaluate("gcv", RBF(), X, y), "gcv: the noise must be positive"),
        (lambda X, y: ks.evaluate("profiled_lml", RBF(), X, 0 * y, noise=1.0), "the scale that does it best is zero"),
        (lambda X, y: ks.evaluate("lml", RBF(), X, y, trend="cubic"), 'trend: expected None, "constant"'),
        (lambda X, y: ks.evaluate("lml", RBF(), X, y, trend=np.ones((3, 1))), "trend: expected one row for each of 14 points"),
        (
            lambda X, y: ks.evaluate("lml", RBF(), np.column_stack([X, X[:, 0] + 1]), y, noise=1.0, trend="linear"),
            "trend: .*column.* can be made of the others",
        ),
        (
            lambda X, y: ks.evaluate("loo", RBF(), X, y, noise=1.0, trend=np.eye(N)[:, [3]]),
            r"trend: without point 3 it is not determined \(leverage one\)",
        ),
        (
            lambda X, y: ks.evaluate(
                "kfold", RBF(), X, y, noise=1.0, folds=np.arange(N) // 7, trend=(np.arange(N) < 7.0)[:, None]
            ),
            r"trend: without the group of points 0, 1, 2, 3, 4, 5, 6 it is not determined",
        ),
        (lambda X, y: ks.evaluate("lml", RBF(), X, y, sample_weight=-np.ones(N)), "sample_weight: expected"),
        (lambda X, y: ks.evaluate("loo_absolute", RBF(), X, y, noise=1.0, smoothing=0.0), "smoothing: expected a positive"),
        (lambda X, y: ks.evaluate("reml", RBF(), X[:6], y[:6], noise=1.0, trend="quadratic"), "more points than columns"),
    ],
)
def test_bad_input(call, message):
    X, y, _ = data(0)
    with pytest.raises((ValueError, TypeError), match=message):
        call(X, y)


def test_a_singular_matrix_names_its_pivot():
    with pytest.raises(ks.NotPositiveDefiniteError, match="the pivot of row 1 is"):
        ks.evaluate("lml", RBF(), np.ones((4, 1)), np.ones(4))


def test_one_point():
    ev = ks.evaluate("lml", RBF(), [[1.0]], [2.0], noise=0.5, gradient=True)
    assert ev.value == pytest.approx(-0.5 * (4 / 1.5 + np.log(1.5) + np.log(2 * np.pi)))
    assert ks.evaluate("loo", RBF(), [[1.0]], [2.0], noise=0.5).value == pytest.approx(4.0)


def test_constant_y():
    X, y = np.linspace(0, 3, 8)[:, None], np.full(8, 2.5)
    for name in ("lml", "reml", "loo", "gcv", "kfold"):
        ev = ks.evaluate(name, RBF(), X, y, noise=0.1, trend="constant", gradient=True)
        assert ev.beta == pytest.approx([2.5])
        assert np.isfinite(ev.gradient).all()
    assert ks.evaluate("loo", RBF(), X, y, noise=0.1, trend="constant").value == pytest.approx(0, abs=(8 * eps(float)) ** 2)
