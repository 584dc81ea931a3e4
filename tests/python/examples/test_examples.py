"""The examples: what they are called, that they run in some seconds, and their pictures."""

import sys
from pathlib import Path

import numpy as np
import pytest

import kernsel as ks
from kernsel import examples
from kernsel.examples import clouds, molecules, promoters


@pytest.fixture
def no_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)


@pytest.mark.parametrize(
    "example",
    [clouds, *(pytest.param(m, marks=pytest.mark.slow) for m in (molecules, promoters))],
    ids=lambda module: module.__name__,
)
@pytest.mark.usefixtures("no_matplotlib")
def test_plots_need_matplotlib(example, monkeypatch):
    select = ks.select
    monkeypatch.setattr(ks, "select", lambda X, y, kernels, **options: select(X, y, kernels[-1:], **options))
    with pytest.raises(ImportError, match=r"^plot needs matplotlib: pip install 'kernsel\[plot\]'$"):
        example.main("plot.png")


VECTORS = ("stopping_distances", "mauna_loa", "integral_equation", "boundary", "piston", "coal_mines")


@pytest.mark.parametrize("name", VECTORS)
def test_what_is_printed_fits_a_terminal_and_the_picture_is_not_blank(name, outcome):
    text, plot = outcome(name)
    assert len(text.splitlines()) > 5
    assert max(map(len, text.splitlines())) <= 120
    if plot is None:
        pytest.skip("no matplotlib")
    from matplotlib.image import imread

    pixels = imread(plot)[..., :3]
    assert min(pixels.shape[:2]) > 500
    assert 0.02 < np.mean(pixels.min(axis=2) < 0.9) < 0.9
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):  # nothing is cut off
        assert edge.min() > 0.9


def test_names_are_those_of_the_files():
    folder = Path(examples.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if "def main(plot" in path.read_text()}
    assert set(examples.names()) == files
    assert all(30 < len(text) < 85 for text in examples.names().values())
    examples.names().clear()
    assert examples.names()


def test_wrong_names():
    with pytest.raises(ValueError, match=r"name: expected one of .*piston.*, got 'mauna-lao'; did you mean 'mauna_loa'\?"):
        examples.run("mauna-lao")
    with pytest.raises(ValueError, match=r"got 'drawing'$"):
        examples.run("drawing")


def test_plots_that_cannot_be_are_refused_before_the_work(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match=r"plot: expected the name of a file that ends in one of .*png.*, got '.*cars\.txt'"):
        examples.run("stopping_distances", str(tmp_path / "cars.txt"))
    with pytest.raises(ValueError, match="plot: expected the name of a file that ends"):
        examples.run("stopping_distances", "plot")
    with pytest.raises(FileNotFoundError, match=r"plot: there is no folder to write '.*cars\.png' into; make it first"):
        examples.run("stopping_distances", str(tmp_path / "none" / "cars.png"))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"^plot needs matplotlib: pip install 'kernsel\[plot\]'$"):
        examples.run("stopping_distances", str(tmp_path / "cars.png"))
    assert capsys.readouterr().out == ""
