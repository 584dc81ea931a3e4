"""SVC: against scikit-learn, for two classes and several, with all kinds of weights."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.kernels import RBF

import reference
from accuracy import rounding_of_sums


@parametrize_with_checks([ks.SVC("rbf", gamma=0.5, tol=1e-9)])
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


def two_classes(rng, n=120):
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, "yes", "no")


def assert_alike(ours, theirs, X, limit):
    """Compare the functions; and the support vectors, of which coefficients near zero may differ."""
    for shape in ("ovo", "ovr"):
        ours.decision_function_shape = theirs.decision_function_shape = shape
        assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=limit)
    sure = np.abs(theirs.decision_function(X)).min(axis=-1) > limit if len(ours.classes_) > 2 else np.full(len(X), True)
    assert np.array_equal(ours.predict(X)[sure], theirs.predict(X)[sure])
    assert np.array_equal(ours.classes_, theirs.classes_)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=limit)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed"])
def test_several_classes_against_scikit_learn(kernel):
    X, y = load_iris(return_X_y=True)
    X = X[::2] - X.mean(axis=0)
    y = np.array(["setosa", "versicolor", "virginica"])[y[::2]]
    points = RBF(1.0)(X) if kernel == "precomputed" else X
    options = {"C": 2.0, "gamma": 0.3, "tol": 1e-9}
    ours, theirs = ks.SVC(kernel, **options).fit(points, y), svm.SVC(kernel=kernel, **options).fit(points, y)
    limit = 1e-3  # theirs stops at a violation of the conditions, not at a gap
    assert_alike(ours, theirs, points, limit)
    assert np.array_equal(ours.support_, theirs.support_)
    assert np.array_equal(ours.n_support_, theirs.n_support_)
    assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, abs=1e-3)
    assert (ours.duality_gap_ <= 1e-9 * ours.objective_).all()
    if kernel == "linear":
        assert ours.coef_ == pytest.approx(theirs.coef_, abs=limit)
        assert ours.decision_function(X[:9]).shape == (9, 3)
    else:
        assert not hasattr(ours, "coef_")


@pytest.mark.parametrize("weights", [None, "balanced", {"no": 3.0}])
def test_weights_of_classes_and_points(rng, weights):
    X, y = two_classes(rng)
    w = np.where(np.arange(len(y)) % 9 == 2, 0.0, rng.uniform(0.2, 2.0, len(y)))
    options = {"C": 3.0, "gamma": 0.5, "class_weight": weights, "tol": 1e-9}
    ours, theirs = ks.SVC("rbf", **options).fit(X, y, w), svm.SVC(**options).fit(X, y, w)
    assert_alike(ours, theirs, X, 1e-4)
    assert ours.class_weight_ == pytest.approx(theirs.class_weight_)
    assert (w[ours.support_] > 0).all()
    # The objective and the gap by NumPy alone.
    s = np.where(y == "yes", 1.0, -1.0)
    C = 3.0 * w * ours.class_weight_[(s > 0).astype(int)]
    a = np.zeros(len(y))
    a[ours.support_] = ours.dual_coef_[0]
    bounds = np.minimum(C * s, 0), np.maximum(C * s, 0)
    primal, dual = reference.machine_objectives(ours.kernel_(X), s, *bounds, 0.0, a, ours.intercept_[0])
    limit = rounding_of_sums(C, np.outer(a, a) * ours.kernel_(X))
    assert ours.objective_[0] == pytest.approx(primal, abs=limit)
    assert ours.duality_gap_[0] == pytest.approx(primal - dual, abs=limit)
    assert primal == pytest.approx(np.sum(C * np.maximum(1 - s * ours.decision_function(X), 0)) + a @ ours.kernel_(X) @ a / 2)


def test_nu_is_another_name_of_c(rng):
    # Schölkopf: the function of nu-SVC is that of C-SVC with C = 1 / rho, where its own margin is rho, times 1 / rho.
    X, y = two_classes(rng)
    nu = svm.NuSVC(nu=0.6, gamma=0.5, tol=1e-9).fit(X, y)
    ours = ks.SVC("rbf", gamma=0.5, C=np.abs(nu.dual_coef_).max(), tol=1e-10).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(nu.decision_function(X), abs=1e-4)


def test_ties_are_broken_by_sizes(rng):
    X = rng.standard_normal((90, 2))
    y = np.digitize(np.arctan2(X[:, 1], X[:, 0]), [-1.0, 0.0, 1.0])
    Z = rng.standard_normal((400, 2))
    for broken in (True, False):
        ours = ks.SVC("rbf", gamma=1.0, break_ties=broken).fit(X, y)
        theirs = svm.SVC(gamma=1.0, break_ties=broken, tol=1e-6).fit(X, y)
        assert np.mean(ours.predict(Z) == theirs.predict(Z)) > 0.99
        if broken:
            assert np.array_equal(ours.predict(Z), ours.decision_function(Z).argmax(axis=1))


def test_sparse_points_objects_and_copies(rng):
    X, y = two_classes(rng, 60)
    X[np.abs(X) < 0.3] = 0.0
    dense, other = ks.SVC("rbf").fit(X, y), ks.SVC("rbf").fit(sparse.csr_matrix(X), y)
    assert sparse.issparse(other.support_vectors_)
    assert np.array_equal(other.dual_coef_.toarray(), dense.dual_coef_)
    assert np.array_equal(other.decision_function(sparse.csr_matrix(X)), dense.decision_function(X))
    assert np.array_equal(pickle.loads(pickle.dumps(dense)).decision_function(X), dense.decision_function(X))
    words = ["".join(rng.choice(list("ab"), 8)) for _ in range(40)]
    more = ["a" if word.count("a") > 4 else "b" for word in words]
    assert ks.SVC(ks.structured.Spectrum(1), C=100.0).fit(words, more).score(words, more) > 0.9
    assert cross_val_score(ks.SVC(), X, y).mean() > 0.6


def test_without_an_intercept(rng):
    X, y = two_classes(rng)
    model = ks.SVC("linear", fit_intercept=False, tol=1e-10).fit(X, y)
    assert model.intercept_[0] == 0.0
    s = np.where(y == "yes", 1.0, -1.0)
    a = np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    expected, _ = reference.boxed(X @ X.T, s, np.minimum(s, 0), np.maximum(s, 0), 0.0, intercept=False)
    assert X.T @ a == pytest.approx(X.T @ expected, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0.0}, "C: expected a positive number, got 0.0"),
        ({"C": np.inf}, "C: expected a positive number, got inf"),
        ({"C": 1e308}, "C: times the weights, it is too large"),
        ({"class_weight": {"no": -1.0}}, "class_weight: expected positive weights, got "),
        ({"class_weight": {"maybe": 1.0}}, "(?i)class_?weight"),
        ({"decision_function_shape": "all"}, 'decision_function_shape: expected "ovr" or "ovo", got \'all\''),
        (
            {"break_ties": True, "decision_function_shape": "ovo"},
            'break_ties: expected False with decision_function_shape="ovo"',
        ),
        ({"tol": 0.0}, "tol: expected a number, positive"),
        ({"kernel": "rbff"}, "kernel"),
        ({"kernel": "precomputed"}, "X: expected a square kernel matrix"),
        ({"gamma": -1.0, "kernel": "rbf"}, "gamma: expected a positive number"),
    ],
)
def test_wrong_parameters(rng, change, message):
    X, y = two_classes(rng, 20)
    with pytest.raises((ValueError, TypeError), match=message):
        ks.SVC(**change).fit(X, y, np.full(20, 10.0))


def test_wrong_data(rng):
    X, y = two_classes(rng, 20)
    with pytest.raises(ValueError, match="y: expected 2 or more classes, got 1 class"):
        ks.SVC().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match=r"sample_weight: expected a positive weight in each class, got none in .*'yes'"):
        ks.SVC().fit(X, y, (y == "no").astype(float))
    with pytest.raises(ValueError, match="X: contains NaN or infinity, first at row 3, column 1"):
        ks.SVC().fit(np.where((np.arange(20)[:, None] == 3) & (np.arange(2) == 1), np.nan, X), y)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        assert ks.SVC(max_iter=3).fit(X, y).fit_status_ == 1
    with pytest.warns(ConvergenceWarning, match="is not positive semidefinite: this is a stationary point"):
        ks.SVC("precomputed").fit(X @ np.diag([1.0, -1.0]) @ X.T, y)
