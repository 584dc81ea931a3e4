"""Missing values."""

import pytest

from kernsel.study.tables import read_table


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
