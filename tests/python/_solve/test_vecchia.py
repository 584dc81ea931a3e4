"""Criteria by nearest neighbours: exact if all others are neighbours, and what the slow twin computes if they are few."""

import numpy as np
import pytest

import kernsel as ks
from kernsel import _core
from kernsel._data.trend import trend_matrix
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, Matern, WhiteKernel

import reference as ref
import reference_vecchia as twin
from accuracy import eps
from criterion_cases import FOLDS, KERNELS, TRENDS, data, options, split

NAMES = ["lml", "profiled_lml", "reml", "profiled_reml", "loo", "loo_log_density", "profiled_loo_log_density", "loo_crps"]
NAMES += ["loo_absolute", "gcv", "risk"]
OF_COLUMNS = [name for name in KERNELS if name != "projected"]  # whose noise is a vector, and known for the given points only
FEW = ks.Vecchia(4)
SMOOTHING = 0.01


def evaluated(name, kernel, *, outputs=None, trend="constant", near=FEW, gradient=True, **more):
    X, y, noise = data(outputs)
    given = {"noise": noise, "trend": trend, "gradient": gradient, **options(name), **more}
    return ks.evaluate(name, kernel, X, y, approximation=near, **given)


@pytest.mark.parametrize("trend", TRENDS)
@pytest.mark.parametrize("name", NAMES)
def test_equals_the_exact_criterion_if_all_others_are_neighbours(name, trend):
    if trend == "quadratic" and name.startswith(("profiled", "gcv")):
        trend = "linear"
    for label in OF_COLUMNS[:: 1 if trend == "constant" else 2]:
        exact, near = (evaluated(name, KERNELS[label], outputs=2, trend=trend, near=a) for a in (None, ks.Vecchia(13)))
        slack = 1e6 * eps(float)  # the condition of the kernel matrices is some 1e3
        assert near.value == pytest.approx(exact.value, rel=slack)
        size = np.abs(exact.gradient).max() + np.abs(exact.noise_gradient).max()
        np.testing.assert_allclose(near.gradient, exact.gradient, rtol=0, atol=slack * size)
        np.testing.assert_allclose(near.noise_gradient, exact.noise_gradient, rtol=0, atol=slack * size)
        np.testing.assert_allclose(near.beta, exact.beta, rtol=0, atol=slack * (1 + np.abs(exact.beta).max(initial=0)))


@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize("label", ["rbf", "matern and noise", "mixture"])
def test_few_neighbours_are_those_of_the_slow_twin(label, trend):
    X, y, noise = data(2)
    kernel, H = KERNELS[label], trend_matrix(trend, X)
    K, white = split(kernel, X)
    weights = np.linspace(0.5, 2.0, len(X))
    for name in NAMES:
        workspace = Workspace()
        more = {"smoothing": SMOOTHING} if name == "loo_absolute" else {}
        found = evaluated(name, kernel, outputs=2, trend=trend, workspace=workspace, sample_weight=weights, **more)
        before, others = workspace.neighbors(), workspace.neighbors(left_out=True)
        if before is None:  # without a trend, a criterion that leaves out has no use for them
            before = np.full((len(X), 1), -1)
        fit = twin.fit(K, noise / weights + white, H, y, before, others)
        value = twin.criterion(name, fit, weights=weights, sigma=0.3, smoothing=SMOOTHING * np.std(y))[0]
        assert found.value == pytest.approx(value, rel=1e6 * eps(float)), name


