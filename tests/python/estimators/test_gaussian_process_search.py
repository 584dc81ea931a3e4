"""What GaussianProcessRegressor chooses: the best, within its budget, in any unit, and however it ends."""

import os
import pickle
import signal
import time

import numpy as np
import pytest
from pairs import pairwise
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as sk
from statsmodels.regression.linear_model import GLS

import kernsel as ks
from kernsel.criteria.names import criterion_named
from kernsel.kernels import RBF, ConstantKernel, Matern, Parameter, WhiteKernel
from kernsel.kernels.priors import LogNormal

import reference
from criterion_cases import AT_GIVEN
from processes import basis, rounding_of

GP = ks.GaussianProcessRegressor


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)
    return X, y, rng.uniform(size=(15, 2))


OPTIONS = {
    "both unknown": {"kernel": ConstantKernel("auto") * RBF("auto"), "noise": "auto"},
    "noise known": {"kernel": ConstantKernel("auto") * RBF("auto"), "noise": 0.01},
    "noise of each point": {"kernel": RBF("auto"), "noise": np.linspace(0.005, 0.02, 40)},
    "alpha besides": {"kernel": ConstantKernel("auto") * RBF("auto"), "noise": "auto", "alpha": 0.005},
    "alpha of each point": {"kernel": RBF("auto"), "noise": "auto", "alpha": np.linspace(0.001, 0.01, 40)},
    "white": {"kernel": ConstantKernel("auto") * RBF("auto") + WhiteKernel("auto")},
}


@pytest.mark.parametrize(("name", "case"), pairwise(AT_GIVEN, OPTIONS))
def test_what_every_criterion_chooses(name, case, data):
    X, y, _ = data
    criterion = ks.criteria.UnbiasedRisk(sigma=0.1) if name == "risk" else name
    gp = GP(criterion=criterion, trend="constant", **OPTIONS[case]).fit(X, y)
    assert gp.selection_.ended == "converged"
    known = not isinstance(OPTIONS[case].get("noise", "auto"), str)
    total = gp.posterior_.noise
    if not name.startswith("profiled"):  # which take what is given relative to the kernel, see below
        alpha = OPTIONS[case].get("alpha", 0.0)
        assert total == pytest.approx(np.broadcast_to(gp.noise_ + alpha + gp.jitter_, (40,)), rel=1e-12)
        if known:
            assert np.array_equal(gp.noise_, OPTIONS[case]["noise"])

    def value(theta, factor=1.0):
        noise = total + (factor - 1) * np.asarray(gp.noise_)
        noise = float(noise[0]) if np.ptp(noise) == 0 else noise
        return ks.evaluate(criterion, gp.kernel_.clone_with_theta(theta), X, y, noise=noise, trend="constant").value

    theta, best, rounding = gp.kernel_.theta, value(gp.kernel_.theta), rounding_of(gp)
    assert gp.criterion_value_ == pytest.approx(best, rel=max(1e-9, rounding))
    # Nothing near is better, but for what the search calls converged, and for rounding.
    sign = 1 if criterion_named(criterion, {}).larger_is_better else -1
    slack = (1e-5 if sign > 0 else 1e-5 * abs(best)) + rounding * abs(best)
    lower, upper = gp.kernel_.bounds.T
    for i in range(0 if gp.selection_.scale == 1 else 1, len(theta)):  # the first is that factor, and no hyperparameter
        for step in (-0.05, 0.05):
            moved = theta.copy()
            moved[i] = np.clip(theta[i] + step, min(lower[i], theta[i]), max(upper[i], theta[i]))
            assert sign * (value(moved) - best) < slack, (i, step)
    for step in () if known else (0.95, 1.05):
        assert sign * (value(theta, step) - best) < slack, step


