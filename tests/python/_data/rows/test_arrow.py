"""Parquet files and datasets are read in parts of row groups."""

import sys
import tracemalloc

import numpy as np
import pyarrow as arrow
import pyarrow.dataset
import pytest
from pyarrow import parquet

from kernsel._data.rows import row_source

ROWS, COLUMNS = 800_000, 8  # 51 MB


@pytest.mark.parametrize(("form", "group"), [("file", ROWS), ("dataset", 50_000)])
def test_a_pass_does_not_hold_the_file(tmp_path, form, group):
    path = tmp_path / "x.parquet"
    table = arrow.table({f"x{k}": np.arange(ROWS) + 1.0 * k for k in range(COLUMNS)})
    parquet.write_table(table, path, row_group_size=group, compression="none", use_dictionary=False)
    del table
    given = path if form == "file" else pyarrow.dataset.dataset(path)
    source = row_source(given, columns=["x0", "x3", "x5"], block=50_000)
    before, held, total = arrow.total_allocated_bytes(), 0, 0.0
    tracemalloc.start()
    for block in source.blocks():
        total += float(block.X[:, 1].sum())
        held = max(held, arrow.total_allocated_bytes() - before)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == ROWS * (ROWS - 1) / 2 + 3 * ROWS
    assert path.stat().st_size > 50e6
    numbers = 50_000 * 3 * 8  # of a block, of which there are 16
    assert peak < 4 * numbers
    assert held < 6 * numbers + 3 * 2**20  # pyarrow decodes ahead, and reads a megabyte of each column


def test_large_row_groups_are_divided(tmp_path, rng):
    x = rng.normal(size=100)
    parquet.write_table(arrow.table({"x": x}), tmp_path / "x.parquet")
    blocks = list(row_source(tmp_path / "x.parquet", block=30).blocks())
    assert [len(block) for block in blocks] == [30, 30, 30, 10]
    assert blocks[2].place.endswith("x.parquet, row group 0 from its row 60 on")


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "x.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"Parquet files need pyarrow: pip install 'kernsel\[parquet\]'"):
        row_source(tmp_path / "x.parquet")


def test_a_file_that_is_no_parquet(tmp_path):
    (tmp_path / "x.parquet").write_text("no Parquet, although it is called so")
    with pytest.raises(ValueError, match=r"x.parquet cannot be read as Parquet"):
        row_source(tmp_path / "x.parquet")
