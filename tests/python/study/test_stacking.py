"""select(combine="stack"): the mixture is that of the kernels fitted alone, and nothing else of the table changes."""

import re
import time

import numpy as np
import pytest

import kernsel as ks
from kernsel import structured as st
from kernsel.estimators.stacking.set_aside import SetAside
from kernsel.kernels import RBF, Linear, Matern

KERNELS = [RBF("auto"), Matern("auto", nu=0.5), RBF([1.0, 2.0, 3.0]), RBF("auto") + Linear("auto")]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(6)
    X = rng.uniform(0, 6, (80, 2))
    return X, np.where(X[:, 0] > 3, 1.0, np.sin(4 * X[:, 0])) + 0.1 * rng.standard_normal(80)


@pytest.fixture(scope="module")
def found(data):
    return ks.select(*data, KERNELS, combine="stack", random_state=0)


def test_the_mixture_is_that_of_the_kernels_fitted_alone(data, found):
    X, y = data
    model = found.best_estimator_
    assert isinstance(model, ks.StackedRegressor)
    assert len(model.weights_) > 1
    again = ks.StackedRegressor(model.estimators).fit(X, y)
    np.testing.assert_allclose(again.weights_, model.weights_, rtol=1e-9)
    np.testing.assert_allclose(found.predict(X, return_std=True), again.predict(X, return_std=True), rtol=1e-9)
    assert found.score(X, y) == pytest.approx(again.score(X, y))
    weights = {str(one.kernel): one.weight for one in found.tried if not one.problem}
    assert weights == pytest.approx(
        {str(one.kernel): 0.0 for one in model.estimators}
        | {str(model.estimators[k].kernel): w for k, w in zip(model.kept_, model.weights_, strict=True)}
    )
    for one in found.tried:
        if not one.problem:
            fit = ks.loo(one.kernel_, X, y, noise=one.noise_ + one.jitter_, trend="constant")
            density = -0.5 * np.log(2 * np.pi * fit.variances) - 0.5 * fit.residuals**2 / fit.variances
            assert one.log_density == pytest.approx(density.mean(), rel=1e-7)
    assert model.loo_log_density_.mean() > max(one.log_density for one in found.tried if not one.problem) - 0.01


def test_all_else_is_as_without_it(data, found):
    alone = ks.select(*data, KERNELS, random_state=0, combine=None)
    assert [str(one.kernel_) for one in found.tried] == [str(one.kernel_) for one in alone.tried]
    assert [one.value for one in found.tried] == pytest.approx([one.value for one in alone.tried], nan_ok=True)
    assert str(found.best_kernel_) == str(alone.best_kernel_)
    assert all(np.isnan(one.weight) for one in alone.tried)
    assert isinstance(alone.best_estimator_, ks.GaussianProcessRegressor)
    failed = found.tried[-1]
    assert failed.problem
    assert np.isnan(failed.weight)


def test_it_is_printed_with_weights(found):
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].split() == ["kernel", "value", "found", "noise", "weight", "seconds"]
    for line, one in zip(lines[1:4], found.tried, strict=False):
        assert f" {one.weight:.3f} " in line
    model = found.best_estimator_
    count, mixed = len(model.weights_), model.loo_log_density_.mean()
    assert lines[-1].startswith(
        f"stacked: {count} kernels, mean log density of points left out {mixed:.5g}; of the best alone "
    )
    words = found.describe().splitlines()
    assert len(words) == count + 1
    assert words[-1] == f"together: noise of standard deviation {np.sqrt(model.noise_):.3g}"
    shares = [float(re.match(r"([\d.]+)%: ", line)[1]) for line in words[:-1]]
    order = [f"{100 * one.weight:.1f}" for one in found.tried if one.weight > 0]
    assert [f"{share:.1f}" for share in shares] == order  # by the evidence
    assert sum(shares) == pytest.approx(100, abs=0.3)


def test_a_search_and_objects_are_combined_too(rng):
    x = np.linspace(0, 6, 40)[:, None]
    y = np.sin(4 * x[:, 0]) + x[:, 0] + 0.2 * rng.standard_normal(40)
    grown = ks.select(x, y, "search", "reml", combine="stack", max_structures=5)
    assert sum(one.weight for one in grown.tried) == pytest.approx(1)
    strings = ["".join(rng.choice(list("abc"), 10)) for _ in range(40)]
    y = np.array([s.count("ab") - s.count("c") for s in strings]) + 0.3 * rng.standard_normal(40)
    both = ks.select(strings, y, [st.Spectrum(1), st.Spectrum(2), RBF("auto") @ st.Spectrum(1)], combine="stack")
    assert np.isfinite(both.predict(["abab"], return_std=True)).all()


def test_the_time_is_that_without_it(rng):
    X = rng.uniform(0, 6, (500, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(500)
    times = []
    for combine in (None, "stack"):
        begun = time.perf_counter()
        ks.select(X, y, KERNELS[:2], "reml", combine=combine, random_state=0)
        times.append(time.perf_counter() - begun)
    assert times[1] < 2 * times[0] + 0.5


def test_other_models_and_ways_are_refused(data):
    with pytest.raises(ValueError, match='combine: expected "auto", "stack" or None, got \'mean\''):
        ks.select(*data, combine="mean")
    with pytest.raises(ValueError, match=r"combine: stacks Gaussian processes, .* expected None with a KernelRidge"):
        ks.select(*data, estimator=ks.KernelRidge(alpha="auto"), combine="stack")
    with pytest.raises(ValueError, match="of them could be fitted"):
        ks.select(*data, [RBF([1.0, 2.0, 3.0]), "RBF.on([7])"], combine="stack")


def test_an_interruption_keeps_what_there_is(data, monkeypatch):
    def interrupt(process):
        raise KeyboardInterrupt(process)

    whole = SetAside.of
    first = iter([whole, interrupt])
    monkeypatch.setattr(SetAside, "of", lambda process: next(first)(process))
    found = ks.select(*data, KERNELS, combine="stack")
    assert found.ended.startswith("interrupted")
    assert isinstance(found.best_estimator_, ks.GaussianProcessRegressor)  # of one kernel there is nothing to mix
    monkeypatch.setattr(SetAside, "of", interrupt)
    assert isinstance(ks.select(*data, KERNELS, combine="stack").best_estimator_, ks.GaussianProcessRegressor)


def test_nested_cross_validation_scores_the_mixture(data, found):
    nested = ks.nested_cv(ks.StackedRegressor(found.best_estimator_.estimators[:2]), *data, outer=3, random_state=0)
    assert nested.mean["score"] > 0.5
