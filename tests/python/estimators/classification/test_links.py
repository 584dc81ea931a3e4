"""Likelihoods of margins: against numbers of many digits, and each other."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import kernsel as ks
from kernsel.estimators.classification.links import LINKS as KNOWN
from kernsel.estimators.classification.links import Derivatives, Labels, Link, Logistic, Probit, link_named
from kernsel.kernels import RBF
from kernsel.testing import check_likelihood

EPS = np.finfo(float).eps


class Secant(Link):
    """A new likelihood: its density is 1 / (2 cosh t), t = pi s / 2, and so p(s) = 2 / pi arctan(exp(t))."""

    name = "secant"

    def log_density(self, s):
        t = 0.5 * np.pi * np.asarray(s, dtype=np.float64)
        small = np.log(2 / np.pi) + np.where(t < -18, t, np.log(np.arctan(np.exp(np.clip(t, -18, 0)))))
        return np.where(t < 0, small, np.log1p(-2 / np.pi * np.arctan(np.exp(-np.maximum(t, 0)))))

    def derivatives(self, s):
        t, c = 0.5 * np.pi * np.asarray(s, dtype=np.float64), 0.5 * np.pi
        # The density divided by p; u = exp(t) where t < 0.
        u, tail = np.exp(np.clip(t, -300, 0)), np.exp(-np.abs(t))
        first = np.where(t < 0, c * u / ((1 + u**2) * np.arctan(u)), tail / (1 + tail**2) / np.exp(self.log_density(np.abs(s))))
        # The slope of its logarithm, by a series where it is a difference of numbers that are nearly equal.
        gap = np.where(u < 0.01, u**2 * (-4 / 3 + u**2 * (4 / 45 - u**2 * 44 / 945)), 1 - u**2 - u / np.arctan(u))
        slope = np.where(t < 0, c / (1 + u**2) * gap, -c * np.tanh(t) - first)
        second = first * slope
        third = second * slope + first * (-4 * (c * tail / (1 + tail**2)) ** 2 - second)
        return Derivatives(self.log_density(s), first, second, third)


LINKS = [Logistic(), Probit(), Secant()]
MARGINS = [-1e8, -1e3, -100.0, -40.0, -20.0, -16.5, -16.0, -15.5, -8.0, -3.0, -0.5, 0.0, 0.3, 2.0, 7.0, 30.0]


def exactly(link, s):
    """Return log p and its first three derivatives, to 60 digits."""
    s = mp.mpf(s)
    if link.name == "logistic":
        p, q = 1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(s))
        return -mp.log1p(mp.exp(-s)), q, -p * q, p * q * (p - q)
    if link.name == "secant":
        t = mp.pi * s / 2
        p = 2 / mp.pi * mp.atan(mp.exp(t))
        r, slope = mp.sech(t) / 2 / p, -mp.pi / 2 * mp.tanh(t)
        log_p = mp.log(p) if s < 0 else mp.log1p(-2 / mp.pi * mp.atan(mp.exp(-t)))
        return log_p, r, r * (slope - r), r * ((slope - r) ** 2 - (mp.pi / 2 * mp.sech(t)) ** 2 - r * (slope - r))
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
    for number, (name, amplified) in enumerate([("value", 1), ("first", 1), ("second", u2), ("third", 4 * u2**2)]):
        # phi(s) = exp(-s^2 / 2) itself amplifies rounding by s^2.
        limit = 32 * EPS * np.maximum(amplified, np.square(MARGINS) * (np.array(MARGINS) > 0)) * np.abs(expected[:, number])
        if link.name == "secant" and number >= 2:  # a difference that loses four digits here, and all of 150 in mpmath
            limit = 1e4 * limit + 1e-140
        limit = limit + 4e-24 * (number == 3)  # where the second is -1
        assert np.all(np.abs(getattr(found, name) - expected[:, number]) <= limit), name


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_far_margins_stay_finite(link):
    s = np.array([-1e150, -1e5, 1e5, 1e150])
    found = link.derivatives(s)
    for name in ("first", "second", "third"):
        assert np.isfinite(getattr(found, name)).all(), name
    assert np.all(found.second <= 0)


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_any_mean_and_variance(link):
    mean, variance = (
        grid.ravel() for grid in np.meshgrid([-1e6, -700.0, -38.0, 0.0, 38.0, 700.0, 1e6], 10.0 ** np.arange(-12, 13))
    )
    likelihood = link.likelihood()
    log_mean, first, second = likelihood.moments(1.0, mean, variance)
    assert np.isfinite(log_mean).all()
    assert np.all(log_mean <= 1e-12)
    assert np.all((first >= 0) & (second <= 1e-12))
    np.testing.assert_allclose(np.exp(log_mean) + np.exp(likelihood.moments(0.0, mean, variance)[0]), 1.0, atol=1e-11)


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
    with pytest.raises(ValueError, match='link: expected "logistic", "probit" or a Link, got \'logit\''):
        link_named("logit")


@pytest.mark.parametrize("link", [Logistic(), Probit()], ids=repr)
def test_labels_of_any_link_are_those_of_the_core(link, rng):
    general, own, y = Labels(link), link.likelihood(), rng.integers(2, size=50)
    f, variance = 3 * rng.standard_normal(50), 10.0 ** rng.uniform(-12, 4, 50)
    for ours, theirs in (
        (general.moments(y, f, variance), own.moments(y, f, variance)),
        (general.derivatives(y, f), own.derivatives(y, f)),
        (general.conditional(f), own.conditional(f)),
        ((general.probability(y - 0.5, f),), (own.probability(y - 0.5, f),)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


def test_labels_of_a_new_link():
    check_likelihood(Labels(Secant()), y=[0.0, 1.0, 1.0, 0.0], f=[-1.0, 0.0, 1.5, 2.0])
    with pytest.raises(ValueError, match="y: expected 0 or 1"):
        Labels(Secant()).check(np.array([0.0, 2.0]))


@pytest.fixture
def labelled(rng):
    X = rng.standard_normal((30, 2))
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(30) > 0, "up", "down")


@pytest.mark.slow
@pytest.mark.parametrize(("inference", "criterion"), [("laplace", "lml"), ("laplace", "loo"), ("ep", "lml")])
def test_a_new_likelihood_is_one_class(labelled, inference, criterion):
    X, y = labelled
    options = {"inference": inference, "criterion": criterion}
    model = ks.GaussianProcessClassifier(2.0 * RBF(1.0), link=Secant(), **options).fit(X, y)
    theta = model.kernel_.theta
    for step in 0.2 * np.vstack([np.eye(len(theta)), -np.eye(len(theta))]):  # no kernel nearby is better
        moved = model.kernel_.clone_with_theta(theta + step)
        other = ks.GaussianProcessClassifier(moved, optimizer=None, link=Secant(), **options).fit(X, y)
        assert other.criterion_value_ < model.criterion_value_ + 1e-6
    here, h = theta - 0.3, 1e-4
    _, gradient = model.log_marginal_likelihood(here, eval_gradient=True)
    for i, unit in enumerate(np.eye(len(theta))):
        change = model.log_marginal_likelihood(here + h * unit) - model.log_marginal_likelihood(here - h * unit)
        assert gradient[i] == pytest.approx(change / (2 * h), rel=1e-5, abs=1e-6)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    # The logistic likelihood of 1.7 s or so is nearly the same, and the scale of s is found with the kernel.
    logistic = ks.GaussianProcessClassifier(2.0 * RBF(1.0), **options).fit(X, y)
    assert np.abs(probability - logistic.predict_proba(X)).max() < 0.05


def test_a_new_likelihood_is_known_by_its_name(labelled, monkeypatch, tmp_path):
    X, y = labelled
    monkeypatch.setitem(KNOWN, "secant", Secant)
    model = ks.GaussianProcessClassifier("RBF", link="secant").fit(X, y)
    ks.save(model, tmp_path / "model.ksl")
    np.testing.assert_array_equal(ks.load(tmp_path / "model.ksl").predict_proba(X), model.predict_proba(X))
    with pytest.raises(TypeError, match=r"link: Secant\(\) cannot be written"):
        ks.save(ks.GaussianProcessClassifier("RBF", link=Secant()).fit(X, y), tmp_path / "other.ksl")
    several = ks.GaussianProcessClassifier("RBF", link=Secant()).fit(X, np.arange(30) % 3)
    assert several.predict_proba(X).shape == (30, 3)
