"""Tables with categories: which kernels are tried, and what is said of them."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, CorrelatedLevels, Exchangeable
from kernsel.study.categories import kernels_of_categories
from kernsel.study.encoded import encoded
from kernsel.study.structure import describe


def table(n=60, seed=0):
    """Return a table in which one metal behaves in the opposite way of two others."""
    rng = np.random.default_rng(seed)
    load, metal = rng.uniform(0, 6, n), np.array(["iron", "steel", "copper"])[np.arange(n) % 3]
    sign = np.where(metal == "copper", -1.0, 1.0)
    return {
        "load": load,
        "metal": metal,
        "size": rng.choice(["big", "small"], n),
        "wear": sign * np.sin(load) + 0.05 * rng.standard_normal(n),
    }


@pytest.mark.parametrize(
    ("columns", "n", "expected"),
    [
        (
            ["load", "metal", "size"],
            60,
            [
                "RBF('auto').on([0]) * Exchangeable('auto').on([1, 2, 3]) * Exchangeable('auto').on([4])",
                "Matern('auto', nu=2.5).on([0]) * Exchangeable('auto').on([1, 2, 3]) * Exchangeable('auto').on([4])",
                "RBF('auto').on([0]) * CorrelatedLevels(1).on([1, 2, 3]) * Exchangeable('auto').on([4])",
                "Matern('auto', nu=2.5).on([0]) * CorrelatedLevels(1).on([1, 2, 3]) * Exchangeable('auto').on([4])",
            ],
        ),
        (["metal"], 60, ["Exchangeable('auto').on([0, 1, 2])", "CorrelatedLevels(1).on([0, 1, 2])"]),
        (["metal"], 24, ["Exchangeable('auto').on([0, 1, 2])"]),  # eight rows a level
        (["load"], 60, []),
    ],
)
def test_kernels_that_are_tried(columns, n, expected):
    given = {name: values for name, values in table(n).items() if name in [*columns, "wear"]}
    found = [str(k).replace(", W='auto'", "") for k in kernels_of_categories(encoded(given, "wear", classes=False)[0])]
    assert found == expected


def test_means_of_missing_values_are_no_levels():
    """Where means stand for missing values, 0/1 columns have other numbers, which are other levels for one kernel only."""
    found, _ = encoded({name: values for name, values in table().items() if name != "size"}, "wear", classes=False)
    found.X[0, 1:] = 1 / 3
    assert not any("Correlated" in str(k) for k in kernels_of_categories(found))
    assert Exchangeable(0.5).on([1, 2, 3])(found.X)[0].tolist() == [1.0] + [0.5] * 59


def test_levels_in_opposite_ways_are_found_by_likelihood():
    found = ks.select(table(), target="wear", criterion="lml")
    assert len(found.tried) == 11
    products = [one for one in found.tried if "CorrelatedLevels" in str(one.kernel)]
    others = [one for one in found.tried if "CorrelatedLevels" not in str(one.kernel)]
    assert found.best is products[0]
    assert products[0].value > others[0].value + 10
    assert ".on(['metal'])" in str(found)
    names = ["load", "metal=copper", "metal=iron", "metal=steel", "size=small"]
    assert "differs between levels of metal" in describe(products[0].kernel_, names=names)


def test_words():
    text = describe(2.0 * RBF(1.0).on([0]) * Exchangeable(0.25).on([1, 2]), names=["x", "c=a", "c=b"])
    assert "changes over 1 in x that differs between levels of c, by a correlation of 0.25, of amplitude" in text
    only = describe(4.0 * CorrelatedLevels(1, [[1.0], [2.0]]).on([1]), names=["x", "c=b"])
    assert only == "a constant for each level of c, of amplitude 2"
