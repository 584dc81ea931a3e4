"""SVR: against scikit-learn, in any unit, and where it is hard."""

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
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.kernels import RBF, FunctionKernel, Linear, Matern, Polynomial

import reference
from conventions import expected_failures

EPS = np.finfo(float).eps


@parametrize_with_checks(
    [
        ks.SVR(),
        ks.SVR("precomputed"),
        ks.SVR(fit_intercept=False),
        ks.SVR("rbf", lam=0.01, cache_size=0.1),
        ks.SVR(tol=1e-15),
        ks.SVR(tol=1e-7),
        ks.SVR("rbf", gamma=0.5, fit_intercept=False, tol=1e-15),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


def problem(rng, n, spread=0.1):
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + spread * rng.standard_normal(n)


def test_weights_are_repetitions(rng):
    X, y = problem(rng, 60)
    counts = rng.integers(0, 4, 60)
    options = {"kernel": RBF(1.0), "epsilon": 0.05, "tol": 1e-10}
    weighted = ks.SVR(**options).fit(X, y, sample_weight=counts)
    repeated = ks.SVR(**options).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    assert weighted.predict(X) == pytest.approx(repeated.predict(X), abs=1e-4)
    assert set(weighted.support_) <= set(np.flatnonzero(counts))
    # What has no weight is not looked at, whatever it is.
    wild = np.where(counts > 0, y, 1e300)
    again = ks.SVR(**options).fit(X, wild, sample_weight=counts)
    assert np.array_equal(again.predict(X), weighted.predict(X))
    assert np.array_equal(ks.SVR(**options).fit(X, y, 2.0).predict(X), ks.SVR(**options, C=2.0).fit(X, y).predict(X))


@pytest.mark.parametrize("unit", [2.0**-1000, 1e-200, 1e-9, 1e9, 1e200, 2.0**1000])
@pytest.mark.parametrize("intercept", [True, False])
def test_y_in_any_unit(rng, unit, intercept):
    X, y = problem(rng, 80)
    options = {"kernel": RBF(1.0), "fit_intercept": intercept}
    one = ks.SVR(C=2.0, epsilon=0.25, **options).fit(X, y)
    other = ks.SVR(C=2.0 * unit, epsilon=0.25 * unit, **options).fit(X, y * unit)
    if np.log2(unit).is_integer():
        assert np.array_equal(other.predict(X), one.predict(X) * unit)
        assert np.array_equal(other.support_, one.support_)
    else:
        limit = 2 * np.sqrt(2e-4 * one.objective_)
        assert other.predict(X) / unit == pytest.approx(one.predict(X), abs=limit)


@pytest.mark.parametrize("offset", [1e3, 1e9])
def test_an_offset_of_y_is_the_intercepts(rng, offset):
    X, y = problem(rng, 300)
    y = (y + offset) - offset  # as they come back
    one = ks.SVR(RBF(1.0), C=1e3).fit(X, y)
    moved = ks.SVR(RBF(1.0), C=1e3).fit(X, y + offset)
    assert moved.objective_ == pytest.approx(one.objective_, rel=3e-4)
    assert moved.predict(X) - offset == pytest.approx(one.predict(X), abs=2 * np.sqrt(2e-4 * one.objective_) + 4 * EPS * offset)
    assert moved.n_iter_ < 3 * one.n_iter_


@pytest.mark.parametrize("value", [0.0, 3.0, -1e300, 1e-300])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_constant_y(rng, value, epsilon):
    X, _ = problem(rng, 30)
    model = ks.SVR(epsilon=epsilon).fit(X, np.full(30, value))
    assert not len(model.support_)
    assert model.objective_ == model.duality_gap_ == 0.0
    assert (model.predict(X) == value).all()


def pieces():
    diabetes = load_diabetes()
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (150, 1))
    yield StandardScaler().fit_transform(diabetes.data[:200]), diabetes.target[:200], 20.0, 5.0
    yield X, np.sinc(X[:, 0]) + 0.1 * rng.standard_normal(150), 1.0, 0.1
    yield rng.standard_normal((90, 20)), rng.standard_normal(90), 0.3, 0.01


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", "precomputed"])
def test_against_scikit_learn(which, kernel):
    X, y, C, epsilon = list(pieces())[which]
    options = {"gamma": 0.2, "degree": 2, "coef0": 1.0, "C": C, "epsilon": epsilon, "tol": 1e-6}
    K = ks.gram(ks.kernels.kernel("RBF(0.7)"), X)
    points = K if kernel == "precomputed" else X
    theirs_kernel = (lambda A, B: np.exp(-0.2 * np.abs(A[:, None] - B).sum(-1))) if kernel == "laplacian" else kernel
    ours, theirs = ks.SVR(kernel, **options).fit(points, y), svm.SVR(kernel=theirs_kernel, **options).fit(points, y)
    a, b = np.zeros(len(y)), theirs.intercept_[0]
    a[theirs.support_] = theirs.dual_coef_[0]
    gram = points if kernel == "precomputed" else ks.gram(ours.kernel_, X)
    primal, dual = reference.support_objectives(gram, y, C, epsilon, a, b)
    assert ours.objective_ == pytest.approx(primal, rel=1e-6 + (primal - dual) / primal)
    limit = np.sqrt(gram.max()) * sum(np.sqrt(2 * gap) for gap in (ours.duality_gap_, primal - dual))
    assert ours.predict(points) - ours.intercept_ == pytest.approx(theirs.predict(points) - b, abs=limit)
    # The same support set, but for coefficients that are too small for the tolerance to tell.
    mine = np.zeros(len(y))
    mine[ours.support_] = ours.dual_coef_[0]
    differ = (mine != 0) != (a != 0)
    slack = np.abs(np.abs(y - theirs.predict(points)) - epsilon)
    assert (slack[differ] <= 2 * limit + 1e-4).all()
    assert ours.score(points, y) == pytest.approx(theirs.score(points, y), abs=1e-3)
    if kernel == "linear":
        assert ours.coef_ == pytest.approx(theirs.coef_, abs=np.sqrt(2 * ours.duality_gap_) + np.sqrt(2 * (primal - dual)))
        assert ours.predict(X) == pytest.approx(X @ ours.coef_[0] + ours.intercept_, rel=1e-9)
    else:
        assert not hasattr(ours, "coef_")


def test_predictions_by_support_vectors_only(rng):
    X, y = problem(rng, 200, 0.02)
    model = ks.SVR(RBF(1.0), epsilon=0.1).fit(X, y)
    assert 0 < len(model.support_) < 60
    Z = rng.standard_normal((50, 2))
    K = ks.gram(RBF(1.0), Z, X[model.support_])
    expected = K @ model.dual_coef_[0] + model.intercept_
    assert model.predict(Z) == pytest.approx(expected, abs=8 * len(K.T) * EPS * np.abs(model.dual_coef_).sum())
    assert np.array_equal(model.support_vectors_, X[model.support_])
    matrix = ks.SVR("precomputed", epsilon=0.1).fit(RBF(1.0)(X), y)
    cross = RBF(1.0)(Z, X)
    cross[:, np.setdiff1d(np.arange(200), matrix.support_)] = 1e9  # which is not touched
    assert matrix.predict(cross) == pytest.approx(expected, abs=2 * np.sqrt(2e-4 * model.objective_))
    scores = [cross_val_score(ks.SVR(k, tol=1e-9), A, y) for k, A in ((RBF(1.0), X), ("precomputed", RBF(1.0)(X)))]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_the_limit_of_steps(rng):
    X, y = problem(rng, 400, 0.3)
    with pytest.warns(ConvergenceWarning, match=r"the duality gap is .*: raise max_iter"):
        model = ks.SVR("rbf", C=10.0, max_iter=20).fit(X, y)
    assert model.fit_status_ == 1
    assert model.n_iter_ <= 30
    a = np.zeros(400)
    a[model.support_] = model.dual_coef_[0]
    primal, dual = reference.support_objectives(model.kernel_(X), y, 10.0, 0.1, a, model.intercept_[0])
    assert model.duality_gap_ == pytest.approx(primal - dual, rel=1e-9)
    assert model.duality_gap_ > 1e-4 * model.objective_
    with pytest.warns(ConvergenceWarning):
        nothing = ks.SVR("rbf", max_iter=0).fit(X, y)
    assert not len(nothing.support_)
    assert nothing.fit_status_ == 1


@pytest.mark.parametrize("cache", [500.0, 0.1])
@pytest.mark.parametrize("n", [60, 600])
def test_a_tolerance_that_rounding_does_not_allow_ends(rng, n, cache):
    X, y = problem(rng, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ks.SVR(RBF(1.0), tol=1e-300, cache_size=cache, max_iter=3_000_000).fit(X, y)
    assert model.duality_gap_ <= 1e-12 * model.objective_


@pytest.mark.parametrize(("n", "cache", "intercept"), pairwise([3, 50, 500], [500.0, 0.1], [True, False]))
def test_indefinite_kernels_end_with_a_warning(rng, n, cache, intercept):
    X, y = problem(rng, n)
    A = rng.standard_normal((n, n))
    options = {"C": 5.0, "cache_size": cache, "fit_intercept": intercept, "max_iter": 2_000_000}
    with pytest.warns(ConvergenceWarning, match="'precomputed' is not positive semidefinite: this is a stationary point"):
        matrix = ks.SVR("precomputed", **options).fit(A + A.T, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sigmoid = ks.SVR("sigmoid", gamma=1.0, coef0=-1.0, **options).fit(X, y)
    assert any("is not positive semidefinite" in str(warning.message) for warning in caught)
    for model, K in ((matrix, A + A.T), (sigmoid, sigmoid.kernel_(X))):
        a = np.zeros(n)
        a[model.support_] = model.dual_coef_[0]
        assert (np.abs(a) <= 5.0).all()
        assert abs(a.sum()) <= 4 * n * EPS * np.abs(a).sum() or not intercept
        # Stationary: no pair of coefficients, or single one, can move downhill, to first order.
        G = K @ a - y
        up = np.where(a < 5.0, G + np.where(a >= 0, 0.1, -0.1), np.inf).min()
        down = np.where(a > -5.0, np.where(a > 0, -0.1, 0.1) - G, np.inf).min()
        scale = 5.0 * np.abs(K).max() * n
        assert (up + down if intercept else min(up, down)) >= -1e-3 * scale
        assert np.isfinite(model.predict(K if model is matrix else X)).all()


def test_kernels_that_are_definite_do_not_warn(rng):
    # Nor do those that the rounding of single precision alone has made indefinite; more than that is noticed.
    X, y = problem(rng, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ks.SVR("precomputed").fit(X @ X.T, y)  # of rank 2
        ks.SVR("precomputed").fit(RBF(5.0)(X).astype(np.float32), y)  # and to single precision
        ks.SVR("cosine").fit(X, y)
        ks.SVR("poly", degree=3).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        ks.SVR("precomputed").fit((RBF(5.0)(X) - 1e-3 * np.eye(100)).astype(np.float32), y)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such timer on this system")
@pytest.mark.parametrize("cache", [500.0, 1.0])
def test_ctrl_c(rng, cache):
    X, y = problem(rng, 3000, 1.0)
    model = ks.SVR(RBF(3.0), C=1e9, epsilon=0.0, tol=1e-12, cache_size=cache)
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - begin < 5.0
    assert not hasattr(model, "support_")
    model.set_params(C=1.0, epsilon=0.1, tol=1e-3).fit(X[:100], y[:100])


@pytest.mark.parametrize("cache", [500.0, 0.1])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_same_on_any_number_of_threads(rng, threads, cache, intercept):
    X, y = problem(rng, 3000, 0.2)
    models = []
    for count in (1, 2):
        threads(count)
        models.append(ks.SVR(RBF(1.0), fit_intercept=intercept, cache_size=cache).fit(X, y))
    one, two = models
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert np.array_equal(one.support_, two.support_)
    assert (one.intercept_, one.objective_, one.duality_gap_) == (two.intercept_, two.objective_, two.duality_gap_)
    assert np.array_equal(one.predict(X), two.predict(X))


# Ezekiel's measurements of 1930: speed in miles per hour, and the distance to stop in feet.
SPEED = [4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15]
SPEED += [15, 16, 16, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25]
DISTANCE = [2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26]
DISTANCE += [54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85]


def test_the_textbooks_example():
    x = np.array(SPEED, dtype=float).reshape(-1, 1)
    y = np.array(DISTANCE, dtype=float)
    assert (len(x), x.sum(), y.sum()) == (50, 770, 2149)
    kernel = RBF(5.0) + Polynomial(2, 1.0)
    lam, epsilon = 0.01, 15.0
    svr = ks.SVR(kernel, lam=lam, epsilon=epsilon, fit_intercept=False, tol=1e-9).fit(x, y)
    krr = ks.KernelRidge(kernel, alpha=lam, alpha_scale="n").fit(x, y)

    # mean of the losses + lam |theta|^2, and |a_i| <= 1 / (2 n lam)
    K, a, bound = kernel(x), np.zeros(50), 1 / (2 * 50 * lam)
    a[svr.support_] = svr.dual_coef_[0]
    assert np.abs(a).max() <= bound
    expected, _ = reference.support_vectors(K, y, bound, epsilon, intercept=False)

    def textbook(c):
        return np.mean(np.maximum(np.abs(y - K @ c) - epsilon, 0.0)) + lam * c @ K @ c

    assert textbook(a) == pytest.approx(textbook(expected), rel=1e-8)
    assert 2 * lam * svr.objective_ == pytest.approx(textbook(a), rel=1e-9)
    assert textbook(a) < textbook(krr.dual_coef_)

    # Few support vectors: those that are not inside of the tube; of ridge regression all.
    residuals = np.abs(y - svr.predict(x))
    assert (
        set(np.flatnonzero(residuals > epsilon + 1e-3)) <= set(svr.support_) <= set(np.flatnonzero(residuals > epsilon - 1e-3))
    )
    assert 5 <= len(svr.support_) <= 20
    assert (krr.dual_coef_ != 0).all()
    speeds = np.linspace(5, 24, 20).reshape(-1, 1)
    assert np.abs(svr.predict(speeds) - krr.predict(speeds)).max() < epsilon
    assert (np.diff(krr.predict(speeds)) > 0).all()
    assert np.corrcoef(svr.predict(x), y)[0, 1] > 0.8


def test_lam_is_c(rng):
    X, y = problem(rng, 50)
    w = rng.uniform(0.5, 2.0, 50)
    for weights, total in ((None, 50.0), (w, w.sum())):
        one = ks.SVR("rbf", lam=0.02).fit(X, y, weights)
        assert np.array_equal(one.predict(X), ks.SVR("rbf", C=1 / (2 * total * 0.02)).fit(X, y, weights).predict(X))


@pytest.mark.parametrize("name", [csr for kind in ("matrix", "array") for csr in (f"csr_{kind}", f"csc_{kind}")])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_points(rng, name, kernel):
    X, y = problem(rng, 60)
    X[rng.uniform(size=X.shape) < 0.5] = 0.0
    X = np.hstack([X, X])
    dense = ks.SVR(kernel).fit(X, y)
    model = ks.SVR(kernel).fit(getattr(sparse, name)(X), y)
    assert sparse.issparse(model.support_vectors_)
    assert sparse.issparse(model.dual_coef_)
    assert np.array_equal(model.support_vectors_.toarray(), dense.support_vectors_)
    assert np.array_equal(model.dual_coef_.toarray(), dense.dual_coef_)
    for Z in (X, getattr(sparse, name)(X)):
        assert np.array_equal(model.predict(Z), dense.predict(X))
    if kernel == "linear":
        assert np.array_equal(model.coef_.toarray(), dense.coef_)
        for coef in (model.coef_, dense.coef_):
            with pytest.raises(ValueError, match="read-only"):
                coef[0, 0] = 1.0
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), dense.predict(X))


def test_functions_of_matrices(rng):
    X, y = problem(rng, 150)
    calls = []

    def linear(A, B, power=1):
        calls.append((len(A), len(B)))
        return (A @ B.T + 1.0) ** power

    for power, known in (
        (1, ks.SVR("poly", degree=1, gamma=1.0, coef0=1.0)),
        (2, ks.SVR("poly", degree=2, gamma=1.0, coef0=1.0)),
    ):
        model = ks.SVR(linear, kernel_params={"power": power}).fit(X, y)
        assert model.objective_ == pytest.approx(known.fit(X, y).objective_, rel=1e-4)
        assert model.predict(X) == pytest.approx(known.predict(X), abs=0.1)
    assert max(a for a, _ in calls) > 1
    theirs = svm.SVR(kernel=linear).fit(X, y)
    assert ks.SVR(linear).fit(X, y).predict(X) == pytest.approx(theirs.predict(X), abs=0.1)
    with pytest.raises(ValueError, match="function: expected the function to return an array of shape"):
        ks.SVR(lambda A, B: np.ones((1, 1))).fit(X, y)


def test_infinite_c(rng):
    X, y = problem(rng, 40)
    for weights in (None, np.where(np.arange(40) < 3, 0.0, 1.0)):
        model = ks.SVR(Matern(0.5, nu=0.5), C=np.inf, epsilon=0.05, tol=1e-8).fit(X, y, weights)
        used = slice(None) if weights is None else weights > 0
        assert np.abs(y - model.predict(X))[used].max() == pytest.approx(0.05, abs=1e-4)
        large = ks.SVR(Matern(0.5, nu=0.5), C=1e6, epsilon=0.05, tol=1e-8).fit(X, y, weights)
        assert np.abs(large.dual_coef_).max() < 1e6
        assert model.predict(X) == pytest.approx(large.predict(X), abs=2e-4)
    assert (ks.SVR(C=np.inf).fit(X, np.full(40, 2.0)).predict(X) == 2.0).all()


def test_frames_copies_and_searches(rng, capsys):
    X, y = problem(rng, 90)
    frame = pd.DataFrame({"time": X[:, 0], "other": X[:, 1]})
    model = ks.SVR(RBF("auto").on(["time"]), C=10.0, verbose=True).fit(frame, y)
    assert list(model.feature_names_in_) == ["time", "other"]
    out = capsys.readouterr().out
    assert out.startswith(f"SVR: {model.n_iter_} steps, objective ")
    assert f"{len(model.support_)} support vectors of 90 points" in out
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(frame), model.predict(frame))
    assert clone(model).get_params()["kernel"].get_params().keys() == model.kernel.get_params().keys()
    plain = ks.SVR(RBF("auto"), C=10.0).fit(X[:, :1], y)
    assert model.predict(frame) == pytest.approx(plain.predict(X[:, :1]), abs=1e-2)
    grid = {"svr__C": [1e-3, 1.0, 10.0], "svr__epsilon": [0.01, 0.1]}
    search = GridSearchCV(make_pipeline(StandardScaler(), ks.SVR("rbf")), grid).fit(X, y)
    theirs = GridSearchCV(make_pipeline(StandardScaler(), svm.SVR(kernel="rbf")), grid).fit(X, y)
    assert search.cv_results_["mean_test_score"] == pytest.approx(theirs.cv_results_["mean_test_score"], abs=0.01)
    once = ks.SVR("rbf").fit(X, y).predict(X)
    assert np.array_equal(
        ks.SVR("rbf", kernel_params=None).fit(X.astype(np.float32).astype(float), y).fit(X, y).predict(X), once
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0.0}, 'C: expected a number, positive, "auto" or None, got 0.0'),
        ({"C": -1.0}, "C: expected a number, positive"),
        ({"C": np.nan}, 'C: expected a number, positive, "auto" or None, got nan'),
        ({"C": -np.inf}, "C: expected a number, positive"),
        ({"C": "1"}, "C: expected a number, positive, \"auto\" or None, got '1'"),
        ({"C": True}, "C: expected a number"),
        ({"C": 1e308}, "C: times the weights, it is too large"),
        ({"epsilon": -0.1}, 'epsilon: expected a number, from 0 on, "auto" or None, got -0.1'),
        ({"epsilon": np.inf}, "epsilon: expected a number"),
        ({"lam": 0.0}, "lam: expected a positive number or None, got 0.0"),
        ({"lam": np.inf}, "lam: expected a positive number"),
        ({"lam": 5e-324}, "lam: 5e-324 is too small"),
        ({"tol": 0.0}, "tol: expected a number, positive"),
        ({"cache_size": 0}, "cache_size: expected a number, positive"),
        ({"max_iter": -2}, "max_iter: expected a whole number from 0 on, or -1"),
        ({"max_iter": 1.5}, "max_iter: expected a whole number"),
        ({"max_iter": True}, "max_iter: expected a whole number"),
        ({"shrinking": 1}, "shrinking: expected True or False, got 1"),
        ({"fit_intercept": None}, "fit_intercept: expected True or False"),
        ({"verbose": 2}, "verbose: expected True or False"),
        ({"kernel": "rbff"}, "kernel"),
        ({"kernel": 1j}, "kernel: expected a kernel"),
        ({"kernel": RBF}, "kernel: expected a kernel"),
        ({"kernel": "precomputed"}, "X: expected a square kernel matrix"),
        ({"kernel": lambda A, B: A @ B.T, "kernel_params": 3}, "kernel_params: expected a dict or None, got 3"),
        ({"gamma": "auto1"}, 'gamma: expected a positive number, "scale" or "auto", got \'auto1\''),
        ({"gamma": -1.0, "kernel": "rbf"}, 'gamma: expected a positive number, "scale" or "auto", got -1.0'),
        ({"gamma": None}, "gamma: expected a positive number"),
        ({"degree": -1, "kernel": "poly"}, "degree: expected a number from 0 on, got -1"),
        ({"coef0": np.nan, "kernel": "sigmoid"}, "coef0: expected a finite number"),
    ],
)
def test_bad_choices(rng, change, message):
    X, y = problem(rng, 20)
    with pytest.raises((ValueError, TypeError), match=message):
        ks.SVR(**change).fit(X, y, np.full(20, 10.0))


