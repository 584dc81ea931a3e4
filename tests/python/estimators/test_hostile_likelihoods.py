"""Observations that cannot be, and those at an end of what can be, for each likelihood: an answer or one clear error."""

import numpy as np
import pytest
from scipy import stats

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.likelihoods import AsymmetricLaplace, CensoredGaussian, Ordinal, StudentT

N = 12
X = np.linspace(0, 1, N)[:, None]
WHOLE, SHARES = np.array([3.0, 1, 0, 2, 4, 1, 5, 2, 0, 1, 3, 2]), np.linspace(0.2, 0.8, N)
CLASSES = np.tile([0.0, 1.0], N // 2)
ANY = np.sin(7 * X[:, 0])
# For each likelihood: observations that can be, some that cannot, and what the error says of these.
CASES = {
    "poisson": (WHOLE, (-1, 0.5), "expected counts, whole numbers from 0 on"),
    "negative_binomial": (WHOLE, (-1, 0.5), "expected counts, whole numbers from 0 on"),
    "bernoulli": (CLASSES, (-1, 0.5, 2), "expected 0 or 1"),
    "binomial": (CLASSES, (-1, 0.5, 2), "expected counts of successes, whole numbers from 0 to the trials"),
    "gamma": (WHOLE + 1, (0, -1), "expected positive, finite numbers"),
    "beta": (SHARES, (0, 1, -0.1, 2), "expected numbers between 0 and 1, neither of which has a density"),
    "gaussian": (ANY, (), ""),
    "student_t": (ANY, (), ""),
    "laplace": (ANY, (), ""),
    "quantile": (ANY, (), ""),
    "ordinal": (np.tile([0.0, 1.0, 2.0], N // 3), (-1, 0.5, 3), "expected classes, whole numbers from 0 to n_classes - 1"),
    "censored": (np.maximum(ANY, 0), (-0.1,), "expected numbers from the lower to the upper limit"),
    "log_normal": (WHOLE + 1, (0, -1), "expected positive numbers"),
    "logit_normal": (SHARES, (0, 1), "expected numbers between the lower and the upper limit, both excluded"),
    "box_cox": (WHOLE + 1, (0, -1), "expected positive numbers"),
    "yeo_johnson": (ANY, (), ""),
    "normal_scores": (ANY, (), ""),
}
OBJECTS = {"quantile": AsymmetricLaplace(0.9), "ordinal": Ordinal(3), "censored": CensoredGaussian(lower=0.0)}
each = pytest.mark.parametrize("name", CASES)


def process(name, **options):
    return ks.GaussianProcessRegressor(likelihood=OBJECTS.get(name, name), **options)


def spoilt(y, value):
    y = y.copy()
    y[4] = value
    return y


@each
def test_observations_that_cannot_be(name):
    y, wrong, said = CASES[name]
    for value in wrong:
        with pytest.raises(ValueError, match=rf"^y: {said}, got {float(value)} in row 4$"):
            process(name).fit(X, spoilt(y, value))
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"^y: contains NaN or infinity, first at entry 4"):
            process(name).fit(X, spoilt(y, value))


@each
def test_shapes_and_arguments_that_cannot_be(name):
    y = CASES[name][0]
    with pytest.raises(ValueError, match=rf"^y: .* observations are one for each point, got shape \({N}, 2\); .*MultiOutput"):
        process(name).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=rf"inconsistent numbers of samples: \[{N}, 5\]"):
        process(name).fit(X, y[:5])
    with pytest.raises(ValueError, match=r"^noise: .* observations have no noise but that of the likelihood; a WhiteKernel"):
        process(name, noise=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"^exposure: .* observations have no exposure|^exposure: expected positive"):
        process(name).fit(X, y, exposure=0.0)


@pytest.mark.parametrize("name", ["poisson", "negative_binomial"])
def test_exposures_that_cannot_be(name):
    for exposure in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"^exposure: expected positive, finite numbers, got .* in row 4$"):
            process(name).fit(X, WHOLE, exposure=spoilt(np.ones(N), exposure))
    with pytest.raises(ValueError, match=rf"^exposure: .* one for each of the {N} points, got shape \(3,\)"):
        process(name).fit(X, WHOLE, exposure=np.ones(3))


def test_trials_that_cannot_be():
    for trials in (0.0, 1.5, -2.0):
        with pytest.raises(ValueError, match=rf"^trials: expected whole numbers from 1 on, got {trials} in row 4$"):
            process("binomial").fit(X, CLASSES, trials=spoilt(np.ones(N), trials))


