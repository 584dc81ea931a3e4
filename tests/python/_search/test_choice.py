"""The loop that chooses: its curvature, what it profiles out, where it starts, how it ends."""

import time
from dataclasses import replace

import numpy as np
import pytest
from pairs import pairwise

import kernsel as ks
from kernsel._data.trend import trend_matrix
from kernsel._search import Budget, choice, choose, core_search
from kernsel._search.layout import Layout
from kernsel.criteria import GroupsOut, Likelihood
from kernsel.criteria.names import criterion_named
from kernsel.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    FunctionKernel,
    Linear,
    Matern,
    Parameter,
    Polynomial,
    WhiteKernel,
    priors,
)
from kernsel.kernels.automatic import Data

import reference
from accuracy import assert_forward
from criterion_cases import AT_GIVEN

C = ConstantKernel


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(70, 3)) * [1.0, 40.0, 1e-3]
    y = np.sin(5 * X[:, 0]) + 0.02 * X[:, 1] + 0.1 * rng.standard_normal(70)
    return X, y


def searched(criterion, kernel, X, y, trend=None, jitter=0.0):
    """Return the search of the core for a kernel and a noise, both unknown, with nothing profiled out."""
    H = trend_matrix(trend, X)
    data = Data(X, y, anchors=[])
    return choice.core_search(
        criterion,
        Layout(kernel),
        data,
        y,
        np.arange(len(y)),
        H,
        known=np.zeros(0),
        finds_noise=True,
        jitter=jitter,
        budget=Budget(),
        options={"profile": False},
    )


@pytest.mark.parametrize(("scale", "trend", "outputs"), pairwise(["known", "shared", "each"], [None, "linear"], [1, 2]))
def test_average_information(data, rng, scale, trend, outputs):
    """Half of u_a' P u_b / s^2, from dense matrices."""
    X, y = data
    Y = np.column_stack([y, rng.standard_normal(len(y))])[:, :outputs]
    kernel = 1.5 * Matern([0.4, 30.0, 2e-3], nu=2.5, product=True) + 0.5 * DotProduct(1.0)
    noise = 0.2
    search = searched(Likelihood(scale=scale), kernel, X, Y, trend)
    trial = search.evaluate([*kernel.theta, np.log(noise)], 2)

    H = trend_matrix(trend, X)
    K = kernel(X) + noise * np.eye(len(X))
    P = np.linalg.inv(K)
    P = P - P @ H @ np.linalg.solve(H.T @ P @ H, H.T @ P) if H.size else P
    c = P @ Y
    derivatives = []
    for p in range(kernel.n_dims):
        ahead, behind = kernel.theta, kernel.theta
        ahead[p] += 1e-5
        behind[p] -= 1e-5
        derivatives.append((kernel.clone_with_theta(ahead)(X) - kernel.clone_with_theta(behind)(X)) / 2e-5)
    derivatives.append(noise * np.eye(len(X)))
    n, m = Y.shape
    each = np.einsum("ik,ik->k", Y, c) / n
    s2 = {"known": np.ones(m), "shared": np.full(m, each.mean()), "each": each}[scale]
    expected = np.zeros((len(derivatives),) * 2)
    slopes = np.zeros((len(derivatives), m))
    for a, Ka in enumerate(derivatives):
        for k in range(m):
            slopes[a, k] = c[:, k] @ Ka @ c[:, k] / s2[k]
            for b, Kb in enumerate(derivatives):
                expected[a, b] += 0.5 * (Ka @ c[:, k]) @ P @ (Kb @ c[:, k]) / s2[k]
    if scale == "shared":
        expected -= 0.5 * np.outer(slopes.sum(axis=1), slopes.sum(axis=1)) / (n * m)
    if scale == "each":
        expected -= 0.5 * slopes @ slopes.T / n
    limit = 1e-7 * np.abs(expected).max()  # of the differences above
    assert trial["information"] == pytest.approx(expected, abs=limit)
    assert np.linalg.eigvalsh(trial["information"]).min() > -limit
    # And it is the mean of the observed and the expected information in amplitudes, in which the kernel is linear.
    if scale == "known" and trend is None:
        K1, K2 = derivatives[0], derivatives[-1]
        observed = sum(c[:, k] @ K1 @ P @ K2 @ c[:, k] for k in range(m)) - 0.5 * m * np.trace(P @ K1 @ P @ K2)
        fisher = 0.5 * m * np.trace(P @ K1 @ P @ K2)
        assert trial["information"][0, -1] == pytest.approx((observed + fisher) / 2, rel=1e-6)


