"""Drawing for reports, without matplotlib."""

import sys

import pytest

from kernsel.report import render

pytest.importorskip("matplotlib")


def test_missing_matplotlib_is_said(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'kernsel\[cli\]'"):
        render(made("constant")[0])
