"""The command line, as its users meet it: what it prints, what it writes, and what it says about mistakes."""

import csv
import importlib
import io
import json
import os
import re
import signal
import sys
import time
import webbrowser
from pathlib import Path

import numpy as np
import pytest

import kernsel as ks
from kernsel import cli, report
from kernsel.cli import parser
from kernsel.cli import select as select_command
from kernsel.cli.terminal import Terminal
from kernsel.criteria.names import offered
from kernsel.criteria.table import TABLE
from kernsel.study import Study

CARS = Path(ks.__file__).parent / "examples" / "cars.csv"
COMMANDS = ["select", "predict", "report", "demo", "examples", "config"]


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


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return the path of a model of cars."""
    path = tmp_path_factory.mktemp("models") / "cars.ksl"
    assert cli.main(["select", str(CARS), "--target", "dist", "--kernel", "RBF", "--save", str(path), "--quiet"]) == 0
    return str(path)


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def strict(text):
    """Return a JSON document, if it is one without inventions such as NaN."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


def without_rich(monkeypatch):
    for name in ("rich", "rich.console", "rich.progress", "rich.table"):
        monkeypatch.setitem(sys.modules, name, None)


def test_select_prints_and_writes_the_model(run):
    code, out, err = run("select", "cars.csv", "--target", "dist", "--kernel", "RBF", "--kernel", "Matern(nu=2.5)")
    assert code == 0
    assert err == ""
    study = Study.load("cars.ksl")
    assert "cars.csv: 50 rows; dist is predicted from 1 column" in out
    assert re.search(r"speed +numbers from 4 to 25", out)
    for name, lines in study.lines.items():
        assert f"By {name}: " in out
        part = out[out.index(f"By {name}: ") :]
        for line in lines:
            assert re.search(
                rf"{re.escape(line.kernel)} +{line.value:.{6 if name == 'reml' else 4}g} +{line.loo_rmse:.2f} ", part
            )
    best = study.lines["reml"][0]
    assert f"Chosen by reml: {best.kernel}" in out
    assert f"noise of standard deviation {np.sqrt(best.noise):.3g}" in out
    y = study.model.y_train_
    explained = 1 - best.loo_rmse**2 / np.mean(((y - y.mean()) * 50 / 49) ** 2)
    assert f"That explains {100 * explained:.0f} % of its variance." in " ".join(out.split())
    assert "kernsel predict cars.ksl NEW.csv" in out


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


