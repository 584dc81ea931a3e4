"""Ridge regression on features: least squares of augmented systems, refits, scikit-learn's Ridge and RidgeCV."""

import pickle

import numpy as np
import pandas as pd
import pytest
from pairs import pairwise
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel import RidgeRegression
from kernsel.criteria.names import along_path, with_free_scale
from kernsel.criteria.table import TABLE
from kernsel.features import Fourier, Polynomial, RadialBasis

from conventions import expected_failures

EPS = np.finfo(float).eps


@parametrize_with_checks(
    [
        RidgeRegression(),
        RidgeRegression(alpha=1.0),
        RidgeRegression(alpha=0.0, fit_intercept=False),
        RidgeRegression(alpha=0.1, solver="dual"),
        RidgeRegression(Polynomial(), alpha=0.1),
        RidgeRegression(RadialBasis(10), criterion="gcv"),
        RidgeRegression(Fourier(20, random_state=0), alpha=1e-3),
        RidgeRegression(criterion="reml", alpha_per_target=True),
        RidgeRegression(criterion="risk", sigma=0.5),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


def make(n, p, rng, targets=2, rank=None):
    X = rng.standard_normal((n, p)) + rng.standard_normal(p)
    if rank is not None:
        X = X[:, :rank] @ rng.standard_normal((rank, p)) + 1.0
    return X, rng.standard_normal((n, targets)) + X[:, :targets] + 3.0, rng.uniform(0.3, 3.0, n)


def augmented(X, y, w, alpha, intercept):
    """Return intercept and coefficients by least squares of the weighted rows and those of the penalty.

    Without a penalty, the intercept is put so far from it that only the coefficients are made small.
    """
    p, root = X.shape[1], np.sqrt(w)[:, None]
    if alpha == 0 and intercept:
        mean, center = np.average(X, axis=0, weights=w), np.average(y, axis=0, weights=w)
        theta = np.linalg.lstsq((X - mean) * root, (y - center) * root, rcond=1e-12)[0]
        return center - mean @ theta, theta
    rows = np.vstack([np.hstack([root * intercept, X * root]), np.hstack([np.zeros((p, 1)), alpha**0.5 * np.eye(p)])])
    found = np.linalg.lstsq(rows, np.vstack([y * root, np.zeros((p, y.shape[1]))]), rcond=1e-12)[0]
    return found[0], found[1:]


def condition(X, w, alpha, intercept):
    centred = X - np.average(X, axis=0, weights=w) if intercept else X
    largest = np.linalg.norm(centred * np.sqrt(w)[:, None], 2) ** 2
    return (largest + alpha) / alpha


SHAPES = [(30, 6), (12, 12), (8, 25)]


@pytest.mark.parametrize(
    ("shape", "alpha", "intercept", "weighted", "solver"),
    pairwise(SHAPES, [1e-3, 0.5, 40.0], [True, False], [True, False], ["primal", "dual", "svd", "auto"]),
)
def test_against_an_augmented_system(shape, alpha, intercept, weighted, solver, rng):
    X, y, w = make(*shape, rng)
    w = w if weighted else np.ones(len(w))
    model = RidgeRegression(alpha=alpha, fit_intercept=intercept, solver=solver).fit(X, y, w if weighted else None)
    b, theta = augmented(X, y, w, alpha, intercept)
    limit = 8 * max(shape) * EPS * condition(X, w, alpha, intercept) * np.abs(theta).max()
    assert model.coef_ == pytest.approx(theta.T, abs=limit)
    assert model.intercept_ == pytest.approx(b if intercept else 0.0, abs=limit * np.abs(X).sum(axis=1).max())
    assert model.predict(X[:3]) == pytest.approx(X[:3] @ theta + b * intercept, abs=2 * limit * np.abs(X).sum(axis=1).max())
    assert model.solver_ == (solver if solver != "auto" else "dual" if shape[1] > shape[0] else "primal")
    assert hasattr(model, "dual_coef_") == (model.solver_ == "dual")
    if model.solver_ == "dual":
        assert X.T @ model.dual_coef_ == pytest.approx(theta, abs=limit * np.abs(X).sum())
        if intercept:
            assert model.dual_coef_.sum(axis=0) == pytest.approx(np.zeros(2), abs=limit * np.abs(X).sum())
    one = RidgeRegression(alpha=alpha, fit_intercept=intercept, solver=solver).fit(X, y[:, 0], w if weighted else None)
    assert one.coef_ == pytest.approx(model.coef_[0], abs=limit)
    assert one.coef_.shape == (shape[1],)
    assert isinstance(one.intercept_, float)
    assert one.loo_residuals_.shape == one.leverage_.shape == (shape[0],)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
def test_all_solvers_find_the_same(shape, intercept, rng):
    X, y, w = make(*shape, rng)
    alpha = 0.05
    fits = [RidgeRegression(alpha=alpha, fit_intercept=intercept, solver=s).fit(X, y, w) for s in ("primal", "dual", "svd")]
    assert [fit.solver_ for fit in fits] == ["primal", "dual", "svd"]
    limit = 8 * max(shape) * EPS * condition(X, w, alpha, intercept)
    for fit in fits[:2]:
        for name in ("coef_", "intercept_", "leverage_", "effective_dof_", "loo_residuals_"):
            expected = getattr(fits[2], name)
            # Residuals are differences, and are divided by what is left of the leverages.
            amplified = 1 / np.min(1 - fits[2].leverage_) if name == "loo_residuals_" else shape[0]
            scale = amplified * max(np.abs(expected).max(), np.abs(y).max())
            assert getattr(fit, name) == pytest.approx(expected, abs=limit * scale), name


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [True, False])
def test_against_ridge_of_scikit_learn(shape, weighted, rng):
    X, y, w = make(*shape, rng, targets=3)
    alphas = [0.1, 7.0, 0.1]
    ours = RidgeRegression(alpha=alphas).fit(X, y, w if weighted else None)
    theirs = Ridge(alpha=alphas, solver="svd").fit(X, y, w if weighted else None)
    limit = 8 * max(shape) * EPS * condition(X, w, 0.1, True) * np.abs(theirs.coef_).max()
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=limit)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=limit * np.abs(X).sum(axis=1).max())
    assert list(ours.alpha_) == alphas
    assert ours.leverage_.shape == (shape[0], 3)
    assert ours.effective_dof_ == pytest.approx(ours.leverage_.sum(axis=0))
    for k, alpha in enumerate(alphas):
        alone = RidgeRegression(alpha=alpha).fit(X, y[:, k], w if weighted else None)
        assert alone.leverage_ == pytest.approx(ours.leverage_[:, k], abs=1e-13)
        assert alone.loo_residuals_ == pytest.approx(ours.loo_residuals_[:, k], rel=1e-9)
        assert isinstance(alone.effective_dof_, float)


