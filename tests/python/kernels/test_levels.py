"""Levels of the columns of data frames: their codes, their order, and what is missing or new."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, CorrelatedLevels, Exchangeable, GroupedLevels, Linear, OrderedLevels

pd = pytest.importorskip("pandas")


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    colours = np.array(["red", "green", "blue"])[rng.integers(0, 3, 40)]
    return pd.DataFrame({"x": rng.uniform(0, 6, 40), "colour": colours, "size": rng.choice([10, 20, 40], 40)})


@pytest.fixture
def y(frame):
    shift = frame["colour"].map({"red": 0.0, "green": 0.3, "blue": 2.0})
    return (np.sin(frame["x"] + shift) + 0.02 * frame["size"]).to_numpy()


OF_X = ConstantKernel("auto") * RBF("auto").on(["x"])
BY_NAME = {
    "exchangeable": Exchangeable("auto").on(["colour"]),
    "correlated": CorrelatedLevels(1).on(["colour"]),
    "grouped": GroupedLevels([["red", "green"], ["blue"]], "auto", "auto").on(["colour"]),
    "ordered": OrderedLevels().on(["size"]) * Exchangeable("auto").on(["colour"]),
    "told": OrderedLevels(levels=["red", "green", "blue", "violet"]).on(["colour"]),
    "two columns": Exchangeable("auto").on(["colour", "size"]),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_frames_are_read_as_codes(name, frame, y, tmp_path):
    """The same as with an array of codes, also after it was saved, and with the columns in another order."""
    model = ks.GaussianProcessRegressor(OF_X * BY_NAME[name], trend="constant", noise=1e-4).fit(frame[:30], y[:30])
    rest = frame[30:]
    order = {"told": ["red", "green", "blue"], "grouped": ["red", "green", "blue"]}.get(name, ["blue", "green", "red"])
    numbers = np.column_stack([frame["x"], frame["colour"].map(order.index), frame["size"].map([10, 20, 40].index)]).astype(
        float
    )
    by_code = model.kernel_.clone_with_theta(model.kernel_.theta)  # bound to columns by their indices, so that it takes codes
    plain = ks.GaussianProcessRegressor(by_code, trend="constant", noise=1e-4, optimizer=None).fit(numbers[:30], y[:30])
    expected = model.predict(rest)
    assert np.allclose(plain.posterior_.mean(numbers[30:])[:, 0], expected, rtol=0, atol=1e-9)
    assert np.array_equal(model.predict(rest[["size", "colour", "x"]]), expected)
    model_file = str(tmp_path / "model.ksl")
    ks.save(model, model_file)
    assert np.allclose(ks.load(model_file).predict(rest), expected, rtol=0, atol=1e-12)


def test_new_levels(frame, y):
    new = pd.DataFrame({"x": [1.0, 1.0], "colour": ["mauve", "pink"], "size": [10, 10]})
    gp = ks.GaussianProcessRegressor(OF_X * BY_NAME["exchangeable"], trend="constant", noise=1e-4).fit(frame, y)
    mean, cov = gp.predict(new, return_cov=True)
    r = gp.kernel_.k2.kernel.correlation
    amplitude = gp.kernel_.k1.k1.constant_value
    assert mean[0] == mean[1]
    prior = amplitude * r  # between two new levels at one point
    known = gp.predict(new.assign(colour="red"), return_std=True)[1]
    assert 0 < cov[0, 1] < prior
    assert cov[0, 0] > known[0] ** 2
    strict = ks.GaussianProcessRegressor(OF_X * BY_NAME["correlated"], trend="constant", noise=1e-4).fit(frame, y)
    with pytest.raises(ValueError, match=r"^X: row 0 has the level 'mauve', of which CorrelatedLevels knows nothing; expected"):
        strict.predict(new)


def test_levels_that_are_declared(frame, y):
    """Levels of a Categorical are known even if no training point has them, in its order."""
    declared = frame.assign(colour=pd.Categorical(frame["colour"], ["white", "red", "green", "blue"], ordered=True))
    gp = ks.GaussianProcessRegressor(OF_X * OrderedLevels().on(["colour"]), trend="constant", noise=1e-4).fit(declared, y)
    assert len(gp.kernel_.k2.kernel.gaps) == 3
    assert np.isfinite(gp.predict(declared[:1].assign(colour="white"))).all()


@pytest.mark.parametrize(
    ("kernel", "change", "message"),
    [
        (Exchangeable().on(["colour"]), {"colour": None}, "X: column 'colour' has a missing value in row 0; expected a level"),
        (OrderedLevels().on(["colour"]), {}, "levels: 'blue', 'green', 'red' have no order that the data tell; give them"),
        (
            CorrelatedLevels(levels=["red"]).on(["colour"]),
            {},
            r"levels: expected all levels of 'colour', got \['red'\] without",
        ),
        (CorrelatedLevels().on(["colour", "size"]), {}, r"kernel: CorrelatedLevels.* is of one column of levels, got 2"),
        (Exchangeable().on(["colour"]) + Linear().on(["colour"]), {}, "kernel: Linear.* is one of numbers, and the points are"),
        (Exchangeable().on(["shade"]), {}, "columns: shade not among the parts of the points: x, colour, size"),
    ],
)
def test_what_is_wrong_is_said(kernel, change, message, frame, y):
    with pytest.raises(ValueError, match=f"^{message}"):
        ks.GaussianProcessRegressor(RBF("auto").on(["x"]) * kernel).fit(frame.assign(**change), y)
