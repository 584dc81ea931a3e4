"""The same rows from everything that a user may give."""

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as arrow
import pyarrow.dataset
import pytest
from pyarrow import parquet

from kernsel._data.rows import row_source

N, NAMES = 23, ["a", "b.c", "y", "v", "w"]


@pytest.fixture
def numbers(rng):
    """Return all columns: two of points, the target, the variances of the noise, the weights."""
    return np.abs(rng.normal(size=(N, 5)))


def table_of(numbers, rows=slice(None)):
    return arrow.table({name: numbers[rows, k] for k, name in enumerate(NAMES)})


def in_blocks(numbers, size):
    return lambda: (numbers[k : k + size] for k in range(0, N, size))


COLUMNS = {"columns": ["a", "b.c"], "target": "y", "noise": "v", "sample_weight": "w"}
INDICES = {"columns": [0, 1], "target": 2}


def sources(numbers, folder):
    """Yield what may be given, with the other arguments, whose blocks have at most five rows."""
    X, y, noise, weights = numbers[:, :2], numbers[:, 2], numbers[:, 3], numbers[:, 4]
    beside = {"noise": noise, "sample_weight": weights}
    frame, table = pd.DataFrame(numbers, columns=NAMES), table_of(numbers)
    yield "arrays", (X, y), beside | {"block": 5}
    yield "single precision by columns", (np.asfortranarray(X), y[:, None]), beside | {"block": 5}
    yield "one array", (numbers,), beside | INDICES | {"block": 5}
    np.save(folder / "X.npy", np.asfortranarray(X))
    np.save(folder / "y.npy", y)
    yield "files", (folder / "X.npy", str(folder / "y.npy")), beside | {"block": 5}
    mapped = np.memmap(folder / "X.bin", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    yield "a memory map", (mapped, y), beside | {"block": 5}
    yield "pandas", (frame,), COLUMNS | {"block": 5}
    yield "pandas with an array", (frame[["a", "b.c"]], y), beside | {"block": 5}
    yield "polars", (pl.DataFrame(frame),), COLUMNS | {"block": 5}
    yield "a table", (table,), COLUMNS | {"block": 5}
    parquet.write_table(table, folder / "all.parquet", row_group_size=5)
    yield "a Parquet file", (folder / "all.parquet",), COLUMNS
    yield "a Parquet file with arrays", (str(folder / "all.parquet"), y), beside | {"columns": ["a", "b.c"], "block": 5}
    parts = folder / "parts"
    (parts / "_temporary").mkdir(parents=True)
    (parts / "_temporary" / "x.parquet").write_text("no Parquet")
    for part, rows in enumerate((slice(0, 9), slice(9, 9), slice(9, N))):
        parquet.write_table(table_of(numbers, rows), parts / f"{part}.parquet")
    files = sorted(parts.glob("*.parquet"))
    yield "a directory", (parts,), COLUMNS | {"block": 5}
    yield "files of Parquet", (files,), COLUMNS | {"block": 5}
    yield "a dataset", (pyarrow.dataset.dataset([str(file) for file in files]),), COLUMNS | {"block": 5}
    yield "an array of Dask", (dask.array.from_array(X, (5, 1)), dask.array.from_array(y, 7)), beside
    frames = dask.dataframe.from_pandas(frame, npartitions=4)
    yield "frames of Dask", (frames,), COLUMNS
    yield "a frame and a series of Dask", (frames[["a", "b.c"]], frames["y"]), {"noise": frames["v"], "sample_weight": weights}
    yield "arrays of unknown size", (frames[["a", "b.c"]].values, frames["y"].values), beside
    yield "a function", (lambda: ((b[:, :2], b[:, 2], b[:, 3], b[:, 4]) for b in in_blocks(numbers, 5)()),), {}
    yield "a function of lists", (lambda: [b[:, :2].tolist() for b in in_blocks(numbers, 5)()], y.tolist()), beside
    yield "a function of tables", (lambda: table.to_reader(max_chunksize=5),), COLUMNS


def test_all_sources_have_the_same_rows_each_time(numbers, tmp_path):
    tried = 0
    for name, given, options in sources(numbers, tmp_path):
        source = row_source(*given, **options)
        assert (source.n_columns, source.n_outputs) == (2, 1), name
        assert source.names in (None, ["a", "b.c"]), name
        assert source.n_rows in (None, N), name
        for _ in range(2):
            blocks = list(source.blocks())
            assert source.n_rows == N, name
            assert max(map(len, blocks)) <= 7, name
            assert [block.first for block in blocks] == np.cumsum([0, *map(len, blocks)])[:-1].tolist(), name
            assert all(block.X.flags.c_contiguous and block.X.dtype == np.float64 for block in blocks), name
            together = [np.vstack([b.X for b in blocks]), np.vstack([b.y for b in blocks])]
            together += [np.concatenate([b.noise for b in blocks]), np.concatenate([b.weights for b in blocks])]
            np.testing.assert_array_equal(np.column_stack(together), numbers, err_msg=name)
        tried += 1
    assert tried == 21


def test_columns_that_are_not_named_are_inputs(numbers, tmp_path):
    parquet.write_table(table_of(numbers), tmp_path / "all.parquet")
    assert row_source(tmp_path / "all.parquet", target=["y", "w"]).names == ["a", "b.c", "v"]
    source = row_source(numbers, target=-1)
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.X, numbers[:, :4])
    np.testing.assert_array_equal(block.y, numbers[:, 4:])