@pytest.mark.parametrize(
    ("shape", "rank", "alpha", "intercept", "weighted", "solver"),
    pairwise([(20, 4), (9, 9), (9, 15)], [None, 3], [0.0, 0.3], [True, False], [True, False], ["auto", "primal", "dual"]),
)
def test_leave_one_out_by_refitting(shape, rank, alpha, intercept, weighted, solver, rng):
    X, y, w = make(*shape, rng, rank=rank)
    w = w if weighted else np.ones(len(w))
    model = RidgeRegression(alpha=alpha, fit_intercept=intercept, solver=solver).fit(X, y, w if weighted else None)
    b, theta = augmented(X, y, w, alpha, intercept)
    assert model.coef_ == pytest.approx(theta.T, rel=1e-9, abs=1e-11)
    assert model.solver_ == (
        "svd" if alpha == 0 else solver if solver != "auto" else "primal" if shape[1] <= shape[0] else "dual"
    )
    for i in range(shape[0]):
        rest = np.delete(np.arange(shape[0]), i)
        b, theta = augmented(X[rest], y[rest], w[rest], alpha, intercept)
        assert model.loo_residuals_[i] == pytest.approx(y[i] - X[i] @ theta - b * intercept, rel=1e-7, abs=1e-9)
    # Leverages: how fitted values follow the targets.
    responses = RidgeRegression(alpha=alpha, fit_intercept=intercept).fit(X, np.eye(shape[0]), w).predict(X)
    assert model.leverage_ == pytest.approx(np.diag(responses), abs=1e-10)
    assert model.effective_dof_ == pytest.approx(np.trace(responses))
    if alpha == 0:
        centred = X - np.average(X, axis=0, weights=w) if intercept else X
        assert model.effective_dof_ == pytest.approx(np.linalg.matrix_rank(centred, tol=1e-9) + intercept)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_point_that_nothing_else_explains(intercept, rng):
    X = np.zeros((7, 3))
    X[:6, :2] = rng.standard_normal((6, 2))
    X[6, 2] = 5.0
    y = rng.standard_normal(7)
    model = RidgeRegression(alpha=0.0, fit_intercept=intercept).fit(X, y)
    assert model.leverage_[6] == pytest.approx(1)
    others = RidgeRegression(alpha=0.0, fit_intercept=intercept).fit(X[:6], y[:6])
    assert model.loo_residuals_[6] == pytest.approx(y[6] - others.predict(X[6:])[0])


