"""Integrals of kernels over a column have closed forms for RBF, and adaptive quadrature for the others."""

import numpy as np
import pytest
from scipy import integrate
from scipy.special import erf

from kernsel.kernels import RBF, Matern
from kernsel.sensitivity import Normal, Uniform
from kernsel.sensitivity.quadrature import nodes_and_weights, nodes_of_distance
from kernsel.sensitivity.terms import NoProductError, terms_of

from accuracy import eps

SLACK = 100 * eps(np.float64)  # of sums of a few hundred positive numbers


@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_uniform_rbf(scale):
    nodes, weights = nodes_and_weights(Uniform(-1.0, 2.0), scale, np.zeros(0))
    z = np.array([-1.5, 0.0, 0.4, 1.9])
    values = np.exp(-(((nodes[:, None] - z) / scale) ** 2) / 2)
    of_erf = [erf((b - z) / (2**0.5 * scale)) for b in (-1.0, 2.0)]
    expected = scale * (np.pi / 2) ** 0.5 * (of_erf[1] - of_erf[0]) / 3.0
    np.testing.assert_allclose(weights @ values, expected, rtol=0, atol=SLACK)
    product = weights @ (values[:, 1] * values[:, 2])
    center, half = 0.2, scale / 2**0.5  # of the product of two kernels
    expected = np.exp(-((0.4 / scale) ** 2) / 4) * half * (np.pi / 2) ** 0.5 / 3.0
    expected *= erf((2.0 - center) / (2**0.5 * half)) - erf((-1.0 - center) / (2**0.5 * half))
    assert product == pytest.approx(expected, abs=SLACK)


@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
def test_normal_rbf(scale):
    one = Normal(0.5, 0.8)
    nodes, weights = nodes_and_weights(one, scale, np.zeros(0))
    z = np.array([-2.0, 0.0, 0.7])
    wide = scale**2 + 0.8**2
    expected = scale / wide**0.5 * np.exp(-((z - 0.5) ** 2) / (2 * wide))
    np.testing.assert_allclose(weights @ np.exp(-(((nodes[:, None] - z) / scale) ** 2) / 2), expected, rtol=0, atol=SLACK)
    distances, weights = nodes_of_distance(one, scale)
    expected = scale / (scale**2 + 2 * 0.8**2) ** 0.5
    assert weights @ np.exp(-((distances / scale) ** 2) / 2) == pytest.approx(expected, abs=SLACK)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern(nu):
    (term,) = terms_of(Matern(0.6, nu=nu), [0])
    (leaf,) = term.leaves[0]
    z = np.array([0.1, 0.7])
    nodes, weights = nodes_and_weights(Uniform(0.0, 2.0), leaf.scale, z)
    values = leaf.kernel(nodes[:, None], z[:, None])

    def product(x):
        return float(np.prod(leaf.kernel([[x]], z[:, None])))

    expected = integrate.quad(product, 0.0, 2.0, points=z, epsabs=1e-14, epsrel=1e-13)[0] / 2
    assert weights @ np.prod(values, axis=1) == pytest.approx(expected, abs=1e-13)  # quad's own tolerance
    distances, weights = nodes_of_distance(Uniform(0.0, 2.0), leaf.scale)
    a = (2 * nu) ** 0.5 / 0.6
    if nu == 0.5:  # the integral of exp(-a |x - z|) over both
        expected = (2 * a * 2.0 - 2 + 2 * np.exp(-a * 2.0)) / (a * 2.0) ** 2
        assert weights @ np.ravel(leaf.kernel(distances[:, None], [[0.0]])) == pytest.approx(expected, abs=SLACK)


def test_scales_that_are_too_short():
    with pytest.raises(NoProductError, match="length scales are so short"):
        nodes_and_weights(Uniform(0.0, 1.0), 1e-6, np.zeros(0))


def test_terms():
    terms = terms_of(2.0 * RBF([1.0, 2.0]) ** 2 + Matern(1.0, nu=1.5).on([1]), [0, 1])
    assert [one.amplitude for one in terms] == [2.0, 1.0]
    assert [len(terms[0].leaves[k]) for k in (0, 1)] == [2, 2]
    assert list(terms[1].leaves) == [1]
    for kernel in (Matern([1.0, 2.0], nu=1.5), Matern(1.0, nu=1.1, product=True), RBF(1.0) @ RBF(1.0)):
        with pytest.raises(NoProductError, match="is no product of RBF or Matern"):
            terms_of(kernel, [0, 1])
    with pytest.raises(NoProductError, match="more than 30 products"):
        terms_of((RBF(1.0) + RBF(2.0)) ** 6, [0])
