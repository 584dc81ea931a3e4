"""Kernel ridge regression by neighbours: exact if all points are neighbours, near otherwise, and all that a model can do."""

import pickle

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF

from accuracy import eps

N, ALPHA = 90, 0.1  # points that are left out are predicted from 100 others at most
ALL = ks.Vecchia(500, 500)  # neighbours of each point: nothing is approximated
KERNEL = RBF(0.3)
TIGHT = 16 * N * eps(float) * (N + ALPHA) / ALPHA  # the condition of K + alpha I is (n + alpha) / alpha at most
SEARCHED = 1e-4  # two ways to the same optimum, which is found to the root of the tolerance of its value


def data(outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(N, 2))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(N)
    return X, np.column_stack([y, 100 * y**2]) if outputs == 2 else y, rng.uniform(size=(15, 2))


def both(X, y, weights=None, **given):
    """Return a model that is exact, and one in which all points are neighbours."""
    return [ks.KernelRidge(approximation=how, **given).fit(X, y, weights) for how in (None, ALL)]


def assert_same(ours, theirs, y, Z):
    assert ours.predict(Z).shape == theirs.predict(Z).shape
    for name in ("dual_coef_", "intercept_", "alpha_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=TIGHT, atol=TIGHT * np.abs(y).max() / ALPHA)
    np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z), rtol=TIGHT, atol=TIGHT * np.abs(y).max())


@pytest.mark.parametrize(
    "given",
    [
        {"alpha": ALPHA},
        {"alpha": ALPHA / N, "alpha_scale": "n", "fit_intercept": True},
        {"alpha": [ALPHA, 4 * ALPHA], "fit_intercept": True},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_all_neighbours_are_exact(given, weighted):
    X, y, Z = data(2)
    weights = np.random.default_rng(1).uniform(0.5, 2, N) * (np.arange(N) != 5) if weighted else None
    exact, near = both(X, y, weights, kernel=KERNEL, **given)
    assert_same(near, exact, y, Z)
    if weighted:
        assert not near.dual_coef_[5].any()
    assert near.approximation_ == exact.approximation_ == ""


@pytest.mark.parametrize("criterion", ["reml", "loo", "gcv", "kfold"])
def test_all_criteria_choose_as_they_do_exactly(criterion):
    X, y, Z = data()
    # folds that are left out together share the constant of all points in an approximation
    intercept = criterion != "kfold"
    exact, near = both(X, y, kernel="RBF", criterion=criterion, fit_intercept=intercept, outliers=None)
    np.testing.assert_allclose(near.predict(Z), exact.predict(Z), rtol=SEARCHED, atol=SEARCHED * np.abs(y).max())
    assert near.criterion_value_ == pytest.approx(exact.criterion_value_, rel=SEARCHED)


def test_alpha_is_searched_for_where_it_is_chosen_along_a_path_otherwise():
    X, y, _ = data()
    exact, near = both(X, y, kernel=RBF(0.3, "fixed"), alpha="auto", outliers=None)
    assert "path_" in vars(exact)
    with pytest.raises(AttributeError, match="not chosen along a path"):
        near.path_  # noqa: B018
    assert near.criterion_value_ == pytest.approx(exact.criterion_value_, rel=SEARCHED**2)  # of second order at an optimum


def test_few_neighbours_are_near_and_it_is_said():
    X, y, Z = data()
    exact = ks.KernelRidge(KERNEL, alpha=ALPHA).fit(X, y)
    near = ks.KernelRidge(KERNEL, alpha=ALPHA, approximation=ks.Vecchia(20, 40)).fit(X, y)
    assert "predictions see the 40 nearest points (80 would change them by" in near.approximation_
    assert "hyperparameters" not in near.approximation_
    error = np.abs(near.predict(Z) - exact.predict(Z)).max()
    assert 0 < error < 0.1 * np.std(y)
    chosen = ks.KernelRidge("RBF", approximation=ks.Vecchia(20, 40)).fit(X, y)
    assert "chosen by 20 nearest neighbours" in chosen.approximation_
    assert chosen.selection_.approximation == chosen.approximation_


def test_how_good_it_is_does_not_depend_on_the_unit_of_targets():
    X, y, _ = data()
    said = [ks.KernelRidge(KERNEL, alpha=ALPHA, approximation=ks.Vecchia(5, 10)).fit(X, t).approximation_ for t in (y, 1e3 * y)]
    assert said[0] == said[1] != ""


def test_points_left_out():
    X, y, _ = data()
    X[7], y[7] = X[9], y[9]
    exact, near = both(X, y, kernel="RBF", outliers=None)
    np.testing.assert_array_equal(near.copies_, [9])
    for name in ("predictions", "std", "leverage"):
        ours, theirs = (getattr(model.left_out(X, y), name) for model in (near, exact))
        np.testing.assert_allclose(ours, theirs, rtol=SEARCHED, atol=SEARCHED)
    with pytest.raises(ValueError, match="expected the targets"):
        near.left_out(X, y + 1)
    without = np.delete(np.arange(N), 3)
    weighted = ks.KernelRidge(KERNEL, alpha=ALPHA, approximation=ALL).fit(X, y, np.arange(N) != 3)
    kept = ks.KernelRidge(KERNEL, alpha=ALPHA, approximation=ALL).fit(X[without], y[without])
    assert weighted.left_out(X, y).predictions[3] == pytest.approx(kept.predict(X[3:4])[0], rel=TIGHT)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_models_are_kept(dtype, tmp_path):
    X, y, Z = (values.astype(dtype) for values in data(2))
    weights = (np.arange(N) != 3).astype(float)
    model = ks.KernelRidge("RBF", approximation=ks.Vecchia(10, 20)).fit(X, y, weights)
    ks.save(model, tmp_path / "model.ksl")
    for copy in (ks.load(tmp_path / "model.ksl"), pickle.loads(pickle.dumps(model))):
        assert copy.predict(Z).dtype == dtype
        np.testing.assert_array_equal(copy.predict(Z), model.predict(Z))
        np.testing.assert_array_equal(copy.dual_coef_, model.dual_coef_)
        np.testing.assert_array_equal(copy.left_out(X, y, output=1).std, model.left_out(X, y, output=1).std)
        assert copy.approximation_ == model.approximation_ != ""
    several = ks.KernelRidge(KERNEL, alpha=[ALPHA, 1.0], approximation=ks.Vecchia(10, 20)).fit(X, y)
    with pytest.raises(TypeError, match="several values of alpha"):
        ks.save(several, tmp_path / "model.ksl")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(several)).predict(Z), several.predict(Z))


