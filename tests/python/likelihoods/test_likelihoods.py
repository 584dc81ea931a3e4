"""Likelihoods: consistent with themselves, equal to SciPy's distributions, and exact where f is extreme."""

import copy
import pickle
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from kernsel import likelihoods as lk
from kernsel.testing import check_likelihood

from accuracy import eps

F = np.array([-1.0, 0.3, 1.2, 0.1, 2.0])
REAL = np.array([0.0, 1.0, 2.0, -1.0, 9.3])
COUNTS = np.array([0.0, 1.0, 7.0, 2.0, 1.0])
SIZES = np.array([3.0, 1.0, 9.0, 2.0, 4.0])


def sigmoid(f):
    return 1 / (1 + np.exp(-f))


# Each with observations, their sizes, and SciPy's distribution for f and a size.
CASES = {
    "gaussian": (lk.Gaussian(0.5), REAL, None, lambda f, e: stats.norm(f, 0.5**0.5)),
    "student": (lk.StudentT(0.5, 3.0), REAL, None, lambda f, e: stats.t(3.0, f, 0.5)),
    "laplace": (lk.Laplace(0.5), REAL, None, None),
    "quantile": (lk.AsymmetricLaplace(0.1, 0.5), REAL, None, None),
    "censored": (lk.CensoredGaussian(-1.0, 2.0, 0.5), np.clip(REAL, -1, 2), None, None),
    "logit": (lk.Bernoulli(), np.array([0.0, 1, 1, 0, 1]), None, lambda f, e: stats.bernoulli(sigmoid(f))),
    "probit": (lk.Bernoulli("probit"), np.array([0.0, 1, 1, 0, 1]), None, lambda f, e: stats.bernoulli(stats.norm.cdf(f))),
    "binomial": (lk.Binomial(), COUNTS, SIZES, lambda f, e: stats.binom(e, sigmoid(f))),
    "ordinal": (lk.Ordinal(4, (-1.0, 0.5, 2.0)), np.array([0.0, 1, 2, 3, 1]), None, None),
    "poisson": (lk.Poisson(), COUNTS, SIZES, lambda f, e: stats.poisson(e * np.exp(f))),
    "negative": (lk.NegativeBinomial(2.5), COUNTS, SIZES, lambda f, e: stats.nbinom(2.5, 2.5 / (2.5 + e * np.exp(f)))),
    "gamma": (lk.Gamma(1.7), REAL**2 + 0.1, SIZES, lambda f, e: stats.gamma(1.7 * e, scale=np.exp(f) / (1.7 * e))),
    "beta": (
        lk.Beta(4.0),
        np.array([0.2, 0.01, 0.5, 0.7, 0.999]),
        None,
        lambda f, e: stats.beta(4 * sigmoid(f), 4 * sigmoid(-f)),
    ),
    "log normal": (
        lk.LogNormal(0.3, unit=1.5),
        REAL**2 + 0.1,
        None,
        lambda f, e: stats.lognorm(0.3**0.5 / 1.5, scale=1.5 * np.exp(f / 1.5)),
    ),
    "logit normal": (lk.LogitNormal(-2.0, 10.0, 0.3, 1.5), REAL, None, None),
    "box cox": (lk.BoxCox(0.4, 0.3, 1.5), REAL**2 / 9 + 0.1, None, None),
    "yeo johnson": (lk.YeoJohnson(0.4, 0.3, 1.5, location=0.2), REAL, None, None),
    "scores": (lk.NormalScores(0.3, ((-2.0, -1.5, 0.5), (0.0, 0.0, 2.0), (1.0, 1.0, 0.6), (4.0, 1.7, 0.1))), REAL, None, None),
}
everywhere = pytest.mark.parametrize("case", CASES)
with_a_distribution = pytest.mark.parametrize("case", [name for name, case in CASES.items() if case[3]])


@everywhere
def test_each_is_consistent(case):
    likelihood, y, size, _ = CASES[case]
    check_likelihood(likelihood, y, F, size)
    for other in (pickle.loads(pickle.dumps(likelihood)), copy.deepcopy(likelihood), eval(repr(likelihood), vars(lk))):
        assert other == likelihood
        assert hash(other) == hash(likelihood)


