"""Structures of kernels: those that are tried, and what they are in words."""

import numpy as np
import pytest

from kernsel.kernels import (
    RBF,
    ConstantKernel,
    ExpSineSquared,
    HeteroscedasticNoise,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    WhiteKernel,
)
from kernsel.study import structure
from kernsel.study.structure import describe, hidden_period, larger_structures, numbers_found, simplest_structures, terms_of

X1 = np.linspace(0, 10, 120).reshape(-1, 1)
x = X1[:, 0]


def kinds(kernel):
    """Return the kernels of each term, without amplitudes, as a sorted list of sorted names."""
    return sorted(
        sorted(str(part).split("(")[0] + str(part).partition(").on")[2] for part in term) for term in structure._terms(kernel)
    )


@pytest.mark.parametrize("columns", [1, 3, 9])
def test_structures_that_are_tried(columns):
    first = simplest_structures(columns)
    assert kinds(first[0]) == []
    assert len({repr(k) for k in first}) == len(first) == {1: 5, 3: 10, 9: 4}[columns]
    leader = ConstantKernel("auto") * RBF("auto") + ConstantKernel("auto") * Linear("auto")
    grown = [kinds(k) for k in larger_structures(leader, columns)]
    assert [["Linear"]] in grown  # a term less
    assert [["Linear"], ["RationalQuadratic"]] in grown  # a part exchanged
    assert [["Linear"], ["RBF"], ["RBF"]] in grown  # a term more: two scales
    assert [["Linear", "RBF"], ["RBF"]] in grown  # a factor more
    assert [["Linear"], ["RBF", "RBF"]] not in grown  # which is RBF again
    assert [["Linear"], ["Linear"], ["RBF"]] not in grown
    assert ([["Linear"], ["Linear([0])"], ["RBF"]] in grown) is False
    if columns == 3:
        single = ConstantKernel("auto") * RBF("auto").on([0]) + ConstantKernel("auto") * RBF("auto").on([1])
        assert [["RBF([0])"], ["RBF([2])"]] in [kinds(k) for k in larger_structures(single, columns)]  # another column
    if columns == 1:
        assert [["ExpSineSquared", "RBF"], ["Linear"], ["RBF"]] in grown  # a pattern that changes, at once
    most = [ConstantKernel("auto") * RBF("auto")] * 5
    total = most[0]
    for one in most[1:]:
        total = total + one
    assert max(sum(map(len, kinds(k))) for k in larger_structures(total, columns)) == 5


def test_numbers_that_the_data_decide():
    c = ConstantKernel(1.0)
    fixed = ConstantKernel(1.0, "fixed")
    for kernel, count in (
        (c * RBF([1.0, 2.0]), 3),
        (c * Linear(1.0), 1),
        (c * Linear([1.0, 2.0]), 2),
        (c * Linear(1.0) * Linear(1.0), 1),
        (c * Linear(1.0) * RBF(1.0), 2),
        (c * Linear(1.0).on([0]) + c * RBF(1.0), 3),
        (fixed * Linear(1.0), 1),
        (c * Linear(1.0, "fixed"), 1),
        (Linear(1.0), 1),
        (WhiteKernel() + c * RBF(1.0), 3),
    ):
        assert numbers_found(kernel, True) == numbers_found(kernel, False) == count, str(kernel)
    assert (numbers_found(c, True), numbers_found(c, False)) == (0, 1)
    assert numbers_found(c + c * RBF(1.0), True) == 2


def test_a_hidden_period():
    assert hidden_period(X1, np.sin(2 * np.pi * x / 0.7)) is None  # it shows anyway
    assert hidden_period(X1, 5 * np.sin(x / 3) + np.sin(2 * np.pi * x / 0.7)) == pytest.approx(0.7, abs=0.02)
    assert hidden_period(X1 * 1e9 + 1e12, 5 * np.sin(x / 3) + np.sin(2 * np.pi * x / 0.7)) == pytest.approx(0.7e9, rel=0.03)
    assert hidden_period(X1[:9], x[:9]) is None
    assert hidden_period(np.column_stack([x, x]), x) is None
    assert hidden_period(np.zeros((40, 1)), np.arange(40.0)) is None