@pytest.mark.parametrize("features", [None, Polynomial(2), RadialBasis(4), Fourier(6, random_state=0)])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_weights_are_repetitions(features, solver, rng):
    X, y, _ = make(25, 3, rng)
    w = rng.integers(0, 4, 25)
    weighted = RidgeRegression(features, alpha=0.1, solver=solver).fit(X, y, w)
    repeated = RidgeRegression(features, alpha=0.1, solver=solver).fit(np.repeat(X, w, axis=0), np.repeat(y, w, axis=0))
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-8, abs=1e-9)
    assert weighted.predict(X) == pytest.approx(repeated.predict(X), rel=1e-8, abs=1e-9)
    assert weighted.effective_dof_ == pytest.approx(repeated.effective_dof_, rel=1e-9)
    out = w == 0
    assert out.any()
    assert (weighted.leverage_[out] == 0).all()
    assert weighted.loo_residuals_[out] == pytest.approx(y[out] - weighted.predict(X[out]), abs=1e-12)
    if solver == "dual":
        assert (weighted.dual_coef_[out] == 0).all()
    without = RidgeRegression(features, alpha=0.1).fit(X[~out], y[~out], w[~out])
    assert weighted.coef_ == pytest.approx(without.coef_, rel=1e-8, abs=1e-9)
    assert weighted.loo_residuals_[~out] == pytest.approx(without.loo_residuals_, rel=1e-8, abs=1e-9)


def ill_posed(rng, n=40, p=12, noise=1e-3):
    U, V = np.linalg.qr(rng.standard_normal((n, p)))[0], np.linalg.qr(rng.standard_normal((p, p)))[0]
    X = (U * 10.0 ** -np.linspace(0, 5, p)) @ V
    return X, X @ V.T @ np.ones(p) + noise * rng.standard_normal(n)


@pytest.mark.parametrize("rule", along_path())
@pytest.mark.parametrize("weighted", [True, False])
def test_criteria_choose_as_the_path_of_the_kernel_does(rule, weighted, rng):
    X, y = ill_posed(rng)
    w = rng.uniform(0.5, 2.0, 40) if weighted else np.ones(40)
    model = RidgeRegression(criterion=rule, sigma=1e-3).fit(X + 1.0, y, w if weighted else None)
    centred = X - np.average(X, axis=0, weights=w)
    kernel = ks.RegularizationPath(centred @ centred.T, y, trend=np.ones((40, 1)), sample_weight=w, sigma=1e-3)
    assert model.criterion_value_ == pytest.approx(
        getattr(kernel.at(model.alpha_), TABLE[with_free_scale(rule)].curve)[0], rel=1e-3
    )
    near = getattr(kernel.at(model.alpha_ * np.array([0.7, 1.0, 1.4])), TABLE[with_free_scale(rule)].curve)
    if rule == "discrepancy":
        assert near[1] == pytest.approx(40**0.5 * 1e-3, rel=1e-6)
    else:
        sign = -1 if rule == "lcurve" or TABLE[with_free_scale(rule)].curve.endswith("likelihood") else 1
        assert sign * near[1] <= (sign * near).min() + 1e-9 * abs(near[1])
    # Then everything is as for that alpha.
    given = RidgeRegression(alpha=model.alpha_).fit(X + 1.0, y, w if weighted else None)
    for name in ("coef_", "leverage_", "loo_residuals_"):
        assert getattr(given, name) == pytest.approx(getattr(model, name), rel=1e-9), name
    assert not hasattr(given, "path_")
    assert not hasattr(given, "criterion_value_")
    assert model.path_.effective_dof.shape == (200,)


