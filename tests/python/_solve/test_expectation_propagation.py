"""Expectation propagation around factors: against a slow twin, exact integrals, and central differences."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import kernsel as ks
from kernsel import _core
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, Kernel

import reference as ref
import reference_likelihoods as twin
from accuracy import eps

EVIDENCE = _core.likelihood(True, "known")
LEFT_OUT = _core.left_out_density(True)
NAMES = ["bernoulli_probit", "bernoulli_logit", "poisson", "student_t"]
TOLERANCE = 1e-8  # of marginals at a fixed point, in standard deviations


def core_likelihood(name, phi):
    return getattr(_core, name)(*np.exp(phi))


@dataclass
class Case:
    """A kernel and observations of a likelihood."""

    name: str
    X: np.ndarray
    y: np.ndarray
    phi: np.ndarray  # the likelihood's parameters, as they are searched for
    size: np.ndarray
    noise: np.ndarray
    H: np.ndarray
    kernel: Kernel = field(default_factory=lambda: 1.5 * RBF([0.6, 1.0]))
    near: object = None  # an approximation
    inference: str = "ep"

    def observed(self):
        return _core.Observed(core_likelihood(self.name, self.phi), self.inference, self.size.tolist())

    def evaluate(self, criterion, gradient=False, *, points=False, observed=None, weights=None, converges=True):
        observed = self.observed() if observed is None else observed
        kernel, near = self.kernel.build(), None if self.near is None else self.near.core()
        data = self.X, self.y, self.noise, self.H, weights
        found = _core.evaluate(criterion, kernel, *data, gradient, Workspace(), near, points, observed)
        assert observed.converged == converges
        return found, observed

    def gradient(self, criterion):
        found, _ = self.evaluate(criterion, True)
        return np.concatenate([found["gradient"], found["noise_gradient"], found["likelihood_gradient"]])

    def moved(self, criterion):
        """Return the criterion as a function of hyperparameters, noise and the likelihood's parameters, and their values."""
        p, n = len(self.kernel.theta), len(self.y)

        def value(x):
            case = replace(self, kernel=self.kernel.clone_with_theta(x[:p]), noise=x[p : p + n], phi=x[p + n :])
            return case.evaluate(criterion)[0]["value"]

        return value, np.concatenate([self.kernel.theta, self.noise, self.phi])


def case(name, n=8, trend=False, seed=0, **given):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    f, size, phi = 2 * np.sin(4 * X[:, 0]) - 0.5, np.ones(n), np.zeros(0)
    if name == "poisson":
        size = rng.uniform(0.5, 3, n)
        y = rng.poisson(size * np.exp(f)).astype(float)
    elif name == "student_t":
        phi = np.log([0.4, 4.0])
        y = f + 0.4 * rng.standard_normal(n)
    elif name == "gaussian":
        phi = np.log([0.3])
        y = f + 0.5 * rng.standard_normal(n)
    else:
        y = (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * f))).astype(float)
    H = np.column_stack([np.ones(n), X[:, 0]]) if trend else np.zeros((n, 0))
    return Case(name, X, y, phi, size, rng.uniform(0.01, 0.1, n), H, **given)


@pytest.mark.parametrize("name", NAMES)
def test_one_point_is_exact(name):
    of = case(name, n=1)
    v = float(of.kernel(of.X)[0, 0] + of.noise[0])

    def integrand(f):
        return np.exp(twin.log_density(name, of.y, np.array([f]), of.phi, of.size)[0]) * stats.norm.pdf(f, 0, np.sqrt(v))

    exact, error = quad(integrand, -15, 15, epsabs=0, epsrel=1e-11, limit=200, points=(of.y[0],))
    found, _ = of.evaluate(EVIDENCE)
    assert found["value"] == pytest.approx(np.log(exact), abs=2 * error / exact + 1e-9)  # 1e-9: of moments by quadrature


@pytest.mark.parametrize("trend", [False, True], ids=["", "trend"])
@pytest.mark.parametrize("name", NAMES)
def test_equals_its_twin(name, trend):
    of = case(name, trend=trend, n=8)
    K = np.asarray(of.kernel(of.X)) + np.diag(of.noise)
    value, mean, variance, log_means = twin.propagate(name, K, of.y, of.phi, of.size, of.H)
    found, observed = of.evaluate(EVIDENCE)
    # log Z is stationary in the marginals; those of a fixed point that attracts little are some tolerances off.
    assert found["value"] == pytest.approx(value, abs=1e-9 * len(of.y))
    assert np.all(np.abs(observed.latent - mean) <= 10 * TOLERANCE * np.sqrt(variance))
    left_out, _ = of.evaluate(LEFT_OUT)
    assert left_out["value"] == pytest.approx(log_means.sum(), abs=20 * TOLERANCE * len(of.y))


def test_normal_observations_are_exact():
    of = case("gaussian", n=20, trend=True)
    found, observed = of.evaluate(EVIDENCE, True)
    exact = _core.evaluate(EVIDENCE, of.kernel.build(), of.X, of.y, of.noise + np.exp(of.phi), of.H, None, True, Workspace())
    slack = 100 * len(of.y) * eps(float) * np.linalg.cond(of.kernel(of.X) + np.exp(of.phi) * np.eye(len(of.y)))
    assert found["value"] == pytest.approx(exact["value"], rel=slack)
    np.testing.assert_allclose(found["gradient"], exact["gradient"], rtol=slack, atol=slack)
    np.testing.assert_allclose(found["noise_gradient"], exact["noise_gradient"], rtol=slack, atol=slack)
    expected = np.exp(of.phi) * exact["noise_gradient"].sum()
    np.testing.assert_allclose(found["likelihood_gradient"], expected, rtol=slack, atol=slack * len(of.y))
    np.testing.assert_allclose(observed.noise, np.exp(of.phi[0]), rtol=1e-8)  # of moments by quadrature


