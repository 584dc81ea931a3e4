"""Tables: what is read, what is guessed, and what a user is told."""

import csv
import io
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernsel.study.tables import files, read_table, read_to_predict
from kernsel.study.tables.numerals import date_of, day_of, numbers_of
from kernsel.study.tables.separated import read_separated


@pytest.fixture
def put(tmp_path):
    def write(text, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return str(path)

    return write


def rows(count, *columns):
    """Return lines, each the values of functions of its number."""
    return "".join(",".join(str(f(i)) for f in columns) + "\n" for i in range(count))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_ends_of_lines(put, delimiter, end):
    lines = [["x", "a name, with all; of|them", "y"], ["1", "2.5", "-3e2"], ["4", ".5", "+6"]]
    text = end.join(delimiter.join(f'"{value}"' for value in line) for line in lines)
    table = read_table(put(text), "y")
    assert table.names == ["x", "a name, with all; of|them"]
    assert table.X.tolist() == [[1.0, 2.5], [4.0, 0.5]]
    assert table.y.tolist() == [-300.0, 6.0]
    assert table.kept.tolist() == [1, 2]
    assert table.remarks == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_a_file_tells(put, encoding):
    table = read_table(put("größe;y\n1,5;2\n-0,25;3e2\n", encoding=encoding), "y")
    assert table.names == ["größe"]
    assert table.X[:, 0].tolist() == [1.5, -0.25]  # decimal commas


def test_a_decimal_comma_needs_another_delimiter(put):
    with pytest.raises(ValueError, match=r"line 2: 3 values, where line 1 has 2 \(separated by commas\)"):
        read_table(put("x,y\n1,5,2\n2,5,3\n"), "y")


def test_blank_lines_are_counted_and_rows_keep_their_numbers(put):
    path = put("x,y\n\n1,2\n , \n,\n3,4\nNA,5\n6,7\n\n")
    table = read_table(path, "y")
    assert table.X[:, 0].tolist() == [1.0, 3.0, 6.0]
    assert table.kept.tolist() == [1, 2, 4]
    assert table.rows == 4
    assert table.remarks[0] == "4 blank lines skipped."
    with pytest.raises(ValueError, match=r"line 7: column 'x' has no value; --missing drop or --missing mean"):
        read_table(path, "y", missing="error")


def test_lines_are_those_of_the_file_even_after_a_quoted_one_of_several(put):
    with pytest.raises(ValueError, match="line 6: 1 value, where line 1 has 2"):
        read_table(put('x,y\n"1\n",2\n\n3,4\n5\n'), "y")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \n\t\n", "is empty"),
        ("x,y\n", "has names of columns, x, y, and no rows"),
        ("x,y\n1,2\n3,4,5\n", r"line 3: 3 values, where line 1 has 2 .*has to be in quotes"),
        ('x,y\n1,2\n"3,4\n', r"line 3: .*is a quote not closed\?"),
        (b"n\xe4me,y\n1,2\n", r"line 1: the byte 0xe4 is not UTF-8; save the file as UTF-8"),
        (b"PAR1\0\0", "is not text: it has a zero byte at position 4"),
        ("x,z\n1,2\n", r"has no column 'y'; it has x, z"),
        ("x,Yy\n1,2\n", r"has no column 'y'; did you mean 'Yy'\?"),
        ("x,y\n1,two\n2,3\n", r"line 2: column 'y' has 'two', which is not a number; the target has to be numbers$"),
        ("x,y\n" + "1,a\n2,b\n" * 5, "it has 2 different values: for classes, use kernsel.GaussianProcessClassifier"),
        ("x,y\n1,\n2,NA\n", "the target 'y' has no values"),
        ("x,y\n1,2\n2,inf\n", r"line 3: column 'y' has 'inf', which is not a number"),
        ("x,y\n1,2\n2,1e999\n", r"line 3: column 'y' has '1e999', which is not a number"),
        ("x,y\n1,2\n1e999,3\n5,6\n", r"line 3: column 'x' has '1e999', and 2 of its 3 values are numbers"),
        (
            "x,y\n1_000,2\n2,2\n3,3\n",
            r"line 2: column 'x' has '1_000', and 2 of its 3 values are numbers; correct it, or leave",
        ),
        ("x,y\n1,2\n", "has 1 row, and nothing can be learnt from one"),
        ("x,y\n1,2\n1,3\n", r"no column to predict 'y' from .x: all values are 1."),
        ("y\n1\n2\n", "no column to predict 'y' from$"),
        ("a b,y\n" + rows(50, lambda i: f"w{i // 2}", lambda i: i), r"'a b' is text with 25 different.*--leave-out 'a b'"),
        ("x,y\n" + rows(60, lambda i: f"{i % 30 + 1}.1.2020", lambda i: i), "dates have to be written as 2024-12-31"),
        ("x,y\nNA,1\nNA,2\n3,4\n4,NA\n?,2\n", "3 of 5 rows have missing values .3 in x., and without them too few are left"),
    ],
)
def test_what_cannot_be_read_is_said(put, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(put(text), "y")


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
    monkeypatch.setattr(files._core, "available_memory", lambda: 2**20)
    monkeypatch.setattr(files, "_MEMORY_OF_TEXT", 2**28)
    with pytest.raises(MemoryError, match=r"reading it takes some 2.0 GiB, and 0.0 GiB are available; take some of its rows"):
        read_table(path, "y")


def test_kinds_of_columns(put):
    names = ["id", "n", "flag", "sure", "colour", "sex", "day", "one", "word", "who", "gone", "code", "y"]
    lines = [
        f"{i + 1},{i * i},{i % 2},{'TRUE' if i % 3 else 'False'},{['red', 'blue', 'green'][i % 3]},{'fm'[i % 2]},"
        f"2024-01-{i % 28 + 1:02d},7,same,name {i},,{['0', '1', '2', '3+'][i % 4]},{i}"
        for i in range(40)
    ]
    path = put("\n".join([",".join(names), *lines]))
    table = read_table(path, "y")
    kinds = {column.name: column.kind for column in table.columns}
    assert kinds == {
        "id": "left out",
        "n": "number",
        "flag": "boolean",
        "sure": "boolean",
        "colour": "category",
        "sex": "category",
        "day": "date",
        "one": "constant",
        "word": "constant",
        "who": "left out",
        "gone": "left out",
        "code": "category",
    }
    assert table.names == [
        *["n", "flag", "sure", "colour=blue", "colour=green", "colour=red", "sex=m", "day"],
        *["code=0", "code=1", "code=2", "code=3+"],
    ]
    i = np.arange(40)
    expected = [i * i, i % 2, i % 3 > 0, i % 3 == 1, i % 3 == 2, i % 3 == 0, i % 2, 19723 + i % 28]
    assert table.X[:, :8].tolist() == np.transpose(expected).astype(float).tolist()
    assert table.X[:, 8:].tolist() == np.eye(4)[i % 4].tolist()
    day = table.columns[6]
    assert (date_of(day.least), date_of(day.greatest)) == ("2024-01-01", "2024-01-28")
    assert table.columns[4].shares == [13 / 40, 13 / 40, 14 / 40]
    assert table.columns[10].missing == 40
    assert read_table(path, "y", columns=["id", "n"]).names == ["id", "n"]  # asked for by name
    assert read_table(path, "y", leave_out=["colour", "code", "sex"]).names == ["n", "flag", "sure", "day"]
    with pytest.raises(ValueError, match="'n' is what is predicted"):
        read_table(path, "n", columns=["n"])


@given(st.one_of(st.binary(max_size=80), st.text("ab1,;|\"'\t\r\n .-\ufeff\u2028\x00", max_size=60).map(str.encode)))
def test_any_bytes_are_read_or_refused(content):
    try:
        raw = read_separated(content, "data")
    except ValueError:  # and nothing else
        return
    assert raw.columns
    assert {len(values) for values in raw.columns.values()} == {len(raw.lines)}


@given(st.data(), st.sampled_from([",", ";", "\t", "|"]), st.integers(2, 4), st.integers(1, 6))
def test_what_python_writes_is_read_back(data, delimiter, width, count):
    cell = st.text("abz 01,;|\t\"'é\n", min_size=1, max_size=6).map(str.strip).filter(bool)
    written = [data.draw(st.lists(cell, min_size=width, max_size=width)) for _ in range(count)]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow([f"name {k}" for k in range(width)])
    writer.writerows(written)
    raw = read_separated(text.getvalue().encode(), "data")
    assert list(map(list, zip(*raw.columns.values(), strict=True))) == written


def test_what_counts_the_rows_is_left_out_only_if_its_name_says_so(put):
    table = read_table(put("month,z,y\n" + rows(12, lambda i: i + 1, lambda i: i % 5, lambda i: i)), "y")
    assert table.names == ["month", "z"]
    assert table.remarks == ["Column 'month' counts the rows. If that means nothing: --leave-out month"]
    table = read_table(put(",z,y\n" + rows(12, lambda i: i, lambda i: i % 5, lambda i: i)), "y")  # an index of pandas
    assert table.names == ["z"]
    assert table.columns[0].why == "counts the rows"


def test_names_that_are_missing_or_double(put):
    table = read_table(put("x,,x,y\n1,2,3,4\n2,3,5,5\n"), "y")
    assert table.names == ["x", "column2", "x_2"]
    assert len(table.remarks) == 2
    table = read_table(put("1,2\n3.5,4\n"), "column2")
    assert table.X.tolist() == [[1.0], [3.5]]
    assert "The first line is numbers, not names" in table.remarks[0]


def test_missing_values(put):
    text = "a,c,b,y\n1,u,yes,1\n,v,no,2\n3,NA,yes,3\n4,u,?,4\n5,u,yes,\n9,w,no,6\n2,u,no,7\n2,w,no,7\n"
    table = read_table(put(text), "y")
    assert table.kept.tolist() == [1, 6, 7, 8]
    assert table.remarks == [
        "1 row without a value of 'y' cannot be learnt from.",
        "3 rows with missing values (1 in a, 1 in c, 1 in b): they are left out (--missing mean would keep them).",
    ]
    filled = read_table(put(text), "y", missing="mean")
    assert filled.kept.tolist() == [1, 2, 3, 4, 6, 7, 8]
    assert filled.names == ["a", "c=u", "c=v", "c=w", "b"]
    assert filled.X[1, 0] == pytest.approx(26 / 7)
    assert filled.X[2, 1:4].tolist() == pytest.approx([4 / 7, 1 / 7, 2 / 7])
    assert filled.X[3, 4] == pytest.approx(3 / 7)
    assert [column.missing for column in filled.columns] == [1, 1, 1]
    assert filled.target.missing == 1


def test_a_target_of_two_values_may_be_meant_as_classes(put):
    table = read_table(put("x,y\n" + rows(9, lambda i: i * i, lambda i: i % 2)), "y")
    assert table.remarks == ["'y' has two values only: kernsel.GaussianProcessClassifier in Python gives their probabilities."]


def test_numbers_that_python_takes_and_others_do_not():
    values, others = numbers_of(["1", " 2.5 ", "-.5", "1.", "+3e-2", "NaN", "-", "1_0", "0x1", "infinity", "1,5", "१"], False)
    assert others == [7, 8, 9, 10, 11]
    assert values[:5].tolist() == [1.0, 2.5, -0.5, 1.0, 0.03]
    assert numbers_of(["1,5", "2.5", "1.000,5"], True)[1] == [2]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1970-01-01", 0.0),
        ("1969-12-31T12:00", -0.5),
        ("2000-02-29 06:00:00.0", 11016.25),
        ("2000-02-29T06:00:00+06:00", 11016.0),
        ("2000-02-29T00:00:00Z", 11016.0),
        ("2000-03", 11017.0),
        ("2001-02-29", np.nan),
        ("20000301", np.nan),
        ("2000-W10", np.nan),
    ],
)
def test_dates(text, day):
    assert day_of(text) == pytest.approx(day, nan_ok=True)


