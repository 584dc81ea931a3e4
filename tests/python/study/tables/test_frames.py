"""Tables that are objects in Python."""

import datetime

import numpy as np
import pytest

from kernsel.study.tables.frames import read_frame
from kernsel.study.tables.read import rows_to_predict, table_of


def test_frames_of_pandas_are_read_as_files_are(put):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "n": pandas.array([1, 2, None, 7, 9, 12], dtype="Int64"),
            "x": [0.5, None, 2.5, -1.0, 3.0, 4.0],
            "who": pandas.Categorical(["u", "v", "u", "u", "v", "u"]),
            "word": ["a", None, "b", "a", "a", "b"],
            "sure": [True, False, True, True, False, False],
            "on": pandas.to_datetime(["2024-01-01", "2024-03-01", "2024-02-01", "2024-05-05", "2024-05-06", None]),
            3: [1, 2, 3, 4, 5, 7],
            "y": [1.0, 2.0, 3.0, 4.5, 5.0, 6.0],
        }
    )
    from kernsel.study.tables import read_table

    for missing in ("drop", "mean"):
        one = table_of(read_frame(frame), "y", missing=missing)
        other = read_table(put(frame.to_csv(index=False)), "y", missing=missing)
        assert one.names == other.names == ["n", "x", "who=v", "word=b", "sure", "on", "3"]
        np.testing.assert_array_equal(one.X, other.X)
        np.testing.assert_array_equal(one.kept, other.kept)
    assert rows_to_predict(read_frame(frame), other.columns, "y").kept.tolist() == [1, 4, 5]


def test_dictionaries_and_what_is_no_frame():
    when = [datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 2, 12), None]
    raw = read_frame({"x": np.arange(3), "when": when, "word": np.array(["a", "b", "c"])})
    assert raw.columns["x"].tolist() == [0.0, 1.0, 2.0]
    assert raw.columns["when"] == ["2024-01-01", "2024-01-02T12:00:00", ""]
    assert raw.columns["word"] == ["a", "b", "c"]
    for frame, error, message in (
        (np.zeros((3, 2)), TypeError, "expected a frame with named columns, a dictionary of them, or the path of a file"),
        ({"x": [1, 2], "y": [1]}, ValueError, "expected columns of equal length"),
        ({"x": [[1], [2]]}, TypeError, "column 'x' has 2 dimensions"),
        ({"x": [{}, {}]}, TypeError, "column 'x' has {}; expected numbers, texts, booleans or dates"),
        ({"x": []}, ValueError, "has no rows"),
    ):
        with pytest.raises(error, match=message):
            read_frame(frame)


def test_advice_is_for_python():
    raw = read_frame({"month": np.arange(1, 13), "z": np.arange(12) % 5, "y": np.arange(12) ** 2})
    assert table_of(raw, "y").remarks[0].endswith("drop(columns=['month'])")
    raw = read_frame({"x": np.arange(9) ** 2, "y": ["a", "b", "c"] * 3})
    with pytest.raises(ValueError, match=r"for classes, use estimator=GaussianProcessClassifier\(\)"):
        table_of(raw, "y")
