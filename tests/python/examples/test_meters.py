"""Readings in a file, learnt from by few landmarks."""

import re
import sys

import numpy as np
import pytest

import kernsel as ks
from kernsel.examples import meters


def test_readings_are_learnt_from_a_file_and_predicted_into_another(capsys, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    for name, value in {"READINGS": 2500, "OTHERS": 1100, "GROUP": 1000, "NEAR": ks.Nystrom(60, search_rows=500)}.items():
        monkeypatch.setattr(meters, name, value)
    meters.main(str(tmp_path / "meters.png"))
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 120
    found = {line[:24].strip(): float(re.findall(r"[\d.]+", line[24:])[0]) for line in text.splitlines() if line[24:25] == " "}
    error, noise = 1 / np.sqrt(2 * 1100), meters.NOISE  # of a standard deviation by so many readings, relative
    assert found["off the true mean"] < noise / 2
    assert found["off single readings"] ** 2 == pytest.approx(noise**2 + found["off the true mean"] ** 2, rel=8 * error)
    inside = np.sqrt(0.95 * 0.05 / 1100)
    assert found["95 % intervals hold"] / 100 == pytest.approx(0.95, abs=4 * inside + 0.01)  # the noise is known to 3 percent
    assert (tmp_path / "meters.png").stat().st_size > 10_000


def test_files_need_another_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'kernsel\[parquet\]'"):
        meters.main()
