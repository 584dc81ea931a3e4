"""Arguments: wrong usage, values, help."""

import importlib
import re

import pytest

from kernsel import cli
from kernsel.cli import parser
from kernsel.criteria.names import offered
from kernsel.criteria.table import TABLE

from commands import COMMANDS


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
        (
            ["predict", "m.ksl", "cars.csv", "--intervals", "100"],
            "expected a percentage such as 95 or a share such as 0.95, got '100'",
        ),
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
