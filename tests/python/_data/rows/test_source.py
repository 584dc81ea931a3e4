"""The checks of rows: what is wrong, and where."""

import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as arrow
import pytest
from pyarrow import parquet

from kernsel._data.rows import row_source


def error_of(source):
    with pytest.raises(ValueError, match=r"^(X|y|noise|sample_weight)") as raised:
        list(source.blocks())
    return str(raised.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_found(bad, rng, tmp_path):
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    X[7, 1] = bad
    assert error_of(row_source(X, y, block=5)) == "X: contains NaN or infinity, first at row 7, column 1"
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert error_of(row_source(frame, y)) == "X: contains NaN or infinity, first at row 7, column 'b'"
    path = tmp_path / "x.parquet"
    parquet.write_table(arrow.table(dict(frame)), path, row_group_size=5)
    where = "X: contains NaN or infinity, first at row 7, column 'b'"
    assert error_of(row_source(path)) == f"{where} (row 2 of {path}, row group 1)"
    lazy = dask.dataframe.from_pandas(frame, npartitions=2)
    assert error_of(row_source(lazy)) == f"{where} (row 1 of partition 1)"
    assert error_of(row_source(rng.normal(size=(12, 3)), X[:, 1])) == "y: contains NaN or infinity, first at row 7"


def test_huge_numbers_are_finite():
    X = np.full((4, 2), 1e308)
    assert sum(map(len, row_source(X * [1, -1]).blocks())) == 4


def test_missing_values_of_arrow_are_nan():
    assert error_of(row_source(arrow.table({"a": [1.0, None]}))) == "X: contains NaN or infinity, first at row 1, column 'a'"


def test_blocks_with_other_columns_are_refused(tmp_path):
    parts = [np.zeros((3, 2)), np.zeros((0, 2)), np.zeros((3, 1))]
    assert error_of(row_source(lambda: parts)) == "X in block 2: expected 2 columns, got shape (3, 1)"
    frames = [pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})]
    assert "no column 'a' in block 1" in error_of(row_source(lambda: frames))
    for name in ("a", "b"):
        parquet.write_table(arrow.table({name: [1.0]}), tmp_path / f"{name}.parquet")
    assert error_of(row_source(tmp_path)) == f"X: there is no column 'a' in {tmp_path / 'b.parquet'}"
    assert "y in block 1: expected 1 targets" in error_of(
        row_source(lambda: [(np.ones((1, 1)), [1.0]), (np.ones((2, 1)), [1.0])])
    )


def test_noise_and_weights_are_checked():
    X = np.zeros((6, 1))
    noise = np.array([1, 1, 1, 1, -1.0, 1])
    assert (
        error_of(row_source(X, noise=noise, block=3))
        == "noise: expected finite numbers that are not negative, got -1.0 at row 4"
    )
    assert "sample_weight: expected finite" in error_of(row_source(X, sample_weight=np.full(6, np.nan)))
    (block,) = row_source(X, noise=0.5).blocks()
    np.testing.assert_array_equal(block.noise, np.full(6, 0.5))
    assert block.weights is None


def test_empty_blocks_are_fine_and_no_rows_are_not():
    blocks = [(np.zeros((k, 2)), np.zeros(k)) for k in (0, 2, 0, 3, 0)]
    assert [len(block) for block in row_source(lambda: blocks).blocks()] == [0, 2, 0, 3, 0]
    for nothing in (np.zeros((0, 2)), lambda: [np.zeros((0, 2))], arrow.table({"a": np.zeros(0)})):
        assert error_of(row_source(nothing)) == "X: there are no rows; expected one at least"
    with pytest.raises(ValueError, match="there are no rows"):
        row_source(lambda: [])


def test_a_function_that_does_not_begin_anew_is_told():
    rows = [np.ones((2, 1)), np.ones((3, 1))]
    calls = []

    def once():
        calls.append(1)
        return iter(rows if len(calls) < 3 else [])

    source = row_source(once)
    assert sum(map(len, source.blocks())) == 5
    assert "X: 0 rows, where it had 5 before; each pass has to read all rows anew" in error_of(source)


def test_entries_beside_rows_are_counted():
    source = row_source(lambda: [np.ones((2, 1)), np.ones((3, 1))], np.ones(6))
    assert error_of(source) == "y: 6 entries, where X has 5 rows; expected one for each"
