"""Files of arrays and text."""

import json
import struct

import numpy as np

import kernsel as ks
from kernsel.saving import container

import saved


def test_the_file_is_one_of_safetensors(tmp_path):
    path = tmp_path / "a.ksl"
    model = saved.model("gp of a table, two outputs")
    ks.save(model, path)
    raw = path.read_bytes()  # read as the format's documentation has it
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    assert length % 8 == 0
    metadata = header.pop("__metadata__")
    assert (metadata["format"], metadata["version"]) == ("kernsel", "1")
    assert json.loads(metadata["model"])["column_names"] == list(saved.table.columns)
    begin, end = header["points"]["data_offsets"]
    points = np.frombuffer(raw[8 + length + begin : 8 + length + end], dtype="<f8").reshape(header["points"]["shape"])
    np.testing.assert_array_equal(points, model.X_train_)
    assert max(entry["data_offsets"][1] for entry in header.values()) == len(raw) - 8 - length


def test_arrays_of_all_kinds(tmp_path):
    arrays = {
        "a": np.array([True, False, True]),
        "b": np.arange(6.0).reshape(2, 3).T,
        "c": np.float32(1.5) * np.ones((2, 0)),
        "d": np.array(-3),
        "e": np.frombuffer(b"abc", dtype=np.uint8),
        "f": np.arange(3, dtype=">f8"),
    }
    container.write_container(tmp_path / "x", arrays, {"k": "v"})
    found = container.read_container(tmp_path / "x")
    assert found.metadata == {"k": "v"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.array(name), array)
        assert found.array(name).shape == array.shape
        assert found.array(name).dtype.isnative
