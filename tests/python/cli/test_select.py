"""kernsel select: what it prints, what it writes, and its options."""

import re
from pathlib import Path

import numpy as np
import pytest

import kernsel as ks
from kernsel._search import plan
from kernsel.study import Study

from commands import strict


def test_select_prints_and_writes_the_model(run):
    kernels = ["--kernel", "RBF", "--kernel", "Matern(nu=2.5)"]
    code, out, err = run("select", "cars.csv", "--target", "dist", *kernels, "--combine", "none")
    assert code == 0
    assert " ".join(err.split()) == "31 rows have the inputs of an earlier one: rows with equal inputs are left out together."
    study = Study.load("cars.ksl")
    assert "cars.csv: 50 rows; dist is predicted from 1 column" in out
    assert re.search(r"speed +numbers from 4 to 25", out)
    for name, lines in study.lines.items():
        assert f"By {name}: " in out
        part = out[out.index(f"By {name}: ") :]
        for line in lines:
            assert re.search(
                rf"{re.escape(line.kernel)} +{line.value:.{6 if name == 'evidence' else 4}g}( ~)? +{line.loo_rmse:.2f} ", part
            )
    best = study.lines["evidence"][0]
    assert f"Chosen by evidence: {best.kernel}" in out
    assert f"noise of standard deviation {np.sqrt(best.noise):.3g}" in out
    y = study.model.y_train_
    others = study.model.X_train_ != study.model.X_train_.T
    explained = 1 - best.loo_rmse**2 / np.mean((y - others @ y / others.sum(axis=1)) ** 2)
    assert f"That explains {100 * explained:.0f} % of its variance." in " ".join(out.split())
    assert "kernsel predict cars.ksl NEW.csv" in out


def test_json_is_whole_and_strict(run):
    code, out, err = run("select", "cars.csv", "--target", "dist", "--test", "20%", "--json", "--report", "r.html")
    assert code == 0
    said = strict(out)
    study = Study.load("cars.ksl")
    assert said["rows"] == 50
    assert [line["kernel"] for line in said["lines"]["evidence"]] == [line.kernel for line in study.lines["evidence"]]
    assert study.is_stacked
    assert [one["weight"] for one in said["chosen"]["combined"]] == pytest.approx([one.weight for one in study.combined])
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
    assert "on(['speed'])" in said["chosen"]["words"][0]
    assert Study.load("cars.ksl").model.trend == "linear"
    said = strict(run("select", "cars.csv", "--target", "dist", "--kernel", "search", "--budget", "0.2s", "--json")[1])
    assert said["ended"]
    assert said["lines"]["evidence"]
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--save", "m.xlsx"], "--save: m.xlsx would be no .xlsx file, but a model; expected .ksl"),
        (["--save", "m.csv", "--classify"], "--save: m.csv would be no .csv file"),
        (["--report", "r.xlsx"], "--report: r.xlsx would not be of the format that its ending says; expected .html"),
    ],
)
def test_endings_of_other_files_are_refused(run, options, message):
    code, _, err = run("select", "cars.csv", "--target", "dist", *options)
    assert code == 1
    assert message in " ".join(err.split())


def test_of_many_inputs_only_those_that_matter_are_listed(run):
    X = np.random.default_rng(2).uniform(size=(60, 30))
    text = ",".join(f"v{k}" for k in range(30)) + ",y\n"
    Path("wide.csv").write_text(text + "".join(",".join(f"{v:.4f}" for v in row) + f",{3 * row[4]:.4f}\n" for row in X))
    code, out, _ = run("select", "wide.csv", "--target", "y", "--criterion", "lml", "--kernel", "Linear")
    assert code == 0
    assert "and 5 more columns" in out
    assert re.search(r"v4 +100 %", out)
    assert "and 29 more with less influence" in out
    assert "takes part in. They act one by one: together they come to 100 %." in " ".join(out.split())


def test_rows_that_cannot_be_left_out_are_no_failure(run):
    Path("alone.csv").write_text("x,z,y\n" + "".join(f"{i * 1.7 % 5},{int(i == 3)},{i * 1.7 % 3}\n" for i in range(20)))
    arguments = ("select", "alone.csv", "--target", "y", "--trend", "linear", "--criterion", "lml")
    code, out, _ = run(*arguments)
    assert code == 0
    assert "Rows cannot be left out: " in out
    assert strict(run(*arguments, "--json")[1])["chosen"]["loo_rmse"] is None


