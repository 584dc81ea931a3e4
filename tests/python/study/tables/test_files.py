"""Files that are none, or too large."""

import io
import sys

import pytest

from kernsel.study.tables import files, read_table


def test_files_that_are_none(put, tmp_path):
    put("x,y\n1,2\n", "houses.csv")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*house.csv; did you mean .*houses.csv\?"):
        read_table(str(tmp_path / "house.csv"), "y")
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        read_table(str(tmp_path / "nowhere" / "house.csv"), "y")
    with pytest.raises(IsADirectoryError, match="is a directory; expected a CSV, TSV, Parquet or npz file"):
        read_table(str(tmp_path), "y")
    with pytest.raises(ValueError, match="Excel files are not read; save it as CSV"):
        read_table(put("", "table.xlsx"), "y")
    for name in ("a.npz", "a.parquet"):
        with pytest.raises(ValueError, match=f"{name} cannot be read as"):
            read_table(put("x,y\n1,2\n", name), "y")


def test_a_file_that_does_not_fit_is_not_read(put, monkeypatch):
    path = put("x,y\n1,2\n")
    monkeypatch.setattr("kernsel._core.available_memory", lambda: 2**20)
    monkeypatch.setattr(files, "_MEMORY_OF_TEXT", 2**28)
    with pytest.raises(MemoryError, match=r"reading .* takes some 2 GiB .* are available; take some of its rows"):
        read_table(path, "y")


def test_standard_input(monkeypatch):
    class Stream:
        buffer = io.BytesIO(b"x,y\n1,2\n3,4\n")

    monkeypatch.setattr(sys, "stdin", Stream)
    table = read_table("-", "y")
    assert table.X.tolist() == [[1.0], [3.0]]
    assert table.source == "the standard input"
