"""The regularization path against direct solves."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from scipy import linalg
from sklearn.linear_model import Ridge

import kernsel as ks
from kernsel import _core
from kernsel._data.trend import trend_matrix
from kernsel._solve.path import PathValues
from kernsel.criteria.names import along_path
from kernsel.kernels import RBF, Linear, Matern

import reference as ref

N = 25
TRENDS = {None: 0, "constant": 1, "quadratic": 3}


def data(outputs=1, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, n))[:, None]
    return X, np.sin(X) + 0.2 * rng.standard_normal((n, outputs)), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("trend", TRENDS)
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_everything_by_direct_solves(trend, outputs, weighted):
    X, y, weights = data(outputs)
    w = weights if weighted else np.ones(N)
    k, sigma = Matern(1.0), 0.2
    alphas = np.array([1e-3, 0.1, 2.0])
    path = ks.RegularizationPath(k, y, X=X, alphas=alphas, sigma=sigma, trend=trend, sample_weight=w if weighted else None)
    H = trend_matrix(trend, X)
    K = k(X)
    for i, lam in enumerate(alphas):
        noise = lam / w
        A = ref.smoother(K, noise, H)
        rest = y - A @ y
        c = rest / noise[:, None]
        assert path.effective_dof[i] == pytest.approx(np.trace(A))
        assert path.residual_norm[i] == pytest.approx(np.sqrt(np.sum(w[:, None] * rest**2)))
        assert path.seminorm[i] == pytest.approx(np.sqrt(np.sum(c * (K @ c))))
        left_out = rest / (1 - np.diag(A))[:, None]
        assert path.loo[i] == pytest.approx(np.sum(w[:, None] * left_out**2) / w.sum() / outputs)
        whitened = np.sum(w[:, None] * rest**2) / np.trace(np.eye(N) - A) ** 2 * N / outputs
        assert path.gcv[i] == pytest.approx(whitened * np.mean(1 / w))
        for mine, name in (
            (path.log_likelihood, "lml"),
            (path.restricted_log_likelihood, "reml"),
            (path.profiled_log_likelihood, "profiled_lml"),
            (path.profiled_restricted_log_likelihood, "profiled_reml"),
        ):
            if weighted and "reml" in name and trend:
                continue  # there the basis is that of the weighted problem
            assert mine[i] == pytest.approx(ref.criterion(name, K, noise, H, y))
        S = sigma**2 / w
        risk = np.sum(w[:, None] * rest**2) + outputs * np.sum(w * S * (2 * np.diag(A) - 1))
        assert path.risk[i] == pytest.approx(risk / N / outputs)
        assert path.dual_coef(lam).reshape(N, -1) == pytest.approx(c, rel=1e-6, abs=1e-9)


def test_the_two_conventions_of_lambda():
    X, y, _ = data()
    one, mean = (ks.RegularizationPath(RBF(), y, X=X, sigma=0.2, alpha_scale=scale) for scale in ("none", "n"))
    assert one.alphas == pytest.approx(N * mean.alphas)
    assert one.loo == pytest.approx(mean.loo)
    for rule in ("gcv", "discrepancy", "reml"):
        assert one.best(rule) == pytest.approx(N * mean.best(rule), rel=1e-5)
    alpha = one.best("loo")
    fits = [
        ks.KernelRidge(RBF(), alpha=a, alpha_scale=s).fit(X, y[:, 0]).dual_coef_ for a, s in ((alpha, "none"), (alpha / N, "n"))
    ]
    assert fits[0] == pytest.approx(one.dual_coef(alpha))
    assert fits[1] == pytest.approx(fits[0])


@pytest.mark.parametrize("trend", TRENDS)
def test_curvature_is_that_of_the_curve(trend):
    X, y, _ = data()
    path = ks.RegularizationPath(RBF(), y, X=X, trend=trend)
    for lam in (1e-4, 1e-2, 1.0, 10.0):
        h = 1e-3
        at = path.at(lam * np.exp(np.array([-h, 0, h])))
        u, v = np.log(at.residual_norm), np.log(at.seminorm)
        du, dv = (u[2] - u[0]) / (2 * h), (v[2] - v[0]) / (2 * h)
        ddu, ddv = (u[2] - 2 * u[1] + u[0]) / h**2, (v[2] - 2 * v[1] + v[0]) / h**2
        expected = (du * ddv - ddu * dv) / (du**2 + dv**2) ** 1.5
        assert at.curvature[1] == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("rule", [rule for rule in along_path() if rule not in ("lcurve", "quasi-optimality", "discrepancy")])
def test_best_is_a_minimum(rule):
    X, y, _ = data(n=60)
    path = ks.RegularizationPath(RBF(), y, X=X, sigma=0.2, alphas=[1.0, 1.1])  # a poor grid
    best = path.best(rule)
    name = {
        "loo": "loo",
        "gcv": "gcv",
        "risk": "risk",
        "lml": "log_likelihood",
        "reml": "restricted_log_likelihood",
        "profiled_lml": "profiled_log_likelihood",
        "profiled_reml": "profiled_restricted_log_likelihood",
    }[rule]
    sign = -1 if "l" in rule and "m" in rule else 1
    values = sign * getattr(path.at(best * np.array([0.9, 1.0, 1.1])), name)
    assert values[1] <= values[0]
    assert values[1] <= values[2]
    wide = sign * getattr(path.at(np.geomspace(1e-8, 1e3, 500)), name)
    assert values[1] <= wide.min() + 1e-12 * abs(wide.min())


def test_discrepancy():
    X, y, _ = data(outputs=2, n=60)
    path = ks.RegularizationPath(RBF(), y, X=X, sigma=0.2, trend="constant")
    for tau in (0.9, 1.0, 1.3):
        alpha = path.best("discrepancy", tau=tau)
        assert path.at(alpha).residual_norm[0] == pytest.approx(tau * np.sqrt(60 * 2) * 0.2, rel=1e-9)
    with pytest.raises(ValueError, match="the noise explains all of y"):
        path.best("discrepancy", tau=100.0)
    low_rank = ks.RegularizationPath(Linear(), y, X=X, sigma=1e-6)
    with pytest.raises(ValueError, match="no lambda leaves a residual as small as"):
        low_rank.best("discrepancy")


def test_corners():
    rng = np.random.default_rng(0)
    # An ill-posed problem with a corner: eigenvalues that decay, data that decay faster, and noise.
    n = 40
    Q = linalg.qr(rng.standard_normal((n, n)))[0]
    e = 10.0 ** -np.linspace(0, 10, n)
    y = Q @ (e**0.7 + 1e-4 * rng.standard_normal(n))
    path = ks.RegularizationPath((Q * e) @ Q.T, y)
    corner = path.best("lcurve")
    assert path.at(corner).curvature[0] > 1
    assert path.at(corner).curvature[0] >= path.at(corner * np.array([0.8, 1.2])).curvature.max()
    quasi = path.best("quasi-optimality")
    near = path.at(quasi * np.array([0.8, 1.0, 1.25])).quasi_optimality
    assert near[1] <= min(near[0], near[2])
    with pytest.raises(ValueError, match="the L-curve has no corner"):
        ks.RegularizationPath(np.eye(4), np.ones(4)).best("lcurve")
    with pytest.raises(ValueError, match="no interior minimum"):
        ks.RegularizationPath(np.eye(4), np.ones(4)).best("quasi-optimality")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: ks.RegularizationPath(RBF(), y), "X: a kernel needs the points"),
        (
            lambda X, y: ks.RegularizationPath("RBFF", y, X=X),
            "kernel: there is no kernel 'RBFF'.*did you mean RBF",
        ),
        (lambda X, y: ks.RegularizationPath(np.ones((3, 2)), y), "K: expected a kernel or a square matrix"),
        (lambda X, y: ks.RegularizationPath(np.triu(np.ones((N, N))), y), "K: expected a symmetric matrix"),
        (lambda X, y: ks.RegularizationPath(np.eye(3), y), "y: expected one row for each of 3 points, got 25"),
        (lambda X, y: ks.RegularizationPath(np.eye(N), y * np.nan), "y: expected finite numbers"),
        (lambda X, y: ks.RegularizationPath(np.eye(N), y, alphas=[1.0, 0.0]), "alphas: expected positive"),
        (lambda X, y: ks.RegularizationPath(np.eye(N), y, sigma=-1), "sigma: expected a positive number"),
        (lambda X, y: ks.RegularizationPath(np.eye(N), y, alpha_scale="mean"), "alpha_scale: expected"),
        (lambda X, y: ks.RegularizationPath(np.eye(N), y, trend="linear"), "X: this trend needs the points"),
        (lambda X, y: ks.RegularizationPath(np.eye(N), y, sample_weight=np.zeros(N)), "sample_weight: expected a positive"),
        (lambda X, y: ks.RegularizationPath(np.eye(N), y).best("aic"), "rule: expected one of lml, .*gcv"),
        (lambda X, y: ks.RegularizationPath(np.eye(N), y).best("risk"), 'the rule "risk" needs the standard deviation'),
        (
            lambda X, y: ks.RegularizationPath(np.eye(N), y, sigma=0.1).best("discrepancy", tau=0),
            "tau: expected a positive",
        ),
    ],
)
def test_bad_input(make, message):
    X, y, _ = data()
    with pytest.raises((TypeError, ValueError), match=message):
        make(X, y)


def test_primal_and_dual_are_one(rng):
    A, b = rng.standard_normal((30, 6)), rng.standard_normal(30)
    path = ks.RegularizationPath(Linear(), b, X=A, alphas=[0.3])
    primal = Ridge(alpha=0.3, fit_intercept=False).fit(A, b)
    assert A.T @ path.dual_coef(0.3) == pytest.approx(primal.coef_)
    found = ks.linalg.loo_least_squares(A, b, ridge=0.3)
    assert found.coef == pytest.approx(primal.coef_)
    assert np.mean(found.residuals**2) == pytest.approx(path.loo[0])
    assert path.effective_dof[0] == pytest.approx(ks.linalg.leverage(A, ridge=0.3).sum())


@pytest.mark.parametrize("trend", TRENDS)
@pytest.mark.parametrize("d", [4, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_of_features_is_that_of_their_kernel(trend, d, weighted, rng):
    A = rng.standard_normal((N, d))
    A[:, 1] = A[:, 0]
    X, _, w = data(2)
    y = A[:, 2:4] + 0.2 * rng.standard_normal((N, 2))
    options = {"X": X, "trend": trend, "sigma": 0.3, "alphas": [1e-2, 0.5, 7.0], "sample_weight": w if weighted else None}
    primal, dual = ks.RegularizationPath.from_features(A, y, **options), ks.RegularizationPath(A @ A.T, y, **options)
    names = (
        "loo",
        "gcv",
        "log_likelihood",
        "restricted_log_likelihood",
        "profiled_log_likelihood",
        "residual_norm",
        "seminorm",
    )
    for name in (*names, "effective_dof", "risk", "curvature", "quasi_optimality"):
        assert getattr(primal, name) == pytest.approx(getattr(dual, name), rel=1e-7, abs=1e-10), name
    assert primal.dual_coef(0.5) == pytest.approx(dual.dual_coef(0.5))
    for rule in ("profiled_reml", "discrepancy"):
        assert primal.best(rule) == pytest.approx(dual.best(rule), rel=1e-3)
    with pytest.raises(ValueError, match="A: expected finite numbers, one row for each of 25"):
        ks.RegularizationPath.from_features(A[:3], y)


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("trend", [None, "constant"])
def test_paths_of_each_target(features, trend, rng):
    A, w = rng.standard_normal((N, 4)), rng.uniform(0.5, 2.0, N)
    y = A[:, :3] + rng.standard_normal((N, 3))
    options = {"X": A, "trend": trend, "sigma": 0.3, "sample_weight": w}
    make = ks.RegularizationPath.from_features if features else ks.RegularizationPath
    given = A if features else A @ A.T
    shared = make(given, y, **options)
    before = shared.loo.copy()
    for k, one in enumerate(shared.of_each_target()):
        alone = make(given, y[:, k], **options)
        for field in dataclasses.fields(PathValues):
            assert getattr(one, field.name) == pytest.approx(getattr(alone, field.name), rel=1e-10, abs=1e-13), field.name
        assert one.dual_coef(0.5) == pytest.approx(alone.dual_coef(0.5))
        assert one.best("gcv") == pytest.approx(alone.best("gcv"), rel=1e-4)
    assert np.array_equal(shared.loo, before)


@pytest.mark.parametrize("features", [False, True])
def test_what_a_path_tells_and_copies_of_it(features):
    X, y, w = data(2)
    options = {"X": X, "trend": "linear", "sigma": 0.2, "sample_weight": w}
    if features:
        path = ks.RegularizationPath.from_features(np.vander(X[:, 0] / 6, 5), y, **options)
    else:
        path = ks.RegularizationPath(RBF(), y, **options)
    assert (path.sigma, path.n_points, path.n_targets, path.n_trend) == (0.2, N, 2, 2)
    assert path.largest_alpha == pytest.approx(path.eigenvalues[0])
    assert path.alphas[[0, -1]] == pytest.approx(path.largest_alpha * np.array([1e-12, 100]))
    for other in (pickle.loads(pickle.dumps(path)), copy.deepcopy(path)):
        for field in dataclasses.fields(PathValues):
            assert np.array_equal(getattr(other.at(0.1), field.name), getattr(path.at(0.1), field.name)), field.name
        assert other.best("loo") == path.best("loo")
        assert np.array_equal(other.dual_coef(0.1), path.dual_coef(0.1))
        labels = np.arange(N) % 3
        assert np.array_equal(other.leave_groups_out(labels), path.leave_groups_out(labels))
    for state in ([], [1.0, 2.0], np.ones(50), np.full(50, np.nan), [1e300] * 20):
        with pytest.raises(ValueError, match="state: expected what a path has given"):
            _core.RegularizationPath(np.asarray(state, dtype=float))


def test_a_trend_may_take_most_of_the_kernel_out():
    # Long length scales make kernels that are nearly constant: what a trend leaves of them is rounding of what it takes.
    X, y = np.arange(5.0)[:, None], np.array([1.0, 2.0, 2.5, 4.0, 4.2])
    for variance in np.geomspace(1e2, 1e8, 13):
        path = ks.RegularizationPath(variance * RBF(1e3), y, X=X, trend="constant", alphas=[0.1])
        np.testing.assert_allclose(
            path.loo, np.mean(ks.loo(variance * RBF(1e3), X, y, noise=0.1, trend="constant").residuals ** 2)
        )


@pytest.mark.parametrize("exponent", [-340, 340])
@pytest.mark.parametrize("of_kernel", [-300, 0, 300])
@pytest.mark.parametrize("features", [False, True])
def test_any_unit_of_y_and_of_the_kernel(exponent, of_kernel, features):
    X, y, weights = data(2)
    s, v = 2.0**exponent, 2.0**of_kernel

    def path(s, v):
        options = {"sigma": 0.3 * s, "trend": "constant", "sample_weight": weights, "X": X}
        if features:
            return ks.RegularizationPath.from_features(v**0.5 * np.vander(X[:, 0] / 6, 8), s * y, **options)
        return ks.RegularizationPath(v * Matern(1.0)(X), s * y, **options)

    plain, scaled = path(1.0, 1.0), path(s, v)
    units = {"loo": s**2, "gcv": s**2, "risk": s**2, "residual_norm": s, "seminorm": s / v**0.5, "quasi_optimality": s / v**0.5}
    for name in ("loo", "gcv", "risk", "residual_norm", "seminorm", "quasi_optimality", "effective_dof", "curvature"):
        expected = getattr(plain, name)
        assert getattr(scaled, name) / units.get(name, 1.0) == pytest.approx(
            expected, rel=1e-6, abs=1e-9 * np.abs(expected).max()
        )
    shift = y.size * np.log(s)
    assert scaled.profiled_log_likelihood + shift == pytest.approx(plain.profiled_log_likelihood, rel=1e-9, abs=1e-8)
    for rule in ("loo", "gcv", "profiled_reml", "risk", "discrepancy", "lcurve"):
        assert scaled.best(rule) / v == pytest.approx(plain.best(rule), rel=1e-4)
    assert scaled.dual_coef(0.1 * v) / s * v == pytest.approx(plain.dual_coef(0.1), rel=1e-6, abs=1e-9)
    labels = np.arange(N) % 5
    assert scaled.leave_groups_out(labels) / s**2 == pytest.approx(plain.leave_groups_out(labels), rel=1e-6)
    same_unit = path(v**0.5, v)  # likelihoods see the scale of the kernel
    moved = y.size * np.log(v) / 2
    assert same_unit.log_likelihood + moved == pytest.approx(plain.log_likelihood, rel=1e-9, abs=1e-8)
    density = same_unit.leave_groups_out(labels, log_density=True) + moved
    assert density == pytest.approx(plain.leave_groups_out(labels, log_density=True), rel=1e-6, abs=1e-6)


def test_squares_that_are_no_numbers_are_refused():
    X, y, _ = data()
    for s in (1e200, 1e-200):
        with pytest.raises(ValueError, match="y: its squares"):
            ks.RegularizationPath(RBF(1.0), s * y, X=X)
        for model in (ks.KernelRidge("rbf", alpha="auto"), ks.SVR("rbf", C="auto"), ks.RidgeRegression()):
            with pytest.raises(ValueError, match="y: its squares"):
                model.fit(X, s * y[:, 0])


@pytest.mark.parametrize("of_features", [False, True])
def test_a_path_that_leaves_groups_out(rng, of_features):
    X = rng.uniform(-1, 1, (30, 3))
    X[20:] = X[:10]
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal((30, 2)).T
    groups = np.append(np.arange(20), np.arange(10))
    options = {"trend": np.ones((30, 1)), "groups": groups}
    made = ks.RegularizationPath.from_features if of_features else ks.RegularizationPath
    path = made(X if of_features else X @ X.T, y.T, **options)
    assert np.isnan(path.loo).mean() < 0.3  # rounding
    known = np.isfinite(path.loo)
    assert path.loo[known] == pytest.approx(path.leave_groups_out(groups, alphas=path.alphas[known]), rel=1e-10)
    best = path.best("loo")
    assert path.at(best).loo[0] <= np.nanmin(path.loo)
    assert path.at([0.9 * best, 1.1 * best]).loo.min() > path.at(best).loo[0]
    each = path.of_each_target()
    assert np.mean([one.loo[-1] for one in each]) == pytest.approx(path.loo[-1])
    one = made(X if of_features else X @ X.T, y.T, trend=np.ones((30, 1)), groups=np.arange(30))
    alone = made(X if of_features else X @ X.T, y.T, trend=np.ones((30, 1)))
    assert np.array_equal(one.loo, alone.loo)
    # The best beyond the ends of a grid.
    few = made(X if of_features else X @ X.T, y.T, **options, alphas=[best / 5, best / 8])
    assert few.best("loo") == pytest.approx(best, rel=1e-4)
    with pytest.raises(ValueError, match="groups: expected one label for each of 30 points"):
        made(X if of_features else X @ X.T, y.T, groups=[1, 2])
