"""Densities of hyperparameters."""

import numpy as np
import pytest
from scipy import stats

from kernsel.kernels import (
    RBF,
    ConstantKernel,
    Parameter,
    kernel,
)
from kernsel.kernels.priors import Gamma, HalfCauchy, LogNormal

import reference


@pytest.mark.parametrize(
    ("prior", "density"),
    [
        (LogNormal(0.3, 0.7), lambda x: stats.lognorm.logpdf(x, 0.7, scale=np.exp(0.3))),
        (Gamma(2.5, 0.8), lambda x: stats.gamma.logpdf(x, 2.5, scale=1 / 0.8)),
        (HalfCauchy(1.7), lambda x: stats.halfcauchy.logpdf(x, scale=1.7)),
    ],
)
def test_priors(prior, density):
    x = np.geomspace(1e-3, 1e3, 40)
    assert prior.log_density(x) == pytest.approx(density(x), rel=1e-12)
    k = RBF(Parameter(x, prior=prior)) + ConstantKernel(2.0)
    value, gradient = k.log_prior()
    assert value == pytest.approx(density(x).sum())
    expected, error = reference.central_differences(lambda t: k.clone_with_theta(t).log_prior()[0], k.theta, 1e-4)
    assert (np.abs(gradient - expected) <= error + 1e-8).all()
    assert gradient[-1] == 0
    assert k.clone_with_theta(k.theta).k1.length_scale.prior is prior
    assert kernel(repr(RBF(Parameter(1.0, prior=prior)))) == RBF(Parameter(1.0, prior=prior))
    assert RBF(Parameter(1.0, bounds="fixed", prior=prior)).log_prior()[0] == 0


def test_a_tied_prior_counts_once():
    p = Parameter(2.0, prior=Gamma(2.0, 1.0), name="p")
    assert (RBF(p) + RBF(p)).log_prior()[0] == pytest.approx(RBF(p).log_prior()[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LogNormal(0.0, 0.0), r"scale: expected a positive, finite number, got 0\.0"),
        (lambda: LogNormal(np.nan, 1.0), "mean: expected a finite number"),
        (lambda: Gamma(-1.0, 1.0), r"shape: expected a positive, finite number, got -1\.0"),
        (lambda: HalfCauchy("wide"), "scale: expected"),
        (lambda: Parameter(1.0, prior=3.0), r"prior: expected one of kernsel\.kernels\.priors, got 3\.0"),
    ],
)
def test_bad_hyperparameters(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
