"""What a kernel ridge regression tells of its fit, against fits without each point and against differences."""

import pickle

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF

N = 24
K = RBF(0.8)


@pytest.fixture
def data(rng):
    X = rng.uniform(0, 6, (N, 1))
    X[5] = X[9]  # left out together
    Y = np.column_stack([np.sin(X[:, 0]), 3 * np.cos(X[:, 0])]) + 0.1 * rng.standard_normal((N, 2))
    return X, Y, np.arange(N) % 3.0


CASES = [
    {"alpha": 0.1},
    {"alpha": [0.1, 0.01], "fit_intercept": True},
    {"alpha": 1e-3, "alpha_scale": "n", "fit_intercept": True},
]


@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize("told", [False, True], ids=["alone", "groups"])
def test_residuals_of_fits_without_each_point(data, options, told):
    X, Y, weights = data
    groups = np.arange(N) % 5 if told else None
    model = ks.KernelRidge(K, **options).fit(X, Y, weights, groups)
    # The same regularization for fewer points: weights are then of another sum.
    fixed = {"fit_intercept": model.has_intercept, "alpha": np.asarray(model.alpha_)}
    if model.alpha_scale == "n":
        fixed["alpha"] = fixed["alpha"] * weights.sum()
    together = model.left_out_together_
    assert len(np.unique(together)) == (5 if told else N - 1)
    for group in np.unique(together):
        rows = together == group
        without = ks.KernelRidge(K, **fixed).fit(X[~rows], Y[~rows], weights[~rows])
        assert model.loo_residuals_[rows] == pytest.approx(Y[rows] - without.predict(X[rows]), abs=1e-9 * np.abs(Y).max())


@pytest.mark.parametrize("options", CASES, ids=str)
def test_leverages_are_derivatives(data, options):
    X, Y, weights = data
    model = ks.KernelRidge(K, **options).fit(X, Y, weights)
    leverage = np.broadcast_to(model.leverage_.reshape(N, -1), Y.shape)
    for i in (0, 5, 7, 10):  # the fit is linear in the targets, so that any step will do
        moved = Y.copy()
        moved[i] += 1.0
        change = ks.KernelRidge(K, **options).fit(X, moved, weights).predict(X[[i]]) - model.predict(X[[i]])
        assert leverage[i] == pytest.approx(change[0], abs=1e-10)
    assert not leverage[weights == 0].any()
    assert model.effective_dof_ == pytest.approx(model.leverage_.sum(axis=0))
    assert np.shape(model.effective_dof_) == np.shape(model.alpha_)


def test_norm(data):
    X, Y, weights = data
    model = ks.KernelRidge(K, alpha=0.1, fit_intercept=True).fit(X, Y, weights)
    expected = np.sqrt([c @ np.asarray(K(X)) @ c for c in model.dual_coef_.T])
    assert model.norm_ == pytest.approx(expected)
    assert ks.KernelRidge(K, alpha=0.1, fit_intercept=True).fit(X, Y[:, 0], weights).norm_ == pytest.approx(expected[0])
    matrix = ks.KernelRidge("precomputed", alpha=0.1, fit_intercept=True).fit(np.asarray(K(X)), Y, weights)
    assert matrix.norm_ == pytest.approx(expected)
    assert matrix.loo_residuals_ == pytest.approx(model.loo_residuals_)


def test_the_path_says_the_same(data):
    X, Y, _ = data
    for model in (ks.KernelRidgeCV(K), ks.KernelRidge(RBF(0.8, "fixed"), alpha="auto", criterion="loo")):
        model.fit(X, Y)
        assert np.mean(model.loo_residuals_**2) == pytest.approx(model.criterion_value_)
        assert model.effective_dof_ == pytest.approx(model.path_.at(model.alpha_).effective_dof[0])
    each = ks.KernelRidgeCV(K, alpha_per_target=True).fit(X, Y)
    assert np.mean(each.loo_residuals_**2, axis=0) == pytest.approx(each.criterion_value_)
    assert each.effective_dof_ == pytest.approx(
        [p.at(a).effective_dof[0] for p, a in zip(each.path_, each.alpha_, strict=True)]
    )


def test_rows_that_are_not_learnt_from(data):
    X, Y, _ = data
    y = Y[:, 0].copy()
    y[3] += 30
    model = ks.KernelRidge("RBF").fit(X, y)
    assert model.outliers_.tolist() == [3]
    assert model.loo_residuals_[3] == pytest.approx(y[3] - model.predict(X[[3]])[0], rel=1e-9)
    assert model.leverage_[3] == 0
    copied = ks.KernelRidge("RBF").fit(np.vstack([X, X]), np.append(Y[:, 0], Y[:, 0]))
    alone = ks.KernelRidge("RBF").fit(X, Y[:, 0])
    assert len(copied.copies_) == N
    assert copied.loo_residuals_ == pytest.approx(np.tile(alone.loo_residuals_, 2))
    assert copied.effective_dof_ == pytest.approx(alone.effective_dof_)


def test_neighbours_and_what_nothing_is_kept_of(data, tmp_path):
    X, Y, weights = data
    exact = ks.KernelRidge(K, alpha=0.1).fit(X, Y, weights + 1)
    near = ks.KernelRidge(K, alpha=0.1, approximation=ks.Vecchia(N - 1, N - 1)).fit(X, Y, weights + 1)  # all are neighbours
    assert near.loo_residuals_ == pytest.approx(exact.loo_residuals_)
    assert near.effective_dof_ == pytest.approx(exact.effective_dof_)
    with pytest.raises(AttributeError, match=r"norm_: .* expected a fit with approximation=None"):
        _ = near.norm_
    assert np.array_equal(pickle.loads(pickle.dumps(exact)).loo_residuals_, exact.loo_residuals_)
    ks.save(exact, tmp_path / "model.kernsel")
    loaded = ks.load(tmp_path / "model.kernsel")
    assert loaded.norm_ == pytest.approx(exact.norm_)
    assert np.array_equal(loaded.loo_residuals_, exact.loo_residuals_)
    rows = ks.KernelRidge(K, alpha=0.1, approximation=ks.Nystrom(5)).fit(ks.row_source(X, Y))
    with pytest.raises(AttributeError, match="needs targets and weights"):
        _ = rows.loo_residuals_
    before = exact.loo_residuals_
    assert not np.array_equal(exact.set_params(alpha=1.0).fit(X, Y, weights + 1).loo_residuals_, before)
