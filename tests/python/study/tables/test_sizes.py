"""Columns of exposures and trials."""

import numpy as np
import pytest

from kernsel.study.tables import read_table, read_to_predict

ROWS = "x,hours,y\n1,2,3\n2,0,1\n3,,4\n4,1.5,0\n"


def test_sizes_are_no_input_and_rows_without_are_left_out(put):
    table = read_table(put(ROWS), "y", exposure="hours")
    assert table.names == ["x"]
    assert [(column.name, column.kind) for column in table.columns] == [("x", "number"), ("hours", "exposure")]
    assert table.told_sizes["exposure"].tolist() == [2.0, 1.5]
    assert table.kept.tolist() == [1, 4]
    assert "2 rows without a positive value of 'hours', the exposure: they are left out." in table.remarks
    assert read_table(put(ROWS), "y").told_sizes == {}


def test_new_rows_may_have_sizes(put):
    columns = read_table(put(ROWS), "y", trials="hours").columns
    new = read_to_predict(put("hours,x\n3,1\n,2\n5,3\n"), columns, "y")
    assert new.told_sizes["trials"].tolist() == [3.0, 5.0]
    assert new.kept.tolist() == [1, 3]
    assert any("the trials: no prediction is made for them" in remark for remark in new.remarks)
    without = read_to_predict(put("x\n3\n1\n"), columns, "y")
    assert without.told_sizes == {}
    assert "There is no column 'hours': predictions are for trials of 1." in without.remarks
    np.testing.assert_array_equal(without.X, [[3.0], [1.0]])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"exposure": "y"}, "exposure: column 'y' cannot be an input, left out, or what is predicted"),
        ({"exposure": "hours", "columns": ["x", "hours"]}, "exposure: column 'hours' cannot be"),
        ({"exposure": "hours", "trials": "x"}, "exposure, trials: expected one of them"),
        ({"exposure": "minutes"}, "'minutes'"),
    ],
)
def test_columns_that_cannot_be_sizes(put, options, said):
    with pytest.raises(ValueError, match=said):
        read_table(put(ROWS), "y", **options)
