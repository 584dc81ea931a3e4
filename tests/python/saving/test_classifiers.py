"""Classifiers that were loaded."""

import saved
from same import assert_same


def test_classifiers_that_were_loaded(again):
    for name in ("classes", "classes by ep", "three classes", "softmax"):
        model, Z = saved.model(name), saved.points(name)
        loaded = again(model)
        assert_same(model.latent(Z, return_std=True), loaded.latent(Z, return_std=True), "latent")
        theta = model.kernel_.theta + 0.1
        assert_same(model.log_marginal_likelihood(theta, True), loaded.log_marginal_likelihood(theta, True), "likelihood")
