"""Gaussian processes that were loaded."""

import pickle

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


def test_a_process_with_other_hyperparameters(again):
    model = pickle.loads(pickle.dumps(saved.model("gp left as it is")))
    model.log_marginal_likelihood(model.kernel_.theta + 1, clone_kernel=False)
    loaded = again(model)
    assert loaded.kernel_ == model.kernel_ != saved.model("gp left as it is").kernel_
    assert_same(model.predict(saved.Z), loaded.predict(saved.Z), "predict")