def test_alpha_counts_while_noise_is_sought(rng):
    X = np.linspace(0, 6, 200)[:, None]
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(200)
    alone = GP(ConstantKernel("auto") * RBF("auto"), noise="auto").fit(X, y)
    for alpha in (0.04, np.full(200, 0.04)):
        beside = GP(ConstantKernel("auto") * RBF("auto"), noise="auto", alpha=alpha).fit(X, y)
        assert beside.noise_ + 0.04 == pytest.approx(alone.noise_, rel=1e-3)
        assert str(beside.kernel_).count("White") == 0
        assert beside.predict(X) == pytest.approx(alone.predict(X), abs=1e-3)


def test_a_noise_known_up_to_a_factor(data):
    X, y, Z = data
    gp = GP(Matern([0.5, 1.0], nu=2.5), noise=0.02, criterion="profiled_lml").fit(X, y)
    K = Matern([0.5, 1.0], nu=2.5).clone_with_theta(gp.kernel_.k2.theta)(X) + 0.02 * np.eye(40)
    scale = y @ np.linalg.solve(K, y) / 40
    assert float(gp.kernel_.k1.constant_value) == pytest.approx(scale, rel=1e-9)
    assert gp.noise_ == pytest.approx(0.02 * scale, rel=1e-9)
    assert gp.predict(X) == pytest.approx(y - 0.02 * np.linalg.solve(K, y), abs=1e-9)
    noisy, plain = (gp.predict(Z, return_std=True, noisy=noisy)[1] for noisy in (True, False))
    assert noisy**2 - plain**2 == pytest.approx(np.full(15, 0.02 * scale), rel=1e-6)


@pytest.mark.parametrize("criterion", ["lml", "reml", "loo", "loo_log_density", "gcv", "kfold"])
@pytest.mark.parametrize("noise", ["auto", 0.0])
def test_bounds_of_an_amplitude_do_not_tear_it_from_the_noise(data, criterion, noise):
    X, y, Z = data
    y = 10 * y
    bounded = ConstantKernel(1.0, (0.5, 2.0))
    gp = GP(bounded * Matern("auto", nu=1.5), noise=noise, criterion=criterion, trend="constant").fit(X, y)
    level = float(gp.posterior_.noise[0])
    value = ks.evaluate(criterion, gp.kernel_, X, y, noise=level, trend="constant").value
    assert gp.criterion_value_ == pytest.approx(value, rel=max(1e-9, rounding_of(gp)))
    within = gp.kernel_ if criterion in ("lml", "reml", "loo_log_density") else gp.kernel_.k2
    assert 0.5 <= within.k1.constant_value <= 2.0
    free = GP(ConstantKernel("auto") * Matern("auto", nu=1.5), noise=noise, criterion=criterion, trend="constant").fit(X, y)
    if criterion in ("loo", "gcv", "kfold"):  # which do not see the amplitude
        assert gp.criterion_value_ == pytest.approx(free.criterion_value_, rel=1e-3)
        assert gp.predict(Z) == pytest.approx(free.predict(Z), abs=0.3)
    else:
        assert gp.criterion_value_ < free.criterion_value_


