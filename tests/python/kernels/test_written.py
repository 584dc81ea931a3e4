"""Kernels as text: what is read, what is refused, and that nothing is run."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernsel as ks
from kernsel.kernels import (
    RBF,
    ConstantKernel,
    Exp,
    Linear,
    Matern,
    Normalize,
    Parameter,
    PolynomialOf,
    WhiteKernel,
    kernel,
)
from kernsel.kernels.priors import LogNormal

from leaves import UNREADABLE, points, trees


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.0 * RBF(1.0) + Linear()", 2.0 * RBF(1.0) + Linear()),
        ("RBF + Linear", RBF() + Linear()),
        (" (RBF + 1) * Linear ** 2 ", (RBF() + 1.0) * Linear() ** 2),
        ("Matern([1, 2.5], nu=inf, length_scale_bounds='fixed')", Matern([1, 2.5], "fixed", nu=np.inf)),
        ('Matern(nu=float("inf"), product=True)', Matern(nu=np.inf, product=True)),
        ("RBF('auto').on(['a', 'b']) * 3", RBF("auto").on(["a", "b"]) * 3),
        ("RBF(1.0, (1e-3, 10))", RBF(1.0, (1e-3, 10))),
        ("2 * RBF(0.5) @ (Linear + Matern)", 2.0 * RBF(0.5) @ (Linear() + Matern())),
        ("Normalize(Exp(Linear))", Normalize(Exp(Linear()))),
        ("PolynomialOf(RBF, [1, 0, 2.5])", PolynomialOf(RBF(), [1, 0, 2.5])),
        ("RBF(Parameter(1.0, prior=LogNormal(-1, 2.0), name='l'))", RBF(Parameter(1.0, prior=LogNormal(-1, 2.0), name="l"))),
        ("3", ConstantKernel(3.0)),
        (RBF(2.0), RBF(2.0)),
        ("Matern(nu=-+-.5e0, length_scale=[1,],)", Matern([1], nu=0.5)),
        ("2*RBF**2*3+(+1)", 2.0 * RBF() ** 2 * 3.0 + 1.0),
        ("RBF\n+ RBF('auto' ) . on( ['it\\'s', \"b\"] )", RBF() + RBF("auto").on(["it's", "b"])),
        ("RBF" + " + RBF" * 5000, sum([RBF()] * 5001)),
        ("RBF" + " * RBF" * 5000, math.prod([RBF()] * 5000, start=RBF())),
        (100 * "(" + "RBF" + 100 * ")", RBF()),
    ],
)
def test_read(text, expected):
    assert kernel(text) == expected
    assert repr(kernel(text)) == repr(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RBF + Liner", r"there is no kernel 'Liner' \(character 7\); did you mean Linear\?"),
        ("rbf", r"there is no kernel 'rbf' \(character 1\); did you mean RBF\?"),
        ("Zzz", "there are ArcCosine, Brownian, "),
        (
            "RBF(length=1)",
            "RBF: got an unexpected keyword argument 'length'; its arguments are length_scale, length_scale_bounds",
        ),
        ("RBF(1, 2, 3)", "RBF: too many positional arguments"),
        ("RBF(-1)", "length_scale: expected positive"),
        ("RBF(1, (2, 1))", "length_scale_bounds: the lower bound is above"),
        ("PolynomialOf(RBF, [-1])", "a polynomial with a negative coefficient"),
        ("Linear ** 0.5", "need not be positive semidefinite"),
        ("-2 * RBF", "constant_value: expected positive"),
        ("RBF - Linear", r"'- Linear' is not part of the language of kernels \(character 5\)"),
        ("RBF(", "cannot be read"),
        ("", "cannot be read"),
        ("RBF; RBF", "'; RBF' is not part of the language"),
        ("'RBF'", "is not a kernel"),
        ("[RBF]", "is not a kernel"),
        ("True * RBF", "an operation is for kernels"),
        ("RBF ** RBF", r"\*\* is for a kernel and a number"),
        ("2 ** RBF", r"\*\* is for a kernel and a number"),
        ("9 ** 9 ** 9", "an operation is for kernels"),
        ("-RBF", "a sign is for numbers"),
        ("RBF(**{'length_scale': 1})", r"is not part of the language"),
        ("RBF(*[1])", "is not part of the language"),
        ("RBF.__init__", "is not part of the language"),
        ("RBF().__class__()", "is not part of the language"),
        ("RBF().fit([0])", "is not part of the language"),
        ("(3).on([0])", r"\.on\(\) is for kernels"),
        ("__import__('os').system('true')", "there is no kernel '__import__'"),
        ("open('x')", "there is no kernel 'open'"),
        ("(lambda: RBF())()", "is not part of the language"),
        ("[RBF for x in (1,)][0]", "is not part of the language"),
        ("FunctionKernel(3)", "function: expected a function"),
        ("Exp(2)", "kernel: expected a kernel, got 2"),
        ("RBF('x' * 3)", "an operation is for kernels"),
        ("(" * 300 + "RBF" + ")" * 300, "is too deeply nested: brackets can be 120 deep"),
        ("Exp(" * 101 + "RBF" + ")" * 101, "101 kernels would lie within each other, and at most 100 may"),
        ("-" * 100_000 + "RBF", "a sign is for numbers"),
        ("RBF" + " ** 2" * 100_000, "is too deeply nested"),
        ("[" * 100_000, "is too deeply nested"),
        ("RBF.on" * 100_000, "is not part of the language"),
        ("RBF('" + "a" * 100_000, "is not part of the language"),
        ("\0", "is not part of the language"),
        ("RBF(1, length_scale=1)", "multiple values for argument 'length_scale'"),
        ("RBF(length_scale=1, length_scale=1)", "length_scale is there twice"),
        ("RBF(length_scale=1, 2)", "an argument without a name follows"),
        ("RBF(1 2)", "'2\\)' is not part of the language"),
        ("RBF(,)", "',\\)' is not part of the language"),
        ("RBF('\\xz')", "cannot be read"),
        ("RBF(007)", "cannot be read"),
        ("2" * 400 + " * RBF", "constant_value: expected positive, finite numbers"),
        ("2" * 400, "constant_value: expected positive, finite numbers"),
        ("1e400 * RBF", "constant_value: expected positive, finite numbers"),
        ("RBF + " + "2" * 5000, "cannot be read"),
        (f"RBF({'2' * 400})", "length_scale: expected positive, finite numbers"),
        (f"RBF(1, (1, {'2' * 400}))", "length_scale_bounds: expected positive, finite numbers"),
        (f"RBF ** {'2' * 400}", "exponent: expected a whole number"),
        (f"PolynomialOf(RBF, [{'2' * 400}])", "coefficients: expected finite numbers"),
        (f"RBF(Parameter({'2' * 400}))", "length_scale: expected positive, finite numbers"),
    ],
)
def test_refused(text, message):
    with pytest.raises((ValueError, TypeError), match=message):
        kernel(text)


def test_only_text():
    for value in (None, 3, b"RBF", ["RBF"]):
        with pytest.raises(TypeError, match="text: expected a text"):
            kernel(value)


@given(st.text(alphabet="RBFLinear()+*. 123,[]='\"_on\n", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        k = kernel(text)
    except (ValueError, TypeError):
        return
    assert kernel(repr(k)) == k


def test_what_people_read():
    k = 2.0 * RBF([1.0, 0.33333333], length_scale_bounds="fixed") * (Linear() + 1.0) ** 2 + WhiteKernel(1e-7).on(["a"])
    assert str(k) == "2 * RBF([1, 0.333]) * (Linear(1) + ConstantKernel(1)) ** 2 + WhiteKernel(1e-07).on(['a'])"
    assert str(Matern(0.5, nu=2.5)) == "Matern(0.5, nu=2.5)"
    assert str(RBF(np.arange(1.0, 20.0))) == "RBF([1, 2, 3, 4, 5, 6, ...])"
    assert str(RBF(Parameter(0.12345))) == "RBF(0.123)"


@pytest.mark.core
@pytest.mark.filterwarnings("ignore:Sigmoid is not positive")
@given(trees(UNREADABLE))
def test_repr_reads_back(tree):
    k, _ = tree
    names = {name: getattr(ks.kernels, name) for name in ks.kernels.__all__}
    again = eval(repr(k), names)
    assert kernel(repr(k)) == again
    assert repr(again) == repr(k)
    X = points(6, 0)
    assert np.array_equal(again(X), k(X))


def test_chains_are_written_and_read():
    for text in (
        "RBF * Linear + Cosine * (RBF + Linear) * 2.0",
        "(RBF + Linear) * (RBF + Linear) ** 2 + (Cosine + Linear)",
        "2.0 * RBF * 3.0 + 1.0 * Linear",
        "RBF * (Linear * Cosine) * (RBF + 1.0)",
    ):
        k = kernel(text)
        assert kernel(repr(k)) == k
        assert repr(kernel(repr(k))) == repr(k)
    assert str(kernel("2.0 * RBF * 3.0 + 1.0 * Linear")) == "2 * RBF(1) * ConstantKernel(3) + 1 * Linear(1)"


@pytest.mark.parametrize(
    "k",
    [
        RBF([np.float64(1.5), np.float64(2)]),
        RBF(1.0, (np.float64(0.1), np.float64(2))),
        PolynomialOf(Linear(), [np.float64(1)]),
        RBF(Parameter(np.float64(1.0), prior=LogNormal(np.float64(0), np.float64(1)))),
    ],
    ids=str,
)
def test_numbers_of_numpy_read_back(k):
    assert kernel(repr(k)) == k
