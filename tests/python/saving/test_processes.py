"""Gaussian processes that were loaded."""

import pickle

import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.likelihoods import Poisson

import saved
from same import assert_same


def test_everything_works_on_a_process_that_was_loaded(again):
    for name in ("gp of a table, two outputs", "gp with trend", "gp with noise of each point", "gp left as it is"):
        model, Z = saved.model(name), saved.points(name)
        loaded = again(model)
        assert_same(model.predict(Z, return_std=True), loaded.predict(Z, return_std=True), "std")
        assert_same(model.predict(Z, return_cov=True), loaded.predict(Z, return_cov=True), "cov")
        assert_same(model.sample_y(Z, 2, random_state=3), loaded.sample_y(Z, 2, random_state=3), "samples")
        assert_same(model.predict_gradient(Z, True), loaded.predict_gradient(Z, True), "gradient")
        theta = model.kernel_.theta + 0.1
        assert_same(model.log_marginal_likelihood(theta, True), loaded.log_marginal_likelihood(theta, True), "likelihood")
        assert str(loaded.selection_) == str(model.selection_)
        copy = pickle.loads(pickle.dumps(model))
        new = saved.table[:2] + 0.01 if "table" in name else saved.X[:2] + 0.01
        for one in (copy, loaded):
            one.update(new, saved.Y[:2] if model.y_train_.ndim == 2 else saved.y[:2], noise=0.1).downdate(1)
        assert_same(copy.predict(Z, return_std=True), loaded.predict(Z, return_std=True), "after update")
    refitted = again(saved.model("gp")).fit(saved.X, saved.y)
    assert_same(saved.model("gp").predict(saved.Z), refitted.predict(saved.Z), "refitted")


def test_slopes_and_averages(again):
    model, Z = saved.model("gp with slopes and averages"), saved.Z
    loaded = again(model)
    assert_same(model.predict_slopes(Z, return_cov=True), loaded.predict_slopes(Z, return_cov=True), "slopes")
    averages = (one.predict_averages(Z, Z + 1, return_std=True) for one in (model, loaded))
    assert_same(*averages, "averages")
    assert_same(model.predict_gradient(Z, True), loaded.predict_gradient(Z, True), "gradient")
    assert_same((model.slope_noise_, model.average_noise_), (loaded.slope_noise_, loaded.average_noise_), "noise")
    theta = model.kernel_.theta + 0.1
    assert_same(model.log_marginal_likelihood(theta, True), loaded.log_marginal_likelihood(theta, True), "likelihood")
    assert str(loaded.selection_) == str(model.selection_)


def test_a_process_with_other_hyperparameters(again):
    model = pickle.loads(pickle.dumps(saved.model("gp left as it is")))
    model.log_marginal_likelihood(model.kernel_.theta + 1, clone_kernel=False)
    loaded = again(model)
    assert loaded.kernel_ == model.kernel_ != saved.model("gp left as it is").kernel_
    assert_same(model.predict(saved.Z), loaded.predict(saved.Z), "predict")


def test_observations_of_a_likelihood(again):
    for name in (
        *("gp of counts", "gp of heavy tails", "gp of quantiles", "gp of censored numbers", "gp of grades"),
        "gp with its noise",
    ):
        model, Z = saved.model(name), saved.points(name)
        loaded = again(model)
        assert loaded.likelihood_ == model.likelihood_
        assert loaded.inference == model.inference
        sizes = {"exposure": 3.0} if name == "gp of counts" else {}
        assert_same(model.predict(Z, return_std=True, **sizes), loaded.predict(Z, return_std=True, **sizes), "std")
        assert_same(
            model.predict_quantiles(Z, [0.1, 0.5], **sizes), loaded.predict_quantiles(Z, [0.1, 0.5], **sizes), "quantiles"
        )
        assert_same(model.sample_y(Z, 2, random_state=3, **sizes), loaded.sample_y(Z, 2, random_state=3, **sizes), "samples")


def test_likelihoods_that_no_file_can_hold(tmp_path):
    class Own(Poisson):
        pass

    model = ks.GaussianProcessRegressor(RBF(1.0), optimizer=None, likelihood=Own()).fit(saved.X, saved.counts)
    with pytest.raises(TypeError, match=r"parameters.likelihood: Own\(\) cannot be written"):
        ks.save(model, tmp_path / "a.ksl")
    assert not list(tmp_path.iterdir())
