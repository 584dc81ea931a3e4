"""What the documentation shows is what happens: docstrings, README, the pages of the site, the command line."""

import doctest
import importlib
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import kernsel as ks
from kernsel import cli

import children

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    info.name for info in pkgutil.walk_packages(ks.__path__, "kernsel.") if not info.name.endswith(("_core", "__main__"))
)


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.usefixtures("threads")
def test_docstrings(module):
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def pages(language):
    """Return the README and the pages of the site that have code of a language."""
    made = {"api", "gallery", "headers"}  # by the build of the site
    files = [*ROOT.glob("README.md"), *sorted((ROOT / "python/docs").rglob("*.md"))]
    names = [file.relative_to(ROOT).as_posix() for file in files if not made & set(file.relative_to(ROOT).parts)]
    return [name for name in names if blocks(name, language)]


@pytest.mark.parametrize("page", pages("python"))
def test_python_of_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")  # in which functions can be found, as kernels that are pickled ask
    monkeypatch.setitem(sys.modules, "page", module)
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), vars(module))
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", pages("cpp"))
def test_cpp_of_page(page, tmp_path):
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    library = Path(ks.get_cmake_dir()).parents[1]
    ks.save(ks.KernelRidge("linear").fit([[0.0], [1.0]], [0.0, 1.0]), tmp_path / "model.ksl")  # which a program may read
    for i, block in enumerate(blocks(page, "cpp")):
        source, program = tmp_path / f"{i}.cpp", tmp_path / f"{i}"
        source.write_text(block)
        command = [
            compiler,
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{ks.get_include()}",
            str(source),
            f"-L{library}",
            "-lkernsel",
        ]
        subprocess.run([*command, "-fopenmp", "-o", str(program)], check=True)
        assert subprocess.run([program], capture_output=True, text=True, check=True, cwd=tmp_path).stdout


def test_command_line_of_page(root, tmp_path, monkeypatch, rng, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    a, b = rng.uniform(size=(2, 30))
    rows = list(zip(a, b, a + b**2, a - b, strict=True))
    text = "a,b,dist,y\n" + "".join(",".join(map(repr, map(float, row))) + "\n" for row in rows)
    for name in ("data.csv", "new.csv"):
        (tmp_path / name).write_text(text)
    visits = [f"{float(a)!r},p{k % 5},{float(y)!r}" for k, (a, *_, y) in enumerate(rows)]
    (tmp_path / "visits.csv").write_text("\n".join(["a,patient,y", *visits]) + "\n")
    of_readme, commands = (
        re.findall(r"^    kernsel (.*?)(?: +#.*)?$", (root / page).read_text(), re.M)
        for page in ("README.md", "python/docs/start/command_line.md")
    )
    assert {command.split()[0] for command in commands} == {"select", "predict", "report", "examples"}
    assert of_readme
    assert set(of_readme) <= set(commands)
    for command in commands:
        assert cli.main(shlex.split(command)) == 0, command
    for name in ("model.ksl", "report.html", "predictions.csv", "model.html"):
        assert (tmp_path / name).stat().st_size > 1000
    assert "explains" in capsys.readouterr().out


def test_readme_commands(root):
    text = (root / "README.md").read_text()
    assert "python3 -m venv .venv && .venv/bin/pip install '.[cli]' && .venv/bin/kernsel demo" in text
    assert "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest" in text


def test_config(capsys):
    assert cli.main(["config"]) == 0
    assert f"kernsel {ks.__version__}" in capsys.readouterr().out
    with pytest.raises(ValueError, match='mode: expected "print" or "dict"'):
        ks.show_config("json")


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes on this system")
def test_a_reader_that_stops_early():
    command = f"{sys.executable} -m kernsel config | head -n 1"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True, env=children.environment(PYTHONUNBUFFERED="1")
    )
    assert done.stdout == f"kernsel {ks.__version__}\n"
    assert done.stderr == ""


def test_module_runs():
    done = subprocess.run(
        [sys.executable, "-m", "kernsel", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=children.environment(),
    )
    assert done.stdout == f"kernsel {ks.__version__}\n"


def test_what_can_be_added_names_its_files_and_tests(root):
    """The table "To add" of cpp/HACKING.md."""
    table = (root / "cpp" / "HACKING.md").read_text().partition("## To add\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| (an? [\w' ]+?) \| (.*) \|$", table, re.M))
    tested = {"a criterion", "a stationary kernel", "a factor", "an objective", "an estimator"}
    tested |= {"a likelihood", "a likelihood of labels"}
    assert tested <= {name for name, row in rows.items() if "ested in `tests/" in row}
    places = ("", "cpp/src", "cpp/include/kernsel", "cpp", "python/kernsel")
    for name, row in rows.items():
        for file in re.findall(r"`([\w/.]+\.(?:cpp|hpp|inl|py|txt))`", row):
            assert any((root / place / file).exists() for place in places), f"{name}: {file}"