def test_huge_and_tiny_inputs_are_learnt_from(run):
    for unit in ("e300", "e-300"):
        Path("odd.csv").write_text("x,y\n" + "".join(f"{i * i}{unit},{i % 7}\n" for i in range(1, 25)))
        code, out, _ = run("select", "odd.csv", "--target", "y", "--criterion", "lml")
        assert code == 0
        assert "nan" not in out


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


@pytest.mark.slow
def test_kernels_are_combined(run, folder):
    rng = np.random.default_rng(6)
    X = rng.uniform(0, 6, (80, 2))
    y = np.where(X[:, 0] > 3, 1.0, np.sin(4 * X[:, 0])) + 0.1 * rng.standard_normal(80)
    np.savetxt(folder / "step.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    arguments = ("select", "step.csv", "--target", "y", "--criterion", "loo,reml", "--combine", "stack")
    code, out, err = run(*arguments, "--report", "page.html")
    assert (code, err) == (0, "")
    found = Study.load("step.ksl")
    assert len(found.combined) > 1
    text = " ".join(out.split())
    first, second = out[out.index("By loo") :].split("By reml")
    assert "weight" in first.splitlines()[1]
    for line in found.lines["loo"]:
        assert re.search(rf"{re.escape(line.kernel)} .* {line.weight:.3f} ", first)
    for part, lines in ((first, found.lines["loo"]), (second, found.lines["reml"])):
        marked = [line.kernel for line in lines[1:] if line.as_good]
        assert re.findall(r"^ *(.*?) +-?[\d.]+ ~ ", part, re.M) == marked
        assert ("~ about as good as the first" in part) == bool(marked)
    assert "weight" not in second.split("Mixed")[0]
    assert "Mixed, by likelihood and by rows left out: " in text
    assert f"{found.line.weight:.0%} {found.line.kernel}" in text
    for weight, _ in found.processes:
        assert f"- {weight:.1%}: " in out
    assert f"Length scales are those of {found.line.kernel}, the likeliest of them." in text
    assert f"- together: noise of standard deviation {np.sqrt(found.model.noise_):.3g}" in text
    assert "In the order of the mean log density of rows left out, but for the first: it is the simplest" in " ".join(
        first.split()
    )
    assert "In the order" not in second
    assert f"Their mean log density is {found.model.loo_log_density_.mean():.4g}, with the best kernel alone " in text
    assert "--combine" in Path("page.html").read_text(encoding="utf-8")
    chosen = strict(run(*arguments, "--json")[1])["chosen"]
    assert chosen["kernel"] == found.line.kernel
    assert [one["weight"] for one in chosen["combined"]] == pytest.approx([one.weight for one in found.combined])
    assert chosen["loo_log_density"] == pytest.approx(found.model.loo_log_density_.mean())
    assert run("report", "step.ksl")[0] == 0
    # Intervals are those of the mixture.
    out = run("predict", "step.ksl", "step.csv", "--intervals", "90")[1]
    values = np.array([[float(v) for v in line.split(",")] for line in out.splitlines()[1:]])
    mean, std = found.model.predict(X, return_std=True)
    np.testing.assert_allclose(values, np.column_stack([mean, std, found.model.predict_quantiles(X, [0.05, 0.95])]), rtol=1e-6)
    assert (np.abs(values[:, 3] - mean - 1.6448536 * std) > 1e-4).any()  # it is no normal distribution


def visits(rows=60):
    """Write a table of patients who are seen several times; return the patient and the day of each visit."""
    rng = np.random.default_rng(4)
    patient, day = rng.integers(0, 8, rows), rng.permutation(rows)
    x = rng.uniform(size=rows)
    y = np.sin(5 * x) + rng.standard_normal(8)[patient] + 0.1 * rng.standard_normal(rows)
    lines = [f"{a:.6f},p{p},{np.datetime64('2021-03-01') + d},{c:.6f}" for a, p, d, c in zip(x, patient, day, y, strict=True)]
    Path("visits.csv").write_text("x,patient,day,y\n" + "\n".join(lines) + "\n")
    return patient, day


def test_groups_are_left_out_together(run):
    patient, _ = visits()
    options = ["--kernel", "RBF", "--criterion", "loo,reml", "--leave-out", "day"]
    code, out, err = run("select", "visits.csv", "--target", "y", *options, "--groups", "patient", "--report", "page.html")
    assert code == 0
    said = " ".join((out + err).split())
    assert "not used: tells the groups" in said
    assert "Left out together: 8 groups of 'patient'." in said
    assert "of each row, predicted from the other groups of 'patient' by this fit" in said
    assert "Each of 60 rows, predicted from the other groups of 'patient': error" in said
    study = Study.load("visits.ksl")
    assert study.names == ["x"]
    gp = study.model
    residuals = []
    for p in range(8):
        again = ks.GaussianProcessRegressor(gp.kernel_, noise=gp.noise_, trend="constant", optimizer=None)
        again.fit(gp.X_train_[patient != p], gp.y_train_[patient != p])
        residuals.append(gp.y_train_[patient == p] - again.predict(gp.X_train_[patient == p]))
    rmse = np.sqrt(np.mean(np.concatenate(residuals) ** 2))
    assert study.lines["loo"][0].loo_rmse == pytest.approx(rmse, rel=1e-6)
    assert study.lines["loo"][0].value == pytest.approx(rmse**2, rel=1e-6)
    page = Path("page.html").read_text()
    assert "each predicted from the other groups of &#x27;patient&#x27;, of which there are 7" in page
    assert "Left out together: 8 groups of &#x27;patient&#x27;." in page
    assert run("report", "visits.ksl", "--output", "again.html")[0] == 0
    assert "the other groups of &#x27;patient&#x27;" in Path("again.html").read_text()
    tested = strict(run("select", "visits.csv", "--target", "y", *options, "--groups", "patient", "--test", "20%", "--json")[1])
    held_out = np.setdiff1d(np.arange(60), np.array(tested["kept"]) - 1)
    assert not np.isin(patient[held_out], patient[np.array(tested["kept"]) - 1]).any()
    assert tested["grouped_by"] == "groups of 'patient'"


def test_blocks_of_time_are_left_out_together(run):
    _, day = visits()
    arguments = ("select", "visits.csv", "--target", "y", "--kernel", "RBF", "--criterion", "loo", "--leave-out", "patient")
    code, _, err = run(*arguments, "--time", "day")
    assert code == 0
    assert "Left out together: 10 blocks of 'day' that follow each other." in " ".join(err.split())
    study = Study.load("visits.ksl")
    assert study.names == ["x", "day"]
    labels = study.model.left_out_together_
    assert np.array_equal(labels[:, None] == labels, (day // 6)[:, None] == day // 6)
    code, _, err = run(*arguments, "--time", "day", "--groups", "patient")
    assert code == 2
    assert "--groups, --time: expected one of them" in err


def test_a_table_that_is_concatenated_with_itself(run):
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 6, 50)
    lines = [f"{a:.6f},{np.sin(a) + 0.3 * b:.6f}\n" for a, b in zip(x, rng.standard_normal(50), strict=True)]
    Path("once.csv").write_text("x,y\n" + "".join(lines))
    Path("twice.csv").write_text("x,y\n" + "".join(lines) * 2)
    once, twice = (strict(run("select", f"{name}.csv", "--target", "y", "--json")[1]) for name in ("once", "twice"))
    assert "50 rows are copies of others: each is learnt from once." in twice["remarks"]
    assert twice["chosen"]["noise"] == once["chosen"]["noise"]
    assert twice["chosen"]["explained"] == once["chosen"]["explained"] < 0.95
    assert "50 rows are copies of others" in " ".join(run("select", "twice.csv", "--target", "y")[2].split())


def test_what_is_approximated_is_said(run, monkeypatch):
    monkeypatch.setattr(plan, "_CERTAINLY_EXACT", 10)
    monkeypatch.setattr(plan, "_rate", lambda: 1e3)  # a very slow machine
    arguments = ["select", "cars.csv", "--target", "dist", "--kernel", "RBF"]
    said = "Approximated for 50 points: hyperparameters were chosen by 30 nearest neighbours of each point"
    out = " ".join(run(*arguments)[1].split())
    assert said in out
    assert "--approximation none asks for it." in out
    assert said in strict(run(*arguments, "--json")[1])["chosen"]["approximation"]
    assert said in Study.load("cars.ksl").approximation
    assert "pproximated" not in run(*arguments, "--approximation", "none")[1]
