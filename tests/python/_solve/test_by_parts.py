"""Criteria by nearest neighbours of rows in blocks: those of all rows at once, with the same order and neighbours."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import kernsel as ks
from kernsel import _core
from kernsel._data.rows import row_source
from kernsel._data.trend import trend_matrix
from kernsel._solve import by_parts
from kernsel._solve.by_parts import PartsOfSpace, Sizes, evaluate_by_parts, sizes_for
from kernsel._solve.keyed_rows import KeyedRows, first_rows
from kernsel._solve.passes import LocalPasses
from kernsel.criteria.base import Given
from kernsel.criteria.names import criterion_named
from kernsel.kernels import RBF, Matern, WhiteKernel

import reference as ref
from accuracy import eps

KERNEL = 1.3 * Matern([0.3, 0.5]) + WhiteKernel(0.05)
NEAR = ks.Vecchia(12)
ROWS, NOISE = 5000, 0.1
SIZES = Sizes(rows=700, first=300)
ROUNDING = 100 * ROWS * eps(float)  # of sums over rows in another order, times what coefficients of a trend amplify


def numbers(rows=ROWS, outputs=1):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(rows, 2))
    X[5] = X[77] = X[78]  # left out together
    y = np.sin(6 * X[:, :1]) + X[:, 1:] + 0.3 * rng.standard_normal((rows, outputs))
    weights = rng.uniform(0.5, 2.0, rows)
    weights[[11, 12, -7]] = 0.0
    return X, y, weights


def parts_of(name, trend=None, *, rows=ROWS, block=600, sizes=SIZES, outputs=1):
    X, y, weights = numbers(rows, outputs)
    passes = LocalPasses(row_source(X, y, sample_weight=weights, block=block))
    return PartsOfSpace(criterion_named(name, {}), passes, NEAR, trend, sizes)


def by_parts_of(name, trend=None, kernel=KERNEL, *, noise=NOISE, gradient=False, information=False, **more):
    with parts_of(name, trend, **more) as parts:
        return parts.evaluate(kernel, noise=noise, gradient=gradient, information=information)


def at_once(name, trend, outputs):
    """Return what the core computes of all rows, in the order and with the features of the parts."""
    X, y, weights = numbers(outputs=outputs)
    passes = LocalPasses(row_source(X, y, sample_weight=weights))
    rows = first_rows(passes, ROWS, NEAR.random_state)[0].rows
    first = rows.X[: SIZES.first if trend is None else 4096]
    numbers_of_core = NEAR.core(ordered=True, features=_core.features_of(KERNEL.build(), first))
    criterion = criterion_named(name, {}).core(Given(rows.X, rows.y, np.arange(len(rows))))
    H = trend_matrix(trend, rows.X)
    noise = NOISE / rows.weights
    workspace = _core.Workspace()
    found = _core.evaluate(
        criterion, KERNEL.build(), rows.X, rows.y, noise, H, rows.weights, True, workspace, numbers_of_core, False
    )
    nothing = _core.linear([0.0] * outputs, 0.0, None, None)
    if criterion.request["left_out"]:
        nothing = _core.linear([], 0.0, np.zeros((len(rows), outputs)), None)
    again = _core.differentiate(nothing, rows.X, rows.y, noise, H, rows.weights, workspace, 1 / rows.weights)
    return found, float(np.sum(found["noise_gradient"] / rows.weights)), again["information"]


@pytest.mark.parametrize(
    ("name", "trend", "outputs"),
    [
        ("lml", None, 1),
        ("reml", "linear", 2),
        ("profiled_reml", "linear", 1),
        ("loo", "linear", 2),
        ("loo_absolute", None, 1),
        ("profiled_loo_log_density", "constant", 1),
    ],
)
def test_criteria_and_gradients_are_those_of_all_rows_at_once(name, trend, outputs):
    parts = by_parts_of(name, trend, gradient=True, information=True, outputs=outputs)
    whole, in_noise, information = at_once(name, trend, outputs)
    assert parts.rows == ROWS - 3
    assert parts.uncertain <= 1e-3
    assert parts.value == pytest.approx(whole["value"], rel=ROUNDING)
    np.testing.assert_allclose(parts.gradient, whole["gradient"], rtol=0, atol=ROUNDING * np.abs(whole["gradient"]).max())
    assert parts.noise_gradient == pytest.approx(in_noise, rel=ROUNDING)
    np.testing.assert_allclose(parts.information, information, rtol=0, atol=ROUNDING * information.max())
    assert parts.scale == pytest.approx(whole["scale"], rel=ROUNDING)
    np.testing.assert_allclose(np.ravel(parts.beta), np.ravel(whole["beta"]), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(("name", "trend"), [("reml", "linear"), ("loo_log_density", None)])
def test_gradient_by_central_differences(name, trend):
    kernel = 1.3 * RBF(0.3) + WhiteKernel(0.05)  # of which other values have the same neighbours
    sizes = Sizes(200, 100)

    def at(t, gradient=False):
        there = kernel.clone_with_theta(t[:-1])
        return by_parts_of(name, trend, there, noise=float(t[-1]), rows=1000, sizes=sizes, gradient=gradient)

    t = np.append(kernel.theta, NOISE)
    found = at(t, gradient=True)
    expected, error = ref.central_differences(lambda t: at(t).value, t, 1e-4)
    slopes = np.append(kernel.in_theta(found.gradient), found.noise_gradient)
    np.testing.assert_array_less(np.abs(slopes - expected), 10 * error + ROUNDING * abs(found.value) / 1e-4)


def test_bits_do_not_depend_on_blocks_of_which_some_are_empty():
    X, y, weights = numbers()
    ends = [0, 0, 1200, 1201, 1201, 5000, 5000]

    def blocks():
        for begin, end in pairwise(ends):
            yield X[begin:end], y[begin:end], None, weights[begin:end]

    source = row_source(blocks)
    found = evaluate_by_parts(
        criterion_named("loo", {}), KERNEL, LocalPasses(source), NEAR, noise=NOISE, gradient=True, sizes=SIZES
    )
    expected = by_parts_of("loo", gradient=True)
    assert found.value == expected.value
    np.testing.assert_array_equal(found.gradient, expected.gradient)
    assert found.noise_gradient == expected.noise_gradient


def test_parts_that_are_too_small_are_seen_and_made_larger(monkeypatch):
    found = []
    divided = by_parts._divided

    def narrow(*arguments):
        division = divided(*arguments)
        division.radii[:] *= 0.02 if not found else 1.0
        found.append(division)
        return division

    monkeypatch.setattr(by_parts, "_divided", narrow)
    first = by_parts_of("lml")
    assert len(found) == 2
    assert first.uncertain <= 1e-3
    found.clear()
    monkeypatch.setattr(by_parts, "_MISSED", 1.0)
    found_by_few = by_parts_of("lml")
    assert found_by_few.uncertain > 1e-3
    assert f"{100 * found_by_few.uncertain:.2g} % of them" in found_by_few.said


def test_neighbours_remain_until_they_are_renewed():
    other = 1.3 * Matern([0.3, 0.7]) + WhiteKernel(0.05)  # a ratio of length scales by which others are near
    with parts_of("reml", "constant", rows=1500, sizes=Sizes(500, 200)) as parts:
        first = parts.evaluate(KERNEL, noise=NOISE, gradient=True)
        kept = parts.evaluate(other, noise=NOISE, gradient=True)
        again = parts.evaluate(KERNEL, noise=NOISE, gradient=True)
        assert again.value == first.value
        np.testing.assert_array_equal(again.gradient, first.gradient)
        assert not parts.renew(1.3 * Matern([0.6, 1.05]) + WhiteKernel(0.05))
        assert parts.renew(other)
        renewed = parts.evaluate(other, noise=NOISE, gradient=False)
    anew = by_parts_of("reml", "constant", other, rows=1500, sizes=Sizes(500, 200))
    assert renewed.value == anew.value != kept.value


def test_parts_that_have_lost_what_was_shown_compute_it_again(monkeypatch):
    """As those do that a worker has written to its disk, or that another one has computed."""
    expected = by_parts_of("reml", "constant", gradient=True)
    pull = by_parts.pulled_in_sample_of
    monkeypatch.setattr(by_parts, "pulled_in_sample_of", lambda stage, part: pull(stage, pickle.loads(pickle.dumps(part))))
    found = by_parts_of("reml", "constant", gradient=True)
    np.testing.assert_array_equal(found.gradient, expected.gradient)


def test_parts_have_fewer_rows_where_rows_have_many_neighbours():
    assert [sizes_for(m).rows for m in (5, 30, 60, 500)] == [50_000, 50_000, 12_500, 5_000]


def test_refuses_what_parts_cannot():
    X, y, _ = numbers(100)
    source = row_source(X, y)
    for message, name, near, more in (
        ("gcv needs coefficients of all rows", "gcv", NEAR, {}),
        ("leaves out groups", "kfold", NEAR, {}),
        ("inducing: expected 0", "loo", ks.Vecchia(5, inducing=3), {}),
        ("trend: expected None, a name or a function", "loo", NEAR, {"trend": np.ones((100, 1))}),
        ("one that has a value for given hyperparameters", "evidence", NEAR, {}),
    ):
        with pytest.raises(ValueError, match=message):
            ks.evaluate(name, RBF(0.3), source, None, noise=0.1, approximation=near, **more)


def test_keys_are_the_same_for_any_blocks_and_all_different():
    X, y, _ = numbers(100)

    def keys(begin, end):
        block = next(iter(row_source(X[begin:end], y[begin:end]).blocks()))
        return KeyedRows.of_block(block, begin, 3).keys

    np.testing.assert_array_equal(keys(0, 100), np.concatenate([keys(0, 20), keys(20, 100)]))
    assert len(np.unique(keys(0, 100))) == 100
    assert 0.4 < np.mean(keys(0, 100) / 2.0**64) < 0.6  # three standard errors
