"""The path of rows in blocks, along which KernelRidgeCV chooses: that of the same rows in memory."""

import pickle

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF

from accuracy import eps

ROWS = 300
SLACK = 1e4 * ROWS * eps(float)  # rounding of sums in another order, times the condition of the smallest lambda
CURVES = ["loo", "gcv", "log_likelihood", "profiled_restricted_log_likelihood", "effective_dof", "residual_norm", "seminorm"]


def numbers():
    rng = np.random.default_rng(6)
    X, weights = rng.uniform(-1, 1, (ROWS, 2)), rng.uniform(0.5, 2, ROWS)
    weights[::50] = 0.0
    y = 5 + np.column_stack([np.sin(3 * X[:, 0]), X[:, 1]]) + 0.3 * rng.standard_normal((ROWS, 2))
    return X, y, weights


@pytest.mark.parametrize(
    "more",
    [
        {"criterion": "gcv"},
        {"fit_intercept": True, "alpha_per_target": True},
        {"fit_intercept": True, "criterion": "risk", "sigma": 0.3, "alpha_scale": "n"},
        {"fit_intercept": True, "criterion": "lcurve"},
    ],
)
def test_alpha_is_that_of_all_rows_in_memory(more):
    X, y, weights = numbers()
    # A tenth of the rows is drawn, to choose nothing.
    near = ks.Nystrom(X[1:26].copy(), search_rows=30)
    options = {"alphas": np.geomspace(1e-2, 10, 30), "approximation": near, **more}
    whole = ks.KernelRidgeCV(RBF(0.7), **options).fit(X, y, sample_weight=weights)
    source = ks.row_source(X, y, sample_weight=weights, block=70)
    found = ks.KernelRidgeCV(RBF(0.7), **options).fit(source)
    # The corner of the L-curve is searched for: where a curve is flat, half of the digits are known.
    slack = SLACK**0.5 if more.get("criterion") == "lcurve" else SLACK
    np.testing.assert_allclose(found.alpha_, whole.alpha_, rtol=slack)
    np.testing.assert_allclose(found.criterion_value_, whole.criterion_value_, rtol=slack)
    np.testing.assert_allclose(found.predict(X), whole.predict(X), rtol=slack)
    per_target = more.get("alpha_per_target", False)
    for mine, other in zip(*(m.path_ if per_target else [m.path_] for m in (found, whole)), strict=True):
        for curve in CURVES:
            np.testing.assert_allclose(getattr(mine, curve), getattr(other, curve), rtol=SLACK, err_msg=curve)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(mine)).loo, mine.loo)


def test_default_alphas_follow_from_all_rows_and_the_model_is_saved(tmp_path):
    X, y, _ = numbers()
    near = ks.Nystrom(X[:25].copy(), search_rows=30)
    whole = ks.KernelRidgeCV(RBF(0.7), approximation=near).fit(X, y[:, 0])
    found = ks.KernelRidgeCV(RBF(0.7), approximation=near).fit(ks.row_source(X, y[:, 0], block=70))
    np.testing.assert_allclose(found.path_.alphas, whole.path_.alphas, rtol=SLACK)
    assert found.alpha_ == pytest.approx(whole.alpha_, rel=SLACK)
    ks.save(found, tmp_path / "model.ksl")
    again = ks.load(tmp_path / "model.ksl")
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    np.testing.assert_array_equal(again.path_.loo, found.path_.loo)


def test_dask_sums_the_same_bits():
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    X, y, _ = numbers()
    options = {"approximation": ks.Nystrom(X[:25].copy(), search_rows=30), "fit_intercept": True}
    found = ks.KernelRidgeCV(RBF(0.7), **options).fit(ks.row_source(X, y, block=70))
    with dask.config.set(scheduler="threads"):
        lazy = ks.KernelRidgeCV(RBF(0.7), **options).fit(da.from_array(X, chunks=(70, 2)), da.from_array(y, chunks=(70, 2)))
    np.testing.assert_array_equal(lazy.path_.loo, found.path_.loo)
    np.testing.assert_array_equal(lazy.dual_coef_, found.dual_coef_)


def test_too_few_landmarks_are_told():
    X, y, _ = numbers()
    source, near = ks.row_source(X, y, block=70), ks.Nystrom(X[:5].copy(), search_rows=30)
    said = []
    for model in (
        ks.KernelRidgeCV(RBF(0.2), alphas=[1e-3], approximation=near),
        ks.KernelRidge(RBF(0.2), alpha=1e-3, approximation=near),
    ):
        with pytest.warns(UserWarning, match="approximation: 5 landmarks, which miss .* too few for so little noise") as told:
            model.fit(source)
        said.append(str(told[0].message))
    assert said[0] == said[1]


def test_refuses_groups_and_alphas_that_are_none():
    X, y, _ = numbers()
    source, near = ks.row_source(X, y, block=70), ks.Nystrom(10, search_rows=30)
    with pytest.raises(ValueError, match="groups: expected None"):
        ks.KernelRidgeCV(RBF(0.7), approximation=near).fit(source, groups=np.arange(ROWS))
    with pytest.raises(ValueError, match="alphas: expected"):
        ks.KernelRidgeCV(RBF(0.7), alphas=[-1.0], approximation=near).fit(source)