def test_standard_input(monkeypatch):
    class Stream:
        buffer = io.BytesIO(b"x,y\n1,2\n3,4\n")

    monkeypatch.setattr(sys, "stdin", Stream)
    table = read_table("-", "y")
    assert table.X.tolist() == [[1.0], [3.0]]
    assert table.source == "the standard input"


def test_npz(tmp_path):
    path = str(tmp_path / "a.npz")
    np.savez(path, X=[[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]], y=[1, 2, 3], kind=["a", "b", "a"], on=[True, False, True])
    table = read_table(path, "y")
    assert table.names == ["X1", "X2", "kind=b", "on"]
    assert table.X.tolist() == [[1.0, 2.0, 0.0, 1.0], [3.0, 5.0, 1.0, 0.0], [4.0, 1.0, 0.0, 1.0]]
    for arrays, message in (
        ({"x": [1.0, 2.0], "y": [1.0]}, "expected arrays of equal length, got x 2, y 1"),
        ({"x": np.zeros((2, 2, 2)), "y": [1.0, 2.0]}, "array 'x' has 3 dimensions"),
        ({"x": np.array([{}, 1], dtype=object), "y": [1.0, 2.0]}, "cannot be read as npz: Object arrays"),
        ({"x": [1j, 2.0], "y": [1.0, 2.0]}, "array 'x' is of type complex128"),
        ({"x": np.zeros(0), "y": np.zeros(0)}, "has no rows"),
        ({"x": [1.0, np.inf, 3.0], "y": [1.0, 2.0, 3.0]}, "row 2: column 'x' is infinite"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=message):
            read_table(path, "y")


def test_parquet_is_read_as_csv_is(tmp_path, put):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {
            "n": [1, 2, 4, 7],
            "x": [0.5, None, 2.5, -1.0],
            "who": pandas.Categorical(["u", "v", "u", "u"]),
            "sure": [True, False, True, True],
            "on": pandas.to_datetime(["2024-01-01", "2024-03-01", "2024-02-01", "2024-05-05"]),
            "y": [1.0, 2.0, 3.0, 4.5],
        }
    )
    path = str(tmp_path / "a.parquet")
    frame.to_parquet(path)
    for missing in ("drop", "mean"):
        one = read_table(path, "y", missing=missing)
        other = read_table(put(frame.to_csv(index=False)), "y", missing=missing)
        assert one.names == other.names == ["n", "x", "who=v", "sure", "on"]
        np.testing.assert_array_equal(one.X, other.X)
        np.testing.assert_array_equal(one.kept, other.kept)
    pandas.DataFrame({"x": [[1], [2]], "y": [1, 2]}).to_parquet(path)
    with pytest.raises(ValueError, match="column 'x' is of type list"):
        read_table(path, "y")


