"""A folder with data, a model, and commands that are run in them."""

import pytest

from kernsel import cli

from commands import CARS


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Give each test a directory of its own, with data, and a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("KERNSEL_DEBUG", raising=False)
    (tmp_path / "cars.csv").write_text(CARS.read_text())
    return tmp_path


@pytest.fixture
def run(capsys):
    """Return a function that runs a command and returns its exit code, what it prints, and what it says besides."""

    def run_command(*arguments):
        try:
            code = cli.main(arguments)
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return run_command


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Return the path of a model of cars."""
    path = tmp_path_factory.mktemp("models") / "cars.ksl"
    assert cli.main(["select", str(CARS), "--target", "dist", "--kernel", "RBF", "--save", str(path), "--quiet"]) == 0
    return str(path)
