"""The examples run, in some seconds, and what they print is what their authors say."""

import re
import sys

import numpy as np
import pytest

from kernsel.examples import clouds, molecules, promoters
from kernsel.examples.drawing import draw_histograms, draw_predictions


def printed(capsys, main, *arguments):
    """Return the numbers at the end of each line, by what is before them; and of the line of what is chosen."""
    main(*arguments)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 150
    rows = {}
    for line in lines:
        if found := re.match(r"(.*?)  +((?:-?[\d.]+%? *)+)(  <- chosen|$|  \()", line):
            numbers = [float(text.rstrip("%")) for text in found[2].split()]
            rows[found[1]] = numbers
            if "chosen" in found[3]:
                rows["chosen"] = numbers
    return rows


@pytest.fixture
def no_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)


def test_molecules(capsys):
    rows = printed(capsys, molecules.main)
    (mean,), (counts,), (chosen,) = (
        rows[name] for name in ("always the mean", "ridge on counts of 8 elements", "depth chosen by leave-one-out")
    )
    within, without = zip(*[rows[f"Weisfeiler-Lehman, depth {depth}"] for depth in range(5)], strict=True)
    # Depth 0 is the counts of elements; neighbours help; what is chosen is about the best; leave-one-out says how good it is.
    assert chosen < 0.7 * counts < 0.5 * mean
    assert without[0] == pytest.approx(counts, rel=0.1)
    assert chosen <= 1.1 * min(without)
    assert all(a == pytest.approx(b, rel=0.2) for a, b in zip(within, without, strict=True))


def test_clouds(capsys):
    rows = printed(capsys, clouds.main)
    (mean,), (formula,) = rows["always the mean"], rows["correlation of the sample, by its formula"]
    within, chosen = rows["chosen"]
    assert 0.5 * formula < chosen < 1.3 * formula < 0.3 * mean
    assert within == pytest.approx(chosen, rel=0.2)
    assert within == min(row[0] for row in rows.values() if len(row) == 2)


def test_promoters(capsys):
    rows = printed(capsys, promoters.main)
    probability, right = rows["always the same"]
    _, best, rate = rows["chosen"]
    assert (probability, right) == (50, pytest.approx(50, abs=5))
    assert best > 1.2 * probability
    (told,) = next(row for name, row in rows.items() if name.endswith("if somebody tells us these"))
    assert 75 < rate < told < 100


@pytest.mark.parametrize("example", [clouds, molecules, promoters], ids=lambda module: module.__name__)
@pytest.mark.usefixtures("no_matplotlib")
def test_plots_need_matplotlib(example):
    with pytest.raises(ImportError, match=r"^plot needs matplotlib: pip install 'kernsel\[plot\]'$"):
        example.main("plot.png")


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    draw_predictions(str(tmp_path / "predictions.png"), np.array([1.0, 2.0]), np.array([1.5, 1.8]), "size")
    draw_histograms(str(tmp_path / "histograms.svg"), {"some": np.array([0.1, 0.2]), "others": np.array([0.9])}, "probability")
    assert (tmp_path / "predictions.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "histograms.svg").read_text()
