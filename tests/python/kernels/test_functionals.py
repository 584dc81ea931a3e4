"""The kernel of functionals beside differences and integrals of the kernel inside."""

import itertools

import numpy as np
import pytest

from kernsel.kernels import (
    RBF,
    ConstantKernel,
    Cosine,
    DotProduct,
    Exp,
    Exponential,
    ExpSineSquared,
    Functionals,
    Linear,
    Matern,
    Parameter,
    Polynomial,
    RationalQuadratic,
    Wendland,
    WhiteKernel,
)
from kernsel.testing import check_kernel

import reference as ref
from accuracy import eps

rng = np.random.default_rng(0)
X, lower = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
widths = rng.choice([0.0, 1e-6, 0.3, 2.5], size=(5, 3))
SLOPES = np.vstack([Functionals.values(X[:4]), Functionals.slopes(X[2:])])
AVERAGES = np.vstack([Functionals.averages(lower, lower + widths), Functionals.averages(lower[:3], lower[:3] + widths[:3])])
AVERAGES[5:, -1] = [1, 2, 3]  # derivatives of averages

# Kernels with averages, and others. A parameter in two places has one derivative, the sum of both.
l = Parameter(0.8, name="l")  # noqa: E741
WITH_AVERAGES = [
    RBF([0.7, 1.1, 0.5]),
    2.0 * Matern([0.7, 1.1, 0.5], nu=1.5, product=True) + DotProduct(0.5),
    Matern(0.7, nu=2.5, product=True) * ConstantKernel(3.0),
    Matern(0.9, nu=2.5).on([2]) * RBF([0.9, 1.0]).on([1, 0]) + Linear(2.0),
    RBF(l).on([0]) + 0.5 * RBF(l),
]
OTHERS = [
    Matern([0.7, 1.1, 0.5], nu=1.5),
    Matern(0.8, nu=2.5),
    RationalQuadratic([0.7, 1.1, 0.5], alpha=0.7),
    Polynomial(3, offset=0.7),
    Cosine([3.0, 4.0, 5.0]),
    RBF([0.7, 1.1, 0.5]) * ExpSineSquared(0.9, 1.7).on([0]),
    2.0 * RBF([0.7, 1.1, 0.5]) * RationalQuadratic(1.0, 0.6) + (Matern(0.9, nu=2.5) ** 2).on([1]) + Exp(0.3 * RBF().on([0, 2])),
]


@pytest.mark.parametrize("kernel", WITH_AVERAGES + OTHERS, ids=str)
def test_it_is_a_kernel_with_exact_gradients(kernel):
    rows = np.vstack([SLOPES, AVERAGES]) if kernel in WITH_AVERAGES else SLOPES
    check_kernel(Functionals(kernel), rows, points=False)


@pytest.mark.parametrize("kernel", WITH_AVERAGES + OTHERS, ids=str)
def test_slopes_are_derivatives(kernel):
    k = Functionals(kernel)

    def inner(x, z):
        return kernel(x[None], z[None])[0, 0]

    step, size = 2.0**-8, kernel.diag(X).max()
    for i, j in itertools.product((None, 0, 2), (None, 0, 1)):
        a, b = (
            Functionals.values(x[None]) if c is None else Functionals.slopes(x[None], [c]) for x, c in ((X[0], i), (X[1], j))
        )
        at = [ref.slope_covariance(inner, X[0], X[1], i, j, h) for h in (step, 2 * step)]
        order = (i is not None) + (j is not None)
        # What a step of twice the size changes, and rounding over the step for each difference.
        limit = abs(at[0] - at[1]) + 100 * eps(float) * size / step**order
        assert abs(k(a, b)[0, 0] - at[0]) <= limit, (i, j)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, np.inf])
def test_averages_are_integrals(nu):
    kernel = Matern(0.7, nu=nu, product=True)
    # Boxes that overlap, are equal, narrow, points, wide and far apart.
    intervals = [(0, 1), (0.5, 3), (0, 0.01), (0, 1e-5), (0.3, 0.3), (0, 9), (4, 5)]
    for x, z in [(0, 1), (0, 0), (2, 2), (3, 1), (3, 3), (4, 0), (5, 4), (0, 6)]:
        low, high = (np.array([[intervals[i][end]] for i in (x, z)]) for end in (0, 1))
        rows = Functionals.averages(low, high)
        expected = ref.averaged(lambda t: kernel([[t]], [[0.0]])[0, 0], intervals[x], intervals[z])
        # Differences of integrals lose digits beside the largest covariance, the quadrature some of its own.
        assert abs(Functionals(kernel)(rows)[0, 1] - expected) <= 40 * eps(float) + 1e-11 * expected, (x, z)


def test_averages_over_several_columns_are_products():
    kernel = RBF([0.7, 2.0])
    rows = Functionals.averages([[0.0, 1.0], [0.5, 2.0]], [[1.0, 4.0], [0.5, 5.0]])
    parts = [Functionals(RBF(length))(rows[:, [k, k + 2, 4]]) for k, length in enumerate((0.7, 2.0))]
    np.testing.assert_allclose(Functionals(kernel)(rows), parts[0] * parts[1], rtol=8 * eps(float))


@pytest.mark.parametrize(
    ("kernel", "rows", "message"),
    [
        (Exponential(), SLOPES, "no derivatives; take 3/2"),
        (Matern(nu=0.5, product=True), SLOPES, "no derivatives; take 3/2"),
        (ExpSineSquared(), SLOPES, "one of its kernels has no derivatives"),
        (Wendland(), SLOPES, "one of its kernels has no derivatives"),
        (RBF() + WhiteKernel(), SLOPES, "one of its kernels has no derivatives"),
        (Matern(nu=2.5), AVERAGES, "no closed averages"),
        (RBF() * RBF(2.0), AVERAGES, "see the same column"),
        (Exp(RBF()), AVERAGES, "see the same column"),
        (RBF(), SLOPES[:, :-1], r"2 d \+ 1 numbers"),
        (RBF(), SLOPES + 0.5, "the last number of a row"),
        (RBF(), SLOPES[:, [3, 4, 5, 0, 1, 2, 6]] + np.eye(7)[0], "lower end of a box is above"),
    ],
)
def test_what_has_no_closed_form_is_refused(kernel, rows, message):
    with pytest.raises(ValueError, match=message):
        Functionals(kernel)(rows)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Functionals.values([1.0, 2.0]), r"X: expected shape \(n, d\), got \(2,\)"),
        (lambda: Functionals.values([[np.nan]]), "X: expected finite numbers, got nan"),
        (lambda: Functionals.slopes(X, [3]), r"columns: .* from 0 to 2, got \[3\]"),
        (lambda: Functionals.averages(X, X[:3]), "lower, upper: expected one shape"),
        (lambda: Functionals.averages([[1.0]], [[0.0]]), "box 0, column 0: 1 and 0"),
        (lambda: Functionals("RBF"), "kernel: expected a kernel"),
    ],
)
def test_bad_rows_are_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_starts_do_not_depend_on_the_unit_of_slopes():
    x = np.linspace(0, 5, 9)[:, None]
    rows, y = np.vstack([Functionals.values(x), Functionals.slopes(x)]), np.concatenate([np.sin(x[:, 0]), np.cos(x[:, 0])])
    k = Functionals(ConstantKernel("auto") * RBF("auto"))
    start = k.for_data(rows, y)
    y[9:] *= 1e-3
    rows[:, :2] *= 1e3
    other = k.for_data(rows, y)
    np.testing.assert_allclose(other.theta - start.theta, [0.0, np.log(1e3)], atol=1e-12)