@pytest.mark.parametrize("criterion", ["lml", "reml"])
def test_a_scale_for_each_output(data, criterion):
    X, y, Z = data
    Y = np.column_stack([y, 1e3 * y**2, 1e-3 * np.cos(3 * y)])
    gp = GP(RBF("auto"), noise="auto", scale="each", trend="linear", criterion=criterion).fit(X, Y)
    K, H = gp.kernel_(X) + (gp.noise_ + gp.jitter_) * np.eye(40), basis("linear", X)
    rest = Y - H @ np.column_stack([GLS(column, H, sigma=K).fit().params for column in Y.T])
    expected = np.sum(rest * np.linalg.solve(K, rest), axis=0) / (37 if criterion == "reml" else 40)
    assert gp.scale_ == pytest.approx(expected, rel=1e-8)
    std = gp.predict(Z, return_std=True)[1]
    cov = gp.predict(Z, return_cov=True)[1]
    for k in range(3):
        alone = GP(
            ConstantKernel(expected[k]) * gp.kernel_, optimizer=None, noise=expected[k] * gp.noise_, alpha=0.0, trend="linear"
        ).fit(X, Y[:, k])
        assert gp.predict(Z)[:, k] == pytest.approx(alone.predict(Z), rel=1e-6)
        assert std[:, k] == pytest.approx(alone.predict(Z, return_std=True, noisy=True)[1], rel=1e-6)
        assert np.sqrt(np.diag(cov[..., k])) == pytest.approx(std[:, k], rel=1e-9)
        assert gp.loo_std_[:, k] == pytest.approx(alone.loo_std_, rel=1e-6)
    value = reference.criterion(f"profiled_{criterion}", K, np.zeros(40), H, Y, scale="each")
    assert gp.log_marginal_likelihood_value_ == pytest.approx(value, abs=1e-6)
    assert gp.criterion_value_ == pytest.approx(value, abs=1e-6)
    again = GP(RBF("auto"), noise="auto", scale="each", trend="linear", criterion=criterion).fit(X, Y * [1e3, 1e-3, 10.0])
    assert again.predict(Z) == pytest.approx(gp.predict(Z) * [1e3, 1e-3, 10.0], rel=1e-6)


