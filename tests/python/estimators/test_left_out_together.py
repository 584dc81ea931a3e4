"""Equal rows and groups: the same meaning in every estimator that chooses by points left out."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_val_predict

import kernsel as ks
from kernsel._data.training import training_set
from kernsel.criteria import GroupsOut
from kernsel.kernels import RBF, ConstantKernel, Matern, WhiteKernel

ALPHAS = np.geomspace(1e-4, 10, 12)


@pytest.fixture
def data(rng):
    X = rng.uniform(-1, 1, (36, 2))
    groups = rng.permutation(36) % 6
    X[20:24] = X[:4]
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(36)
    return X, y, np.array(list("uvwxyz"))[groups]


def together(X, groups, told):
    return groups if told else np.unique(X, axis=0, return_inverse=True)[1].ravel()


def error(model, X, y, labels):
    """Return the mean squared error of all groups, each predicted by a model that is fitted without it."""
    return np.mean((y - cross_val_predict(model, X, y, groups=labels, cv=LeaveOneGroupOut())) ** 2)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_alpha_by_refits(data, told, intercept):
    X, y, groups = data
    labels = together(X, groups, told)
    how = {"groups": groups} if told else {}
    errors = [error(ks.KernelRidge(RBF(0.5), alpha=alpha, fit_intercept=intercept), X, y, labels) for alpha in ALPHAS]
    along = ks.KernelRidgeCV(RBF(0.5), alphas=ALPHAS, fit_intercept=intercept).fit(X, y, **how)
    assert along.path_.loo == pytest.approx(errors, rel=1e-8)
    assert along.alpha_ == ALPHAS[np.argmin(errors)]
    assert along.criterion_value_ == pytest.approx(min(errors), rel=1e-8)
    residuals = along.left_out(y=y)
    assert np.mean((y - residuals.predictions) ** 2) == pytest.approx(min(errors), rel=1e-6)
    assert np.array_equal(residuals.groups[:, None] == residuals.groups, labels[:, None] == labels)
    for kernel in (RBF(0.5, "fixed"), Matern(0.5, nu=1.5)):  # along a path, and by a search
        ridge = ks.KernelRidge(kernel, alpha="auto", fit_intercept=intercept, criterion="loo").fit(X, y, **how)
        assert isinstance(kernel, Matern) or ridge.criterion_value_ <= min(errors) * (1 + 1e-6)
        again = ks.KernelRidge(ridge.kernel_, alpha=ridge.alpha_, fit_intercept=intercept)
        rounding = 1e-14 / ridge.alpha_  # the condition of the kernel matrix
        assert ridge.criterion_value_ == pytest.approx(error(again, X, y, labels), rel=1e-9 + rounding)
    matrix = ks.KernelRidge("precomputed", alpha="auto", fit_intercept=intercept).fit(RBF(0.5)(X), y, **how)
    fixed = ks.KernelRidge(RBF(0.5, "fixed"), alpha="auto", fit_intercept=intercept).fit(X, y, **how)
    assert matrix.alpha_ == pytest.approx(fixed.alpha_, rel=1e-3)


@pytest.mark.parametrize("alpha", ["auto", 0.1, 0.0])
@pytest.mark.parametrize("solver", ["primal", "dual", "svd"])
@pytest.mark.parametrize("told", [False, True])
def test_ridge_regression_by_refits(data, told, solver, alpha):
    X, y, groups = data
    labels = together(X, groups, told)
    X = np.hstack([X, X**2, np.sin(4 * X)])
    model = ks.RidgeRegression(alpha=alpha, solver=solver).fit(X, y, groups=groups if told else None)
    again = ks.RidgeRegression(alpha=model.alpha_)
    left_out = y - cross_val_predict(again, X, y, groups=labels, cv=LeaveOneGroupOut())
    assert model.loo_residuals_ == pytest.approx(left_out, rel=1e-6, abs=1e-6)
    assert np.array_equal(model.left_out_together_[:, None] == model.left_out_together_, labels[:, None] == labels)
    assert model.left_out(y=y).predictions == pytest.approx(y - left_out, rel=1e-6, abs=1e-6)
    if alpha == "auto":
        assert model.criterion_value_ == pytest.approx(np.mean(left_out**2), rel=1e-6)
        for other in (0.9, 1.1):
            assert error(again.set_params(alpha=other * model.alpha_), X, y, labels) >= model.criterion_value_


@pytest.mark.parametrize("told", [False, True])
def test_a_process_by_refits(data, told, tmp_path):
    X, y, groups = data
    labels = together(X, groups, told)
    how = {"groups": groups} if told else {}
    gp = ks.GaussianProcessRegressor(RBF("auto"), criterion="loo", noise="auto", trend="constant").fit(X, y, **how)
    again = ks.GaussianProcessRegressor(gp.kernel_, noise=gp.noise_, optimizer=None, trend="constant", criterion="loo")
    left_out = y - cross_val_predict(again, X, y, groups=labels, cv=LeaveOneGroupOut())
    assert gp.loo_residuals_ == pytest.approx(left_out, rel=1e-6, abs=1e-6)
    assert gp.criterion_value_ == pytest.approx(np.mean(left_out**2), rel=1e-6)
    assert again.fit(X, y, **how).criterion_value_ == pytest.approx(np.mean(left_out**2), rel=1e-6)
    assert np.array_equal(gp.left_out_together_[:, None] == gp.left_out_together_, labels[:, None] == labels)
    assert np.array_equal(gp.left_out().groups, gp.left_out_together_)
    ks.save(gp, tmp_path / "gp.ksl")
    loaded = ks.load(tmp_path / "gp.ksl")
    assert loaded.loo_residuals_ == pytest.approx(gp.loo_residuals_, rel=1e-9)
    assert loaded.selection_.remarks == gp.selection_.remarks
    assert np.array_equal(loaded.left_out_together_, gp.left_out_together_)
    path = gp.regularization_path()
    assert path.path.at(path.alpha).loo[0] == pytest.approx(np.mean(left_out**2), rel=1e-6)


def test_points_that_are_added_and_removed_keep_the_groups(data):
    X, y, groups = data
    gp = ks.GaussianProcessRegressor(RBF(0.5), optimizer=None, noise=0.1).fit(X[:30], y[:30], groups=groups[:30])
    gp.update(X[30:], y[30:]).downdate(3)
    labels = np.delete(np.append(groups[:30], list("012345")), 3)
    assert np.array_equal(gp.left_out_together_[:, None] == gp.left_out_together_, labels[:, None] == labels)
    fresh = ks.GaussianProcessRegressor(RBF(0.5), optimizer=None, noise=0.1)
    fresh.fit(np.delete(X, 3, axis=0), np.delete(y, 3), groups=labels)
    assert gp.loo_residuals_ == pytest.approx(fresh.loo_residuals_, rel=1e-8)


def test_folds_are_the_same_in_every_estimator(data):
    X, y, groups = data
    for folds, how in ((4, {}), (4, {"groups": groups}), (GroupKFold(3), {"groups": groups})):
        criterion = GroupsOut(folds)
        cv = ks.KernelRidgeCV(RBF(0.5), alphas=[0.1], criterion=criterion).fit(X, y, **how).criterion_value_
        gp = ks.GaussianProcessRegressor(RBF(0.5), optimizer=None, noise=0.1, criterion=criterion).fit(X, y, **how)
        assert gp.criterion_value_ == pytest.approx(cv, rel=1e-6)  # there is a jitter
        assert ks.evaluate("kfold", RBF(0.5), X, y, noise=0.1, folds=folds, **how).value == pytest.approx(cv, rel=1e-9)
        C = 1e6  # then a support vector regression without a tube, and the noise in its kernel, is ridge regression
        white = RBF(0.5) + ks.kernels.WhiteKernel(0.1)
        svr = ks.SVRPath(X, y, white, Cs=[C], epsilons=[0.0], tol=1e-9, fit_intercept=False)
        assert svr.scores("kfold", folds=folds, scoring="squared", **how).item() == pytest.approx(cv, rel=1e-3)


def test_groups_on_disk(data, tmp_path):
    X, y, groups = data
    model = ks.KernelRidgeCV(RBF(0.5), alphas=ALPHAS).fit(X, y, groups=groups)
    ridge = ks.RidgeRegression().fit(X, y, groups=groups)
    for one in (model, ridge):
        ks.save(one, tmp_path / "one.ksl")
        loaded = ks.load(tmp_path / "one.ksl")
        assert np.array_equal(loaded.left_out_together_, one.left_out_together_)
        if one is model:
            assert loaded.path_.loo == pytest.approx(model.path_.loo, rel=1e-9)
        else:
            assert np.array_equal(loaded.left_out(y=y).groups, ridge.left_out_together_)


def test_what_is_refused(data):
    X, y, groups = data
    for model in (
        ks.KernelRidge(RBF(0.5), alpha="auto", criterion="gcv"),
        ks.KernelRidgeCV(RBF(0.5), criterion="gcv"),
        ks.RidgeRegression(criterion="gcv"),
        ks.GaussianProcessRegressor(RBF(0.5), criterion="gcv", noise="auto"),
    ):
        with pytest.raises(ValueError, match=r"groups: .* cannot leave them out"):
            model.fit(X, y, groups=groups)
        assert model.fit(X, y) is model
    for model in (ks.KernelRidge(), ks.RidgeRegression(), ks.GaussianProcessRegressor(), ks.SVR()):
        with pytest.raises(ValueError, match="groups: expected one label for each of 36 points"):
            model.fit(X, y, groups=groups[:5])
        with pytest.raises(ValueError, match="groups: expected two at least"):
            model.fit(X, y, groups=["a"] * 36)


def test_scikit_learn_hands_groups_to_splitters_unless_asked(data):
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        for estimator, grid in ((ks.KernelRidge(), {"alpha": [0.1, 1.0]}), (ks.SVR(), {"C": [1.0]})):
            GridSearchCV(estimator, grid, cv=GroupKFold(3)).fit(X, y, groups=groups)
        asked = ks.KernelRidge(RBF("auto"), alpha="auto").set_fit_request(groups=True)
        search = GridSearchCV(asked, {"fit_intercept": [True]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
        alone = ks.KernelRidge(RBF("auto"), alpha="auto", fit_intercept=True).fit(X, y, groups=groups)
        assert search.best_estimator_.alpha_ == alone.alpha_


def test_copies_once(data):
    X, y, _ = data
    y[20:24] = y[:4]
    once = training_set(ks.KernelRidge(), RBF(1.0), X, y, np.arange(36.0)).with_copies_once()
    expected = np.arange(36.0)  # the first one has no weight, so that its copy is no copy
    expected[[1, 2, 3, 21, 22, 23]] = [22, 24, 26, 0, 0, 0]
    assert once.weights.tolist() == expected.tolist()
    y[:4] += 0.1  # then they are measurements that were repeated
    given = training_set(ks.KernelRidge(), RBF(1.0), X, y)
    assert given.with_copies_once() is given


@pytest.mark.parametrize(
    "estimator", [ks.KernelRidge(RBF(0.5), alpha="auto"), ks.KernelRidgeCV(RBF(0.5)), ks.RidgeRegression()]
)
def test_copies_are_one_point_of_their_weight_to_gcv(data, estimator):
    X, y, _ = data
    X[20:24] += 0.01
    estimator = estimator.set_params(criterion="gcv")
    copied = clone(estimator).fit(np.vstack([X, X[:9]]), np.append(y, y[:9]))
    weighted = clone(estimator).fit(X, y, np.where(np.arange(36) < 9, 2.0, 1.0))
    assert copied.criterion_value_ == pytest.approx(weighted.criterion_value_, rel=1e-6)
    assert copied.predict(X) == pytest.approx(weighted.predict(X), rel=1e-3, abs=1e-3)


ATTRIBUTES = ("X_train_", "y_train_", "alpha_", "loo_residuals_", "loo_std_", "noise_", "jitter_", "outliers_", "beta_")


@pytest.mark.parametrize("criterion", ["lml", "reml", "evidence", "loo", "gcv", "kfold_log_density"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"kernel": RBF("auto"), "noise": "auto", "alpha": np.geomspace(1e-3, 1e-2, 60), "normalize_y": True},
        {"kernel": ConstantKernel("auto") * RBF("auto") + WhiteKernel("auto")},
    ],
)
def test_a_process_learns_from_copies_once(criterion, how, rng, tmp_path):
    X = rng.uniform(0, 6, (60, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(60)
    y[7] = 9.0
    groups = np.arange(60) // 6 if criterion == "kfold_log_density" else None
    once = ks.GaussianProcessRegressor(criterion=criterion).set_params(**how).fit(X, y, groups)
    for rows in (np.tile(np.arange(60), 2), np.append([7, 7], np.arange(60))):
        copied = ks.GaussianProcessRegressor(criterion=criterion).set_params(**how)
        if "alpha" in how:
            copied.set_params(alpha=how["alpha"][rows])
        copied.fit(X[rows], y[rows], None if groups is None else groups[rows])
        kept = copied.selection_.rows
        order = rows[kept]
        if rows[0] == 0:
            assert copied.kernel_ == once.kernel_
            assert all(np.array_equal(getattr(copied, name), getattr(once, name)) for name in ATTRIBUTES)
            assert copied.criterion_value_ == once.criterion_value_
        assert np.array_equal(copied.X_train_, X[order])
        assert copied.predict(X) == pytest.approx(once.predict(X), abs=1e-2)
        assert copied.selection_.remarks == [f"{len(rows) - 60} rows are copies of others: each is learnt from once."]
        assert str(copied.selection_).count("learnt from once") == 1
        assert np.array_equal(order[copied.outliers_], once.outliers_)
        if len(once.outliers_):
            assert np.array_equal(rows[copied.selection_.far.rows], once.selection_.far.rows)
        ks.save(copied, tmp_path / "model.safetensors")
        loaded = ks.load(tmp_path / "model.safetensors")
        assert np.array_equal(loaded.selection_.rows, kept)
        assert loaded.left_out(X[rows], y[rows]).predictions == pytest.approx(copied.left_out().predictions)


def test_rows_that_are_known_to_be_outliers_may_be_copies(rng):
    X = rng.uniform(0, 6, (40, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(40)
    gp = ks.GaussianProcessRegressor(outliers=[3, 41]).fit(np.vstack([X, X[:2]]), np.append(y, y[:2]))
    assert gp.outliers_.tolist() == [1, 3]
    given = ks.GaussianProcessRegressor(RBF("auto"), noise=0.1).fit(np.vstack([X, X[:2]]), np.append(y, y[:2]))
    assert len(given.X_train_) == 42  # the noise is known, and the model is that of scikit-learn
    assert ks.GaussianProcessRegressor(optimizer=None).fit(np.vstack([X, X[:2]]), np.append(y, y[:2])).alpha_.shape == (42,)


@pytest.mark.parametrize("criterion", ["reml", "evidence", "profiled_lml"])
@pytest.mark.parametrize("kernel", ["auto", "RBF + Linear", RBF(0.5), "precomputed"])
@pytest.mark.parametrize("scale", ["none", "n"])
def test_ridge_regressions_learn_from_copies_once_by_likelihoods(criterion, kernel, scale, rng, tmp_path):
    X = rng.uniform(0, 6, (60, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(60)
    y[7] = 9.0
    rows = np.append(np.arange(60), [7, 3, 59])
    tolerance = 1e-3 if criterion == "profiled_lml" else 1e-9  # its search may take other steps where points have weights
    K = RBF(0.5)(X) if isinstance(kernel, str) and kernel == "precomputed" else None
    A, B = (X, X[rows]) if K is None else (K, K[np.ix_(rows, rows)])
    for kind, options in ((ks.KernelRidge, {"alpha": "auto"}), (ks.KernelRidgeCV, {"alphas": ALPHAS})):
        if kind is ks.KernelRidgeCV and criterion not in ("reml", "profiled_lml"):
            continue
        model = kind(kernel, criterion=criterion, alpha_scale=scale, **options)
        once, copied = clone(model).fit(A, y), clone(model).fit(B, y[rows])
        assert copied.alpha_ == pytest.approx(once.alpha_, rel=tolerance)
        if K is None:
            assert copied.kernel_.theta == pytest.approx(once.kernel_.theta, abs=tolerance)
        assert copied.dual_coef_ == pytest.approx(np.append(once.dual_coef_, np.zeros(3)), rel=tolerance, abs=tolerance)
        assert copied.criterion_value_ == pytest.approx(once.criterion_value_, rel=tolerance)
        assert copied.copies_.tolist() == [60, 61, 62]
        assert np.array_equal(copied.outliers_, once.outliers_)
        left_out, expected = (m.left_out(y=t) for m, t in ((copied, y[rows]), (once, y)))
        for name in ("y", "predictions", "std", "leverage", "groups"):
            assert getattr(left_out, name) == pytest.approx(getattr(expected, name)[rows], rel=tolerance, abs=tolerance), name
        path, without = (m.regularization_path(y=t).path for m, t in ((copied, y[rows]), (once, y)))
        assert path.loo == pytest.approx(without.loo, rel=10 * tolerance)  # least alphas see length scales the most
        if hasattr(copied, "selection_"):
            assert copied.selection_.remarks == ["3 rows are copies of others: each is learnt from once."]
        ks.save(copied, tmp_path / "model.safetensors")
        loaded = ks.load(tmp_path / "model.safetensors")
        assert np.array_equal(loaded.copies_, copied.copies_)
        assert np.array_equal(loaded.left_out(y=y[rows]).predictions, left_out.predictions)


def test_weights_of_copies_in_ridge_regressions(rng):
    """Equal weights are none, and a row counts with the largest weight of its copies."""
    X = rng.uniform(0, 6, (40, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(40)
    A, b, w = np.vstack([X, X]), np.append(y, y), rng.uniform(0.1, 2.0, 80)
    once = ks.KernelRidge("auto", outliers=None).fit(X, y, np.maximum(w[:40], w[40:]))
    assert ks.KernelRidge("auto").fit(A, b, w).alpha_ == pytest.approx(once.alpha_, rel=1e-9)
    plain, equal = (ks.KernelRidge("auto", outliers=None).fit(A, b, weight) for weight in (None, np.ones(80)))
    assert plain.alpha_ == pytest.approx(equal.alpha_, rel=1e-9)
    known = ks.KernelRidge("auto", outliers=[41, 5]).fit(A, b)
    assert known.outliers_.tolist() == [1, 5, 41, 45]
    without = ks.KernelRidge("auto", outliers=[1, 5]).fit(X, y)
    assert known.predict(X) == pytest.approx(without.predict(X), rel=1e-6, abs=1e-9)


def test_stacked_processes_learn_from_the_same_rows(rng):
    X = rng.uniform(0, 6, (30, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(30)
    A, b, noise = np.vstack([X, X[:4]]), np.append(y, y[:4]), np.linspace(0.03, 0.06, 34)
    GP = ks.GaussianProcessRegressor
    copied = ks.StackedRegressor([GP("RBF", noise=noise), GP("Matern")]).fit(A, b)
    once = ks.StackedRegressor([GP("RBF", noise=noise[:30]), GP("Matern")]).fit(X, y)
    assert np.array_equal(copied.weights_, once.weights_)
    assert np.array_equal(copied.predict(X), once.predict(X))
    assert np.array_equal(copied.left_out(A, b).predictions, once.left_out(X, y).predictions)
