"""Samples of latent values: from the exact posterior, and with diagnostics that mean what they say."""

import warnings

import numpy as np
import pytest
from pairs import pairwise
from scipy import special

from kernsel._sample.diagnostics import NotMixedWarning, effective_sample_size
from kernsel.estimators.classification.sampling import sample_latent
from kernsel.kernels import RBF

import reference


class Logistic:
    def log_density(self, s):
        return -np.logaddexp(0.0, -s)


class Probit:
    def log_density(self, s):
        return special.log_ndtr(s)


class Flat:
    def log_density(self, s):
        return np.zeros_like(s)


LINKS = {"logistic": Logistic(), "probit": Probit()}
LIMIT = 4.5  # standard errors: one in 150 000 comparisons is further off by chance


def laplace_sites(K, y, link):
    """Return precision and shift of each site at the mode, by numerical derivatives and plain, damped Newton steps."""
    f, h = np.zeros(len(y)), 1e-4

    def slopes(f):
        up, here, down = (link.log_density(y * (f + step)) for step in (h, 0, -h))
        return (up - down) / (2 * h), np.maximum((2 * here - up - down) / h**2, 0)

    for _ in range(60):
        g, W = slopes(f)
        f = f + 0.5 * (np.linalg.solve(np.eye(len(y)) + K * W, K @ (W * f + g)) - f)
    g, W = slopes(f)
    return W, W * f + g


def factor(K):
    e, Q = np.linalg.eigh(K)
    return Q * np.sqrt(np.maximum(e, 0))


def problem(n, amplitude, rng):
    X = rng.uniform(0, 3, (n, 1))
    return amplitude * RBF(1.0)(X), np.where(rng.random(n) < 0.6, 1.0, -1.0)


@pytest.mark.parametrize(("name", "amplitude", "with_sites"), pairwise(LINKS, [1.0, 9.0], [False, True]))
def test_moments_are_those_of_the_exact_posterior(name, amplitude, with_sites, rng):
    K, y = problem(5, amplitude, rng)
    link = LINKS[name]
    log_z, mean, covariance = reference.gp_classifier(K, y, link.log_density, nodes=12)
    sites, count = (laplace_sites(K, y, link), 800) if with_sites else (None, 2500)
    samples = sample_latent(factor(K), y, link, n_samples=count, n_burn=100, n_chains=4, rng=rng, sites=sites)
    assert samples.f.shape == (4, count, 5)
    assert samples.r_hat.max() < 1.02
    assert samples.effective_sample_size.min() > 400
    error = np.sqrt(np.diag(covariance) / samples.effective_sample_size)
    assert (np.abs(samples.f.mean(axis=(0, 1)) - mean) <= LIMIT * error).all()
    squares = (samples.f - mean) ** 2
    error = np.sqrt(squares.var(axis=(0, 1)) / effective_sample_size(squares))
    assert (np.abs(squares.mean(axis=(0, 1)) - np.diag(covariance)) <= LIMIT * error).all()
    assert np.isfinite(log_z)


def test_a_likelihood_that_says_nothing_leaves_the_prior(rng):
    F = rng.standard_normal((6, 3))  # of rank 3
    samples = sample_latent(F, np.ones(6), Flat(), n_samples=3000, n_burn=0, n_chains=3, rng=rng)
    f = samples.f.reshape(-1, 6)
    assert np.linalg.matrix_rank(f, tol=1e-9 * np.abs(f).max()) == 3
    K = F @ F.T
    products = samples.f[..., :, None] * samples.f[..., None, :]
    error = np.sqrt(products.var(axis=(0, 1)) / effective_sample_size(products))
    assert (np.abs(products.mean(axis=(0, 1)) - K) <= LIMIT * error).all()


def test_sites_of_a_gaussian_likelihood_are_its_posterior(rng):
    class Gaussian:
        def log_density(self, s):  # of y = 1: pseudo-targets 0.7 with variance 0.1
            return -((s - 0.7) ** 2) / 0.2

    K, _ = problem(6, 4.0, rng)
    precision = np.full(6, 10.0)
    samples = sample_latent(factor(K), np.ones(6), Gaussian(), n_samples=800, rng=rng, sites=(precision, 0.7 * precision))
    covariance = K - K @ np.linalg.solve(K + 0.1 * np.eye(6), K)
    mean = covariance @ (0.7 * precision)
    error = np.sqrt(np.diag(covariance) / samples.effective_sample_size)
    assert (np.abs(samples.f.mean(axis=(0, 1)) - mean) <= LIMIT * error).all()
    assert samples.effective_sample_size.min() > 1600


@pytest.mark.slow
def test_sites_may_be_anything(rng):
    K, y = problem(4, 4.0, rng)
    _, mean, covariance = reference.gp_classifier(K, y, LINKS["logistic"].log_density, nodes=12)
    sites = rng.uniform(0, 0.5, 4), rng.standard_normal(4)
    samples = sample_latent(factor(K), y, LINKS["logistic"], n_samples=800, rng=rng, sites=sites)
    error = np.sqrt(np.diag(covariance) / samples.effective_sample_size)
    assert (np.abs(samples.f.mean(axis=(0, 1)) - mean) <= LIMIT * error).all()


@pytest.mark.slow
def test_sites_pay_where_the_data_say_much(rng):
    X = rng.uniform(0, 10, (80, 1))
    y = np.where(np.sin(2 * X[:, 0]) > 0, 1.0, -1.0)
    K = 25.0 * RBF(1.0)(X)
    link = LINKS["probit"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotMixedWarning)
        plain, centred = (
            sample_latent(factor(K), y, link, n_samples=400, n_burn=100, rng=np.random.default_rng(0), sites=sites)
            for sites in (None, laplace_sites(K, y, link))
        )
    # For twice the time or so, most of which goes into the step along an ellipse of the prior.
    assert np.median(centred.effective_sample_size) > 4 * np.median(plain.effective_sample_size)