def test_parameters_that_cannot_be():
    for df in (0.0, -1.0, np.nan, 1.0):
        with pytest.raises(ValueError, match=r"^df: expected .* above 0|^df: expected more than 1 degree"):
            StudentT(df=df)


ENDS = [("poisson", 0, "small"), ("negative_binomial", 0, "small"), ("bernoulli", 0, "small"), ("bernoulli", 1, "large")]
ENDS += [("binomial", 1, "large"), ("ordinal", 0, "small"), ("ordinal", 2, "large"), ("censored", 0, "small")]


@pytest.mark.parametrize(("name", "value", "size"), ENDS)
def test_observations_that_leave_a_trend_without_a_bound(name, value, size):
    with pytest.raises(ValueError, match=rf"^y: all {N} \w+ observations are as {size} as they can be.*trend=None"):
        process(name).fit(X, np.full(N, float(value)))
    gp = process(name, trend=None).fit(X, np.full(N, float(value)))
    mean, std = gp.predict_latent(X, return_std=True)
    assert (mean > 0).all() if size == "large" else (mean < 0).all()
    assert np.isfinite([*mean, *std, *gp.predict(X), *gp.loo_log_density_, gp.criterion_value_]).all()
    assert gp.criterion_value_ < 0


@pytest.mark.parametrize("count", [1, 7])
def test_counts_that_are_equal(count):
    y = np.full(N, float(count))
    gp = process("poisson", inference="laplace").fit(X, y)
    # What is left of the process is its constant, whose information is that of all counts together.
    expected = stats.poisson.logpmf(y, y).sum() - 0.5 * np.log(y.sum()) + 0.5 * np.log(N) + 0.5 * np.log(2 * np.pi)
    assert gp.criterion_value_ == pytest.approx(expected, abs=1e-4)
    mean, std = gp.predict_latent(X, return_std=True)
    np.testing.assert_allclose(mean, np.log(count), atol=1e-4)
    np.testing.assert_allclose(std, 1 / np.sqrt(y.sum()), rtol=1e-2)


@pytest.mark.parametrize("name", ["gaussian", "student_t", "laplace", "quantile", "gamma", "beta"])
def test_numbers_that_are_equal(name):
    y = np.full(N, 0.5)
    gp = process(name).fit(X, y)
    assert np.isfinite([*gp.loo_log_density_, gp.criterion_value_]).all()
    np.testing.assert_allclose(gp.predict(X), y, rtol=0.01)
    np.testing.assert_allclose(gp.predict_quantiles(X, [0.05, 0.95]), 0.5, rtol=0.05)


@pytest.mark.parametrize("name", ["poisson", "negative_binomial", "gamma"])
def test_observations_of_many_sizes(name):
    y = spoilt(CASES[name][0], 1e10)
    gp = process(name).fit(X, y)
    found = gp.predict_quantiles(X, [0.05, 0.5, 0.95])
    assert np.isfinite([*gp.predict(X), *gp.loo_log_density_, gp.criterion_value_]).all()
    assert (np.diff(found, axis=1) >= 0).all()
    assert found[4, 0] < 1e10 < found[4, 2]


@pytest.mark.parametrize("name", ["poisson", "negative_binomial", "gamma"])
def test_predictions_that_overflow(name):
    likelihood = process(name).likelihood_given()
    for mean, variance in ((-22.0, 8e6), (0.0, 1e4), (20.0, 8e3), (700.0, 1.0), (1e4, 1.0)):
        expected, spread = likelihood.predict([mean], [variance])
        assert expected[0] > 0
        assert spread[0] > 0
        quantiles = likelihood.predict_quantiles([0.05, 0.5, 0.95], [mean] * 3, [variance] * 3)
        assert not np.isnan(quantiles).any()
        assert (quantiles[1:] >= quantiles[:-1]).all()
        low, high = mean + np.sqrt(variance) * stats.norm.ppf([0.05, 0.95])  # of the logarithm of the rate
        least, most = np.minimum(np.log1p(quantiles[[0, 2]]), 690.0)  # and nearly those of the observations
        assert least < max(low, 0.0) + 3
        assert most > min(high, 690.0) - 3


def test_outliers_do_not_hold_the_mode():
    """From y itself, the nearest mode for a small scale follows outliers."""
    Z = np.linspace(0, 6, 40)[:, None]
    truth = np.sin(Z[:, 0])
    y = truth.copy()
    y[[5, 6, 21, 33]] += [4.0, 5.0, -6.0, 3.0]
    gp = ks.GaussianProcessRegressor(RBF(1.5), likelihood=StudentT(1e-3, 2.0), inference="laplace", optimizer=None).fit(Z, y)
    assert np.abs(gp.predict(Z) - truth).max() < 0.01
