"""Automatic kernels of data frames with columns of texts."""

import numpy as np
import pytest

import kernsel as ks
from kernsel._data.categories import with_categories
from kernsel.kernels import RBF

pd = pytest.importorskip("pandas")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    kinds = np.array(["a", "b"])[np.arange(40) % 2]
    return pd.DataFrame({"x": rng.uniform(0, 6, 40), "kind": kinds, "whole": np.arange(40) % 5})


def test_columns_of_texts_are_factors(frame):
    expected = "RBF('auto').on(['x', 'whole']) * Exchangeable('auto').on(['kind'])"
    assert str(with_categories(RBF("auto"), frame)) == expected
    assert str(with_categories(RBF("auto"), frame.astype({"kind": "category"}))) == expected
    assert str(with_categories(RBF("auto"), frame[["kind"]])) == "'auto' * Exchangeable('auto').on(['kind'])"
    assert with_categories(RBF("auto"), frame[["x"]]) == RBF("auto")
    assert with_categories(RBF("auto"), [[1.0]]) == RBF("auto")


@pytest.mark.parametrize(
    "model",
    [
        ks.GaussianProcessRegressor(),
        ks.KernelRidge("auto", alpha=1e-4),
        ks.SVR("auto", C=10.0, epsilon=0.01),
        ks.KernelInterpolator("auto"),
        ks.GaussianProcessClassifier("auto"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_take_texts(model, frame):
    y = np.sin(frame["x"]) + 2.0 * (frame["kind"] == "a")
    y = y > 1 if isinstance(model, ks.GaussianProcessClassifier) else y
    assert model.fit(frame, y).score(frame[::-1], y[::-1]) > 0.9
    with pytest.raises(ValueError, match=r"^X: column 'kind' has texts or levels, and this kernel is one of numbers"):
        type(model)("RBF").fit(frame, y)  # a kernel of all columns, of which one has texts
