"""Files whose values have types: npz and Parquet."""

import numpy as np
import pytest

from kernsel.study.tables import read_table, read_to_predict


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
    np.savez(path, x=[1.0, 2.0, 4.0], y=[1.0, 2.0, 3.0])
    columns = read_table(path, "y").columns
    np.savez(path, x=[1.0, -np.inf])
    with pytest.raises(ValueError, match="row 2: column 'x' is infinite"):
        read_to_predict(path, columns, "y")


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