@with_a_distribution
def test_each_equals_the_distribution_of_scipy(case):
    likelihood, y, size, distribution = CASES[case]
    of = distribution(F, size)
    expected = of.logpmf(y) if likelihood.outcomes[2] else of.logpdf(y)
    assert likelihood.log_density(y, F, size) == pytest.approx(expected, rel=64 * eps(float), abs=64 * eps(float))
    assert likelihood.probability(y, F, size) == pytest.approx(of.cdf(y), rel=256 * eps(float))
    for ours, theirs in zip(likelihood.conditional(F, size), (of.mean(), of.var()), strict=True):
        assert ours == pytest.approx(theirs, rel=32 * eps(float))
    for p in (0.001, 0.3, 0.99):
        assert likelihood.quantiles(p, F, size) == pytest.approx(of.ppf(p), rel=1e-9)  # SciPy's own error


def by_panels(likelihood, y, mean, deviation, size):
    """log E p, and E of the first derivative and its covariance with f over the variance, by 20 nodes on many panels."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    near = (likelihood.rough(np.array([y]), size)[0] + np.linspace(-60, 60, 601) - mean) / deviation
    ends = np.unique(np.concatenate([np.linspace(-60, 60, 601), near]))
    half = np.diff(ends)[:, None] / 2
    x, w = (ends[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
    f = mean + deviation * x
    logs = likelihood.log_density(y, f, size) - x**2 / 2
    density = w * np.exp(logs - logs.max())
    total = density.sum()
    used = density > 0
    density, x = density[used] / total, x[used]
    first = likelihood.derivatives(y, f[used], size)[0]
    average = density @ first
    covariance = density @ ((first - average) * (x - density @ x)) / deviation
    return logs.max() + np.log(total) - np.log(2 * np.pi) / 2, average, covariance


@everywhere
@pytest.mark.parametrize("variance", [1e-8, 0.3, 1e4])
def test_moments_are_integrals_whatever_the_prior(case, variance):
    likelihood, y, size, _ = CASES[case]
    mean = 3 * F
    found = likelihood.moments(y, mean, variance, size)
    for row in (0, 2, 4):
        sizes = None if size is None else size[row : row + 1]
        expected = by_panels(likelihood, y[row], mean[row], variance**0.5, sizes)
        assert [one[row] for one in found] == pytest.approx(expected, rel=1e-9, abs=1e-9)  # what is promised


@pytest.mark.parametrize("variance", [1e-3, 9.99, 10.0, 150.0, 1e8])
def test_moments_of_logistic_labels(variance):
    mean = np.array([-700.0, -60.0, -38.0, -9.0, 0.0, 0.4, 5.0, 45.0, 700.0])
    found = lk.Bernoulli().moments(1.0, mean, variance)
    for row in range(len(mean)):
        expected = by_panels(lk.Bernoulli(), 1.0, mean[row], variance**0.5, None)
        assert [one[row] for one in found] == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_moments_of_a_peak_far_from_a_wide_prior():
    """The tails of the peak are between it and the mean, where a wide panel would not see them."""
    y, scale = np.array([0.1, 1.0, 5.0]), 1e-4
    value, first, second = lk.StudentT(scale, 100.0).moments(y, 0.0, 1.0)
    r = np.linspace(-60, 60, 24001)[:, None]  # equal steps are exact to rounding, and beyond the density is 1e-80
    f = y + scale * r
    p = stats.t.pdf(r, 100.0) * stats.norm.pdf(f)
    total = p.sum(axis=0)
    mean = (p * f).sum(axis=0) / total
    assert value == pytest.approx(np.log(total * (r[1] - r[0])), rel=1e-9)
    assert first == pytest.approx(mean, rel=1e-9)
    assert second == pytest.approx((p * (f - mean) ** 2).sum(axis=0) / total - 1, rel=1e-9)


class OwnNormal(lk.Likelihood):
    """Normal errors in Python, whose variance is a parameter."""

    log_concave = True

    def __init__(self, noise):
        self.noise = noise

    def parameters(self, y=None, size=None):  # noqa: ARG002
        return [lk.LikelihoodParameter("noise", np.log(self.noise), -20.0, 20.0)]

    def with_values(self, values):
        return OwnNormal(np.exp(values[0]))

    def log_density(self, y, f, size=None):  # noqa: ARG002
        return stats.norm.logpdf(y, f, self.noise**0.5)

    def derivatives(self, y, f, size=None):  # noqa: ARG002
        return (y - f) / self.noise, np.full(y.shape, -1 / self.noise), np.zeros(y.shape)

    def parameter_derivatives(self, y, f, p, size=None):  # noqa: ARG002
        r = (y - f) ** 2 / self.noise
        return (r - 1) / 2, -(y - f) / self.noise, np.full(y.shape, -1 / self.noise)

    def conditional(self, f, size=None):  # noqa: ARG002
        return f, np.full(np.shape(f), self.noise)

    def probability(self, y, f, size=None):  # noqa: ARG002
        return stats.norm.cdf(y, f, self.noise**0.5)


def test_a_likelihood_in_python_may_have_parameters():
    own = OwnNormal(0.5)
    check_likelihood(own, REAL, F)
    core, variance = own.core(), np.full(5, 0.7)
    assert core.moments_slope(REAL, F, variance, 0) == pytest.approx(
        lk.Gaussian(0.5).core().moments_slope(REAL, F, variance, 0), rel=1e-9
    )
    moved = core.with_values([np.log(2.0)]).density(REAL, F)
    assert np.array_equal(moved, OwnNormal(2.0).core().density(REAL, F))


@everywhere
def test_moments_have_the_derivatives_of_their_logarithm(case):
    likelihood, y, size, _ = CASES[case]
    core, variance = likelihood.core(), np.full(5, 0.7)
    values, step = np.array([p[1] for p in core.parameters]), 2.0**-10
    for p in range(len(values)):
        moved = [core.with_values(values + h * (np.arange(len(values)) == p)) for h in (-2 * step, -step, step, 2 * step)]
        a, b, c, d = (one.moments(y, F, variance, size)[:, 0] for one in moved)
        near, far = (c - b) / (2 * step), (d - a) / (4 * step)
        found = core.moments_slope(y, F, variance, p, size)
        assert (abs(found - (4 * near - far) / 3) <= abs(near - far) + 1e-9 / step).all()


@everywhere
def test_predictions_are_those_of_the_mixture(case):
    """Means and probabilities are averages over f, quantiles their inverse, and draws agree."""
    likelihood, _, size, _ = CASES[case]
    variance, p = 1.5, np.array([0.05, 0.5, 0.95])
    mean, spread = likelihood.predict(F, variance, size)
    x = np.linspace(-12, 12, 4001)[:, None]  # equal steps are exact to rounding
    f, w = F + variance**0.5 * x, (x[1] - x[0]) * stats.norm.pdf(x)
    sizes = None if size is None else np.broadcast_to(size, f.shape)
    means, variances = likelihood.conditional(f, sizes)
    assert mean == pytest.approx((w * means).sum(axis=0), rel=1e-9)
    assert spread == pytest.approx((w * (variances + (means - mean) ** 2)).sum(axis=0), rel=1e-8)
    y = likelihood.predict_quantiles(p[:, None], F, variance, size)
    reached = likelihood.predict_probability(y, F, variance, size)
    for k in range(3):
        assert reached[k] == pytest.approx((w * likelihood.probability(y[k], f, sizes)).sum(axis=0), abs=1e-9)
    lower, upper, discrete = likelihood.outcomes if size is None else (0.0, np.inf, likelihood.outcomes[2])
    before = y - 1 if discrete else np.where(y <= lower, -np.inf, y - 1e-9 * abs(y))
    assert (reached >= p[:, None] - 1e-9).all()
    assert (likelihood.predict_probability(before, F, variance, size) <= p[:, None]).all()
    assert ((y >= lower) & (y <= upper)).all()


@everywhere
def test_extreme_values_of_f_give_no_nan(case):
    likelihood, y, size, _ = CASES[case]
    core = likelihood.core()
    for f in (-800.0, -40.0, 40.0, 800.0):
        at = np.full(5, f)
        for found in (
            core.density(y, at, size)[:, :5],
            *(core.density_slope(y, at, p, size) for p in range(len(core.parameters))),
            np.column_stack(core.conditional(at, size)),
            core.probability(y, at, size),
            core.moments(y, at, np.full(5, 2.0), size),
            core.predict_quantile([0.3], at[:1], [2.0], None if size is None else size[:1]),
        ):
            assert not np.isnan(found).any(), f


def test_log_normal_far_out():
    """log Phi(x) and its derivatives where Phi underflows, and where the two formulas meet."""
    f = np.array([-1e5, -800.0, -37.0, -6.5, -6.0, -5.9, -1.0, 3.0])
    found = lk.Bernoulli("probit").core().density(np.ones(8), f)[:, :4]
    with mp.workdps(60):
        for row, x in enumerate(f):
            h = mp.npdf(x) / (mp.erfc(-mp.mpf(x) / mp.sqrt(2)) / 2)
            second = -h * (h + x)
            expected = mp.log(mp.npdf(x) / h), h, second, -second * (h + x) - h * (second + 1)
            rounding = 16 * eps(float) * (1 if x < -6 else max(-x, 1) ** 4)  # what cancels in phi / Phi + x
            assert found[row, 0] == pytest.approx(float(expected[0]), rel=16 * eps(float))
            assert found[row, 1] == pytest.approx(float(expected[1]), rel=16 * eps(float))
            assert found[row, 2:] == pytest.approx([float(e) for e in expected[2:]], rel=rounding, abs=rounding)


def test_functions_of_gamma_at_any_size():
    """log Gamma and its derivatives, from tiny to large arguments, by a likelihood's parameter."""
    shape = np.geomspace(1e-3, 1e6, 60)
    for r in shape:
        found = lk.Gamma(r).core().density_slope([1.0], [0.0], 0)[0, 0] / r
        expected = 1 + mp.log(r) - mp.digamma(r) - 1
        assert found == pytest.approx(float(expected), rel=64 * eps(float), abs=64 * eps(float))
        y = np.array([0.0, 1.0, 10.0, 1e4])
        counts = lk.NegativeBinomial(r).log_density(y, np.log(r))
        for k, value in zip(y, counts, strict=True):
            with mp.workdps(40):
                exact = mp.loggamma(k + mp.mpf(r)) - mp.loggamma(mp.mpf(r)) - mp.loggamma(k + 1) - (k + mp.mpf(r)) * mp.log(2)
                size = abs(mp.loggamma(k + 1)) + k + r
            assert value == pytest.approx(float(exact), abs=float(16 * eps(float) * (1 + size)))


