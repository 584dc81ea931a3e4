"""Related outputs: likelihoods and predictions with and without gaps, and what is found."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kernsel as ks
from kernsel.kernels import RBF, Linear, Matern

import reference as ref
from accuracy import eps


def data(n=30, seed=0, noise=1.0):
    """Return three outputs, in several units: two that are alike, and one that is unlike both."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 6, (n, 2))
    f, g = np.sin(X[:, 0]), np.cos(X[:, 1])
    return X, np.column_stack([f, 100 * (f + 0.3 * g), -f + g]) + noise * np.array([0.1, 1.0, 0.05]) * rng.standard_normal(
        (n, 3)
    )


def with_gaps(Y):
    Y = Y.copy()
    Y[8:, 0], Y[::7, 2] = np.nan, np.nan
    return Y


@pytest.fixture(scope="module")
def fitted():
    X, Y = data()
    return {
        "whole": ks.RelatedOutputsRegressor("RBF").fit(X, Y),
        "gaps": ks.RelatedOutputsRegressor("RBF", trend=None).fit(X, with_gaps(Y)),
        "two terms": ks.RelatedOutputsRegressor(RBF("auto") + Linear("auto"), rank=1, max_evaluations=30).fit(X[:15], Y[:15]),
    }


@pytest.mark.parametrize("name", ["whole", "gaps", "two terms"])
def test_it_is_one_process_of_points_and_outputs(name, fitted):
    """The same as a process of points with the number of the output, whose kernel the model has."""
    model = fitted[name]
    seen = ~np.isnan(model.y_train_)
    rows, outputs = np.nonzero(seen)
    K = model.kernel_(np.column_stack([model.X_train_[rows], outputs]))
    H = np.zeros((len(rows), 0)) if model.trend is None else np.eye(3)[outputs]
    y = model.y_train_[seen]
    P = np.linalg.inv(K)
    beta = np.linalg.solve(H.T @ P @ H, H.T @ P @ y)
    r = y - H @ beta
    expected = -0.5 * (r @ P @ r + np.linalg.slogdet(K)[1] + len(y) * np.log(2 * np.pi))
    limit = 10 * len(y) * eps(float) * np.linalg.cond(K)
    assert abs(model.log_marginal_likelihood_value_ - expected) <= limit * abs(expected)
    P -= P @ H @ np.linalg.solve(H.T @ P @ H, H.T @ P)
    assert np.abs(model.loo_residuals_[seen] - P @ y / np.diag(P)).max() <= limit * np.abs(y).max()
    assert np.abs(model.loo_std_[seen] ** 2 * np.diag(P) - 1).max() <= limit
    assert np.isnan(model.loo_std_[~seen]).all()
    # At other points: the mean is that of the training points' weights.
    Z = data(4, 7)[0]
    cross = model._related.signal()(
        np.column_stack([np.repeat(Z, 3, axis=0), np.tile(np.arange(3.0), 4)]), np.column_stack([model.X_train_[rows], outputs])
    )
    trend = 0.0 if model.trend is None else model.beta_[0]
    mean, cov = model.predict(Z, return_cov=True, noisy=False)
    assert np.abs(mean - ((cross @ P @ y).reshape(4, 3) + trend)).max() <= limit * np.abs(y).max()
    std = model.predict(Z, return_std=True, noisy=False)[1]
    assert np.allclose(std**2, np.einsum("aiai->ai", cov), rtol=1e-6, atol=limit * np.diag(K).max())
    assert np.allclose(model.predict(Z, return_std=True)[1] ** 2 - std**2, model.noise_, rtol=1e-6)


@pytest.mark.parametrize("name", ["whole", "gaps", "two terms"])
def test_gradients(name, fitted):
    model = fitted[name]
    theta = model.kernel_.theta + 0.05
    value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    expected, error = ref.central_differences(model.log_marginal_likelihood, theta, step=1e-4)
    assert len(gradient) == len(theta)
    assert (np.abs(gradient - expected) <= 2 * error + 1e-9 * abs(value) / 1e-4).all()


def test_what_is_known_of_one_output_helps_the_others(fitted):
    X, Y = data()
    Z, truth = data(300, 5, noise=0.0)
    model = fitted["gaps"]
    assert model.output_correlation_[0, 1] > 0.8
    assert model.output_correlation_[0, 2] < -0.4
    few = ~np.isnan(with_gaps(Y)[:, 0])
    alone = ks.GaussianProcessRegressor("RBF").fit(X[few], Y[few, 0]).predict(Z)
    assert np.mean((model.predict(Z)[:, 0] - truth[:, 0]) ** 2) < 0.7 * np.mean((alone - truth[:, 0]) ** 2)
    assert fitted["whole"].score(Z, truth) > 0.95
    assert np.allclose(np.sqrt(fitted["whole"].noise_), [0.1, 1.0, 0.05], rtol=0.6)


