"""The training set: what estimators learn from, read once."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from kernsel._data.training import require_squares, training_set
from kernsel.kernels import RBF, Precomputed
from kernsel.kernels.objects import Mixed
from kernsel.structured import Spectrum

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)


class Model(BaseEstimator):
    """An estimator that only reads."""


def test_arrays_are_taken_as_they_are():
    model = Model()
    given = training_set(model, RBF("auto"), X, Y)
    assert given.X is X
    assert given.original is X
    assert given.y is Y
    assert given.targets.shape == (6, 1)
    assert given.names is given.weights is None
    assert given.used == slice(None)
    assert given.total_weight == 6
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert given.resolved().kernel == RBF("auto").for_data(X, Y)
    kernel, points = given.resolved().kernel_and_points()
    assert kernel == given.resolved().kernel
    assert points is given.X


@pytest.mark.parametrize(
    ("points", "targets"),
    [
        (X.tolist(), Y.tolist()),
        (X.astype(np.float32), Y),
        (np.asfortranarray(X), Y.astype(int)),
        (sparse.csr_matrix(X), Y),
        (pd.DataFrame(X, columns=["a", "b"]), pd.Series(Y)),
    ],
    ids=["lists", "single", "whole", "sparse", "table"],
)
def test_other_forms_of_the_same(points, targets):
    model = Model()
    given = training_set(model, RBF("auto"), points, targets, accept_sparse=("csr",))
    assert given.X.dtype == given.y.dtype == np.float64
    assert np.array_equal(given.X, X)
    assert np.array_equal(given.y, Y)
    assert given.names == (["a", "b"] if hasattr(points, "columns") else None)
    assert sparse.issparse(given.original) == sparse.issparse(points)


def test_single_precision():
    given = training_set(Model(), RBF(1.0), X.astype(np.float32), Y, single=True)
    assert given.X.dtype == given.y.dtype == np.float32
    assert given.least == pytest.approx(6 * np.finfo(np.float32).eps)
    assert given.in_double().X.dtype == given.in_double().y.dtype == np.float64
    assert training_set(Model(), RBF(1.0), X, Y, single=True).least == 0


def test_points_without_weight():
    weights = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 1.0])
    given = training_set(Model(), RBF(3.0), X, Y, weights)
    assert given.used.tolist() == [0, 2, 3, 5]
    assert given.weights_used.tolist() == [1.0, 2.0, 1.0, 1.0]
    assert given.total_weight == 5
    assert np.array_equal(given.matrix(), RBF(3.0)(X[given.used]))


def test_a_matrix_is_a_kernel_of_the_numbers_of_its_rows():
    K = RBF(3.0)(X)
    given = training_set(Model(), "precomputed", K, Y, [1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    kernel, points = given.kernel_and_points()
    assert isinstance(kernel, Precomputed)
    assert np.array_equal(kernel(points), K)
    assert np.array_equal(given.matrix(), K[np.ix_(given.used, given.used)])
    with pytest.raises(ValueError, match=r"expected a square kernel matrix.*got shape \(6, 2\)"):
        training_set(Model(), "precomputed", X, Y)


def test_a_name_stands_for_a_kernel_that_the_points_decide():
    given = training_set(Model(), "rbf", X, Y, named=lambda name, points: RBF(float(len(name) + points.shape[1])))
    assert given.kernel == RBF(5.0)


def test_objects_are_numbers_that_the_kernel_reads():
    words = ["to", "be", "or", "not", "to", "be"]
    model = Model()
    given = training_set(model, Spectrum(1), words, Y)
    assert given.X.shape == (6, 1)
    assert np.array_equal(given.kernel(given.X), Spectrum(1)(words))
    assert not hasattr(model, "n_features_in_")
    parts = Mixed(word=words, x=X)
    both = RBF(2.0).on(["x"]) * Spectrum(1).on(["word"])
    assert np.array_equal(training_set(Model(), both, parts, Y).matrix(), both(parts))
    with pytest.raises(TypeError, match="expected one that names the parts of X"):
        training_set(Model(), "precomputed", parts, Y)
    with pytest.raises(ValueError, match="y: expected one target for each point"):
        training_set(Model(), Spectrum(1), words, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        training_set(Model(), Spectrum(1), words, Y[:-1])


def test_labels():
    given = training_set(Model(), RBF(), X, list("abcabc"), labels=True)
    assert given.y.tolist() == list("abcabc")


@pytest.mark.parametrize("bad", [np.full((6, 2), np.nan), X[:0], X[:, :0], X[:5], X[:, 0], X.astype(complex)])
def test_what_scikit_learn_refuses(bad):
    with pytest.raises(ValueError, match=r"NaN|0 sample|0 feature|inconsistent|1D array|[Cc]omplex"):
        training_set(Model(), RBF(), bad, Y)


def test_squares():
    require_squares(np.array([1e150, 0.0]))
    with pytest.raises(ValueError, match="overflow; divide it by a number, such as 1e\\+160"):
        require_squares(np.array([1e160]))
    with pytest.raises(ValueError, match="underflow; multiply it by a number, such as 1e\\+160"):
        require_squares(np.array([1e-160]))
