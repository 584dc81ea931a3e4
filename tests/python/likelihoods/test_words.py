"""Likelihoods in words."""

import pytest

from kernsel.likelihoods import AsymmetricLaplace, CensoredGaussian, Gamma, NegativeBinomial, Ordinal, Poisson
from kernsel.likelihoods.named import NAMED
from kernsel.likelihoods.words import in_words, numbers_of


@pytest.mark.parametrize("name", NAMED)
def test_each_has_words_with_all_of_its_numbers(name):
    likelihood = NAMED[name]()
    likelihood = likelihood.with_values([parameter.value + 0.123 for parameter in likelihood.parameters()])
    words = in_words(likelihood)
    assert "observations of" not in words
    assert "{" not in words
    if name != "gamma":  # whose words have the spread instead
        assert all(f"{number:.3g}" in words for number in numbers_of(likelihood).values())


def test_words_and_numbers():
    assert numbers_of(NegativeBinomial(shape=3.0)) == {"shape": pytest.approx(3.0)}
    assert numbers_of(Poisson()) == {}
    assert in_words(Gamma(shape=4.0)) == "gamma distributed around exp(f), with a standard deviation of 0.5 of the mean"
    assert in_words(AsymmetricLaplace(0.9, scale=1.0)) == "the 90 % quantile, with errors of scale 1"
    assert in_words(CensoredGaussian(upper=2.0, noise=0.25)).endswith("variance 0.25, cut off outside of -inf to 2")
    assert in_words(Ordinal(3, (-1.0, 0.5))).endswith("divided by the thresholds -1, 0.5")

    class Own(Poisson):
        pass

    assert in_words(Own()) == "observations of Own()"
