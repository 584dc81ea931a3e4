"""Sheets of Excel."""

import datetime
import io
import sys
import zipfile

import numpy as np
import pytest

from kernsel.study.tables import files, read_table


def workbook(path, rows, *more):
    """Write a file of sheets, the first of these rows."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "first"
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title)
    book.save(path)
    return str(path)


def test_a_sheet_is_read_as_csv_is(tmp_path, put):
    days = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 3, 1, 12)]
    rows = [[i / 8, "uv"[i % 2], bool(i % 3), days[i % 2], i] for i in range(12)]
    path = workbook(tmp_path / "a.xlsx", [["x", "who", "sure", "on", "y"], *rows[:5], [None, "v", True, days[0], 3], *rows[5:]])
    table = read_table(path, "y")
    text = "x,who,sure,on,y\n" + "".join(f"{a!r},{b},{c},{d.isoformat()},{e}\n" for a, b, c, d, e in rows)
    other = read_table(put(text), "y")
    assert table.names == other.names == ["x", "who=v", "sure", "on"]
    np.testing.assert_array_equal(table.X, other.X)
    np.testing.assert_array_equal(table.y, other.y)
    assert table.remarks == ["1 row with missing values (1 in x): they are left out (--missing mean would keep them)."]


def test_empty_rows_columns_and_other_sheets(tmp_path):
    path = workbook(tmp_path / "a.xlsx", [[], ["x", "y", None], [1, 2], [None, None], [2, "?"], [3, 5, ""]], "notes")
    table = read_table(path, "y")
    assert table.names == ["x"]
    assert table.X.tolist() == [[1.0], [3.0]]
    assert "only 'first' is read" in table.remarks[0]
    assert table.remarks[1] == "2 blank lines skipped."
    bad = workbook(tmp_path / "b.xlsx", [["x", "y"], [1, 2], [None], [3, "many"]])
    with pytest.raises(ValueError, match="line 4: column 'y' has 'many', which is not a number"):
        read_table(bad, "y")
    with pytest.raises(ValueError, match="is empty"):
        read_table(workbook(tmp_path / "c.xlsx", []), "y")


def test_a_file_that_decompresses_to_much_is_not_read(put, monkeypatch):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 2**26)
    path = put(stream.getvalue(), "bomb.xlsx")
    monkeypatch.setattr("kernsel._core.available_memory", lambda: 2**29)
    monkeypatch.setattr(files, "read_sheet", lambda *_: pytest.fail("it was read"))
    with pytest.raises(MemoryError, match=r"reading .*bomb.xlsx takes some 1 GiB"):
        read_table(path, "y")


def damaged(put):
    """Write an archive that has no sheets."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml", "<no")
    return put(stream.getvalue(), "a.xlsx")


def test_a_damaged_file_is_refused(put):
    pytest.importorskip("openpyxl")
    with pytest.raises(ValueError, match=r"a.xlsx cannot be read as an Excel file"):
        read_table(damaged(put), "y")


def test_without_openpyxl_the_command_that_installs_it_is_said(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"a.xlsx: Excel files need openpyxl: pip install 'kernsel\[excel\]'; or save"):
        read_table(damaged(put), "y")