@pytest.mark.parametrize("name", NAMES)
def test_evidence_of_three_points(name):
    of = case(name, n=3, seed=1)
    K = np.asarray(of.kernel(of.X)) + np.diag(of.noise)
    x = np.linspace(-7, 7, 41)
    grid = np.stack(np.meshgrid(x, x, x, indexing="ij"), axis=-1).reshape(-1, 3)
    f = grid @ np.linalg.cholesky(K).T
    log = stats.norm.logpdf(grid).sum(axis=1)
    for i in range(3):
        log = log + twin.log_density(name, of.y[i], f[:, i], of.phi, of.size[i])
    exact = np.log(np.exp(log).sum() * (x[1] - x[0]) ** 3)
    found, _ = of.evaluate(EVIDENCE)
    laplace, _ = replace(of, inference="laplace").evaluate(EVIDENCE)
    # It is an approximation: a few thousandths of a nat, and better than Laplace's.
    assert abs(found["value"] - exact) <= min(0.01, 0.5 * abs(laplace["value"] - exact))


def assert_gradient(of, criterion):
    value, x = of.moved(criterion)
    slopes, error = ref.central_differences(value, x, 1e-3)
    found = of.gradient(criterion)
    # Marginals are within the tolerance of the fixed point, whose own differences are divided by the step.
    limit = error + 30 * TOLERANCE * np.abs(slopes).max()
    assert np.all(np.abs(found - slopes) <= limit), (found, slopes, error)


@pytest.mark.parametrize("criterion", [EVIDENCE, LEFT_OUT], ids=["evidence", "left_out"])
@pytest.mark.parametrize("name", NAMES)
def test_gradient(name, criterion):
    assert_gradient(case(name, n=6, trend=name in ("poisson", "student_t")), criterion)


@pytest.mark.parametrize("criterion", [EVIDENCE, LEFT_OUT], ids=["evidence", "left_out"])
@pytest.mark.parametrize("near", [ks.Nystrom(4), ks.Vecchia(3)], ids=["landmarks", "neighbours"])
def test_gradient_of_approximations(near, criterion):
    assert_gradient(case("poisson", n=9, trend=True, near=near), criterion)


def test_outliers_have_no_weight():
    of = case("student_t", n=6)
    of.y[3] += 30.0
    _, observed = of.evaluate(EVIDENCE)
    assert observed.noise[3] >= 1e6 * of.kernel(of.X).max()
    assert np.delete(observed.noise, 3).max() <= 10.0
    assert_gradient(of, EVIDENCE)  # not stationary, since that site has another variance than it should


def test_gradient_of_groups():
    groups = [0, 0, 1, 2, 1, 2]
    criterion = _core.left_out_density(True, groups, 3)
    of = case("poisson", n=6)
    assert_gradient(of, criterion)
    observed = of.evaluate(criterion)[1]
    K, z, total = np.asarray(of.kernel(of.X)), observed.targets, 0.0
    for group in range(3):
        i, rest = np.flatnonzero(np.array(groups) == group), np.flatnonzero(np.array(groups) != group)
        A = K[np.ix_(i, rest)] @ np.linalg.inv(K[np.ix_(rest, rest)] + np.diag((of.noise + observed.noise)[rest]))
        mean = A @ z[rest]
        variance = np.diag(K[np.ix_(i, i)] - A @ K[np.ix_(rest, i)]) + of.noise[i]
        total += sum(
            twin.cavity_moments("poisson", of.y[j], m, v, of.phi, of.size[j])[0]
            for j, m, v in zip(i, mean, variance, strict=True)
        )
    assert of.evaluate(criterion)[0]["value"] == pytest.approx(total, abs=1e-9 * len(of.y))
    with pytest.raises(ValueError, match="points can be left out alone, not in groups"):
        replace(of, near=ks.Vecchia(3)).evaluate(criterion)


def test_gradient_in_the_points():
    of = case("bernoulli_logit", n=5)
    found, _ = of.evaluate(LEFT_OUT, True, points=True)

    def value(x):
        return replace(of, X=x.reshape(of.X.shape)).evaluate(LEFT_OUT)[0]["value"]

    slopes, error = ref.central_differences(value, of.X.ravel(), 1e-3)
    assert np.all(np.abs(found["points_gradient"].ravel() - slopes) <= error + 30 * TOLERANCE * np.abs(slopes).max())


def test_begins_where_the_last_one_ended():
    of = case("poisson", n=30)
    first, observed = of.evaluate(EVIDENCE)
    cold = observed.steps
    again, _ = of.evaluate(EVIDENCE, observed=observed)
    assert observed.steps < cold
    assert again["value"] == pytest.approx(first["value"], abs=1e-9)


def test_weights_are_refused():
    of = case("poisson", n=3)
    np.testing.assert_equal(of.evaluate(EVIDENCE, weights=np.ones(3))[0]["value"], of.evaluate(EVIDENCE)[0]["value"])
    with pytest.raises(ValueError, match="points have no weights here"):
        of.evaluate(EVIDENCE, weights=np.array([1.0, 2.0, 1.0]))


def test_tells_that_it_has_not_converged():
    of = case("bernoulli_probit", n=6, trend=True)  # a line separates the classes: the posterior of its slope is improper
    assert np.isfinite(of.evaluate(EVIDENCE, converges=False)[0]["value"])
