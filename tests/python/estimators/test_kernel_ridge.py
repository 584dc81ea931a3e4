"""KernelRidge: the right numbers, and scikit-learn's manners."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from pairs import pairwise
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn import kernel_ridge
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.criteria import CRITERIA, GroupsOut, LeaveOneOut, Likelihood, UnbiasedRisk
from kernsel.criteria.names import along_path, with_free_scale
from kernsel.kernels import RBF, ConstantKernel, FunctionKernel, Linear, Parameter, Warp, WhiteKernel

import reference
from conventions import expected_failures
from criterion_cases import AT_GIVEN


@parametrize_with_checks(
    [
        ks.KernelRidge(),
        ks.KernelRidge(2.0 * RBF(3.0) + ConstantKernel(), alpha=0.1, alpha_scale="n"),
        ks.KernelRidge("precomputed"),
        ks.KernelRidge("poly", degree=2, fit_intercept=True),
        ks.KernelRidge(alpha="auto", max_evaluations=100),
        ks.KernelRidge("RBF", approximation=ks.Vecchia(20, 40)),
        ks.KernelRidge("rbf", alpha="auto", fit_intercept=True, alpha_scale="n"),
    ],
    expected_failed_checks=expected_failures,
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


@pytest.mark.slow
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
        ({"kernel": "linear!"}, "kernel: there is no kernel 'linear' .*did you mean Linear"),
        ({"kernel": {}}, 'kernel: expected a kernel of kernsel.kernels, its name or text, "precomputed"'),
        ({"kernel": RBF}, "kernel: expected a kernel"),
        ({"alpha": -1.0}, "alpha: expected finite numbers that are not negative"),
        ({"alpha": np.nan}, "alpha: expected finite numbers"),
        ({"alpha": "much"}, "alpha: expected a number"),
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


def by_name():
    """Return the arguments that scikit-learn's kernels by name need here: chi2 has no default for gamma in the estimator."""
    return {"gamma": 0.7, "degree": 2, "coef0": 0.5}


@pytest.mark.parametrize("name", sorted(set(PAIRWISE_KERNEL_FUNCTIONS) - {"additive_chi2"}))
@pytest.mark.parametrize("auto", [False, True])
def test_kernels_by_name(data, name, auto):
    X, Y, Z = data
    options = {} if name == "linear" else by_name()
    if name == "sigmoid" and auto:
        with pytest.raises(np.linalg.LinAlgError, match="K: expected a positive semidefinite matrix, got one with eigenvalues"):
            ks.KernelRidge(name, alpha="auto", **options).fit(X, Y)
        return
    model = ks.KernelRidge(name, **({"alpha": "auto", "fit_intercept": False} if auto else {"alpha": 5.0}), **options).fit(X, Y)
    theirs = kernel_ridge.KernelRidge(kernel=name, alpha=model.alpha_, **options).fit(X, Y)
    assert (model.fit_intercept, model.has_intercept) == (False if auto else None, False)
    K = sklearn.metrics.pairwise.pairwise_kernels(X, metric=name, filter_params=True, **options)
    limit = tolerance(K, model.alpha_) * np.abs(Y).max()
    assert model.predict(Z) == pytest.approx(theirs.predict(Z), abs=limit)
    assert hasattr(model, "path_") is auto
    # scikit-learn's chi2 cannot be fitted with its own default of the estimator; ours is that of the function.
    if name != "chi2":
        default = kernel_ridge.KernelRidge(kernel=name, alpha=0.5).fit(X, Y).predict(Z)
        assert ks.KernelRidge(name, alpha=0.5).fit(X, Y).predict(Z) == pytest.approx(default, abs=tolerance(K, 0.5) * 100)


def test_names_that_are_no_kernels(data):
    X, Y, _ = data
    with pytest.raises(ks.NotPositiveDefiniteError) as info:
        ks.KernelRidge("additive_chi2").fit(X, Y)
    assert info.value.__notes__ == ['"additive_chi2" is not a positive semidefinite kernel: with larger alpha it may pass']
    with pytest.raises(ks.NotPositiveDefiniteError):
        ks.KernelRidge("sigmoid", alpha=1e-3).fit(X, Y)
    with pytest.raises(ValueError, match=r"(?i)negative values"):
        ks.KernelRidge("chi2").fit(-X, Y)


