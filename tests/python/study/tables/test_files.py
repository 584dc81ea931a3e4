"""Files that are none, or too large."""

import gzip
import io
import sys

import numpy as np
import pytest

from kernsel.study.tables import files, read_table


def test_files_that_are_none(put, tmp_path):
    put("x,y\n1,2\n", "houses.csv")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*house.csv; did you mean .*houses.csv\?"):
        read_table(str(tmp_path / "house.csv"), "y")
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        read_table(str(tmp_path / "nowhere" / "house.csv"), "y")
    with pytest.raises(IsADirectoryError, match=r"is a directory; expected a CSV, TSV, Excel .* or npz file"):
        read_table(str(tmp_path), "y")
    with pytest.raises(ValueError, match=r"Old Excel files \(.xls\) are not read; save it as CSV"):
        read_table(put("", "table.xls"), "y")
    for name in ("a.npz", "a.parquet", "a.xlsx"):
        with pytest.raises(ValueError, match=f"{name} cannot be read as"):
            read_table(put("x,y\n1,2\n", name), "y")


def test_a_file_that_does_not_fit_is_not_read(put, monkeypatch):
    path = put("x,y\n1,2\n")
    monkeypatch.setattr("kernsel._core.available_memory", lambda: 2**20)
    monkeypatch.setattr(files, "_MEMORY_OF_TEXT", 2**28)
    with pytest.raises(MemoryError, match=r"reading .* takes some 2 GiB .* are available; take some of its rows"):
        read_table(path, "y")


def test_what_gzip_has_compressed_is_read(put, tmp_path):
    text = "x;y\n1,5;2\n3;4\n"
    for name, content in (("a.csv.gz", text.encode()), ("a.tsv.gz", text.replace(";", "\t").encode())):
        table = read_table(put(gzip.compress(content), name), "y")
        assert table.X.tolist() == [[1.5], [3.0]]
    np.savez(tmp_path / "a.npz", x=[1.5, 3.0], y=[2.0, 4.0])
    assert read_table(put(gzip.compress((tmp_path / "a.npz").read_bytes()), "a.npz.gz"), "y").X.tolist() == [[1.5], [3.0]]
    for content in (gzip.compress(text.encode())[:-9], b"\x1f\x8b\x08\0" + bytes(30)):
        with pytest.raises(ValueError, match=r"b.csv.gz cannot be decompressed"):
            read_table(put(content, "b.csv.gz"), "y")


def test_a_small_file_that_decompresses_to_a_large_one_is_refused(put, monkeypatch):
    content = gzip.compress(b"x,y\n" + b"0" * 2**26, 9)
    assert len(content) < 2**17
    path = put(content, "bomb.csv.gz")
    monkeypatch.setattr("kernsel._core.available_memory", lambda: 2**29)
    read = []
    monkeypatch.setattr(files, "read_separated", lambda content, source: read.append(source))
    with pytest.raises(MemoryError, match=r"reading .*bomb.csv.gz takes some 0.75 GiB"):
        files.read_raw(path)
    assert not read


@pytest.mark.parametrize("compressed", [False, True])
def test_standard_input(monkeypatch, compressed):
    content = b"x,y\n1,2\n3,4\n"

    class Stream:
        buffer = io.BytesIO(gzip.compress(content) if compressed else content)

    monkeypatch.setattr(sys, "stdin", Stream)
    table = read_table("-", "y")
    assert table.X.tolist() == [[1.0], [3.0]]
    assert table.source == "the standard input"
