"""The regularization path by landmarks against the explicit matrix Q + lambda N, and against refits."""

import pickle

import numpy as np
import pytest

import kernsel as ks
from kernsel import _core
from kernsel._data.trend import trend_matrix
from kernsel._solve.path import RegularizationPath
from kernsel.kernels import RBF, Matern, WhiteKernel

import reference as ref

N, M = 60, 7
KERNEL = Matern(0.8)
JITTER = 1e-10
CURVES = (
    "gcv",
    "log_likelihood",
    "restricted_log_likelihood",
    "profiled_log_likelihood",
    "profiled_restricted_log_likelihood",
    "residual_norm",
    "seminorm",
    "effective_dof",
    "risk",
    "curvature",
    "quasi_optimality",
    "loo",
)


def data(outputs=1, n=N, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 3, (n, d))
    y = np.sin(2 * X[:, :1]) + 0.3 * rng.standard_normal((n, outputs))
    return X, y, rng.uniform(0.5, 2.0, n), X[rng.permutation(n)[:M]] + 0.1


def approximated(X, Z, kernel=KERNEL):
    """Return Q and the tolerance of what is computed with it, for the least lambda of 1e-2."""
    K_ZZ = kernel(Z) * (1 + JITTER * np.eye(len(Z)))
    K_XZ = kernel(X, Z)
    Q = K_XZ @ np.linalg.solve(K_ZZ, K_XZ.T)
    largest = np.linalg.eigvalsh(Q)[-1]
    return Q, 4 * len(X) * np.finfo(float).eps * np.linalg.cond(K_ZZ) * largest / 1e-2


def of_place(tolerance):
    """Return the tolerance of the place of an extremum, around which a curve changes by the square of the distance."""
    return 10 * np.sqrt(tolerance)


@pytest.mark.parametrize("trend", [None, "constant", "linear"])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bound", [False, True])
def test_everything_by_direct_solves(trend, outputs, weighted, bound):
    X, y, weights, Z = data(outputs)
    y = y + 100 * (trend is not None)  # which must not cost digits
    w = weights if weighted else np.ones(N)
    sigma, alphas = 0.3, np.array([1e-2, 0.3, 5.0])
    given = w if weighted else None
    landmarks = ks.Nystrom(Z, bound=bound)
    path = RegularizationPath(
        KERNEL, y, X=X, alphas=alphas, sigma=sigma, trend=trend, sample_weight=given, approximation=landmarks
    )
    H = trend_matrix(trend, X)
    Q, tolerance = approximated(X, Z)
    missing = np.sum(w * (1 - np.diag(Q)))
    assert np.array_equal(path.landmarks, Z)
    for i, lam in enumerate(alphas):
        noise = lam / w
        A = ref.smoother(Q, noise, H)
        rest = y - A @ y
        c = rest / noise[:, None]

        def close(value, size=None):
            return pytest.approx(value, rel=tolerance, abs=0 if size is None else tolerance * size)

        assert path.effective_dof[i] == close(np.trace(A))
        assert path.residual_norm[i] == close(np.sqrt(np.sum(w[:, None] * rest**2)))
        assert path.seminorm[i] == close(np.sqrt(np.sum(c * (Q @ c))))
        left_out = rest / (1 - np.diag(A))[:, None]
        assert path.loo[i] == close(np.sum(w[:, None] * left_out**2) / w.sum() / outputs)
        whitened = np.sum(w[:, None] * rest**2) / np.trace(np.eye(N) - A) ** 2 * N / outputs
        assert path.gcv[i] == close(whitened * np.mean(1 / w))
        for mine, name in (
            (path.log_likelihood, "lml"),
            (path.restricted_log_likelihood, "reml"),
            (path.profiled_log_likelihood, "profiled_lml"),
            (path.profiled_restricted_log_likelihood, "profiled_reml"),
        ):
            if weighted and "reml" in name and trend:
                continue  # there the basis is that of the weighted problem
            of_bound = -0.5 * outputs * missing / lam if bound else 0.0
            assert mine[i] == close(ref.criterion(name, Q, noise, H, y) + of_bound, size=N * outputs)
        S = sigma**2 / w
        risk = np.sum(w[:, None] * rest**2) + outputs * np.sum(w * S * (2 * np.diag(A) - 1))
        assert path.risk[i] == close(risk / N / outputs)
        u, b = path.landmark_coef(lam)
        assert KERNEL(X, Z) @ u + H @ b == close(A @ y, size=np.abs(y).max())