def test_the_objective_is_the_criterion_with_all_derivatives(data):
    X, y = data
    kernel = C(1.2) * RBF([0.4, 30.0, 2e-3]) + WhiteKernel(0.01)
    condition = np.linalg.cond(kernel(X) + 0.05 * np.eye(len(X)))
    for name in AT_GIVEN:
        criterion = criterion_named(name, {"sigma": 0.1} if name == "risk" else {})
        search = searched(criterion, kernel, X, y, "constant", jitter=1e-8)
        x = np.append(kernel.theta, np.log(0.05))
        trial = search.evaluate(x.tolist(), 1)
        value = ks.evaluate(criterion, kernel, X, y, noise=0.05 + 1e-8, trend="constant").value
        assert_forward(trial["criterion"], value, condition, len(y), np.float64)
        in_nats = {True: -value, False: len(y) / 2 * (1.0 if name in ("risk", "holdout") else np.log(abs(value)))}
        assert_forward(trial["value"], in_nats[criterion.larger_is_better], condition, len(y), np.float64)
        slopes, error = reference.central_differences(lambda z: search.evaluate(z.tolist(), 0)["value"], x)  # noqa: B023
        assert (np.abs(trial["gradient"] - slopes) <= 10 * error).all(), name


def test_priors_count_in_map(data):
    X, y = data
    kernel = C(Parameter(1.2, prior=priors.Gamma(2.0, 1.0))) * RBF(Parameter(0.4, prior=priors.LogNormal(0.0, 1.0)))
    search = searched(criterion_named("map", {}), kernel, X, y)
    x = np.append(kernel.theta, np.log(0.05))
    trial = search.evaluate(x.tolist(), 1)
    assert -trial["value"] == pytest.approx(ks.evaluate("map", kernel, X, y, noise=0.05).value)
    slopes, _ = reference.central_differences(lambda z: search.evaluate(z.tolist(), 0)["value"], x)
    assert trial["gradient"] == pytest.approx(slopes, rel=1e-5, abs=1e-6)
    loose, tight = (
        choose(criterion_named("map", {}), C(1.0) * RBF(Parameter(1.0, prior=prior)), X[:, :1], y, finds_noise=True).kernel
        for prior in (priors.LogNormal(0.0, 10.0), priors.LogNormal(5.0, 0.01))
    )
    assert loose.k2.length_scale.value < 3
    assert tight.k2.length_scale.value == pytest.approx(np.exp(5.0), rel=0.1)


def test_profiling_finds_the_same_as_searching_in_all_dimensions(data):
    X, y = data
    kernel = C("auto") * RBF("auto") + C("auto") * Linear("auto")
    profiled = choose(Likelihood(), kernel, X, y, finds_noise=True, trend="constant")
    assert profiled.criterion.scale == "shared"
    whole = choose(Likelihood(), profiled.kernel, X, y, finds_noise=True, trend="constant", optimizer="l-bfgs-b")
    assert profiled.value == pytest.approx(whole.value, abs=1e-3)

    def scipys(objective, x, bounds):
        from scipy.optimize import minimize

        found = minimize(objective, x, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-12})
        return found.x, found.fun

    own = choose(Likelihood(), profiled.kernel, X, y, finds_noise=True, trend="constant", optimizer=scipys)
    assert own.criterion.scale == "known"
    assert profiled.value >= own.value - 1e-3
    there = ks.evaluate("lml", profiled.kernel, X, y, noise=profiled.noise + profiled.jitter, trend="constant")
    assert there.value == pytest.approx(profiled.value, rel=1e-6)


