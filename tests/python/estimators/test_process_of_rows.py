"""Gaussian processes of rows in files, from functions, or in collections of Dask: those of the same rows in memory."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import kernsel as ks
from kernsel._solve.by_parts import Sizes
from kernsel.kernels import RBF

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

ROWS = 700
NEAR = ks.Nystrom(25)


@pytest.fixture(autouse=True)
def in_this_process():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (ROWS, 2))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(ROWS)


def lazy(X, y):
    return da.from_array(X, chunks=(150, 2)), da.from_array(y, chunks=150)


def close(found, expected, slack):
    np.testing.assert_allclose(found, expected, rtol=0, atol=slack * np.std(expected))


def test_known_hyperparameters_give_the_process_of_rows_in_memory(numbers):
    X, y = numbers
    near = ks.Nystrom(X[:25].copy())
    more = {"noise": 0.09, "optimizer": None, "approximation": near, "trend": "linear"}
    local = ks.GaussianProcessRegressor(2.0 * RBF(0.7), **more).fit(X, y)
    model = ks.GaussianProcessRegressor(2.0 * RBF(0.7), **more).fit(*lazy(X, y))
    slack = 1e4 * ROWS * np.finfo(float).eps  # rounding of sums in another order, times the condition of B
    for found, expected in zip(model.predict(X, return_std=True), local.predict(X, return_std=True), strict=True):
        close(found, expected, slack)
    assert model.criterion_value_ == pytest.approx(local.criterion_value_, rel=slack)
    assert model.log_marginal_likelihood_value_ == pytest.approx(local.log_marginal_likelihood_value_, rel=slack)
    assert "700 rows" in model.selection_.approximation
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X[:5]), model.predict(X[:5]))


def test_files_and_sources_take_the_place_of_arrays(numbers, tmp_path):
    X, y = numbers
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).to_parquet(tmp_path / "rows.parquet", row_group_size=200)
    np.save(tmp_path / "X.npy", X)
    more = {"noise": 0.09, "optimizer": None, "approximation": ks.Nystrom(X[:25].copy())}
    local = ks.GaussianProcessRegressor(RBF(0.7), **more).fit(X, y)
    parts = ks.row_source(lambda: iter([(X[:500], y[:500]), (X[500:], y[500:])]))
    for given in ((str(tmp_path / "rows.parquet"), "y"), (tmp_path / "X.npy", y), (parts,)):
        model = ks.GaussianProcessRegressor(RBF(0.7), **more).fit(*given)
        Z = pd.DataFrame(X[:9], columns=["a", "b"]) if hasattr(model, "feature_names_in_") else X[:9]
        close(model.predict(Z), local.predict(X[:9]), 1e4 * ROWS * np.finfo(float).eps)
    with pytest.raises(FileNotFoundError, match=r"X: there is no file absent\.parquet"):
        ks.GaussianProcessRegressor(RBF(0.7), **more).fit("absent.parquet", "y")


def test_hyperparameters_are_chosen_by_some_rows_or_by_all(numbers):
    X, y = numbers
    few = ks.Nystrom(25, search_rows=300)
    some = ks.GaussianProcessRegressor("RBF", approximation=few).fit(*lazy(X, y))
    assert "300 of them" in some.selection_.approximation
    every = ks.GaussianProcessRegressor("RBF", approximation=ks.Nystrom(25, search_rows=None)).fit(*lazy(X, y))
    assert every.criterion_value_ >= some.criterion_value_ - 1e-3 * abs(some.criterion_value_)
    assert "all of them" in every.selection_.approximation
    assert 0.05 < some.noise_ < 0.15
    assert 0.05 < every.noise_ < 0.15


def test_a_search_on_all_rows_ends_where_the_criterion_is_flat(numbers):
    X, y = numbers
    model = ks.GaussianProcessRegressor(1.0 * RBF([1.0, 1.0]), noise="auto", approximation=ks.Nystrom(X[:20], search_rows=None))
    model.fit(*lazy(X, y))
    at = ks.evaluate("lml", model.kernel_, *lazy(X, y), noise=model.noise_, gradient=True, approximation=ks.Nystrom(X[:20]))
    assert np.abs(at.gradient).max() < 0.05  # in units of the log likelihood
    assert abs(at.noise_gradient * model.noise_) < 0.05


def test_several_outputs_have_their_own_scales(numbers):
    X, y = numbers
    both = np.column_stack([y, 100 * y])
    model = ks.GaussianProcessRegressor("RBF", approximation=NEAR).fit(
        da.from_array(X, chunks=(150, 2)), da.from_array(both, chunks=(150, 2))
    )
    assert model.scale_[1] == pytest.approx(1e4 * model.scale_[0], rel=1e-6)
    mean, std = model.predict(da.from_array(X, chunks=(200, 2)), return_std=True)
    local = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean.compute(), local[0])
    np.testing.assert_array_equal(std.compute(), local[1])


def test_frames_are_predicted_lazily_with_their_names(numbers):
    X, y = numbers
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    frame = dd.from_pandas(table, npartitions=3)
    model = ks.GaussianProcessRegressor("RBF", approximation=NEAR).fit(frame[["a", "b"]], frame.y)
    assert list(model.feature_names_in_) == ["a", "b"]
    found = model.predict(frame[["a", "b"]])
    assert hasattr(found, "dask")
    np.testing.assert_array_equal(found.compute(), model.predict(table[["a", "b"]]))
    with pytest.raises(ValueError, match="expected 2 columns"):
        model.predict(frame[["a"]])


def test_refuses_what_rows_elsewhere_cannot(numbers):
    X, y = lazy(*numbers)
    for what, model in (
        ("normalize_y: expected False", ks.GaussianProcessRegressor(normalize_y=True)),
        ("approximation: expected kernsel.Nystrom", ks.GaussianProcessRegressor(approximation=None)),
        ("noise: expected one number", ks.GaussianProcessRegressor(noise=np.ones(ROWS))),
    ):
        with pytest.raises(ValueError, match=what):
            model.fit(X, y)
    with pytest.raises(ValueError, match="groups: expected None"):
        ks.GaussianProcessRegressor().fit(X, y, groups=np.zeros(ROWS))


def test_neighbours_are_those_of_rows_in_memory(numbers):
    X, y = numbers
    more = {"noise": 0.09, "optimizer": None, "approximation": ks.Vecchia(8, 20)}
    table = pd.DataFrame(X, columns=["a", "b"])
    local = ks.GaussianProcessRegressor(2.0 * RBF(0.7), **more).fit(table, y)
    frame = dd.from_pandas(table.assign(y=y), npartitions=3)
    model = ks.GaussianProcessRegressor(2.0 * RBF(0.7), **more).fit(frame[["a", "b"]], frame.y)
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(model.predict(frame[["a", "b"]]).compute(), local.predict(table))


def test_all_rows_choose_by_neighbours_from_what_some_chose(numbers, monkeypatch):
    from kernsel.estimators import process_of_parts

    X, y = numbers
    monkeypatch.setattr(process_of_parts, "_START_ROWS", 300)
    monkeypatch.setattr("kernsel._solve.by_parts.sizes_for", lambda _: Sizes(400, 200))
    near = ks.Vecchia(20, 40)
    model = ks.GaussianProcessRegressor("RBF", approximation=near, trend="constant").fit(*lazy(X, y))
    report = model.selection_
    assert "chosen by all rows, from what 300 of them chose: 700 rows in 2 parts of space" in report.approximation
    assert "predictions see the 40 nearest points" in report.approximation
    assert model.noise_ == report.noise
    here = ks.evaluate("lml", model.kernel_, *lazy(X, y), noise=model.noise_, trend="constant", approximation=near)
    assert here.value == pytest.approx(model.criterion_value_, abs=0.5)  # its neighbours were those of a kernel on the way
    local = ks.GaussianProcessRegressor(
        model.kernel_, noise=model.noise_, optimizer=None, trend="constant", approximation=near
    ).fit(X, y)
    np.testing.assert_array_equal(model.predict(X[:30]), local.predict(X[:30]))

    monkeypatch.setattr(process_of_parts, "_left_out_density", lambda kernel, *_: float(kernel is not model.kernel_))
    seen = []
    search = process_of_parts.find_by_parts

    def misled(criterion, kernel, *more, **options):
        seen.append((kernel, options["noise"]))
        return replace(search(criterion, kernel, *more, **{**options, "most": 1}), kernel=model.kernel_, noise=1.0)

    monkeypatch.setattr(process_of_parts, "find_by_parts", misled)
    kept = ks.GaussianProcessRegressor("RBF", approximation=near, trend="constant").fit(*lazy(X, y))
    assert "so that the start was kept" in kept.selection_.approximation
    np.testing.assert_array_equal(kept.kernel_.theta, seen[0][0].theta)
    assert kept.noise_ == pytest.approx(seen[0][1])
    in_memory = ks.GaussianProcessRegressor("RBF", approximation=near, criterion="loo").fit(*lazy(X, y))
    assert "by all rows" not in in_memory.selection_.approximation  # a criterion that does not see the scale


def test_rows_that_do_not_fit_into_memory_are_refused_before_they_are_read(numbers, monkeypatch):
    X, y = lazy(*numbers)
    monkeypatch.setattr("kernsel.estimators.rows_in_memory._COPIES", 10**12)
    unread = X.map_blocks(lambda _: pytest.fail("a block was read"), dtype=float, meta=np.zeros((0, 2)))
    with pytest.raises(MemoryError, match=r"nearest of 700 rows.*Nystrom\(\) keeps no rows"):
        ks.GaussianProcessRegressor("RBF", approximation=ks.Vecchia()).fit(unread, y)


def test_landmarks_are_more_where_few_miss_more_than_the_noise_hides(numbers, monkeypatch):
    """Only if their number was not asked for; and a warning says it if they are still too few."""
    from kernsel.estimators import process_of_rows

    X, y = numbers
    monkeypatch.setattr(process_of_rows, "approximation_of_rows", lambda _: ks.Nystrom(25))
    fixed = {"noise": 1e-3, "optimizer": None}
    model = ks.GaussianProcessRegressor(RBF(0.2), **fixed).fit(*lazy(X, y))
    assert len(model.posterior_.landmarks) > 25
    assert model.posterior_.missing < 1
    with pytest.warns(UserWarning, match="approximation: 25 landmarks, which miss .* times the noise"):
        few = ks.GaussianProcessRegressor(RBF(0.2), approximation=ks.Nystrom(25), **fixed).fit(*lazy(X, y))
    assert len(few.posterior_.landmarks) == 25
    assert "too few for so little noise" in few.selection_.approximation
