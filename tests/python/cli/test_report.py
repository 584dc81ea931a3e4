"""kernsel report."""

import sys
import webbrowser
from pathlib import Path

from kernsel import report


def test_report_and_browsers(run, model, monkeypatch):
    written, opened = [], []
    monkeypatch.setattr(report, "write_report", lambda study, path, **rest: written.append((study.names, path, rest["file"])))
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    code, out, err = run("report", model, "--output", "a page.html", "--open")
    assert (code, out, opened) == (0, "a page.html\n", [])
    assert written == [(["speed"], "a page.html", model)]
    assert "There is no browser to open it in; its address is file:///" in " ".join(err.split())
    monkeypatch.setenv("DISPLAY", ":0")
    assert run("report", model, "--open")[2] == ""
    assert opened == [Path(model).with_suffix(".html").resolve().as_uri()]
