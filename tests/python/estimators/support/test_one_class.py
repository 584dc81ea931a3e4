"""OneClassSVM: against scikit-learn, the share of points outside, and where the start comes from some of the points."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.estimators.support import one_class
from kernsel.kernels import RBF

import reference
from accuracy import of_function_within, rounding_of_sums
from conventions import expected_failures


@parametrize_with_checks([ks.OneClassSVM(tol=1e-12)], expected_failed_checks=expected_failures)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("nu", [0.05, 0.5])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed"])
def test_against_scikit_learn(rng, kernel, nu):
    X = rng.standard_normal((150, 2))
    w = rng.uniform(0.2, 2.0, 150)
    points = RBF(1.0)(X) if kernel == "precomputed" else X
    options = {"kernel": kernel, "nu": nu, "gamma": 0.4, "coef0": 1.0, "degree": 2, "tol": 1e-9}
    ours, theirs = (
        ks.OneClassSVM(**options).fit(points, sample_weight=w),
        svm.OneClassSVM(**options).fit(points, sample_weight=w),
    )
    K = points if kernel == "precomputed" else ours.kernel_(X)
    a, zeros = np.zeros(150), np.zeros(150)
    a[ours.support_] = ours.dual_coef_[0]
    primal, dual = reference.machine_objectives(K, zeros, zeros, w, 0.0, a, -ours.offset_, nu * w.sum())
    rounding = rounding_of_sums(w * ours.offset_, np.outer(a, a) * K)
    assert ours.objective_ == pytest.approx(primal, abs=rounding)
    assert ours.duality_gap_ == pytest.approx(primal - dual, abs=rounding)
    limit = 1e-6 * np.abs(K).max() * w.sum()
    assert ours.decision_function(points) == pytest.approx(theirs.decision_function(points), abs=limit)
    assert ours.score_samples(points) == pytest.approx(theirs.score_samples(points), abs=limit)
    assert ours.offset_ == pytest.approx(theirs.offset_[0], abs=limit)
    # At most a share nu is outside, and at least a share nu are support vectors, of the weights.
    outside = ours.decision_function(points) < -limit
    assert w[outside].sum() <= nu * w.sum() <= w[ours.support_].sum()
    assert (ours.predict(points)[outside] == -1).all()


def test_all_are_support_vectors(rng):
    X, w = rng.standard_normal((40, 2)), rng.uniform(size=40)
    model = ks.OneClassSVM("rbf", nu=1.0).fit(X, sample_weight=w)
    assert np.array_equal(model.dual_coef_[0], w)
    assert model.fit_status_ == 0
    assert not (model.decision_function(X) > 1e-12).any()


def test_a_start_from_some_of_the_points(rng, monkeypatch):
    X = rng.standard_normal((600, 2))
    w = np.where(np.arange(600) % 5 == 0, 0.0, 1.0)
    plain = ks.OneClassSVM("rbf", nu=0.2, tol=1e-9).fit(X, sample_weight=w)
    monkeypatch.setattr(one_class, "_FEW", 100)
    started = ks.OneClassSVM("rbf", nu=0.2, tol=1e-9).fit(X, sample_weight=w)
    assert started.n_iter_ != plain.n_iter_
    assert started.objective_ == pytest.approx(plain.objective_, rel=2e-9)
    limit = sum(of_function_within(model.duality_gap_, 1.0) for model in (started, plain))
    assert started.decision_function(X) == pytest.approx(plain.decision_function(X), abs=limit)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nu": 0.0}, "nu: expected a number above 0, up to 1, got 0.0"),
        ({"nu": 1.5}, "nu: expected a number above 0, up to 1, got 1.5"),
        ({"nu": np.nan}, "nu: expected a number above 0"),
        ({"tol": -1.0}, "tol: expected a number, positive"),
        ({"kernel": "precomputed"}, "X: expected a square kernel matrix"),
    ],
)
def test_wrong_parameters(rng, change, message):
    with pytest.raises(ValueError, match=message):
        ks.OneClassSVM(**change).fit(rng.standard_normal((9, 2)))


def test_wrong_points(rng):
    X = rng.standard_normal((9, 2))
    X[4, 1] = np.inf
    with pytest.raises(ValueError, match="X: contains NaN or infinity, first at row 4, column 1"):
        ks.OneClassSVM().fit(X)
    with pytest.raises(ValueError, match="sample_weight: Invalid input - all samples have zero or negative weights"):
        ks.OneClassSVM().fit(X[:3], sample_weight=np.zeros(3))
