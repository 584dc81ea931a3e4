"""Points that are not vectors, in estimators and selections."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor as SklearnRegressor
from sklearn.gaussian_process import kernels as sk
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, Linear, Normalize
from kernsel.structured import Mixed

from letters import Letters, features


@pytest.fixture
def strings(rng):
    return ["".join(rng.choice(list("ACGT"), rng.integers(5, 25))) for _ in range(150)]


@pytest.fixture
def y(strings, rng):
    return np.array([s.count("A") + 0.3 * s.count("C") ** 1.5 for s in strings]) + 0.1 * rng.normal(size=len(strings))


REGRESSORS = [
    ks.GaussianProcessRegressor(kernel=RBF("auto") @ Letters(), noise="auto", trend="constant"),
    ks.KernelRidge(RBF("auto") @ Letters(), alpha="auto"),
    ks.KernelRidgeCV(RBF(4.0) @ Normalize(Letters(4, 0.5, "fixed")) + RBF(4.0) @ Letters()),
    ks.SVR(kernel=RBF("auto") @ Letters(), C="auto", epsilon=0.1),
    ks.KernelInterpolator(RBF("auto") @ Letters()),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_estimators(model, strings):
    y = np.array([np.sin(0.3 * s.count("A")) + 0.1 * s.count("C") for s in strings])
    model = clone(model).fit(strings[:100], y[:100])
    predicted = model.predict(strings[100:])
    assert np.sqrt(np.mean((predicted - y[100:]) ** 2)) < 0.5 * y.std()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(strings[100:]), predicted)
    again = clone(model).fit(strings[:100], y[:100])
    assert np.array_equal(again.predict(strings[100:]), predicted)
    # Without the objects: the same of their features, with the hyperparameters that were found.
    assert np.array_equal(model.predict(np.array(strings[100:], dtype=object)), predicted)
    with pytest.raises((ValueError, TypeError), match="X: expected"):
        model.predict([1.5])
    with pytest.raises(ValueError, match="inconsistent"):
        clone(model).fit(strings[:5], y[:4])


def test_same_as_scikit_learn_on_the_features(strings, y):
    kernel = ConstantKernel(2.0, "fixed") * RBF(3.0, "fixed") @ Letters(4, 0.5, "fixed")
    ours = ks.GaussianProcessRegressor(kernel, alpha=0.01).fit(strings[:100], y[:100])
    theirs = SklearnRegressor(2.0 * sk.RBF(3.0), alpha=0.01, optimizer=None).fit(features(strings[:100]), y[:100])
    for ours_one, theirs_one in zip(
        ours.predict(strings[100:], return_std=True), theirs.predict(features(strings[100:]), return_std=True), strict=True
    ):
        assert np.allclose(ours_one, theirs_one, rtol=1e-8)
    covariance = ours.predict(strings[100:], return_cov=True)[1]
    assert np.allclose(covariance, theirs.predict(features(strings[100:]), return_cov=True)[1], rtol=1e-6, atol=1e-10)
    assert np.isclose(ours.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_)


def test_gaussian_process(strings, y):
    model = ks.GaussianProcessRegressor(RBF("auto") @ Letters(), noise="auto", trend="constant")
    prior_mean, prior_std = model.predict(strings[:3], return_std=True)
    assert np.array_equal(prior_mean, np.zeros(3))
    assert np.allclose(prior_std, 1.0)
    model.fit(strings[:100], y[:100])
    assert model.sample_y(strings[100:], 4).shape == (50, 4)
    assert model.loo_residuals_.shape == (100,)
    before = model.predict(strings[100:])
    fewer = model.predict(strings[:100])
    model.update(strings[100:120], y[100:120])
    assert np.abs(model.predict(strings[100:120]) - y[100:120]).mean() < np.abs(before[:20] - y[100:120]).mean() + 0.05
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(strings[:5]), model.predict(strings[:5]))
    for _ in range(20):
        model.downdate(-1)
    assert np.allclose(model.predict(strings[:100]), fewer, atol=1e-6)
    with pytest.raises(ValueError, match="no derivatives in points that are objects"):
        model.predict_gradient(strings[:2])
    with pytest.raises(ValueError, match='trend: expected "constant" or None'):
        ks.GaussianProcessRegressor(Letters(), trend="linear").fit(strings, y)
    theta = model.kernel_.theta
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    for p in range(len(theta)):
        step = 1e-5 * np.eye(len(theta))[p]
        difference = (model.log_marginal_likelihood(theta + step) - model.log_marginal_likelihood(theta - step)) / 2e-5
        assert np.isclose(gradient[p], difference, rtol=1e-4, atol=1e-4 * np.abs(gradient).max() + 1e-4)


def test_classifier(strings, y):
    labels = np.where(y > np.median(y), "high", "low")
    model = ks.GaussianProcessClassifier(RBF("auto") @ Letters()).fit(strings[:100], labels[:100])
    assert model.score(strings[100:], labels[100:]) > 0.8
    assert pickle.loads(pickle.dumps(model)).predict(strings[100:]).tolist() == model.predict(strings[100:]).tolist()


def test_a_list_of_one_number_is_that_number(strings, y):
    for one in ([2], (2,), range(2, 3), np.array([2]), np.int64(2)):
        assert np.array_equal(Letters(one)(strings), Letters(2)(strings))
    chosen = ks.select(strings, y, RBF("auto") @ Letters([2]) + Letters(np.array([1, 4])))
    assert [one.problem for one in chosen.tried] == ["", ""]


@pytest.mark.slow
def test_select_tries_all_whole_numbers(strings, y):
    chosen = ks.select(strings, y, [RBF("auto") @ Letters([1, 2, 4]), Letters(range(1, 4)) * (RBF("auto") @ Letters([3, 4]))])
    assert len(chosen.tried) == 3 + 6
    assert max(chosen.tried, key=lambda one: one.value) is chosen.best
    assert np.sqrt(np.mean((chosen.predict(strings[:20]) - y[:20]) ** 2)) < 0.3
    assert "features of Letters" in chosen.describe()
    ridge = ks.select(strings, y, [RBF("auto") @ Letters([1, 2])], estimator=ks.KernelRidge(alpha="auto"))
    assert len(ridge.tried) == 2
    with pytest.raises(ValueError, match="select chooses one of several"):
        ks.KernelRidge(Letters([1, 2])).fit(strings, y)


@pytest.mark.slow
def test_select_for_classifiers(strings, y, rng):
    labels = np.where(y > np.median(y), "high", "low")
    classifier = ks.GaussianProcessClassifier(criterion="loo")
    chosen = ks.select(strings[:100], labels[:100], [RBF("auto") @ Letters([1, 4]), Letters(2)], estimator=classifier)
    assert len(chosen.tried) == 3
    assert "larger values of loo_log_density are better" in str(chosen)
    best = chosen.best_estimator_
    assert best.score(strings[100:], labels[100:]) > 0.8
    assert chosen.best.value == max(one.value for one in chosen.tried) == pytest.approx(best.loo_log_probability_.sum())
    for one in chosen.tried:  # each with an amplitude of its own
        alone = clone(classifier).set_params(kernel=one.kernel).fit(strings[:100], labels[:100])
        assert alone.criterion_value_ == one.value
    X = rng.normal(size=(30, 2))
    three = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    for several in ("one_vs_rest", "multinomial"):
        classifier = ks.GaussianProcessClassifier(multi_class=several, max_evaluations=10)
        found = ks.select(X, three, [RBF("auto"), Linear()], estimator=classifier)
        assert found.best.value == found.best_estimator_.log_marginal_likelihood_value_
        assert "RBF(" in str(found)
        assert found.predict(X).shape == (30,)


def test_criteria(strings, y):
    kernel = RBF(2.0) @ Letters()
    for criterion in ("lml", "loo", "gcv"):
        found = ks.evaluate(criterion, kernel, strings, y, noise=0.1, gradient=True)
        alone = {"groups": np.arange(len(y))} if criterion == "loo" else {}  # objects are not compared, as rows of numbers are
        other = ks.evaluate(criterion, RBF(2.0), features(strings), y, noise=0.1, gradient=True, **alone)
        assert np.isclose(found.value, other.value, rtol=1e-8)
        assert np.isclose(found.gradient[0], other.gradient[0], rtol=1e-6)
    residuals = ks.loo(RBF(2.0), features(strings), y, noise=0.1, groups=np.arange(len(y))).residuals
    assert np.allclose(ks.loo(kernel, strings, y, noise=0.1).residuals, residuals)


def test_paths_and_power_functions(strings, y):
    path = ks.RegularizationPath(Letters(), y, X=strings, trend="constant")
    other = ks.RegularizationPath(Letters()(strings), y, X=np.zeros((150, 1)), trend="constant")
    assert path.best("loo") == pytest.approx(other.best("loo"), rel=1e-6)
    kernel = RBF(3.0) @ Letters()
    distances = ks.linalg.power_function(RBF(3.0), features(strings[:40]), features(strings[40:]), noise=0.1)
    assert np.allclose(ks.linalg.power_function(kernel, strings[:40], strings[40:], noise=0.1), distances, rtol=1e-6)


def test_trends_are_no_functions_of_objects(strings, y):
    for trend in ("linear", lambda X: X):
        for use in (
            lambda trend: ks.evaluate("lml", Letters(), strings, y, noise=0.1, trend=trend),
            lambda trend: ks.loo(Letters(), strings, y, noise=0.1, trend=trend),
            lambda trend: ks.RegularizationPath(Letters(), y, X=strings, trend=trend),
            lambda trend: ks.GaussianProcessRegressor(Letters(), trend=trend).fit(strings, y),
        ):
            with pytest.raises(ValueError, match='trend: expected "constant" or None for points that are objects'):
                use(trend)
    H = np.arange(150.0)[:, None]
    value = ks.evaluate("lml", Letters(), strings, y, noise=0.1, trend=H).value
    other = ks.evaluate("lml", Linear(1.0), features(strings), y, noise=0.1, trend=H).value
    assert value == pytest.approx(other, rel=1e-9)


def test_kernels_of_the_numbers_in_a_mix(strings, rng):
    X = rng.normal(size=150)
    y = np.sin(X)
    points, kernel = Mixed(X=X, s=strings), RBF("auto").on(["X"])
    for model in (
        ks.GaussianProcessRegressor(kernel, noise=0.01),
        ks.KernelRidge(kernel),
        ks.SVR(kernel),
        ks.KernelRidgeCV(kernel),
    ):
        alike = clone(model).set_params(kernel=RBF("auto")).fit(X[:, None], y)
        fitted = clone(model).fit(points, y)
        assert np.allclose(fitted.predict(points[:9]), alike.predict(X[:9, None]), rtol=1e-6, atol=1e-9)
        assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(points[:9]), fitted.predict(points[:9]))
    labels = ks.GaussianProcessClassifier(kernel).fit(points, X > 0).predict(points)
    assert np.mean(labels == (X > 0)) > 0.9
    chosen = ks.select(points, y, [kernel, Letters().on(["s"])])
    assert np.abs(chosen.predict(points) - y).max() < 0.01
    assert ks.SVRPath(points, y, RBF(1.0).on(["X"]), Cs=[1.0], epsilons=[0.1]).converged.all()


def test_paths_of_support_vectors(strings, y):
    path = ks.SVRPath(strings, y, RBF(3.0) @ Letters(), Cs=[1.0, 10.0], epsilons=[0.1])
    other = ks.SVRPath(features(strings), y, RBF(3.0), Cs=[1.0, 10.0], epsilons=[0.1])
    assert np.allclose(path.objectives, other.objectives, rtol=1e-3)


@pytest.mark.slow
def test_scikit_learns_tools(strings, y, rng):
    points = Mixed(X=rng.normal(size=(150, 2)), s=strings)
    kernel = 0.1 * Linear("auto").on(["X"]) + (RBF("auto") @ Letters()).on(["s"])
    assert cross_val_score(ks.KernelRidge(kernel, alpha="auto"), points, y, cv=3).min() > 0.9
    assert cross_val_predict(ks.KernelRidge(RBF(3.0) @ Letters(), alpha=0.1), strings, y, cv=3).shape == (150,)
    search = GridSearchCV(ks.KernelRidge(RBF("auto") @ Letters(), alpha=0.01), {"kernel__inner__length": [1, 4]}, cv=3)
    assert search.fit(strings, y).best_params_ == {"kernel__inner__length": 4}
    result = ks.nested_cv(ks.KernelRidge(RBF("auto") @ Letters(), alpha="auto"), points.parts["s"], y, outer=3)
    assert result.mean["score"] > 0.9


def test_many_points_are_predicted_in_parts(strings, y, monkeypatch):
    model = ks.GaussianProcessRegressor(RBF(3.0) @ Letters(), noise=0.1).fit(strings, y)
    whole = model.predict(strings, return_std=True)
    ridge = ks.KernelRidge(RBF(3.0) @ Letters()).fit(strings, y)
    of_ridge = ridge.predict(strings)
    interpolator = ks.KernelInterpolator(RBF(3.0) @ Letters()).fit(strings[:20], (RBF(3.0) @ Letters())(strings[:20])[0])
    of_interpolator = interpolator.predict(strings)
    classifier = ks.GaussianProcessClassifier(RBF(3.0) @ Letters(), optimizer=None).fit(strings, y > np.median(y))
    of_classifier, labels = classifier.predict_proba(strings), classifier.predict(strings).tolist()
    monkeypatch.setattr("kernsel._data.points._AT_ONCE", 40)
    for a, b in zip(model.predict(pd.Series(strings), return_std=True), whole, strict=True):
        assert np.allclose(a, b, rtol=1e-10)
    assert np.allclose(ridge.predict(tuple(strings)), of_ridge, rtol=1e-10)
    assert np.allclose(interpolator.predict(strings), of_interpolator, rtol=1e-10)
    assert np.allclose(classifier.predict_proba(strings), of_classifier, rtol=1e-10)
    assert classifier.predict(strings).tolist() == labels
