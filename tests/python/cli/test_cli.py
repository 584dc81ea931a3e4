"""The command line, whatever the command: what it says about mistakes, and of interruptions."""

import importlib
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from kernsel import cli
from kernsel.cli import select as select_command
from kernsel.study import Study

MISTAKES = [
    (["select", "none.csv", "--target", "dist"], r"there is no file none.csv"),
    (["select", "car.csv", "--target", "dist"], r"there is no file car.csv; did you mean cars.csv\?"),
    (["select", ".", "--target", "dist"], r"\. is a directory; expected a CSV"),
    (["select", "cars.csv", "--target", "dits"], r"cars.csv has no column 'dits'; did you mean 'dist'\?"),
    (["select", "cars.csv", "--target", "dist", "--leave-out", "sped"], r"no column 'sped'; did you mean 'speed'\?"),
    (["select", "cars.csv", "--target", "dist", "--leave-out", "speed"], r"no column to predict 'dist' from"),
    (["select", "cars.csv", "--target", "dist", "--kernel", "RBFF"], r"there is no kernel 'RBFF' .*did you mean RBF\?"),
    (["select", "cars.csv", "--target", "dist", "--kernel", "RBF +"], r"kernel: 'RBF \+' cannot be read"),
    (["select", "cars.csv", "--target", "dist", "--kernel", "search", "--kernel", "RBF"], r"expected it alone, or kernels"),
    (["select", "cars.csv", "--target", "dist", "--save", "no/where.ksl"], r"cannot be written: there is no directory no"),
    (["select", "cars.csv", "--target", "dist", "--report", "."], r"\. is a directory; expected the name of a file"),
    (["select", "few.csv", "--target", "y"], r"few.csv has 1 row, and nothing can be learnt from one"),
    (["select", "huge.csv", "--target", "y", "--kernel", "RBF"], r"y: its squares overflow; divide it by a number"),
    (["predict", "cars.csv", "cars.csv"], r"cars.csv: this is no model"),
    (["predict", "none.ksl", "cars.csv"], r"none.ksl: No such file or directory"),
    (["report", "none.ksl"], r"none.ksl: No such file or directory"),
    (["predict", "MODEL", "few.csv"], r"column 'speed', which the model predicts from, is not there; it has x, y"),
    (["predict", "MODEL", "cars.csv", "--output", "no/where.csv"], r"cannot be written: there is no directory no"),
    (["examples", "moona_loa"], r"did you mean 'mauna_loa'\?"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes_are_said_in_one_sentence(run, model, folder, arguments, message):
    (folder / "few.csv").write_text("x,y\n1,2\n")
    (folder / "huge.csv").write_text("x,y\n" + "".join(f"{i},{i}e200\n" for i in range(9)))
    before = set(folder.iterdir())
    code, out, err = run(*[model if argument == "MODEL" else argument for argument in arguments], "--quiet")
    assert code == 1
    assert err.startswith("kernsel: ")
    assert re.search(message, " ".join(err.split()))
    assert set(folder.iterdir()) == before
    assert out == "" or "huge.csv" in arguments  # what was read is printed before it is learnt from


def test_missing_extras_are_named(run, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("new.parquet").write_bytes(b"PAR1")
    code, _, err = run("predict", model, "new.parquet")
    assert (code, "pip install 'kernsel[parquet]'" in err) == (1, True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    code, out, err = run("demo", "--report", "r.html")
    assert (code, out) == (1, "")
    assert "a report needs matplotlib: pip install 'kernsel[cli]'" in err


def test_faults_of_ours_show_where_they_are(monkeypatch, capsys):
    def broken(*_, **__):
        raise TypeError("ours")

    monkeypatch.setattr(select_command, "study", broken)
    with pytest.raises(TypeError, match="ours"):
        cli.main(["demo"])
    monkeypatch.setattr(select_command, "study", lambda *_, **__: (_ for _ in ()).throw(ValueError("a mistake")))
    assert cli.main(["demo"]) == 1
    monkeypatch.setenv("KERNSEL_DEBUG", "1")
    with pytest.raises(ValueError, match="a mistake"):
        cli.main(["demo"])
    capsys.readouterr()


def test_warnings_are_said_once_and_plainly(run):
    _, _, err = run("select", "cars.csv", "--target", "dist", "--kernel", "Sigmoid", "--kernel", "Sigmoid", "--kernel", "RBF")
    assert err.count("not positive semidefinite") == 1
    assert "Warning: Sigmoid is not positive semidefinite" in err
    assert ".py:" not in err


def test_an_interruption_in_the_middle(run, monkeypatch):
    real, told = select_command.study, []

    def interrupted(table, *, progress, **options):
        def tell(criterion, kernel):
            told.append(kernel)
            progress(criterion, kernel)
            if len(told) == 3:
                os.kill(os.getpid(), signal.SIGINT)

        return real(table, progress=tell, **options)

    monkeypatch.setattr(select_command, "study", interrupted)
    code, out, _ = run("select", "cars.csv", "--target", "dist")
    assert code == 130
    assert "Interrupted: not all was tried." in out
    assert [len(lines) for lines in Study.load("cars.ksl").lines.values()] == [2]