@pytest.mark.parametrize("trend", [None, "linear"])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_central_differences(name, trend):
    X, y, noise = data(2)
    label = "matern and noise" if name in ("lml", "loo", "gcv") else "rbf"
    kernel, workspace = KERNELS[label], Workspace()

    def value(theta, variances):
        moved = kernel.clone_with_theta(theta)
        given = {"noise": variances, "trend": trend, "workspace": workspace, **options(name)}
        return ks.evaluate(name, moved, X, y, approximation=FEW, **given).value

    found = evaluated(name, kernel, outputs=2, trend=trend, workspace=workspace)
    step = eps(float) ** (1 / 3)
    tolerance = 1e3 * step**2 * (1 + np.abs(found.gradient).max() + np.abs(found.noise_gradient).max() + abs(found.value))
    for p in range(kernel.n_dims):
        move = step * np.eye(kernel.n_dims)[p]
        slope = (value(kernel.theta + move, noise) - value(kernel.theta - move, noise)) / (2 * step)
        assert found.gradient[p] == pytest.approx(slope, abs=tolerance), p
    for i in (0, 5, 13):
        move = 0.1 * step * np.eye(len(X))[i]
        slope = (value(kernel.theta, noise + move) - value(kernel.theta, noise - move)) / (0.2 * step)
        assert found.noise_gradient[i] == pytest.approx(slope, abs=100 * tolerance), i


def test_neighbours_are_of_other_groups():
    workspace = Workspace()
    evaluated("loo", KERNELS["rbf"], groups=FOLDS, workspace=workspace)
    others = workspace.neighbors(left_out=True)
    assert (FOLDS[others] != FOLDS[:, None]).all()
    exact = evaluated("loo", KERNELS["rbf"], groups=FOLDS, near=None, trend=None)
    near = evaluated("loo", KERNELS["rbf"], groups=FOLDS, near=ks.Vecchia(13), trend=None)
    assert near.value == pytest.approx(exact.value, rel=1e6 * eps(float))
    np.testing.assert_allclose(near.gradient, exact.gradient, rtol=1e6 * eps(float))


def test_neighbours_are_near_in_units_of_the_length_scales():
    X = np.random.default_rng(0).uniform(size=(400, 2))
    workspace = Workspace()
    ks.evaluate("loo", RBF([0.05, 5.0]), X, X[:, 0], noise=0.1, approximation=FEW, workspace=workspace)
    gaps = np.abs(X[workspace.neighbors(left_out=True)] - X[:, None]).mean(axis=(0, 1))
    assert gaps[0] < 0.1 * gaps[1]


def test_leave_one_out_predicts_from_neighbours():
    X, y, noise = data(0)
    for trend in (None, "linear"):
        exact, near = (ks.loo(RBF(0.7), X, y, noise=noise, trend=trend, approximation=a) for a in (None, ks.Vecchia(13)))
        for name in ("residuals", "variances", "leverage", "dual_coef"):
            np.testing.assert_allclose(getattr(near, name), getattr(exact, name), rtol=1e6 * eps(float))


