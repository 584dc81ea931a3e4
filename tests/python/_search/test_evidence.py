"""The evidence of a kernel: against numerical integration, in any units, with priors, and where a search ends early."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import kernsel as ks
from kernsel._search import Budget, choose
from kernsel.criteria import Evidence
from kernsel.kernels import RBF, ConstantKernel, FunctionKernel, Parameter, WhiteKernel
from kernsel.kernels.priors import LogNormal

import reference
from reference import expected_of_logarithm

C = ConstantKernel
GP = ks.GaussianProcessRegressor


def wavy(seed, n=40):
    """Return data of one column, and the standard deviation of the column and the variance of y."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 5, (n, 1))
    y = 1 + 2 * np.sin((1 + seed % 2) * X[:, 0]) + 0.2 * rng.standard_normal(n)
    return X, y, X.std(), y.var()


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(50, 3))
    return X, np.sin(4 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(50)


def fitted(X, y, kernel="RBF", **options):
    return GP(kernel, **({"criterion": "evidence", "noise": "auto", "trend": "constant"} | options)).fit(X, y)


def reml(kernel, noise, X, y):
    return ks.evaluate("reml", kernel, X, y, noise=noise, trend="constant").value


def length_alone(X, y, size, variance):  # noqa: ARG001
    """Return a kernel and its options, the logarithm of what is to be integrated, and a box where it does not vanish."""
    return (
        (RBF("auto"), {"noise": 0.04}),
        lambda x: reml(RBF(np.exp(x[0])), 0.04, X, y) + expected_of_logarithm(x[0], np.log(size), 1.5),
        ([-3], [4], 201),
    )


def length_and_noise(X, y, size, variance):
    def f(x):
        expected = expected_of_logarithm(x[0], np.log(size), 1.5) + expected_of_logarithm(
            x[1], np.log(0.1 * variance), 2, far=True
        )
        return reml(RBF(np.exp(x[0])), np.exp(x[1]), X, y) + expected

    return (RBF("auto"), {}), f, ([-3, -7], [3, 3], 61)


def amplitude_and_length(X, y, size, variance):
    def f(x):
        expected = expected_of_logarithm(x[0], np.log(variance), 2) + expected_of_logarithm(x[1], np.log(size), 1.5)
        return reml(C(np.exp(x[0])) * RBF(np.exp(x[1])), 0.04, X, y) + expected

    return (C("auto") * RBF("auto"), {"noise": 0.04}), f, ([-4, -3], [9, 3], 61)


def fixed_amplitude(X, y, size, variance):
    (_, options), f, box = length_alone(X, y, size, variance)
    return (C(1.0, "fixed") * RBF("auto"), options), f, box


CASES = [length_alone, length_and_noise, amplitude_and_length, fixed_amplitude]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_numerical_integration(case, seed):
    """What is meant: the reference is near the integral, and the core is within half a nat of it."""
    X, y, size, variance = wavy(seed)
    (kernel, options), f, box = case(X, y, size, variance)
    integral = reference.log_integral(f, *box)
    gp = fitted(X, y, kernel, **options)
    start = np.append(gp.kernel_.theta, [] if "noise" in options else np.log(gp.noise_))
    assert reference.laplace(f, start) == pytest.approx(integral, abs=0.15)
    assert gp.criterion_value_ == pytest.approx(integral, abs=0.25)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_exact_second_derivatives(case, seed):
    X, y, size, variance = wavy(seed)
    (kernel, options), f, box = case(X, y, size, variance)
    gp = fitted(X, y, kernel, **options)
    start = np.append(gp.kernel_.theta, [] if "noise" in options else np.log(gp.noise_))
    assert gp.criterion_value_ == pytest.approx(reference.laplace(f, start), abs=0.01)
    assert gp.criterion_value_ == pytest.approx(reference.log_integral(f, *box), abs=0.15)


def test_nothing_to_integrate():
    X, y, _, _ = wavy(0)
    kernel = C(2.0, "fixed") * RBF(0.8, "fixed")
    assert fitted(X, y, kernel, noise=0.04).criterion_value_ == pytest.approx(reml(kernel, 0.04, X, y), abs=1e-8)


@pytest.mark.parametrize("shrinkage", ["auto", 0.3, None])
@pytest.mark.parametrize("kernel", ["RBF", "RBF + Linear"])
def test_units(data, kernel, shrinkage):
    """The likelihood of s y + t is that of y less log s for each of n - 1 contrasts; X may be in any units."""
    X, y = data
    shift = 0.0 if "Linear" in kernel else np.array([3.0, -2.0, 100.0])  # a linear kernel is another around another origin
    moved = X * [10.0, 1e-3, 5.0] + shift
    value = fitted(X, y, kernel, shrinkage=shrinkage).criterion_value_
    assert fitted(moved, y, kernel, shrinkage=shrinkage).criterion_value_ == pytest.approx(value, abs=1e-6)
    of_others = fitted(X, 1e3 * y + 7, kernel, shrinkage=shrinkage).criterion_value_ + 49 * np.log(1e3)
    assert of_others == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("shrinkage", ["auto", 0.3, None])
def test_order(data, rng, shrinkage):
    X, y = data
    value = fitted(X, y, shrinkage=shrinkage).criterion_value_
    rows = rng.permutation(len(y))
    assert fitted(X[rows], y[rows], shrinkage=shrinkage).criterion_value_ == pytest.approx(value, abs=1e-6)
    # Starts differ by the order of columns, so that the search ends at another place within its tolerance.
    assert fitted(X[:, [2, 0, 1]], y, shrinkage=shrinkage).criterion_value_ == pytest.approx(value, abs=1e-3)


def drawn(seed, n=50):
    """Return a function drawn from a squared exponential kernel, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, (n, 1))
    return X, rng.multivariate_normal(np.zeros(n), 2 * RBF(0.7)(X) + 1e-10 * np.eye(n)) + 0.2 * rng.standard_normal(n)


def gains(other):
    """Return by how much more probable ten functions are under another kernel than under that from which they were drawn."""
    return np.array(
        [fitted(*drawn(seed), other).criterion_value_ - fitted(*drawn(seed)).criterion_value_ for seed in range(10)]
    )


@pytest.mark.parametrize(("other", "loss"), [("RBF + Linear", 0.1), ("RBF * ExpSineSquared", 0.5)])
def test_superfluous_terms_cost(other, loss):
    lost = -gains(other)
    assert lost.mean() > loss
    assert np.sum(lost > 0) >= 8
    # though the likelihood, which is not charged for parameters, is hardly ever less
    likelihoods = [[fitted(*drawn(seed), k, criterion="reml").criterion_value_ for k in ("RBF", other)] for seed in range(5)]
    assert np.diff(likelihoods).min() > -1e-3


def test_superfluous_terms_of_the_same_kind_cost():
    lost = -gains("RBF + RBF")
    assert lost.mean() > 0.3
    assert np.sum(lost > 0) >= 9


def test_needed_terms_pay():
    X, y = drawn(3)
    straight = y + 3 * X[:, 0]
    assert fitted(X, straight, "RBF + Linear").criterion_value_ > fitted(X, straight, "RBF").criterion_value_ + 0.5


def test_priors_take_the_place_of_what_is_expected():
    """A density of the hyperparameter itself is one of its logarithm, times the hyperparameter."""
    X, y, size, _ = wavy(0)
    values = {}
    for middle, width in ((0.0, 0.4), (np.log(size), 1.5)):  # the second is what is expected without a prior
        gp = fitted(X, y, RBF(Parameter(1.0, prior=LogNormal(middle, width))), noise=0.04)

        def f(x, middle=middle, width=width):
            return reml(RBF(np.exp(x[0])), 0.04, X, y) + norm.logpdf(x[0], middle, width)

        values[width] = gp.criterion_value_
        assert gp.criterion_value_ == pytest.approx(reference.log_integral(f, [-3], [4], 201), abs=0.5)
    assert values[1.5] == pytest.approx(fitted(X, y, RBF("auto"), noise=0.04).criterion_value_, abs=0.05)
    assert values[0.4] > values[1.5] + 0.5


def test_priors_that_say_what_is_expected():
    X, y, size, variance = wavy(0)
    a, length = (Parameter(v, prior=LogNormal(np.log(v), width)) for v, width in ((variance, 2.0), (size, 1.5)))
    given, expected = (fitted(X, y, k, noise=0.04).criterion_value_ for k in (C(a) * RBF(length), C("auto") * RBF("auto")))
    assert given == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("width", [0.02, 0.2])
def test_narrow_priors(width):
    X, y, _, _ = wavy(0)
    gp = fitted(X, y, RBF(Parameter(1.0, prior=LogNormal(0.0, width))), noise=0.04)

    def f(x):
        return reml(RBF(np.exp(x[0])), 0.04, X, y) + norm.logpdf(x[0], 0.0, width)

    assert gp.criterion_value_ == pytest.approx(reference.log_integral(f, [-1], [1], 2001), abs=0.05)


def test_functions():
    """Without information from the core, second derivatives are differences of the gradients."""
    X, y, size, _ = wavy(0)

    def rbf(A, B, length):
        return np.exp(-0.5 * (A - B.T) ** 2 / length**2)

    length = Parameter(0.5, prior=LogNormal(np.log(size), 1.5))  # functions do not say which of their parameters are lengths
    of_function = fitted(X, y, C("auto") * FunctionKernel(rbf, {"length": length})).criterion_value_
    assert of_function == pytest.approx(fitted(X, y, C("auto") * RBF(length)).criterion_value_, abs=1e-3)


def test_functions_are_integrated_exactly():
    X, y, size, _ = wavy(0)
    length = Parameter(0.5, prior=LogNormal(np.log(size), 1.5))
    kernel = FunctionKernel(lambda A, B, length: np.exp(-0.5 * (A - B.T) ** 2 / length**2), {"length": length})
    _, f, _ = length_alone(X, y, size, y.var())
    assert fitted(X, y, kernel, noise=0.04).criterion_value_ == pytest.approx(reference.laplace(f, [-0.4]), abs=2e-3)


def test_white_noise_is_noise(data):
    X, y = data
    white = fitted(X, y, C("auto") * RBF("auto") + WhiteKernel("auto"), noise=None).criterion_value_
    assert white == pytest.approx(fitted(X, y).criterion_value_, abs=1e-4)


def found(X, y, kernel=None, **options):
    kernel = C("auto") * RBF("auto") if kernel is None else kernel
    return choose(Evidence(), kernel, X, y, **({"finds_noise": True, "trend": "constant"} | options))


@pytest.mark.parametrize("shrinkage", ["auto", 0.3, None])
def test_known_noise_is_not_profiled(data, shrinkage):
    X, y = data
    one, other = (found(X, y, noise=0.01, profile=profile, shrinkage=shrinkage) for profile in (True, False))
    assert one.value == other.value
    assert one.value < found(X, y, noise=0.01, finds_noise=False, shrinkage=shrinkage).value  # it is enough: more costs


@pytest.mark.parametrize("shrinkage", [0.3, None])
def test_with_and_without_a_profiled_scale(data, shrinkage):
    X, y = data
    profiled, searched = (found(X, y, profile=profile, shrinkage=shrinkage) for profile in (True, False))
    assert profiled.value == pytest.approx(searched.value, abs=1e-3)
    assert profiled.kernel.theta == pytest.approx(searched.kernel.theta, abs=1e-2)


def test_starts_are_no_expectation(data):
    X, y = data
    values = [found(X, y, C(start) * RBF("auto")).value for start in ("auto", 0.01, 100.0)]
    assert values[1:] == pytest.approx(values[:1] * 2, abs=1e-3)


def test_an_amplitude_that_is_no_hyperparameter(data):
    X, y = data
    kernel = RBF("auto")
    one, other = (found(X, y * unit, kernel, finds_amplitude=True).value + 49 * np.log(unit) for unit in (1.0, 1e3))
    assert one == pytest.approx(other, abs=1e-3)
    assert one == pytest.approx(found(X, y).value, abs=1e-3)


@pytest.mark.parametrize("scale", ["shared", "each"])
def test_several_outputs(data, rng, scale):
    X, y = data
    Y = np.column_stack([y, np.cos(5 * X[:, 2]) + 0.1 * rng.standard_normal(50)])
    value = fitted(X, Y, scale=scale).criterion_value_
    both = fitted(X, 1e3 * Y, scale=scale).criterion_value_
    assert both + 2 * 49 * np.log(1e3) == pytest.approx(value, abs=1e-6)
    if scale == "each":
        second = fitted(X, Y * [1.0, 1e3], scale=scale).criterion_value_
        assert second + 49 * np.log(1e3) == pytest.approx(value, abs=1e-6)
        assert fitted(X, Y).criterion_value_ == value  # it is the default
    else:
        of_copies = fitted(X, np.column_stack([y, y]), scale=scale)
        assert of_copies.criterion_value_ > 1.8 * fitted(X, y).criterion_value_


@pytest.mark.parametrize("optimizer", [None, lambda objective, theta, bounds: (theta, objective(theta)[0])])
def test_optimizers_that_do_not_integrate(data, optimizer):
    with pytest.raises(ValueError, match=r'optimizer: expected "auto".* "evidence" is, got .*; "reml" takes any'):
        fitted(*data, optimizer=optimizer)


@pytest.mark.parametrize("options", [{"max_evaluations": 1}, {"max_evaluations": 7}, {"max_seconds": 1e-9}])
def test_searches_that_end_early(data, options):
    X, y = data
    gp, best = fitted(X, y, **options), fitted(X, y)
    assert gp.selection_.ended in ("evaluations", "seconds")
    assert np.isfinite(gp.criterion_value_)
    assert gp.criterion_value_ < best.criterion_value_
    assert gp.n_evaluations_ <= options.get("max_evaluations", 1)
    stopped = found(X, y, budget=Budget(progress=lambda count, n, best: count < 7))
    assert stopped.ended == "stopped"
    assert np.isfinite(stopped.value)


def test_many_points_and_a_subset(rng):
    """The search begins on some of the points; the integral is that of all."""
    X = rng.uniform(0, 5, (700, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(700)
    gp = fitted(X, y)
    assert gp.selection_.n_evaluations_subset > 0
    likelihood = reml(gp.kernel_, gp.noise_, X, y)
    assert likelihood - 15 < gp.criterion_value_ < likelihood


def test_an_interrupt_keeps_what_was_found(data, monkeypatch):
    """There is no integral then, and the number says so."""
    X, y = data
    from kernsel.estimators import gaussian_process

    def interrupted(*args, **options):
        return replace(choose(*args, **options), value=np.nan, ended="interrupted", interrupt=KeyboardInterrupt())

    monkeypatch.setattr(gaussian_process, "choose", interrupted)
    gp = GP("RBF", criterion="evidence")
    with pytest.raises(KeyboardInterrupt):
        gp.fit(X, y)
    assert np.isnan(gp.criterion_value_)
    assert np.isfinite(gp.predict(X)).all()


def test_what_is_raised_while_spreads_are_compared(rng):
    X = rng.standard_normal((40, 4))
    y = np.sin(X.sum(axis=1)) + 0.1 * rng.standard_normal(40)
    last = found(X, y, shrinkage="auto").n_evaluations

    def tell(count, n, best):  # noqa: ARG001
        if count == last:
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        found(X, y, shrinkage="auto", budget=Budget(progress=tell))


def straight(seed, n=150, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d) + rng.standard_normal(n)


@pytest.mark.parametrize("seed", [1007, 1013, 1017])
def test_a_narrow_optimum_is_not_preferred(seed):
    """Length scales of a superfluous term that fit the noise: the maximum is higher there, the integral is lower."""
    X, y = straight(seed)
    gp = fitted(X, y, "RBF + Linear")
    assert gp.noise_ == pytest.approx(1, abs=0.35)
    # The narrow optimum is that which a search finds from far too little noise.
    noisy = C("auto") * RBF("auto") + C("auto") * ks.kernels.Linear("auto") + WhiteKernel(0.01, (1e-4, 0.2))
    narrow = fitted(X, y, noisy, noise=None)
    assert narrow.criterion_value_ < gp.criterion_value_ - 1


@pytest.mark.parametrize("seed", [1007, 1013, 1016])
def test_random_starts_do_not_find_worse(seed):
    X, y = straight(seed)
    best = fitted(X, y, "RBF + Linear").criterion_value_
    more = fitted(X, y, "RBF + Linear", n_restarts_optimizer=20, random_state=13).criterion_value_
    assert more > best - 0.1
