"""Hyperparameters of a report, with columns, units and bounds."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, Linear
from kernsel.report import about_model
from kernsel.report.parameters import numbers_of

from reported import of_model, table_of

pytest.importorskip("matplotlib")


def test_numbers_have_columns_units_and_bounds():
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 10, (40, 2))
    y = np.sin(X[:, 0])
    kernel = 2.0 * RBF([5.0, 1.0], [[4.0, 1e2], [1e-2, 20.0]]) + Linear(3.0).on([1])
    table = table_of(X, y, ["time (s)", "width [mm]"], "force (N)")
    found = of_model(ks.GaussianProcessRegressor(kernel, noise="auto", trend="constant").fit(X, y), table)
    numbers = numbers_of(found)
    assert [(n.part, n.what, n.column, n.unit) for n in numbers] == [
        ("ConstantKernel", "variance", "", "N²"),
        ("RBF", "length scale", "time (s)", "s"),
        ("RBF", "length scale", "width [mm]", "mm"),
        ("Linear", "length scale", "width [mm]", "mm"),
    ]
    np.testing.assert_allclose(np.log([n.value for n in numbers]), found.model.selection_.kernel.theta)
    assert [n.bound for n in numbers][:3] == ["", "lower", "upper"]
    page = about_model.model(found)
    assert "at its upper bound" in page
    assert "at its lower bound" in page
    assert "At a bound of the search ended" in page