def test_json_is_whole_and_strict(run):
    code, out, err = run("select", "cars.csv", "--target", "dist", "--test", "20%", "--json", "--report", "r.html")
    assert code == 0
    said = strict(out)
    study = Study.load("cars.ksl")
    assert said["rows"] == 50
    assert [line["kernel"] for line in said["lines"]["reml"]] == [line.kernel for line in study.lines["reml"]]
    assert said["chosen"]["loo_rmse"] == pytest.approx(study.lines["reml"][0].loo_rmse)
    assert said["chosen"]["inputs"][0]["name"] == "speed"
    assert said["chosen"]["inputs"][0]["length_scales"][0]["value"] > 0
    assert said["test"]["rows"] == 10
    assert said["files"] == {"model": "cars.ksl", "report": "r.html"}
    assert Path("r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "10 rows that were not learnt from test the model." in err
    assert len(said["kept"]) == 40


def test_seeds_and_samples(run):
    one, two, three = (
        strict(run("select", "cars.csv", "--target", "dist", "--rows", "20", "--seed", seed, "--kernel", "RBF", "--json")[1])
        for seed in ("1", "1", "2")
    )
    assert one["kept"] == two["kept"] != three["kept"]
    assert one["chosen"] == two["chosen"]
    assert one["test"]["rows"] == 30


def test_options_reach_what_they_are_for(run):
    options = ["--noise", "0.25", "--trend", "linear", "--kernel", "RBF.on(['speed'])", "--criterion", "lml,loo,gcv"]
    said = strict(run("select", "cars.csv", "--target", "dist", *options, "--json")[1])
    assert list(said["lines"]) == ["lml", "loo", "gcv"]
    assert said["chosen"]["noise"] == 0.25
    assert "linear trend beside the kernel" in " ".join(said["chosen"]["words"])
    assert Study.load("cars.ksl").model.trend == "linear"
    said = strict(run("select", "cars.csv", "--target", "dist", "--kernel", "search", "--budget", "0.2s", "--json")[1])
    assert said["ended"]
    assert said["lines"]["reml"]
    before = ks.get_num_threads()
    assert run("demo", "--threads", "1", "--quiet", "--kernel", "RBF", "--trend", "none")[0] == 0
    assert ks.get_num_threads() == before


def test_search_is_summed_up(run):
    code, out, _ = run("demo", "--kernel", "search", "--criterion", "lml")
    assert code == 0
    assert "noise alone" in out or "more" in out


def test_nothing_worth_knowing_is_said_to_be_nothing(run):
    rng = np.random.default_rng(1)
    Path("noise.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rng.normal(size=(40, 3))))
    out = " ".join(run("select", "noise.csv", "--target", "y")[1].split())
    assert "Nothing that was tried predicts y better than its mean does" in out or "it may be chance" in out
    Path("line.csv").write_text("x,z,y\n" + "".join(f"{i},{i % 3},{2 * i + 1}\n" for i in range(20)))
    out = " ".join(run("select", "line.csv", "--target", "y", "--trend", "linear")[1].split())
    assert "the trend alone gives y: there is nothing to choose a kernel by" in out


def test_of_many_inputs_only_those_that_matter_are_listed(run):
    X = np.random.default_rng(2).uniform(size=(60, 30))
    text = ",".join(f"v{k}" for k in range(30)) + ",y\n"
    Path("wide.csv").write_text(text + "".join(",".join(f"{v:.4f}" for v in row) + f",{3 * row[4]:.4f}\n" for row in X))
    code, out, _ = run("select", "wide.csv", "--target", "y", "--criterion", "lml", "--kernel", "Linear")
    assert code == 0
    assert "and 5 more columns" in out
    assert re.search(r"v4 +100 %", out)
    assert "and 29 more with less influence" in out


def test_rows_that_cannot_be_left_out_are_no_failure(run):
    Path("alone.csv").write_text("x,z,y\n" + "".join(f"{i * 1.7 % 5},{int(i == 3)},{i * 1.7 % 3}\n" for i in range(20)))
    arguments = ("select", "alone.csv", "--target", "y", "--trend", "linear", "--criterion", "lml")
    code, out, _ = run(*arguments)
    assert code == 0
    assert "Rows cannot be left out: " in out
    assert strict(run(*arguments, "--json")[1])["chosen"]["loo_rmse"] is None


def test_demo(run, folder):
    before = set(folder.iterdir())
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    assert f"kernsel select {CARS} --target dist" in out
    assert "Chosen by reml: " in out
    assert "kernsel demo --save cars.ksl --report cars.html" in out
    assert set(folder.iterdir()) == before
    assert run("demo", "--save", "demo.ksl", "--kernel", "RBF", "--quiet")[0] == 0
    assert Study.load("demo.ksl").names == ["speed"]


def predictions(text, delimiter=","):
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    assert rows[0] == ["predicted", "std", "lower", "upper"]
    return np.array([[float(value or "nan") for value in row] for row in rows[1:]])


def test_predict(run, model):
    Path("new.csv").write_text("extra,speed\n1,21\n2,\n3,7.5\n")
    code, out, err = run("predict", model, "new.csv", "--intervals", "90%")
    assert code == 0
    assert "Columns that the model does not know are ignored: extra." in err
    assert "1 row with missing values (1 in speed): no prediction is made for them." in err
    values = predictions(out)
    mean, std = ks.load(model).predict([[21.0], [7.5]], return_std=True, noisy=True)
    half = 1.6448536269514722 * std
    np.testing.assert_allclose(values[[0, 2]], np.column_stack([mean, std, mean - half, mean + half]), rtol=1e-12)
    assert np.isnan(values[1]).all()
    filled = predictions(run("predict", model, "new.csv", "--missing", "mean")[1])
    assert filled[1, 0] == pytest.approx(ks.load(model).predict([[15.4]])[0])
    assert run("predict", model, "new.csv", "--missing", "error")[0] == 1
    said = strict(run("predict", model, "new.csv", "--json")[1])
    assert said["predictions"][1] is None
    assert said["predictions"][0]["upper"] == pytest.approx(mean[0] + 1.959963984540054 * std[0])
    assert said["error"] is None


def test_predictions_are_compared_with_the_target(run, model):
    code, out, err = run("predict", model, "cars.csv", "--output", "out.csv")
    assert (code, err) == (0, "")
    fitted = ks.load(model)
    data = np.loadtxt("cars.csv", delimiter=",", skiprows=1)
    rmse = np.sqrt(np.mean((data[:, 1] - fitted.predict(data[:, :1])) ** 2))
    text = " ".join(out.split())
    assert f"out.csv: 50 predictions of dist cars.csv has dist, too: error {rmse:.4g} (root mean square)" in text
    assert predictions(Path("out.csv").read_text()).shape == (50, 4)
    assert strict(run("predict", model, "cars.csv", "--json")[1])["error"]["rmse"] == pytest.approx(rmse)


@pytest.mark.parametrize("name", ["out.tsv", "out.npz", "out.parquet"])
def test_formats_of_predictions(run, model, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    expected = predictions(run("predict", model, "cars.csv")[1])
    assert run("predict", model, "cars.csv", "--output", name, "--quiet")[0] == 0
    if name.endswith("tsv"):
        values = predictions(Path(name).read_text(), "\t")
    elif name.endswith("npz"):
        with np.load(name) as archive:
            values = np.column_stack([archive[column] for column in ("predicted", "std", "lower", "upper")])
    else:
        values = importlib.import_module("pandas").read_parquet(name).to_numpy()
    np.testing.assert_array_equal(values, expected)


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


def test_huge_and_tiny_inputs_are_learnt_from(run):
    for unit in ("e300", "e-300"):
        Path("odd.csv").write_text("x,y\n" + "".join(f"{i * i}{unit},{i % 7}\n" for i in range(1, 25)))
        code, out, _ = run("select", "odd.csv", "--target", "y", "--criterion", "lml")
        assert code == 0
        assert "nan" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["selct"], r"invalid choice: 'selct'.*did you mean 'select'\?"),
        (["select", "cars.csv", "--targt", "dist"], r"unrecognized arguments: --targt dist; did you mean --target\?"),
        (["select", "cars.csv"], "--target: which column is to be predicted. cars.csv has speed, dist"),
        (["select", "cars.csv", "--target", "dist", "--missing", "men"], r"invalid choice: 'men'.*did you mean 'mean'\?"),
        (
            ["select", "cars.csv", "--target", "dist", "--criterion", "lml,lo"],
            r"--criterion: there is no 'lo'; did you mean loo\?",
        ),
        (["demo", "--budget", "soon"], "expected a time such as 30s, 2m or 1h, got 'soon'"),
        (["demo", "--budget", "0s"], "expected a time"),
        (["demo", "--noise", "-1"], "expected a variance from 0 on or auto, got '-1'"),
        (["demo", "--seed", "x"], "expected a whole number from 0"),
        (["demo", "--threads", "0"], "expected a whole number from 1 on, got '0'"),
        (["select", "cars.csv", "--target", "dist", "--test", "120%"], "expected a share such as 20% or 0.2, got '120%'"),
        (["select", "cars.csv", "--target", "dist", "--rows", "2"], "expected a whole number from 3 on"),
        (["predict", "m.ksl", "cars.csv", "--intervals", "100"], "expected a number between 0 and 100, such as 95, got '100'"),
        (["examples", "--plot", "a.png"], "--plot: of which example"),
    ],
)
def test_wrong_usage(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("usage: kernsel")
    assert re.search(message, " ".join(err.split()))


def test_values_of_options():
    assert [parser.duration(text) for text in ("30", "30s", "2m", "1.5 min", "1h")] == [30, 30, 120, 90, 3600]
    assert [parser.share(text) for text in ("20%", "0.2", ".5")] == [0.2, 0.2, 0.5]
    assert parser.names('a, "b, c",d') == ["a", "b, c", "d"]
    assert parser.whole(3)("10,000") == 10000
    assert parser.variance("auto") == "auto"


@pytest.mark.parametrize("command", [[], *[[command] for command in COMMANDS]])
@pytest.mark.parametrize("width", ["60", "100"])
def test_help_has_examples_that_can_be_typed(run, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", width)
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    body, examples = out.split("examples:\n")
    assert max(map(len, body.splitlines())) <= int(width)
    for line in examples.split("\n\n")[0].splitlines():
        typed = re.sub(r"^.*\| (?=kernsel)|   .*| > .*", "", line.strip())
        words_of = importlib.import_module("shlex").split(typed)
        assert words_of[0] == "kernsel"
        assert cli._parser().parse_known_args(words_of[1:])[1] == []


def test_all_criteria_are_explained(run):
    lines = [line.strip() for line in run("select", "--help")[1].splitlines()]
    assert "risk" not in offered()
    for name in offered():
        assert f"{name:25s} {TABLE[name].sentence}" in lines


def test_examples_are_listed_and_run(run):
    from kernsel import examples

    out = run("examples")[1]
    assert all(name in out for name in examples.names())
    code, out, _ = run("examples", "stopping_distances")
    assert code == 0
    assert out


def test_config(run):
    assert strict(run("config", "--json")[1])["version"] == ks.__version__


def test_missing_extras_are_named(run, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("new.parquet").write_bytes(b"PAR1")
    code, _, err = run("predict", model, "new.parquet")
    assert (code, "pip install 'kernsel[cli]'" in err) == (1, True)
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


def test_columns_that_are_constant_in_the_sample(run, folder):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(400, 3))
    X[:, 1] = 7.0
    X[399, 1] = 8.0  # not constant in the file
    X[:, 2] = 1e9 + np.round(X[:, 2])  # moved by less than its rounding, a step would go nowhere
    y = np.sin(5 * X[:, 0]) + 0.1 * rng.standard_normal(400)
    rows = "\n".join(f"{a!r},{b!r},{c!r},{d!r}" for (a, b, c), d in zip(X.tolist(), y.tolist(), strict=True))
    (folder / "rare.csv").write_text("x,rare,far,y\n" + rows)
    code, out, err = run("select", "rare.csv", "--target", "y", "--rows", "40", "--kernel", "RBF", "--report", "page.html")
    assert code == 0, err
    assert "arning" not in out + err
    assert "nothing is learnt of it: rare" in " ".join((out + err).split())
    code, out, err = run("predict", "rare.ksl", "rare.csv")
    assert code == 0
    assert "arning" not in err
