"""KernelRidge: the right numbers, and scikit-learn's manners."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import kernel_ridge
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, WhiteKernel

import reference


def not_kernel_matrices(estimator):
    reason = "the check makes up a matrix that is not positive semidefinite"
    names = ("check_positive_only_tag_during_fit", "check_estimators_dtypes")
    return dict.fromkeys(names, reason) if estimator.kernel == "precomputed" else {}


@parametrize_with_checks(
    [
        ks.KernelRidge(),
        ks.KernelRidge(2.0 * RBF(3.0) + ConstantKernel(), alpha=0.1, alpha_scale="n"),
        ks.KernelRidge("precomputed"),
    ],
    expected_failed_checks=not_kernel_matrices,
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(170, 3))
    Y = np.column_stack([np.sin(6 * X[:, 0]), X[:, 1] * X[:, 2], rng.standard_normal(170)])
    return X, Y, rng.uniform(size=(40, 3))


def tolerance(K, alpha):
    return float(16 * len(K) * np.finfo(K.dtype).eps * (np.linalg.norm(K, 2) + alpha) / alpha)


@pytest.mark.core
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 10.0])
def test_against_the_normal_equations_and_scikit_learn(data, alpha):
    X, Y, Z = data
    kernel = RBF(0.3)
    K, cross = ks.gram(kernel, X), ks.gram(kernel, Z, X)
    model = ks.KernelRidge(kernel, alpha=alpha).fit(X, Y)
    expected = reference.kernel_ridge(K, Y, alpha)
    theirs = kernel_ridge.KernelRidge(kernel="rbf", gamma=0.5 / 0.3**2, alpha=alpha).fit(X, Y)
    limit = tolerance(K, alpha)
    assert model.dual_coef_ == pytest.approx(expected, abs=limit * np.abs(expected).max())
    assert model.predict(Z) == pytest.approx(cross @ expected, abs=limit * np.abs(Y).max())
    assert model.predict(Z) == pytest.approx(theirs.predict(Z), abs=limit * np.abs(Y).max())
    one = ks.KernelRidge(kernel, alpha=alpha).fit(X, Y[:, 0])
    assert one.dual_coef_.shape == (170,)
    assert np.array_equal(one.dual_coef_, model.dual_coef_[:, 0])
    assert np.array_equal(one.predict(Z), model.predict(Z)[:, 0])


def test_it_minimizes_what_it_says(data, rng):
    X, Y, _ = data
    y, w, alpha = Y[:, 0], rng.uniform(0.1, 3.0, 170), 0.05
    K = ks.gram(RBF(0.3), X)

    def objective(c, strength):
        return np.sum(w * (y - K @ c) ** 2) + strength * c @ K @ c

    for scale, strength in (("none", alpha), ("n", alpha * w.sum())):
        c = ks.KernelRidge(RBF(0.3), alpha=alpha, alpha_scale=scale).fit(X, y, sample_weight=w).dual_coef_
        least = objective(c, strength)
        for _ in range(20):
            assert objective(c + 1e-3 * rng.standard_normal(170), strength) > least


def test_conventions_of_alpha_give_the_same_function(data):
    X, Y, Z = data
    one = ks.KernelRidge(RBF(0.3), alpha=0.01 * len(X)).fit(X, Y)
    other = ks.KernelRidge(RBF(0.3), alpha=0.01, alpha_scale="n").fit(X, Y)
    assert np.array_equal(one.predict(Z), other.predict(Z))


def test_weights(data, rng):
    X, Y, Z = data
    w = rng.integers(0, 4, 170).astype(float)
    weighted = ks.KernelRidge(RBF(0.3), alpha=0.1).fit(X, Y, sample_weight=w)
    counts = w.astype(int)
    repeated = ks.KernelRidge(RBF(0.3), alpha=0.1).fit(np.repeat(X, counts, 0), np.repeat(Y, counts, 0))
    K = ks.gram(RBF(0.3), X)
    assert weighted.predict(Z) == pytest.approx(repeated.predict(Z), abs=10 * tolerance(K, 0.1))
    assert weighted.dual_coef_ == pytest.approx(reference.kernel_ridge(K, Y, 0.1, w), abs=10 * tolerance(K, 0.1))
    assert (weighted.dual_coef_[w == 0] == 0).all()
    theirs = kernel_ridge.KernelRidge(kernel="rbf", gamma=0.5 / 0.3**2, alpha=0.1).fit(X, Y, sample_weight=w)
    assert weighted.predict(Z) == pytest.approx(theirs.predict(Z), abs=10 * tolerance(K, 0.1))
    ones = ks.KernelRidge(RBF(0.3), alpha=0.1).fit(X, Y, sample_weight=np.ones(170))
    assert np.array_equal(ones.dual_coef_, ks.KernelRidge(RBF(0.3), alpha=0.1).fit(X, Y).dual_coef_)
    assert np.array_equal(ks.KernelRidge(RBF(0.3), alpha=0.1).fit(X, Y, 1.0).dual_coef_, ones.dual_coef_)


def test_one_alpha_for_each_target(data):
    X, Y, Z = data
    alphas = [0.1, 1e-3, 0.1]
    together = ks.KernelRidge(RBF(0.3), alpha=alphas).fit(X, Y).predict(Z)
    for i, alpha in enumerate(alphas):
        assert np.array_equal(together[:, i], ks.KernelRidge(RBF(0.3), alpha=alpha).fit(X, Y[:, i]).predict(Z))


def test_precomputed(data, rng):
    X, Y, Z = data
    K, cross = ks.gram(RBF(0.3), X), ks.gram(RBF(0.3), Z, X)
    w = rng.integers(0, 2, 170)
    for weights in (None, w):
        expected = ks.KernelRidge(RBF(0.3), alpha=0.1).fit(X, Y, weights).predict(Z)
        model = ks.KernelRidge("precomputed", alpha=0.1).fit(K, Y, weights)
        assert model.predict(cross) == pytest.approx(expected, abs=tolerance(K, 0.1))
    scores = [cross_val_score(ks.KernelRidge(k, alpha=0.1), A, Y[:, 0]) for k, A in ((RBF(0.3), X), ("precomputed", K))]
    assert scores[0] == pytest.approx(scores[1], abs=100 * tolerance(K, 0.1))


def test_white_noise_is_regularization(data):
    X, Y, Z = data
    a = ks.KernelRidge(RBF(0.3) + WhiteKernel(0.5), alpha=0.25).fit(X, Y).predict(Z)
    limit = tolerance(ks.gram(RBF(0.3), X), 0.75)
    assert a == pytest.approx(ks.KernelRidge(RBF(0.3), alpha=0.75).fit(X, Y).predict(Z), abs=limit)


def test_single_precision(data):
    X, Y, Z = (a.astype(np.float32) for a in data)
    model = ks.KernelRidge(RBF(0.3), alpha=0.1).fit(X, Y)
    assert model.dual_coef_.dtype == model.predict(Z).dtype == np.float32
    exact = ks.KernelRidge(RBF(0.3), alpha=0.1).fit(data[0], data[1]).predict(data[2])
    assert model.predict(Z) == pytest.approx(exact, abs=tolerance(ks.gram(RBF(0.3), X), 0.1))


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1e12])
def test_the_default_works_in_any_unit(data, unit):
    X, Y, Z = data
    offset = np.array([5.0, -3.0, 0.0])
    units = np.array([unit, 1.0, 1 / unit])
    model = ks.KernelRidge(alpha=0.1).fit(X, Y)
    moved = ks.KernelRidge(alpha=0.1).fit((X + offset) * units, Y).predict((Z + offset) * units)
    assert moved == pytest.approx(model.predict(Z), abs=10 * tolerance(model.kernel_(X), 0.1))


def test_with_the_rest_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = TransformedTargetRegressor(make_pipeline(StandardScaler(), ks.KernelRidge(RBF(4.0))), transformer=StandardScaler())
    grid = {
        "regressor__kernelridge__alpha": [0.3, 1.0, 3.0],
        "regressor__kernelridge__kernel__length_scale": [3.0, 10.0],
    }
    search = GridSearchCV(model, grid, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.45
    fitted = ks.KernelRidge().fit(X, y - y.mean())
    assert list(fitted.feature_names_in_) == list(X.columns)
    assert fitted.kernel_.length_scale.shape == (10,)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X[X.columns[::-1]])
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert clone(fitted).kernel is None
    assert isinstance(fitted.predict(pd.DataFrame(X)), np.ndarray)


def test_singular_without_regularization():
    X = np.repeat(np.linspace(0, 1, 10), 2).reshape(-1, 1)
    with pytest.raises(ks.NotPositiveDefiniteError, match="Add to the diagonal"):
        ks.KernelRidge(RBF(0.1), alpha=0.0).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "linear!"}, "kernel: 'linear!' cannot be read"),
        ({"kernel": {}}, 'kernel: expected a kernel of kernsel.kernels, its name or text, "precomputed"'),
        ({"kernel": RBF}, "kernel: expected a kernel"),
        ({"alpha": -1.0}, "alpha: expected finite numbers that are not negative"),
        ({"alpha": np.nan}, "alpha: expected finite numbers"),
        ({"alpha": "much"}, "alpha: expected a number"),
        ({"alpha": None}, "alpha: expected a number"),
        ({"alpha": [1.0, 2.0]}, "alpha: expected one number or 3, one for each target"),
        ({"alpha_scale": "mean"}, 'alpha_scale: expected "none" or "n"'),
        ({"kernel": "precomputed"}, "X: expected a square kernel matrix"),
        ({"kernel": RBF([1.0, 2.0])}, "one length scale, or one for each column"),
    ],
)
def test_bad_parameters(data, change, message):
    X, Y, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        ks.KernelRidge(**change).fit(X, Y)


@pytest.mark.parametrize(("weights", "message"), [(-np.ones(170), "not negative"), (np.zeros(170), "zero")])
def test_bad_weights(data, weights, message):
    X, Y, _ = data
    with pytest.raises(ValueError, match=f"(?i)sample.weight.*{message}"):
        ks.KernelRidge().fit(X, Y, sample_weight=weights)
