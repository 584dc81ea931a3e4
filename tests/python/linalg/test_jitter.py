"""One policy for matrices that are singular to rounding."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.linalg.jitter import least_jitter, with_jitter


def test_the_least_is_rounding_of_the_matrix():
    assert least_jitter(100, 2.0) == 2 * 4 * 10 * np.finfo(float).eps


def test_ten_times_as_much_until_it_is_enough():
    tried = []

    def attempt(jitter):
        tried.append(jitter)
        if jitter < 5e-13:
            raise np.linalg.LinAlgError
        return "factor"

    assert with_jitter(1e-15, attempt) == ("factor", tried[-1])
    assert tried == pytest.approx([1e-15, 1e-14, 1e-13, 1e-12])


@pytest.mark.parametrize(("jitter", "attempts"), [(1e-15, 6), (0.0, 1)])
def test_there_is_an_end(jitter, attempts):
    tried = []

    def attempt(jitter):
        tried.append(jitter)
        raise np.linalg.LinAlgError("pivot")

    with pytest.raises(np.linalg.LinAlgError, match="pivot"):
        with_jitter(jitter, attempt)
    assert len(tried) == attempts


def test_it_is_reported_after_the_fit():
    X = np.linspace(0, 1e-3, 40)[:, None]  # points so close that the matrix is all but singular
    gp = ks.GaussianProcessRegressor(RBF(1.0, "fixed"), optimizer=None).fit(X, np.cos(X[:, 0]))
    assert gp.jitter_ >= least_jitter(40, 1.0)
    assert gp.predict(X) == pytest.approx(np.cos(X[:, 0]), abs=1e-6)
    with pytest.raises(np.linalg.LinAlgError, match="not returning a positive definite matrix"):
        ks.GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.0, optimizer=None).fit(X, np.cos(X[:, 0]))