@pytest.mark.parametrize("trend", [None, "constant"])
def test_it_is_the_exact_path_of_the_approximated_matrix(trend):
    X, y, w, Z = data()
    alphas = np.geomspace(1e-2, 1e2, 9)
    options = {"alphas": alphas, "sigma": 0.7, "trend": trend, "sample_weight": w, "alpha_scale": "n"}
    near = RegularizationPath(KERNEL, y, X=X, approximation=ks.Nystrom(Z, bound=False), **options)
    Q, tolerance = approximated(X, Z)
    exact = RegularizationPath((Q + Q.T) / 2, y, X=X, **options)
    for curve in CURVES:
        mine, other = getattr(near, curve), getattr(exact, curve)
        assert mine == pytest.approx(other, rel=tolerance, abs=tolerance * np.abs(other).max()), curve
    assert near.largest_alpha == pytest.approx(exact.largest_alpha, rel=tolerance)
    for rule in ("loo", "gcv", "reml", "profiled_lml", "risk"):
        assert near.best(rule) == pytest.approx(exact.best(rule), rel=of_place(tolerance)), rule
    assert near.best("discrepancy") == pytest.approx(exact.best("discrepancy"), rel=tolerance)


def test_errors_of_points_left_out_are_those_of_refits():
    X, y, w, Z = data(n=12)
    alphas = [0.05, 1.0]
    options = {"X": X, "trend": "constant", "approximation": ks.Nystrom(Z)}
    path = RegularizationPath(KERNEL, y, alphas=alphas, sample_weight=w, **options)
    errors = np.zeros(2)
    for i in range(12):
        rest = np.arange(12) != i
        refit = RegularizationPath(KERNEL, y[rest], alphas=alphas, sample_weight=w[rest], **{**options, "X": X[rest]})
        for j, alpha in enumerate(alphas):
            u, b = refit.landmark_coef(alpha)
            errors[j] += w[i] * ((y[i] - KERNEL(X[i : i + 1], Z) @ u - b)[0, 0]) ** 2 / w.sum()
    _, tolerance = approximated(X, Z)
    assert path.loo == pytest.approx(errors, rel=tolerance)


def test_equal_rows_are_left_out_together():
    X, y, w, Z = data(2, n=30)
    X[20:] = X[:10]
    groups = np.append(np.arange(20), np.arange(10))
    options = {"alphas": [0.02, 1.0], "sample_weight": w, "trend": "constant", "groups": groups}
    near = RegularizationPath(KERNEL, y, X=X, approximation=ks.Nystrom(Z), **options)
    Q, tolerance = approximated(X, Z)
    exact = RegularizationPath((Q + Q.T) / 2, y, **options | {"trend": np.ones((30, 1))})
    assert near.loo == pytest.approx(exact.loo, rel=tolerance)
    assert near.gcv == pytest.approx(exact.gcv, rel=tolerance)
    assert near.at([0.02]).loo == pytest.approx(near.loo[:1], rel=tolerance)
    assert near.best("loo") == pytest.approx(exact.best("loo"), rel=of_place(tolerance))
    for one, other in zip(near.of_each_target(), exact.of_each_target(), strict=True):
        assert one.loo == pytest.approx(other.loo, rel=tolerance)
        assert pickle.loads(pickle.dumps(one)).at([1.0]).loo == pytest.approx(other.loo[1:], rel=tolerance)


def test_with_all_points_as_landmarks_nothing_is_approximated():
    X, y, _, _ = data(n=25)
    alphas = np.geomspace(1e-2, 10, 5)
    near, exact = (
        RegularizationPath(KERNEL, y, X=X, alphas=alphas, trend="constant", approximation=a) for a in (ks.Nystrom(X), None)
    )
    for curve in (*CURVES[:8], "loo"):
        if curve != "risk":
            # The jitter changes eigenvalues by 1e-10 of themselves and is missing from the bound.
            tolerance = 25 * JITTER / alphas[0]
            mine, other = getattr(near, curve), getattr(exact, curve)
            assert mine == pytest.approx(other, rel=tolerance, abs=tolerance * np.abs(other).max()), curve


def test_paths_of_each_target_and_copies():
    X, y, w, Z = data(3)
    options = {"X": X, "alphas": [0.01, 0.1, 1.0], "sample_weight": w, "trend": "constant", "approximation": ks.Nystrom(Z)}
    path = RegularizationPath(KERNEL, y, **options)
    _, tolerance = approximated(X, Z)
    for k, one in enumerate(path.of_each_target()):
        alone = RegularizationPath(KERNEL, y[:, k], **options)
        for curve in ("loo", "gcv", "log_likelihood", "seminorm"):
            assert getattr(one, curve) == pytest.approx(getattr(alone, curve), rel=tolerance)
        assert one.at([0.5]).loo == pytest.approx(alone.at([0.5]).loo, rel=tolerance)
        for mine, other in zip(one.landmark_coef(0.1), alone.landmark_coef(0.1), strict=True):
            assert mine == pytest.approx(other, rel=tolerance, abs=tolerance * np.abs(other).max())
        copied = pickle.loads(pickle.dumps(one))
        assert np.array_equal(copied.loo, one.loo)
        assert np.array_equal(copied.at([0.5]).loo, one.at([0.5]).loo)
    assert path.loo == pytest.approx(np.mean([one.loo for one in path.of_each_target()], axis=0))


