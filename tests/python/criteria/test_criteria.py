"""Every criterion against refitting, every gradient against central differences, and published values."""

import numpy as np
import pytest
from pairs import pairwise
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk
from sklearn.model_selection import GroupKFold, KFold

import kernsel as ks
from kernsel._data.folds import labels_of_folds
from kernsel._data.trend import trend_matrix
from kernsel.criteria import GroupsOut, LeaveOneOut, Likelihood, UnbiasedRisk
from kernsel.kernels import (
    RBF,
    ExpSineSquared,
    Parameter,
    RationalQuadratic,
    WhiteKernel,
)
from kernsel.kernels.priors import LogNormal

import reference as ref
from accuracy import eps
from criterion_cases import KERNELS, PLAIN, TRENDS, N, data, options, split


@pytest.mark.core
@pytest.mark.parametrize(("name", "trend", "kernel"), pairwise(PLAIN, TRENDS, KERNELS))
def test_values_by_refitting(name, trend, kernel):
    k = KERNELS[kernel]
    for outputs, one_noise in ((0, True), (2, False)):
        X, y, noise = data(outputs)
        noise = 0.1 if one_noise else noise
        K, own = split(k, X)
        total = own + noise * np.ones(N)
        H = trend_matrix(trend, X)
        extra = options(name)
        smoothing = 0.1 * y.std()
        expected = ref.criterion(
            name, K, total, H, y.reshape(N, -1), extra.get("folds", extra.get("test")), extra.get("sigma"), smoothing
        )
        ev = ks.evaluate(name, k, X, y, noise=noise, trend=trend, **extra)
        # The condition of the matrix amplifies rounding, and so does that of the trend.
        limit = 64 * N * eps(float) * np.linalg.cond(K + np.diag(total)) * (np.linalg.cond(H) if H.size else 1.0)
        size = max(abs(expected), 1.0)
        assert ev.value == pytest.approx(expected, abs=limit * size)
        again = ks.evaluate(name, k, X, y, noise=noise, trend=trend, gradient=True, **extra)
        assert again.value == pytest.approx(ev.value, abs=limit * size)
        if TRENDS[trend]:
            C = K + np.diag(total)
            beta = np.linalg.solve(H.T @ np.linalg.solve(C, H), H.T @ np.linalg.solve(C, y))
            assert ev.beta == pytest.approx(beta, abs=limit * np.abs(beta).max())
        assert again.effective_dof == pytest.approx(np.trace(ref.smoother(K, total, H)), abs=limit * N)


@pytest.mark.parametrize(("name", "trend", "kernel", "outputs"), pairwise(PLAIN, TRENDS, KERNELS, [0, 2]))
def test_gradients(name, trend, kernel, outputs):
    k = KERNELS[kernel]
    X, y, noise = data(outputs, 1)

    def value(theta, variances):
        return ks.evaluate(name, k.clone_with_theta(theta), X, y, noise=variances, trend=trend, **options(name)).value

    ev = ks.evaluate(name, k, X, y, noise=noise, gradient=True, trend=trend, **options(name))
    size = max(abs(ev.value), 1.0) * 1e-8
    expected, error = ref.central_differences(lambda t: value(t, noise), k.theta, 1e-4)
    assert (np.abs(ev.gradient - expected) <= error + size).all()
    expected, error = ref.central_differences(lambda v: value(k.theta, v), noise, 1e-5)
    assert (np.abs(ev.noise_gradient - expected) <= error + 10 * size).all()
    one = ks.evaluate(name, k, X, y, noise=0.1, gradient=True, trend=trend, **options(name))
    expected, error = ref.central_differences(lambda v: value(k.theta, v[0]), [0.1], 1e-5)
    assert abs(one.noise_gradient - expected[0]) <= error[0] + 10 * size


def printed(text):
    """Return what equals a number to the digits that are printed."""
    return pytest.approx(float(text), abs=10.0 ** -len(text.partition(".")[2]), rel=0)


def test_five_points():
    """Values published for DiceKriging's formulas: leave-one-out error and likelihood with their derivatives in the length."""
    X = np.array([0.287577520124614, 0.788305135443807, 0.4089769218117, 0.883017404004931, 0.940467284293845])[:, None]
    y = np.array([0.769059005126879, 0.440159195534907, 1.00911898663289, 0.360587969873383, 0.194057078467227])
    loo = ks.evaluate("loo", RBF(0.3), X, y, trend="constant", gradient=True)
    assert loo.value == printed("0.171363682228")
    assert loo.gradient[0] / 0.3 == printed("1.16068004")
    lml = ks.evaluate("profiled_lml", RBF(0.3), X, y, trend="constant", gradient=True)
    assert lml.value == printed("-3.825129648")
    assert lml.gradient[0] / 0.3 == printed("-27.82194821")
    reml = ks.evaluate("profiled_reml", RBF(0.3), X, y, trend="constant")
    assert reml.value - 0.5 * np.log(5) == printed("-2.7304")  # there without log det H'H


