"""Remarks on likelihoods that data ask for."""

import numpy as np
from scipy import stats

import kernsel as ks
from kernsel.study.other_likelihoods import about_counts, about_heavy_tails

rng = np.random.default_rng(4)
X = rng.uniform(0, 6, (120, 1))
TRUTH = np.sin(2 * X[:, 0])
HEAVY = TRUTH + 0.1 * rng.permutation(stats.t.ppf((np.arange(120) + 0.5) / 120, 2.0))  # errors of Student's t


def test_counts_are_noticed_and_only_these():
    rng = np.random.default_rng(1)
    counts = rng.poisson(3.0, 60)
    assert about_counts(counts).startswith("The targets look like counts, whole numbers from 0 to ")
    assert about_counts(counts.astype(float), option="--likelihood poisson").count("--likelihood") == 2
    others = {
        "classes": rng.integers(0, 2, 60),
        "three values": rng.integers(0, 3, 60),
        "few rows": counts[:10],
        "negative": counts - 1,
        "fractions": counts + 0.5,
        "large": rng.poisson(100.0, 60),
        "skewed to the left": np.repeat([0, 5, 6, 7], [3, 10, 20, 27]),
        "ratings": np.repeat([1, 2, 3, 4, 5], [10, 16, 17, 12, 5]),
        "two targets": np.column_stack([counts, counts]),
        "texts": counts.astype(str),
        "gaps": np.where(np.arange(60) == 3, np.nan, counts),
    }
    assert {name: about_counts(y) for name, y in others.items()} == dict.fromkeys(others, "")


def test_heavy_tails_are_compared_with_students_t():
    y = HEAVY
    model = ks.GaussianProcessRegressor("RBF").fit(X, y)
    assert not model.selection_.far.count_little
    said = about_heavy_tails(model, X, y)
    robust = ks.GaussianProcessRegressor("RBF", likelihood="student_t").fit(X, y)
    with_t, with_normal = robust.loo_log_density_.mean(), model.loo_log_density_.mean()
    assert with_t > with_normal
    assert (
        f'likelihood="student_t" predicts them better, with mean log density {with_t:.4g} instead of {with_normal:.4g}' in said
    )
    selected = ks.select(X, y, ["RBF"])
    assert any("have heavier tails than normal noise" in remark for remark in selected.remarks)
    assert "heavier tails" in str(selected)


def test_nothing_is_said_of_normal_noise():
    y = TRUTH + 0.1 * np.random.default_rng(2).standard_normal(120)
    model = ks.GaussianProcessRegressor("RBF").fit(X, y)
    assert about_heavy_tails(model, X, y) == ""
    assert about_heavy_tails(ks.KernelRidge().fit(X, y), X, y) == ""


def test_many_points_are_not_fitted_again(monkeypatch):
    model = ks.GaussianProcessRegressor("RBF").fit(X, HEAVY)
    monkeypatch.setattr("kernsel.study.other_likelihoods._MOST", 100)
    assert about_heavy_tails(model, X, HEAVY).endswith('likelihood="student_t" may predict better.')
    monkeypatch.setattr("kernsel.study.other_likelihoods._MOST", 200)
    assert about_heavy_tails(model, X, HEAVY, seconds=0.0).endswith('likelihood="student_t" may predict better.')