def test_blocks_of_rows_in_any_grouping_give_the_same_path():
    X, y, w, Z = data(2)
    H = np.ones((N, 1))
    whole = RegularizationPath(KERNEL, y, X=X, alphas=[0.1, 1.0], sample_weight=w, trend=H, approximation=ks.Nystrom(Z))
    blocks = _core.NystromBlocks.begin(KERNEL.build(), Z, 1)
    parts = [slice(0, 1), slice(1, 23), slice(23, N)]
    sums, *more = (blocks.add(X[part], y[part], 1 / w[part], H[part]) for part in parts)
    for other in more:
        sums.add(other)
    path = _core.path_of_sums(blocks, sums, w.sum(), (1 / w).sum(), 0.0, False, True)
    errors = sum(_core.left_out_of_block(path, blocks, X[p], y[p], H[p], w[p], [0.1, 1.0]) for p in parts)
    _, tolerance = approximated(X, Z)
    assert errors.mean(axis=0) / w.sum() == pytest.approx(whole.loo, rel=tolerance)
    for curve in ("gcv", "profiled_restricted_log_likelihood", "effective_dof"):
        assert path.values(np.array([0.1, 1.0]), False)[curve] == pytest.approx(getattr(whole, curve), rel=tolerance)


def test_the_same_bits_for_any_number_of_threads():
    X, y, w, _ = data(2, n=3000)
    before = ks.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            ks.set_num_threads(threads)
            path = RegularizationPath(KERNEL, y, X=X, sample_weight=w, alphas=[0.1], approximation=ks.Nystrom(100))
            found.append(np.array([path.loo, path.gcv, path.log_likelihood]))
    finally:
        ks.set_num_threads(before)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_a_large_mean_of_the_targets_costs_no_digits():
    X, y, _, Z = data()
    options = {"X": X, "alphas": [0.1], "trend": "constant", "approximation": ks.Nystrom(Z)}
    low, high = (RegularizationPath(KERNEL, y + shift, **options) for shift in (0.0, 2.0**20))
    for curve in ("loo", "residual_norm", "gcv"):
        # The targets themselves are rounded to eps 2^20.
        assert getattr(high, curve) == pytest.approx(getattr(low, curve), rel=N * np.finfo(float).eps * 2.0**20)


X0, Y0, _, Z0 = data()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": np.arange(N) % 3}, "groups: expected groups of equal rows"),
        ({"K": np.eye(N)}, "K: expected a kernel"),
        ({"K": KERNEL + WhiteKernel(0.1)}, "kernel must have no noise"),
        ({"approximation": ks.Vecchia()}, "approximation: expected"),
        ({"approximation": ks.Nystrom(Z0[:, :1])}, "landmarks"),
        ({"X": None}, "X: a path by landmarks needs the points"),
        ({"trend": np.ones((N, 2))}, "can be made of the others"),
    ],
)
def test_what_landmarks_cannot_do_is_said(options, message):
    K = options.pop("K", KERNEL)
    with pytest.raises((ValueError, TypeError), match=message):
        RegularizationPath(K, Y0, **{"X": X0, "approximation": ks.Nystrom(Z0), **options})


def test_coefficients_of_points_and_groups_are_refused():
    path = RegularizationPath(KERNEL, Y0, X=X0, alphas=[0.1], approximation=ks.Nystrom(Z0))
    with pytest.raises(ValueError, match="landmark_coef"):
        path.dual_coef(0.1)
    with pytest.raises(ValueError, match="expected a path without approximation"):
        path.leave_groups_out(np.arange(N) % 2)
    with pytest.raises(ValueError, match="expected a path with approximation"):
        RegularizationPath(KERNEL, Y0, X=X0, alphas=[0.1]).landmark_coef(0.1)


def test_directions_that_are_below_rounding_are_left_out():
    X, y, _, _ = data(d=1)
    Z = np.linspace(0, 3, 40)[:, None]
    path = RegularizationPath(RBF(2.0), y, X=X, approximation=ks.Nystrom(Z))
    assert len(path.eigenvalues) < 40
    assert np.isfinite(path.loo).all()
    exact = RegularizationPath(RBF(2.0), y, X=X, alphas=path.alphas[path.alphas > 1e-6])
    # The matrix differs by the jitter of the diagonal between landmarks, which alpha makes small in all n directions.
    assert path.loo[path.alphas > 1e-6] == pytest.approx(exact.loo, rel=len(X) * JITTER / 1e-6)
