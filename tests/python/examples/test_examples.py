"""The examples run, in some seconds, and what they print is what their authors say."""

import re
import sys

import numpy as np
import pytest

import kernsel as ks
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


def without_amplitude(rows):
    """Return the rows of kernels by the names of these, with the numbers that were found left out."""
    return {re.sub(r"(^| )[\d.e+-]+ \* ", r"\1", name): numbers for name, numbers in rows.items()}


def test_molecules(capsys):
    rows = printed(capsys, molecules.main)
    (mean,), (counts,), (held_out,) = (
        rows[name]
        for name in ("always the mean", "ridge on counts of 8 elements", "the kernel that leave-one-out chooses without them")
    )
    kernels = without_amplitude(rows)
    depths = [kernels[f"WeisfeilerLehman({depth})"][0] for depth in range(5)]
    # Depth 0 is the counts of elements; neighbours help, and too many of them do not; leave-one-out says how good it is.
    assert held_out < 0.7 * counts < 0.5 * mean
    assert depths[0] == pytest.approx(counts, rel=0.1)
    assert np.argmin(depths) == 1
    best = min(numbers[0] for name, numbers in kernels.items() if name.startswith("Weisfeiler"))
    assert best <= depths[1]
    assert best == pytest.approx(held_out, rel=0.25)


def test_clouds(capsys):
    rows = printed(capsys, clouds.main)
    (mean,), (formula,) = rows["always the mean"], rows["correlation of the sample, by its formula"]
    within, chosen = rows["chosen"]
    assert 0.5 * formula < chosen < 1.3 * formula < 0.3 * mean
    assert within == pytest.approx(chosen, rel=0.2)
    assert within == min(row[0] for row in rows.values() if len(row) == 2)
    assert sum("@ MeanEmbedding(RBF(" in name for name in rows) == 4
    for name in ("SlicedWasserstein", "LinearizedTransport"):
        assert next(row[1] for key, row in rows.items() if name in key) < 1.3 * formula


def test_promoters(capsys):
    rows = printed(capsys, promoters.main)
    probability, right = rows["always the same"]
    within, best, rate = rows["chosen"]
    assert (probability, right) == (50, pytest.approx(50, abs=5))
    assert best > 1.2 * probability
    assert within == max(row[0] for row in rows.values() if len(row) == 3)
    assert sum("Spectrum(" in name for name in rows) == 9
    (told,) = next(row for name, row in rows.items() if name.endswith("if somebody tells us these"))
    assert 75 < rate < told < 100


@pytest.mark.parametrize("example", [clouds, molecules, promoters], ids=lambda module: module.__name__)
@pytest.mark.usefixtures("no_matplotlib")
def test_plots_need_matplotlib(example, monkeypatch):
    select = ks.select
    monkeypatch.setattr(ks, "select", lambda X, y, kernels, **options: select(X, y, kernels[-1:], **options))
    with pytest.raises(ImportError, match=r"^plot needs matplotlib: pip install 'kernsel\[plot\]'$"):
        example.main("plot.png")


def test_plots(tmp_path):
    pytest.importorskip("matplotlib")
    draw_predictions(str(tmp_path / "predictions.png"), np.array([1.0, 2.0]), np.array([1.5, 1.8]), "size")
    draw_histograms(str(tmp_path / "histograms.svg"), {"some": np.array([0.1, 0.2]), "others": np.array([0.9])}, "probability")
    assert (tmp_path / "predictions.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "histograms.svg").read_text()
