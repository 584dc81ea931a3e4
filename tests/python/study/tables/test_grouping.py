"""Rows of a file that are left out together."""

import numpy as np
import pytest

from kernsel.study.tables import read_table

ROWS = "\n".join(
    f"{x},{who},{day},{y}"
    for x, who, day, y in zip(
        np.linspace(0, 1, 12).round(3).tolist(),
        ["ann", "bob", "cid", "ann"] * 3,
        [f"2020-0{1 + k % 6}-15" for k in range(12)],
        np.cos(np.arange(12.0)).round(3).tolist(),
        strict=True,
    )
)


@pytest.fixture
def path(tmp_path):
    def written(text):
        (tmp_path / "t.csv").write_text(text)
        return str(tmp_path / "t.csv")

    return written


def test_a_column_of_groups_is_no_input_unless_it_is_named(path):
    table = read_table(path("x,who,day,y\n" + ROWS), "y", groups="who", leave_out=["day"])
    assert table.names == ["x"]
    assert [column.why for column in table.columns] == ["", "tells the groups", "as told"]
    assert table.groups.tolist() == [0, 1, 2, 0] * 3
    assert table.grouped_by == "groups of 'who'"
    assert "Left out together: 3 groups of 'who'." in table.remarks
    named = read_table(path("x,who,day,y\n" + ROWS), "y", groups="who", columns=["x", "who"])
    assert named.names == ["x", "who=ann", "who=bob", "who=cid"]


def test_a_column_of_time_makes_blocks_and_stays_an_input(path):
    table = read_table(path("x,who,day,y\n" + ROWS), "y", time="day")
    assert "day" in table.names
    assert table.groups.tolist() == list(range(6)) * 2
    assert "Left out together: 6 blocks of 'day' that follow each other." in table.remarks


def test_rows_without_a_group_are_not_used(path):
    text = "x,who,y\n1,a,1\n2,,2\n3,b,3\n4,b,5\n5,a,4\n"
    table = read_table(path(text), "y", groups="who")
    assert table.kept.tolist() == [1, 3, 4, 5]
    assert "1 row without a value of 'who', by which rows are left out: not used." in table.remarks


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"groups": "whom"}, "no column 'whom'; did you mean 'who'"),
        ({"groups": "who", "time": "day"}, "groups, time: expected one of them"),
        ({"groups": "y"}, "column 'y' is what is predicted"),
        ({"time": "who"}, "--time needs a column of numbers or dates; 'who' has text with 3 different values"),
        ({"groups": "same"}, "all rows have the same 'same'; --groups needs"),
        ({"time": "same"}, "all rows have the same 'same'; --time needs"),
    ],
)
def test_what_tells_no_groups_is_refused(path, how, message):
    lines = [f"{row},7" for row in ROWS.split("\n")]
    with pytest.raises(ValueError, match=message):
        read_table(path("\n".join(["x,who,day,y,same", *lines])), "y", **how)
