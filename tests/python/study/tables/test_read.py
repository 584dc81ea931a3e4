"""Tables: what is read, and what a user is told of what is not."""

import time

import numpy as np
import pytest

from kernsel.study.tables import read_table, read_to_predict


def rows(count, *columns):
    """Return lines, each the values of functions of its number."""
    return "".join(",".join(str(f(i)) for f in columns) + "\n" for i in range(count))


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
        ("x,y\n" + "1,a\n2,b\n" * 5, "it has 2 different values: for classes, use --classify"),
        ("x,y\n1,\n2,NA\n", "the target 'y' has no values"),
        ("x,y\n1,2\n2,inf\n", r"line 3: column 'y' has 'inf', which is not a number"),
        ("x,y\n1,2\n2,1e999\n", r"line 3: column 'y' has '1e999', which is not a number"),
        ("x,y\n1,2\n1e999,3\n5,6\n", r"line 3: column 'x' has '1e999', which is no finite number"),
        (
            "x,y\n1_000,2\n2,2\n3,3\n",
            r"line 2: column 'x' has '1_000', and 2 of its 3 values are numbers; correct it, or leave",
        ),
        ("x,y\n1,2\n", "has 1 row, and nothing can be learnt from one"),
        ("x,y\n1,2\n1,3\n", r"no column to predict 'y' from .x: all values are 1."),
        ("y\n1\n2\n", "no column to predict 'y' from$"),
        ("a b,y\n" + rows(50, lambda i: f"w{i // 2}", lambda i: i), r"'a b' is text with 25 different.*--leave-out 'a b'"),
        ("x,y\n" + rows(60, lambda i: f"{i % 30 + 1}.1.20", lambda i: i), "dates have to be written as 2024-12-31"),
        ("x,y\nNA,1\nNA,2\n3,4\n4,NA\n?,2\n", "3 of 5 rows have missing values .3 in x., and without them too few are left"),
    ],
)
def test_what_cannot_be_read_is_said(put, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(put(text), "y")


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
        ("a,c,b,when\n1,u,no,1.1.24\n", "line 2: column 'when' has '1.1.24'; expected a date such as 2024-12-31"),
        ("a,c,b,when\nx,u,no,2024-01-01\n", "line 2: column 'a' has 'x', which is not a number"),
    ):
        with pytest.raises(ValueError, match=message):
            read_to_predict(put(text, "new.csv"), table.columns, "y")
    with_target = put("a,c,b,when,y\n1,u,no,2024-01-01,5\n2,u,no,2024-01-01,\n", "new.csv")
    np.testing.assert_array_equal(read_to_predict(with_target, table.columns, "y").y, [5.0, np.nan])


def test_rows_with_levels_that_were_not_learnt_are_not_predicted(put):
    table = read_table(put("a,c,b,y\n1,u,yes,1\n2,v,no,2\n3,w,yes,3\n4,u,no,3\n"), "y")
    new = put("a,c,b\n1,u,yes\n2,q,no\n3,q,NA\n,w,no\n4, r ,maybe\n", "new.csv")
    said = "3 rows with values that the model has not learnt ('q', 'r' in c; 'maybe' in b): no prediction is made for them."
    again = read_to_predict(new, table.columns, "y")
    assert again.kept.tolist() == [1]
    assert again.X.tolist() == [[1.0, 1.0, 0.0, 0.0, 1.0]]
    assert again.remarks[0] == said
    again = read_to_predict(new, table.columns, "y", missing="mean")  # an unknown level is no missing value
    assert again.kept.tolist() == [1, 4]
    assert said in again.remarks
    with pytest.raises(ValueError, match="line 3: column 'c' has 'q'; expected one of u, v, w"):
        read_to_predict(new, table.columns, "y", missing="error")


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