def test_points_left_out_have_the_trend_of_the_first_points():
    """Of more than 4096 points, with a correction for those that the trend has seen, and exact gradients."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4300, 1))
    y, kernel, workspace = 5 + np.sin(20 * X[:, 0]) + 0.3 * rng.standard_normal(4300), Matern(0.1), Workspace()
    given = {"noise": 0.09, "trend": "constant", "approximation": ks.Vecchia(3), "workspace": workspace}
    found = ks.evaluate("loo_log_density", kernel, X, y, gradient=True, **given)
    assert len(workspace.neighbors()) == 4096
    all_points = ks.loo(kernel, X, y, noise=0.09, trend="constant", approximation=ks.Vecchia(3))
    v = all_points.variances
    expected = np.sum(-0.5 * (np.log(2 * np.pi * v) + all_points.residuals**2 / v))
    assert found.value == pytest.approx(expected, abs=1.0)  # about what an estimated coefficient costs

    def value(theta):
        return ks.evaluate("loo_log_density", kernel.clone_with_theta(theta), X, y, **given).value

    slope, error = ref.central_differences(value, kernel.theta, 1e-4)
    np.testing.assert_allclose(found.gradient, slope, atol=(error + 1e-8).max())


def test_a_trend_that_the_first_points_do_not_determine():
    """Equal points are the last ones of the order, and a function that is zero elsewhere needs all points."""
    first = np.random.default_rng(0).uniform(size=(4096, 1))
    X, workspace, again = np.vstack([first, first[:104]]), Workspace(), np.arange(4200) >= 4096
    for trend, count in (("constant", 4096), (np.column_stack([np.ones(4200), again]), 4200)):
        given = {"noise": 0.1, "trend": trend, "approximation": ks.Vecchia(2), "workspace": workspace}
        assert np.isfinite(ks.evaluate("loo", Matern(0.1), X, X[:, 0], **given).value)
        assert len(workspace.neighbors()) == count


def test_bad_input_is_refused():
    X, y, _ = data(0)
    with pytest.raises(ValueError, match="neighbors: expected a whole number from 1"):
        ks.Vecchia(0)
    with pytest.raises(ValueError, match="at most 500"):
        ks.Vecchia(30, predict_neighbors=1000)
    with pytest.raises(TypeError, match="approximation: expected None or an approximation"):
        ks.evaluate("lml", RBF(1.0), X, y, noise=0.1, approximation=30)
    with pytest.raises(ValueError, match="no joint density of groups"):
        ks.evaluate("kfold_log_density", RBF(1.0), X, y, noise=0.1, trend="constant", approximation=FEW, folds=FOLDS)
    with pytest.raises(ValueError, match="for objects"):
        ks.evaluate("lml", ks.structured.Spectrum(2), ["AC", "CA", "CC"], [1.0, 2.0, 3.0], noise=0.1, approximation=FEW)


def test_equal_points_without_noise_are_named():
    X, y, _ = data(0)
    X[7] = X[3]
    with pytest.raises(ks.NotPositiveDefiniteError) as raised:
        ks.evaluate("lml", RBF(0.5), X, y, approximation=FEW)
    assert raised.value.pivot in (3, 7)
    assert np.isfinite(ks.evaluate("lml", RBF(0.5) + WhiteKernel(0.1), X, y, approximation=FEW).value)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n):
    X, y, noise = (part[:n] for part in data(0))
    for name in ("lml", "loo") if n > 1 else ("lml",):
        exact, near = (ks.evaluate(name, Matern(1.0), X, y, noise=noise, approximation=a).value for a in (None, FEW))
        assert near == pytest.approx(exact)


def test_the_same_bits_for_any_number_of_threads():
    X = np.random.default_rng(0).uniform(size=(3000, 3))
    y = np.sin(5 * X).sum(axis=1)
    before = ks.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            ks.set_num_threads(threads)
            for name in ("lml", "loo_log_density", "gcv"):
                found = ks.evaluate(
                    name, RBF([0.3, 0.4, 0.5]), X, y, noise=0.1, trend="linear", gradient=True, approximation=ks.Vecchia(10)
                )
                results.append((found.value, *found.gradient, found.noise_gradient))
    finally:
        ks.set_num_threads(before)
    assert results[:3] == results[3:6] == results[6:]


@pytest.mark.parametrize("label", ["rbf", "matern and noise", "mixture"])
def test_joint_densities_of_groups(label):
    """A chain in each group: its points in their order, each given the nearest of other groups and of those before it."""
    X, y, noise = data(2)
    kernel, groups = KERNELS[label], FOLDS
    given = {"outputs": 2, "trend": None}
    exact, all_others = (evaluated("kfold_log_density", kernel, near=a, **given) for a in (None, ks.Vecchia(13)))
    slack = 1e6 * eps(float)
    assert all_others.value == pytest.approx(exact.value, rel=slack)
    size = np.abs(exact.gradient).max() + np.abs(exact.noise_gradient).max()
    np.testing.assert_allclose(all_others.gradient, exact.gradient, rtol=0, atol=slack * size)
    np.testing.assert_allclose(all_others.noise_gradient, exact.noise_gradient, rtol=0, atol=slack * size)

    workspace = Workspace()
    found = evaluated("kfold_log_density", kernel, workspace=workspace, **given)
    K = kernel(X) + np.diag(noise)
    value = 0.0
    for i, row in enumerate(workspace.neighbors(left_out=True)):
        S = row[row >= 0]
        assert len(S) == 4
        assert all(groups[j] != groups[i] or j < i for j in S)
        b = np.linalg.solve(K[np.ix_(S, S)], K[S, i])
        variance = K[i, i] - K[i, S] @ b
        value -= 0.5 * np.sum((y[i] - b @ y[S]) ** 2 / variance + np.log(2 * np.pi * variance))
    assert found.value == pytest.approx(value, rel=slack)

    def moved(t):
        theta, variances = t[: kernel.n_dims], t[kernel.n_dims :]
        return evaluated("kfold_log_density", kernel.clone_with_theta(theta), noise=variances, **given).value

    slopes, error = ref.central_differences(moved, np.append(kernel.theta, noise), 1e-5)
    limit = error + slack * np.abs(slopes).max()
    assert (np.abs(np.append(found.gradient, found.noise_gradient) - slopes) <= limit).all()


def test_an_order_and_features_that_are_given():
    rng = np.random.default_rng(2)
    X, Y = rng.uniform(size=(40, 2)), rng.standard_normal((40, 3))
    features, workspace = [(1, 2.0, 0.0), (0, 1.0, 0.5)], Workspace()
    points = _core.in_features(X, features)
    np.testing.assert_allclose(points[:, 0], 2 * X[:, 1], rtol=eps(float))
    np.testing.assert_allclose(
        points[:, 1:].T, [np.cos(4 * np.pi * X[:, 0]), np.sin(4 * np.pi * X[:, 0])], atol=10 * eps(float)
    )
    kernel, noise, none = RBF(0.3), np.full(40, 0.1), np.zeros((40, 0))

    def found(neighbors, criterion, terms=()):
        near = ks.Vecchia(neighbors).core(terms, ordered=True, features=features)
        return _core.evaluate(criterion, kernel.build(), X, Y, noise, none, None, True, workspace, near, False)

    found(5, _core.likelihood(False, "known"))
    np.testing.assert_array_equal(workspace.neighbors(), twin.nearest_predecessors(points, np.arange(40), 5))
    K = kernel(X) + 0.1 * np.eye(40)
    whole = found(39, _core.linear([1.0, 2.0, 3.0], 0.5, None, None))
    products, slack = Y.T @ np.linalg.solve(K, Y), 40 * np.linalg.cond(K) * eps(float)
    np.testing.assert_allclose(workspace.products(), products, rtol=0, atol=slack * np.abs(products).max())
    expected = np.diag(products) @ [1, 2, 3] + 0.5 * np.linalg.slogdet(K)[1]
    assert whole["value"] == pytest.approx(expected, rel=slack)
    halves = [found(39, _core.linear([1.0, 2.0, 3.0], 0.5, None, None), half) for half in (range(20), range(20, 40))]
    assert halves[0]["noise"].shape == (20,)
    assert sum(half["value"] for half in halves) == pytest.approx(expected, rel=slack)
    for name in ("gradient", "noise_gradient"):
        both = halves[0][name] + halves[1][name]
        np.testing.assert_allclose(both, whole[name], rtol=0, atol=slack * np.abs(whole[name]).max())


def test_what_was_shown_is_differentiated_once_more():
    """By pairs of outputs, with the expected information, tr(P dK_a P dK_b) / 2 for each output."""
    rng = np.random.default_rng(3)
    X, Y, noise = rng.uniform(size=(40, 2)), rng.standard_normal((40, 2)), rng.uniform(0.1, 0.2, 40)
    kernel, workspace, none = 1.3 * RBF([0.3, 0.4]), Workspace(), np.zeros((40, 0))
    near = ks.Vecchia(39).core(ordered=True)

    def shown(targets, squares, gradient=False):
        criterion = _core.linear(squares, 0.5, None, None)
        return _core.evaluate(criterion, kernel.build(), X, targets, noise, none, None, gradient, workspace, near, False)

    pair = np.array([[1.0, 0.4], [0.4, -2.0]])
    values, vectors = np.linalg.eigh(pair)
    expected = shown(Y @ vectors, values.tolist(), gradient=True)
    shown(Y, [0.0, 0.0])
    criterion = _core.linear([0.0, 0.0], 0.5, None, None, products=pair)
    found = _core.differentiate(criterion, X.copy(), Y, noise, none, None, workspace, noise)
    K = kernel(X)
    P, scaled = np.linalg.inv(K + np.diag(noise)), (X[:, None] - X) / [0.3, 0.4]
    slack = 40 * np.linalg.cond(P) * eps(float)
    for name in ("gradient", "noise_gradient"):
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=slack * np.abs(expected[name]).max())
    tangents = [K, K * scaled[..., 0] ** 2, K * scaled[..., 1] ** 2, np.diag(noise)]
    information = np.array([[np.trace(P @ a @ P @ b) for b in tangents] for a in tangents])
    np.testing.assert_allclose(found["information"], information, rtol=0, atol=slack * information.max())
    assert _core.differentiate(criterion, X, Y, noise, none, None, workspace)["information"] is None
    others = _core.linear([], 0.0, np.ones((40, 2)), None)
    for wrong, points in ((criterion, X[:39]), (others, X)):
        with pytest.raises(ValueError, match="expected the problem of the last evaluation"):
            _core.differentiate(wrong, points, Y[: len(points)], noise[: len(points)], none[: len(points)], None, workspace)
    with pytest.raises(ValueError, match="an evaluation by neighbours before"):
        _core.differentiate(criterion, X, Y, noise, none, None, Workspace())
    with pytest.raises(ValueError, match="a number for each pair of outputs"):
        _core.differentiate(_core.linear([0.0, 0.0], 0.5, None, None, products=np.eye(3)), X, Y, noise, none, None, workspace)


def test_a_linear_criterion_has_the_gradient_of_one_with_its_derivatives():
    rng = np.random.default_rng(3)
    X, y = rng.uniform(size=(40, 2)), rng.standard_normal((40, 1))
    seen, near = [], ks.Vecchia(6).core(range(10, 30))
    kernel, noise, H = RBF(0.3).build(), np.full(40, 0.1), np.ones((40, 1))

    def loss(r, v):
        seen.append((r, v))
        return r**2 / v, 2 * r / v, -((r / v) ** 2)

    def found(criterion):
        return _core.evaluate(criterion, kernel, X, y, noise, H, None, True, Workspace(), near, False)

    expected = found(_core.leave_out("", 0.0, loss, True, False))
    r, v = seen[0]
    linear = found(_core.linear([], 0.0, (2 * r / v)[:, None], -((r / v) ** 2)))
    np.testing.assert_allclose(linear["gradient"], expected["gradient"], rtol=100 * eps(float))
    np.testing.assert_allclose(
        linear["noise_gradient"], expected["noise_gradient"], rtol=100 * eps(float), atol=np.finfo(float).tiny
    )
    with pytest.raises(ValueError, match="a number for each point that is left out"):
        found(_core.linear([], 0.0, np.ones((3, 1)), None))
    with pytest.raises(ValueError, match="a number for each output"):
        found(_core.linear([1.0, 2.0], 0.0, None, None))
    with pytest.raises(ValueError, match="a column that the points do not have"):
        _core.evaluate(
            _core.likelihood(False, "known"),
            kernel,
            X,
            y,
            noise,
            H,
            None,
            False,
            Workspace(),
            ks.Vecchia(3).core(features=[(2, 1.0, 0.0)]),
            False,
        )