def test_what_takes_the_whole_matrix_is_refused():
    X, y, _ = data()
    with pytest.raises(ValueError, match="'lcurve' takes the eigenvalues of the whole kernel matrix"):
        ks.KernelRidge(KERNEL, alpha="auto", criterion="lcurve", approximation=ALL).fit(X, y)
    with pytest.raises(ValueError, match="the kernel matrix is given"):
        ks.KernelRidge("precomputed", approximation=ALL).fit(KERNEL(X), y)
    with pytest.raises(ValueError, match="a path takes the eigenvalues of the whole kernel matrix"):
        ks.KernelRidge(KERNEL, approximation=ALL).fit(X, y).regularization_path(X, y)


def test_predictions_that_turn_out_to_be_better_exact_have_coefficients(monkeypatch):
    """The search alone is approximated, as "auto" does for some ten thousand points."""
    from kernsel._search.plan import Plan
    from kernsel.estimators import kernel_ridge

    X, y, Z = data()
    monkeypatch.setattr(kernel_ridge, "plan_for", lambda *_, **__: Plan(ks.Vecchia(20, 40), None, "", True))
    model = ks.KernelRidge("RBF").fit(X, y)
    assert "predictions are exact" in model.approximation_
    fixed = ks.KernelRidge(model.kernel_, alpha=model.alpha_, fit_intercept=True, approximation=None).fit(X, y)
    np.testing.assert_allclose(model.predict(Z), fixed.predict(Z), rtol=SEARCHED**2)
