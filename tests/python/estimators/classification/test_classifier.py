"""The classifier: what it finds, beside scikit-learn's, and what it says of bad input."""

import os
import pickle
import signal
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from pairs import pairwise
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sk
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel._sample.diagnostics import NotMixedWarning
from kernsel.estimators.classification.links import link_named
from kernsel.kernels import RBF, Linear

import reference

KERNEL = sk.ConstantKernel(1.0) * sk.RBF(1.0)
INFERENCES = ["laplace", "ep", "mcmc"]


@pytest.fixture
def moons():
    return make_moons(80, noise=0.25, random_state=0)


@pytest.fixture
def three(rng):
    X = rng.uniform(-2, 2, (90, 2))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.6, 0.6])]


@parametrize_with_checks(
    [ks.GaussianProcessClassifier(2.0 * RBF(1.0), optimizer=None), ks.GaussianProcessClassifier(max_evaluations=10)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_scikit_learn_finds_the_same(moons):
    X, y = moons
    theirs = GaussianProcessClassifier(KERNEL).fit(X, y)
    ours = ks.GaussianProcessClassifier(KERNEL).fit(X, y)
    value = theirs.log_marginal_likelihood_value_
    assert ours.log_marginal_likelihood_value_ >= value - 1e-6 * abs(value)
    np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, atol=0.01)
    for theta in (theirs.kernel_.theta, [1.0, -1.0]):
        expected, slopes = theirs.log_marginal_likelihood(theta, eval_gradient=True)
        found, gradient = ours.log_marginal_likelihood(theta, eval_gradient=True)
        assert abs(found - expected) <= 1e-8 * abs(expected)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-7 * np.abs(slopes).max(initial=1.0))
    # Theirs is a sum of five error functions instead of the logistic one.
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.02)
    mean, std = ours.latent(X, return_std=True)
    their_mean, their_variance = theirs.base_estimator_.latent_mean_and_variance(X)
    np.testing.assert_allclose(mean, their_mean, atol=0.1)
    np.testing.assert_allclose(std**2, their_variance, atol=0.1)


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_predictions_are_exact_for_few_points(link, rng):
    X = rng.standard_normal((4, 1))
    y = np.array([0, 1, 1, 0])
    Z = np.array([[0.3]])
    kernel = 3.0 * RBF(1.0)
    K = np.asarray(kernel(np.vstack([X, Z])))
    log_density = link_named(link).log_density
    signs = 2.0 * y - 1
    evidence = reference.gp_classifier(K[:4, :4], signs, log_density, nodes=20)[0]
    with_one_more = reference.gp_classifier(K, np.append(signs, 1.0), log_density, nodes=12)[0]  # right to 1e-6
    expected = np.exp(with_one_more - evidence)
    for inference, tolerance in (("laplace", 0.05), ("ep", 0.005), ("mcmc", 0.02)):
        model = ks.GaussianProcessClassifier(
            kernel, optimizer=None, link=link, inference=inference, n_samples=1000, random_state=0
        ).fit(X, y)
        assert abs(model.predict_proba(Z)[0, 1] - expected) <= tolerance, inference


@pytest.mark.parametrize(("link", "amplitude", "draws"), pairwise(["logistic", "probit"], [0.1, 1.0, 900.0], [9, 600]))
def test_predictions_are_averages_over_all_draws(link, amplitude, draws, moons):
    X, y = moons[0][:30], moons[1][:30]
    options = {"inference": "mcmc", "link": link, "n_samples": draws, "n_burn": 20, "optimizer": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotMixedWarning)
        model = ks.GaussianProcessClassifier(amplitude * RBF(0.7), **options).fit(X, y)
    Z = np.vstack([X[:5], X[:5] + 0.3, X[:5] + 40.0])
    K, cross = model.kernel_(X), model.kernel_(X, Z)
    shares = np.linalg.solve(K + 1e-12 * amplitude * np.eye(30), cross)
    means = model.base_estimator_.samples_.f.reshape(-1, 30) @ shares
    assert len(means) == 4 * draws
    variance = np.maximum(amplitude - np.sum(cross * shares, axis=0), 0.0)
    each = link_named(link).probability(means.ravel(), np.tile(variance, len(means))).reshape(means.shape)
    assert model.predict_proba(Z)[:, 1] == pytest.approx(each.mean(axis=0), abs=1e-5)
    mean, std = model.latent(Z, return_std=True)
    assert mean == pytest.approx(means.mean(axis=0), abs=1e-4 * amplitude**0.5)
    assert std**2 == pytest.approx(variance + means.var(axis=0), rel=1e-3, abs=1e-5 * amplitude)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timer on this system")