def test_mauna_loa():
    """The classical fit of atmospheric CO2, with parameters as they are printed: rounding explains what is left."""
    from statsmodels.datasets import co2

    monthly = co2.load_pandas().data.co2.resample("MS").mean().dropna()
    X = (monthly.index.year + monthly.index.month / 12).to_numpy()[:, None]
    y = monthly.to_numpy() - 339.82266
    assert len(y) == 521
    k = (
        44.8**2 * RBF(51.6)
        + 2.64**2 * RBF(91.5) * ExpSineSquared(1.48, 1.0)
        + 0.536**2 * RationalQuadratic(0.968, 2.89)
        + 0.188**2 * RBF(0.122)
        + WhiteKernel(0.0367)
    )
    for name, expected, rounding in (("lml", -115.05127, 5e-3), ("loo", 0.0567188, 5e-6), ("loo_log_density", 9.1644, 3e-2)):
        assert ks.evaluate(name, k, X, y).value == pytest.approx(expected, abs=rounding)
    # It is an optimum: all derivatives vanish, but for the period, of which "1" is printed.
    gradient = ks.evaluate("lml", k, X, y, gradient=True).gradient
    assert np.abs(np.delete(gradient, 5)).max() < 0.5


def test_scikit_learns_likelihood(rng):
    X, y = rng.standard_normal((60, 3)), rng.standard_normal((60, 2))
    theirs = 2.0 * sk.RBF([1.0, 2.0, 3.0]) + sk.WhiteKernel(0.3)
    gp = GaussianProcessRegressor(theirs, alpha=0.05, optimizer=None).fit(X, y)
    value, gradient = gp.log_marginal_likelihood(theirs.theta, eval_gradient=True)
    ev = ks.evaluate("lml", theirs, X, y, noise=0.05, gradient=True)
    assert ev.value == pytest.approx(value, rel=1e-10)
    assert ev.gradient == pytest.approx(gradient, rel=1e-8)


def test_profiled_scale_is_the_best_one():
    X, y, _ = data(2)
    k = RBF(0.8)
    ev = ks.evaluate("profiled_lml", k, X, y, noise=0.1)
    at = lambda s: ks.evaluate("lml", s * k, X, y, noise=0.1 * s).value  # noqa: E731
    assert ev.value == pytest.approx(at(ev.scale))
    assert at(ev.scale) > max(at(0.99 * ev.scale), at(1.01 * ev.scale))
    each = ks.evaluate("profiled_lml", k, X, y, noise=0.1, scale="each", gradient=True)
    separate = [ks.evaluate("profiled_lml", k, X, column, noise=0.1, gradient=True) for column in y.T]
    assert each.value == pytest.approx(sum(one.value for one in separate))
    assert each.gradient == pytest.approx(sum(one.gradient for one in separate))


def test_map():
    X, y, noise = data(0)
    k = 1.5 * RBF(Parameter(0.7, prior=LogNormal(0.0, 0.5)))
    lml, best = (ks.evaluate(name, k, X, y, noise=noise, gradient=True) for name in ("lml", "map"))
    value, gradient = k.log_prior()
    assert best.value == lml.value + value
    assert best.gradient == pytest.approx(lml.gradient + gradient)
    assert best.larger_is_better


def test_a_loss_of_ones_own():
    X, y, noise = data(2)
    k = KERNELS["matern and noise"]

    def squared(r, v):
        return r**2, 2 * r, 0 * v

    def log_density(r, v):
        return -0.5 * (np.log(2 * np.pi * v) + r**2 / v) / (N * 2) ** -1, -r / v * (N * 2), (r**2 / v - 1) / (2 * v) * (N * 2)

    for own, name in ((squared, "loo"), (log_density, "loo_log_density")):
        mine, theirs = (ks.evaluate(c, k, X, y, noise=noise, trend="linear", gradient=True) for c in (own, name))
        assert mine.value == pytest.approx(theirs.value)
        assert mine.gradient == pytest.approx(theirs.gradient)
        assert mine.noise_gradient == pytest.approx(theirs.noise_gradient)
    for wrong, message in (
        (lambda r, v: r**2, "loss: expected the function to return three arrays"),
        (lambda r, v: (r, r, 1.0), "derivative in the variance"),
        (lambda r, v: 1 / 0, "division by zero"),
    ):
        with pytest.raises((ValueError, ZeroDivisionError), match=message):
            ks.evaluate(wrong, k, X, y, noise=noise)