def test_cosine_of_empty_rows(data):
    X, Y, Z = data
    X = np.where(X < 0.4, 0.0, X)
    X[[3, 8]] = 0.0
    ours, theirs = (
        model.fit(X, Y).predict(Z) for model in (ks.KernelRidge("cosine"), kernel_ridge.KernelRidge(kernel="cosine"))
    )
    assert ours == pytest.approx(theirs, abs=1e-11)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_points(data, kind):
    X, Y, Z = (np.where(np.abs(a) < 0.5, 0.0, a) for a in data)
    for model in (ks.KernelRidge(RBF("auto")), ks.KernelRidge("linear", alpha="auto"), ks.KernelRidgeCV("laplacian")):
        dense = clone(model).fit(X, Y).predict(Z)
        # Equal but for the order of rows and columns in memory.
        assert model.fit(kind(X), Y).predict(kind(Z)) == pytest.approx(dense, abs=1e-9)
        assert isinstance(model.X_fit_, np.ndarray)


def test_functions_as_kernels(data):
    X, Y, Z = data

    def minimum(x, z, power=1.0):
        return float(np.minimum(x, z).sum() ** power)

    model = ks.KernelRidge(minimum, alpha=0.3, kernel_params={"power": 2.0}).fit(X[:60], Y[:60])
    theirs = kernel_ridge.KernelRidge(kernel=minimum, alpha=0.3, kernel_params={"power": 2.0}).fit(X[:60], Y[:60])
    assert model.predict(Z) == pytest.approx(theirs.predict(Z), rel=1e-8)
    weights = np.arange(60) % 3 * 1.0
    weighted = model.fit(X[:60], Y[:60], weights).predict(Z)
    assert weighted == pytest.approx(theirs.fit(X[:60], Y[:60], weights).predict(Z), rel=1e-8)


