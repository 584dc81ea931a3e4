"""What the classifier chooses, and from where it starts."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel import _core
from kernsel._search import Budget
from kernsel._search.observations import choose_with_likelihood
from kernsel.criteria import Likelihood
from kernsel.estimators.classification.binary import observations_of
from kernsel.estimators.classification.links import Logistic
from kernsel.estimators.classification.search import some_of_each
from kernsel.kernels import RBF, Matern, WhiteKernel

KERNEL = sk.ConstantKernel(1.0) * sk.RBF(1.0)


@pytest.fixture
def moons():
    return make_moons(80, noise=0.25, random_state=0)


@pytest.mark.parametrize("inference", ["laplace", "ep"])
@pytest.mark.parametrize("criterion", ["lml", "loo"])
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_what_is_chosen_is_best(inference, criterion, link, moons):
    X, y = moons[0][:40], moons[1][:40]
    options = {"inference": inference, "criterion": criterion, "link": link}
    model = ks.GaussianProcessClassifier(KERNEL, **options).fit(X, y)

    def value(theta):
        other = ks.GaussianProcessClassifier(model.kernel_.clone_with_theta(theta), optimizer=None, **options).fit(X, y)
        return other.log_marginal_likelihood_value_ if criterion == "lml" else other.loo_log_probability_.sum()

    theta, bounds = model.kernel_.theta, model.kernel_.bounds
    best = value(theta)
    for i in range(2):
        for step in (-0.3, 0.3):
            moved = theta.copy()
            moved[i] = np.clip(moved[i] + step, *bounds[i])
            assert value(moved) <= best + 1e-6


def test_starts_from_the_data(moons):
    X, y = moons
    for scale in (1e-3, 1e4):
        model = ks.GaussianProcessClassifier(random_state=0).fit(scale * X, y)
        assert model.score(scale * X, y) > 0.9
        assert model.selection_.ended == "converged"
        lengths = np.exp(model.kernel_.theta[1:]) / scale
        np.testing.assert_allclose(
            lengths, np.exp(ks.GaussianProcessClassifier(random_state=0).fit(X, y).kernel_.theta[1:]), rtol=0.05
        )


def test_many_points_begin_with_some(rng):
    X = rng.standard_normal((700, 2))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(700) > 0
    model = ks.GaussianProcessClassifier(KERNEL, random_state=0).fit(X, y)
    assert model.selection_.n_evaluations_subset > 0
    assert 0 < model.n_evaluations_ < 30
    _, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert np.all(np.abs(gradient) < 0.05)


def test_budgets_and_bounds(moons):
    X, y = moons
    model = ks.GaussianProcessClassifier(max_evaluations=3).fit(X, y)
    assert model.selection_.ended == "evaluations"
    assert 0 < model.n_evaluations_ <= 3
    narrow = ks.GaussianProcessClassifier(RBF(1.0, (0.9, 1.1)) * 2.0 + WhiteKernel(1e-3, (1e-4, 1e-3))).fit(X, y)
    assert narrow.at_bounds_


@pytest.mark.slow
def test_a_rare_class_is_among_some_of_the_points(rng):
    X = rng.standard_normal((2000, 2))
    y = np.zeros(2000)
    y[:5] = 1
    X[:5] += 4
    model = ks.GaussianProcessClassifier(3.0 * Matern(2.0, nu=2.5), max_evaluations=12).fit(X, y)
    assert model.predict_proba(X[:5])[:, 1].min() > 0.2


class Bowl:
    """A quadratic function, and how often it was evaluated."""

    def __init__(self, H, at):
        self.H, self.at, self.count = H, at, 0

    def __call__(self, x, gradient):  # noqa: ARG002
        self.count += 1
        r = x - self.at
        return 0.5 * r @ self.H @ r, self.H @ r


@pytest.mark.parametrize("at", [[0.5, -0.7], [3.0, 0.0]])  # within the bounds, and out of them
def test_descent_in_coordinates_of_the_curvature(at):
    H = np.array([[40.0, 18.0], [18.0, 9.0]])
    bowl = Bowl(H, np.array(at))
    options = {
        "evaluations": 100,
        "seconds": 9.0,
        "coarse": 1e-10,
        "fine": 1e-10,
        "contenders": 1,
        "points": 1,
        "progress": None,
    }
    limits = None, [-1.0, -2.0], [1.0, 2.0], [[0.0, 0.0]]
    found = _core.minimize(bowl, *limits, options | {"curvature": H.ravel().tolist()})
    if at[0] < 1:
        np.testing.assert_allclose(found["x"], at, atol=1e-6)
        assert bowl.count <= 4
        bowl.count = 0
        informed = options | {"curvature": [], "newton": True}
        found = _core.minimize(
            lambda x, order: (*bowl(x, order), H.ravel()), *limits, informed | {"coarse": 1e-3, "fine": 1e-3}
        )
        above = np.sqrt(2e-3 / np.linalg.eigvalsh(H)[0])  # of x - at, where the value is by the tolerance above the least one
        np.testing.assert_allclose(found["x"], at, atol=above)
        assert bowl.count <= 4
        with pytest.raises(ValueError, match="an information matrix with a row for each unknown"):
            _core.minimize(lambda x, order: (*bowl(x, order), H[0]), *limits, informed)
    else:  # at the bound of the first, the second is where its slope is zero
        np.testing.assert_allclose(found["x"], [1.0, min(2.0, 18 / 9 * 2.0)], atol=1e-5)


def test_a_subset_with_as_much_of_a_rare_class_as_there_is(rng):
    X = rng.standard_normal((700, 2))
    y = (np.arange(700) >= 650).astype(float)
    observations, asked = observations_of(2 * y - 1, Logistic(), "laplace"), []

    def subset(size):
        asked.append(some_of_each(y, size, rng))
        return asked[-1]

    def search(rows):
        return choose_with_likelihood(
            Likelihood(), 2.0 * RBF(1.0), X, observations, jitter=0.0, subset=rows, budget=Budget(evaluations=3)
        )[0]

    assert search(subset).n_evaluations_subset > 0
    assert len(asked) == 1
    assert y[asked[0]].sum() == 40
    assert 380 <= len(asked[0]) <= 420
    for rows in ([0, 2, 1], [0, 0, 5], [3, 700]):
        with pytest.raises(ValueError, match="subset: expected different rows of the points, in order"):
            search(lambda size, rows=rows: np.array(rows))
