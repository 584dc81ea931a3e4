"""Kernels as text: what is read, what is refused, and that nothing is run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernsel.kernels import RBF, ConstantKernel, Exp, Linear, Matern, Normalize, Parameter, PolynomialOf, WhiteKernel, kernel
from kernsel.kernels.priors import LogNormal


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
        ("RBF - Linear", "'RBF - Linear' is not part of the language"),
        ("RBF(", "cannot be read"),
        ("", "cannot be read"),
        ("RBF; RBF", "cannot be read"),
        ("'RBF'", "is not a kernel"),
        ("[RBF]", "is not a kernel"),
        ("True * RBF", "an operation is for kernels"),
        ("RBF ** RBF", r"\*\* is for a kernel and a number"),
        ("2 ** RBF", r"\*\* is for a kernel and a number"),
        ("9 ** 9 ** 9", "an operation is for kernels"),
        ("-RBF", "a sign is for numbers"),
        ("RBF(**{'length_scale': 1})", r"\*\* is not part of the language"),
        ("RBF(*[1])", "is not part of the language"),
        ("RBF.__init__", "is not part of the language"),
        ("RBF().__class__()", "is not part of the language"),
        ("RBF().fit([0])", "is not part of the language"),
        ("(3).on([0])", r"\.on\(\) is for kernels"),
        ("__import__('os').system('true')", "is not part of the language"),
        ("open('x')", "there is no kernel 'open'"),
        ("(lambda: RBF())()", "is not part of the language"),
        ("[RBF for x in (1,)][0]", "is not part of the language"),
        ("FunctionKernel(3)", "function: expected a function"),
        ("Exp(2)", "kernel: expected a kernel, got 2"),
        ("RBF('x' * 3)", "an operation is for kernels"),
        ("(" * 300 + "RBF" + ")" * 300, "cannot be read"),
        ("RBF" + " + RBF" * 20000, "RBF . RBF"),
        ("\0", "cannot be read"),
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