def test_types_of_columns_are_numbers():
    whole, truth = [1, 2, 3], [True, False, True]
    expected = np.column_stack([whole, truth]).astype(float)
    nullable = pd.DataFrame({"a": pd.array(whole, dtype="Int64"), "b": pd.array(truth, dtype="boolean")})
    for table in (pd.DataFrame({"a": whole, "b": truth}), nullable, pl.DataFrame({"a": whole, "b": truth})):
        (block,) = row_source(table).blocks()
        np.testing.assert_array_equal(block.X, expected)
    (block,) = row_source(arrow.Table.from_pandas(nullable, preserve_index=False)).blocks()
    np.testing.assert_array_equal(block.X, expected)


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame({"a": ["1", "u"]}), pl.DataFrame({"a": ["1", "u"]}), arrow.table({"a": ["1", "u"]})],
    ids=["pandas", "polars", "arrow"],
)
def test_texts_are_refused(table):
    with pytest.raises(ValueError, match=r"X: column 'a' is of type .*; expected numbers"):
        list(row_source(table).blocks())


def test_arguments_that_say_nothing(numbers, tmp_path):
    X, y, table = numbers[:, :2], numbers[:, 2], table_of(numbers)
    for given, options, words in (
        ((iter([X]),), {}, "can be read only once; expected a function"),
        ((table.to_reader(),), {}, "can be read only once; expected a function"),
        ((row_source(X), y), {}, "it is a source of rows already"),
        ((numbers, y), {"target": 2}, "y, target: expected one of them"),
        ((table,), {"target": "Y"}, "target: there is no column 'Y'; did you mean 'y'"),
        ((table,), {"columns": ["a", "y"], "target": "y"}, "columns: 'y' cannot be an input"),
        ((numbers,), {"target": "y"}, "target: expected indices of the 5 columns of X"),
        ((X, y[:-1]), {}, "y: 22 entries, where X has 23 rows"),
        ((X,), {"sample_weight": "w"}, "weights: expected an array or the path"),
        (("data.txt",), {}, "there is no file data.txt"),
        ((X, dask.array.from_array(y)), {}, "y: expected no collection of Dask, since X is none"),
        ((X,), {"block": 0}, "block: expected a whole number from 1 on"),
        ((X[:, 0],), {}, "X: expected two dimensions"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=words):
            row_source(*given, **options)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="is a directory without Parquet files"):
        row_source(tmp_path / "empty")
