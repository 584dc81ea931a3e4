"""What estimators were given, in files: parameters that are lists of processes, with arrays and kernels in them."""

import json
import struct

import numpy as np

import kernsel as ks
from kernsel.kernels import RBF, Precomputed

import saved


def test_parameters_of_processes_in_a_list(again):
    noise = np.linspace(0.1, 0.2, 40)
    processes = [
        ks.GaussianProcessRegressor(RBF(1.5), noise=noise, trend="constant", optimizer=None),
        ks.GaussianProcessRegressor(2.0 * RBF(1.0) * Precomputed(np.eye(40)).on([0]), noise=0.1, max_seconds=3),
    ]
    rows = np.column_stack([np.arange(40.0), np.ones(40)])
    model = ks.StackedRegressor([processes[0]]).fit(saved.X, saved.y)
    model.estimators = processes
    loaded = again(model).estimators
    np.testing.assert_array_equal(loaded[0].noise, noise)
    for mine, other in zip(processes, loaded, strict=True):
        assert type(other) is ks.GaussianProcessRegressor
        assert not hasattr(other, "kernel_")
        for name, value in mine.get_params(deep=False).items():
            if name not in ("noise", "kernel"):
                assert getattr(other, name) == value
        np.testing.assert_array_equal(other.kernel(rows), mine.kernel(rows))


def test_files_that_are_older_than_a_parameter(tmp_path):
    """Version 0.1.0 expected nothing of length scales."""
    path = tmp_path / "model.ksl"
    model = ks.GaussianProcessRegressor(RBF([1.0, 2.0]), noise=0.1, optimizer=None).fit(saved.X, saved.y)
    ks.save(model, path)
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    description = json.loads(header["__metadata__"]["model"])
    assert description["parameters"].pop("shrinkage") == "auto"
    header["__metadata__"]["model"] = json.dumps(description)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])
    loaded = ks.load(path)
    assert loaded.shrinkage is None
    np.testing.assert_array_equal(loaded.predict(saved.Z), model.predict(saved.Z))