def test_folds():
    X, y, noise = data(0)
    k = KERNELS["rbf"]
    groups = np.array(list("abbcacbaccbabc"))
    by_label = ks.evaluate("kfold", k, X, y, noise=noise, folds=groups).value
    K, own = split(k, X)
    assert by_label == pytest.approx(ref.criterion("kfold", K, own + noise, np.zeros((N, 0)), y[:, None], groups))
    shuffled = KFold(3, shuffle=True, random_state=0)
    labels = np.zeros(N)
    for f, (_, test) in enumerate(shuffled.split(X)):
        labels[test] = f
    assert ks.evaluate("kfold", k, X, y, folds=shuffled, noise=0.1).value == pytest.approx(
        ks.evaluate("kfold", k, X, y, folds=labels, noise=0.1).value
    )
    each = ks.evaluate("kfold", k, X, y, noise=noise, folds=N, gradient=True)
    loo = ks.evaluate("loo", k, X, y, noise=noise, gradient=True)
    assert each.value == pytest.approx(loo.value)
    assert each.gradient == pytest.approx(loo.gradient)
    for bad, message in (
        (1, f"folds: expected a number from 2 to {N}"),
        (N + 1, "folds: expected a number from 2"),
        (np.zeros(N), "folds: expected two groups at least"),
        (np.zeros(3), "one label for each of 14 points"),
        ("all", "folds: expected"),
        (GroupKFold(2), "groups"),
    ):
        with pytest.raises(ValueError, match=message):
            ks.evaluate("kfold", k, X, y, folds=bad)


@pytest.mark.parametrize("name", ["lml", "loo", "gcv", "kfold"])
def test_weights(name):
    X, y, noise = data(0)
    weights = np.ones(N)
    weights[[2, 5]] = 0.0
    used = weights > 0
    k, extra = KERNELS["matern and noise"], {"gradient": True, "trend": "linear"}
    all_of, part = (
        ks.evaluate(name, k, X, y, noise=noise, sample_weight=weights, **extra),
        ks.evaluate(name, k, X[used], y[used], noise=noise[used], **extra),
    )
    assert all_of.value == pytest.approx(part.value)
    assert all_of.gradient == pytest.approx(part.gradient)
    assert all_of.noise_gradient[used] == pytest.approx(part.noise_gradient)
    assert (all_of.noise_gradient[~used] == 0).all()
    weights = np.linspace(0.5, 2.0, N)
    if name == "lml":
        double = ks.evaluate(name, k, X, y, noise=noise, sample_weight=weights, **extra)
        assert double.value == pytest.approx(ks.evaluate(name, k, X, y, noise=noise / weights, **extra).value)
    ev = ks.evaluate(name, k, X, y, noise=noise, sample_weight=weights, **extra)
    expected, error = ref.central_differences(
        lambda v: ks.evaluate(name, k, X, y, noise=v, sample_weight=weights, trend="linear").value, noise, 1e-5
    )
    assert (np.abs(ev.noise_gradient - expected) <= error + 1e-7).all()


@pytest.mark.parametrize("name", ["kfold", "risk", "profiled_loo_log_density"])
def test_losses_are_weighted(name, rng):
    """The noise of a point is divided by its weight, and its part of the criterion counts that much."""
    X, y, _ = data(0)
    y, w = y[:, 0] if y.ndim == 2 else y, rng.uniform(0.3, 2.0, len(X))
    k, level = RBF(0.8), 0.2
    options = {"kfold": {"folds": 4}, "risk": {"sigma": 0.3}}.get(name, {})
    ev = ks.evaluate(name, k, X, y, noise=level, sample_weight=w, gradient=True, **options)
    noise, K, H = level / w, k(X), np.zeros((len(X), 0))
    if name == "risk":
        A = ref.smoother(K, noise, H)
        expected = np.sum(w * ((y - A @ y) ** 2 + 0.09 * (2 * np.diag(A) - 1)))
    elif name == "kfold":
        labels = labels_of_folds(4, X, y)
        squares = np.zeros(len(X))
        for label in range(4):
            out = np.flatnonzero(labels == label)
            squares[out] = (y[out] - ref.predict_without(K, noise, H, y[:, None], out)[0][:, 0]) ** 2
        expected = np.sum(w * squares) / w.sum()
    else:
        parts = [ref.predict_without(K, noise, H, y[:, None], np.array([i])) for i in range(len(X))]
        r = y - np.array([mean[0, 0] for mean, _ in parts])
        v = np.array([covariance[0, 0] for _, covariance in parts])
        s = np.sum(w * r**2 / v) / w.sum()
        expected = -0.5 * np.sum(w * (np.log(2 * np.pi * s * v) + r**2 / (s * v)))
        assert ev.scale == pytest.approx(s)
    assert ev.value == pytest.approx(expected, rel=1e-9)

    def value(t):
        moved = k.clone_with_theta(t[:1])
        return ks.evaluate(name, moved, X, y, noise=t[1], sample_weight=w, **options).value

    slopes, errors = ref.central_differences(value, np.array([k.theta[0], level]))
    assert [*ev.gradient, ev.noise_gradient] == pytest.approx(slopes, abs=10 * np.max(errors) + 1e-8 * abs(expected))