def test_the_score_of_leave_one_out_is_that_of_its_residuals(rng):
    X, y, w = make(30, 6, rng)
    model = RidgeRegression().fit(X, y, w)
    assert model.criterion_value_ == pytest.approx(np.sum(w[:, None] * model.loo_residuals_**2) / w.sum() / 2, rel=1e-9)
    gcv = RidgeRegression(criterion="gcv").fit(X, y[:, 0])
    residuals = y[:, 0] - gcv.predict(X)
    assert gcv.criterion_value_ == pytest.approx(30 * np.sum(residuals**2) / (30 - gcv.effective_dof_) ** 2, rel=1e-9)


def test_against_ridgecv_of_scikit_learn(rng):
    X, y, _ = make(40, 10, rng, targets=1)
    y = y[:, 0] + 2 * rng.standard_normal(40)
    grid = np.geomspace(1e-3, 1e3, 61)
    theirs = RidgeCV(grid, store_cv_results=True).fit(X, y)
    ours = RidgeRegression(alphas=grid).fit(X, y)
    assert ours.path_.loo == pytest.approx(theirs.cv_results_.mean(axis=0), rel=1e-9)
    assert ours.criterion_value_ <= -theirs.best_score_ * (1 + 1e-12)
    assert abs(np.log(ours.alpha_ / theirs.alpha_)) <= np.log(grid[1] / grid[0])
    exact = RidgeCV([ours.alpha_]).fit(X, y)
    assert ours.coef_ == pytest.approx(exact.coef_, rel=1e-8, abs=1e-10)
    assert ours.criterion_value_ == pytest.approx(-exact.best_score_, rel=1e-9)


def test_one_alpha_for_each_target(rng):
    X, y, w = make(40, 8, rng, targets=3)
    y[:, 1] += 5 * rng.standard_normal(40)
    together = RidgeRegression(alpha_per_target=True, criterion="gcv").fit(X, y, w)
    assert together.alpha_.shape == together.criterion_value_.shape == together.effective_dof_.shape == (3,)
    assert len(together.path_) == 3
    for k in range(3):
        alone = RidgeRegression(criterion="gcv").fit(X, y[:, k], w)
        # Beyond 1e9 the criterion is flat to rounding: nothing is left of this target's coefficients.
        assert min(together.alpha_[k], 1e9) == pytest.approx(min(alone.alpha_, 1e9), rel=1e-2)
        assert together.criterion_value_[k] == pytest.approx(alone.criterion_value_, rel=1e-9)
        assert together.coef_[k] == pytest.approx(alone.coef_, rel=1e-2, abs=1e-9)
        assert together.leverage_[:, k] == pytest.approx(alone.leverage_, rel=1e-2)
    assert np.ptp(together.alpha_) > together.alpha_.min()
    shared = RidgeRegression(criterion="gcv").fit(X, y, w)
    assert isinstance(shared.alpha_, float)
    assert shared.leverage_.shape == (40,)


@pytest.mark.parametrize("criterion", ["loo", "lml", "gcv"])
@pytest.mark.parametrize("shape", [(40, 8), (20, 30)])
def test_moving_features_changes_nothing(criterion, shape, rng):
    X, y, _ = make(*shape, rng)
    # The search ends where the criterion is flat: the root of the rounding.
    for alpha, limit in (("auto", 1e-3), (0.5, 1e-8)):
        model = RidgeRegression(alpha=alpha, criterion=criterion).fit(X, y)
        moved = RidgeRegression(alpha=alpha, criterion=criterion).fit(X + 1e4, y - 1e4)
        assert moved.alpha_ == pytest.approx(model.alpha_, rel=limit)
        assert moved.predict(X + 1e4) + 1e4 == pytest.approx(model.predict(X), rel=limit, abs=limit)
        assert moved.loo_residuals_ == pytest.approx(model.loo_residuals_, rel=limit, abs=limit)