@pytest.mark.parametrize(
    ("text", "kernel", "with_sizes"),
    [
        (
            "RBF + Linear",
            RBF("auto") + Linear("auto"),
            ConstantKernel("auto") * RBF("auto") + ConstantKernel("auto") * Linear("auto"),
        ),
        ("2.0 * RBF(0.3).on([1])", 2.0 * RBF(0.3).on([1]), 2.0 * RBF(0.3).on([1])),
    ],
)
def test_kernels_as_texts(data, text, kernel, with_sizes):
    X, Y, Z = data
    given = {"alpha": 0.5}
    assert np.array_equal(
        ks.KernelRidge(text, **given).fit(X, Y).predict(Z), ks.KernelRidge(kernel, **given).fit(X, Y).predict(Z)
    )
    found = ks.KernelRidge(text, alpha="auto", criterion="reml").fit(X, Y)
    assert found.kernel_ == ks.KernelRidge(with_sizes, alpha="auto", criterion="reml").fit(X, Y).kernel_


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", ["none", "n"])
def test_intercept_against_the_augmented_system(data, rng, weighted, scale):
    X, Y, Z = data
    Y = np.add(Y, [5.0, -300.0, 0.0])
    w = np.where(np.arange(170) % 7 == 0, 0.0, rng.uniform(0.2, 3.0, 170)) if weighted else np.ones(170)
    alphas = np.array([0.3, 1e-3, 0.3])
    model = ks.KernelRidge(RBF(0.5), alpha=alphas, fit_intercept=True, alpha_scale=scale).fit(X, Y, w if weighted else None)
    used = w > 0
    K, n = ks.gram(RBF(0.5), X[used]), used.sum()
    for k, alpha in enumerate(alphas):
        strength = alpha * (w.sum() if scale == "n" else 1.0)
        augmented = np.block([[K + np.diag(strength / w[used]), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        solution = np.linalg.solve(augmented, np.append(Y[used, k], 0.0))
        limit = 100 * tolerance(K, alpha) * np.abs(Y[:, k]).max()
        assert model.intercept_[k] == pytest.approx(solution[-1], abs=limit)
        expected = ks.gram(RBF(0.5), Z, X[used]) @ solution[:-1] + solution[-1]
        assert model.predict(Z)[:, k] == pytest.approx(expected, abs=limit)
        assert model.dual_coef_[:, k].sum() == pytest.approx(0.0, abs=limit / alpha)
    assert (model.dual_coef_[~used] == 0).all()


def test_intercept_with_a_given_matrix(data):
    X, Y, Z = data
    K, cross = ks.gram(RBF(0.3), X), ks.gram(RBF(0.3), Z, X)
    w = np.arange(170) % 4 * 0.5
    for alpha in (0.1, "auto"):
        one = ks.KernelRidge(RBF(0.3, "fixed"), alpha=alpha, fit_intercept=True).fit(X, Y, w)
        other = ks.KernelRidge("precomputed", alpha=alpha, fit_intercept=True).fit(K, Y, w)
        assert other.alpha_ == pytest.approx(one.alpha_, rel=1e-4)
        assert other.predict(cross) == pytest.approx(one.predict(Z), abs=1e-3 if alpha == "auto" else tolerance(K, 0.1) * 10)


def wavy(rng, n=40):
    X = np.sort(rng.uniform(0, 6, (n, 1)), axis=0)
    return X, np.sin(X[:, 0]) + 0.2 * rng.standard_normal(n)


ABOUT_NOISE = ("risk", "discrepancy")


@pytest.mark.parametrize(("criterion", "weighted", "intercept"), pairwise(AT_GIVEN, [False, True], [False, True]))
def test_no_place_nearby_is_better(rng, criterion, weighted, intercept):
    X, y = wavy(rng)
    w = np.where(np.arange(40) % 9 == 4, 0.0, rng.uniform(0.5, 2.0, 40)) if weighted else None
    options = {"sigma": 0.2} if criterion in ABOUT_NOISE else {}
    model = ks.KernelRidge(RBF("auto"), alpha="auto", criterion=criterion, fit_intercept=intercept, **options).fit(X, y, w)
    length = float(np.ravel(model.kernel_.length_scale)[0])

    def value(length, alpha):
        kernel = RBF(length)
        given = options
        if criterion == "risk" and w is not None:  # sigma is that of a point of weight one
            given = {"sigma": 0.2 / np.sqrt(np.where(w > 0, w, 1.0))}
        trend = "constant" if intercept else None

        def at(log_scale):
            s = np.exp(log_scale)
            return ks.evaluate(criterion, s * kernel, X, y, noise=s * alpha, trend=trend, sample_weight=w, **given)

        sign = -1 if at(0.0).larger_is_better else 1
        if at(0.0).value == pytest.approx(at(1.0).value, rel=1e-9):
            return at(0.0).value
        # With the best scale of kernel and noise together.
        return sign * minimize_scalar(lambda t: sign * at(t).value, bounds=(-12, 12), options={"xatol": 1e-9}).fun

    best = value(length, model.alpha_)
    assert model.criterion_value_ == pytest.approx(best, rel=1e-6)
    assert model.criterion_value_ == model.selection_.value
    sign = 1 if ks.evaluate(criterion, RBF(1.0), X, y, noise=0.1, **options).larger_is_better else -1
    for step in (-0.1, 0.1):
        for other in (value(length * np.exp(step), model.alpha_), value(length, model.alpha_ * np.exp(step))):
            assert sign * other <= sign * best + 1e-7 * abs(best)
    if not weighted:  # far away, too: on a coarse grid of all there is
        grid = [value(a, b) for a in np.geomspace(0.1, 30, 8) for b in np.geomspace(1e-4, 10, 6)]
        assert max(sign * v for v in grid) <= sign * best + 1e-7 * abs(best)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", [name for name in along_path() if name != "risk"])
def test_alpha_alone_is_chosen_along_the_path(rng, criterion, weighted):
    X, y = wavy(rng)
    Y = np.column_stack([y, 0.5 * y[::-1]])
    w = np.where(np.arange(40) % 9 == 4, 0.0, rng.uniform(0.5, 2.0, 40)) if weighted else None
    options = {"sigma": 0.2} if criterion in ABOUT_NOISE else {}
    used = np.ones(40, bool) if w is None else w > 0
    path = ks.RegularizationPath(
        RBF(1.0), Y[used], X=X[used], sigma=0.2, sample_weight=None if w is None else w[used], trend="constant"
    )
    for kernel, points in ((RBF(1.0, "fixed"), X), ("rbf", X), ("precomputed", RBF(1.0)(X))):
        gamma = {"gamma": 0.5} if kernel == "rbf" else {}
        options |= {"fit_intercept": True, "alpha": "auto", "criterion": criterion}
        model = ks.KernelRidge(kernel, **gamma, **options).fit(points, Y, w)
        assert model.alpha_ == pytest.approx(path.best(with_free_scale(criterion)), rel=1e-3)
        assert not hasattr(model, "selection_")
        if criterion == "discrepancy":
            residual = np.sqrt(1.0 if w is None else w)[..., None] * (Y - model.predict(points))
            assert np.linalg.norm(residual) == pytest.approx(0.2 * np.sqrt(2 * used.sum()), rel=1e-8)
            assert model.criterion_value_ == pytest.approx(np.linalg.norm(residual), rel=1e-8)
        if criterion in CRITERIA and not weighted:
            noise = model.alpha_
            v = ks.evaluate(with_free_scale(criterion), RBF(1.0), X, Y, noise=noise, trend="constant", sample_weight=w).value
            assert model.criterion_value_ == pytest.approx(v, rel=1e-6)
            assert model.path_.alphas.shape == (200,)


def test_the_risk_is_the_same_number_whether_the_kernel_is_known_or_not(rng):
    X, y = wavy(rng)
    options = {"alpha": "auto", "criterion": "risk", "sigma": 0.2, "fit_intercept": False}
    known, free = (ks.KernelRidge(kernel, **options).fit(X, y) for kernel in (RBF(1.0, "fixed"), RBF("auto")))
    for model in (known, free):
        value = ks.evaluate("risk", model.kernel_, X, y, noise=model.alpha_, sigma=0.2).value
        assert model.criterion_value_ == pytest.approx(value, rel=1e-8)
    assert free.criterion_value_ <= known.criterion_value_
    path = ks.RegularizationPath(RBF(1.0), y, X=X, sigma=0.2)
    assert known.alpha_ == pytest.approx(path.best("risk"), rel=1e-3)
    assert known.criterion_value_ == pytest.approx(40 * path.at(known.alpha_).risk[0], rel=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [None, 5])
def test_errors_of_points_left_out_by_refits(rng, groups, weighted):
    X, y = wavy(rng, 30)
    w = np.where(np.arange(30) % 9 == 4, 0.0, rng.uniform(0.5, 2.0, 30)) if weighted else np.ones(30)
    labels = np.arange(30) if groups is None else rng.integers(0, 5, 30)
    criterion = LeaveOneOut() if groups is None else GroupsOut(labels)
    model = ks.KernelRidge(RBF("auto"), alpha="auto", criterion=criterion, fit_intercept=True)
    model.fit(X, y, w if weighted else None)
    squares = np.zeros(30)
    for label in np.unique(labels):
        out = labels == label
        again = ks.KernelRidge(model.kernel_, alpha=model.alpha_, fit_intercept=True).fit(X[~out], y[~out], w[~out])
        squares[out] = (y[out] - again.predict(X[out])) ** 2
    assert model.criterion_value_ == pytest.approx(np.sum(w * squares) / w.sum(), rel=1e-6)


def test_with_a_number_for_alpha_the_kernel_is_chosen(rng):
    X, y = wavy(rng)
    model = ks.KernelRidge(RBF("auto"), alpha=0.05, criterion="loo").fit(X, y)
    assert model.alpha_ == pytest.approx(0.05, rel=1e-9)
    length = float(np.ravel(model.kernel_.length_scale)[0])
    values = [ks.evaluate("loo", RBF(length * f), X, y, noise=0.05).value for f in (0.97, 1.0, 1.03)]
    assert values[1] == min(values)
    assert values[1] == pytest.approx(model.criterion_value_, rel=1e-9)
    n = ks.KernelRidge(RBF("auto"), alpha=0.05 / 40, alpha_scale="n", criterion="loo").fit(X, y)
    assert n.predict(X) == pytest.approx(model.predict(X), rel=1e-9)
    together = ks.KernelRidge(RBF("auto"), alpha="auto").fit(X, np.column_stack([y, y, y]))
    assert together.predict(X)[:, 2] == pytest.approx(ks.KernelRidge(RBF("auto"), alpha="auto").fit(X, y).predict(X), abs=1e-5)


@pytest.mark.parametrize(
    "kernel", [ConstantKernel("auto") * RBF("auto"), ConstantKernel(1.0, (0.5, 2.0)) * RBF("auto"), "auto"]
)
@pytest.mark.parametrize("criterion", ["loo", "gcv", "kfold", "lml"])
def test_bounds_of_the_amplitude_do_not_change_the_model(rng, kernel, criterion):
    X = rng.uniform(0, 4, (60, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(60)
    kernel = ConstantKernel("auto") * RBF("auto") if isinstance(kernel, str) else kernel
    gp = ks.GaussianProcessRegressor(kernel, criterion=criterion, noise="auto", trend="constant").fit(X, y)
    krr = ks.KernelRidge(kernel, alpha="auto", criterion=criterion, fit_intercept=True).fit(X, y)
    for model, noise in ((gp, gp.noise_ + gp.jitter_), (krr, krr.alpha_)):
        found = ks.evaluate(criterion, model.kernel_, X, y, noise=noise, trend="constant").value
        if criterion != "lml":  # of which the scale is a part
            assert found == pytest.approx(model.criterion_value_, rel=1e-4)
    assert krr.predict(X) == pytest.approx(gp.predict(X), abs=1e-2)


def bell(X, Z, width=1.0):
    return np.exp(-0.5 * (X - Z.T) ** 2 / width**2)


@pytest.mark.parametrize(
    "kernel",
    [
        FunctionKernel(bell),
        ConstantKernel("auto") * FunctionKernel(bell),
        FunctionKernel(bell, {"width": Parameter(0.7)}),
        Warp(RBF("auto"), lambda X: 1 + X[:, 0]),
    ],
)
def test_likelihoods_of_functions(rng, kernel):
    X, y = wavy(rng)
    model = ks.KernelRidge(kernel, alpha="auto", criterion="lml", fit_intercept=False).fit(X, y)
    value = ks.evaluate("profiled_lml", model.kernel_, X, y, noise=model.alpha_).value
    assert model.criterion_value_ == pytest.approx(value, rel=1e-8)
    theta = model.kernel_.theta
    for k in range(len(theta)):
        for step in (-0.05, 0.05):
            other = model.kernel_.clone_with_theta(theta + step * (np.arange(len(theta)) == k))
            assert ks.evaluate("profiled_lml", other, X, y, noise=model.alpha_).value <= value + 1e-6
    if "width" in str(kernel):
        known = ks.KernelRidge(RBF(1.0, (1e-2, 1e2)), alpha="auto", criterion="lml", fit_intercept=False).fit(X, y)
        assert model.criterion_value_ == pytest.approx(known.criterion_value_, abs=1e-4)


@pytest.mark.parametrize("kernel", [RBF("auto"), RBF(1.0, "fixed"), "rbf", "precomputed"])
@pytest.mark.parametrize("estimator", [ks.KernelRidge(alpha="auto"), ks.KernelRidgeCV()])
def test_alpha_for_single_precision(kernel, estimator):
    # Without noise, the best alpha in double precision is far below what single precision can tell from zero.
    X = np.linspace(0, 6, 60).reshape(-1, 1)
    y = np.sin(X[:, 0])
    X = RBF(1.0)(X) if kernel == "precomputed" else X
    X, y = X.astype(np.float32), y.astype(np.float32)
    model = clone(estimator).set_params(kernel=kernel).fit(X, y)
    assert model.dual_coef_.dtype == model.predict(X).dtype == np.float32
    assert model.predict(X) == pytest.approx(y, abs=1e-3)
    assert model.alpha_ >= 0.9 * 60 * np.finfo(np.float32).eps


@pytest.mark.parametrize("y", [np.zeros(20), np.full(20, 3.0)])
@pytest.mark.parametrize("kernel", [RBF("auto"), "rbf"])
def test_nothing_to_choose_by(y, kernel):
    X = np.linspace(0, 6, 20).reshape(-1, 1)
    model = ks.KernelRidge(kernel, alpha="auto", fit_intercept=True).fit(X, y)
    assert model.predict([[2.5], [100.0]]) == pytest.approx([y[0], y[0]], abs=1e-9)


def test_a_fit_forgets_the_one_before(rng):
    X, y = wavy(rng)
    model = ks.KernelRidge("rbf", alpha="auto").fit(X, y)
    assert {"path_", "criterion_value_"} <= vars(model).keys()
    model.set_params(kernel=RBF("auto")).fit(X, y)
    assert {"selection_", "criterion_value_"} <= vars(model).keys()
    assert "path_" not in vars(model)
    model.set_params(alpha=0.1).fit(X, y)
    assert not {"selection_", "path_", "criterion_value_"} & vars(model).keys()


def test_what_scikit_learn_does_with_a_choice(rng):
    X, y = wavy(rng)
    frame = pd.DataFrame({"time": X[:, 0], "other": rng.uniform(size=40)})
    kernel = RBF("auto").on(["time"])
    model = TransformedTargetRegressor(ks.KernelRidge(kernel, alpha="auto", fit_intercept=True), transformer=StandardScaler())
    plain = ks.KernelRidge(RBF("auto"), alpha="auto", fit_intercept=True).fit(X, y)
    assert model.fit(frame, y).predict(frame) == pytest.approx(plain.predict(X), rel=1e-4)
    again = pickle.loads(pickle.dumps(plain))
    assert np.array_equal(again.predict(X), plain.predict(X))
    assert clone(plain).alpha == "auto"
    grid = {"kernel__length_scale": [0.3, 1.0, "auto"], "alpha": [1e-2, "auto"], "criterion": [None]}
    search = GridSearchCV(ks.KernelRidge(RBF("auto")), grid, cv=KFold(4, shuffle=True, random_state=0), n_jobs=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    alone = ks.KernelRidge(RBF(0.3), alpha="auto"), ks.KernelRidge(RBF(1.0), alpha="auto")
    for i, one in zip((3, 4), alone, strict=True):
        expected = cross_val_score(one, X, y, cv=KFold(4, shuffle=True, random_state=0)).mean()
        assert search.cv_results_["mean_test_score"][i] == pytest.approx(expected)
    weights = rng.uniform(0.1, 2.0, 40)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            ks.KernelRidge(alpha="auto").set_fit_request(sample_weight=True),
        )
        routed.fit(X, y, sample_weight=weights)
    expected = ks.KernelRidge(alpha="auto").fit(StandardScaler().fit_transform(X), y, weights)
    assert routed[-1].alpha_ == expected.alpha_ != ks.KernelRidge(alpha="auto").fit(X, y).alpha_


def test_random_state(rng):
    X, y = wavy(rng)
    models = [ks.KernelRidge(alpha="auto", random_state=state).fit(X, y) for state in (None, None, 3, np.random.RandomState(3))]
    assert models[0].alpha_ == models[1].alpha_
    assert models[2].alpha_ == pytest.approx(models[0].alpha_, rel=1e-2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criterion": "looo"}, "criterion: expected one of lml, .*quasi-optimality, got 'looo'"),
        ({"criterion": 5}, "criterion: expected one of .* a Criterion or a function, got 5"),
        ({"criterion": LeaveOneOut}, "criterion: expected one of .*got <class"),
        ({"criterion": LeaveOneOut("cubed")}, "loss: expected"),
        ({"criterion": UnbiasedRisk()}, "sigma: the unbiased risk needs"),
        ({"criterion": "risk"}, 'sigma: the criterion "risk" needs the standard deviation of the noise, got None'),
        ({"criterion": "discrepancy"}, 'sigma: the criterion "discrepancy" needs'),
        ({"sigma": 0.0}, "sigma: expected a positive number or None, got 0.0"),
        ({"sigma": "a"}, "sigma: expected a positive number or None, got 'a'"),
        ({"sigma": np.nan}, "sigma: expected a positive number"),
        ({"criterion": "lcurve", "alpha": 1.0}, "alpha: expected \"auto\", since the criterion 'lcurve' chooses nothing else"),
        ({"alpha": [1.0, 2.0, 3.0], "criterion": "loo"}, 'alpha: expected one number or "auto"'),
        ({"alpha": "Auto"}, "alpha: expected a number, one for each target, or \"auto\", got 'Auto'"),
        ({"alpha": ["a"]}, "alpha: expected a number"),
        ({"alpha": 1j}, "alpha: expected a number"),
        ({"alpha": True}, "alpha: expected a number"),
        ({"alpha": []}, "alpha: expected one number or 3"),
        ({"max_evaluations": 0}, "max_evaluations: expected a whole number from 1 on, got 0"),
        ({"max_evaluations": 1.5}, "max_evaluations: expected a whole number"),
        ({"random_state": "x"}, "random_state: expected a whole number that is not negative, a RandomState or None, got 'x'"),
        ({"fit_intercept": 1}, "fit_intercept: expected True, False or None, got 1"),
        ({"kernel": lambda x, z: "a"}, "kernel: expected a function that returns a number for two points, got 'a'"),
        ({"kernel": lambda x, z: x}, "kernel: expected a function that returns a number for two points"),
        ({"kernel": lambda x, z: 1.0, "kernel_params": 3}, "kernel_params: expected a dict or None, got 3"),
        ({"kernel": "rbf", "gamma": -1.0}, "gamma: expected a positive number or None, got -1.0"),
        ({"kernel": "rbf", "gamma": "scale"}, "gamma: expected a positive number or None, got 'scale'"),
        ({"kernel": "poly", "degree": -1}, "degree: expected a number from 0 on, got -1"),
        ({"kernel": "poly", "coef0": None}, "coef0: expected a finite number, got None"),
    ],
)
def test_bad_choices(data, change, message):
    X, Y, _ = data
    with pytest.raises((ValueError, TypeError), match=message):
        ks.KernelRidge(**({"alpha": "auto"} | change)).fit(X, Y)


def test_alpha_of_any_array(data):
    X, Y, Z = data
    expected = ks.KernelRidge(alpha=[0.1, 0.2, 0.3]).fit(X, Y).predict(Z)
    for alphas in (pd.Series([0.1, 0.2, 0.3]), (0.1, 0.2, 0.3), np.array([0.1, 0.2, 0.3])):
        assert np.array_equal(ks.KernelRidge(alpha=alphas).fit(X, Y).predict(Z), expected)
    assert ks.KernelRidge(alpha=np.int64(2)).fit(X, Y).alpha_ == 2.0


@pytest.mark.parametrize("estimator", [ks.KernelRidge(alpha="auto"), ks.KernelRidge(), ks.KernelRidgeCV()])
def test_bad_data(data, estimator):
    X, Y, _ = data
    y = Y[:, 0]
    for points, targets, weights, message in (
        (np.where(X > 0.9, np.nan, X), y, None, "NaN"),
        (X, np.where(y > 0.9, np.inf, y), None, "infinity"),
        (X[:0], y[:0], None, "0 sample"),
        (X[:, 0], y, None, "1D array"),
        (X, y[:9], None, "inconsistent"),
        (X, y, -np.ones(170), "sample_weight: expected weights that are not negative"),
        (X, y, np.zeros(170), "(?i)sample.weight.*zero"),
        (X, y, np.ones(9), "sample_weight.shape"),
        (X, y, np.full(170, np.nan), "sample_weight contains NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(estimator).fit(points, targets, sample_weight=weights)


def test_criteria_as_objects_are_those_by_name(rng):
    X, y = wavy(rng)
    for name, criterion in (("reml", Likelihood(restricted=True)), ("risk", UnbiasedRisk(0.2)), ("kfold", GroupsOut())):
        options = {"sigma": 0.2} if name == "risk" else {}
        one = ks.KernelRidge(alpha="auto", criterion=name, **options).fit(X, y)
        assert one.alpha_ == ks.KernelRidge(alpha="auto", criterion=criterion).fit(X, y).alpha_
    # A function is a loss of leave-one-out residuals.
    squared = ks.KernelRidge(alpha="auto", criterion=lambda r, v: (r**2, 2 * r, 0 * v)).fit(X, y)
    by_name = ks.KernelRidge(alpha="auto", criterion="loo").fit(X, y)
    assert squared.criterion_value_ == pytest.approx(by_name.criterion_value_, rel=1e-5)


@pytest.mark.parametrize(("kernel", "same"), [("auto", RBF("auto")), ("RBF", RBF("auto"))])
def test_text_leaves_alpha_open(data, kernel, same):
    X, Y, Z = data
    model = ks.KernelRidge(kernel)
    assert model.get_params()["alpha"] is None
    assert model.chooses_alpha
    chosen = ks.KernelRidge(same, alpha="auto").fit(X, Y)
    assert clone(model).fit(X, Y).alpha_ == chosen.alpha_ != 1
    assert np.array_equal(model.fit(X, Y).predict(Z), chosen.predict(Z))
    assert model.set_params(alpha=0.3).fit(X, Y).alpha_ == 0.3
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("kernel", [None, "rbf", "linear", RBF("auto"), "precomputed"])
def test_all_other_kernels_have_the_alpha_of_scikit_learn(data, kernel):
    X, Y, _ = data
    X = RBF(0.5)(X) if kernel == "precomputed" else X
    model = (ks.KernelRidge() if kernel is None else ks.KernelRidge(kernel)).fit(X, Y)
    assert (model.alpha_, model.intercept_) == (1.0, 0.0)
    if isinstance(kernel, str):
        theirs = kernel_ridge.KernelRidge(kernel=kernel).fit(X, Y)
        assert model.predict(X) == pytest.approx(theirs.predict(X), abs=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "auto"},
        {"kernel": "RBF + Linear"},
        {"kernel": "2.0 * RBF", "alpha_scale": "n"},
        {"alpha": "auto"},
        {"alpha": "auto", "kernel": "rbf"},
        {"alpha": "auto", "kernel": "rbf", "criterion": "lcurve"},
        {"alpha": "auto", "kernel": RBF("auto"), "criterion": "loo"},
        {"alpha": "auto", "kernel": RBF("auto") + RBF("auto"), "criterion": "gcv"},
    ],
)
def test_what_is_chosen_follows_origin_and_unit(rng, options):
    X, y = wavy(rng)
    base = ks.KernelRidge(**options).fit(X, y)
    assert base.intercept_ != 0
    for unit, origin in ((1.0, 1e6), (1e-6, 0.0), (1e6, 1e9), (-1.0, 0.0)):
        moved = ks.KernelRidge(**options).fit(X, unit * y + origin)
        assert (moved.predict(X) - origin) / unit == pytest.approx(base.predict(X), abs=1e-3)
    assert base.score(X, y) > 0.8


@pytest.mark.slow
def test_the_choice_does_not_overfit_many_length_scales():
    """On a table of people, ten length scales by the leave-one-out error were worse than alpha = 1 left as it is."""
    X, y = load_diabetes(return_X_y=True)

    def error(**options):
        folds = KFold(5, shuffle=True, random_state=0)
        return np.sqrt(-cross_val_score(ks.KernelRidge(**options), X, y, cv=folds, scoring="neg_mean_squared_error").mean())

    chosen, as_it_is, by_loo = error(alpha="auto"), error(), error(alpha="auto", criterion="loo")
    assert chosen < 0.98 * as_it_is < by_loo


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, ["alpha", "intercept", "hyperparameters"]),
        ({"kernel": RBF("auto")}, ["alpha", "intercept", "hyperparameters"]),
        ({"kernel": RBF("auto"), "criterion": "reml"}, ["alpha", "intercept"]),
        ({"kernel": "rbf", "fit_intercept": True}, ["alpha"]),
        ({"kernel": RBF("auto"), "alpha": 0.1}, []),
        ({"kernel": RBF("auto"), "alpha": "auto"}, []),
        ({"kernel": "auto"}, []),
    ],
)
def test_what_was_not_looked_for_is_said(how, expected, rng, capsys, tmp_path):
    X, y = rng.uniform(size=(20, 1)), rng.standard_normal(20)
    model = ks.KernelRidge(**how, verbose=1).fit(X, y)
    assert model.not_sought_ == expected
    said = f"KernelRidge: not looked for: {', '.join(expected)} (kernel="
    assert (said in capsys.readouterr().err) == bool(expected)
    assert not hasattr(model, "selection_") or model.selection_.not_sought == expected
    ks.save(model, tmp_path / "model.ksl")
    assert ks.load(tmp_path / "model.ksl").not_sought_ == expected