@pytest.mark.parametrize("name", ["loo", "gcv", "kfold", "loo_absolute", "loo_log_density"])
def test_criteria_that_do_not_see_the_scale_get_it_from_the_residuals(data, name):
    """The scale makes the mean of r^2 / v one."""
    X, y = data
    found = choose(criterion_named(name, {}), C("auto", (1e-12, 1e12)) * RBF("auto"), X, y, finds_noise=True, trend="constant")
    left_out = ks.loo(found.kernel, X, y, noise=found.noise + found.jitter, trend="constant")
    assert np.mean(left_out.residuals**2 / left_out.variances) == pytest.approx(1.0, rel=1e-5)


def otl(X):
    Rb1, Rb2, Rf, Rc1, Rc2, beta = X.T
    a = beta * (Rc2 + 9)
    return (12 * Rb2 / (Rb1 + Rb2) + 0.74) * a / (a + Rf) + 11.35 * Rf / (a + Rf) + 0.74 * Rf * a / ((a + Rf) * Rc1)


OTL = np.array([[50, 150], [25, 70], [0.5, 3], [1.2, 2.5], [0.25, 1.2], [50, 300]])


def circuit(n, noise, seed):
    rng = np.random.default_rng(seed)
    X = OTL[:, 0] + rng.uniform(size=(n, 6)) * np.ptp(OTL, axis=1)
    y = otl(X)
    return X, y + 0.1 * y.std() * rng.standard_normal(n) if noise else y