def test_small_alphas_are_done_by_singular_values(rng):
    X, y = ill_posed(rng)
    y = y[:, None]
    for alpha in (1e-14, 1e-9):
        model = RidgeRegression(alpha=alpha).fit(X, y)
        theta = augmented(X, y, np.ones(40), alpha, True)[1]
        # The condition number of X is 1e5; of X'X it would be 1e10.
        assert model.solver_ == "svd"
        assert model.coef_ == pytest.approx(theta.T, abs=100 * EPS * 1e5 * np.abs(theta).max())
    twice = np.hstack([X, X])
    for solver, data in (("primal", twice), ("dual", X)):
        assert RidgeRegression(alpha=1e-30, solver=solver, fit_intercept=False).fit(data, y).solver_ == "svd"
    smooth = RidgeRegression(Polynomial(12)).fit(np.linspace(-1, 1, 50).reshape(-1, 1), np.exp(np.linspace(-1, 1, 50)))
    assert smooth.predict([[0.3]]) == pytest.approx(np.exp(0.3), rel=1e-8)


def test_features_of_any_kind(rng):
    table = pd.DataFrame({"size": rng.standard_normal(60), "colour": rng.choice(["red", "green"], 60)})
    y = 2.0 * table["size"] + (table["colour"] == "red") + 0.1 * rng.standard_normal(60)
    dense = OneHotEncoder(sparse_output=False)
    columns = make_column_transformer((StandardScaler(), ["size"]), (dense, ["colour"]))
    model = RidgeRegression(columns).fit(table, y)
    assert model.score(table, y) > 0.98
    assert list(model.feature_names_in_) == ["size", "colour"]
    assert model.n_features_in_ == 2
    assert not hasattr(columns, "transformers_")  # a clone was fitted
    w = rng.integers(0, 2, 60)
    some = RidgeRegression(columns, alpha=1.0).fit(table, y, w)
    again = RidgeRegression(columns, alpha=1.0).fit(table[w == 1], y[w == 1])
    assert some.predict(table) == pytest.approx(again.predict(table), rel=1e-9)
    X = rng.standard_normal((60, 8))
    for features in (PCA(3), SelectKBest(f_regression, k=3), make_pipeline(StandardScaler(), Polynomial())):
        fitted = RidgeRegression(features, alpha=0.1).fit(X, y)
        Phi = clone(features).fit(X, y).transform(X)
        assert fitted.predict(X) == pytest.approx(RidgeRegression(alpha=0.1).fit(Phi, y).predict(Phi), rel=1e-9)
        assert fitted.coef_.shape == (Phi.shape[1],)
    pandas = RidgeRegression(Polynomial().set_output(transform="pandas"), alpha=0.1).fit(table[["size"]], y)
    assert pandas.predict(table[["size"]]) == pytest.approx(
        RidgeRegression(Polynomial(), alpha=0.1).fit(table[["size"]], y).predict(table[["size"]]), rel=1e-12
    )
    with pytest.raises(ValueError, match="feature names"):
        pandas.predict(table[["size"]].rename(columns={"size": "weight"}))


def test_with_the_rest_of_scikit_learn(rng):
    X = rng.uniform(-1, 1, (120, 1))
    y = X[:, 0] ** 3 - X[:, 0] + 0.01 * rng.standard_normal(120)
    search = GridSearchCV(RidgeRegression(Polynomial(), criterion="gcv"), {"features__degree": [1, 2, 3]}, n_jobs=1).fit(X, y)
    assert search.best_params_ == {"features__degree": 3}
    pipe = make_pipeline(StandardScaler(), RidgeRegression(RadialBasis(15))).fit(X, y)
    assert pipe.score(X, y) > 0.98
    model = search.best_estimator_
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert clone(model).get_params()["features__degree"] == 3
    assert "coef_" not in vars(clone(model))


def test_fitting_again_leaves_nothing_behind(rng):
    X, y, _ = make(10, 20, rng)
    model = RidgeRegression(alpha=0.1).fit(X, y)
    assert hasattr(model, "dual_coef_")
    model.set_params(alpha="auto", solver="primal").fit(X, y)
    assert hasattr(model, "path_")
    assert not hasattr(model, "dual_coef_")
    model.set_params(alpha=0.1).fit(X, y)
    assert not hasattr(model, "path_")
    assert not hasattr(model, "criterion_value_")