@pytest.mark.parametrize(
    ("kernel", "options", "words"),
    [
        (4.0 * RBF(0.5), {}, "a smooth function that changes over 0.5, of amplitude 2"),
        (RBF(0.5), {}, "a smooth function that changes over 0.5, of amplitude 1"),
        (1.0 * RBF(50.0), {"ranges": [2.0]}, "a nearly straight line, of amplitude 1"),
        (1.0 * RBF([0.39, 5.0]), {}, "a smooth function that changes over 0.39 in column 0, 5 in column 1, of amplitude 1"),
        (
            1.0 * RBF([0.39, 50.0, 99.0]),
            {"ranges": [1.0, 1.0, 2.0], "names": ["age", "dose", "size"]},
            "a smooth function that changes over 0.39 in age (hardly in the others), of amplitude 1",
        ),
        (1.0 * RBF(0.5).on([1]), {"names": ["age", "dose"]}, "a smooth function that changes over 0.5 in dose, of amplitude 1"),
        (1.0 * RBF(0.5).on(["dose"]), {}, "a smooth function that changes over 0.5 in dose, of amplitude 1"),
        (1.0 * Linear(1.0).on([0, 2]), {}, "a linear trend in column 0 and column 2, of amplitude 1"),
        (
            1.0 * ExpSineSquared(1.0, 0.5) * RBF(99.0),
            {"ranges": [1.0]},
            "a pattern of period 0.5, of amplitude 1",
        ),
        (
            1.0 * ExpSineSquared(1.0, 0.5) * RBF(3.0) * Linear(1.0),
            {"ranges": [1.0]},
            "a pattern of period 0.5 that changes smoothly over 3, growing linearly, of amplitude 1",
        ),
        (
            4.0 * (ExpSineSquared(1.0, 0.5) * RationalQuadratic(3.0)),
            {},
            "a pattern of period 0.5 that changes on many scales around 3, of amplitude 2",
        ),
        (
            (4.0 * ExpSineSquared(1.0, 0.5) * RBF(3.0)).on([1]),
            {"names": ["age", "dose"]},
            "a pattern of period 0.5 in dose that changes smoothly over 3 in dose, of amplitude 2",
        ),
        (1.0 * Linear(1.0) * Linear(1.0), {}, "a polynomial of degree 2, of amplitude 1"),
        (4.0 * (Linear(1.0) * Linear(1.0)), {}, "a polynomial of degree 2, of amplitude 2"),
        (1.0 * Polynomial(3, 1.0, 99.0), {"ranges": [1.0]}, "a polynomial of degree 3, of amplitude 1"),
        (1.0 * RBF(99.0) * Linear(1.0), {"ranges": [1.0]}, "a linear trend, of amplitude 1"),
        (1.0 * RBF(0.1) * Linear(1.0), {}, "a smooth function that changes over 0.1, growing linearly, of amplitude 1"),
        (1.0 * RationalQuadratic(2.0), {}, "a function of many scales around 2, of amplitude 1"),
        (1.0 * Matern(2.0), {}, "a function that changes over 2 (Matern), of amplitude 1"),
        (WhiteKernel(0.03), {"noise": 0.01}, "nothing but noise of standard deviation 0.2"),
        (
            RBF(0.5) + WhiteKernel(0.04),
            {},
            "a smooth function that changes over 0.5, of amplitude 1\nnoise of standard deviation 0.2",
        ),
        (
            4.0 * (RBF(0.5) + Linear(1.0)),
            {},
            "a smooth function that changes over 0.5, of amplitude 2\na linear trend, of amplitude 2",
        ),
        (
            1.0 * RBF(0.5) + 1.0 * Linear(1.0),
            {"sizes": [1e-9, 3.0], "noise": 0.01},
            "a linear trend, of size 3\nnoise of standard deviation 0.1",
        ),
        (1.0 * RBF(0.5), {"sizes": [1e-9], "noise": 0.01}, "nothing but noise of standard deviation 0.1"),
        (
            1.0 * RBF(0.5) + HeteroscedasticNoise([1.0, 2.0]),
            {},
            "a smooth function that changes over 0.5, of amplitude 1\nnoise that differs from point to point",
        ),
        (ConstantKernel(9.0), {}, "a constant, of amplitude 3"),
    ],
)
def test_words(kernel, options, words):
    assert describe(kernel, **options) == words


def test_terms_are_what_the_kernel_is_the_sum_of(rng):
    X = rng.uniform(size=(9, 2))
    for kernel in (
        (RBF(1.0) + 2.0 * Linear(1.0)) * Matern(0.5),
        2.0 * (RBF(1.0) + Linear(1.0)) + WhiteKernel(),
        (RBF(1.0) + Linear(1.0)).on([1]) * (Matern(1.0) + Linear(2.0)),
        RBF(1.0),
    ):
        total = sum(term(X) for term in terms_of(kernel))
        assert total == pytest.approx(kernel(X), rel=1e-12)
