"""The rows of a file as numbers, in blocks."""

import numpy as np
import pandas as pd
import pytest

from kernsel._data.rows import summary
from kernsel.study.tables import parts, read_table
from kernsel.study.tables.encoded_rows import EncodedRows

ROWS = 40


@pytest.fixture
def frame(rng):
    """Return a table with gaps in its inputs and in the target."""
    x = np.round(rng.normal(size=ROWS), 6)
    when = pd.date_range("2024-01-01", periods=ROWS).astype(str)
    kind = rng.choice(["u", "v", "w"], ROWS)
    table = pd.DataFrame({"note": "as told", "when": when, "x": x, "kind": kind, "y": np.round(x**2, 6)})
    table.loc[[3, 20], "x"] = np.nan
    table.loc[11, "y"] = np.nan
    return table


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_rows_are_those_of_the_table(frame, tmp_path, monkeypatch, name, missing):
    path = str(tmp_path / name)
    frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    table = read_table(path, "y", missing=missing)
    monkeypatch.setattr(parts.read_in_parts, "__defaults__", (None, 7))
    source = EncodedRows(path, table.columns, table.target, missing)
    assert source.names == table.names
    for _ in range(2):
        blocks = list(source.blocks())
        assert len(blocks) == 6
        np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), table.X)
        np.testing.assert_array_equal(np.vstack([block.y for block in blocks])[:, 0], table.y)
        assert source.n_rows == len(table.X)
    assert summary(source, 5).rows == len(table.X)
    others = EncodedRows(path, table.columns, table.target, missing, table.kept[[0, 9, 30]])
    np.testing.assert_array_equal(np.vstack([block.X for block in others.blocks()]), np.delete(table.X, [0, 9, 30], axis=0))


def test_what_a_sample_did_not_have(frame, tmp_path):
    path = str(tmp_path / "a.csv")
    frame.to_csv(path, index=False)
    table = read_table(path, "y")
    frame.loc[7, "kind"] = "new"
    frame.to_csv(path, index=False)
    source = EncodedRows(path, table.columns, table.target)
    assert sum(map(len, source.blocks())) == len(table.X) - 1
    frame["y"] = frame["y"].astype(object)
    frame.loc[30, "y"] = "none of it"
    frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match="line 32: column 'y' has 'none of it', which is not a number"):
        list(EncodedRows(path, table.columns, table.target).blocks())
    frame.drop(columns="y").to_csv(path, index=False)
    with pytest.raises(ValueError, match="has no column 'y'"):
        list(EncodedRows(path, table.columns, table.target).blocks())
