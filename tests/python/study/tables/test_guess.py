"""What columns are taken for."""

import re

import numpy as np
import pytest

from kernsel.study.tables import read_table, read_to_predict
from kernsel.study.tables.dates import date_of
from kernsel.study.tables.frames import read_frame
from kernsel.study.tables.read import table_of


def rows(count, *columns):
    """Return lines, each the values of functions of its number."""
    return "".join(",".join(str(f(i)) for f in columns) + "\n" for i in range(count))


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


def test_what_counts_the_rows_is_left_out_only_if_its_name_says_so(put):
    table = read_table(put("month,z,y\n" + rows(12, lambda i: i + 1, lambda i: i % 5, lambda i: i)), "y")
    assert table.names == ["month", "z"]
    assert table.remarks == [
        "Column 'month' counts the rows; it looks like a row number. If it says nothing else: --leave-out month"
    ]
    table = read_table(put(",z,y\n" + rows(12, lambda i: i, lambda i: i % 5, lambda i: i)), "y")  # an index of pandas
    assert table.names == ["z"]
    assert table.columns[0].why == "counts the rows"


def test_a_target_of_two_values_may_be_meant_as_classes(put):
    table = read_table(put("x,y\n" + rows(9, lambda i: i * i, lambda i: i % 2)), "y")
    assert table.remarks == ["'y' has two values only: --classify gives their probabilities."]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["13/1/2024", "2/1/2024"], [19735.0, 19724.0]),
        (["1/13/2024", "2/1/2024"], [19735.0, 19754.0]),
        (["13-01-2024 12:00", "02-01-2024 00:00"], [19735.5, 19724.0]),
        (["01.02.2024", "02.02.2024"], [19754.0, 19755.0]),
        (["2024/02/01", "2024-02-02T06:00:00Z"], [19754.0, 19755.25]),
        (["Feb 2024", "2024-01"], [19754.0, 19723.0]),
        (["13-Jan-24", "2-Jan-24"], [19735.0, 19724.0]),
        (["13/01/24", "02/01/24"], [19735.0, 19724.0]),
        (["01.02.24", "02.02.24 12:00"], [19754.0, 19755.5]),
        (["20240201", "20240202"], [19754.0, 19755.0]),
    ],
)
def test_dates_in_common_forms(put, texts, expected):
    table = read_table(put("when,x,y\n" + rows(20, lambda i: texts[i % 2], lambda i: i * i, lambda i: i)), "y")
    assert table.columns[0].kind == "date"
    assert table.X[:2, 0].tolist() == expected
    short, digits = not re.search(r"20|19", texts[0]), texts[0].isdigit()
    assert any("'when' has years of two digits: they are taken for those from 1969" in one for one in table.remarks) == short
    assert any("'when' is numbers such as 20240131, all of them dates" in one for one in table.remarks) == digits
    again = read_to_predict(put(f"when,x\n{texts[1]},3\n", "new.csv"), table.columns, "y")
    assert again.X[0, 0] == expected[1]


def test_numbers_of_eight_digits_may_be_dates(put):
    """They are if all are dates: some five different ones, or two if the name says so."""
    months = [20240131, 20240229, 20240331, 20240430, 20240531]
    for name, numbers, kind in (
        ("x", months, "date"),
        ("x", months[:4], "number"),
        ("StartDate", months[:2], "date"),
        ("update", months[:2], "number"),
        ("day", [*months, 20240231], "number"),
        ("date", [*months, 18991231], "number"),
    ):
        table = read_table(put(f"{name},y\n" + rows(24, lambda i: numbers[i % len(numbers)], lambda i: i)), "y")  # noqa: B023
        assert table.columns[0].kind == kind
    frame = {"x": np.array(months * 4, dtype=float), "y": np.arange(20.0)}
    assert table_of(read_frame(frame), "y").columns[0].least == 19753.0
    few = read_table(put("code,y\n" + rows(24, lambda i: ["10/11/12", "03/02/11"][i % 2], lambda i: i)), "y")
    assert few.columns[0].kind == "category"


def test_dates_whose_day_and_month_cannot_be_told_apart(put):
    text = "when,x,y\n" + rows(20, lambda i: f"{i % 12 + 1}/{i % 5 + 1}/2024", lambda i: i * i, lambda i: i)
    with pytest.raises(ValueError, match=r"'when' has dates such as '1/1/2024', of which day .*2024-12-31.*--leave-out when"):
        read_table(put(text), "y")
    known = read_table(put("when,y\n13/1/2024,1\n2/1/2024,2\n3/2/2024,4\n"), "y")
    with pytest.raises(ValueError, match="column 'when' has '1/13/2024'; expected a date such as"):
        read_to_predict(put("when\n1/13/2024\n", "new.csv"), known.columns, "y")


@pytest.mark.parametrize("value", ["inf", "-inf", "Infinity", "+INF", "1e999"])
def test_infinity_is_no_category(put, value):
    text = "x,z,y\n" + rows(40, lambda i: value if i % 4 == 2 else i % 4, lambda i: i * i, lambda i: i)
    with pytest.raises(ValueError, match=rf"line 4: column 'x' has '{re.escape(value)}', which is no finite number"):
        read_table(put(text), "y")
    mostly = "x,z,y\n" + rows(40, lambda i: 1 if i == 7 else value, lambda i: i * i, lambda i: i)
    with pytest.raises(ValueError, match="line 2: column 'x' has"):
        read_table(put(mostly), "y")


def test_a_word_that_is_also_a_name_of_infinity_may_be_a_category(put):
    text = "x,z,y\n" + rows(40, lambda i: ["inf", "sup"][i % 2], lambda i: i * i, lambda i: i)
    assert read_table(put(text), "y").columns[0].kind == "category"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("code", lambda i: 1000 + 5 * i, "counts up by 5"),
        ("customer_id", lambda i: 7 * i % 31, "has a different number in each row"),
        ("orderNo", lambda i: 7 * i % 31, "has a different number in each row"),
        ("Key", lambda i: 7 * i % 31, "has a different number in each row"),
        ("speed", lambda i: 7 * i % 31, ""),
        ("humid", lambda i: 7 * i % 31, ""),
        ("piano", lambda i: 7 * i % 31, ""),
        ("id", lambda i: i % 7, ""),
        ("time", lambda i: 0.5 * i, ""),
    ],
)
def test_what_looks_like_a_row_number_is_remarked_on(put, name, value, why):
    path = put(f"{name},z,y\n" + rows(20, value, lambda i: i % 5, lambda i: i * i))
    table = read_table(path, "y")
    expected = f"Column '{name}' {why}; it looks like a row number. If it says nothing else: --leave-out {name}"
    assert table.remarks == [expected] * bool(why)
    assert table.names == [name, "z"]
    assert not read_table(path, "y", columns=[name, "z"]).remarks  # named by the user
    assert not read_table(path, "y", columns=[name]).remarks  # the only column


def test_texts_that_differ_in_each_row_are_remarked_on(put):
    table = read_table(put("uuid,z,y\n" + rows(20, lambda i: f"a{i}", lambda i: i % 5, lambda i: i * i)), "y")
    assert table.remarks == ["Column 'uuid' is text that is different in every row, as an id is; it is not used."]