def test_criteria_that_do_not_see_the_scale():
    X, y, noises = data(0)
    for name in ("loo", "loo_absolute", "gcv", "kfold"):
        extra = {"gradient": True, "trend": "constant"}
        noise = noises
        one, four = (ks.evaluate(name, s * RBF(0.8), X, y, noise=s * noise, **extra) for s in (1.0, 4.0))
        assert one.value == pytest.approx(four.value)
        assert one.gradient[0] + np.vdot(noise, one.noise_gradient) == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("exponent", [-340, 340])
@pytest.mark.parametrize("name", PLAIN)
def test_derivatives_in_any_unit_of_y(name, exponent):
    # The derivative of a squared error in P has the fourth power of the unit, which no double can hold.
    s = 2.0**exponent
    X, y, noise = data(2)
    power = {"loo": 2, "gcv": 2, "risk": 2, "kfold": 2, "holdout": 2, "loo_crps": 1, "loo_absolute": 1}.get(name, 0)
    for of_kernel in (1.0, s):  # is the kernel of the size of y squared, or 1?
        if of_kernel == 1 and (power == 0 or name == "loo_crps"):
            continue  # what sees the variance of the kernel
        results = []
        for unit, variance in ((1.0, 1.0), (s, of_kernel**2)):
            k = (1.3 * variance) * RBF([0.7, 1.1])
            more = options(name) | ({"sigma": 0.3 * unit} if name == "risk" else {})
            results.append(ks.evaluate(name, k, X, unit * y, noise=variance * noise, trend="constant", gradient=True, **more))
        plain, scaled = results
        freedom = y.size - (2 if "reml" in name else 0)
        shift = 0.0 if power else freedom * np.log(s)
        assert scaled.value / s**power + shift == pytest.approx(plain.value, rel=1e-11, abs=1e-9 if shift else 0)
        close = {"rel": 1e-9, "abs": 1e-9 * np.abs(plain.gradient).max()}
        assert scaled.gradient / s**power == pytest.approx(plain.gradient, **close)
        in_noise = scaled.noise_gradient * (of_kernel / s) ** 2 * s ** (2 - power)
        assert in_noise == pytest.approx(plain.noise_gradient, rel=1e-9, abs=1e-9 * np.abs(plain.noise_gradient).max())


def test_criteria_as_objects():
    X, y, noise = data(2)
    k = KERNELS["rbf"]
    for named, criterion in (
        (ks.evaluate("profiled_reml", k, X, y, noise=noise, scale="each"), Likelihood(restricted=True, scale="each")),
        (ks.evaluate("loo_absolute", k, X, y, noise=noise, smoothing=0.3), LeaveOneOut("absolute", smoothing=0.3)),
        (ks.evaluate("risk", k, X, y, noise=noise, sigma=0.4), UnbiasedRisk(0.4)),
        (ks.evaluate("kfold_log_density", k, X, y, noise=noise, folds=3), GroupsOut(3, log_density=True)),
    ):
        other = ks.evaluate(criterion, k, X, y, noise=noise)
        assert (other.value, other.larger_is_better) == (named.value, named.larger_is_better)
    for name, wrong, message in (
        ("lml", {"folds": 3}, "lml: has no option 'folds'; it has none"),
        ("kfold", {"log_density": True}, "kfold: has no option 'log_density'; it has folds"),
        (Likelihood(), {"folds": 3}, "options are for criteria given by name"),
    ):
        with pytest.raises(TypeError, match=message):
            ks.evaluate(name, k, X, y, noise=noise, **wrong)
