"""Kernels of strings, in expressions and estimators."""

import numpy as np
import pytest

import kernsel as ks
from kernsel import structured as st
from kernsel._base.errors import NotPositiveSemidefiniteWarning
from kernsel.kernels import Normalize

import reference


@pytest.fixture
def strings(rng):
    return ["".join(rng.choice(list("ACGT"), rng.integers(6, 14))) for _ in range(24)]


def test_strings_as_defined(strings):
    few = strings[:5]
    for p, m in ((2, 0), (3, 1)):
        expected = [[reference.spectrum(s, t, p, m, "ACGT") for s in few] for t in few]
        assert np.array_equal(st.Spectrum(p, m, alphabet="ACGT")(few), expected)
        assert np.array_equal(st.Spectrum(p, m)([*few, "ACGT"])[:5, :5], expected)  # as many letters as there are
    expected = [[reference.subsequences(s, t, 2, 0.4, "ACGT")[0] for s in few] for t in few]
    assert np.allclose(st.Subsequence(2, 0.4)(few), expected, rtol=1e-12)


def test_local_alignment_warns_where_it_is_no_kernel():
    with pytest.warns(NotPositiveSemidefiniteWarning, match="not positive semidefinite for these scores and beta=3"):
        kernel = st.LocalAlignment(3.0, scores=[[0.0, 2.0], [2.0, 0.0]], alphabet="AC")
    with pytest.raises(ks.NotPositiveDefiniteError):
        ks.KernelRidge(kernel, alpha=1e-3).fit(["ACA", "CA", "AA", "CCC"], np.arange(4.0))
    st.LocalAlignment(3.0, scores=[[2.0, 0.0], [0.0, 2.0]], alphabet="AC")
    st.LocalAlignment("auto", scores=[[0.0, 2.0], [2.0, 0.0]], alphabet="AC")


def test_tokens(rng):
    words = [rng.choice(["to", "be", "or", "not"], size=8).tolist() for _ in range(6)]
    letters = ["".join({"to": "a", "be": "b", "or": "c", "not": "d"}[word] for word in text) for text in words]
    numbers = [[{"to": 5, "be": 7, "or": -1, "not": 10**12}[word] for word in text] for text in words]
    for kernel in (st.Spectrum(2), st.Spectrum(3, 1), st.Subsequence(2), st.LocalAlignment()):
        assert np.array_equal(kernel(words), kernel(letters))
        assert np.array_equal(kernel(numbers), kernel(letters))


def test_the_alphabet_is_that_of_the_training_set(strings):
    model = ks.KernelRidge(st.Spectrum(3, 1), alpha=0.1).fit(strings[:20], np.arange(20.0))
    with_new_letters = ["ACGTXYZ", *strings[20:]]
    assert np.allclose(model.predict(with_new_letters)[1:], model.predict(strings[20:]), rtol=1e-12)


def test_select_chooses_whole_numbers_and_decay(rng):
    many = ["".join(rng.choice(list("AC"), 12)) for _ in range(60)]
    y = np.array([s.count("AAC") for s in many], dtype=float)
    chosen = ks.select(many, y, [st.Spectrum([1, 2, 3], [0, 1]), st.Subsequence([2, 3])])
    assert len(chosen.tried) == 5 + 2  # no more mismatches than letters
    best = chosen.best.kernel.k2
    assert (best.length, best.mismatches) == (3, 0)
    of_gaps = [one.kernel_.get_params() for one in chosen.tried if isinstance(one.kernel.k2, st.Subsequence)]
    assert all(params[name] != 0.5 for params in of_gaps for name in params if name.endswith("__decay"))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: st.Spectrum(0), ValueError, "length: expected a whole number from 1 on"),
        (lambda: st.Spectrum(2, 2), ValueError, "mismatches: expected fewer"),
        (
            lambda: st.Spectrum(2, alphabet="ACGT")(["ACX"]),
            ValueError,
            r"X\[0\]: expected letters of the alphabet 'ACGT', got 'X'",
        ),
        (lambda: st.Spectrum(2)("ACGT"), TypeError, "X: expected a list of objects"),
        (lambda: st.Spectrum(2)([1.0]), TypeError, r"X\[0\]: expected a string or a sequence of tokens, got 1.0"),
        (lambda: Normalize(st.Spectrum(3))(["ACGT", "A"]), ValueError, "not positive for a point"),
        (lambda: st.Spectrum(2, alphabet=3.5), TypeError, "alphabet: expected a string or a sequence"),
        (lambda: st.Subsequence(2, alphabet="AAC"), ValueError, "alphabet: expected tokens that are all different"),
        (lambda: st.Spectrum(2, 1, alphabet=3)(["AC", "GT"]), ValueError, "alphabet: expected at least 4"),
        (lambda: st.Subsequence(2, 1.5), ValueError, "decay: expected a number above 0, up to 1"),
        (lambda: st.Subsequence(2, 0.5, (0.1, 5.0)), ValueError, "decay_bounds: expected numbers above 0, up to 1"),
        (lambda: st.LocalAlignment(-1.0), ValueError, "beta: expected"),
        (lambda: st.LocalAlignment(scores={("A", "A"): 1.0}), ValueError, "alphabet"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
