"""What is printed on terminals, with rich and without."""

import io
import re
import sys
import time
from pathlib import Path

import pytest

from kernsel import cli
from kernsel.cli.terminal import Terminal

from commands import Screen, without_rich


@pytest.mark.parametrize("width", [60, 80, 110])
@pytest.mark.parametrize("rich", [True, False])
def test_what_is_printed_fits_and_says_the_same_with_rich_and_without(monkeypatch, width, rich):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if rich:
        pytest.importorskip("rich")
    else:
        without_rich(monkeypatch)
    text = "x,a column with quite a long name,kind,y\n" + "".join(
        f"{i % 7},{i * 1.5},{'uvw'[i % 3]},{i % 5}\n" for i in range(30)
    )
    Path("data.csv").write_text(text)
    screen, errors = Screen(), Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", errors)
    assert cli.main(["select", "data.csv", "--target", "y", "--criterion", "lml", "--save", "m.ksl"]) == 0
    assert ("\x1b[" in screen.getvalue()) == rich
    assert ("\x1b[" in errors.getvalue()) == rich
    plain = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", screen.getvalue())
    lines = [line for line in plain.splitlines() if not line.startswith(("  kernsel ", "  python "))]  # are not wrapped
    assert max(map(len, lines)) <= width
    said = re.sub(r"[-─]{2,}", "", plain)
    numbers = re.sub(r"\d+\.\d s\*?", "", " ".join(said.split()))  # all but the times
    for part in (
        "3 categories: u, v, w",
        "RationalQuadratic",
        "Chosen by lml: ",
        "influence",
        "How good is it?",
        "m.ksl, the model",
    ):
        assert part in numbers


def test_colours_can_be_had_without(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", screen := Screen())
    cli.main(["demo", "--criterion", "lml"])
    assert not re.search(r"\x1b\[[\d;]*3\d", screen.getvalue())


@pytest.mark.parametrize("rich", [True, False])
def test_progress_is_shown_on_a_terminal_only(monkeypatch, rich):
    if rich:
        pytest.importorskip("rich")
    else:
        without_rich(monkeypatch)
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with Terminal().progress(3) as begin:
        begin("first")
        begin("second")
        time.sleep(0.15 if rich else 0)
    assert "second" in screen.getvalue()
    assert "2/3" in screen.getvalue() or "1/3" in screen.getvalue()
    for terminal, stream in ((Terminal(quiet=True), Screen()), (Terminal(), io.StringIO())):
        monkeypatch.setattr(sys, "stderr", stream)
        with terminal.progress(None) as begin:
            begin("first")
        assert stream.getvalue() == ""
