"""Files that are read a part of their rows at a time."""

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as arrow
import pytest
from pyarrow import parquet

from kernsel.study.tables import columns_of, is_large, parts, read_in_parts, read_sample, read_table
from kernsel.study.tables.files import read_raw
from kernsel.study.tables.parts import read_some

FRAME = pd.DataFrame({"x": np.arange(40) / 8, "kind": ["u", "v", None, "w"] * 10, "y": np.arange(40.0) ** 2})


@pytest.fixture
def files(tmp_path, put):
    """Return the same rows as text, in Parquet, and in a directory of Parquet files."""
    (tmp_path / "parts").mkdir()
    FRAME.to_parquet(tmp_path / "all.parquet", row_group_size=15)
    for part, rows in enumerate((slice(0, 13), slice(13, 40))):
        FRAME[rows].to_parquet(tmp_path / "parts" / f"{part}.parquet", index=False)
    text = put("# a comment\n" + FRAME.to_csv(index=False), "all.csv")
    return [text, str(tmp_path / "all.parquet"), str(tmp_path / "parts")]


def test_parts_have_the_rows_of_the_whole(files):
    for path in files:
        whole = read_raw(files[0]) if path.endswith("parts") else read_raw(path)
        found = list(read_in_parts(path, rows=7))
        assert max(part.rows for part in found) == 7
        np.testing.assert_array_equal(np.concatenate([part.numbers for part in found]), np.arange(40))
        for name in ("x", "kind", "y"):
            joined = [value for part in found for value in part.columns[name]]
            assert [str(value) for value in joined] == [str(value) for value in whole.columns[name]], (path, name)
        if whole.lines is not None and path == files[0]:
            np.testing.assert_array_equal(np.concatenate([part.lines for part in found]), whole.lines)


def test_only_the_columns_that_are_needed_are_read(files):
    assert list(next(read_in_parts(files[1], {"y", "x", "z"})).columns) == ["x", "y"]


@pytest.mark.parametrize("text", ["1;2,5\n3;4\n5;6\n", "x y # told\n1 2\n3 4 # why\n5 6\n", '"a\nb",c\n1,2\n3,4\n5,6\n'])
def test_text_is_understood_as_it_is_at_once(text, put):
    path = put(text)
    whole = read_raw(path)
    found = list(read_in_parts(path, rows=1))
    assert len(found) > 1
    assert all(list(part.columns) == list(whole.columns) for part in found)
    assert {name: [value for part in found for value in part.columns[name]] for name in whole.columns} == whole.columns
    np.testing.assert_array_equal(np.concatenate([part.lines for part in found]), whole.lines)
    assert [remark for part in found for remark in part.remarks] == whole.remarks
    assert found[0].decimal_comma == whole.decimal_comma


def test_errors_of_later_parts(put):
    with pytest.raises(ValueError, match="line 4: 1 value, where line 1 has 2"):
        list(read_in_parts(put("x,y\n1,2\n3,4\n5\n"), rows=1))
    with pytest.raises(ValueError, match="is not UTF-8"):
        list(read_in_parts(put(b"x,y\n1,2\n" + 3000 * b"3,4\n" + b"\xff,1\n"), rows=1))
    with pytest.raises(ValueError, match=r"data.csv is empty"):
        list(read_in_parts(put("")))


def test_a_sample_is_rows_of_the_file(files):
    expected = read_table(files[0], "y")
    samples = [read_sample(path, "y", 20, 5) for path in files]
    for sample in samples:
        assert sample.rows == 40
        assert "of its 40 rows 20 were taken, at random" in sample.remarks[0]
        assert len(sample.kept) == len(sample.X)
        np.testing.assert_array_equal(sample.kept, samples[0].kept)
        places = np.searchsorted(expected.kept, sample.kept)
        np.testing.assert_array_equal(sample.X, expected.X[places])
        np.testing.assert_array_equal(sample.y, expected.y[places])
    assert read_sample(files[1], "y", 100, 5).kept.tolist() == expected.kept.tolist()


def test_errors_of_a_sample_name_the_row_of_the_file(tmp_path):
    parquet.write_table(arrow.table({"x": [0.0] * 30 + [np.inf], "y": np.arange(31.0)}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="row 31: column 'x' is infinite"):
        read_sample(str(tmp_path / "x.parquet"), "y", 31, 0)


def test_a_sample_holds_no_file(tmp_path):
    rows = 400_000
    parquet.write_table(arrow.table({"x": np.arange(rows) * 0.5}), tmp_path / "x.parquet", use_dictionary=False)
    tracemalloc.start()
    some, total = read_some(str(tmp_path / "x.parquet"), 100, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (some.rows, total) == (100, rows)
    np.testing.assert_array_equal(some.columns["x"], some.numbers * 0.5)
    assert peak < rows * 8 * 0.6  # one part of the file is half of it


def test_which_files_are_large(files, monkeypatch, tmp_path):
    assert [is_large(path) for path in files] == [False, False, True]
    monkeypatch.setattr(parts, "_SHARE", 1e15)
    assert all(is_large(path) for path in files)
    assert not is_large("-")
    (tmp_path / "empty").mkdir()
    assert not is_large(str(tmp_path / "empty"))
    assert not is_large(str(tmp_path / "none.csv"))
    assert [columns_of(path) for path in files] == [["x", "kind", "y"]] * 3