@pytest.mark.parametrize(
    ("likelihood", "y", "size", "error"),
    [
        (lk.Poisson(), [1, 2.5], None, "y: expected counts, .* got 2.5 in row 1"),
        (lk.Poisson(), [-1, 2], None, "got -1.0 in row 0"),
        (lk.Poisson(), [1, np.nan], None, "got nan in row 1"),
        (lk.Poisson(), [1, 2], [1, 0], "exposure: expected positive, finite numbers, got 0.0 in row 1"),
        (lk.NegativeBinomial(), [1, np.inf], None, "got inf in row 1"),
        (lk.Binomial(), [3, 1], [2, 2], "whole numbers from 0 to the trials, got 3.0 in row 0"),
        (lk.Binomial(), [1, 1], [2, 2.5], "trials: .* got 2.5 in row 1"),
        (lk.Bernoulli(), [0, 2], None, "expected 0 or 1, got 2.0 in row 1"),
        (lk.Gamma(), [1, 0], None, "positive, finite numbers, got 0.0 in row 1"),
        (lk.Gamma(), [1, 1], [1, -1], "weight: .* got -1.0 in row 1"),
        (lk.Beta(), [0.5, 1.0], None, "between 0 and 1, .* got 1.0 in row 1"),
        (lk.StudentT(), [np.inf, 0], None, "finite numbers, got inf in row 0"),
        (lk.CensoredGaussian(0, 1), [0, 1.5], None, "lower to the upper limit, got 1.5 in row 1"),
        (lk.StudentT(), [1, 0], [1, 2], "size: expected None, since observations of StudentT have none"),
        (lk.Ordinal(3), [2, 3], None, "n_classes - 1, got 3.0 in row 1"),
    ],
    ids=str,
)
def test_observations_that_cannot_be_are_named(likelihood, y, size, error):
    with pytest.raises(ValueError, match=error):
        likelihood.check(y, size)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: lk.StudentT(df=0.0), "df: expected a finite number above 0"),
        (lambda: lk.StudentT(df=0.5), "df: expected more than 1 degree of freedom"),
        (lambda: lk.StudentT(scale="big"), "scale: expected a finite number above 0"),
        (lambda: lk.Gaussian(noise_bounds=(2, 1)), "noise_bounds: expected a lower and an upper bound"),
        (lambda: lk.AsymmetricLaplace(1.0), "quantile: expected a number from"),
        (lambda: lk.CensoredGaussian(2, 1), "lower limit below the upper"),
        (lambda: lk.Bernoulli("log"), 'link: expected "logit" or "probit"'),
        (lambda: lk.Ordinal(1), "n_classes: expected a whole number from 2 on"),
        (lambda: lk.Ordinal(3, (1, 1)), "thresholds: expected 2 increasing numbers"),
        (lambda: lk.Poisson().quantiles(1.0, 0.0), "p: expected probabilities between 0 and 1"),
    ],
)
def test_arguments_that_cannot_be_are_named(make, error):
    with pytest.raises(ValueError, match=error):
        make()