@pytest.mark.parametrize(
    ("n", "options"),
    [
        (150, {"inference": "mcmc", "n_samples": 3000}),  # draws after an interrupted search
        (200, {"multi_class": "one_vs_rest", "inference": "ep"}),  # two classes more
        (1500, {"inference": "ep"}),  # the posterior of all points
    ],
)
def test_ctrl_c(n, options, rng):
    X = rng.uniform(-2, 2, (n, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(n), [-0.5, 0.5] if "multi_class" in options else [0.0])
    sent = []

    def send(*_):
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGALRM, send)
    model = ks.GaussianProcessClassifier(**options)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert time.perf_counter() - sent[0] < 1.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert model.set_params(inference="laplace").fit(X[:40], y[:40]).predict(X).shape == (n,)


@pytest.mark.parametrize(
    "inference", [pytest.param(way, marks=pytest.mark.slow if way == "mcmc" else ()) for way in INFERENCES]
)
@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_every_way(inference, multi_class, three):
    X, y = three
    options = {"inference": inference, "multi_class": multi_class, "n_samples": 250, "n_burn": 100, "random_state": 0}
    model = ks.GaussianProcessClassifier(5.0 * RBF(1.0), optimizer=None, **options).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(p >= 0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    assert model.score(X, y) > 0.9
    mean, std = model.latent(X[:7], return_std=True)
    assert mean.shape == std.shape == (7, 3)
    assert np.all(std > 0)
    np.testing.assert_allclose(mean, model.latent(X[:7]))
    if inference == "mcmc":
        assert len(model.r_hat_) == 3
        assert all(sizes.min() > 50 for sizes in model.effective_sample_size_)
    else:
        assert not hasattr(model, "r_hat_")


def test_leave_one_out(moons):
    X, y = moons[0][:30], moons[1][:30]
    model = ks.GaussianProcessClassifier(3.0 * RBF(0.7), optimizer=None, inference="ep").fit(X, y)
    for i in range(0, 30, 6):
        rest = np.arange(30) != i
        refit = clone(model).fit(X[rest], y[rest])
        assert abs(np.exp(model.loo_log_probability_[i]) - refit.predict_proba(X[[i]])[0, y[i]]) <= 0.01


def test_groups_are_left_out_together(tmp_path):
    """Labels are those of groups at random: near points of the same group tell, and other groups tell nothing."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(80) % 16
    X = (rng.uniform(0, 6, 16)[groups] + 0.1 * rng.standard_normal(80)).reshape(-1, 1)
    y = (rng.uniform(size=16) < 0.5)[groups]
    alone = ks.GaussianProcessClassifier(criterion="loo").fit(X, y)
    model = ks.GaussianProcessClassifier(criterion="loo").fit(X, y, groups=[f"patient {g}" for g in groups])
    assert alone.loo_log_probability_.mean() > -0.6
    assert model.loo_log_probability_.mean() == pytest.approx(np.log(0.5), abs=0.02)
    assert model.criterion_value_ == pytest.approx(model.loo_log_probability_.sum())
    by_ep = ks.GaussianProcessClassifier(criterion="loo", inference="ep", link="probit").fit(X, y, groups=groups)
    assert by_ep.loo_log_probability_.mean() == pytest.approx(np.log(0.5), abs=0.02)
    fixed = ks.GaussianProcessClassifier(3.0 * RBF(0.7), optimizer=None).fit(X, y, groups=groups)
    for number in range(0, 16, 5):
        out = groups == number
        refit = clone(fixed).fit(X[~out], y[~out])
        of_right = refit.predict_proba(X[out])[np.arange(out.sum()), y[out].astype(int)]
        np.testing.assert_allclose(np.exp(fixed.loo_log_probability_[out]), of_right, atol=0.1)
    ks.save(model, tmp_path / "a.ksl")
    np.testing.assert_allclose(ks.load(tmp_path / "a.ksl").loo_log_probability_, model.loo_log_probability_, rtol=1e-8)
    three = np.where(groups % 5 == 3, 2, y)
    several = clone(fixed).fit(X, three, groups=groups)
    for k, process in enumerate(several.processes()):
        one = clone(fixed).fit(X, three == k, groups=groups)
        np.testing.assert_allclose(process.loo_log_probability(), one.loo_log_probability_, rtol=1e-10)
    clone(fixed).set_params(multi_class="one_vs_one").fit(X, three, groups=groups)
    for options, labels, told, message in (
        ({"multi_class": "multinomial"}, three, groups, 'groups: multi_class="multinomial" leaves nothing out'),
        ({}, y, groups[:9], "groups: expected one label for each of 80 points"),
        ({}, y, np.zeros(80), "groups: expected two at least"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(fixed).set_params(**options).fit(X, labels, groups=told)


@pytest.mark.parametrize(
    "labels",
    [
        [False, True],
        [-1.0, 1.0],
        [3, 7],
        ["no", "yes"],
        np.array(["no", "yes"], dtype=object),
        pd.Categorical(["low", "high"]),
    ],
    ids=str,
)
def test_labels_of_any_type(labels, moons):
    X, y = moons
    y = np.asarray(labels)[y]
    model = ks.GaussianProcessClassifier(3.0 * RBF(0.7), optimizer=None).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    found = model.predict(X)
    assert found.dtype == model.classes_.dtype
    assert np.mean(found == y) > 0.9


def test_bad_input(moons):
    X, y = moons
    model = ks.GaussianProcessClassifier(RBF(1.0), optimizer=None)
    with pytest.raises(ValueError, match="y: expected 2 or more classes, got 1 class"):
        model.fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="y: expected labels that can be compared, got int, str together"):
        model.fit(X, np.array([1, "a"], dtype=object)[y])
    with pytest.raises(ValueError, match="got NoneType, int together"):
        model.fit(X, np.array([None, 1], dtype=object)[y])
    with pytest.raises(TypeError, match="bytes"):
        model.fit(X, np.array([b"x", b"y"])[y])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(y == 1, np.nan, 0.0))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, y).predict(np.full((1, 2), np.nan))
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="2 features"):
        model.predict_proba(X[:, :1])
    with pytest.raises(ValueError, match="only supported for binary classification, received 3 classes"):
        clone(model).fit(X, np.arange(len(X)) % 3).latent_mean_and_variance(X)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kernel", 3.0, "kernel: expected a kernel"),
        ("kernel", "RFB", "kernel: there is no kernel 'RFB'"),
        ("kernel", sk.CompoundKernel([sk.RBF()]), "kernel cannot be a CompoundKernel"),
        ("inference", "vb", 'inference: expected one of "laplace", "ep", "mcmc", got \'vb\''),
        ("link", "cauchit", 'link: expected "logistic", "probit" or a Link'),
        ("criterion", "reml", 'criterion: expected one of "auto", "lml", "loo"'),
        ("multi_class", "ovr", "multi_class: expected one of"),
        ("optimizer", "sgd", "optimizer: expected"),
        ("n_restarts_optimizer", -1, "n_restarts_optimizer: expected a whole number from 0 on, got -1"),
        ("max_iter_predict", 0, "max_iter_predict: expected a whole number from 1 on"),
        ("n_samples", 2.5, "n_samples: expected a whole number"),
        ("max_evaluations", True, "max_evaluations: expected a whole number"),
        ("max_seconds", 0, "max_seconds: expected a positive number or None, got 0"),
        ("random_state", "x", "random_state: expected"),
    ],
)
def test_bad_parameters(name, value, message, moons):
    with pytest.raises(ValueError, match=message):
        ks.GaussianProcessClassifier(**{name: value}).fit(*moons)


def test_parameters_are_scikit_learns_and_in_its_order():
    theirs = list(GaussianProcessClassifier().get_params(deep=False))
    ours = ks.GaussianProcessClassifier().get_params(deep=False)
    assert set(theirs) < set(ours)
    names = list(ks.GaussianProcessClassifier.__init__.__annotations__)
    assert [name for name in names if name in theirs] == [
        name for name in GaussianProcessClassifier.__init__.__code__.co_varnames if name in theirs
    ]


def test_default_of_scikit_learn(moons):
    X, y = moons
    np.testing.assert_allclose(
        ks.GaussianProcessClassifier(None).fit(X, y).log_marginal_likelihood_value_,
        GaussianProcessClassifier().fit(X, y).log_marginal_likelihood_value_,
        rtol=1e-8,
    )


@pytest.mark.parametrize("inference", INFERENCES)
def test_pickles_and_seeds(inference, moons):
    X, y = moons
    model = ks.GaussianProcessClassifier(
        3.0 * RBF(0.7), optimizer=None, inference=inference, n_samples=100, n_burn=20, random_state=3
    ).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), p)


def test_points_in_blocks(moons, monkeypatch):
    X, y = moons
    model = ks.GaussianProcessClassifier(3.0 * RBF(0.7), optimizer=None).fit(X, y)
    whole = model.predict_proba(X), *model.latent(X, return_std=True)
    monkeypatch.setattr("kernsel._data.points._BLOCK", 1)
    parts = model.predict_proba(X), *model.latent(X, return_std=True)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_columns_by_name(moons):
    X, y = moons
    table = pd.DataFrame({"east": X[:, 0], "north": X[:, 1]})
    named = ks.GaussianProcessClassifier(3.0 * RBF(0.7).on(["east"]) + Linear(1.0).on(["north"]), optimizer=None).fit(table, y)
    plain = ks.GaussianProcessClassifier(3.0 * RBF(0.7).on([0]) + Linear(1.0).on([1]), optimizer=None).fit(X, y)
    np.testing.assert_allclose(named.predict_proba(table), plain.predict_proba(X), atol=1e-12)


def test_iris_is_predicted_as_well_as_by_scikit_learn():
    X, y = load_iris(return_X_y=True)
    train = np.arange(150) % 2 == 0
    losses = []
    for make in (GaussianProcessClassifier, ks.GaussianProcessClassifier):
        losses.append(log_loss(y[~train], make(KERNEL).fit(X[train], y[train]).predict_proba(X[~train])))
    assert losses[1] <= losses[0] + 1e-3
