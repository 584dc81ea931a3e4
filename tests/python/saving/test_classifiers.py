"""Classifiers that were loaded."""

from pathlib import Path

import numpy as np
import pytest

import kernsel as ks

import saved
from same import assert_same

# What version 0.1.0 found before it wrote files/classes_*.ksl: at two points probabilities, latent means and deviations; the
# sums of the log probabilities of labels that are left out.
OLD = {
    "laplace": ([0.35321108, 0.59591841], [-0.72403366, 0.4540498], [0.97501241, 0.88761532], -6.99448358),
    "ep": ([0.25753712, 0.64453995], [-0.83871517, 0.44933148], [0.81244222, 0.68545956], -7.6331521),
    "mcmc": ([0.34159668, 0.58303422], [-0.79201175, 0.36051236], [1.10576916, 0.83253848], -6.60423777),
}


def test_classifiers_that_were_loaded(again):
    for name in ("classes", "classes by ep", "three classes", "softmax"):
        model, Z = saved.model(name), saved.points(name)
        loaded = again(model)
        assert_same(model.latent(Z, return_std=True), loaded.latent(Z, return_std=True), "latent")
        theta = model.kernel_.theta + 0.1
        assert_same(model.log_marginal_likelihood(theta, True), loaded.log_marginal_likelihood(theta, True), "likelihood")


@pytest.mark.parametrize("inference", OLD)
def test_files_of_version_0_1(inference, again):
    model = ks.load(Path(__file__).parent / "files" / f"classes_{inference}.ksl")
    Z = [[0.2], [1.9]]
    for one in (model, again(model)):
        found = one.predict_proba(Z)[:, 1], *one.latent(Z, return_std=True), one.loo_log_probability_.sum()
        for value, expected in zip(found, OLD[inference], strict=True):
            np.testing.assert_allclose(value, expected, atol=1e-7)  # half a digit of those above, and that of the inference
