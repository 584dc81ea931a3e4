"""Likelihoods of margins: against numbers of many digits, and integrals by adaptive quadrature."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, special

from kernsel.estimators.classification.links import Link, Logistic, Probit, link_named

EPS = np.finfo(float).eps
LINKS = [Logistic(), Probit()]
MARGINS = [-1e8, -1e3, -100.0, -40.0, -20.0, -16.5, -16.0, -15.5, -8.0, -3.0, -0.5, 0.0, 0.3, 2.0, 7.0, 30.0]


def exactly(link, s):
    """Return log p and its first three derivatives, to 60 digits."""
    s = mp.mpf(s)
    if link.name == "logistic":
        p, q = 1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(s))
        return -mp.log1p(mp.exp(-s)), q, -p * q, p * q * (p - q)
    r = mp.npdf(s) / (mp.erfc(-s / mp.sqrt(2)) / 2)
    return (
        mp.log1p(-mp.erfc(s / mp.sqrt(2)) / 2) if s > 0 else mp.log(mp.erfc(-s / mp.sqrt(2)) / 2),
        r,
        -r * (s + r),
        r * ((s + r) * (s + 2 * r) - 1),
    )


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_derivatives(link):
    found = link.derivatives(np.array(MARGINS))
    with mp.workdps(150):
        expected = np.array([[float(value) for value in exactly(link, s)] for s in MARGINS])
    np.testing.assert_array_equal(link.log_density(np.array(MARGINS)), found.value)
    u2 = 1 + np.minimum(np.square(MARGINS), 16.0**2)  # by which differences of phi / Phi and -s amplify rounding
    for number, (name, amplified) in enumerate([("value", 1), ("first", 1), ("second", u2), ("third", u2**2)]):
        # phi(s) = exp(-s^2 / 2) itself amplifies rounding by s^2.
        limit = 32 * EPS * np.maximum(amplified, np.square(MARGINS) * (np.array(MARGINS) > 0)) * np.abs(expected[:, number])
        assert np.all(np.abs(getattr(found, name) - expected[:, number]) <= limit), name


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_far_margins_stay_finite(link):
    s = np.array([-1e150, -1e5, 1e5, 1e150])
    found = link.derivatives(s)
    for name in ("first", "second", "third"):
        assert np.isfinite(getattr(found, name)).all(), name
    assert np.all(found.second <= 0)


def integrals(link, mean, variance):
    """Return log E p, and E p' / E p and E p'' / E p, by adaptive quadrature between places where something happens."""
    deviation = np.sqrt(variance)

    def log_terms(x):
        return link.log_density(x) - 0.5 * ((x - mean) / deviation) ** 2

    tilted = mean + variance if link.name == "logistic" else mean / (1 + variance)
    centres = [mean, tilted, min(max(0.0, mean), tilted) if tilted > mean else 0.0, 0.0]
    places = {c + k * w for c in centres for k in (-40, -12, -5, -2, 0, 2, 5, 12, 40) for w in (deviation, 1.0)}
    places = np.array(sorted(places))
    top = log_terms(np.concatenate([places, np.linspace(places[0], places[-1], 2001)])).max()
    found = []
    for order in range(3):

        def term(x, order=order):
            at = np.array([x])
            size = np.exp(log_terms(at)[0] - top)
            if order == 0 or size == 0:
                return size
            d = link.derivatives(at)
            return (d.first[0] if order == 1 else d.second[0] + d.first[0] ** 2) * size  # p^(order)

        pieces = [
            integrate.quad(term, a, b, epsabs=1e-15, epsrel=1e-12, limit=200)[0] for a, b in itertools.pairwise(places) if b > a
        ]
        found.append(float(np.sum(pieces)))
    total = found[0]
    return top + np.log(total / deviation) - 0.5 * np.log(2 * np.pi), found[1] / total, found[2] / total


@pytest.mark.parametrize("link", LINKS, ids=repr)
@pytest.mark.parametrize("variance", [1e-6, 0.3, 0.999, 1.001, 7.0, 150.0, 1e4])
def test_moments(link, variance):
    means = np.array([-60.0, -9.0, -1.0, 0.0, 0.4, 5.0, 45.0])
    found = link.moments(means, np.full(len(means), variance))
    for i, mean in enumerate(means):
        log_mean, first, second = integrals(link, mean, variance)
        assert abs(found.log_mean[i] - log_mean) <= 1e-10 * max(1.0, abs(log_mean)), mean
        assert abs(np.exp(found.log_mean[i]) - np.exp(log_mean)) <= 1e-10
        assert abs(found.first[i] - first) <= 1e-9 * max(first, 1e-3), mean
        assert abs(found.second[i] - (second - first**2)) <= 1e-8 * max(first, 1e-3), mean


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_moments_are_derivatives_of_each_other(link, rng):
    mean, variance, step = 6 * rng.standard_normal(50), 10.0 ** rng.uniform(-3, 4, 50), 1e-4
    ahead, behind = (link.moments(mean + h * np.sqrt(1 + variance), variance) for h in (step, -step))
    here = link.moments(mean, variance)
    for lower, upper in (("log_mean", "first"), ("first", "second")):
        slope = (getattr(ahead, lower) - getattr(behind, lower)) / (2 * step * np.sqrt(1 + variance))
        size = np.sqrt(1 + variance) ** -(1.0 if upper == "first" else 2.0)
        np.testing.assert_allclose(getattr(here, upper) / size, slope / size, rtol=1e-6, atol=1e-7)
    wider, narrower = (link.moments(mean, variance * (1 + h)) for h in (step, -step))
    slope = (wider.log_mean - narrower.log_mean) / (2 * step)
    np.testing.assert_allclose(here.in_variance * variance, slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_any_mean_and_variance(link):
    mean, variance = (
        grid.ravel() for grid in np.meshgrid([-1e6, -700.0, -38.0, 0.0, 38.0, 700.0, 1e6], 10.0 ** np.arange(-12, 13))
    )
    found = link.moments(mean, variance)
    assert np.isfinite(found.log_mean).all()
    assert np.all(found.log_mean <= 1e-12)
    assert np.all((found.first >= 0) & (found.second <= 1e-12))
    other = link.moments(-mean, variance)
    np.testing.assert_allclose(np.exp(found.log_mean) + np.exp(other.log_mean), 1.0, atol=1e-11)


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_probability_of_a_half_is_where_the_mean_is_zero(link, rng):
    mean = np.concatenate([[0.0, 1e-300, 1e-17, -1e-15], rng.standard_normal(20)])
    for variance in (0.0, 0.5, 1.0, 30.0):
        p = link.probability(mean, np.full(len(mean), variance))
        np.testing.assert_array_equal(p >= 0.5, mean >= 0)
        np.testing.assert_allclose(p + link.probability(-mean, np.full(len(mean), variance)), 1.0, atol=4 * EPS)
    np.testing.assert_allclose(link.probability(np.array([0.7]), np.zeros(1)), np.exp(link.log_density(np.array([0.7]))))


def test_probit_is_in_closed_form():
    np.testing.assert_allclose(Probit().probability(np.array([1.5]), np.array([8.0])), special.ndtr(0.5), rtol=4 * EPS)


def test_names():
    assert isinstance(link_named("logistic"), Logistic)
    assert isinstance(link_named("probit"), Link)
    with pytest.raises(ValueError, match='link: expected "logistic" or "probit", got \'logit\''):
        link_named("logit")