def scipys(objective, theta, bounds):
    found = minimize(objective, theta, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x, found.fun


def test_optimizers_agree(data):
    X, y, Z = data
    kernel = ConstantKernel(1.0) * RBF([0.5, 0.5]) + WhiteKernel(0.1)
    newton, quasi, own, theirs = (
        GP(kernel, optimizer=optimizer).fit(X, y) for optimizer in ("newton", "l-bfgs-b", scipys, "fmin_l_bfgs_b")
    )
    limits = [(1e-5, 1e5)] * 3
    rival = Theirs(sk.ConstantKernel(1.0, (1e-9, 1e9)) * sk.RBF([0.5, 0.5], limits[:2]) + sk.WhiteKernel(0.1)).fit(X, y)
    for gp in (quasi, own, theirs):
        assert gp.criterion_value_ == pytest.approx(newton.criterion_value_, abs=1e-4)
        assert gp.predict(Z) == pytest.approx(newton.predict(Z), abs=1e-2 * y.std())
    assert newton.criterion_value_ > rival.log_marginal_likelihood_value_ - 1e-4
    fixed = GP(kernel, optimizer=None).fit(X, y)
    assert fixed.kernel_.theta == pytest.approx(kernel.theta)
    assert fixed.criterion_value_ == pytest.approx(fixed.log_marginal_likelihood_value_, rel=1e-12)
    value = GP(kernel, optimizer=None, criterion="loo").fit(X, y).criterion_value_
    assert value == pytest.approx(ks.evaluate("loo", kernel, X, y).value, rel=1e-9)


def test_restarts_and_their_seeds(data):
    X, y, Z = data

    def fitted(seed, restarts=3):
        return GP(noise="auto", random_state=seed, n_restarts_optimizer=restarts).fit(X, y)

    assert len(fitted(0, 5).selection_.of_starts) == len(fitted(0, 0).selection_.of_starts) + 5
    assert np.array_equal(fitted(0).selection_.of_starts, fitted(0).selection_.of_starts)
    assert not np.array_equal(fitted(0).selection_.of_starts, fitted(1).selection_.of_starts)
    state = np.random.RandomState(0)
    assert np.isfinite(fitted(state).predict(Z)).all()


@pytest.mark.parametrize("criterion", ["lml", "loo"])
def test_threads_do_not_change_a_bit(criterion, threads, rng):
    X = rng.uniform(size=(700, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(700)
    found = []
    for count in (1, 2):
        threads(count)
        gp = GP(criterion=criterion, trend="linear", max_evaluations=60).fit(X, y)
        found.append([gp.kernel_.theta, gp.noise_, *gp.predict(X[:50], return_std=True), gp.predict_gradient(X[:50]), gp.L_])
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


@pytest.fixture
def many(rng):
    X = rng.uniform(size=(700, 3))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(700)


@pytest.mark.parametrize(
    ("criterion", "n", "budget"),
    pairwise(
        ["lml", "loo"],
        [60, 700],  # the search of many points begins with some of them
        [{"max_evaluations": 1}, {"max_evaluations": 7}, {"max_seconds": 1e-9}, {"max_seconds": 0.01}],
    ),
    ids=str,
)
def test_budgets(many, criterion, n, budget):
    X, y = many[0][:n], many[1][:n]
    ended = next(iter(budget)).removeprefix("max_")
    gp = GP(criterion=criterion, **budget).fit(X, y)
    if n == 60 and budget == {"max_seconds": 0.01}:
        assert gp.selection_.ended in ("converged", "seconds")  # it may be that fast
    else:
        assert gp.selection_.ended == ended
    spent = gp.selection_.n_evaluations + gp.selection_.n_evaluations_subset
    assert spent <= budget.get("max_evaluations", 1000) + 1  # one on all points there must be
    assert gp.n_evaluations_ >= (ended == "evaluations")  # the time may be over within the first one
    value = ks.evaluate(criterion, gp.kernel_, X, y, noise=gp.noise_ + gp.jitter_, trend="constant").value
    assert gp.criterion_value_ == pytest.approx(value, rel=max(1e-9, rounding_of(gp)))
    mean, std = gp.predict(X, return_std=True)
    assert np.sqrt(np.mean((mean - y) ** 2)) < 0.7 * y.std()
    assert np.mean(np.abs(gp.loo_residuals_) < 2 * gp.loo_std_) > 0.2
    assert (std > 0).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timer on this system")
@pytest.mark.parametrize("criterion", ["lml", "loo"])
@pytest.mark.parametrize("delay", [0.12, 0.25])  # before that, nothing may have been found
def test_ctrl_c_keeps_what_was_found(criterion, delay, rng):
    X = rng.uniform(size=(2000, 3))
    y = np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(2000)
    gp = GP(criterion=criterion)
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        with pytest.raises(KeyboardInterrupt):
            gp.fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert gp.selection_.ended == "interrupted"
    value = ks.evaluate(criterion, gp.kernel_, X, y, noise=gp.noise_ + gp.jitter_, trend="constant").value
    # Leave-one-out errors lead to smooth kernels, to a condition of 1e15 here.
    assert gp.criterion_value_ == pytest.approx(value, rel=1e-6 if criterion == "lml" else 5e-3)
    copy = pickle.loads(pickle.dumps(gp))
    assert np.array_equal(copy.predict(X[:9]), gp.predict(X[:9]))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timer on this system")
@pytest.mark.parametrize(("n", "d"), [(50, 2000), (5000, 2)])
def test_ctrl_c_and_the_clock_are_heeded_at_any_size(n, d, rng):
    # With many columns a step of the search, with many points a fit to what it has found would take seconds.
    X = rng.standard_normal((n, d))
    y = X[:, 0] + 0.1 * rng.standard_normal(n)
    sent = []

    def send(*_):
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGALRM, send)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.7)
        gp = GP()
        with pytest.raises(KeyboardInterrupt):
            gp.fit(X, y)
        assert time.perf_counter() - sent[0] < 1.0
        assert gp.selection_.ended == "interrupted"
        assert gp.selection_.kernel.n_dims == d + 1
        assert hasattr(gp, "kernel_") == (n <= 2000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if d > n:
        start = time.perf_counter()
        gp = GP(max_seconds=0.7).fit(X, y)
        assert gp.selection_.ended == "seconds"
        assert time.perf_counter() - start < 1.4


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"trend": "linear", "criterion": "reml"},
        {"trend": "quadratic"},
        {"optimizer": "l-bfgs-b"},
        {"kernel": ConstantKernel("auto") * RBF("auto") + WhiteKernel("auto")},
        {"scale": "each"},
        {"criterion": "loo"},
    ],
    ids=str,
)
def test_units_and_order_do_not_matter(options, data):
    X, y, Z = data
    gp = GP(**options).fit(X, y)
    mean, std = gp.predict(Z, return_std=True)
    # The search is the same but for rounding, and ends where its gains are: flat directions are as uncertain as that.
    newton = "criterion" not in options or options["criterion"] == "reml"
    # Newton's method ends where less than 1e-10 is to be gained, which is 1e-5 of the standard deviation of a hyperparameter.
    limit = (2e-5 if newton and "optimizer" not in options else 2e-3) * y.std()

    def compare(points, targets, at, unit=1.0, shift=0.0):
        found = GP(**options).fit(points, targets)
        a, b = found.predict(at, return_std=True)
        assert (a - shift) / unit == pytest.approx(mean, abs=limit)
        assert b / unit == pytest.approx(std, abs=limit)
        if newton and "optimizer" not in options:
            assert abs(found.n_evaluations_ - gp.n_evaluations_) <= 2

    for power in (-6, -1, 3, 6):
        compare(X * [10.0**power, 1.0], y, Z * [10.0**power, 1.0])
    for by in (0.1, -3.7, 100.0):
        compare(X + np.array([by, 0.0]), y, Z + np.array([by, 0.0]))
    for power in (-9, -1, 9):
        compare(X, y * 10.0**power, Z, 10.0**power)
    order = np.random.default_rng(0).permutation(40)
    compare(X[order], y[order], Z)
    if "kernel" not in options:  # then a trend takes the mean
        compare(X, y + 10.0, Z, 1.0, 10.0)