def test_units_do_not_matter(fitted):
    X, Y = data()
    other = ks.RelatedOutputsRegressor("RBF").fit(X, Y * [1e-3, 1e4, 1.0] + [0.0, 0.0, 50.0])
    found, expected = other.predict(X[:5]), fitted["whole"].predict(X[:5])
    assert np.allclose((found - [0.0, 0.0, 50.0]) / [1e-3, 1e4, 1.0], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["whole", "gaps", "two terms"])
def test_copies(name, fitted, tmp_path):
    model, (Z, truth) = fitted[name], data(9, 3)
    expected = model.predict(Z, return_std=True)
    path = str(tmp_path / "model.ksl")
    ks.save(model, path)
    for copy in (pickle.loads(pickle.dumps(model)), ks.load(path)):
        assert np.allclose(copy.predict(Z, return_std=True), expected, rtol=1e-9, atol=1e-9)
        assert copy.score(Z, truth) == pytest.approx(model.score(Z, truth), rel=1e-9)
        assert np.allclose(copy.output_covariance_, model.output_covariance_, rtol=1e-12)
    assert clone(model).get_params() == model.get_params()


def test_samples_are_joint(fitted):
    Z = data(2, 9)[0]
    drawn = fitted["whole"].sample_y(Z, 4000, random_state=1, noisy=False)
    assert drawn.shape == (2, 3, 4000)
    cov = fitted["whole"].predict(Z, return_cov=True, noisy=False)[1].reshape(6, 6)
    sizes = np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
    assert np.abs((np.cov(drawn.reshape(6, -1)) - cov) / sizes).max() < 5 / np.sqrt(4000)


def test_options():
    X, Y = data(20)
    given = ks.RelatedOutputsRegressor("Matern", noise=[0.01, 1.0, 0.0025], optimizer=None, trend="linear").fit(X, Y)
    assert np.allclose(given.noise_, [0.01, 1.0, 0.0025])
    assert given.n_evaluations_ == 1
    assert given.selection_.ended == "as given"
    assert given.beta_.shape == (3, 3)
    assert np.allclose(*(given.predict(X, return_std=True, noisy=noisy)[1] for noisy in (None, False)))
    short = ks.RelatedOutputsRegressor(Matern("auto"), max_evaluations=3, n_restarts_optimizer=1).fit(X, Y)
    assert (short.selection_.ended, short.n_evaluations_) == ("evaluations", 3)
    assert ks.RelatedOutputsRegressor(max_evaluations=3).fit(X[:, :1], Y).prediction(
        X[:, :1], level=0.9, output=1
    ).lower.shape == (20,)


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({}, lambda Y: Y[:, 0], r"y: expected two outputs at least, shape \(n, n_targets\), got \(12,\)"),
        ({}, lambda Y: np.where([[True, False, False]], np.nan, Y), "y: output 0 is observed 0 times; expected 2 at least"),
        ({}, lambda Y: np.where(Y.max() - 1e-9 < Y, np.inf, Y), "Input y contains infinity"),
        ({"rank": 0}, lambda Y: Y, 'rank: expected a whole number from 1 on, or "auto", got 0'),
        (
            {"noise": [0.1, 0.2]},
            lambda Y: Y,
            r'noise: expected "auto", a variance, or one for each of 3 outputs, got \[0.1, 0.2\]',
        ),
        ({"noise": -1.0}, lambda Y: Y, 'noise: expected "auto", a variance, or one for each of 3 outputs, got -1.0'),
        ({"optimizer": "newton"}, lambda Y: Y, "optimizer: expected \"auto\" or None, got 'newton'"),
    ],
)
def test_what_is_wrong_is_said(options, change, message):
    X, Y = data(12)
    with pytest.raises(ValueError, match=f"^{message}"):
        ks.RelatedOutputsRegressor("RBF", **options).fit(X, change(Y))


def test_wrong_calls(fitted):
    with pytest.raises(ValueError, match=r"^return_std, return_cov: expected one of them at most"):
        fitted["whole"].predict([[0.0, 0.0]], True, True)
    with pytest.raises(ValueError, match=r"^y: expected shape \(1, 3\), got \(1, 2\)"):
        fitted["whole"].score([[0.0, 0.0]], [[1.0, 2.0]])