def test_parameters_begin_where_the_data_say():
    y = 100 + 7 * np.random.default_rng(0).standard_normal(400)
    (noise,) = lk.Gaussian().parameters(y)
    assert 1 < noise.number < 7**2
    assert noise.lower < noise.value < noise.upper
    scale, df = lk.StudentT(scale=2.0, df_bounds="fixed").parameters(1e6 * y)
    assert scale.number == pytest.approx(2.0)
    assert scale.upper > np.log(7e6)
    assert df.fixed
    assert not scale.fixed
    assert lk.Gamma(shape_bounds=(3.0, 4.0)).parameters()[0].number == pytest.approx(3.0)
    assert lk.Gaussian().parameters(np.full(5, 3.0))[0].value == pytest.approx(-2 * np.log(3))  # nothing to read off
    classes = np.repeat([0.0, 1, 2], [100, 300, 600])
    ordinal = lk.Ordinal(3).with_values([p.value for p in lk.Ordinal(3).parameters(classes)])
    assert ordinal.probability([0, 1], 0.0) == pytest.approx([0.1, 0.4], abs=0.001)
    moved = lk.StudentT().with_values(np.log([3.0, 5.0]))
    assert (moved.scale, moved.df) == pytest.approx((3.0, 5.0))
    assert replace(lk.StudentT(), df=5.0) == lk.StudentT(df=5.0)


