"""Text of values that are separated by commas, tabs or others."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernsel.study.tables import read_table
from kernsel.study.tables.separated import read_separated


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
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


@given(st.one_of(st.binary(max_size=80), st.text("ab1#,;|\"'\t\r\n .-\ufeff\u2028\x00", max_size=60).map(str.encode)))
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


def test_values_between_blanks(put):
    text = '   x   "a name"\ty \n 1.5  -2e3   3\n2\t7 4  \n\n 3 8 5\n'
    table = read_table(put(text, "data.txt"), "y")
    assert table.names == ["x", "a name"]
    assert table.X.tolist() == [[1.5, -2000.0], [2.0, 7.0], [3.0, 8.0]]
    assert table.remarks == ["1 blank line skipped."]
    with pytest.raises(ValueError, match=r"line 4: 3 values, where line 1 has 2 \(separated by blanks\)"):
        read_table(put("x y\n1 2\n3 4\n5 6 7\n"), "y")
    assert read_table(put("x y\n1,5 2\n2,5 4\n"), "y").X.tolist() == [[1.5], [2.5]]  # decimal commas
    dates = read_table(put("when,y\n2024-01-01 10:00,1\n2024-01-02 11:00,2\n"), "y")
    assert dates.names == ["when"]


@pytest.mark.parametrize("delimiter", [",", ";", " ", "\t"])
def test_comments(put, delimiter):
    lines = ["# measured in May, with; care", "#", "x,y", "# the first", "1,2", '  # not "closed', '"3",4', "#5,6", "7,8"]
    text = "\n".join(line if "#" in line else line.replace(",", delimiter) for line in lines)
    table = read_table(put(text), "y")
    assert table.names == ["x"]
    assert table.X.tolist() == [[1.0], [3.0], [7.0]]
    assert table.remarks == ["5 lines that begin with # skipped."]
    with pytest.raises(ValueError, match="line 9: column 'x' has no value"):
        read_table(put(text.replace("7", "NA")), "y", missing="error")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("# x z y\n1 2 3\n2 5 4\n", ["x", "z"]),  # as NumPy writes it
        ("# made, by me\n#x,z,y\n1,2,3\n2,5,4\n", ["x", "z"]),
        ("#,z,y\n7,2,3\n2,5,4\n", ["#", "z"]),
        ("# x z y # units\n1 2 3\n2 5 4\n", ["x", "z"]),
    ],
)
def test_names_in_a_comment(put, text, names):
    table = read_table(put(text), "y")
    assert table.names == names
    assert table.y.tolist() == [3.0, 4.0]
    assert "which begins with #" in table.remarks[0]


@pytest.mark.parametrize("header", ["x y", "x y # metres", "x y  #metres", "x y #"])
def test_comments_after_values(put, header):
    table = read_table(put(f"{header}\n1 2\n2 4 # doubtful\n3 5\t#\n4 7 #late, and wet\n"), "y")
    assert table.names == ["x"]
    assert table.y.tolist() == [2.0, 4.0, 5.0, 7.0]
    assert table.remarks == ["What follows # after values was taken for comments, and skipped."]
    table = read_table(put(f"{header}\n1 2 # a\n2 4 # b\n3 5 # c\n"), "y")
    assert table.X.tolist() == [[1.0], [2.0], [3.0]]
    with pytest.raises(ValueError, match="line 3: 1 value, where line 1 has 2"):
        read_table(put(f"{header}\n1 2\n2 # 4\n3 5 # c\n4 4\n"), "y")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_comment_after_names(put, delimiter):
    table = read_table(put(f"no # of cars{delimiter}y # in metres\n1{delimiter}2\n3{delimiter}4\n"), "y")
    assert table.names == ["no # of cars"]
    assert "The last column is called 'y': what follows in line 1 was taken for a comment." in table.remarks


def test_values_that_begin_with_a_mark_are_no_comments(put):
    table = read_table(put('"# a" tag y\n' + "".join(f"{i} #{i % 2} {i * i}\n" for i in range(10))), "y")  # between blanks
    assert table.names == ["# a", "tag=#1"]
    table = read_table(put("colour,y\n" + "#ff0000,1\n#00ff00,2\n" * 5), "y")
    assert table.names == ["colour=#ff0000"]
    assert len(table.y) == 10
    table = read_table(put('x,y\n"# 1\n# 2",1\n"# 1\n# 2",3\nb,2\n"b",1\n'), "y")  # within quotes
    assert len(table.y) == 4
