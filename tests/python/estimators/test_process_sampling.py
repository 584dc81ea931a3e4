"""Gaussian processes whose hyperparameters, or latent values, are drawn from their posterior."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

import kernsel as ks
from kernsel._sample.diagnostics import NotMixedWarning
from kernsel.estimators.process_sampling import spread_over
from kernsel.kernels import RBF, ConstantKernel
from kernsel.likelihoods import Gaussian, Poisson

Z = np.linspace(-1, 6, 5)[:, None]
LEVELS = [0.05, 0.5, 0.95]


def made(n=15, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 5, (n, 1))
    return rng, X, np.sin(2 * X[:, 0])


@pytest.fixture(scope="module")
def normal():
    rng, X, f = made()
    y = 100 + 10 * (f + 0.2 * rng.standard_normal(len(X)))
    model = ks.GaussianProcessRegressor(
        ConstantKernel(1.0) * RBF(0.7, "fixed"), noise=0.04, hyperparameters="sample", normalize_y=True, criterion="evidence"
    )
    return model.fit(X, y), X, y


def by_quadrature(X, y):
    """The predictive mean and variance of the function with the amplitude integrated out, and the weights of amplitudes."""
    grid = np.linspace(-4, 6, 201)
    t = (y - y.mean()) / y.std()
    logs, means, variances = [], [], []
    for x in grid:
        K = np.exp(x) * RBF(0.7)(np.vstack([X, Z]))
        n = len(X)
        inside = K[:n, :n] + 0.04 * np.eye(n)
        solved = np.linalg.solve(inside, np.column_stack([t, K[:n, n:]]))
        means.append(K[n:, :n] @ solved[:, 0])
        variances.append(np.diag(K[n:, n:] - K[n:, :n] @ solved[:, 1:]))
        # The amplitude is expected around the variance of the targets, 1, within a factor of exp(2).
        logs.append(-0.5 * t @ solved[:, 0] - 0.5 * np.linalg.slogdet(inside)[1] - 0.5 * (x / 2) ** 2)
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    mean = weights @ np.array(means)
    variance = weights @ (np.array(variances) + (np.array(means) - mean) ** 2)
    return grid, weights, mean * y.std() + y.mean(), variance * y.var()


def test_hyperparameters_are_integrated_out(normal):
    model, X, y = normal
    grid, weights, mean, variance = by_quadrature(X, y)
    (name,) = model.draws_
    logs = np.log(model.draws_[name])
    assert logs.shape[0] == 4
    assert model.r_hat_[name] < 1.01
    size = model.effective_sample_size_[name]
    assert size > 400
    center = weights @ grid
    spread = weights @ (grid - center) ** 2
    assert abs(logs.mean() - center) < 4.5 * np.sqrt(spread / size)
    found, std = model.predict(Z, return_std=True, noisy=False)
    # Of a hundred members; the mean depends on the amplitude little, the variance is nearly in proportion to it.
    np.testing.assert_allclose(found, mean, atol=0.05 * np.sqrt(variance).max())
    np.testing.assert_allclose(std**2, variance, rtol=4.5 * np.sqrt(spread / 100))


def test_predictions_agree_with_each_other(normal):
    model, _, _ = normal
    mean, std = model.predict(Z, return_std=True, noisy=True)
    covariance = model.predict(Z, return_cov=True, noisy=True)[1]
    mixture = model.predictive(Z)
    np.testing.assert_allclose(np.diag(covariance), std**2, rtol=1e-12)
    np.testing.assert_allclose(mixture.mean[:, 0], mean, rtol=1e-12)
    assert mixture.means.shape == (100, 5, 1)
    quantiles = model.predict_quantiles(Z, LEVELS)
    draws = model.sample_y(Z, 4000, random_state=1, noisy=True)
    for k, level in enumerate(LEVELS):
        below = (draws <= quantiles[:, [k]]).mean(axis=1)
        assert (np.abs(below - level) < 4.5 * np.sqrt(level * (1 - level) / 4000)).all()
    np.testing.assert_allclose(np.cov(draws), covariance, atol=0.15 * covariance.max())
    assert model.log_density(Z, mean) == pytest.approx(mixture.log_density(mean[:, None]))
    band = model.prediction(Z, level=0.9, noisy=True)
    np.testing.assert_array_equal(band.lower, quantiles[:, 0])
    np.testing.assert_array_equal(model.predict_latent(Z), model.predict(Z, noisy=False))


def test_gradients_are_those_of_predictions(normal):
    model, step = normal[0], 1e-4
    found = model.predict_gradient(Z, return_std=True, noisy=True)
    up, down = (model.predict(Z + h, return_std=True, noisy=True) for h in (step, -step))
    for slopes, above, below in zip(found, up, down, strict=True):
        np.testing.assert_allclose(slopes[:, 0], (above - below) / (2 * step), atol=1e-6 * np.abs(slopes).max() + 1e-8 / step)


def test_seeds_and_copies(normal, tmp_path):
    model, X, y = normal
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.predict(Z), model.predict(Z))
    other = clone(model).set_params(random_state=1, n_draws=7).fit(X, y)
    assert (other.predict(Z) != model.predict(Z)).all()
    assert other.predictive(Z).means.shape == (7, 5, 1)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(other)).predict(Z), other.predict(Z), rtol=1e-12)
    ks.save(other, tmp_path / "drawn.ksl")
    loaded = ks.load(tmp_path / "drawn.ksl")
    np.testing.assert_allclose(loaded.predict_quantiles(Z, LEVELS), other.predict_quantiles(Z, LEVELS), rtol=1e-12)
    for name, draws in other.draws_.items():
        np.testing.assert_array_equal(loaded.draws_[name], draws)
        assert loaded.r_hat_[name] == other.r_hat_[name]
    with pytest.raises(ValueError, match="update: draws are of the posterior given all points"):
        other.update(X[:1], y[:1])
    restored = clone(model)
    restored.n_features_in_ = 1
    restored.restore(model.state())
    np.testing.assert_array_equal(restored.predict(Z), model.predict(Z))


def test_what_is_known_of_normal_noise_by_draws_of_latent_values():
    """With normal noise as a likelihood, the posterior of latent values is normal, and known; the trend has a flat prior."""
    rng, X, f = made(12)
    y = 3 + f + 0.3 * rng.standard_normal(len(X))
    kernel = ConstantKernel(1.2) * RBF(0.8)
    exact = ks.GaussianProcessRegressor(kernel, noise=0.09, optimizer=None, trend="constant", alpha=1e-8).fit(X, y)
    drawn = ks.GaussianProcessRegressor(
        kernel, likelihood=Gaussian(0.09, "fixed"), inference="mcmc", optimizer=None, trend="constant", alpha=1e-8, n_draws=1200
    ).fit(X, y)
    assert drawn.draws_ == {}
    assert drawn.r_hat_["f"].shape == (12,)
    size = drawn.effective_sample_size_["f"].min()
    mean, std = exact.predict(Z, return_std=True, noisy=True)
    found, spread = drawn.predict(Z, return_std=True)
    assert (np.abs(found - mean) < 4.5 * std / np.sqrt(size)).all()
    np.testing.assert_allclose(spread, std, rtol=4.5 / np.sqrt(2 * size))
    expected = stats.norm(mean[:, None], std[:, None]).ppf(LEVELS)
    np.testing.assert_allclose(drawn.predict_quantiles(Z, LEVELS), expected, atol=8 * std.max() / np.sqrt(size))


@pytest.fixture(scope="module")
def counts():
    rng, X, f = made(12)
    exposure = rng.uniform(0.5, 3.0, len(X))
    return X, rng.poisson(exposure * np.exp(1 + f)).astype(float), exposure


@pytest.fixture(scope="module", params=["marginal", "latent", pytest.param("both", marks=pytest.mark.slow)])
def of_counts(request, counts):
    X, y, exposure = counts
    model = ks.GaussianProcessRegressor(
        "RBF",
        likelihood="poisson",
        hyperparameters="optimize" if request.param == "latent" else "sample",
        inference="laplace" if request.param == "marginal" else "mcmc",
        n_draws=400 if request.param == "latent" else 30,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotMixedWarning)
        return model.fit(X, y, exposure=exposure)


def test_quantiles_and_densities_are_those_of_draws(of_counts):
    sizes = np.full(len(Z), 2.0)
    draws = of_counts.sample_y(Z, 8000, exposure=sizes)
    quantiles = of_counts.predict_quantiles(Z, LEVELS, exposure=sizes)
    np.testing.assert_array_equal(quantiles, np.round(quantiles))
    for k, level in enumerate(LEVELS):
        upto, below = ((draws <= quantiles[:, [k]]).mean(axis=1), (draws < quantiles[:, [k]]).mean(axis=1))
        error = 4.5 * np.sqrt(level * (1 - level) / 8000)
        assert (upto >= level - error).all()
        assert (below <= level + error).all()
    mean, std = of_counts.predict(Z, return_std=True, exposure=sizes)
    assert (np.abs(draws.mean(axis=1) - mean) < 4.5 * draws.std(axis=1) / np.sqrt(8000)).all()
    y = quantiles[:, 1]
    share = (draws == y[:, None]).mean(axis=1)
    density = np.exp(of_counts.log_density(Z, y, exposure=sizes))
    assert (np.abs(share - density) < 4.5 * np.sqrt(density / 8000)).all()
    distribution = of_counts.predictive(Z, exposure=sizes)
    np.testing.assert_array_equal(distribution.quantiles(LEVELS)[:, 0], quantiles)
    assert distribution.log_density(y[:, None]) == pytest.approx(np.log(density))
    assert distribution.probability(y) - distribution.probability(y - 1) == pytest.approx(density)
    assert distribution.std[:, 0] == pytest.approx(std)
    of_mean = of_counts.predict(Z, return_std=True, exposure=sizes, noisy=False)[1]
    np.testing.assert_allclose(std**2 - of_mean**2, mean, rtol=1e-6)  # the variance of a Poisson variable is its mean
    f = of_counts.sample_y(Z, 4000, noisy=False)
    latent, spread = of_counts.predict_latent(Z, return_std=True)
    assert (np.abs(f.mean(axis=1) - latent) < 4.5 * spread / np.sqrt(4000)).all()
    band = of_counts.prediction(Z, level=0.9)
    inside = ((np.log(band.lower)[:, None] <= f) & (f <= np.log(band.upper)[:, None])).mean(axis=1)
    assert (np.abs(inside - 0.9) < 4.5 * np.sqrt(0.09 / 4000)).all()
    covariance = of_counts.predict_latent(Z, return_cov=True)[1]
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), spread, rtol=0.01)  # parts join draws


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kernsel._sample.diagnostics.NotMixedWarning")
def test_all_three_ways_agree_on_counts():
    rng, X, f = made(40)
    y = rng.poisson(np.exp(2 + f)).astype(float)
    usual = ks.GaussianProcessRegressor("RBF", likelihood="poisson")
    ways = ({"hyperparameters": "sample"}, {"hyperparameters": "sample", "inference": "mcmc"})
    marginal, both = (clone(usual).set_params(**way).fit(X, y) for way in ways)
    for name, draws in marginal.draws_.items():
        a, b = np.log(draws), np.log(both.draws_[name])
        error = np.hypot(
            a.std() / np.sqrt(marginal.effective_sample_size_[name]), b.std() / np.sqrt(both.effective_sample_size_[name])
        )
        assert abs(a.mean() - b.mean()) < 4.5 * error + 0.1 * b.std()  # Laplace's marginal likelihood is an approximation


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kernsel._sample.diagnostics.NotMixedWarning")
def test_intervals_cover_what_they_say():
    """Over data from the model itself, with few points, where the best hyperparameters alone are too sure of themselves."""
    inside = {"optimize": 0, "sample": 0}
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0, 4, (60, 1))
        f = rng.multivariate_normal(np.zeros(60), RBF(1.0)(X) + 1e-9 * np.eye(60))
        y = f + 0.5 * rng.standard_normal(60)
        for how in inside:
            model = ks.GaussianProcessRegressor("RBF", hyperparameters=how, n_draws=30, random_state=0).fit(X[:8], y[:8])
            low, high = model.predict_quantiles(X[8:], [0.1, 0.9]).T
            inside[how] += int(((low <= y[8:]) & (y[8:] <= high)).sum())
    covered = {how: count / (15 * 52) for how, count in inside.items()}
    assert covered["optimize"] < 0.7
    assert 0.75 < covered["sample"] < 0.85


def test_draws_that_do_not_suffice_are_told(counts):
    X, y, _ = counts
    model = ks.GaussianProcessRegressor("RBF", likelihood=Poisson(), inference="mcmc", n_draws=40)
    with pytest.warns(NotMixedWarning, match=r"draws of the latent function .* effective sample sizes .* more draws"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"inference": "mcmc"}, 'inference: normal noise needs none; "mcmc" is for a likelihood'),
        ({"hyperparameters": "draw"}, 'hyperparameters: expected "optimize" or "sample"'),
        ({"hyperparameters": "sample", "n_draws": 0}, "n_draws: expected a whole number from 1 on"),
        ({"hyperparameters": "sample", "optimizer": None}, 'optimizer: expected "auto" with draws'),
        ({"hyperparameters": "sample", "criterion": "loo"}, "criterion: draws are of the posterior of a likelihood"),
        ({"hyperparameters": "sample", "outliers": [1]}, "outliers: expected None"),
        ({"hyperparameters": "sample", "scale": "each"}, 'scale: expected "auto"'),
        ({"hyperparameters": "sample", "approximation": ks.Vecchia()}, "approximation: expected None with draws"),
        ({"hyperparameters": "sample", "kernel": RBF(1.0, "fixed"), "noise": 0.1}, "hyperparameters: .* nothing to sample"),
    ],
)
def test_bad_input(changed, message):
    _, X, f = made()
    with pytest.raises(ValueError, match=message):
        ks.GaussianProcessRegressor(**changed).fit(X, f)


def test_what_there_is_without_draws():
    _, X, f = made()
    model = ks.GaussianProcessRegressor("RBF").fit(X, f)
    for name in ("draws_", "r_hat_", "effective_sample_size_"):
        with pytest.raises(AttributeError, match=f"{name}: nothing was drawn"):
            getattr(model, name)
    with pytest.raises(ValueError, match="y: expected one output"):
        ks.GaussianProcessRegressor("RBF", hyperparameters="sample").fit(X, np.column_stack([f, f]))
    with pytest.raises(ValueError, match="the trend alone explains y"):
        ks.GaussianProcessRegressor("RBF", hyperparameters="sample").fit(X, np.ones(len(X)))


def test_arviz(normal, monkeypatch):
    model = normal[0]
    monkeypatch.setitem(__import__("sys").modules, "arviz", None)
    with pytest.raises(ImportError, match="pip install arviz"):
        model.to_arviz()
    stand_in = type("arviz", (), {"from_dict": staticmethod(lambda **groups: groups)})
    monkeypatch.setitem(__import__("sys").modules, "arviz", stand_in)
    assert model.to_arviz()["posterior"].keys() == model.draws_.keys()


def test_members_are_spread_over_all_chains():
    values = np.arange(40.0).reshape(4, 10, 1)
    assert spread_over(values, 4)[:, 0] == pytest.approx([0, 13, 26, 39])
    assert len(spread_over(values, 100)) == 40