def test_new_rows_are_read_as_those_that_were_learnt_from(put):
    text = "a,c,b,when,z,y\n1,u,yes,2024-01-01,1,1\n2,v,no,2024-01-03,1,2\n3,w,yes,2024-01-02,1,3\n4,u,no,2024-01-09,1,3\n"
    table = read_table(put(text), "y")
    new = put("when;more;b;c;a\n2025-01-01;1;YES; w ;7,5\n2024-01-01;1;no;u;\n", "new.csv")
    again = read_to_predict(new, table.columns, "y")
    assert again.names == table.names == ["a", "c=u", "c=v", "c=w", "b", "when"]
    assert again.X.tolist() == [[7.5, 0.0, 0.0, 1.0, 1.0, 20089.0]]
    assert again.kept.tolist() == [1]
    assert again.rows == 2
    assert again.y is None
    assert again.remarks == [
        "Columns that the model does not know are ignored: more.",
        "1 row with missing values (1 in a): no prediction is made for them.",
    ]
    assert read_to_predict(new, table.columns, "y", missing="mean").X[1, 0] == 2.5
    for text, message in (
        ("a,c,b\n1,u,yes\n", r"column 'when', which the model predicts from, is not there; it has a, c, b"),
        ("A,C\n1,u\n", r"column 'a', which .* did you mean 'A'\? .and 3 more: c, b, when."),
        ("a,c,b,when\n1,u,yes,2024-01-01\n1,q,yes,2024-01-01\n", "line 3: column 'c' has 'q'; expected one of u, v, w"),
        ("a,c,b,when\n1,u,maybe,2024-01-01\n", "line 2: column 'b' has 'maybe'; expected no or yes"),
        ("a,c,b,when\n1,u,no,1.1.2024\n", "line 2: column 'when' has '1.1.2024'; expected a date such as 2024-12-31"),
        ("a,c,b,when\nx,u,no,2024-01-01\n", "line 2: column 'a' has 'x', which is not a number"),
    ):
        with pytest.raises(ValueError, match=message):
            read_to_predict(put(text, "new.csv"), table.columns, "y")
    with_target = put("a,c,b,when,y\n1,u,no,2024-01-01,5\n2,u,no,2024-01-01,\n", "new.csv")
    np.testing.assert_array_equal(read_to_predict(with_target, table.columns, "y").y, [5.0, np.nan])


def test_many_rows_are_read_fast_enough(put):
    n = 20_000
    numbers = np.random.default_rng(0).normal(size=(n, 8))
    text = "a,b,c,d,e,f,g,h,k,y\n" + "".join(
        ",".join(f"{value:.6g}" for value in row) + f",{'pqr'[i % 3]},{i % 17}\n" for i, row in enumerate(numbers)
    )
    path = put(text)
    began = time.process_time()
    table = read_table(path, "y")
    assert time.process_time() - began < 2.0  # some 0.15 s
    assert table.X.shape == (n, 11)
    assert table.X[:, 0] == pytest.approx(numbers[:, 0], rel=1e-5)