@pytest.mark.parametrize("criterion", ["profiled_lml", "loo", "gcv"])
@pytest.mark.parametrize("kernel", [RBF("auto"), RBF("auto") + WhiteKernel("auto")], ids=str)
def test_the_unit_of_y_where_only_the_ratio_of_kernel_and_noise_matters(data, kernel, criterion):
    X, y, Z = data
    options = {
        "kernel": kernel,
        "criterion": criterion,
        "trend": "constant",
        "noise": "auto" if kernel == RBF("auto") else None,
    }
    gp = GP(**options).fit(X, y)
    for unit in (1e-9, 1e9):
        scaled = GP(**options).fit(X, unit * y)
        assert scaled.predict(Z) / unit == pytest.approx(gp.predict(Z), abs=2e-3 * y.std())


def test_priors_hold_few_points(data):
    X, y, _ = data
    free = GP(RBF(Parameter(0.5, prior=LogNormal(3.0, 0.01))), noise=0.1, criterion="lml").fit(X, y)
    held = GP(RBF(Parameter(0.5, prior=LogNormal(3.0, 0.01))), noise=0.1, criterion="map").fit(X, y)
    assert abs(held.kernel_.theta[0] - 3.0) < 0.05 < abs(free.kernel_.theta[0] - 3.0)


def test_a_search_that_ends_at_the_edge(monkeypatch):
    """The last factorization may fail by rounding where those of the search did not: then there is ten times as much jitter."""
    import kernsel._solve.conditioned as module

    tried = []

    class Failing(module.Posterior):
        def __init__(self, kernel, X, y, noise, trend):
            tried.append(noise[0])
            if len(tried) <= fails:
                raise np.linalg.LinAlgError("the pivot of row 7")
            super().__init__(kernel, X, y, noise, trend)

    monkeypatch.setattr(module, "Posterior", Failing)
    X = np.linspace(0, 1, 20)[:, None]
    fails = 1
    gp = ks.GaussianProcessRegressor(noise=0.0).fit(X, np.sin(6 * X[:, 0]))
    assert gp.jitter_ == pytest.approx(10 * tried[0])
    assert gp.jitter_ == tried[1]
    tried.clear()
    fails = 9
    with pytest.raises(np.linalg.LinAlgError, match="pivot of row 7"):
        ks.GaussianProcessRegressor(noise=0.0).fit(X, np.sin(6 * X[:, 0]))
    assert len(tried) == 6  # as the policy has it