def test_bad_data(rng):
    X, y = problem(rng, 30)
    with np.errstate(over="ignore"):
        for points, targets, weights, message in (
            (np.where(X > 1, np.nan, X), y, None, "NaN"),
            (X, np.where(y > 0.5, np.inf, y), None, "infinity"),
            (X, np.where(y > 0.5, np.nan, y), None, "NaN"),
            (X[:0], y[:0], None, "0 sample"),
            (X[:, 0], y, None, "1D array"),
            (X, y[:9], None, "inconsistent"),
            (X, np.column_stack([y, y]), None, "1d array"),
            (X, y, -np.ones(30), "sample_weight: Invalid input - all samples have zero or negative weights"),
            (X, y, np.zeros(30), "sample_weight: .*zero"),
            (X, y, np.where(np.arange(30) > 3, 1.0, -1.0), "sample_weight: expected weights that are not negative, got -1"),
            (X, y, np.ones(9), "sample_weight.shape"),
            (X, y, np.full(30, np.nan), "sample_weight contains NaN"),
            (X, y, np.full(30, np.inf), "infinity"),
            (1e200 * X, y, None, 'gamma: "scale" is not possible for X of variance'),
        ):
            with pytest.raises(ValueError, match=message):
                ks.SVR("rbf").fit(points, targets, sample_weight=weights)
        for kernel in ("linear", "poly", Linear(), FunctionKernel(lambda A, B: np.full((len(A), len(B)), np.nan))):
            with pytest.raises(ValueError, match=r"overflow|not finite"):
                ks.SVR(kernel, gamma=1.0).fit(1e160 * X, y)
    with pytest.raises(ValueError, match="features"):
        ks.SVR().fit(X, y).predict(X[:, :1])


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, ["C", "epsilon", "hyperparameters"]),
        ({"kernel": RBF("auto"), "C": 10.0}, ["epsilon", "hyperparameters"]),
        ({"kernel": RBF("auto"), "C": "auto"}, ["epsilon"]),
        ({"kernel": "rbf", "lam": 0.1}, ["epsilon"]),
        ({"kernel": RBF("auto"), "C": 1.0, "epsilon": 0.1}, []),
        ({"kernel": "auto"}, []),
    ],
)
def test_what_was_not_looked_for_is_said(how, expected, rng, capsys):
    X, y = rng.uniform(size=(20, 1)), rng.standard_normal(20)
    assert ks.SVR(**how, verbose=True).fit(X, y).not_sought_ == expected
    assert (f"SVR: not looked for: {', '.join(expected)} (kernel=" in capsys.readouterr().out) == bool(expected)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_kernel_of_raw_columns_and_a_large_c(intercept):
    # C k(x, x) is 1e13 times y: coefficients cancel in f, whose function of four columns has hardly a norm. The objective is C
    # times the losses, and those hardly depend on C.
    x, y = np.array(SPEED, dtype=float).reshape(-1, 1), np.array(DISTANCE, dtype=float)
    options = {"epsilon": 15.0, "fit_intercept": intercept}
    plain = ks.SVR(Polynomial(3, 1.0), C=1e3, **options).fit(x, y)
    for C in (1e4, 1e5, 1e6):
        model = ks.SVR(Polynomial(3, 1.0), C=C, **options).fit(x, y)
        assert model.fit_status_ == 0
        assert model.duality_gap_ <= 1e-4 * model.objective_
        assert model.objective_ / C == pytest.approx(plain.objective_ / 1e3, rel=0.02)
        loss = np.maximum(np.abs(y - model.predict(x)) - 15.0, 0.0).sum()
        assert C * loss == pytest.approx(model.objective_, rel=0.01)
    with pytest.warns(ConvergenceWarning, match=r"the duality gap is .*: the terms of the function are so large that rounding"):
        assert ks.SVR(Polynomial(3, 1.0, 0.1), C=1e5, **options).fit(x, y).fit_status_ == 1