def test_many_rows_are_those_of_few(threads):
    """Blocks and threads change no bit."""
    y, f = np.arange(3000.0) % 7, np.linspace(-2, 2, 3000)
    found = []
    for number in (1, 2):
        threads(number)
        found.append(lk.Poisson().moments(y, f, 0.5))
    few = lk.Poisson().moments(y[1000:1003], f[1000:1003], 0.5)
    for k in range(3):
        assert np.array_equal(found[0][k], found[1][k])
        assert found[0][k][1000:1003] == pytest.approx(few[k], rel=1e-13)


class OwnPoisson(lk.Likelihood):
    """Counts in Python, which must be those of the core."""

    log_concave, outcomes, wrong = True, (0.0, np.inf, True), None

    def rough(self, y, size=None):  # noqa: ARG002
        return np.log(y + 0.5)

    def log_density(self, y, f, size=None):  # noqa: ARG002
        return lk.Poisson().log_density(y, f) * (1.001 if self.wrong == "density" else 1)

    def derivatives(self, y, f, size=None):  # noqa: ARG002
        if self.wrong == "raises":
            raise ZeroDivisionError("in the user's function")
        third = -np.exp(f) * (1.01 if self.wrong == "third" else 1)
        return (y[:-1] if self.wrong == "shape" else y) - np.exp(f), -np.exp(f), third

    def conditional(self, f, size=None):  # noqa: ARG002
        return np.exp(f) * (1.2 if self.wrong == "mean" else 1), np.exp(f)

    def probability(self, y, f, size=None):  # noqa: ARG002
        return lk.Poisson().probability(y, f) ** (1.01 if self.wrong == "probability" else 1)


def test_a_likelihood_in_python_has_the_results_of_the_core():
    own, core = OwnPoisson(), lk.Poisson()
    check_likelihood(own, COUNTS, F)
    for ours, theirs in zip(own.moments(COUNTS, F, 2.0), core.moments(COUNTS, F, 2.0), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9)
    assert np.array_equal(own.predict_quantiles(0.7, F, 2.0), core.predict_quantiles(0.7, F, 2.0))
    assert own.predict(F, 2.0)[1] == pytest.approx(core.predict(F, 2.0)[1], rel=1e-9)


@pytest.mark.parametrize("wrong", ["density", "third", "mean", "probability"])
def test_the_check_finds_what_is_wrong(wrong):
    own = OwnPoisson()
    own.wrong = wrong
    with pytest.raises(AssertionError):
        check_likelihood(own, COUNTS, F)


@pytest.mark.parametrize(("wrong", "error"), [("raises", ZeroDivisionError), ("shape", ValueError)])
def test_errors_of_a_likelihood_in_python_come_through(wrong, error):
    own = OwnPoisson()
    own.wrong = wrong
    with pytest.raises(error):
        own.moments(COUNTS, F, 1.0)
