"""Classifiers whose hyperparameters are drawn together with the latent values."""

import warnings

import numpy as np
import pytest
from scipy import special
from sklearn.base import clone

import kernsel as ks
from kernsel._sample.diagnostics import NotMixedWarning, effective_sample_size
from kernsel._search.density import density_of_hyperparameters
from kernsel._search.selection import Selection
from kernsel.criteria import Likelihood
from kernsel.estimators.classification.binary import observations_of
from kernsel.estimators.classification.links import Probit
from kernsel.kernels import RBF, ConstantKernel

import reference

X = np.array([[0.0], [0.4], [1.5]])
SIGNS = np.array([-1.0, -1.0, 1.0])
KERNEL = ConstantKernel(1.0, (1e-2, 1e4)) * RBF(1.0, "fixed")
Z = np.array([[0.1], [1.8]])


@pytest.fixture(scope="module")
def sampled():
    model = ks.GaussianProcessClassifier(
        KERNEL, link="probit", inference="mcmc", hyperparameters="sample", n_samples=120, n_burn=20, criterion="lml"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotMixedWarning)
        return model.fit(X, SIGNS)


def exact():
    """Return a grid of log amplitudes with their weights, and the probability of the label 1 at Z, by sums over a grid."""
    observations = observations_of(SIGNS, Probit(), "laplace")
    found = Selection(KERNEL, np.nan, 0.0, Likelihood(), np.nan, likelihood=observations.likelihood)
    density = density_of_hyperparameters(KERNEL, X, observations.y, found, observations=observations, shrinkage="auto")
    grid = np.linspace(np.log(1e-2), np.log(1e4), 40)[1:-1]
    logs, probabilities = [], []
    for x in grid:
        K = np.exp(x) * RBF(1.0)(np.vstack([X, Z])) + 1e-10 * np.eye(5)
        log_z = reference.gp_classifier(K[:3, :3], SIGNS, special.log_ndtr, nodes=10)[0]
        logs.append(density.log_prior(np.array([x])) + log_z)
        more = [np.append(SIGNS, 1.0), [0, 1, 2, 3], [0, 1, 2, 4]]
        both = [reference.gp_classifier(K[np.ix_(rows, rows)], more[0], special.log_ndtr, nodes=10)[0] for rows in more[1:]]
        probabilities.append(np.exp(np.array(both) - log_z))
    weights = special.softmax(logs)
    return grid, weights, weights @ np.array(probabilities)


def test_probabilities_are_averaged_over_hyperparameters(sampled):
    grid, weights, probability = exact()
    (draws,) = sampled.draws_.values()
    assert draws.shape == (4, 120)
    logs = np.log(draws)
    center = weights @ grid
    spread = weights @ (grid - center) ** 2
    size = effective_sample_size(logs[..., None])[0]
    assert size > 80
    assert abs(logs.mean() - center) < 4.5 * np.sqrt(spread / size)
    found = sampled.predict_proba(Z)[:, 1]
    # A hundred of the draws: the probability given one of them varies by 0.3 or less.
    assert (np.abs(found - probability) < 4.5 * 0.3 / np.sqrt(100)).all()
    mean, std = sampled.latent(Z, return_std=True)
    assert (mean > 0).tolist() == [False, True]
    assert (std > 0).all()


def test_what_is_reported(sampled, tmp_path):
    assert np.isnan(sampled.log_marginal_likelihood_value_)
    laplace = clone(sampled).set_params(inference="laplace", hyperparameters="optimize").fit(X, SIGNS)
    assert sampled.criterion_value_ == pytest.approx(laplace.criterion_value_)
    assert sampled.r_hat_.shape == sampled.effective_sample_size_.shape == (3,)
    ks.save(sampled, tmp_path / "classes.ksl")
    loaded = ks.load(tmp_path / "classes.ksl")
    np.testing.assert_allclose(loaded.predict_proba(Z), sampled.predict_proba(Z), rtol=1e-10)
    np.testing.assert_array_equal(list(loaded.draws_.values()), list(sampled.draws_.values()))
    with pytest.raises(AttributeError, match="draws_: no hyperparameters were drawn"):
        _ = laplace.draws_


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"inference": "ep"}, 'inference: expected "mcmc" with hyperparameters="sample"'),
        ({"optimizer": None}, 'optimizer: expected "auto" with hyperparameters="sample"'),
        ({"hyperparameters": "all"}, 'hyperparameters: expected "optimize" or "sample"'),
    ],
)
def test_bad_input(sampled, changed, message):
    with pytest.raises(ValueError, match=message):
        clone(sampled).set_params(**changed).fit(X, SIGNS)