@pytest.mark.parametrize(("n", "noise", "most"), [(60, 0.0, 45), (60, "auto", 330), (150, "auto", 60)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_evaluations_are_few(n, noise, most, seed):
    """A regression test of the search itself: on this circuit it took up to 36, 321 and 50 evaluations to the optimum."""
    X, y = circuit(n, noise, seed)
    kernel = C("auto") * Matern("auto", nu=2.5, product=True)
    noisy = {"finds_noise": True} if noise == "auto" else {"noise": noise}
    found = choose(Likelihood(), kernel, X, y, **noisy, trend="constant")
    assert found.n_evaluations <= most
    best = choose(
        Likelihood(),
        kernel,
        X,
        y,
        **noisy,
        trend="constant",
        n_restarts=10,
    )
    assert found.value >= best.value - (0.5 if n > 100 else 1e-3)
    assert found.ended == "converged"


def arm(X):
    angles, lengths = np.cumsum(2 * np.pi * X[:, :4], axis=1), X[:, 4:]
    return np.hypot((lengths * np.cos(angles)).sum(axis=1), (lengths * np.sin(angles)).sum(axis=1))


@pytest.mark.parametrize("seed", [2, 3, 7, 11])
def test_columns_that_do_not_matter_are_left_out_and_taken_in(seed):
    """Few points of a function of eight columns: the likelihood has many optima, each with other columns.

    In these designs the starts that know of no irrelevant columns miss the best one.
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(50, 8))
    y = arm(X) + 0.05 * rng.standard_normal(50)
    kernel = C("auto") * Matern("auto", nu=2.5)
    found = choose(Likelihood(), kernel, X, y, finds_noise=True, trend="constant")
    best = choose(Likelihood(), kernel, X, y, finds_noise=True, trend="constant", n_restarts=40, random_state=seed)
    assert found.value >= best.value - 1e-3 * abs(best.value)


@pytest.mark.parametrize("seed", [0, 1])
def test_periods_and_trends_are_told_apart(seed):
    rng = np.random.default_rng(seed)
    X = np.linspace(0, 12, 120)[:, None]
    y = 0.5 * X[:, 0] + np.sin(2 * np.pi * X[:, 0] / 1.3) + 0.1 * rng.standard_normal(120)
    kernel = C("auto") * Linear("auto") + C("auto") * ExpSineSquared("auto", periodicity="auto")
    found = choose(Likelihood(), kernel, X, y, finds_noise=True, trend="constant")
    assert np.ravel(found.kernel.k2.k2.periodicity)[0] == pytest.approx(1.3, rel=0.01)
    assert found.noise == pytest.approx(0.01, rel=0.5)


def test_some_of_the_points_first(monkeypatch):
    rng = np.random.default_rng(0)
    X = OTL[:, 0] + rng.uniform(size=(320, 6)) * np.ptp(OTL, axis=1)
    y = otl(X) + 0.05 * rng.standard_normal(320)
    kernel = C("auto") * Matern("auto", nu=2.5, product=True)
    whole = choose(Likelihood(), kernel, X, y, finds_noise=True, trend="constant")
    assert whole.n_evaluations_subset == 0
    monkeypatch.setattr(core_search, "MANY", 200)
    for module in (choice, core_search):
        monkeypatch.setattr(module, "SUBSET", 150)
    for criterion in (Likelihood(), criterion_named("loo", {})):
        some = choose(criterion, kernel, X, y, finds_noise=True, trend="constant", random_state=1)
        assert some.n_evaluations_subset > 10
        if isinstance(criterion, Likelihood):
            assert some.n_evaluations < 0.7 * whole.n_evaluations
            assert some.value == pytest.approx(whole.value, abs=0.1)
    # Groups are of all points.
    assert choose(GroupsOut(5), RBF("auto"), X[:250], y[:250], finds_noise=True).n_evaluations_subset == 0


def test_nothing_depends_on_threads_and_everything_on_the_seed(data):
    X, y = data
    kernel = C("auto") * RBF("auto")
    found = []
    before = ks.get_num_threads()
    try:
        for threads in (1, 2):
            ks.set_num_threads(threads)
            found.append(choose(Likelihood(), kernel, X, y, finds_noise=True, random_state=3))
    finally:
        ks.set_num_threads(before)
    assert np.array_equal(found[0].kernel.theta, found[1].kernel.theta)
    assert found[0].noise == found[1].noise
    again = choose(Likelihood(), kernel, X, y, finds_noise=True, random_state=np.random.RandomState(3))
    other = choose(Likelihood(), kernel, X, y, finds_noise=True, random_state=4)
    assert not np.array_equal(other.of_starts, found[0].of_starts)
    assert other.value == pytest.approx(again.value, abs=1e-3)


def test_what_a_selection_shows(data):
    X, y = data
    found = choose(Likelihood(), C("auto") * RBF("auto"), X, y, finds_noise=True)
    first, second, third, *_ = str(found).splitlines()
    assert first == f"{found.kernel}, noise {found.noise:.4g}"
    assert second.startswith(f"value {found.value:.6g} after {found.n_evaluations} evaluations, ")
    assert second.endswith("; ended: converged")
    assert third == "of the starts: " + ", ".join(f"{value:.6g}" for value in found.of_starts)
    more = replace(found, noise=np.nan, n_evaluations_subset=7, at_bounds=["k1__constant_value"], flat=["k2__length_scale"])
    assert str(more).splitlines()[0] == str(found.kernel)
    assert ", 7 before on a subset" in str(more)
    assert str(more).endswith("at a bound: k1__constant_value\nthe criterion hardly depends on: k2__length_scale")


def test_kernels_that_are_functions(data):
    X, y = data

    def bell(X, Z, width):
        return np.exp(-(((X[:, :1] - Z[:, :1].T) / width) ** 2))

    kernel = C("auto") * FunctionKernel(bell, {"width": Parameter(0.1, bounds=(1e-3, 1e3))}) + C("auto") * Linear("auto")
    found = choose(Likelihood(), kernel, X, y, finds_noise=True)
    width = found.kernel.k1.k2.parameters["width"].value
    assert width != 0.1
    near = [
        ks.evaluate("lml", found.kernel.clone_with_theta(found.kernel.theta + step), X, y, noise=found.noise).value
        for step in 0.05 * np.eye(found.kernel.n_dims)
    ]
    assert max(near) <= found.value + 1e-4


def test_an_amplitude_that_would_pass_its_bound(data):
    """The others are then at their best for the bound, and ratios are kept where a criterion does not see the scale."""
    X, y = data
    kernel = C(1.0, (1e-3, 0.05)) * RBF("auto")
    found = choose(Likelihood(), kernel, X, y, finds_noise=True)
    assert found.kernel.k1.constant_value == pytest.approx(0.05)
    assert found.criterion.scale == "known"
    whole = choose(Likelihood(), kernel, X, y, finds_noise=True, profile=False)
    assert found.value == pytest.approx(whole.value, abs=1e-3)
    assert "k1__constant_value" in found.at_bounds
    free = choose(criterion_named("loo", {}), C("auto") * RBF("auto"), X, y, finds_noise=True)
    bound = choose(criterion_named("loo", {}), kernel, X, y, finds_noise=True)
    assert bound.kernel.k1.constant_value == pytest.approx(0.05)
    value = ks.evaluate("loo", bound.kernel, X, y, noise=bound.noise + bound.jitter).value
    assert value == pytest.approx(free.value, rel=1e-3)


def test_an_exception_of_a_kernel_comes_through(data):
    X, y = data

    def broken(X, Z, width):  # noqa: ARG001
        raise RuntimeError(f"no width {width}")

    with pytest.raises(RuntimeError, match="no width"):
        choose(Likelihood(), FunctionKernel(broken, {"width": 1.0}), X, y, finds_noise=True)


def test_ties_and_fixed_parameters(data):
    X, y = data
    kernel = C("auto") * RBF(Parameter(0.3, name="l")) + C("auto") * Matern(Parameter(0.3, name="l"), nu=0.5) + C(1.0, "fixed")
    found = choose(Likelihood(), kernel, X[:, :1], y, finds_noise=True)
    parts = found.kernel.operands()
    assert parts[0].k2.length_scale.value == parts[1].k2.length_scale.value != 0.3
    assert parts[2].constant_value == 1.0


@pytest.mark.parametrize("exponent", [-340, 270, 340])
@pytest.mark.parametrize("name", ["gcv", "loo", "loo_absolute", "loo_crps", "kfold", "risk", "profiled_loo_log_density"])
def test_searches_in_any_unit_of_y(data, name, exponent):
    X, y = data
    found = []
    for s in (1.0, 2.0**exponent):
        criterion = criterion_named(name, {"sigma": 0.1 * s} if name == "risk" else {})
        selection = choose(criterion, C("auto") * RBF("auto"), X, s * y, finds_noise=True, trend="constant")
        power = 0 if "density" in name else 1 if name in ("loo_absolute", "loo_crps") else 2
        found.append(selection.value / s**power + (0.0 if power else len(y) * np.log(s)))
        assert selection.ended == "converged"
    assert found[1] == pytest.approx(found[0], rel=1e-3)


def test_bounds_and_flat_parameters_are_reported(rng):
    X = rng.uniform(size=(60, 2))
    y = np.sin(6 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    found = choose(Likelihood(), C("auto") * RBF("auto"), X, y, finds_noise=True)
    assert "k2__length_scale[1]" in found.flat
    assert "k2__length_scale[0]" not in found.flat
    tight = choose(Likelihood(), C("auto") * RBF([1.0, 1.0], (0.5, 2.0)), X, y, finds_noise=True)
    assert "k2__length_scale[0]" in tight.at_bounds
    assert np.ravel(tight.kernel.k2.length_scale)[0] == pytest.approx(0.5)


@pytest.mark.parametrize("optimizer", ["newton", "l-bfgs-b"])
def test_budgets(data, optimizer):
    X, y = data
    kernel = C("auto") * RBF("auto")
    few = choose(Likelihood(), kernel, X, y, finds_noise=True, optimizer=optimizer, budget=Budget(evaluations=7))
    assert (few.ended, few.n_evaluations) == ("evaluations", 7)
    assert np.isfinite(few.value)
    brief = choose(Likelihood(), kernel, X, y, finds_noise=True, optimizer=optimizer, budget=Budget(seconds=0.0))
    assert (brief.ended, brief.n_evaluations) == ("seconds", 1)
    seen = []

    def watch(evaluations, points, best):
        seen.append((evaluations, points, best))
        return len(seen) < 4

    stopped = choose(Likelihood(), kernel, X, y, finds_noise=True, optimizer=optimizer, budget=Budget(progress=watch))
    assert (stopped.ended, len(seen)) == ("stopped", 4)
    assert [count for count, _, _ in seen] == [1, 2, 3, 4]


def test_a_matrix_that_cannot_be_factorized_gets_more_jitter(rng):
    """Twice the same points, hundreds of them, and a kernel whose rounding is worse than its diagonal tells."""
    X = np.repeat(rng.uniform(size=(40, 1)), 3, axis=0)
    y = np.sin(6 * X[:, 0])
    found = choose(Likelihood(), C("auto") * RBF("auto") + C("auto") * Polynomial(8, "auto", "auto"), X, y)
    assert found.jitter > 0
    assert np.isfinite(found.value)


def test_nothing_to_choose_by(rng):
    X = rng.uniform(size=(20, 2))
    for y, trend in ((np.full(20, 3.0), "constant"), (np.zeros(20), None), (X @ [1.0, 2.0] + 4, "linear")):
        found = choose(Likelihood(), C("auto") * RBF("auto"), X, y, finds_noise=True, trend=trend)
        assert found.ended == "undecided"
        assert found.n_evaluations == 0
        assert len(found.flat) == 4
    assert choose(Likelihood(), RBF(1.0, "fixed"), X, np.sin(X[:, 0])).n_evaluations == 1


def test_the_time_is_over_within_one_evaluation():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 6))
    y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(3000)
    began = time.perf_counter()
    found = choose(Likelihood(), Matern("auto", nu=2.5), X, y, finds_noise=True, optimizer="auto", budget=Budget(seconds=0.02))
    took = time.perf_counter() - began
    one = time.perf_counter()
    ks.evaluate("lml", found.kernel, X, y, noise=0.01, gradient=True)
    one = time.perf_counter() - one
    assert found.ended == "seconds"
    assert took < 0.5 * one + 0.3  # an evaluation on all points would have taken longer
    gp = ks.GaussianProcessRegressor(max_seconds=1e-9).fit(X[:200], y[:200])
    assert gp.selection_.ended == "seconds"
    assert np.isfinite(gp.criterion_value_)
    assert np.isfinite(gp.predict(X[:5])).all()


@pytest.mark.parametrize("name", ["lml", "reml"])
def test_the_quasi_newton_method_keeps_the_scale_of_a_likelihood(data, name):
    X, y = data
    found = [
        choose(
            criterion_named(name, {}), C("auto") * RBF("auto"), X, y, finds_noise=True, trend="constant", optimizer=optimizer
        )
        for optimizer in ("l-bfgs-b", "auto")
    ]
    for selection in found:
        value = ks.evaluate(name, selection.kernel, X, y, noise=selection.noise, trend="constant").value
        assert value == pytest.approx(selection.value, abs=1e-6)
    assert found[0].noise == pytest.approx(found[1].noise, rel=1e-2)