@pytest.mark.parametrize("with_sites", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_large_amplitudes(with_sites, rng):
    K, y = problem(5, 1e6, rng)
    sites = laplace_sites(K, y, LINKS["logistic"]) if with_sites else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotMixedWarning)
        samples = sample_latent(factor(K), y, LINKS["logistic"], n_samples=200, rng=rng, sites=sites)
    assert np.isfinite(samples.f).all()
    # The labels are right almost everywhere.
    assert (samples.f[:, 100:] * y > -20).all()


def test_seeds(rng):
    K, y = problem(4, 2.0, rng)
    first, again, other = (
        sample_latent(factor(K), y, LINKS["logistic"], n_samples=300, rng=np.random.default_rng(seed)).f for seed in (7, 7, 8)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_chains_that_have_not_mixed(rng):
    X = rng.uniform(0, 10, (60, 1))
    y = np.where(np.sin(3 * X[:, 0]) > 0, 1.0, -1.0)
    with pytest.warns(NotMixedWarning, match=r"R-hat is up to .* of 60 latent values"):
        samples = sample_latent(factor(400.0 * RBF(0.5)(X)), y, LINKS["probit"], n_samples=30, n_burn=0, rng=rng)
    assert samples.r_hat.max() > 1.05


def test_a_point_that_never_moves(rng):
    K = np.diag([0.0, 1.0])
    samples = sample_latent(factor(K), [1, -1], LINKS["probit"], n_samples=500, rng=rng)
    assert (samples.f[..., 0] == 0).all()
    assert samples.r_hat[0] == 1
    assert samples.effective_sample_size[0] == 2000


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"K_factor": [1.0, 2.0]}, r"K_factor: expected a matrix"),
        ({"K_factor": [[np.nan, 0.0], [0.0, 1.0]]}, r"K_factor: expected a matrix of finite"),
        ({"y": [0.0, 1.0]}, r"y: expected -1 or 1"),
        ({"y": [1.0]}, r"y: expected -1 or 1"),
        ({"n_samples": 3}, r"n_samples: expected at least 4, got 3"),
        ({"n_burn": -1}, r"n_burn: expected at least 0, got -1"),
        ({"n_chains": 0}, r"n_chains: expected at least 1, got 0"),
        ({"sites": ([1.0], [0.0])}, r"sites: expected precisions that are finite"),
        ({"sites": ([1.0, 1.0], [0.0, np.inf])}, r"sites: expected shifts that are finite"),
        ({"sites": ([1.0, -1.0], [0.0, 0.0])}, r"sites: expected precisions that are not negative, got -1"),
    ],
)
def test_bad_input(changed, message, rng):
    given = {"K_factor": np.eye(2), "y": [1.0, -1.0], "link": LINKS["probit"], "rng": rng} | changed
    with pytest.raises(ValueError, match=message):
        sample_latent(**given)


def test_a_link_that_is_not_finite(rng):
    class Broken:
        def log_density(self, s):
            return np.full_like(s, -np.inf)

    with pytest.raises(ValueError, match=r"link: expected finite log densities, got -inf"):
        sample_latent(np.eye(2), [1.0, 1.0], Broken(), rng=rng)


def arcsines(K, y):
    """Return the probability that 2 or 3 normal variables of covariance K + I have signs y."""
    C = (K + np.eye(len(K))) * np.outer(y, y)
    r = C / np.sqrt(np.outer(np.diag(C), np.diag(C)))
    angles = np.arcsin(r[np.triu_indices(len(K), 1)]).sum()
    return 0.25 + angles / (2 * np.pi) if len(K) == 2 else 0.125 + angles / (4 * np.pi)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("amplitude", [0.5, 4.0])
def test_the_reference_against_closed_forms(n, amplitude, rng):
    K, y = problem(n, amplitude, rng)
    log_z, mean, _ = reference.gp_classifier(K, y, special.log_ndtr, nodes=20)
    assert np.exp(log_z) == pytest.approx(arcsines(K, y), rel=1e-6)
    if n == 3:
        left = [np.delete(np.arange(3), i) for i in range(3)]
        expected = [arcsines(K, y) / arcsines(K[np.ix_(r, r)], y[r]) for r in left]
        assert reference.gp_classifier_without(K, y, special.log_ndtr, nodes=20) == pytest.approx(expected, rel=1e-6)
    # The mean is K times the derivative of log Z in a shift of f.
    step = 1e-3
    slopes = []
    for e in step * np.eye(n):
        shifted = [
            reference.gp_classifier(K, np.ones(n), lambda f, m=m: special.log_ndtr(y * (f + m)), nodes=20)[0] for m in (e, -e)
        ]
        slopes.append((shifted[0] - shifted[1]) / (2 * step))
    assert mean == pytest.approx(K @ slopes, abs=1e-5 * amplitude)


@pytest.mark.parametrize("amplitude", [1.0, 4.0])
def test_the_reference_does_not_depend_on_its_nodes(amplitude, rng):
    K, y = problem(5, amplitude, rng)
    for link in LINKS.values():
        coarse, fine = (reference.gp_classifier(K, y, link.log_density, nodes=nodes) for nodes in (11, 14))
        assert coarse[0] == pytest.approx(fine[0], abs=1e-6)
        assert coarse[1] == pytest.approx(fine[1], abs=1e-5)
