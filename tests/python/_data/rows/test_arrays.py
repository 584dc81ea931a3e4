"""Arrays on disk are read in slices."""

import tracemalloc

import numpy as np
import pytest

from kernsel._data.rows import row_source

ROWS, COLUMNS = 800_000, 8  # 51 MB


def test_a_pass_over_a_file_does_not_hold_it(tmp_path):
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float64, shape=(ROWS, COLUMNS))
    mapped[:] = np.arange(COLUMNS)
    mapped.flush()
    del mapped
    source = row_source(tmp_path / "X.npy", block=50_000)
    tracemalloc.start()
    total = sum(float(block.X.sum()) for block in source.blocks())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == ROWS * sum(range(COLUMNS))
    assert peak < 3 * 50_000 * COLUMNS * 8  # of the 16 blocks


def test_arrays_in_memory_are_not_copied(rng):
    X = rng.normal(size=(10, 3))
    assert all(np.shares_memory(block.X, X) for block in row_source(X, block=4).blocks())


def test_files_that_are_no_arrays(tmp_path):
    (tmp_path / "X.npy").write_text("no array")
    with pytest.raises(ValueError, match=r"X.npy cannot be read as .npy"):
        row_source(tmp_path / "X.npy")
    np.save(tmp_path / "texts.npy", np.array([["a"]]))
    with pytest.raises(ValueError, match="X: expected numbers, got an array of type"):
        row_source(tmp_path / "texts.npy")
