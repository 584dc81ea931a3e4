"""Names of columns."""

from kernsel.study.tables import read_table


def test_names_that_are_missing_or_double(put):
    table = read_table(put("x,,x,y\n1,2,3,4\n2,3,5,5\n"), "y")
    assert table.names == ["x", "column2", "x_2"]
    assert len(table.remarks) == 2
    table = read_table(put("1,2\n3.5,4\n"), "column2")
    assert table.X.tolist() == [[1.0], [3.5]]
    assert "The first line is numbers, not names" in table.remarks[0]
