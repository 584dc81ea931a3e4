"""The column that is predicted."""

import numpy as np
import pytest

from kernsel.study.tables import read_table, read_to_predict


def test_classes(put):
    text = "x,y\n1,b\n4,a\n9, b \n16,NA\n25,c\n"
    table = read_table(put(text), "y", classes=True)
    assert table.target.levels == ["a", "b", "c"]
    assert table.target.shares == [0.25, 0.5, 0.25]
    assert table.y.tolist() == [1.0, 0.0, 1.0, 2.0]
    assert table.kept.tolist() == [1, 2, 3, 5]
    assert table.remarks == ["1 row without a value of 'y' cannot be learnt from."]
    numbers = read_table(put("x,y\n1,10\n4,9\n9,10\n"), "y", classes=True)
    assert numbers.target.levels == ["9", "10"]
    again = read_to_predict(put("x,y\n1,c\n2,d\n3,a\n"), table.columns, "y", levels=table.target.levels)
    np.testing.assert_array_equal(again.y, [2.0, np.nan, 0.0])
    for column, count in (([1] * 30, "1 different value;"), (range(30), "30 different values;")):
        with pytest.raises(ValueError, match=f"the target 'y' has {count} expected 2 to 20 classes"):
            read_table(put("x,y\n" + "".join(f"{i * i},{y}\n" for i, y in enumerate(column))), "y", classes=True)