def test_one_point(rng):
    X, y, _ = make(1, 3, rng)
    model = RidgeRegression(alpha=1.0).fit(X, y)
    assert model.predict(X) == pytest.approx(y)
    for solver in ("primal", "dual"):
        assert np.isnan(RidgeRegression(alpha=1.0, solver=solver).fit(X, y).loo_residuals_).all()
    assert np.isnan(RidgeRegression(alpha=0.0).fit(X, y).loo_residuals_).all()
    with pytest.raises(ValueError, match='"auto" needs at least two points of positive weight, got n_samples = 1'):
        RidgeRegression().fit(X, y)
    with pytest.raises(ValueError, match='"auto" needs at least two points'):
        RidgeRegression().fit(np.vstack([X, X]), np.vstack([y, y]), [1.0, 0.0])


def test_sparse_input_is_refused(rng):
    X, y, _ = make(10, 3, rng)
    for features in (None, Polynomial()):
        model = RidgeRegression(features, alpha=1.0)
        with pytest.raises(
            TypeError, match=r"X: sparse matrices are not supported, got one of shape \(10, 3\); use its toarray"
        ):
            model.fit(sparse.csr_array(X), y)
        with pytest.raises(TypeError, match="X: sparse matrices are not supported"):
            model.fit(X, y).predict(sparse.csr_array(X))
    with pytest.raises(TypeError, match=r"features: expected a transformer with dense output.*sparse_output=False"):
        RidgeRegression(OneHotEncoder(), alpha=1.0).fit(X.round(), y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": -1.0}, "alpha: expected finite numbers that are not negative, got -1.0"),
        ({"alpha": np.nan}, "alpha: expected finite numbers"),
        ({"alpha": "much"}, "alpha: expected a number, one for each target, or \"auto\", got 'much'"),
        ({"alpha": None}, "alpha: expected a number"),
        ({"alpha": [1.0, 2.0, 3.0]}, "alpha: expected one number or 2, one for each target"),
        ({"criterion": "aic"}, "criterion: expected one of lml, .*gcv.*got 'aic'"),
        ({"alphas": [0.0, 1.0]}, "alphas: expected positive, finite numbers"),
        ({"solver": "cholesky"}, 'solver: expected "auto", "primal", "dual" or "svd", got \'cholesky\''),
        ({"criterion": "risk"}, 'sigma: the criterion "risk" needs the standard deviation of the noise'),
        ({"criterion": "discrepancy"}, 'sigma: the criterion "discrepancy" needs'),
        ({"sigma": 0.0}, "sigma: expected a positive number or None, got 0.0"),
        ({"fit_intercept": 1}, "fit_intercept: expected True or False, got 1"),
        ({"alpha_per_target": None}, "alpha_per_target: expected True or False, got None"),
        ({"features": "polynomial"}, "features: expected a transformer or None, got 'polynomial'"),
    ],
)
def test_bad_parameters(change, message, rng):
    X, y, _ = make(10, 3, rng)
    with pytest.raises((ValueError, TypeError), match=message):
        RidgeRegression(**change).fit(X, y)


@pytest.mark.parametrize("features", [None, Polynomial()])
def test_bad_data(features, rng):
    X, y, w = make(10, 3, rng)
    model = RidgeRegression(features, alpha=1.0)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(y > 1, np.nan, y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:5])
    with pytest.raises(ValueError, match="not negative"):
        model.fit(X, y, -w)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.fit(X, y).predict(X[:, :2])


def test_folds_are_groups(rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    labels = np.arange(30) % 5
    model = RidgeRegression().fit(X, y, groups=labels)
    errors = np.concatenate(
        [
            y[labels == k] - RidgeRegression(alpha=model.alpha_).fit(X[labels != k], y[labels != k]).predict(X[labels == k])
            for k in range(5)
        ]
    )
    assert model.criterion_value_ == pytest.approx(np.mean(errors**2), rel=1e-9)
    with pytest.raises(ValueError, match=r'criterion: expected "loo" for folds as well, with the label .* fit\(..., groups=\)'):
        RidgeRegression(criterion="kfold").fit(X, y)
